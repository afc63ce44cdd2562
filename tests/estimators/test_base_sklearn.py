"""The estimators as scikit-learn knows them: its own checks, pipelines, searches, clones and pickles."""

import numpy as np
import pandas as pd
import pytest
from inference.planted import planted_blocks, planted_mixture
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.metaestimators import available_if

from itemix.errors import InvalidInputError
from itemix.estimators import (
    BayesianMixture,
    BernoulliMixture,
    ChowLiuMixture,
    ChowLiuTree,
    DirichletProcessMixture,
    IndependentModel,
    MaxEntropyModel,
)
from itemix.models.mixture import Mixture

NOT_BINARY = "its data is not binary; the same check runs below on data made binary"
FAILS_ON_NUMBERS = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimator_sparse_tag",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_nan_inf",
        "check_estimators_overwrite_params",
        "check_estimators_partial_fit_n_features",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_all_zero_sample_weights_error",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_sample_weights_list",
        "check_sample_weights_not_an_array",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_pandas_series",
        "check_sample_weights_shape",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_transformer_n_iter",
        "check_transformer_preserve_dtypes",
    ],
    NOT_BINARY,
)
FAILS_ON_BINARY = dict.fromkeys(
    ["check_estimator_sparse_array", "check_estimator_sparse_matrix"],
    "it asks for the tags of a classifier wherever there is predict_proba; see test_all_kinds_of_input",
) | dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "it brings rows into another order, on which random starts depend; see test_weights_are_repetitions",
)


def binary(X):
    """Return numbers as 0 and 1; leave what is no finite matrix for the estimator to refuse."""
    if sparse.issparse(X):
        return (X > 0.5).astype(int) if X.dtype.kind in "iuf" else X
    try:
        values = np.asarray(X)
        finite = values.ndim == 2 and values.dtype.kind != "c" and np.isfinite(values.astype(float)).all()
    except (TypeError, ValueError):
        return X
    return (values.astype(float) > 0.5).astype(int) if finite else X


class Binary:
    """Makes data binary before each method, so that scikit-learn's checks can use theirs."""

    def fit(self, X, y=None, *, sample_weight=None):
        """Fit."""
        return super().fit(binary(X), y, sample_weight=sample_weight)

    @available_if(lambda self: getattr(self, "inference", "variational") == "variational")
    def partial_fit(self, X, y=None):
        """Take in a batch."""
        return super().partial_fit(binary(X), y)

    def predict(self, X):
        """Predict."""
        return super().predict(binary(X))

    def predict_proba(self, X):
        """Predict probabilities."""
        return super().predict_proba(binary(X))

    def score_samples(self, X):
        """Score each row."""
        return super().score_samples(binary(X))


class BinaryBernoulli(Binary, BernoulliMixture):
    """EM on data made binary."""


class BinaryBayesian(Binary, BayesianMixture):
    """The finite model on data made binary."""


class BinaryProcess(Binary, DirichletProcessMixture):
    """The Dirichlet process on data made binary."""


