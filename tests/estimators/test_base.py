"""The estimators: what they take, what they learn, what they answer and what they refuse."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fits import BAYESIAN, CLASSES, GIBBS
from inference.planted import planted_mixture, random_data, wide_baskets
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from itemix import Transactions
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.estimators import BayesianMixture, BernoulliMixture, ChowLiuMixture, DirichletProcessMixture
from itemix.inference.priors import alike_in_frequency
from itemix.models.mixture import Mixture


@pytest.mark.parametrize("cls", CLASSES)
def test_all_kinds_of_input(cls, data):
    """Transactions, lists, arrays, sparse matrices and data frames give the same model."""
    matrix = data.to_scipy().toarray()
    frame = data.to_dataframe()
    kinds = [
        data.to_lists(),
        matrix,
        matrix.astype(bool),
        sparse.csr_matrix(matrix),
        sparse.coo_array(matrix.astype(float)),
        frame,
        frame.astype(bool),
        pl.DataFrame(matrix.astype(bool), schema=list(data.items)),
    ]
    model = cls(3, random_state=0).fit(data)
    for X in kinds:
        other = cls(3, random_state=0).fit(X)
        np.testing.assert_array_equal(other.mixture_.probs, model.mixture_.probs)
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(data))
        assert other.score(X) == pytest.approx(model.score(data))
    named = cls(3, random_state=0).fit(frame)
    assert list(named.feature_names_in_) == list(data.items)
    assert named.mixture_.items == data.items
    assert not hasattr(named.fit(data), "feature_names_in_")
    np.testing.assert_array_equal(model.predict(matrix), model.predict(data))


@pytest.mark.parametrize(
    ("cls", "parameters"), [(cls, {}) for cls in CLASSES] + [(cls, GIBBS) for cls in BAYESIAN]
)
def test_a_planted_mixture_is_found(cls, parameters, data):
    """Every method's probabilities are near the truth, and a transaction of a component is told as such."""
    truth = planted_mixture()
    model = cls(3, random_state=0, n_init=2, **parameters).fit(data)
    for itemset in (["item0"], ["item0", "item1"], ["item3", "item4", "item5"], ["item0", "item8"]):
        assert model.probability(itemset) == pytest.approx(truth.probability(itemset), abs=0.06)
    assert model.score(data) == pytest.approx(truth.log_likelihood(data).mean(), abs=0.1)
    assert model.n_iter_ >= 1
    assert len(model.lower_bounds_) >= 1
    assert model.converged_ in (True, False)
    proba = model.predict_proba(data)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(data), proba.argmax(axis=1))
    np.testing.assert_array_equal(
        cls(3, random_state=0, n_init=2, **parameters).fit_predict(data), model.predict(data)
    )


@pytest.mark.parametrize("cls", CLASSES)
def test_seeds_repeat_and_threads_do_not_matter(cls, data):
    """One seed gives one model, for any number of threads; all that scikit-learn takes is a seed."""
    model = cls(4, random_state=3).fit(data)
    assert cls(4, random_state=3, n_jobs=2).fit(data).mixture_ == model.mixture_
    assert cls(4, random_state=4).fit(data).mixture_ != model.mixture_
    for seed in (np.random.RandomState(0), np.random.default_rng(0), None):
        assert cls(2, random_state=seed).fit(data).mixture_.n_components == 2


@pytest.mark.parametrize("cls", CLASSES)
def test_warm_start_goes_on(cls, data):
    """A second fit starts where the first ended: fewer iterations, no lower bound."""
    model = cls(3, random_state=0, warm_start=True).fit(data)
    first_iterations, first_bound = model.n_iter_, model.lower_bound_
    model.fit(data)
    assert model.n_iter_ <= first_iterations
    assert model.lower_bound_ >= first_bound - 1e-3


def test_warm_start_of_a_chain(data):
    """A chain goes on from the labels of its last sample."""
    model = DirichletProcessMixture(random_state=0, warm_start=True, **GIBBS).fit(data)
    before = model.lower_bounds_[-1]
    model.fit(data)
    assert model.lower_bounds_[0] > before - 0.5


@pytest.mark.parametrize("parameters", [{}, GIBBS], ids=["variational", "gibbs"])
def test_a_start_of_another_number_of_components_is_refused(parameters, data):
    """A finite model goes on, and starts, only from as many components as it has."""
    model = BayesianMixture(6, random_state=0, warm_start=True, **parameters).fit(data)
    last = model.posterior_.mixture()
    message = "expected a mixture of n_components=4 to start from, got 6; make the two equal"
    with pytest.raises(InvalidInputError, match=message):
        model.set_params(n_components=4).fit(data)
    with pytest.raises(InvalidInputError, match=message):
        BayesianMixture(4, init=last, **parameters).fit(data)
    with pytest.raises(InvalidInputError, match="expected labels from 0 to 3 in init, got 5 to 5"):
        BayesianMixture(4, init=np.full(600, 5), **parameters).fit(data)


