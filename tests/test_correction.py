"""Choosing a correction on held-out data; the parameter of the estimators; files."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from naive.models import random_mixture

import itemix
from itemix.core.transactions import Transactions
from itemix.correction import (
    _AS_GOOD,
    _MOST_PRODUCTS,
    Choice,
    Way,
    _Judge,
    _least_probability,
    choose,
    correct,
    likely_sets,
)
from itemix.errors import InvalidInputError, ModelFileError, TooManyItemsetsError, UnknownItemError
from itemix.files import container, read_fitted, save
from itemix.mining.intervals import interval
from itemix.models.base import Model


@pytest.fixture(scope="module")
def baskets():
    """Return data that one component cannot explain, and another sample of the same kind."""
    source = random_mixture(11, n_components=6, n_items=9)
    return source.sample(4000, random_state=0), source.sample(4000, random_state=1)


def error_of(model, test):
    """Return the mean relative error of a model over the frequent itemsets of a test set."""
    return itemix.evaluate(model, test, 0.01).mean_relative_error


def test_what_a_mixture_cannot_say_is_corrected(baskets):
    """One component is blind to dependence; counts of pairs and more make up for it."""
    train, test = baskets
    plain = itemix.BernoulliMixture(1, random_state=0).fit(train)
    auto = itemix.BernoulliMixture(1, random_state=0, correction="auto").fit(train)
    assert auto.correction_choice_.best.order > 1
    assert error_of(auto, test) < 0.3 * error_of(plain, test)
    assert error_of(auto, test) < 1.05 * error_of(train, test)


def test_where_the_model_is_right_nothing_is_lost(baskets):
    """On data of its own kind a mixture is corrected by nothing, or by what does no harm."""
    train, test = baskets
    plain = itemix.BayesianMixture(6, n_init=5, random_state=0).fit(train)
    auto = itemix.BayesianMixture(6, n_init=5, random_state=0, correction="auto").fit(train)
    assert error_of(auto, test) < 1.05 * error_of(plain, test)


def test_the_choice_is_the_richest_of_the_lowest_expected_error(baskets):
    """All ways are compared, none among them, and the same seed chooses the same."""
    train, _ = baskets
    mixture = itemix.BernoulliMixture(2, random_state=0).fit(train).mixture_
    choice = choose(mixture, train, np.random.default_rng(3))
    again = choose(mixture, train, np.random.default_rng(3))
    assert choice.ways[0] == Way(0)
    assert choice.best.order > 0
    assert choice.errors[choice.position] <= _AS_GOOD * choice.errors.min()
    np.testing.assert_array_equal(choice.errors, again.errors)
    assert correct(mixture, train, choice) == correct(mixture, train, again)


def test_the_richest_of_those_that_are_as_good():
    """Within a fiftieth of the lowest error the richest way is taken, and no other."""
    ways = Way(0), Way(2), Way(3), Way(4)
    assert Choice(ways, np.array([2.0, 1.0, 1.019, 1.021]), np.arange(4.0)).best == Way(3)
    assert Choice(ways, np.array([2.0, 1.0, 1.019, 1.021]), np.arange(4.0)).excess_variance == 2.0
    assert Choice(ways, np.array([1.0, 1.03, 1.03, 1.03]), np.zeros(4)).best == Way(0)


def test_the_held_out_half_stays_unknown():
    """A model that has learned all of the data by heart is expected to err as counts do, not less."""
    data = random_mixture(7, n_components=2, n_items=5).sample(2000, random_state=0)
    choice = choose(itemix.Mixture.from_transactions(data), data, np.random.default_rng(0))
    support = itemix.mine(data, 40).support
    assert choice.errors[0] == pytest.approx(np.sqrt(np.mean((1 - support) / support / len(data))), rel=0.1)


def test_the_chosen_shrinkage_counts(baskets):
    """Shrunk, the probability of a pair lies between the mixture's and what was counted."""
    train, _ = baskets
    mixture = itemix.BernoulliMixture(1, random_state=0).fit(train).mixture_
    choice = Choice((Way(2, shrinkage=400.0),), np.zeros(1), np.array([0.25]))
    shrunk = correct(mixture, train, choice)
    pairs = list(combinations(mixture.items, 2))
    between = np.array([mixture.probabilities(pairs), [train.support(pair) for pair in pairs]])
    found = shrunk.probabilities(pairs)
    assert (found > between.min(axis=0)).all()
    assert (found < between.max(axis=0)).all()
    assert shrunk.correction.excess_variance == 0.25


