"""Unusual transactions: p values are uniform where the model is right, and the odd items are told."""

import numpy as np
import pytest
from scipy.stats import kstest

import itemix
from itemix.errors import InvalidInputError
from itemix.fitted import FittedModel
from itemix.models.mixture import Mixture

NAMES = [f"i{i}" for i in range(10)]
MODEL = Mixture([0.5, 0.5], [[0.9] * 5 + [0.02] * 5, [0.02] * 5 + [0.9] * 5], NAMES)


@pytest.mark.parametrize("n_items", [4, 60])
def test_p_values_are_uniform_on_data_of_the_model(n_items):
    """Whether there are many equal transactions or none, and whatever seed was used."""
    rng = np.random.default_rng(n_items)
    names = [f"i{i}" for i in range(n_items)]
    model = FittedModel(Mixture(rng.dirichlet(np.ones(3)), rng.uniform(0.02, 0.4, (3, n_items)), names))
    values = [model.unusual(model.value.sample(1500, random_state=s), level=0).p_value for s in range(8)]
    assert kstest(np.concatenate(values), "uniform").pvalue > 0.001
    assert min(kstest(own, "uniform").pvalue for own in values) > 0.001


def test_odd_items_are_told():
    """A basket of one kind with an item of the other, and without one of its own, is told so."""
    usual = [NAMES[:5], NAMES[5:]] * 200
    odd = [[*NAMES[:4], "i9"]]
    data = itemix.Transactions.from_lists(usual + odd)
    found = FittedModel(MODEL).unusual(data)
    assert found.p_value[-1] == found.p_value.min() < 0.02
    assert found.unexpected[-1 % len(found)] == ("i9",)
    assert found.missing[-1 % len(found)] == ("i4",)
    assert found.top(1).to_pandas()["row"].tolist() == [400]
    rest = [set(names) for names in found.unexpected][:-1]
    assert not set().union(*rest)
    names = [NAMES[0], NAMES[1], NAMES[2], NAMES[3], "i9"]
    given = [name for name in names if name != "i9"]
    absent = [name for name in NAMES if name not in names]
    assert MODEL.probability(["i9"], given=given, given_absent=absent) < 0.05
    assert (found.q_value >= found.p_value - 1e-12).all()
    assert np.allclose(found.log_likelihood, MODEL.log_likelihood(data.align_items(MODEL.items)))


def test_long_transactions_are_unusual_too():
    """One with everything in it is as unusual as can be."""
    data = itemix.Transactions.from_lists([NAMES[:5]] * 50 + [NAMES])
    found = FittedModel(MODEL).unusual(data)
    assert found.p_value[-1] == found.p_value.min() < 0.001


def test_results_and_bad_input():
    """Same seed, same numbers; ids come along; what cannot be asked says why."""
    data = itemix.Transactions.from_lists([NAMES[:5], NAMES[5:]])
    model = itemix.BernoulliMixture(1, random_state=0).fit(data)
    assert model.unusual(data) == model.unusual(data)
    assert "id" not in model.unusual(data).to_pandas()
    frame = data.to_long("invoice")
    named = itemix.Transactions.from_long(frame.assign(invoice=frame.invoice + 536), "invoice", "item")
    assert FittedModel(MODEL).unusual(named).to_pandas()["id"].tolist() == ["536", "537"]
    with pytest.raises(InvalidInputError, match="expected the model's 10 items, got others, such as"):
        FittedModel(MODEL).unusual([["x"]])
    with pytest.raises(InvalidInputError, match="expected a level from 0 to 1, got 2"):
        FittedModel(MODEL).unusual(data, level=2)
    with pytest.raises(InvalidInputError, match="expected n_simulated as a whole number"):
        FittedModel(MODEL).unusual(data, n_simulated=3)
