"""What a model is worth, found on held-out data; the parameter of the estimators; files."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from naive.models import random_mixture
from sklearn.exceptions import ConvergenceWarning

import itemix
from itemix import _runtime, correction
from itemix.core.transactions import Transactions
from itemix.correction import WORTHS, Choice, choose, correct
from itemix.errors import (
    InvalidInputError,
    ModelFileError,
    NotEnoughMemoryError,
    TooManyItemsetsError,
    UnknownItemError,
)
from itemix.files import container, read_fitted, save
from itemix.mining.intervals import interval
from itemix.models.base import Model
from itemix.models.corrected import CorrectedMixture


@pytest.fixture(scope="module")
def baskets():
    """Return data that one component cannot explain, and another sample of the same kind."""
    source = random_mixture(11, n_components=6, n_items=9)
    return source.sample(4000, random_state=0), source.sample(4000, random_state=1)


def error_of(model, test):
    """Return the mean relative error of a model over the frequent itemsets of a test set."""
    return itemix.evaluate(model, test, 0.01).mean_relative_error


def test_what_a_mixture_cannot_say_is_corrected(baskets):
    """One component is blind to dependence; it is worth next to nothing, and counts make up for it."""
    train, test = baskets
    plain = itemix.BernoulliMixture(1, random_state=0).fit(train)
    auto = itemix.BernoulliMixture(1, random_state=0, correction="auto").fit(train)
    assert auto.corrected_.worth == auto.correction_choice_.best < 100
    assert error_of(auto, test) < 0.3 * error_of(plain, test)
    assert error_of(auto, test) < 1.02 * error_of(train, test)


def test_a_model_that_is_right_is_worth_much(baskets):
    """On data of its own kind a mixture is believed more than counts, and that is better than these."""
    source = random_mixture(11, n_components=6, n_items=9)
    train, test = source.sample(400, random_state=3), baskets[1]
    choice = choose(lambda part: source, train, np.random.default_rng(0))
    assert choice.best > 1000
    assert error_of(correct(source, train, choice), test) < 0.5 * error_of(train, test)


def test_a_learner_by_heart_is_worth_nothing():
    """A model that only repeats what it has seen is no better than counting it, and is found out."""
    data = random_mixture(7, n_components=2, n_items=5).sample(2000, random_state=0)
    choice = choose(itemix.Mixture.from_transactions, data, np.random.default_rng(0))
    np.testing.assert_allclose(choice.errors, 0.0, atol=1e-9)
    assert choice.best == WORTHS[0]


def test_the_expected_errors_are_those_of_theory():
    """Beyond counting: of the truth -1, and of a mean of both the square of the share of counts less 1."""
    source = random_mixture(2, n_components=3, n_items=6)
    data = source.sample(40_000, random_state=5)
    choice = choose(lambda part: source, data, np.random.default_rng(1))
    share = 20_000 / (20_000 + choice.worths)
    np.testing.assert_allclose(choice.errors, share**2 - 1, atol=0.25)
    assert choice.errors[-1] == pytest.approx(-1, abs=0.25)


def test_the_lowest_error_that_is_sure_enough_is_chosen():
    """In doubt, counts are believed; and the same seed chooses the same."""
    worths, errors = np.array([1.0, 10.0, 100.0]), np.array([0.0, -0.1, -0.2])
    assert Choice(worths, errors, np.array([0.0, 0.1, 0.2])).best == 100
    assert Choice(worths, errors, np.array([0.0, 0.1, 0.4])).best == 10
    assert Choice(worths, errors, np.array([0.0, 0.1, 0.4]), n_errors=2.0).best == 1
    data = random_mixture(2).sample(500, random_state=5)
    one, two = (choose(lambda part: random_mixture(2), data, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one.errors, two.errors)
    np.testing.assert_array_equal(one.standard_errors, two.standard_errors)


@pytest.mark.parametrize("n", [2, 20, 40])
def test_where_nothing_can_be_judged_counts_are_believed(n):
    """Few transactions, or none with two items in common, tell nothing."""
    lists = [[f"i{t % 5}"] for t in range(n)]
    model = itemix.BernoulliMixture(1, random_state=0, correction="auto").fit(lists)
    assert model.corrected_.worth == 1
    assert model.probability(["i0"]) == pytest.approx(len(lists[::5]) / n, rel=0.2)


def naive_frequent(part, most):
    """Mine at a threshold that is raised by half until there are not too many sets."""
    raised = 0
    while True:
        try:
            return itemix.mine(part, min(2 / len(part) * 1.5**raised, 1.0), max_itemsets=most), raised
        except TooManyItemsetsError:
            raised += 1


def test_where_the_search_for_sets_begins_makes_no_difference(baskets, monkeypatch):
    """A threshold found for another part saves time; what is found is what a search from twice up finds."""
    monkeypatch.setattr("itemix.correction._MOST_SETS", 60)
    part = baskets[0][np.arange(500)]
    expected, raised = naive_frequent(part, 60)
    assert raised > 2
    for begin in (0, raised - 1, raised, raised + 1, raised + 4):
        assert correction._frequent(part, begin) == (expected, raised)


@pytest.mark.parametrize("rare", [0, 3])
def test_items_that_all_transactions_hold_do_not_keep_it_from_ending(rare, monkeypatch):
    """The sets of these alone may be too many at any threshold; what else there is is judged."""
    monkeypatch.setattr("itemix.correction._MOST_SETS", 60)
    always = [f"a{i}" for i in range(8)]
    rng = np.random.default_rng(0)
    lists = [always + [f"r{i}" for i in range(rare) if rng.random() < 0.5] for _ in range(200)]
    choice = choose(lambda part: random_model(part.items), Transactions.from_lists(lists), rng)
    assert len(choice.errors) == (len(WORTHS) if rare else 1)


def random_model(items):
    """Return a mixture of one component over some items."""
    return itemix.Mixture([1.0], np.full((1, len(items)), 0.5), items)


def test_a_gain_that_few_blocks_see_is_not_believed(monkeypatch):
    """One basket of a thousand items may have most of the sets, and its block most of the error."""
    blocks = np.zeros((16, len(WORTHS)))
    blocks[:, 1:] = 0.01
    blocks[3, -1] = -1e3

    def verdicts(refit, own, other, n_divisions, rng):
        yield blocks

    monkeypatch.setattr("itemix.correction._verdicts", verdicts)
    data = random_mixture(2).sample(40, random_state=5)
    choice = choose(lambda part: random_mixture(2), data, np.random.default_rng(0))
    assert (choice.errors[0], choice.errors[-1], choice.best) == (0, 0.01, 1)
    blocks[:10, -1] = -1e3
    choice = choose(lambda part: random_mixture(2), data, np.random.default_rng(0))
    assert choice.errors[-1] == pytest.approx(-625, abs=0.1)


def test_refits_have_half_the_chains(baskets, monkeypatch):
    """Half the restarts, chains and samples tell what a model is worth, unless transactions are few."""
    asked = []

    class Asked(itemix.DirichletProcessMixture):
        def _copy_fitted_to(self, transactions, **changes):
            asked.append(changes)
            return super()._copy_fitted_to(transactions, **changes)

    monkeypatch.setattr("itemix.estimators.base._ENOUGH", 100)
    train = baskets[0][np.arange(200)]
    options = {"inference": "gibbs", "max_iter": 5, "thin": 1, "random_state": 0, "correction": "auto"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        Asked(3, n_init=4, n_samples=5, **options).fit(train)
        Asked(3, n_init=4, n_samples=5, **options).fit(train[:198])
    assert asked == [{"n_init": 2, "n_samples": 3, "n_components": 3}] * 2 + [{"n_components": 3}] * 2


def test_most_of_large_data_is_not_judged(monkeypatch):
    """A sample tells enough: the refits see no more than half of it."""
    monkeypatch.setattr("itemix.correction._MOST_JUDGED", 600)
    sizes = []

    def refit(part):
        sizes.append(part.n_transactions)
        return random_mixture(2)

    choose(refit, random_mixture(2).sample(5000, random_state=5), np.random.default_rng(4))
    assert sizes == [300, 300]


def test_intervals_cover_new_samples(baskets):
    """Of supports in a new sample, about as many lie in their intervals as is said."""
    train, test = baskets
    model = itemix.BernoulliMixture(1, random_state=0, correction="auto").fit(train)
    truth = itemix.mine(test, 0.02)
    names = [itemset.items for itemset in truth]
    _, lower, upper = model.intervals(names, level=0.9, n_transactions=len(test))
    assert 0.8 < np.mean((lower <= truth.support) & (truth.support <= upper)) <= 1.0
    _, narrow, _ = model.intervals(names, level=0.9)
    assert (narrow >= lower).all()


def test_intervals_are_those_of_a_beta_distribution(baskets):
    """Of a set, and of a set where a condition is met: as many were seen, and the mixture's worth of them."""
    from scipy.stats import beta

    train, _ = baskets
    model = correct(itemix.BernoulliMixture(2, random_state=0).fit(train).mixture_, train, 500)
    found = interval(model, ["i1"], given=["i2"], given_absent=["i3"], level=0.8)
    seen = 4500 * model.probability(["i2"], absent=["i3"])
    a = found.probability * seen
    assert (found.lower, found.upper) == pytest.approx(beta.ppf([0.1, 0.9], a, seen - a), rel=1e-9)


