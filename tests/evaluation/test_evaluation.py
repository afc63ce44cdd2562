"""`evaluate`: the paper's criteria, by hand, against a slow twin, and as laws."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import criteria as naive
from naive.models import OnlyProbabilities
from sklearn.exceptions import NotFittedError

import itemix
from itemix import (
    BernoulliMixture,
    DirichletProcessMixture,
    InvalidInputError,
    Itemsets,
    Mixture,
    Transactions,
    evaluate,
    mine,
)

TEST = [["a", "b"], ["a", "b"], ["a", "b", "c"], ["c"], ["a"]]
TRAIN = [["a", "b"], ["a"], ["b", "c"], ["c"], ["a", "b"]]
FIGURES = (
    "n_true",
    "n_predicted",
    "false_negative_rate",
    "false_positive_rate",
    "mean_relative_error",
    "mean_relative_bias",
)
SEEDS = st.integers(0, 2**32 - 1)
THRESHOLDS = st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.7])


def random_baskets(rng, names, n=20):
    """Some baskets of related items: two kinds of customers."""
    kinds = rng.random((2, len(names)))
    held = rng.random((n, len(names))) < kinds[rng.integers(2, size=n)]
    return [[name for name, has in zip(names, row, strict=True) if has] for row in held]


def random_mixture(rng, names):
    """A mixture with some probabilities of exactly 0 and 1."""
    probs = np.clip(rng.random((3, len(names))) * 1.4 - 0.2, 0, 1)
    return Mixture(rng.dirichlet(np.ones(3)), probs, rng.permutation(names).tolist())


def split(rng, n=60, n_items=7):
    """A training and a test set with the same items."""
    return Transactions.from_matrix(rng.random((n, n_items)) < rng.random(n_items)).split(0.5, random_state=0)


def test_criteria_by_hand():
    """Counted on paper: a 4/5, b 3/5, c 2/5, ab 3/5 are true; ac, bc, abc are not."""
    model = Mixture([1.0], [[0.6, 0.5, 0.5]], ["a", "b", "c"])
    found = evaluate(model, TEST, 0.4)
    # Predicted are a (0.6), b (0.5) and c (0.5); ab has 0.3.
    assert (found.n_true, found.n_predicted, found.n_correct) == (4, 3, 3)
    assert found.false_negative_rate == 1 / 4
    assert found.recall == 3 / 4
    assert found.false_positive_rate == 0
    assert found.precision == 1
    differences = [0.6 / 0.8 - 1, 0.5 / 0.6 - 1, 0.5 / 0.4 - 1, 0.3 / 0.6 - 1]
    assert found.mean_relative_error == pytest.approx(np.mean(np.abs(differences)))
    assert found.mean_relative_bias == pytest.approx(np.mean(differences))
    assert set(found.by_length) == {1, 2}
    assert found.by_length[1].false_negative_rate == 0
    assert found.by_length[1].mean_relative_bias == pytest.approx(np.mean(differences[:3]))
    assert found.by_length[2].false_negative_rate == 1
    assert found.by_length[2].mean_relative_error == pytest.approx(0.5)
    a, b, c = np.array([0.6, 0.5, 0.5])
    likelihoods = [a * b * (1 - c), a * b * (1 - c), a * b * c, (1 - a) * (1 - b) * c, a * (1 - b) * (1 - c)]
    assert found.log_likelihood == pytest.approx(np.log(likelihoods).mean())
    assert found.floor is None
    assert (found.min_support, found.n_transactions) == (0.4, 5)


def test_the_floor_by_hand():
    """The training data as the prediction: a 3/5, b 3/5, c 2/5, ab 2/5, bc 1/5."""
    floor = evaluate(Mixture([1.0], [[0.1, 0.1, 0.1]], "abc"), TEST, 0.6, train=TRAIN).floor
    assert floor is not None
    # True: a, b, ab. Predicted: a, b.
    assert (floor.n_true, floor.n_predicted) == (3, 2)
    assert floor.false_negative_rate == pytest.approx(1 / 3)
    assert floor.mean_relative_error == pytest.approx((0.25 + 0 + 1 / 3) / 3)
    assert floor.mean_relative_bias == pytest.approx(-(0.25 + 0 + 1 / 3) / 3)
    assert floor.log_likelihood is None
    assert floor.floor is None


@given(SEEDS, THRESHOLDS)
def test_agrees_with_the_slow_twin(seed, threshold):
    """All figures, overall and by length, of a mixture, of data and of itemsets, items in any order."""
    rng = np.random.default_rng(seed)
    names = list("abcdef")
    test = random_baskets(rng, names[: rng.integers(3, 7)])
    train = random_baskets(rng, names[: rng.integers(3, 7)], n=25)
    model = random_mixture(rng, names[: rng.integers(3, 7)])
    data, known = Transactions.from_lists(test), Transactions.from_lists(train)
    assume(len(mine(data, threshold)) > 0)
    # A probability at the threshold may fall on either side of it by rounding.
    close = [abs(naive.probability(model, s) - threshold) for s in naive.every_set(names)]
    assume(min(close) > 1e-6)
    expected = naive.evaluate(lambda s: naive.probability(model, s), test, threshold, names)
    by_counting = naive.evaluate(lambda s: naive.support(train, s), test, threshold, names)
    found = evaluate(model, data, threshold, train=known, n_jobs=1)
    exact = evaluate(mine(known, threshold), data, threshold, train=known, n_jobs=1)
    for figures, evaluation in ((expected, found), (by_counting, found.floor), (by_counting, exact)):
        assert {None: evaluation.overall, **evaluation.by_length}.keys() == figures.keys()
        for length, own in evaluation.rows():
            for name in FIGURES:
                assert getattr(own, name) == pytest.approx(figures[length][name], abs=1e-9), (length, name)


@given(SEEDS, THRESHOLDS)
def test_exact_itemsets_of_the_training_data_are_the_floor(seed, threshold):
    """Mined itemsets, the data itself and the data as a mixture all predict the floor."""
    train, test = split(np.random.default_rng(seed))
    assume(len(mine(test, threshold)) > 0)
    exact = evaluate(mine(train, threshold), test, threshold, train=train)
    assert exact.floor is not None
    assert (exact.overall, exact.lengths) == (exact.floor.overall, exact.floor.lengths)
    assert evaluate(train, test, threshold) == exact.floor
    model = evaluate(Mixture.from_transactions(train), test, threshold, train=train)
    for (_, own), (_, floor) in zip(model.rows(), exact.floor.rows(), strict=True):
        assert (own.n_true, own.n_predicted, own.n_correct) == (
            floor.n_true,
            floor.n_predicted,
            floor.n_correct,
        )
        assert own.mean_relative_error == pytest.approx(floor.mean_relative_error, abs=1e-9)
        assert own.mean_relative_bias == pytest.approx(floor.mean_relative_bias, abs=1e-9)


@given(SEEDS, THRESHOLDS)
def test_the_truth_is_free_of_error(seed, threshold):
    """The test set's own itemsets predict everything, and nothing else."""
    _, test = split(np.random.default_rng(seed))
    truth = mine(test, threshold)
    assume(len(truth) > 0)
    found = evaluate(truth, test, threshold)
    for _, own in found.rows():
        assert own.n_true == own.n_predicted == own.n_correct
        assert own.mean_relative_error == own.mean_relative_bias == 0
        assert own.precision == own.recall == 1
    assert found.log_likelihood is None


