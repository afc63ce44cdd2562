"""EM for mixtures of trees: laws of the bound, of the prior, of starts and threads."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import trees as naive
from sklearn.exceptions import ConvergenceWarning

from itemix import BernoulliMixture, ChowLiuMixture, ChowLiuTree, Mixture, Transactions
from itemix._runtime import Workers
from itemix.errors import InvalidInputError
from itemix.inference.loop import Settings, run
from itemix.inference.trees import TreeEM, TreePrior, TreeRows, tree_starter

seeds = st.integers(0, 10_000)


@pytest.fixture(scope="module")
def data():
    """Transactions from three trees, which no single tree explains."""
    return naive.random_trees(21, 3, 8).sample(800, random_state=0)


def fit(data, *arguments, **options):
    """Fit a mixture that need not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ChowLiuMixture(*arguments, **{"random_state": 0, **options}).fit(data)


@settings(max_examples=25)
@given(
    seeds,
    st.sampled_from([0.0, 0.5, 3.0]),
    st.sampled_from([0.0, 20.0]),
    st.sampled_from([0.0, "bic"]),
    st.sampled_from(["mixture", "k-means++", "random"]),
)
def test_the_posterior_never_falls(seed, smoothing, pooling, edge_cost, init):
    """Iteration for iteration, whatever the prior and the start: up to what is negligible."""
    data = naive.random_trees(seed, 3, 6).sample(150, random_state=seed)
    options = {"smoothing": smoothing, "pooling": pooling, "edge_cost": edge_cost, "init": init}
    model = fit(data, 3, max_iter=15, tol=0, random_state=seed, **options)
    assert (np.diff(model.lower_bounds_) > -1e-7).all()
    assert np.isfinite(model.lower_bounds_).all()
    states = Transactions.from_matrix(naive.states(6), data.items)
    assert np.exp(model.score_samples(states)).sum() == pytest.approx(1.0)


def test_without_a_prior_the_bound_is_the_log_likelihood(data):
    """The last bound is the mean log-likelihood of the trees before the last step."""
    plain = {"smoothing": 0, "pooling": 0, "edge_cost": 0, "tol": 0}
    before = fit(data, 3, max_iter=6, **plain)
    after = fit(data, 3, max_iter=7, **plain)
    assert after.lower_bound_ == pytest.approx(before.score(data), abs=1e-7)