SHORT = {"max_iter": 20, "n_samples": 2, "thin": 1, "inference": "gibbs"}
PLAIN = [BernoulliMixture(2), BayesianMixture(2), DirichletProcessMixture(3), BayesianMixture(2, **SHORT)]
MADE_BINARY = [
    BinaryBernoulli(2),
    BinaryBayesian(2),
    BinaryProcess(3),
    BinaryBayesian(2, **SHORT),
    BinaryProcess(3, **SHORT),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([BernoulliMixture(2)], expected_failed_checks=lambda _: FAILS_ON_NUMBERS)
def test_scikit_learn_checks_without_data(estimator, check):
    """Every check passes that does not need data which is not binary."""
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(MADE_BINARY, expected_failed_checks=lambda _: FAILS_ON_BINARY)
def test_scikit_learn_checks_on_binary_data(estimator, check):
    """Every check passes on data made binary."""
    check(estimator)


def test_grid_search_chooses_by_likelihood():
    """GridSearchCV finds two components where there are two, inside a pipeline that makes data binary."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    X = np.where(rng.random((300, 8)) < np.where(labels[:, None] == 1, 0.9, 0.1), 3.0, -1.0)
    pipeline = make_pipeline(
        FunctionTransformer(lambda values: (values > 0).astype(int)), BayesianMixture(random_state=0)
    )
    search = GridSearchCV(pipeline, {"bayesianmixture__n_components": [1, 2]}, cv=3).fit(X)
    assert search.best_params_ == {"bayesianmixture__n_components": 2}


def test_transactions_are_divided_by_scikit_learn():
    """Searches, cross-validation and divisions take transactions as they are, and no fold loses an item."""
    data = planted_mixture().sample(300, random_state=0)
    search = GridSearchCV(BayesianMixture(random_state=0), {"n_components": [1, 3]}, cv=3).fit(data)
    assert search.best_params_ == {"n_components": 3}
    scores = cross_val_score(DirichletProcessMixture(3, random_state=0), data, cv=3)
    assert np.isfinite(scores).all()
    train, test = train_test_split(data, test_size=0.2, random_state=0)
    assert (len(train), len(test)) == (240, 60)
    assert train.items == test.items == data.items


LABELLED = [
    BernoulliMixture(3),
    BayesianMixture(3),
    DirichletProcessMixture(5),
    BayesianMixture(3, **SHORT),
    DirichletProcessMixture(5, **SHORT),
    ChowLiuMixture(3),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", LABELLED)
def test_components_are_features_in_a_pipeline(estimator):
    """Whatever the data comes as, a classifier after a mixture learns the kinds of transactions."""
    truth = planted_blocks()
    data = truth.sample(600, random_state=0)
    y = truth.labels(data) == 0
    pipeline = make_pipeline(clone(estimator).set_params(n_init=3, random_state=0), LogisticRegression())
    matrix = data.to_scipy()
    frame = pd.DataFrame(matrix.toarray(), columns=list(data.items))
    scores = [pipeline.fit(X, y).score(X, y) for X in (data, matrix, matrix.toarray(), frame)]
    assert scores[0] > 0.95
    assert scores == [scores[0]] * 4
    assert cross_val_score(pipeline, data, y, cv=3).min() > 0.95


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", LABELLED)
def test_features_have_names(estimator):
    """There is a name for each component, and frames come out if they are asked for."""
    data = planted_mixture().sample(100, random_state=0)
    frame = pd.DataFrame(data.to_scipy().toarray(), columns=list(data.items), index=range(100, 200))
    model = clone(estimator).set_params(random_state=0).set_output(transform="pandas")
    found = model.fit_transform(frame)
    names = [f"{type(model).__name__.lower()}{k}" for k in range(model.n_components_)]
    assert list(found.columns) == model.get_feature_names_out().tolist() == names
    assert (found.index == frame.index).all()
    np.testing.assert_array_equal(found, model.predict_proba(frame))
    assert list(model.transform(data).columns) == names


@pytest.mark.parametrize("estimator", PLAIN)
def test_clones_are_equal_and_unfitted(estimator):
    """A clone has the same parameters and nothing learned."""
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert not hasattr(copy, "mixture_")


@pytest.mark.parametrize("estimator", [BernoulliMixture, BayesianMixture, DirichletProcessMixture])
def test_every_parameter_is_described(estimator):
    """The docstring of a class describes each of its parameters, whether shared with others or not."""
    lines = [line.strip() for line in estimator.__doc__.splitlines() if " : " in line]
    described = {name for line in lines for name in line.split(" : ")[0].split(", ")}
    assert set(estimator().get_params()) <= described
    assert {"mixture_", "counts_", "n_iter_", "converged_"} <= described
    assert "{attributes}" not in estimator.__doc__


def start():
    """Return a mixture to start from, so that the order of the transactions does not matter."""
    return Mixture([0.5, 0.5], [[0.7] * 6, [0.3] * 6], list(range(6)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        BernoulliMixture(2),
        BernoulliMixture(2, correction="auto"),
        BayesianMixture(2, init="k-means++"),
        DirichletProcessMixture(3),
        DirichletProcessMixture(3, **SHORT),
        ChowLiuMixture(2),
        ChowLiuTree(),
        IndependentModel(),
        MaxEntropyModel(min_support=0.2),
    ],
)
def test_weights_are_repetitions(estimator):
    """Data with weights is fitted as the same data with each row so many times, whatever the method."""
    rng = np.random.default_rng(0)
    X, weights = rng.integers(0, 2, (40, 6)), rng.integers(0, 4, 40)
    seed = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    repeated = clone(estimator).set_params(**seed).fit(X.repeat(weights, axis=0))
    weighted = clone(estimator).set_params(**seed).fit(X, sample_weight=weights)
    pairs = [[i, j] for i in range(6) for j in range(i + 1)]
    assert [weighted.probability(pair) for pair in pairs] == [repeated.probability(pair) for pair in pairs]
    assert weighted.n_features_in_ == 6


@pytest.mark.parametrize("cls", [BernoulliMixture, BayesianMixture, DirichletProcessMixture])
def test_weights_in_any_order(cls):
    """From the same start, the order of the rows and their weights does not matter."""
    rng = np.random.default_rng(1)
    X, weights = rng.integers(0, 2, (40, 6)), rng.integers(0, 4, 40)
    order = rng.permutation(40)
    repeated = cls(2, init=start()).fit(X.repeat(weights, axis=0))
    weighted = cls(2, init=start()).fit(X[order], sample_weight=list(weights[order]))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("model", [BernoulliMixture(2), IndependentModel()])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [1, 0.5],
            r"whole number of 0 or more for each of the 2 rows, got 0\.5; multiply by a common factor",
        ),
        ([1, -2], r"each of the 2 rows, got -2; leave it out with a 0"),
        ([1, np.nan], r"each of the 2 rows, got nan; "),
        ([1], r"each of the 2 rows, got an array of shape \(1,\) of int64; "),
        (["a", "b"], r"each of the 2 rows, got an array of shape \(2,\) of <U1; "),
        ([0, 0], r"sample_weight above zero for at least one transaction, got only zeros; leave it out"),
    ],
)
def test_other_weights_are_refused(model, weights, message):
    """Weights are whole numbers, one for each transaction, and not all of them zero."""
    with pytest.raises(InvalidInputError, match=message):
        clone(model).fit([["milk"], ["beer"]], sample_weight=weights)