@given(SEEDS)
def test_the_lengths_add_up(seed):
    """Numbers of all lengths sum to the whole, and so do errors weighted by the true itemsets."""
    train, test = split(np.random.default_rng(seed))
    assume(len(mine(test, 0.2)) > 0)
    found = evaluate(train, test, 0.2)
    parts = found.by_length.values()
    for name in ("n_true", "n_predicted", "n_correct"):
        assert sum(getattr(own, name) for own in parts) == getattr(found, name)
    errors = [own.n_true * own.mean_relative_error for own in parts if own.n_true]
    assert sum(errors) == pytest.approx(found.n_true * found.mean_relative_error)


def test_estimators_mixtures_and_saved_models_are_evaluated_alike(tmp_path):
    """A fitted estimator, its mixture and the model read from its file give the same evaluation."""
    train, test = split(np.random.default_rng(1))
    model = DirichletProcessMixture(3, random_state=0).fit(train)
    found = evaluate(model, test, 0.2, train=train)
    assert evaluate(model.mixture_, test, 0.2, train=train) == found
    assert found.log_likelihood == pytest.approx(model.score(test))
    model.save(tmp_path / "model.itemix")
    assert evaluate(itemix.load(tmp_path / "model.itemix"), test, 0.2, train=train) == found


def test_any_kind_of_model_is_evaluated():
    """A model of which no more is known than probabilities gives what the mixture behind it gives."""
    train, test = split(np.random.default_rng(4))
    mixture = Mixture.from_transactions(train)
    found = evaluate(OnlyProbabilities(mixture), test, 0.2, train=train)
    expected = evaluate(mixture, test, 0.2, train=train)
    assert found.log_likelihood == expected.log_likelihood
    for (length, own), (_, other) in zip(found.rows(), expected.rows(), strict=True):
        assert (own.n_true, own.n_predicted, own.n_correct) == (
            other.n_true,
            other.n_predicted,
            other.n_correct,
        )
        assert own.mean_relative_error == pytest.approx(other.mean_relative_error, abs=1e-12), length


