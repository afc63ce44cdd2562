"""The strongest pairs are those that looking at every pair gives."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itemix
from itemix.mining import query
from itemix.models.mixture import Mixture


def every_pair(model, sign="both"):
    """Return all pairs of a model as (information, item, other), the strongest first."""
    p = model.item_probabilities
    sets = list(itertools.combinations(range(model.n_items), 2))
    together = model.probabilities([[model.items[i], model.items[j]] for i, j in sets])
    found = []
    for (i, j), both in zip(sets, together.tolist(), strict=True):
        if sign == "both" or (both > p[i] * p[j]) == (sign == "positive"):
            cells = both, p[i] - both, p[j] - both, 1 - p[i] - p[j] + both
            expected = p[i] * p[j], p[i] * (1 - p[j]), (1 - p[i]) * p[j], (1 - p[i]) * (1 - p[j])
            parts = [c * math.log2(c / e) for c, e in zip(cells, expected, strict=True) if c > 0 and e > 0]
            found.append((sum(parts), i, j))
    return sorted(found, key=lambda pair: (-pair[0], pair[1], pair[2]))


def sparse_mixture(seed, n_items=24):
    """A mixture most of whose items are rare and much alike in all components, as in a shop."""
    rng = np.random.default_rng(seed)
    probs = np.tile(rng.beta(0.4, 6, n_items), (4, 1))
    own = rng.random((4, n_items)) < 0.15
    probs[own] = rng.random(int(own.sum()))
    return Mixture(rng.dirichlet(np.ones(4)), probs, [f"item {i}" for i in range(n_items)])


@given(st.integers(0, 500), st.integers(1, 60), st.sampled_from(["both", "positive", "negative"]))
def test_what_is_left_out_is_weaker(seed, n, sign):
    """Bounds and blocks leave out no pair that belongs to the strongest ones."""
    model = sparse_mixture(seed)
    found = query.strongest_pairs(model, n, sign=sign)
    # Of items that are independent but for rounding, the sign is rounding too.
    values = [pair.information for pair in found if pair.information > 1e-12]
    expected = [e[0] for e in every_pair(model, sign)[:n] if e[0] > 1e-12]
    assert values == pytest.approx(expected, abs=1e-12)
    assert len({(pair.item, pair.other) for pair in found}) == len(found)


@given(st.integers(0, 500))
def test_bounds_hold(seed):
    """No pair shares more than its bounds say."""
    model = sparse_mixture(seed, 12)
    bounds = query.Bounds.of(model)
    for information, i, j in every_pair(model):
        assert information <= np.log2(1 + bounds.together[i] * bounds.together[j]) + 1e-12
        assert information <= min(bounds.alone[i], bounds.alone[j]) + 1e-12


def test_more_items_than_are_looked_at_together():
    """Items are taken some hundreds at a time: across these, no pair is lost or found twice."""
    model = sparse_mixture(3, 700)
    found = query.strongest_pairs(model, 40)
    expected = every_pair(model)[:40]
    assert [(pair.item, pair.other) for pair in found] == [(i, j) for _, i, j in expected]
    assert [pair.information for pair in found] == pytest.approx(
        [information for information, *_ in expected]
    )


@pytest.mark.parametrize("kind", ["corrected", "tree", "maxent"])
def test_other_models(kind):
    """Models without a bound of their own give the strongest of all pairs too."""
    data = itemix.datasets.load("grocery_store").sample(400, random_state=0)
    made = {
        "corrected": itemix.BernoulliMixture(n_components=3, random_state=0, correction=2),
        "tree": itemix.ChowLiuTree(),
        "maxent": itemix.MaxEntropyModel(min_support=0.05),
    }
    fitted = made[kind].fit(data)
    model = fitted.corrected_ if kind == "corrected" else fitted.model_
    found = query.strongest_pairs(model, 20)
    assert [pair.information for pair in found] == pytest.approx([e[0] for e in every_pair(model)[:20]])


def test_some_items_and_among_some():
    """A wanted item comes first in its pairs; among some items there are no others."""
    model = sparse_mixture(1)
    wanted = np.array([3, 17], dtype=np.int32)
    found = query.strongest_pairs(model, 1000, wanted=wanted)
    assert len(found) == 2 * model.n_items - 3
    assert all(pair.item in wanted for pair in found)
    among = np.array([1, 3, 5, 7], dtype=np.int32)
    assert {(p.item, p.other) for p in query.strongest_pairs(model, 99, among=among)} == set(
        itertools.combinations([1, 3, 5, 7], 2)
    )
    assert query.strongest_pairs(model, 0) == []
