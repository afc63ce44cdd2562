"""Learning an affinity: the closed form and ranks against their definitions, and what is learned."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import itemix
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.fitted import FittedModel
from itemix.inference import affinity as module
from itemix.inference.affinity import Cases, Ridge, learn_affinity, regression
from itemix.models.affinity import Affinity, log_odds


def drawn(n, seed=0, n_items=12):
    """Baskets in which pairs of items go together: 0 with 1, 2 with 3 and so on."""
    rng = np.random.default_rng(seed)
    wanted = rng.random((n, n_items // 2)) < 0.25
    table = np.repeat(wanted, 2, axis=1) & (rng.random((n, n_items)) < 0.8)
    return Transactions.from_matrix(table | (rng.random((n, n_items)) < 0.05), range(n_items))


@pytest.fixture(scope="module")
def data():
    """Baskets to learn from."""
    return drawn(900)


@pytest.fixture(scope="module")
def fitted(data):
    """A mixture that has learned to recommend."""
    model = itemix.BernoulliMixture(3, random_state=0).fit(data)
    return itemix.learn_recommender(model, data)


def calibration_error(fitted, new, fewest=25):
    """How far probabilities are from what comes, in log-odds: the mean over cases, and the farthest bin.

    Bins are one wide in log-odds, and have so many items that are there. Items are asked for given the
    rest of their basket, if there is one.
    """
    X = new.to_numpy()
    chances = np.full(X.shape, np.nan)
    for i in range(X.shape[1]):
        rest = X.copy()
        rest[:, i] = False
        rows = np.flatnonzero(rest.any(axis=1))
        baskets = Transactions.from_matrix(rest[rows], new.items)
        whole = fitted.value.items_completing_each(baskets.indptr, baskets.indices)
        chances[rows, i] = fitted.affinity.combine(whole, baskets.indptr, baskets.indices)[:, i]
    there, chances = X[np.isfinite(chances)], chances[np.isfinite(chances)]
    assert ((chances > 0) & (chances < 1)).all()
    bins = np.floor(log_odds(chances)).astype(int)
    bins -= bins.min()
    n, present, said = (np.bincount(bins, values) for values in (np.ones(len(bins)), there, chances))
    used = np.minimum(present, n - present) >= fewest
    assert used.sum() >= 3
    off = np.abs(log_odds(present[used] / n[used]) - log_odds(said[used] / n[used]))
    return np.average(off, weights=present[used]), off.max()


@given(st.integers(0, 100), st.sampled_from([0.0, 0.4]), st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=20, deadline=None)
def test_the_regression_has_its_closed_form(seed, dropout, by_size):
    """Each column is the ridge regression of an item on all others: the normal equations hold."""
    X = drawn(40, seed, 6).to_numpy().astype(float)
    found = regression(sparse.csr_array(X), Ridge(0.5, dropout, by_size))
    weights = np.maximum(X.sum(axis=1), 1) ** -by_size
    counts = X.T @ (weights[:, None] * X)
    penalty = 0.5 * counts.diagonal().mean() + dropout * counts.diagonal()
    inverse = np.linalg.inv(counts + np.diag(penalty))
    expected = -inverse / inverse.diagonal()
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    for i in range(6):
        others = [j for j in range(6) if j != i]
        own = np.linalg.solve(counts[np.ix_(others, others)] + np.diag(penalty[others]), counts[others, i])
        np.testing.assert_allclose(found[others, i], own, atol=1e-10)


def test_items_are_left_out_in_turn(data):
    """Each case is its basket without one item; of large baskets some are drawn, each once."""
    baskets = data.to_scipy()
    sizes = np.diff(baskets.indptr)
    cases = Cases.of(baskets, np.random.default_rng(0), 3)
    rows = data.to_lists()
    seen = [[] for _ in rows]
    for c, (row, code) in enumerate(zip(cases.basket, cases.left_out, strict=True)):
        rest = cases.baskets[[c]].indices.tolist()
        assert sorted([*rest, int(code)]) == sorted(rows[row])
        seen[row].append(int(code))
    assert [len(set(codes)) for codes in seen] == [min(size, 3) if size > 1 else 0 for size in sizes]
    assert np.bincount(cases.basket, cases.weights)[sizes > 1] == pytest.approx(1.0)
    again = Cases.of(baskets, np.random.default_rng(0), 3)
    np.testing.assert_array_equal(cases.left_out, again.left_out)


def test_gains_are_those_of_ranks(data):
    """1 / log2(1 + rank) among the items that the basket does not hold, if the rank is at most ten."""
    cases = Cases.of(data.to_scipy(), np.random.default_rng(0))
    scores = np.random.default_rng(1).random((len(cases.left_out), 12))
    expected = []
    for c, code in enumerate(cases.left_out):
        free = np.setdiff1d(np.arange(12), cases.baskets[[c]].indices)
        rank = 1 + (scores[c, free] > scores[c, code]).sum()
        expected.append(1 / np.log2(1 + rank) if rank <= 10 else 0)
    assert cases.gain(scores) == pytest.approx(np.average(expected, weights=cases.weights))


def test_probabilities_are_calibrated(fitted):
    """On new baskets, items come as often as they are said to, given the rest of the basket."""
    error, farthest = calibration_error(fitted, drawn(1500, seed=9))
    assert error < 0.3  # 180 baskets were held out
    assert farthest < 1.5


def kinds_of_baskets(n, seed):
    """Baskets of two kinds and many sizes, of 60 items, most of them rare; pairs of them go together."""
    rng = np.random.default_rng(seed)
    usual = 0.3 * np.arange(1, 31) ** -0.8
    often = np.where(rng.random(n) < 0.5, 0.5, 1.0) * rng.gamma(2.0, 0.5, n)
    kind = rng.integers(2, size=n)
    rates = np.stack([np.roll(usual, 3), usual[::-1]])[kind] * often[:, None]
    wanted = rng.random((n, 30)) < np.minimum(rates, 0.9)
    table = np.repeat(wanted, 2, axis=1) & (rng.random((n, 60)) < 0.7)
    return Transactions.from_matrix(table | (rng.random((n, 60)) < 0.004), range(60))


def test_small_probabilities_are_calibrated():
    """Also those of a few in a thousand, in small baskets and large ones."""
    data = kinds_of_baskets(6000, 0)
    fitted = itemix.learn_recommender(itemix.BernoulliMixture(2, random_state=0).fit(data), data)
    error, farthest = calibration_error(fitted, kinds_of_baskets(6000, 1))
    assert error < 0.2
    assert farthest < 0.7


@pytest.mark.data("groceries/groceries.csv")
def test_probabilities_of_groceries_are_calibrated(data_folder):
    """On real data, as well."""
    train, test = itemix.read_transactions(data_folder / "groceries" / "groceries.csv").split(
        0.8, random_state=0
    )
    model = itemix.BayesianMixture(10, random_state=0).fit(train)
    error, farthest = calibration_error(itemix.learn_recommender(model, train), test)
    assert error < 0.1
    assert farthest < 0.8


def test_it_ranks_partners_first(fitted):
    """The other item of the pair is recommended, and nothing that the basket holds."""
    hits = 0
    for item in range(12):
        found = fitted.recommend([item])
        hits += found[0].item == (item ^ 1)
        assert item not in {r.item for r in found}
        assert all(0 < r.probability < 1 for r in found)
        assert [r.probability for r in found] == sorted((r.probability for r in found), reverse=True)
    assert hits >= 11
    assert fitted.recommend([3, 0], 4) == fitted.recommend([0, 3, 0], 4)
    codes, chances = fitted.recommend_many([[0], [0, 1, 2]], 5)
    assert [r.item for r in fitted.recommend([0], 5)] == codes[0].tolist()
    np.testing.assert_allclose(chances[0], [r.probability for r in fitted.recommend([0], 5)])
    plain = replace(fitted, affinity=None)
    assert fitted.recommend([0], complete=False) == plain.recommend([0], complete=False)


def test_probabilities_rise_with_scores(fitted):
    """Of one basket, the order by probability is the order by score."""
    offsets, codes = np.array([0, 2]), np.array([1, 4], dtype=np.int32)
    chances = fitted.value.items_completing_each(offsets, codes)
    scores = fitted.affinity.scores(chances, offsets, codes)[0]
    found = fitted.affinity.combine(chances, offsets, codes)[0]
    free = np.setdiff1d(np.arange(12), codes)
    np.testing.assert_array_equal(np.argsort(scores[free]), np.argsort(found[free]))
    assert (found[codes] == 1).all()


def test_the_same_seed_learns_the_same(data, fitted):
    """And another one something else; a mixture alone is refitted by EM, trees are taken as they are."""
    mixture = fitted.value
    one, two = (learn_affinity(mixture, data, np.random.default_rng(1)) for _ in range(2))
    for name in ("linear", "logistic", "bias", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("scores", "sizes", "log_odds"):
        np.testing.assert_array_equal(getattr(one.calibration, name), getattr(two.calibration, name))
    other = learn_affinity(mixture, data, np.random.default_rng(2))
    assert not np.array_equal(one.logistic, other.logistic)
    tree = itemix.ChowLiuTree().fit(data)
    assert itemix.learn_recommender(tree.model_, data).affinity is not None


def test_few_items_and_few_pairs_are_enough(data, fitted, monkeypatch):
    """Of too many items, the frequent ones have terms; of too many pairs, some are counted."""
    monkeypatch.setattr(module, "MOST_ITEMS", 6)
    monkeypatch.setattr(module.frequent_items, "__defaults__", (6,))
    monkeypatch.setattr(module, "_MOST_PAIRS", 500)
    monkeypatch.setattr(module, "_MOST_MEMORABLE", 10)
    monkeypatch.setattr(module, "_MOST_TERMS", 2)
    found = learn_affinity(fitted.value, data, np.random.default_rng(0))
    lengths = np.diff(found.offsets)
    assert (lengths > 0).sum() <= 6
    assert np.bincount(found.codes).max() <= 2
    assert found.n_items == 12
    better = replace(fitted, affinity=found)
    assert len(better.recommend([0], 12)) == 11


def test_too_little_data(fitted):
    """The model stays as it is, and other items are refused."""
    few = drawn(50)
    plain = replace(fitted, affinity=None)
    assert itemix.learn_recommender(plain, few).affinity is None
    alone = [[2 * i, 2 * i + 1] for i in range(300)]  # no item comes twice
    nothing = itemix.IndependentModel().fit(Transactions.from_lists(alone))
    assert itemix.learn_recommender(nothing, alone).affinity is None
    full = itemix.IndependentModel().fit([["milk", "bread"]] * 300)  # no item is ever missing
    assert itemix.learn_recommender(full, [["milk", "bread"]] * 300).affinity is None
    with pytest.raises(KeyError, match="expected one of 12 known items"):
        itemix.learn_recommender(plain, [["milk", "bread"]] * 300)
    with pytest.raises(InvalidInputError, match="expected a fitted model, got int"):
        itemix.learn_recommender(3, few)


def test_files_keep_it(data, fitted, tmp_path):
    """A loaded estimator recommends the same; a damaged file is refused."""
    model = itemix.BernoulliMixture(3, random_state=0).fit(data)
    model.fitted_ = fitted
    model.save(tmp_path / "model.itemix")
    loaded = itemix.load(tmp_path / "model.itemix")
    assert loaded.recommend([2], 4) == model.recommend([2], 4) == fitted.recommend([2], 4)
    assert isinstance(FittedModel.of(loaded).affinity, Affinity)
    object.__setattr__(fitted.affinity, "weights", (1.0, 2.0))
    try:
        model.save(tmp_path / "other.itemix")
    finally:
        object.__setattr__(fitted.affinity, "weights", FittedModel.of(loaded).affinity.weights)
    with pytest.raises(itemix.ModelFileError, match=r"affinity\.weights in its header are not three numbers"):
        itemix.load(tmp_path / "other.itemix")