def test_it_answers_like_any_model(baskets):
    """Mining, queries, recommendations and rules go through the corrected mixture."""
    train, _ = baskets
    model = itemix.BernoulliMixture(1, random_state=0, correction=1e-6).fit(train)
    found = itemix.mine(model, 0.05)
    assert [i.support for i in found] == pytest.approx([train.support(i.items) for i in found], rel=1e-6)
    both = model.probability(["i1"], given=["i2"])
    assert both == pytest.approx(train.support(["i1", "i2"]) / train.support(["i2"]), rel=1e-6)
    assert {r.item for r in model.recommend(["i1"], n=8)} == set(model.mixture_.items) - {"i1"}
    assert len(itemix.rules(found, min_threshold=0.5)) > 0


@pytest.mark.parametrize("value", ["yes", 0, -3, float("inf"), True])
def test_bad_corrections_are_refused(value, baskets):
    """What is neither a word that is known nor a positive number."""
    with pytest.raises(InvalidInputError, match="expected correction as None, 'auto' or a positive number"):
        itemix.BernoulliMixture(1, correction=value).fit(baskets[0])


@pytest.mark.parametrize("n_components", [3, "auto"])
def test_a_start_for_all_of_the_data_is_not_used_for_its_halves(baskets, n_components):
    """Labels of all transactions do not fit a part of them; a number that was chosen stays."""
    train = baskets[0][np.arange(200)]
    init = np.arange(200) % 3 if n_components == 3 else "random"
    model = itemix.BayesianMixture(n_components, init=init, random_state=0, correction="auto").fit(train)
    assert model.corrected_ is not None