def test_a_process_starts_from_any_mixture(data):
    """The sampler of the process takes the components of a mixture, however many there are."""
    start = BernoulliMixture(6, random_state=0).fit(data).mixture_
    for n_components in (4, 20):
        model = DirichletProcessMixture(n_components, init=start, random_state=0, **GIBBS).fit(data)
        assert np.isfinite(model.score(data))


@pytest.mark.parametrize(
    "model",
    [
        BernoulliMixture("auto", criterion="bic"),
        BayesianMixture("auto", criterion="bic"),
        BayesianMixture("auto", criterion="bic", **GIBBS),
        ChowLiuMixture("auto"),
    ],
    ids=["em", "variational", "gibbs", "trees"],
)
def test_a_warm_start_begins_anew_where_another_number_is_chosen(model, data):
    """A model of one component is no start for the number that is chosen later."""
    model.set_params(random_state=0, warm_start=True)
    alike = Transactions.from_lists([["item0"], []] * 40).align_items(data.items)
    assert model.fit(alike).n_components_ < model.fit(data).n_components_


def test_variational_inference_goes_on_from_a_sampler(data):
    """A warm start after sampling starts from the last sample, which has the model's number of components."""
    model = BayesianMixture(3, random_state=0, warm_start=True, **GIBBS).fit(data)
    model.set_params(inference="variational").fit(data)
    assert model.mixture_.n_components == 3


@pytest.mark.parametrize("cls", BAYESIAN)
@pytest.mark.parametrize("parameters", [{}, GIBBS], ids=["variational", "gibbs"])
def test_hyperparameters_can_be_learned(cls, parameters, data):
    """Alpha and the strength of the prior may be learned: one, or one for items alike in frequency."""
    model = cls(3, random_state=0, alpha="learn", beta="learn", **parameters).fit(data)
    assert model.score(data) > -4.5
    strengths = model.prior_.beta + model.prior_.gamma
    assert strengths == pytest.approx(strengths[0])
    model.set_params(beta="learn-by-frequency").fit(data)
    strengths = model.prior_.beta + model.prior_.gamma
    groups = alike_in_frequency(data.item_counts(), data.n_transactions)
    assert all(strengths[items] == pytest.approx(strengths[items[0]]) for items in groups)
    assert len(groups) == len({round(float(strengths[items[0]]), 9) for items in groups}) > 1
    with pytest.raises(InvalidInputError, match="'learn' or 'learn-by-frequency', got 'x'"):
        model.set_params(beta="x").fit(data)


def test_what_another_fit_does_not_learn_is_forgotten(data):
    """Chains, choices and batches are those of the last fit."""
    model = BayesianMixture("auto", criterion="bic", correction="auto", random_state=0).fit(data)
    learned = ("selection_", "correction_choice_", "n_batches_")
    assert all(hasattr(model, name) for name in learned)
    model.set_params(n_components=3, correction=None, **GIBBS).fit(data)
    assert not any(hasattr(model, name) for name in learned)
    assert not hasattr(model.set_params(inference="variational").fit(data), "chains_")


def test_information_criteria_prefer_the_planted_number(data):
    """BIC is lowest at three components; both follow their formulas."""
    models = [BernoulliMixture(k, random_state=0, n_init=3).fit(data) for k in (1, 2, 3, 5)]
    assert np.argmin([model.bic(data) for model in models]) == 2
    model = models[0]
    total = model.score_samples(data).sum()
    assert model.aic(data) == pytest.approx(-2 * total + 2 * 9)
    assert model.bic(data) == pytest.approx(-2 * total + 9 * np.log(600))


def test_answers_come_from_the_mixture(data):
    """Queries of the estimator are those of its mixture, with intervals from its posterior."""
    model = BayesianMixture(3, random_state=0).fit(data)
    mixture = model.mixture_
    event = {"absent": ["item4"], "given": ["item1"], "given_absent": ["item7"]}
    assert model.probability(["item0"], **event) == mixture.probability(["item0"], **event)
    assert model.probabilities([["item0"], ["item1"]]).shape == (2,)
    assert model.lift(["item0", "item1"]) > 1
    assert model.dependencies(3)[0].lift > 1
    assert [r.item for r in model.recommend(["item0", "item1"], n=1)] == ["item2"]
    codes, chances = model.recommend_many([["item0", "item1"], ["item3"]], n=2)
    assert mixture.items[int(codes[0, 0])] == "item2"
    assert chances.shape == (2, 2)
    assert model.explain(["item0", "item1", "item2"]).probability > 0.9
    low, high = model.interval(["item0"])[1:]
    assert low < model.probability(["item0"]) < high
    assert [len(column) for column in model.intervals([["item0"], ["item1"]])] == [2, 2, 2]
    assert len(model.sample(5, random_state=0)) == 5
    assert model.posterior_.mixture() == mixture


