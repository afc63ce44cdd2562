"""The estimators of other models than mixtures of products: scikit-learn's contract, all kinds of input."""

import numpy as np
import pandas as pd
import pytest
from estimators.test_base_sklearn import FAILS_ON_BINARY, binary
from naive.trees import random_trees, states
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import itemix
from itemix import (
    ChowLiuMixture,
    ChowLiuTree,
    IndependentModel,
    LatentTreeModel,
    MaxEntropyModel,
    MultipleCauseMixture,
    Transactions,
)
from itemix.errors import InvalidInputError

MAKERS = {
    "independent": IndependentModel,
    "chow-liu": ChowLiuTree,
    "causes": lambda: MultipleCauseMixture(2, random_state=0),
    "latent-tree": lambda: LatentTreeModel(3, random_state=0),
    "chow-liu-mixture": lambda: ChowLiuMixture(2, random_state=0),
    "maxent": lambda: MaxEntropyModel(min_support=0.05),
}


class Binary:
    """Makes data binary before each method, so that scikit-learn's checks can use theirs."""

    def fit(self, X, y=None, *, sample_weight=None):
        """Fit."""
        return super().fit(binary(X), y, sample_weight=sample_weight)

    def score_samples(self, X):
        """Score each row."""
        return super().score_samples(binary(X))


class BinaryIndependent(Binary, IndependentModel):
    """Independent items on data made binary."""


class BinaryTree(Binary, ChowLiuTree):
    """A tree on data made binary."""


class BinaryMaxEntropy(Binary, MaxEntropyModel):
    """Maximum entropy on data made binary."""


class BinaryCauses(Binary, MultipleCauseMixture):
    """Several causes on data made binary."""

    def predict(self, X):
        """Predict."""
        return super().predict(binary(X))

    def predict_proba(self, X):
        """Predict probabilities."""
        return super().predict_proba(binary(X))


class BinaryLatentTree(Binary, LatentTreeModel):
    """A tree of latent variables on data made binary."""


class BinaryTrees(Binary, ChowLiuMixture):
    """A mixture of trees on data made binary."""

    def predict(self, X):
        """Predict."""
        return super().predict(binary(X))

    def predict_proba(self, X):
        """Predict probabilities."""
        return super().predict_proba(binary(X))


FAILS = {
    BinaryTrees: FAILS_ON_BINARY,
    # So few rows are all used by every start.
    BinaryCauses: {name: why for name, why in FAILS_ON_BINARY.items() if "weight" not in name},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        BinaryIndependent(),
        BinaryTree(),
        BinaryMaxEntropy(max_len=2),
        BinaryTrees(2, max_iter=5),
        BinaryCauses(2),
        BinaryLatentTree(2, max_iter=5),
    ],
    expected_failed_checks=lambda model: FAILS.get(type(model), {}),
)
def test_scikit_learn_checks_on_binary_data(estimator, check):
    """Every check passes on data made binary."""
    check(estimator)


@pytest.fixture(scope="module")
def data():
    """Dependent transactions of six items."""
    return random_trees(21, 2, 6).sample(400, random_state=0)


@pytest.mark.parametrize("method", MAKERS)
def test_all_kinds_of_input(method, data):
    """Lists, arrays, sparse matrices and data frames give the model that transactions give."""
    expected = MAKERS[method]().fit(data)
    matrix, names = data.to_scipy(), list(data.items)
    asked = [["i0", "i1"], ["i2", "i3", "i5"]]
    codes = [[0, 1], [2, 3, 5]]
    answers = expected.probabilities(asked)
    frame = MAKERS[method]().fit(pd.DataFrame(matrix.toarray(), columns=names))
    assert frame.feature_names_in_.tolist() == names
    np.testing.assert_allclose(frame.probabilities(asked), answers)
    for X in (matrix.toarray(), sparse.csr_matrix(matrix)):
        model = MAKERS[method]().fit(X)
        np.testing.assert_allclose(model.probabilities(codes), answers)
        np.testing.assert_allclose(model.score_samples(X), expected.score_samples(data))
    assert expected.n_transactions_ == 400
    assert expected.n_features_in_ == 6
    assert clone(expected).get_params() == expected.get_params()


