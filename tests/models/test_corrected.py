"""CorrectedMixture: what it stores is exact, what it says are probabilities, and mining finds all of them."""

from __future__ import annotations

import pickle
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.corrected import all_probabilities
from naive.models import random_mixture

import itemix
from itemix.core.sets import Sets
from itemix.core.transactions import Transactions
from itemix.correction import correct, count_sets, fit_correction
from itemix.errors import InvalidInputError
from itemix.models.corrected import CorrectedMixture, Correction, Residuals, ResidualTrie


def data_of(seed, n_items=6, n=40):
    """Return transactions that the mixtures of these tests do not come from."""
    rng = np.random.default_rng(seed)
    held = rng.random((n, n_items)) < rng.random((3, n_items))[rng.integers(0, 3, n)]
    return Transactions.from_matrix(held.astype(int), items=[f"i{i}" for i in range(n_items)])


def corrected(seed, order=3, shrinkage=0.0, n_items=6):
    """Return a mixture corrected by the counts of all itemsets of up to `order` items, and the data."""
    data = data_of(seed, n_items)
    families = [c for n in range(1, order + 1) for c in combinations(range(n_items), n)]
    codes = np.array([code for c in families for code in c], dtype=np.int32)
    sets = Sets.from_lengths(np.array([len(c) for c in families]), codes, data.items)
    known = count_sets(sets, data)
    mixture = random_mixture(seed, 3, n_items)
    return fit_correction(mixture, known, shrinkage=shrinkage), data


seeds = st.integers(0, 10_000)
orders = st.integers(1, 4)


@settings(max_examples=12, deadline=None)
@given(seeds, orders, st.sampled_from([0.0, 5.0]))
def test_probabilities_are_those_of_the_formula(seed, order, shrinkage):
    """One by one and as a family, sets have the probability that the slow formula gives them."""
    model, _ = corrected(seed, order, shrinkage)
    expected = all_probabilities(model)
    sets = [list(codes) for codes in expected if codes]
    names = [model.items.names(codes) for codes in sets]
    values = [expected[frozenset(codes)] for codes in sets]
    np.testing.assert_allclose(model.probabilities(names), values, rtol=1e-9)
    np.testing.assert_allclose(model.probabilities(names * 6), values * 6, rtol=1e-9)
    assert model.probability([]) == pytest.approx(1.0)


@settings(max_examples=12, deadline=None)
@given(seeds, orders, st.sampled_from([0.0, 5.0]))
def test_supports_are_probabilities_and_fall(seed, order, shrinkage):
    """Between 0 and 1, and never larger for a superset than for a subset."""
    model, _ = corrected(seed, order, shrinkage)
    names = list(model.items)
    sets = [list(c) for n in range(len(names) + 1) for c in combinations(names, n)]
    value = dict(zip(map(frozenset, sets), model.probabilities(sets), strict=True))
    assert all(0.0 <= p <= 1.0 for p in value.values())
    for itemset, p in value.items():
        assert all(p <= value[itemset - {item}] * (1 + 1e-12) for item in itemset)


@settings(max_examples=12, deadline=None)
@given(seeds, orders)
def test_what_is_stored_is_exact(seed, order):
    """Without shrinkage every itemset that was counted has the support that was counted."""
    model, data = corrected(seed, order)
    sets = [list(c) for n in range(1, order + 1) for c in combinations(model.items, n)]
    support = np.array([data.support(names) for names in sets])
    # No shift of log-odds makes a probability 0: what never occurs is only very improbable.
    np.testing.assert_allclose(model.probabilities(sets), support, rtol=1e-6, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    seeds,
    orders,
    st.floats(0.02, 0.6),
    st.fixed_dictionaries(
        {},
        optional={
            "target": st.sampled_from(["all", "closed", "maximal"]),
            "min_len": st.integers(1, 2),
            "max_len": st.integers(2, 4),
            "include": st.just(["i1"]),
            "exclude": st.just(["i2"]),
            "n_jobs": st.just(2),
        },
    ),
)
def test_mining_finds_what_the_probabilities_say(seed, order, threshold, options):
    """Every set of enough probability, with its probability, and nothing else, under all options."""
    model, _ = corrected(seed, order)
    found = itemix.mine(model, threshold, **options)
    rounded = threshold * (1 - 1e-9)
    wanted = {
        frozenset(model.items.names(sorted(codes))): p
        for codes, p in all_probabilities(model).items()
        if codes and p >= rounded
    }
    for itemset in found:
        assert itemset.support == pytest.approx(wanted[frozenset(itemset.items)], rel=1e-9)
    if options.get("target", "all") == "all":
        low, high = options.get("min_len", 1), options.get("max_len", model.n_items)
        included, excluded = set(options.get("include", [])), set(options.get("exclude", []))
        assert {frozenset(itemset.items) for itemset in found} == {
            s for s in wanted if low <= len(s) <= high and included <= s and not excluded & s
        }