def test_warnings_point_at_the_caller(data):
    """A warning names the line that asked for the fit, whichever way led there."""
    for parameters in ({}, GIBBS | {"max_iter": 1}):
        with pytest.warns(ConvergenceWarning) as warned:
            BayesianMixture(3, random_state=0, **{"max_iter": 1, **parameters}).fit(data)
        assert [warning.filename for warning in warned] == [__file__]


def test_too_few_iterations_warn(data):
    """A fit that did not converge warns and says what to do."""
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1 iterations; raise max_iter"):
        BernoulliMixture(5, max_iter=1, random_state=0).fit(data)


def test_empty_components_are_said():
    """A component that loses its last transaction is warned about and has no weight."""
    X = np.array([[1, 0]] * 10 + [[0, 1]] * 10)
    start = Mixture([0.5, 0.4999, 0.0001], [[0.9, 0.1], [0.1, 0.9], [1e-9, 1e-9]], [0, 1])
    with pytest.warns(ConvergenceWarning, match="1 of 3 components hold no transaction; ask"):
        model = BernoulliMixture(3, init=start).fit(X)
    assert model.mixture_.weights[2] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("cls", CLASSES)
def test_models_survive_pickling(cls, data):
    """A pickled model answers as before."""
    model = cls(3, random_state=0).fit(data)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert copy.mixture_ == model.mixture_
    assert copy.score(data) == model.score(data)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "expected n_components as a whole number of 1 or more, got 0"),
        ({"n_components": 2.5}, "expected n_components as a whole number of 1 or more, got 2.5"),
        ({"n_components": 700}, "expected n_components of at most n_samples=600, the transactions, got 700"),
        ({"n_init": 0}, "expected n_init as a whole number of 1 or more, got 0"),
        ({"max_iter": 0}, "expected max_iter as a whole number of 1 or more, got 0"),
        ({"tol": -1}, "expected tol of zero or more, got -1"),
        ({"tol": float("nan")}, "expected tol of zero or more, got nan"),
        ({"init": "magic"}, "expected init to be one of"),
        ({"n_jobs": 0}, "expected n_jobs as a number of threads, got 0"),
        ({"random_state": "x"}, "expected random_state as a whole number of 0 or more, got 'x'"),
    ],
)
def test_bad_parameters_are_refused(cls, parameters, message, data):
    """Every parameter out of its range is an error that says what was expected."""
    with pytest.raises(InvalidInputError, match=message):
        cls(**{"n_components": 3, **parameters}).fit(data)


@pytest.mark.parametrize("cls", BAYESIAN)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"inference": "guess"}, "expected inference to be one of"),
        ({"alpha": -1}, "expected alpha above 0, got -1"),
        ({"alpha": "x"}, "expected alpha as a number or 'learn', got 'x'; try 1.0"),
        ({"beta": float("nan")}, "expected beta above 0, got nan"),
        ({"gamma": -2.0}, "expected gamma above 0, got -2.0"),
        ({"inference": "gibbs", "n_samples": 0}, "expected n_samples as a whole number of 1 or more, got 0"),
        ({"inference": "gibbs", "thin": 0}, "expected thin as a whole number of 1 or more, got 0"),
    ],
)
def test_bad_bayesian_parameters_are_refused(cls, parameters, message, data):
    """Unknown methods and impossible hyperparameters are errors."""
    with pytest.raises(InvalidInputError, match=message):
        cls(3, **parameters).fit(data)