def test_batches_are_corrected_at_the_end(baskets):
    """Data in batches cannot be corrected on the way; afterwards it can."""
    train, _ = baskets
    parts = train.split(0.5, random_state=0)
    with pytest.raises(InvalidInputError, match=r"correct the mixture when all of it has been seen"):
        itemix.BernoulliMixture(2, correction="auto", random_state=0).partial_fit(parts[0])
    model = itemix.BernoulliMixture(2, random_state=0).partial_fit(parts[0]).partial_fit(parts[1])
    corrected = correct(model.mixture_, parts, 2)
    assert corrected.transactions.n_transactions == len(train)


def test_nothing_to_count():
    """No data, no correction; nor by data that is read only once, or of other items."""
    with pytest.raises(InvalidInputError, match="expected transactions to count, got none"):
        correct(random_mixture(0), [], 2)
    with pytest.raises(InvalidInputError, match="expected data that can be read more than once, got list_it"):
        correct(random_mixture(0), iter([[["i0"]]]), 2)
    with pytest.raises(UnknownItemError, match="'beer'"):
        correct(random_mixture(0), [["i0", "beer"]] * 20, 2)


def test_files_keep_the_correction(baskets, tmp_path):
    """A model that was saved answers as before, and knows how it was chosen."""
    train, _ = baskets
    model = itemix.BernoulliMixture(2, random_state=0, correction="auto").fit(train)
    model.save(tmp_path / "m.itemix")
    loaded = itemix.load(tmp_path / "m.itemix")
    assert loaded.corrected_ == model.corrected_
    assert itemix.mine(loaded, 0.05) == itemix.mine(model, 0.05)
    assert loaded.correction_choice_.best == model.correction_choice_.best
    np.testing.assert_array_equal(loaded.correction_choice_.errors, model.correction_choice_.errors)
    assert read_fitted(tmp_path / "m.itemix").model == model.corrected_


def test_a_corrected_model_alone_in_a_file(baskets, tmp_path):
    """The value is saved without an estimator, read back equal, and knows how sure it is."""
    train, _ = baskets
    trees = itemix.ChowLiuTree().fit(train).model_
    mixture = itemix.BernoulliMixture(2, random_state=0).fit(train).mixture_
    for base in (mixture, trees):
        model = CorrectedMixture(base, train, 30)
        model.save(tmp_path / "m.itemix")
        assert itemix.load(tmp_path / "m.itemix") == model
        stored = read_fitted(tmp_path / "m.itemix")
        assert stored.model == stored.error_source == model
        assert (stored.value, stored.method, stored.training) == (base, None, None)
        found = interval(stored.error_source, ["i1", "i2"])
        assert found.lower < found.probability < found.upper


