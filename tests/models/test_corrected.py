"""CorrectedMixture: one distribution, so all laws hold; and mining finds all that it says."""

from __future__ import annotations

import pickle
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import corrected as naive
from naive.models import random_mixture

import itemix
from itemix.core.transactions import Transactions
from itemix.correction import correct
from itemix.errors import InvalidInputError
from itemix.mining.query import recommend
from itemix.models.corrected import CorrectedMixture
from itemix.models.mixture import Mixture

seeds = st.integers(0, 10_000)
worths = st.sampled_from([1.0, 17.5, 4000.0])


def data_of(seed, n_items=6, n=40):
    """Return transactions that the mixtures of these tests do not come from."""
    rng = np.random.default_rng(seed)
    held = rng.random((n, n_items)) < rng.random((3, n_items))[rng.integers(0, 3, n)]
    return Transactions.from_matrix(held.astype(int), items=[f"i{i}" for i in range(n_items)])


def corrected(seed, worth=10.0, n_items=6):
    """Return a mixture corrected by data that did not come from it."""
    return CorrectedMixture(random_mixture(seed, 3, n_items), data_of(seed, n_items), worth)


def events_of(model):
    """Return every way in which each item is present, absent or not asked for."""
    names = list(model.items)
    for kinds in np.ndindex(*(3,) * len(names)):
        yield tuple([n for n, k in zip(names, kinds, strict=True) if k == kind] for kind in (1, 2))


@settings(max_examples=6, deadline=None)
@given(seeds, worths)
def test_every_event_has_the_probability_of_the_formula(seed, worth):
    """Of all 3^n events, asked for one by one or all at once, in any order, with repeated names."""
    model = corrected(seed, worth, n_items=4)
    events = list(events_of(model))
    values = [naive.probability(model, *event) for event in events]
    present, absent = zip(*events, strict=True)
    np.testing.assert_allclose(model.probabilities(present, absent=absent), values, rtol=1e-12)
    for event, value in zip(events, values, strict=True):
        own = model.probability([*event[0], *event[0]], absent=event[1])
        assert own == pytest.approx(value, rel=1e-12)


@settings(max_examples=15, deadline=None)
@given(seeds, worths, st.data())
def test_the_laws_of_probability_hold(seed, worth, data):
    """An item is there or not; what is asked for more is less probable; a condition never rules out data."""
    model = corrected(seed, worth)
    names = list(model.items)
    state = data.draw(st.lists(st.sampled_from(["present", "absent", "open"]), min_size=5, max_size=5))
    held = [n for n, s in zip(names[1:], state, strict=True) if s == "present"]
    missing = [n for n, s in zip(names[1:], state, strict=True) if s == "absent"]
    condition = {"given": held, "given_absent": missing}
    with_it = model.probability([names[0]], **condition)
    without = model.probability([], absent=[names[0]], **condition)
    assert with_it + without == pytest.approx(1.0, abs=1e-12)
    assert min(with_it, without) > 0
    joint = model.probability([names[0], *held], absent=missing)
    assert joint <= model.probability(held, absent=missing)
    given_all = model.items_given(model.items.codes(held), model.items.codes(missing))
    assert given_all[0] == pytest.approx(with_it, rel=1e-12)


def test_a_hundred_thousand_questions_on_small_dense_data():
    """No exception, nothing negative, and all cases of three items add up, whatever is known of the rest."""
    rng = np.random.default_rng(5)
    data = Transactions.from_matrix((rng.random((60, 8)) < 0.8).astype(int))
    fitted = itemix.BernoulliMixture(3, random_state=0, correction="auto").fit(data)
    model = fitted.corrected_
    n = 12_500
    state = rng.integers(0, 3, (n, 5))
    known = [
        ([3 + j for j in range(5) if row[j] == 1], [3 + j for j in range(5) if row[j] == 2]) for row in state
    ]
    cases = [
        ([i for i in range(3) if case[i]] + held, [i for i in range(3) if not case[i]] + missing)
        for held, missing in known
        for case in np.ndindex(2, 2, 2)
    ]
    names = data.items.names
    joint = model.probabilities([names(c[0]) for c in cases], absent=[names(c[1]) for c in cases])
    condition = model.probabilities([names(c[0]) for c in known], absent=[names(c[1]) for c in known])
    assert joint.min() >= 0
    np.testing.assert_allclose(joint.reshape(n, 8).sum(axis=1), condition, rtol=1e-10)


@settings(max_examples=20, deadline=None)
@given(
    seeds,
    worths,
    st.floats(0.02, 0.6),
    st.fixed_dictionaries(
        {},
        optional={
            "target": st.sampled_from(["all", "closed", "maximal"]),
            "min_len": st.integers(1, 2),
            "max_len": st.integers(2, 4),
            "include": st.just(["i1"]),
            "exclude": st.just(["i2"]),
            "max_itemsets": st.just(64),
            "n_jobs": st.just(2),
        },
    ),
)
def test_mining_finds_what_the_probabilities_say(seed, worth, threshold, options):
    """Every set of enough probability, with its probability, and nothing else, under all options."""
    model = corrected(seed, worth)
    found = itemix.mine(model, threshold, **options)
    families = chain.from_iterable(combinations(model.items, n) for n in range(1, model.n_items + 1))
    values = {frozenset(s): naive.probability(model, s) for s in families}
    wanted = {s: p for s, p in values.items() if p >= threshold * (1 - 1e-9)}
    for itemset in found:
        assert itemset.support == pytest.approx(wanted[frozenset(itemset.items)], rel=1e-9)
    if options.get("target", "all") == "all":
        low, high = options.get("min_len", 1), options.get("max_len", model.n_items)
        included, excluded = set(options.get("include", [])), set(options.get("exclude", []))
        assert {frozenset(itemset.items) for itemset in found} == {
            s for s in wanted if low <= len(s) <= high and included <= s and not excluded & s
        }