def test_items_are_matched_by_name():
    """The order of the items, and items that never occur, change nothing."""
    rng = np.random.default_rng(2)
    train, test = (Transactions.from_lists(random_baskets(rng, list("abcd"))) for _ in range(2))
    model = Mixture.from_transactions(train)
    found = evaluate(model, test, 0.3, train=train)
    assert evaluate(model, test.align_items("xdcbay"), 0.3, train=train.align_items("qdbacr")) == found


def test_an_unseen_item_has_probability_zero():
    """Each true itemset with it is missed, with a relative error of 1, and no transaction has it."""
    model = Mixture([1.0], [[0.8, 0.6]], ["a", "b"])
    found = evaluate(model, TEST, 0.4, train=Transactions.from_lists([["a", "b"], ["a"]]))
    # True: a, b, c, ab; c is not known.
    assert found.false_negative_rate == pytest.approx(1 / 4)
    assert found.by_length[1].mean_relative_error == pytest.approx(1 / 3)
    assert found.by_length[1].mean_relative_bias == pytest.approx(-1 / 3)
    assert found.log_likelihood == -np.inf
    assert found.floor is not None
    assert found.floor.by_length[1].recall == pytest.approx(2 / 3)


def test_an_item_that_the_test_lacks_is_a_false_positive():
    """What is predicted with such items is counted, in its own length too."""
    model = Mixture([1.0], [[0.9, 0.9]], ["a", "z"])
    found = evaluate(model, [["a"], ["a"], []], 0.5)
    assert (found.n_true, found.n_predicted) == (1, 3)
    assert found.false_positive_rate == pytest.approx(2 / 3)
    pairs = found.by_length[2]
    assert (pairs.n_true, pairs.n_predicted, pairs.false_positive_rate, pairs.precision) == (0, 1, 1.0, 0.0)
    assert (pairs.false_negative_rate, pairs.recall) == (0.0, 1.0)
    assert pairs.mean_relative_error is None
    assert pairs.mean_relative_bias is None


def test_nothing_predicted_is_nothing_false():
    """All is missed, precision is 1 as nothing was said, and the error is measured all the same."""
    found = evaluate(Mixture([1.0], [[0.1, 0.0, 0.2]], "abc"), TEST, 0.6)
    assert (found.n_predicted, found.false_positive_rate, found.precision) == (0, 0.0, 1.0)
    assert (found.false_negative_rate, found.recall) == (1.0, 0.0)
    assert found.mean_relative_error == pytest.approx((0.7 / 0.8 + 1 + 1) / 3)


@pytest.mark.parametrize("threshold", [0.28, 7])
def test_thresholds_that_are_exactly_met_count(threshold):
    """0.28 of 25 is 7, in the test, in the training data, in itemsets and in a model."""
    data = Transactions.from_lists([["a"]] * 7 + [["b"]] * 18)
    for prediction in (data, mine(data, 0.28), mine(data, 7), Mixture.from_transactions(data)):
        found = evaluate(prediction, data, threshold, train=data)
        assert (found.n_true, found.n_predicted, found.n_correct) == (2, 2, 2)
        assert found.min_support == 0.28