def test_what_is_certain_stays_certain():
    """Probabilities of 0 and 1 cannot be shifted, however far: data corrected by itself says what it said."""
    data = data_of(4, n=200)
    model = correct(itemix.Mixture.from_transactions(data), data, 3)
    found = itemix.mine(data, 0.01)
    np.testing.assert_allclose(model.probabilities(found), found.support, rtol=1e-9)
    far = Correction(np.array([-60.0, 60.0]), Residuals.of_nothing(2), 10)
    certain = itemix.Mixture([0.25, 0.75], [[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    assert far.tilted(certain) == certain


def test_long_sets_fall():
    """However long a set, it is no more probable than with an item less, whichever."""
    model, _ = corrected(6, n_items=24)
    rng = np.random.default_rng(0)
    for _ in range(20):
        names = [f"i{i}" for i in rng.permutation(24)]
        values = model.probabilities([names[:n] for n in range(25)])
        assert (np.diff(values) <= 1e-15).all()
        assert model.probability(names[:20]) == values[20]


def test_conditions_below_the_least_number():
    """Where a condition is too rare for a number, the mixture answers: no count says more about it."""
    mixture = itemix.Mixture([0.4, 0.6], np.random.default_rng(0).uniform(0.002, 0.02, (2, 200)), range(200))
    model = correct(mixture, mixture.sample(2000, random_state=0), 2)
    condition = {"given": range(190), "given_absent": [190]}
    assert model.probability(range(190)) == 0
    assert model.probability([195], **condition) == pytest.approx(mixture.probability([195], **condition))
    assert 0 < model.probability([195], **condition) < 0.02


def test_absent_items_complete_present_ones():
    """With an item and without it are all cases; so are the four cases of two items."""
    model, _ = corrected(3)
    for other in ("i3", "i4"):
        whole = model.probability(["i1"])
        parts = model.probability(["i1", other]) + model.probability(["i1"], absent=[other])
        assert parts == pytest.approx(whole, rel=1e-9)
    four = [
        model.probability(["i0", "i1"]),
        model.probability(["i0"], absent=["i1"]),
        model.probability(["i1"], absent=["i0"]),
        model.probability([], absent=["i0", "i1"]),
    ]
    assert sum(four) == pytest.approx(1.0, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_cases_add_up_where_none_is_cut_off(seed):
    """With an item and without it are all cases, except where the sum would be below 0: that is 0."""
    model, _ = corrected(seed)
    for absent in (["i3"], ["i3", "i4"], ["i2", "i3", "i4"]):
        *others, last = absent
        before = model.probability(["i0"], absent=others)
        without = model.probability(["i0"], absent=absent)
        with_it = model.probability(["i0", last], absent=others)
        assert 0 <= without <= 1
        if without > 0 and before > 0 and with_it > 0:
            assert with_it + without == pytest.approx(before, rel=1e-9)


def test_too_many_absent_items():
    """The terms double with each absent item, so there is a limit, and it is said."""
    model, _ = corrected(3, order=2, n_items=12)
    with pytest.raises(InvalidInputError, match=r"at most 10 absent items .*, got 11; name fewer, or"):
        model.probability(["i0"], absent=[f"i{i}" for i in range(1, 12)])


@settings(max_examples=10, deadline=None)
@given(seeds, st.lists(st.integers(0, 200), max_size=4).map(sorted), st.sampled_from([10, 60, 10_000]))
def test_chunks_are_corrected_as_all_data_at_once(seed, cuts, max_size):
    """Sets are counted if they are frequent in all chunks together; some may be empty, or lack items."""
    data = data_of(seed, n=200)
    mixture = random_mixture(seed, 3, 6)
    rows = [data.to_lists()[low:high] for low, high in pairwise([0, *cuts, 200])]
    chunks = [Transactions.from_lists(part) for part in rows]
    whole = correct(mixture, data, 3, max_size=max_size)
    assert correct(mixture, chunks, 3, max_size=max_size) == whole
    assert correct(mixture, lambda: iter(chunks), 3, max_size=max_size) == whole
    assert correct(mixture, data.to_lists(), 3, max_size=max_size) == whole


def test_truncated_residuals_are_those_of_a_lower_order():
    """Each order stores what the lower ones leave over, so that the lower ones stand on their own."""
    high, _ = corrected(8, order=4)
    low, _ = corrected(8, order=2)
    (first, item), shift = high.correction.residuals.trie, high.correction.residuals.shift
    n = int((high.correction.residuals.lengths <= 2).sum())
    truncated = Residuals(ResidualTrie(np.minimum(first[: n + 1], n), item[:n]), shift[:n])
    assert truncated.pruned() == low.correction.residuals


def test_without_pivots_it_is_a_mixture():
    """Residuals of nothing change nothing."""
    mixture = random_mixture(4, 3, 5)
    model = CorrectedMixture(mixture, Correction(np.zeros(5), Residuals.of_nothing(5), 10))
    assert itemix.mine(model, 0.1) == itemix.mine(mixture, 0.1)
    assert model.n_parameters == mixture.n_parameters


def test_a_value():
    """It is equal to its pickled copy, says what it is, and refuses residuals of other items."""
    model, data = corrected(2)
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301 - our own bytes
    assert "residuals of up to 3 items" in repr(model)
    np.testing.assert_array_equal(model.log_likelihood(data), model.mixture.log_likelihood(data))
    with pytest.raises(InvalidInputError, match="correction of the mixture's 5 items, got one of 6"):
        CorrectedMixture(random_mixture(0, 2, 5), model.correction)


@pytest.mark.data("chess/chess.dat")
def test_real_data_falls_and_is_found(data_folder):
    """On chess the sets that are mined have the probabilities that are asked for, and they fall."""
    data = itemix.read_transactions(data_folder / "chess/chess.dat")
    mixture = itemix.BayesianMixture(8, random_state=0).fit(data).mixture_
    model = correct(mixture, data, 3, max_size=20_000)
    found = itemix.mine(model, 0.7)
    np.testing.assert_allclose(model.probabilities(found), found.support, rtol=1e-9)
    one_by_one = [model.probability(found[k].items) for k in range(0, len(found), 997)]
    np.testing.assert_allclose(one_by_one, found.support[::997], rtol=1e-9)
    assert found.maximal().sets.lengths.max() > 5
