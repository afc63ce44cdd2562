"""The mixture of causes against enumeration, and the causes that are looked at."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

import itemix
from itemix import CauseMixture, Transactions
from itemix.errors import InvalidInputError, NotEnoughMemoryError
from itemix.models.causes import MOST_CAUSES


def random_causes(seed, n_causes=3, n_items=5):
    """Return a mixture of causes with random parameters."""
    rng = np.random.default_rng(seed)
    ties = rng.normal(size=(n_causes, n_causes))
    ties = np.triu(ties) + np.triu(ties, 1).T
    items = [f"i{i}" for i in range(n_items)]
    return CauseMixture(rng.normal(-1, 1, n_items), rng.normal(0, 2, (n_causes, n_items)), ties, items)


def joint(model):
    """Return the probability of each state of the causes with each transaction, by the definition."""
    K, D = model.n_causes, model.n_items
    found = {}
    for z in itertools.product((0, 1), repeat=K):
        score = sum(z[k] * model.ties[k, k] for k in range(K))
        score += sum(z[j] * z[k] * model.ties[j, k] for j in range(K) for k in range(j))
        for x in itertools.product((0, 1), repeat=D):
            p = math.exp(score)
            for i in range(D):
                log_odds = model.baseline[i] + sum(z[k] * model.effects[k, i] for k in range(K))
                p *= 1 / (1 + math.exp(-log_odds if x[i] else log_odds))
            found[z, x] = p
    total = sum(found.values())
    return {key: p / total for key, p in found.items()}


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_those_of_the_definition(seed):
    """Of whole transactions, of itemsets with absent items, of causes and of pairs of them."""
    model = random_causes(seed)
    table = joint(model)
    rows = list(itertools.product((0, 1), repeat=5))
    whole = [sum(p for (_, x), p in table.items() if x == row) for row in rows]
    data = Transactions.from_matrix(np.array(rows), model.items)
    np.testing.assert_allclose(np.exp(model.log_likelihood(data)), whole)
    asked = sum(p for (_, x), p in table.items() if x[0] and x[3] and not x[1])
    assert model.probability(["i0", "i3"], absent=["i1"]) == pytest.approx(asked)
    for j, k in itertools.product(range(3), repeat=2):
        both = sum(p for (z, _), p in table.items() if z[j] and z[k])
        assert model.together[j, k] == pytest.approx(both)
    for k in range(3):
        acts = sum(p for (z, _), p in table.items() if z[k])
        held = sum(p for (z, x), p in table.items() if z[k] and x[2])
        assert model.causes.weights[k] == pytest.approx(acts)
        assert model.causes.probs[k, 2] == pytest.approx(held / acts)
        assert model.causes.alone(k).probability(["i2"]) == pytest.approx(held / acts)
    assert model.n_parameters == 4 * 5 + 6


@pytest.mark.parametrize("partial", [False, True])
def test_an_explanation_is_bayes_rule(partial):
    """The chance of each cause, and by how much its log-odds fall if an item is not known."""
    model = random_causes(7)
    table = joint(model)
    basket = {0, 2}

    def chance(k, known):
        fits = {key: p for key, p in table.items() if all(key[1][i] == (i in basket) for i in known)}
        p = sum(p for (z, _), p in fits.items() if z[k]) / sum(fits.values())
        return p, math.log(p / (1 - p))

    known = basket if partial else set(range(5))
    found = model.explain(["i0", "i2"], partial=partial)
    assert sorted(cause.cause for cause in found) == [0, 1, 2]
    assert [cause.probability for cause in found] == sorted((c.probability for c in found), reverse=True)
    for cause in found:
        p, log_odds = chance(cause.cause, known)
        assert cause.probability == pytest.approx(p)
        assert cause.share == model.causes.weights[cause.cause]
        told = {f"i{i}": log_odds - chance(cause.cause, known - {i})[1] for i in basket}
        assert dict(cause.items) == pytest.approx({name: t for name, t in told.items() if t > 0})
    np.testing.assert_allclose(
        model.acting(Transactions.from_lists([["i0", "i2"]]).align_items(model.items))[0],
        [chance(k, set(range(5)))[0] for k in range(3)],
    )


def test_it_is_a_value():
    """It is equal to its copies, and never shares the caller's memory."""
    model = random_causes(1)
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert other == model
        assert other.causes == model.causes
        assert type(other) is CauseMixture
    assert model != random_causes(2)
    assert model.causes != random_causes(2).causes
    assert model != itemix.Mixture([1.0], [[0.5] * 5], model.items)
    assert itemix.Mixture(model.weights, model.probs, model.items) == itemix.Mixture.stack([model])
    with pytest.raises(ValueError, match="read-only"):
        model.effects[0, 0] = 1.0
    assert repr(model) == "CauseMixture(3 causes, 5 items)"


def test_bad_input_gets_one_line(monkeypatch):
    """What was expected, what was got, what to try."""
    with pytest.raises(InvalidInputError, match=r"expected effects as finite numbers of shape \(1, 2\)"):
        CauseMixture([0, 0], [[1.0, math.nan]], [[0.0]], ["a", "b"])
    with pytest.raises(InvalidInputError, match="expected symmetric ties, got others"):
        CauseMixture([0], [[1], [1]], [[0, 1], [2, 0]], ["a"])
    with pytest.raises(InvalidInputError, match=r"expected n_causes from 1 to 14, as all 2\^n_causes states"):
        CauseMixture([0], [[1]] * (MOST_CAUSES + 1), np.zeros((15, 15)), ["a"])
    with pytest.raises(InvalidInputError, match="got 0"):
        CauseMixture([0], np.empty((0, 1)), np.zeros((0, 0)), ["a"])
    monkeypatch.setattr("itemix._runtime.measured_free_memory", lambda: 2**20)
    monkeypatch.setattr("itemix._runtime._free", [])
    with pytest.raises(NotEnoughMemoryError, match="for the 16,384 states of 14 causes and 5,000 items"):
        itemix.MultipleCauseMixture(14).fit(Transactions([0, 1], [0], [f"i{i}" for i in range(5_000)]))