@pytest.mark.parametrize("inference", ["gibbs", "variational"])
def test_a_learned_prior_is_weakened_for_itemsets(inference, tmp_path):
    """Supports are those of a prior worth one transaction; whole transactions have the learned one."""
    train, test = itemix.datasets.load("grocery_store").split(0.1, random_state=0)
    options = {"inference": inference, "beta": "learn", "random_state": 0}
    model = itemix.DirichletProcessMixture(12, correction=100, **options).fit(train)
    assert model.prior_.strength > 1.5
    corrected = model.corrected_
    assert corrected.base != corrected.whole == model.mixture_
    assert model.prior_.weakened().strength == pytest.approx(1.0)
    np.testing.assert_array_equal(corrected.log_likelihood(test), model.mixture_.log_likelihood(test))
    weak = error_of(corrected.base, test)
    assert weak < error_of(model.mixture_, test)
    model.save(tmp_path / "m.itemix")
    assert itemix.load(tmp_path / "m.itemix").corrected_ == corrected
    corrected.save(tmp_path / "alone.itemix")
    assert itemix.load(tmp_path / "alone.itemix") == corrected


def test_a_weak_prior_stays(baskets):
    """The paper's prior is worth one transaction already: what is corrected is the mixture."""
    model = itemix.DirichletProcessMixture(4, random_state=0, correction=10).fit(baskets[0])
    assert model.corrected_.base is model.corrected_.whole is model.mixture_


def test_corrections_by_shifts_are_refused_in_words(baskets, tmp_path):
    """Files of an earlier version held shifts of log-odds: they say that the model must be fitted again."""
    train, _ = baskets
    itemix.BernoulliMixture(2, random_state=0).fit(train).save(tmp_path / "m.itemix")
    content = container.read(tmp_path / "m.itemix")
    shifts = content._tensors | {"correction.shift": np.zeros(1)}
    container.write(tmp_path / "m.itemix", content._header, shifts)
    with pytest.raises(ModelFileError, match="does not know; fit it again"):
        itemix.load(tmp_path / "m.itemix")


def test_other_kinds_of_models_are_not_saved(tmp_path):
    """A model of a user's own kind is refused in words."""

    class Uniform(Model):
        items = itemix.Mixture([1.0], [[0.5]], ["a"]).items
        n_parameters = 0

        def probabilities_of_codes(self, offsets, codes, absent_offsets=None, absent_codes=None):
            return 0.5 ** np.diff(offsets)

        def log_likelihood(self, transactions):
            return np.full(transactions.n_transactions, -np.log(2))

        def sample(self, n, *, random_state=None):
            return Transactions.from_lists([["a"], []] * n)

    with pytest.raises(
        InvalidInputError, match=r"a kind that files hold \(CauseMixture, .*\), got Uniform; pick"
    ):
        save(Uniform(), tmp_path / "m.itemix")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("correction.lengths", lambda a: a + 1),
        ("correction.lengths", lambda a: a - 500),
        ("correction.codes", lambda a: a + 100),
        ("correction.codes", lambda a: -a),
        ("correction.multiplicities", lambda a: a * 0),
        ("correction.multiplicities", lambda a: a[1:]),
        ("choice.worths", lambda a: -a),
        ("choice.errors", lambda a: a * np.nan),
    ],
)
def test_damaged_corrections_are_refused(name, change, baskets, tmp_path):
    """Whatever is wrong with the arrays, it is found when the file is read."""
    train, _ = baskets
    path = tmp_path / "m.itemix"
    itemix.BernoulliMixture(2, random_state=0, correction="auto").fit(train[np.arange(100)]).save(path)
    content = container.read(path)
    changed = content._tensors | {name: np.ascontiguousarray(change(content._tensors[name]))}
    container.write(path, content._header, changed)
    with pytest.raises(ModelFileError):
        itemix.load(path)


@pytest.mark.parametrize("worth", [0.0, -1.0, 3, "many"])
def test_a_damaged_worth_is_refused(worth, baskets, tmp_path):
    """It must be a positive number."""
    train, _ = baskets
    path = tmp_path / "m.itemix"
    correct(random_mixture(11, n_components=2, n_items=9), train, 3).save(path)
    content = container.read(path)
    header = content._header | {"correction": content._header["correction"] | {"worth": worth}}
    container.write(path, header, content._tensors)
    with pytest.raises(ModelFileError):
        itemix.load(path)


def test_a_correction_that_does_not_fit_is_refused(baskets, monkeypatch):
    """Chunks are kept until they are put together, which takes as much memory once more."""
    train, _ = baskets
    model = itemix.BernoulliMixture(2, random_state=0).fit(train).model_
    monkeypatch.setattr(_runtime, "_LEAST_REFUSED", 0)
    monkeypatch.setattr(_runtime, "free_memory", lambda: 9_000)
    message = (
        "of memory for the distinct transactions of a correction, got 0.0 GiB; correct by a part of them"
    )
    with pytest.raises(NotEnoughMemoryError, match=message):
        correct(model, [train[:500], train[500:]], 10)
    monkeypatch.setattr(_runtime, "free_memory", lambda: 1 << 30)
    assert correct(model, [train[:500], train[500:]], 10).worth == 10