def test_expected_errors_of_counts_and_of_the_truth():
    """Counts have just the variance of a frequency; a model that is right has no error beyond chance."""
    source = random_mixture(2, n_components=3, n_items=6)
    data = source.sample(20_000, random_state=5)
    halves = data.split(0.5, random_state=np.random.default_rng(0))
    judge = _Judge.of(itemix.mine(data, 40), halves, np.random.default_rng(1))
    counts, excess = judge.verdict([itemix.Mixture.from_transactions(half) for half in halves])
    support = judge.support
    assert counts == pytest.approx(np.mean((1 - support) / support / len(data)), rel=1e-6)
    assert excess == pytest.approx(0.0, abs=1e-9)
    assert judge.verdict([source, source])[0] < counts


def test_intervals_cover_new_samples(baskets):
    """Of supports in a new sample, about as many lie in their intervals as is said."""
    train, test = baskets
    model = itemix.BernoulliMixture(1, random_state=0, correction=5).fit(train)
    truth = itemix.mine(test, 0.02)
    names = [itemset.items for itemset in truth]
    _, lower, upper = model.intervals(names, level=0.9, n_transactions=len(test))
    assert 0.8 < np.mean((lower <= truth.support) & (truth.support <= upper)) <= 1.0
    _, narrow, _ = model.intervals(names, level=0.9)
    assert (narrow >= lower).all()


def test_it_answers_like_any_model(baskets):
    """Mining, queries, recommendations and rules go through the corrected mixture."""
    train, _ = baskets
    model = itemix.BernoulliMixture(1, random_state=0, correction=3).fit(train)
    found = itemix.mine(model, 0.05)
    pairs = found.filter(min_len=2, max_len=2)
    assert [i.support for i in pairs] == pytest.approx([train.support(i.items) for i in pairs], rel=1e-6)
    assert model.probability(["i1", "i2"]) == pytest.approx(train.support(["i1", "i2"]), rel=1e-6)
    both = model.probability(["i1"], given=["i2"])
    assert both == pytest.approx(train.support(["i1", "i2"]) / train.support(["i2"]), rel=1e-6)
    assert {r.item for r in model.recommend(["i1"], n=8)} == set(model.mixture_.items) - {"i1"}
    assert len(itemix.rules(found, min_threshold=0.5)) > 0


@pytest.mark.parametrize("value", ["yes", 1, 6, 2.5, True])
def test_bad_corrections_are_refused(value, baskets):
    """What is neither a word that is known nor an order."""
    with pytest.raises(InvalidInputError, match="expected correction as None, 'auto' or the number of items"):
        itemix.BernoulliMixture(1, correction=value).fit(baskets[0])


def test_batches_are_corrected_at_the_end(baskets):
    """Data in batches cannot be corrected on the way; afterwards, the counts of all of it can."""
    train, _ = baskets
    parts = train.split(0.5, random_state=0)
    with pytest.raises(InvalidInputError, match=r"correct the mixture when all of it has been seen"):
        itemix.BernoulliMixture(2, correction="auto", random_state=0).partial_fit(parts[0])
    model = itemix.BernoulliMixture(2, random_state=0).partial_fit(parts[0]).partial_fit(parts[1])
    corrected = correct(model.mixture_, parts, 2)
    assert corrected.correction.n_transactions == len(train)
    assert corrected.probability(["i0", "i1"]) == pytest.approx(train.support(["i0", "i1"]), rel=1e-6)


def test_nothing_to_count():
    """No data, no correction; nor by data that is read only once, or of other items."""
    with pytest.raises(InvalidInputError, match="expected transactions to count, got none"):
        correct(random_mixture(0), [], 2)
    with pytest.raises(InvalidInputError, match="expected data that can be read more than once, got list_it"):
        correct(random_mixture(0), iter([[["i0"]]]), 2)
    with pytest.raises(UnknownItemError, match="'beer'"):
        correct(random_mixture(0), [["i0", "beer"]] * 20, 2)


def test_the_size_is_bounded(baskets):
    """Where there would be more itemsets than allowed, the frequent ones are counted."""
    train, _ = baskets
    mixture = itemix.BernoulliMixture(2, random_state=0).fit(train).mixture_
    many, few = (likely_sets(mixture, train, 4, size) for size in (10_000, 60))
    assert len(few) < len(many)
    assert len(few) <= 2 * 60 + mixture.n_items
    with pytest.raises(TooManyItemsetsError):
        itemix.mine(train, 10, max_len=4, max_itemsets=60)