@settings(max_examples=10, deadline=None)
@given(seeds, worths, st.integers(1, 20))
def test_the_most_probable_sets_are_the_first_of_all(seed, worth, k):
    """The k best have the k highest probabilities."""
    model = corrected(seed, worth)
    everything = itemix.mine(model, 1e-9)
    best = itemix.mine(model, top_k=k)
    np.testing.assert_allclose(np.sort(best.support)[::-1], np.sort(everything.support)[::-1][:k], rtol=1e-12)


def test_too_many_sets_are_refused_only_if_they_are_too_many():
    """The limit is that of the sets that are returned, not of those looked at on the way."""
    model = corrected(3, 4000.0)
    n = len(itemix.mine(model, 0.05))
    assert len(itemix.mine(model, 0.05, max_itemsets=n)) == n
    with pytest.raises(itemix.TooManyItemsetsError):
        itemix.mine(model, 0.05, max_itemsets=n - 1)


def test_what_no_component_can_hold_is_possible_if_it_was_seen():
    """A mixture that rules an item out is overruled by the data, and only by the data."""
    mixture = Mixture([1.0], [[0.0, 0.5]], ["a", "b"])
    data = Transactions.from_lists([["a", "b"], ["b"]]).align_items(mixture.items)
    model = CorrectedMixture(mixture, data, 2.0)
    assert model.probability(["a"]) == pytest.approx(0.25)
    assert model.probability(["b"], given=["a"]) == pytest.approx(1.0)
    np.testing.assert_allclose(model.items_given(np.array([0]), np.array([], dtype=np.int32)), [1.0, 1.0])
    assert model.probability([], absent=["b"]) == pytest.approx(0.25)
    with pytest.raises(InvalidInputError, match="rules out"):
        CorrectedMixture(mixture, data[[1]], 2.0).probability(["b"], given=["a"])


def test_pairs_are_those_of_single_questions():
    """Tables of pairs, and what depends on what."""
    model = corrected(8, 25.0)
    codes = np.array([4, 1], dtype=np.int32)
    table = model.pair_probabilities(codes)
    for row, code in enumerate(codes):
        for other in range(model.n_items):
            pair = {model.items[int(code)], model.items[other]}
            assert table[row, other] == pytest.approx(naive.probability(model, pair), rel=1e-12)


def test_far_below_the_smallest_number_conditions_still_hold():
    """What was never seen is as probable as the mixture says, also where its probability underflows."""
    names = [f"i{i}" for i in range(400)]
    mixture = Mixture([0.5, 0.5], [[0.01] * 400, [0.02] * 400], names)
    data = Transactions.from_lists([[names[0]]]).align_items(mixture.items)
    model = CorrectedMixture(mixture, data, 3.0)
    assert model.probability([names[0]], given=names[1:]) == pytest.approx(0.02, rel=1e-9)


def test_baskets_get_recommendations_by_the_corrected_probabilities():
    """What is most probable given the basket comes first."""
    model = corrected(2, 5.0)
    basket = ["i0", "i3"]
    values = {n: model.probability([n], given=basket) for n in model.items if n not in basket}
    found = recommend(model, basket, 3, complete=False)
    assert [entry.item for entry in found] == sorted(values, key=values.get, reverse=True)[:3]


def test_identical_transactions_are_kept_once_and_chunks_change_nothing():
    """However the data is divided, the model is the same, also after a round trip."""
    mixture, data = random_mixture(4, 3, 6), data_of(4, n=300)
    whole = correct(mixture, data, 50)
    assert whole.transactions.n_rows < 65
    assert whole.transactions.n_transactions == 300
    parts = [data[np.arange(0, 100)], data[np.arange(100, 300)]]
    assert correct(mixture, parts, 50) == whole
    assert correct(mixture, lambda: iter(parts), 50) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole  # noqa: S301 - written here
    assert whole != correct(mixture, data, 51)
    assert repr(whole) == "CorrectedMixture(Mixture(3 components, 6 items), 300 transactions, worth 50)"
    assert whole.n_parameters == mixture.n_parameters + whole.transactions.n_rows


def test_whole_transactions_are_left_to_the_mixture():
    """Log-likelihoods and samples are those of the mixture."""
    model = corrected(1)
    data = data_of(2)
    np.testing.assert_array_equal(model.log_likelihood(data), model.base.log_likelihood(data))
    assert model.sample(20, random_state=0) == model.base.sample(20, random_state=0)
    assert model.has_likelihood


@pytest.mark.parametrize("worth", [0, -1, float("inf"), float("nan"), "many", True])
def test_the_worth_is_a_positive_number(worth):
    """Anything else is refused."""
    with pytest.raises(InvalidInputError, match="worth"):
        CorrectedMixture(random_mixture(0, 3, 6), data_of(0), worth)


def test_other_items_and_no_transactions_are_refused():
    """A model is corrected by transactions over its own items."""
    mixture = random_mixture(0, 3, 6)
    with pytest.raises(InvalidInputError, match="expected the model's 6 items"):
        CorrectedMixture(mixture, data_of(0, n_items=5), 1)
    with pytest.raises(InvalidInputError, match="got none"):
        CorrectedMixture(mixture, data_of(0)[np.empty(0, dtype=int)], 1)
    with pytest.raises(InvalidInputError, match="got none"):
        correct(mixture, [data_of(0)[np.empty(0, dtype=int)]], 1)