def test_a_count_is_a_number_of_test_transactions():
    """The model is asked for the same fraction."""
    model = Mixture([1.0], [[0.6, 0.5, 0.5]], "abc")
    assert evaluate(model, TEST, 2) == evaluate(model, TEST, 0.4)


def test_merged_transactions_are_the_same_test():
    """Multiplicities count."""
    train, test = split(np.random.default_rng(5), n=200, n_items=4)
    model = BernoulliMixture(n_components=2, random_state=0).fit(train)
    plain = evaluate(model, test, 0.1, train=train)
    merged = evaluate(model, test.merge_identical(), 0.1, train=train.merge_identical())
    assert merged.log_likelihood == pytest.approx(plain.log_likelihood)
    assert (merged.overall, merged.lengths, merged.floor) == (plain.overall, plain.lengths, plain.floor)


def test_parts_are_evaluated_as_the_whole(tmp_path):
    """Tests and training data in parts, or in chunks of a file, give the figures of all transactions."""
    test, train = itemix.datasets.load("grocery_store").sample(900, random_state=0).split(0.5, random_state=0)
    model = itemix.IndependentModel().fit(train)
    itemix.write_transactions(test, tmp_path / "test.parquet")
    chunks = itemix.read_chunks(tmp_path / "test.parquet", chunk_bytes=4000)
    known = mine(train, 0.05)
    for parts, part_of_train in (
        (itemix.partitions([test[:100], test[100:]]), itemix.partitions([train[:7], train[7:]])),
        (chunks, train),
    ):
        for prediction, learned in ((model, train), (known, train), (train, None)):
            whole = evaluate(prediction, test, 0.05, train=learned)
            asked = part_of_train if prediction is train else prediction
            own = evaluate(asked, parts, 0.05, train=learned and part_of_train)
            if prediction is model:
                assert own.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
            assert (own.overall, own.lengths, own.floor) == (whole.overall, whole.lengths, whole.floor)


def test_itemsets_mined_at_a_lower_support_need_no_training_data():
    """Their supports are looked up; those under the threshold are not predicted."""
    train, test = (Transactions.from_lists(baskets) for baskets in (TRAIN, TEST))
    found = evaluate(mine(train, 0.2), test, 0.6)
    floor = evaluate(train, test, 0.6)
    assert (found.overall, found.lengths) == (floor.overall, floor.lengths)


def test_itemsets_mined_by_count_are_complete_at_any_fraction_of_that_count():
    """Of 7 transactions 20% are 2: itemsets mined from 2 on are all that there are at 20%."""
    train = Transactions.from_lists([*TRAIN, ["a"], ["c"]])
    by_count = evaluate(mine(train, 2), TEST, 0.2, train=train)
    assert by_count.overall == evaluate(mine(train, 0.2), TEST, 0.2, train=train).overall
    with pytest.raises(InvalidInputError, match=r"got those of 42.8571%"):
        evaluate(mine(train, 3), TEST, 0.2, train=train)


def test_itemsets_without_a_known_threshold_are_taken_as_they_are():
    """A part of the itemsets, such as the most frequent ones, is a prediction too."""
    train, test = (Transactions.from_lists(baskets) for baskets in (TRAIN, TEST))
    found = evaluate(mine(train, top_k=2), test, 0.4, train=train)
    assert (found.n_true, found.n_predicted, found.n_correct) == (4, 2, 2)


@pytest.mark.parametrize(
    ("model", "test", "threshold", "message"),
    [
        (TRAIN, [], 0.5, "expected at least one test transaction, got none; give data to test on"),
        (TRAIN, TEST, 0.9, "in the test set, got none in 5 transactions at min_support=0.9; lower it"),
        (
            TRAIN,
            TEST,
            5,
            "expected frequent itemsets in the test set, got none in 5 transactions at min_support=5",
        ),
        (TRAIN, TEST, 0.0, "expected min_support as a fraction in"),
        (
            TRAIN,
            [["x"], ["x", "y"]],
            0.5,
            "that the prediction knows, got none of them, such as x; give both",
        ),
        ([], TEST, 0.5, "expected at least one training transaction, got none"),
    ],
)
def test_bad_data_is_refused(model, test, threshold, message):
    """One line says what was expected, what was got and what to try."""
    data = Transactions.from_lists(model)
    with pytest.raises(InvalidInputError, match=message):
        evaluate(data, test, threshold)


