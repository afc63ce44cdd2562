"""A fitted model is one value, whether an estimator, a file or a model alone holds it."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from fits import GIBBS
from inference.planted import planted_blocks, planted_mixture
from naive.models import OnlyProbabilities
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

import itemix
from itemix import (
    BayesianMixture,
    BernoulliMixture,
    ChowLiuMixture,
    ChowLiuTree,
    DirichletProcessMixture,
    IndependentModel,
    LatentTreeModel,
    MaxEntropyModel,
    MultipleCauseMixture,
)
from itemix.errors import InvalidInputError
from itemix.files import read_fitted
from itemix.fitted import FittedModel
from itemix.inference import METHODS
from itemix.mining import intervals

MAKERS = {
    "nbm": lambda: BernoulliMixture(3, random_state=0),
    "vfbm": lambda: BayesianMixture(3, random_state=0),
    "gsfbm": lambda: BayesianMixture(3, random_state=0, **GIBBS),
    "vdpm": lambda: DirichletProcessMixture(5, random_state=0),
    "gsdpm": lambda: DirichletProcessMixture(5, random_state=0, **GIBBS),
    "causes": lambda: MultipleCauseMixture(2, random_state=0),
    "chow-liu-mixture": lambda: ChowLiuMixture(2, random_state=0),
    "latent-tree": lambda: LatentTreeModel(3, random_state=0),
    "chow-liu": ChowLiuTree,
    "maxent": lambda: MaxEntropyModel(min_support=0.1, max_len=2),
    "independent": IndependentModel,
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def data():
    """Transactions of a mixture that is known."""
    return planted_mixture().sample(200, random_state=0)


@pytest.fixture(scope="module")
def estimators(data):
    """An estimator of every method, fitted."""
    return {name: make().fit(data) for name, make in MAKERS.items()}


def test_every_method_is_in_the_table(estimators):
    """The table names the class, its inference and the model that each method learns."""
    assert METHODS.keys() == MAKERS.keys()
    for name, estimator in estimators.items():
        method, fitted = METHODS[name], estimator.fitted_
        assert fitted.method == name
        assert fitted.kind == method.estimator == type(estimator).__name__
        assert fitted.inference == method.inference == getattr(estimator, "inference", None)
        assert method.model == type(fitted.value).__name__
        assert (fitted.training.bounds is None) == (method.climbs == "")


@pytest.mark.parametrize("method", MAKERS)
def test_a_file_holds_what_the_estimator_holds(method, estimators, tmp_path):
    """Read without the estimator, it has the same answers, components and facts of the fit."""
    estimators[method].save(tmp_path / "a")
    here, there = estimators[method].fitted_, read_fitted(tmp_path / "a")
    assert there.model == here.model
    assert there.posteriors == here.posteriors
    assert there.n_posteriors == len(there.posteriors)
    assert (there.components, there.n_components) == (here.components, here.n_components)
    np.testing.assert_array_equal(there.component_labels, here.component_labels)
    assert there.n_components_of_samples == here.n_components_of_samples
    assert there.diagnostics() == here.diagnostics()
    assert (there.method, there.n_transactions) == (method, 200)
    for name in ("n_iter", "converged", "bound", "counts", "n_batches", "pooling"):
        assert getattr(there.training, name) == getattr(here.training, name)


def test_files_are_read_without_scikit_learn(estimators, tmp_path):
    """The command line is quick because it does not import what it does not need."""
    estimators["gsdpm"].save(tmp_path / "a")
    code = (
        "import sys; from itemix.files import read_fitted; "
        f"read_fitted({str(tmp_path / 'a')!r}).components; assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own words


def test_what_knows_its_error(estimators, data):
    """A correction if there is one, else the posteriors; a model of maximum likelihood does not know."""
    assert [name for name, model in estimators.items() if model.fitted_.knows_error] == [
        "vfbm",
        "gsfbm",
        "vdpm",
        "gsdpm",
    ]
    assert estimators["vfbm"].fitted_.error_source is estimators["vfbm"].posteriors_
    corrected = BernoulliMixture(2, random_state=0, correction=2).fit(data)
    assert corrected.fitted_.error_source is corrected.corrected_ is corrected.model_
    assert FittedModel.of(corrected.model_).error_source is corrected.model_
    with pytest.raises(InvalidInputError, match="expected a model with a posterior, got one of maximum like"):
        estimators["nbm"].fitted_.with_intervals(itemix.mine(data, 0.2))


def test_components_hold_transactions(estimators):
    """Of a process they are those that hold transactions; of a sampler, as many as its last sample has."""
    process = estimators["gsdpm"]
    last = process.posteriors_[-1].mixture()
    components = process.fitted_.components
    assert components.n_components == process.counts_.n_components == last.n_components - 1
    assert process.fitted_.n_components == process.fitted_.n_components_of_samples[-1]
    truncated = estimators["vdpm"].counts_.sizes
    assert truncated.min() < 0.01
    assert estimators["vdpm"].n_components_ == (truncated > 0.5).sum() < len(truncated)
    assert estimators["vdpm"].fitted_.n_components_of_samples == ()
    assert estimators["nbm"].components_ is estimators["nbm"].mixture_


@pytest.mark.parametrize("method", ["nbm", "vfbm", "gsfbm", "vdpm", "gsdpm", "chow-liu-mixture"])
def test_predictions_speak_of_the_components(method, estimators, data):
    """There is a column for each component, rows sum to one, and the label is the most probable one."""
    model = estimators[method]
    shares = model.predict_proba(data)
    assert shares.shape == (len(data), model.n_components_)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(data), shares.argmax(axis=1))
    np.testing.assert_array_equal(model.transform(data), shares)
    components = model.fitted_.components
    assert components.n_components == model.n_components_
    np.testing.assert_allclose(components.item_probabilities, model.model_.item_probabilities)


def test_every_draw_of_a_finite_mixture_has_every_label(data):
    """Also where there are more components than kinds of transactions, and a few of them are empty."""
    model = BayesianMixture(8, n_init=2, random_state=0, **GIBBS).fit(data)
    labels = model.fitted_.component_labels.reshape(-1, 8)
    assert len(labels) == len(model.posteriors_) == 6
    np.testing.assert_array_equal(np.sort(labels, axis=1), np.tile(np.arange(8), (6, 1)))
    np.testing.assert_array_equal(labels[-1], np.arange(8))
    assert model.n_components_ == 8


@pytest.mark.parametrize("method", ["nbm", "vfbm", "gsfbm", "vdpm", "gsdpm", "chow-liu-mixture"])
def test_planted_components_are_recovered(method):
    """Three well separated kinds of transactions are told apart by every method."""
    truth = planted_blocks()
    data = truth.sample(600, random_state=1)
    found = MAKERS[method]().set_params(n_components=3, n_init=3).fit(data).predict(data)
    assert adjusted_rand_score(truth.labels(data), found) > 0.95


def test_an_explanation_speaks_of_the_components(estimators):
    """After sampling, a basket is explained by one of the components that `predict` gives."""
    model, basket = estimators["gsfbm"], ["item0", "item1", "item2"]
    found = model.explain(basket)
    row = model.predict_proba(itemix.Transactions.from_lists([basket]).align_items(model.mixture_.items))[0]
    np.testing.assert_allclose(found.responsibilities, row, atol=1e-12)
    assert found.component == row.argmax()
    first = found.contributions[0]
    code = model.mixture_.items.code(first.item)
    probs = model.components_.probs[found.component, code], model.mixture_.item_probabilities[code]
    inside, overall = probs if first.present else (1 - probs[0], 1 - probs[1])
    assert first.evidence == pytest.approx(np.log(inside / overall))


@pytest.mark.parametrize("cls", [BayesianMixture, DirichletProcessMixture])
def test_labels_do_not_depend_on_threads(cls, data):
    """Same seed, same labels."""
    fits = [cls(4, n_init=3, n_jobs=n, random_state=0, **GIBBS).fit(data) for n in (1, 3)]
    labels = [model.fitted_.component_labels for model in fits]
    np.testing.assert_array_equal(*labels)
    np.testing.assert_array_equal(*(model.predict(data) for model in fits))


def test_components_of_other_models(estimators):
    """Of trees, components have the probabilities of single items; one tree and maximum entropy have none."""
    trees = estimators["chow-liu-mixture"]
    np.testing.assert_array_equal(trees.fitted_.components.probs, trees.trees_.component_probabilities)
    assert estimators["chow-liu"].fitted_.components is None
    assert estimators["maxent"].fitted_.n_components is None
    mixture = itemix.Mixture([0.4, 0.6, 0.0], [[0.5], [0.1], [0.2]], ["a"])
    assert FittedModel.of(mixture).components is mixture
    assert FittedModel.of(mixture).n_components == 2


def test_what_is_a_fitted_model(estimators):
    """An estimator holds one; a model alone knows nothing of its fit; others are refused in a line."""
    fitted = estimators["nbm"].fitted_
    assert FittedModel.of(fitted) is FittedModel.of(estimators["nbm"]) is fitted
    alone = FittedModel.of(estimators["nbm"].mixture_)
    assert (alone.value, alone.method, alone.training) == (fitted.value, None, None)
    assert (alone.kind, alone.inference, alone.n_transactions) == ("Mixture", None, None)
    assert alone.diagnostics() == {}
    other = OnlyProbabilities(estimators["nbm"].mixture_)
    assert FittedModel.of(other).model is other
    with pytest.raises(NotFittedError):
        FittedModel.of(BernoulliMixture(2))
    with pytest.raises(InvalidInputError, match="expected a fitted model, got str; try itemix"):
        FittedModel.of("model")


def test_what_was_not_learned_is_no_attribute(estimators):
    """An attribute is there if the fit has learned it, and cannot be had before."""
    assert not hasattr(BernoulliMixture(2), "mixture_")
    assert not hasattr(BernoulliMixture(2), "corrected_")
    assert not hasattr(estimators["vfbm"], "chains_")
    assert not hasattr(estimators["nbm"], "prior_")
    with pytest.raises(
        AttributeError, match="'BernoulliMixture' object has no attribute 'counts_': it is no"
    ):
        _ = BernoulliMixture(2).counts_
    with pytest.raises(AttributeError, match="no attribute 'selection_': it has learned no such thing"):
        _ = estimators["nbm"].selection_


def test_it_cannot_be_changed(estimators):
    """Fields cannot be set; a copy through pickle keeps its arrays read-only."""
    fitted = estimators["gsdpm"].fitted_
    with pytest.raises(AttributeError):
        fitted.value = None
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own
    assert copy.model == fitted.model
    assert not copy.training.bounds.flags.writeable
    assert not fitted.training.bounds.flags.writeable


@pytest.fixture(scope="module")
def halves():
    """Baskets of one store: some to fit, others to test."""
    store = itemix.datasets.load("grocery_store").sample(2_000, random_state=0)
    return store.split(0.5, random_state=0)


@pytest.fixture(scope="module")
def sampled(halves):
    """A sampled model with a correction."""
    options = {"n_init": 2, **GIBBS, "n_samples": 10, "correction": 100.0}
    return BayesianMixture(n_components=8, random_state=0, **options).fit(halves[0]).fitted_


def checks_of(fitted, test=None):
    """Return the checks of a model by their names."""
    return {check.name: check for check in fitted.checks(test)}


def test_calibration_is_the_share_of_held_out_supports_in_the_intervals(sampled, halves):
    """It is what counting one set after the other gives; a model that is too sure is found out."""
    found = checks_of(sampled, halves[1])["calibrated"]
    inside = []
    for one in itemix.mine(sampled.model, top_k=500):
        ends = intervals.interval(sampled.corrected, one.items, n_transactions=halves[1].n_transactions)
        inside.append(ends.lower <= halves[1].support(one.items) <= ends.upper)
    assert found.figure == pytest.approx(np.mean(inside))
    assert found.verdict == "good"
    shuffled = halves[1].rename_items([*halves[1].items[1:], halves[1].items[0]])
    assert checks_of(sampled, shuffled)["calibrated"].verdict == "poor"


def test_training_data_is_no_test(sampled, halves):
    """Agreement with what the model was fitted to says nothing about it, and neither does no data."""
    assert sampled.was_fitted_to(halves[0])
    assert not sampled.was_fitted_to(halves[1])
    for test in (None, halves[0]):
        assert checks_of(sampled, test)["calibrated"].verdict == "unknown"


def test_chains_matter_to_the_intervals_that_rest_on_them(sampled):
    """The intervals of a corrected model come from counts, and are not said to suffer from its chains."""
    plain = replace(sampled, corrected=None)
    assert checks_of(sampled)["mixed"].verdict == checks_of(plain)["mixed"].verdict != "good"
    assert "intervals come from counts" in checks_of(sampled)["mixed"].sentence
    assert "Intervals may be too narrow." in checks_of(plain)["mixed"].sentence
    assert checks_of(FittedModel(sampled.value)) == {}