def test_files_keep_the_correction(baskets, tmp_path):
    """A model that was saved answers as before; a damaged correction is refused."""
    train, _ = baskets
    model = itemix.BernoulliMixture(2, random_state=0, correction=3).fit(train)
    model.save(tmp_path / "m.itemix")
    loaded = itemix.load(tmp_path / "m.itemix")
    assert loaded.corrected_ == model.corrected_
    assert itemix.mine(loaded, 0.05) == itemix.mine(model, 0.05)
    assert read_fitted(tmp_path / "m.itemix").model == model.corrected_
    content = container.read(tmp_path / "m.itemix")
    shift = content._tensors["correction.shift"]
    container.write(
        tmp_path / "m.itemix",
        content._header,
        content._tensors | {"correction.shift": np.full_like(shift, np.nan)},
    )
    for read in (itemix.load, lambda path: read_fitted(path).model):
        with pytest.raises(ModelFileError, match=r"which is damaged \(expected finite shifts of log-odds"):
            read(tmp_path / "m.itemix")


def test_a_corrected_mixture_alone_in_a_file(baskets, tmp_path):
    """The value is saved without an estimator, read back equal, and knows how sure it is."""
    train, _ = baskets
    model = correct(itemix.BernoulliMixture(2, random_state=0).fit(train).mixture_, train, 3)
    model.save(tmp_path / "m.itemix")
    assert itemix.load(tmp_path / "m.itemix") == model
    stored = read_fitted(tmp_path / "m.itemix")
    assert stored.model == stored.error_source == model
    assert (stored.value, stored.method, stored.training) == (model.mixture, None, None)
    found = interval(stored.error_source, ["i1", "i2"])
    assert found.lower < found.probability < found.upper
    content = container.read(tmp_path / "m.itemix")
    del content._tensors["correction.shift"]
    container.write(tmp_path / "m.itemix", content._header, content._tensors)
    with pytest.raises(ModelFileError, match=r"it has no array correction\.shift"):
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

    with pytest.raises(InvalidInputError, match=r"a kind that files hold \(Mixture, .*\), got Uniform; pick"):
        save(Uniform(), tmp_path / "m.itemix")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("correction.first", lambda a: a + 1),
        ("correction.item", lambda a: a[::-1].copy()),
        ("correction.item", lambda a: a * 0),
        ("correction.shift", lambda a: a * np.nan),
        ("correction.item_shift", lambda a: a + np.inf),
    ],
)
def test_damaged_corrections_are_refused(name, change, baskets, tmp_path):
    """Whatever is wrong with the arrays, it is found when the file is read."""
    from safetensors import safe_open
    from safetensors.numpy import save_file

    train, _ = baskets
    path = tmp_path / "m.itemix"
    itemix.BernoulliMixture(2, random_state=0, correction=2).fit(train).save(path)
    with safe_open(path, "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no dictionary
        header = file.metadata()
    arrays[name] = change(arrays[name])
    save_file(arrays, path, metadata=header)
    with pytest.raises(ModelFileError):
        itemix.load(path)


def test_a_choice_of_nothing():
    """Where no way is better than none, or nothing occurs often enough to tell, there is no correction."""
    choice = Choice((Way(0), Way(2)), np.array([0.1, 0.2]), np.zeros(2))
    assert choice.best.order == 0
    unshifted = correct(random_mixture(0), random_mixture(0).sample(50, random_state=0), choice)
    assert (unshifted.correction.residuals.size, unshifted.tilted) == (0, random_mixture(0))
    rng = np.random.default_rng(0)
    sparse = Transactions.from_matrix((rng.random((300, 40)) < 0.08).astype(int), items=range(40))
    assert sparse.item_counts().max() < 40
    assert choose(itemix.Mixture([1.0], [[0.1] * 40], range(40)), sparse, rng).best == Way(0)
    empty = Transactions.from_lists([["a"], ["b"]])
    model = itemix.BernoulliMixture(1, random_state=0, correction="auto").fit(empty)
    assert itemix.mine(model, 0.4).support.tolist() == [0.5, 0.5]


def test_mixtures_of_very_many_items_are_asked_for_their_frequent_ones():
    """The pairs that are looked at stay few enough, and where they are few anyway none is left out."""
    probs = np.linspace(0.001, 0.9, 70_000)[None, :]
    wide = itemix.Mixture([1.0], probs, range(70_000))
    n_items = int((probs > _least_probability(wide)).sum())
    assert 0.9 * _MOST_PRODUCTS < n_items**2 / 2 <= _MOST_PRODUCTS
    assert _least_probability(wide.marginal(range(1000))) == 0