@pytest.mark.parametrize(
    ("model", "train", "message"),
    [
        (mine(TRAIN, 0.6, target="closed"), None, "got the closed ones; mine with target='all'"),
        (mine(TRAIN, 0.8), None, "expected itemsets mined at a support of 60% or less, got those of 80%"),
        (mine(TRAIN, 0.6), None, "got itemsets that lack 1 of them, such as {a, b}; pass train="),
        (mine(TRAIN, 0.6), TRAIN[1:], "expected the 5 transactions that the itemsets were mined from, got 4"),
        (mine(Mixture([1.0], [[0.7, 0.7]], "ab"), 0.6), TRAIN, "expected the data that the itemsets were"),
        ("model.itemix", None, "expected a model, itemsets or transactions to evaluate, got str"),
    ],
)
def test_predictions_that_do_not_tell_all_are_refused(model, train, message):
    """Itemsets must be all that are frequent, and with the data behind them tell every support."""
    with pytest.raises(InvalidInputError, match=message):
        evaluate(model, TEST, 0.6, train=train)


def test_a_model_must_be_fitted():
    """The error is scikit-learn's."""
    with pytest.raises(NotFittedError):
        evaluate(BernoulliMixture(), TEST, 0.5)


def test_itemsets_from_elsewhere_are_a_prediction():
    """A data frame of mlxtend's form tells what it tells."""
    frame = mine(TEST, 0.4).to_pandas()[["support", "itemsets"]]
    found = evaluate(Itemsets.from_pandas(frame), TEST, 0.4)
    assert found.mean_relative_error == 0
    assert found.recall == 1


def test_itemsets_that_do_not_name_all_items_are_counted_by_name():
    """An infrequent item is not among those of a data frame: its sets are counted, or asked for."""
    train = Transactions.from_lists(TRAIN)
    frame = mine(train, 0.6).to_pandas()[["support", "itemsets"]]
    itemsets = Itemsets.from_pandas(frame)
    assert list(itemsets.items) == ["a", "b"]
    test = [["a", "c"], ["c"], ["b"]]
    found = evaluate(itemsets, test, 0.6, train=train)
    assert found.n_true == 1
    assert found.mean_relative_bias == pytest.approx(0.4 / (2 / 3) - 1)
    with pytest.raises(InvalidInputError, match=r"lack 1 of them, such as \{c\}; pass train="):
        evaluate(itemsets, test, 0.6)


def test_itemsets_that_name_all_items_have_never_seen_others():
    """Mined itemsets know their items: a set with another one has support 0, without training data too."""
    found = evaluate(mine(TRAIN, 0.2), [["z"], ["z", "a"]], 0.6)
    assert (found.n_true, found.n_correct, found.mean_relative_bias) == (1, 0, -1.0)


@pytest.mark.data("msweb/train.dat", "msweb/test.dat")
def test_the_papers_test_set(data_folder):
    """MS Web has the paper's 570 itemsets by length; the floor is 12.6%."""
    train, test = (
        itemix.read_transactions(data_folder / "msweb" / f"{part}.dat") for part in ("train", "test")
    )
    found = evaluate(mine(train, 0.005), test, 0.005, train=train)
    assert found.n_true == 570
    assert [found.by_length[length].n_true for length in range(1, 6)] == [79, 214, 181, 85, 11]
    assert found.n_predicted == 542
    assert found.mean_relative_error == pytest.approx(0.126, abs=0.0005)


@pytest.mark.data("mushroom/mushroom.dat")
def test_real_data_as_a_mixture_is_the_floor(data_folder):
    """The empirical mixture of the training half is evaluated as its exact itemsets are."""
    train, test = itemix.read_transactions(data_folder / "mushroom/mushroom.dat").split(0.5, random_state=0)
    model = evaluate(Mixture.from_transactions(train), test, 0.4, train=train)
    assert model.floor is not None
    for (_, own), (_, floor) in zip(model.rows(), model.floor.rows(), strict=True):
        assert (own.n_predicted, own.n_correct) == (floor.n_predicted, floor.n_correct)
        assert own.mean_relative_error == pytest.approx(floor.mean_relative_error, abs=1e-9)