def test_the_bound_has_the_prior_in_it(data):
    """Log-posterior = log-likelihood + the log-likelihood of the transactions that are not there - costs."""
    options = {"smoothing": 2.0, "pooling": 30.0, "edge_cost": 1.5, "tol": 0}
    before, after = fit(data, 2, max_iter=4, **options).trees_, fit(data, 2, max_iter=5, **options)
    n = len(data)
    frequency = (data.item_counts() + 1) / (n + 2)
    table = naive.states(8)
    independent = np.prod(np.where(table, frequency, 1 - frequency), axis=1)
    prior = 2 * np.log(before.weights).sum() - 1.5 * before.n_edges
    for k in range(2):
        tree = type(before)([1.0], before.parents[k : k + 1], before.probs[k : k + 1], before.items)
        prior += 2.0 * independent @ tree.log_likelihood(Transactions.from_matrix(table, data.items))
        prior += 30.0 * tree.log_likelihood(data).mean()
    assert n * after.lower_bound_ == pytest.approx(before.log_likelihood(data).sum() + prior, rel=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_one_component_is_a_chow_liu_tree(data, smoothing):
    """Without pooling, a mixture of one tree is the Chow-Liu tree."""
    single = ChowLiuTree(smoothing=smoothing).fit(data).trees_
    assert fit(data, 1, smoothing=smoothing, pooling=0).trees_ == single


def test_trees_explain_more_than_products(data):
    """On unseen data from trees, three trees are better than any mixture of products, and one tree."""
    unseen = naive.random_trees(21, 3, 8).sample(4000, random_state=1)
    trees = fit(data, 3, n_init=3).score(unseen)
    products = max(BernoulliMixture(k, random_state=0).fit(data).score(unseen) for k in (3, 6, 12))
    assert trees > products + 0.01
    assert trees > ChowLiuTree().fit(data).score(unseen) + 0.1


def test_much_pooling_makes_components_alike(data):
    """With more transactions of the whole data than there are, each tree is nearly that of the whole."""
    model = fit(data, 3, pooling=1e7).trees_
    whole = ChowLiuTree(smoothing=0).fit(data).trees_
    np.testing.assert_allclose(
        model.component_probabilities, np.tile(whole.component_probabilities, (3, 1)), atol=1e-3
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_starts(data):
    """The best of several starts is kept; a model is a start; the result of the same seed is the same."""
    one, many = fit(data, 3, init="random"), fit(data, 3, init="random", n_init=4)
    assert many.lower_bound_ >= one.lower_bound_
    assert fit(data, 3).trees_ == fit(data, 3).trees_
    assert fit(data, 3, n_jobs=2).trees_ == fit(data, 3).trees_
    half_way = fit(data, 3, max_iter=4, tol=0)
    on = fit(data, 3, init=half_way.trees_, max_iter=5, tol=0)
    assert on.lower_bounds_[0] >= half_way.lower_bounds_[-1]
    half_way.set_params(warm_start=True, max_iter=5).fit(data)
    np.testing.assert_allclose(half_way.lower_bounds_, on.lower_bounds_)
    assert fit(data, 3, init=BernoulliMixture(3, random_state=0).fit(data).mixture_).converged_


def test_where_items_are_many():
    """Only the strongest pairs are counted: the posterior rises all the same, and little is lost by it."""
    data = naive.random_trees(5, 2, 30).sample(1000, random_state=0)
    rows = TreeRows(data, 10**6, Workers())
    assert len(rows.index.others) < 30 * 29 // 2
    algorithm = TreeEM(rows, 2, TreePrior(1.0, 20.0, 3.0), tree_starter("mixture", rows, 2))
    result = run(algorithm, len(data), Settings(), 0)
    assert (np.diff(result.bounds) > -1e-6).all()
    complete = fit(data, 2, edge_cost=3.0).score(data)
    assert algorithm.finish(result.state).log_likelihood(data).mean() == pytest.approx(complete, rel=0.01)


def test_components_without_transactions():
    """Three equal transactions cannot fill three components; what is left follows the whole data."""
    same = Transactions.from_matrix(np.array([[1, 0, 1]] * 3))
    model = fit(same, 3, smoothing=0, pooling=0)
    assert model.probability([0, 2]) == pytest.approx(1.0)
    assert np.isfinite(model.trees_.probs).all()


def test_the_number_and_the_pooling_are_chosen(data):
    """By the likelihood of transactions left out; the choice is kept."""
    model = fit(data, "auto", pooling="auto")
    assert model.selection_.criterion == "held-out"
    assert model.n_components_ == model.selection_.best == model.trees_.n_components
    assert 2 <= model.n_components_ <= 8
    assert model.pooling_ in {5, 10, 20, 50, 100, 200, 500}
    assert fit(data, 2, pooling="auto").n_components_ == 2
    assert not hasattr(fit(data, 2, pooling="auto"), "selection_")


def test_what_says_how_it_went(data, capsys):
    """Iterations are printed and told to callbacks; one that did not converge warns."""
    told = []
    with pytest.warns(ConvergenceWarning, match="ChowLiuMixture did not converge in max_iter=2"):
        ChowLiuMixture(2, max_iter=2, tol=0, verbose=1).fit(data, callbacks=[told.append])
    assert [report.iteration for report in told] == [1, 2]
    assert "iteration 2: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": -1}, "expected smoothing as a number of zero or more, got -1"),
        ({"pooling": "much"}, "expected pooling as a number of zero or more, got 'much'"),
        ({"edge_cost": np.inf}, "expected edge_cost as a number of zero or more, got inf"),
        ({"n_components": 0}, "expected n_components as a whole number of 1 or more"),
        ({"init": "trees"}, r"expected init to be one of \['mixture', 'k-means\+\+', 'random'\], a Mixture"),
        ({"init": naive.random_trees(0, 3, 8)}, "expected a mixture of n_components=2 to start from, got 3"),
        ({"init": Mixture([1.0], [[0.5]], ["a"])}, "expected the model's 1 items, got others"),
        ({"n_init": 0}, "expected n_init as a whole number"),
    ],
)
def test_parameters_without_meaning(data, options, message):
    """What cannot be is refused before anything is fitted."""
    with pytest.raises(InvalidInputError, match=message):
        ChowLiuMixture(**({"n_components": 2} | options)).fit(data)


def test_too_little_to_choose_from():
    """One transaction cannot be left out."""
    with pytest.raises(InvalidInputError, match="expected enough transactions to leave some out, got 1"):
        ChowLiuMixture("auto").fit([["a", "b"]])