def test_bad_data_is_refused(data):
    """Non-binary values, no rows, no items, other items and questions before a fit are errors."""
    with pytest.raises(InvalidInputError, match="expected only 0 and 1"):
        BernoulliMixture(1).fit([[0, 2], [1, 1]])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        BernoulliMixture(1).fit(np.empty((0, 3)))
    with pytest.raises(InvalidInputError, match="expected at least one transaction, got none"):
        BernoulliMixture(1).fit(Transactions([0], [], ["a"]))
    with pytest.raises(InvalidInputError, match="expected at least one transaction, got none"):
        BernoulliMixture(1).fit([])
    with pytest.raises(InvalidInputError, match="expected at least one item, got none"):
        BernoulliMixture(1).fit(Transactions([0, 0], [], []))
    with pytest.raises(NotFittedError):
        BernoulliMixture().probability(["a"])
    model = BernoulliMixture(2, random_state=0).fit(data)
    with pytest.raises(InvalidInputError, match="expected the model's 9 items, got others"):
        model.score(random_data(0))
    with pytest.raises(ValueError, match="X has 3 features, but BernoulliMixture is expecting 9"):
        model.predict(np.zeros((2, 3), dtype=int))
    with pytest.raises(UnknownItemError, match="did you mean 'item1'"):
        model.probability(["item11"])
    with pytest.raises(InvalidInputError, match="expected a model with a posterior"):
        model.interval(["item0"])
    with pytest.raises(ValueError, match="feature names"):
        BernoulliMixture(2).fit(data.to_dataframe()).predict(pd.DataFrame({"x": [1]}))


@pytest.mark.parametrize("cls", CLASSES)
def test_wide_baskets_are_told_apart(cls):
    """The default start leaves no component with nearly all baskets, whatever their sizes are."""
    data, groups = wide_baskets()
    model = cls(5, random_state=0).fit(data)
    assert model.counts_.sizes.max() < 0.5 * len(data)
    assert model.score(data) > cls(5, init="k-means++", random_state=0).fit(data).score(data) - 0.01
    found = model.predict(data)
    assert np.mean((found[:, None] == found) == (groups[:, None] == groups)) > 0.9


@pytest.mark.parametrize("cls", CLASSES)
def test_a_start_that_leaves_one_component_with_nearly_all_warns(cls):
    """Labels that cannot be left are said to be at fault, and the default start is named as what to try."""
    data = random_data(0, n_rows=400, n_items=8, density=0.3)
    labels = np.zeros(400, dtype=int)
    labels[:2] = 1
    with pytest.warns(ConvergenceWarning, match=r"one of 2 components holds .*the start; leave init out"):
        cls(2, init=labels, max_iter=2, tol=10.0, random_state=0).fit(data)


def test_data_of_one_kind_is_said_to_be_that():
    """A finite mixture asks for fewer components; a process has found its own number, which says less."""
    data = random_data(0, n_rows=2000, n_items=40, density=0.3)
    with pytest.warns(ConvergenceWarning, match=r"one of 3 components holds .* of one kind; ask for fewer"):
        BayesianMixture(3, random_state=0).fit(data)
    few = random_data(0, n_rows=400, n_items=40, density=0.3)
    for inference in ("variational", "gibbs"):
        model = DirichletProcessMixture(3, inference=inference, random_state=0)
        with pytest.warns(ConvergenceWarning, match=r"holds 99\.\d% .*; compare with Independent"):
            model.fit(few)
        assert model.n_components_ > 1
    BayesianMixture("auto", random_state=0).fit(data)


def test_a_process_that_meets_its_bound_says_so():
    """A sampled process keeps within max_components, and warns when it would have more."""
    data = random_data(0, n_rows=300, n_items=12)
    options = {"inference": "gibbs", "alpha": 50.0, "random_state": 0, "tol": 1.0, "n_samples": 1}
    with pytest.warns(ConvergenceWarning, match=r"met its bound of max_components=16; try beta='learn', or"):
        model = DirichletProcessMixture(8, max_components=16, **options).fit(data)
    assert model.chains_.chains[0].n_components.max() == 16
    with pytest.warns(ConvergenceWarning, match=r"max_components=16; raise max_components, or use"):
        DirichletProcessMixture(8, max_components=16, beta="learn", **options).fit(data)
    roomy = DirichletProcessMixture(8, max_components=400, **options).fit(data)
    assert roomy.chains_.chains[0].n_components.max() > 16
    with pytest.raises(InvalidInputError, match=r"expected max_components as a whole number .*, got 0"):
        DirichletProcessMixture(8, max_components=0, **options).fit(data)


def test_a_learned_prior_keeps_the_process_small_where_there_are_no_groups():
    """Baskets of few items, all about equally popular, are not taken apart into hundreds of components."""
    rng = np.random.default_rng(0)
    baskets = [rng.choice(400, 1 + rng.poisson(3.4), replace=False).tolist() for _ in range(1000)]
    model = DirichletProcessMixture(inference="gibbs", beta="learn", random_state=0, tol=0.1, n_samples=1)
    model.fit(Transactions.from_lists(baskets))
    assert model.chains_.chains[0].n_components[-1] < 60
    assert model.prior_.strength > 20
