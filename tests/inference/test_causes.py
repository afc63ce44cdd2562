"""The climb of several causes: its gradient, its steps, and what it finds."""

import numpy as np
import pytest
from models.test_causes import random_causes

import itemix
from itemix._runtime import Workers
from itemix.inference import causes
from itemix.inference.causes import CauseClimb, CauseRows, Parameters
from itemix.models.causes import cause_states

SILENT = str  # takes a text and does nothing


@pytest.fixture(scope="module")
def data():
    """Transactions of three causes."""
    return random_causes(3, 3, 6).sample(600, random_state=0)


def start_of(rows, n_causes, seed=0):
    """Return a state anywhere."""
    with Workers(1) as workers:
        climb = CauseClimb(rows, n_causes, workers, SILENT)
        return causes._Posterior(rows, workers), climb._anywhere(np.random.default_rng(seed))


def test_sums_over_states_are_products_of_matrices():
    """One addition for each state gives what a product with the table of states gives."""
    rng = np.random.default_rng(0)
    scores, joint = rng.normal(size=(7, 4)), rng.random((7, 16))
    np.testing.assert_allclose(causes._sums_by_state(scores), scores @ (cause_states(4) - 0.5).T)
    np.testing.assert_allclose(causes._sums_by_cause(joint.copy()), joint @ cause_states(4))


@pytest.mark.parametrize("n_causes", [1, 3])
def test_the_gradient_is_that_of_differences(n_causes, data):
    """Of every parameter, ties and baseline included."""
    posterior, (parameters, strengths) = start_of(CauseRows(data), n_causes)
    parameters = Parameters(parameters.ties + 0.3, parameters.baseline, parameters.effects)
    state = posterior.at(parameters, strengths)
    for i in range(len(state.at)):
        moved = [state.at.copy() for _ in range(2)]
        moved[0][i] += 1e-5
        moved[1][i] -= 1e-5
        up, down = (posterior.at(Parameters.of(at, n_causes), strengths).value for at in moved)
        assert state.gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-3)


def test_the_likelihood_is_that_of_the_model(data):
    """What is climbed is the log-likelihood of the model that is returned, less the prior's."""
    rows = CauseRows(data)
    posterior, (parameters, strengths) = start_of(rows, 3)
    value = posterior.at(parameters, strengths * 0).value
    with Workers(1) as workers:
        model = CauseClimb(rows, 3, workers, SILENT).finish(posterior.at(parameters, strengths))
    centred = parameters.baseline - posterior._centre
    expected = model.log_likelihood(data).sum() - 0.5 * causes._OF_OTHERS * (centred**2).sum()
    assert value == pytest.approx(expected)
    assert (np.diff(model.causes.weights) <= 0).all()
    assert (model.causes.probs.sum(axis=1) >= model.item_probabilities.sum() - 1e-12).all()


@pytest.mark.parametrize("seed", range(3))
def test_no_step_goes_down(seed, data):
    """The bound never falls, and the fit is near to the truth on data that it has not seen."""
    model = itemix.MultipleCauseMixture(3, random_state=seed, tol=1e-7).fit(data)
    assert (np.diff(model.lower_bounds_) >= 0).all()
    truth = random_causes(3, 3, 6)
    new = truth.sample(2_000, random_state=1)
    assert model.score(new) > truth.log_likelihood(new).mean() - 0.03


def test_threads_do_not_matter(data, monkeypatch):
    """The same numbers for any number of threads."""
    monkeypatch.setattr(causes, "_CELLS", 64)
    one, two = (itemix.MultipleCauseMixture(3, random_state=0, n_jobs=n).fit(data).mixture_ for n in (1, 2))
    assert one == two


def test_identical_rows_count(data):
    """A row that stands for several counts as often."""
    twice = itemix.MultipleCauseMixture(2, random_state=0).fit(data, sample_weight=np.full(600, 2))
    doubled = itemix.Transactions.concatenate([data, data])
    same = itemix.MultipleCauseMixture(2, random_state=0).fit(doubled)
    assert twice.mixture_ == same.mixture_


def test_causes_that_are_not_needed_are_left_out():
    """Independent items leave one cause that does next to nothing."""
    rng = np.random.default_rng(0)
    table = itemix.Transactions.from_matrix(rng.random((2_000, 8)) < 0.3)
    model = itemix.MultipleCauseMixture(6, random_state=0).fit(table)
    assert model.n_components_ < 6
    assert model.probability([0, 1]) == pytest.approx(0.09, abs=0.01)


def test_the_number_is_chosen(data):
    """By the likelihood of what is left out; what was tried can be looked at."""
    model = itemix.MultipleCauseMixture("auto", random_state=0).fit(data)
    assert model.selection_.best in (2, 4)
    assert list(model.selection_.candidates[:3]) == [1, 2, 4]