@pytest.mark.parametrize("method", MAKERS)
def test_every_question_is_answered(method, data):
    """Everything that a fitted model is asked for, from one value."""
    model = MAKERS[method]().fit(data)
    table = Transactions.from_matrix(states(6), data.items)
    assert np.exp(model.score_samples(table)).sum() == pytest.approx(1.0)
    assert model.score(data) == pytest.approx(model.score_samples(data).mean())
    assert model.probability(["i0"]) == pytest.approx(data.support(["i0"]), abs=0.05)
    assert model.lift(["i0", "i1"]) > 0
    assert model.rule_measures(["i0"], ["i1"])["confidence"] == pytest.approx(
        model.probability(["i1"], given=["i0"]), rel=1e-6
    )
    assert len(model.dependencies(3)) == 3
    assert len(model.recommend(["i0"], 3, absent=["i1"])) == 3
    assert model.recommend_many([["i0"], []], 2)[0].shape == (2, 2)
    assert len(model.sample(10, random_state=0)) == 10
    assert model.bic(data) > model.aic(data)
    frequent = itemix.mine(model, 0.2)
    assert len(itemix.rules(frequent, min_threshold=0.5)) > 0
    evaluation = itemix.evaluate(model, data, 0.2)
    assert evaluation.log_likelihood == pytest.approx(model.score(data))


@pytest.mark.parametrize("method", MAKERS)
def test_not_fitted(method):
    """Nothing is answered before a fit."""
    with pytest.raises(NotFittedError):
        MAKERS[method]().probability(["i0"])


def test_independent_frequencies(data):
    """Products of frequencies; smoothing keeps items that never occur possible."""
    model = IndependentModel(smoothing=0).fit(data)
    expected = data.support(["i0"]) * data.support(["i1"])
    assert model.probability(["i0", "i1"]) == pytest.approx(expected)
    unseen = Transactions.from_matrix(np.array([[1, 0], [1, 0], [0, 0]]))
    assert np.isneginf(IndependentModel(smoothing=0).fit(unseen).score_samples([[0, 1]])[0])
    assert IndependentModel(smoothing=1).fit(unseen).probability([1]) == pytest.approx(0.5 / 4)
    for refused in (None, True, "1", -1.0, np.float32("nan"), np.inf):
        with pytest.raises(InvalidInputError, match="expected smoothing as a number of zero or more, got"):
            IndependentModel(smoothing=refused).fit(unseen)
    for one in (np.int64(1), np.float32(1), np.float64(1)):
        assert IndependentModel(smoothing=one).fit(data).model_ == IndependentModel().fit(data).model_
        assert ChowLiuTree(smoothing=one).fit(data).model_ == ChowLiuTree(smoothing=1).fit(data).model_


def test_components_of_trees(data):
    """Transactions are given to components, as the responsibilities say."""
    model = ChowLiuMixture(2, random_state=0)
    labels = model.fit_predict(data)
    shares = model.predict_proba(data)
    assert shares.shape == (400, 2)
    np.testing.assert_array_equal(labels, shares.argmax(axis=1))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_grid_search_over_trees():
    """The number of components and the pooling can be searched for by likelihood."""
    data = random_trees(21, 3, 8).sample(900, random_state=0)
    grid = {"n_components": [1, 3], "pooling": [1.0, 1e6]}
    search = GridSearchCV(ChowLiuMixture(random_state=0), grid, cv=3).fit(data.to_scipy())
    assert search.best_params_ == {"n_components": 3, "pooling": 1.0}


def test_maximum_entropy_knows_its_itemsets(data):
    """Supports of itemsets up to the length are exact; longer ones are near."""
    model = MaxEntropyModel(min_support=0.05, max_len=2).fit(data)
    exact = itemix.mine(data, 0.05)
    short = exact.filter(max_len=2)
    np.testing.assert_allclose(model.probabilities(short), short.support)
    longer = exact.filter(min_len=3)
    assert np.abs(model.probabilities(longer) - longer.support).max() < 0.05
    assert model.n_constraints_ == len(model.max_entropy_.itemsets) == 15
    alone = MaxEntropyModel(max_len=1).fit(data)
    assert alone.probability(["i0", "i1"]) == pytest.approx(data.support(["i0"]) * data.support(["i1"]))
    with pytest.raises(InvalidInputError, match="expected max_len as a whole number of 1 or more, got 0"):
        MaxEntropyModel(max_len=0).fit(data)


def test_evaluation_without_a_likelihood():
    """Where too many items hang together, errors of supports are told, and no likelihood."""
    data = random_trees(4, 1, 18).sample(300, random_state=0)
    model = MaxEntropyModel(min_support=0.05, max_len=2).fit(data)
    evaluation = itemix.evaluate(model, data, 0.6)
    assert evaluation.log_likelihood is None
    assert evaluation.mean_relative_error < 0.1
