"""EM of latent trees: expected counts against enumeration, passes that climb, threads that change nothing."""

import numpy as np
import pytest
from naive.latent import joint, random_tree

import itemix
from itemix import ChowLiuTree, LatentTreeModel, Transactions
from itemix._runtime import Workers
from itemix.errors import InvalidInputError
from itemix.inference import latent
from itemix.inference.latent import LatentRows, LatentTreeEM, rooted_at_centre
from itemix.inference.trees import TreeRows
from itemix.kernels.models.latent import LatentTables
from itemix.models.latent import patterns_of_rows, shape_of_tree

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def data():
    """Transactions of a latent tree."""
    return random_tree(0, n_items=6).sample(1_500, random_state=0)


def tables_of(model):
    """Return the parameters of a model in single precision."""
    parts = model.transitions, model.emissions, model.state_probabilities
    return LatentTables(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))


@pytest.mark.parametrize("seed", range(3))
def test_expected_counts_are_those_of_the_definition(seed):
    """Of moves, of states and of items in them, for rows that weigh more than one."""
    model = random_tree(seed)
    data = model.sample(300, random_state=seed)
    rows, states, table = joint(model)
    held = data.to_numpy().astype(int)
    place = held @ (1 << np.arange(4, -1, -1))
    posterior = table[place] / table[place].sum(axis=1, keepdims=True)
    with Workers(1) as workers:
        found, value, n = LatentRows(data, shape_of_tree(model.parents), workers).expect(0, tables_of(model))
    assert n == 300
    assert value == pytest.approx(np.log(table.sum(axis=1)[place]).sum(), rel=1e-6)
    for i, p in enumerate(model.parents):
        at = states[:, i, None] == np.arange(3)
        shares = posterior @ at
        np.testing.assert_allclose(found.states[i], shares.sum(axis=0), rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(found.present[i], held[:, i] @ shares, rtol=1e-4, atol=1e-3)
        if p >= 0:
            before = (states[:, p, None] == np.arange(3)).astype(float)
            moves = np.einsum("s,sa,sb->ab", posterior.sum(axis=0), before, at)
            np.testing.assert_allclose(found.moves[i], moves, rtol=1e-4, atol=1e-3)
    assert rows.shape == (32, 5)


def test_patterns_are_the_distinct_rows_of_subtrees():
    """Two rows have one pattern exactly if they agree on all items below."""
    model = random_tree(4, n_items=7)
    data = model.sample(150, random_state=0)
    shape = shape_of_tree(model.parents)
    patterns = patterns_of_rows(shape, data, 20, 100)
    held = data.to_numpy()[20:120]
    below = np.eye(7, dtype=bool)
    for i in shape.order[::-1]:
        if model.parents[i] >= 0:
            below[model.parents[i]] |= below[i]
    of_row = {}
    for i in shape.order:
        p, first = model.parents[i], patterns.map_starts[i]
        of_row[i] = patterns.maps[first : patterns.map_starts[i + 1]][of_row[p] if p >= 0 else slice(None)]
        _, expected = np.unique(held[:, below[i]], axis=0, return_inverse=True)
        assert len(set(zip(of_row[i], expected.ravel(), strict=True))) == len(set(expected.ravel()))
        np.testing.assert_array_equal(patterns.held[patterns.starts[i] + of_row[i]], held[:, i])


def test_one_batch_climbs(data):
    """With all rows in one batch it is EM, and the posterior never falls."""
    with Workers(1) as workers:
        trees = TreeRows(data, 1, workers)
        shape = shape_of_tree(latent.centred_tree(trees))
        algorithm = LatentTreeEM(LatentRows(data, shape, workers), None, trees, 3, 0.01, includes=False)
        assert algorithm.rows.n_batches == 1
        state = algorithm.init(np.random.default_rng(0))
        values = []
        for _ in range(30):
            state, _ = algorithm.step(state)
            values.append(state.value)
    assert (np.diff(values) > -1e-4).all()
    assert values[-1] > values[0] + 0.005


def test_it_finds_what_a_tree_without_latent_variables_cannot(data):
    """It predicts other transactions of its own kind better than Chow and Liu's tree, and near the truth."""
    truth = random_tree(0, n_items=6)
    test = truth.sample(5_000, random_state=1)
    model = LatentTreeModel(3, random_state=0).fit(data)
    best = truth.log_likelihood(test).mean()
    assert model.score(test) > best - 0.02
    assert model.score(test) > ChowLiuTree().fit(data).score(test)


def test_threads_change_nothing(data, monkeypatch):
    """Blocks are summed in order."""
    monkeypatch.setattr(latent, "_ROWS_OF_A_BLOCK", 10)
    one, two = (LatentTreeModel(4, max_iter=4, random_state=3, n_jobs=n).fit(data) for n in (1, 2))
    assert one.tree_ == two.tree_
    np.testing.assert_array_equal(one.lower_bounds_, two.lower_bounds_)


def test_patterns_that_are_not_kept_change_nothing(data, monkeypatch):
    """They are made again for every pass."""
    kept = LatentTreeModel(3, max_iter=3, random_state=0).fit(data)
    monkeypatch.setattr(latent, "_BYTES_OF_PATTERNS", 0)
    assert LatentTreeModel(3, max_iter=3, random_state=0).fit(data).tree_ == kept.tree_


def test_held_out_transactions_end_the_fit(data):
    """The bound is the best so far; given ones are not learned."""
    part, judges = data.split(0.7, random_state=0)
    model = LatentTreeModel(8, random_state=0).fit(part, validation=judges)
    assert (np.diff(model.lower_bounds_) >= 0).all()
    assert model.converged_
    assert model.n_iter_ < 100
    assert model.score(judges) == pytest.approx(model.lower_bound_, abs=2e-3)
    assert model.n_transactions_ == part.n_transactions


def test_few_transactions_are_all_learned():
    """None are held out, and nothing is impossible."""
    model = LatentTreeModel(16, random_state=0).fit([["a", "b"], ["c"], []])
    assert model.n_transactions_ == 3
    assert 0 < model.probability(["a", "c"]) < 0.2


def test_a_root_is_at_the_centre_of_its_tree():
    """The edges stay; a path of five is two deep, and single items are roots."""
    path = np.array([-1, 0, 1, 2, 3, -1, 5, -1], dtype=np.int32)
    found = rooted_at_centre(path)
    assert found[2] == -1
    assert found[7] == -1
    edges = {frozenset((i, p)) for i, p in enumerate(path) if p >= 0}
    assert {frozenset((i, int(p))) for i, p in enumerate(found) if p >= 0} == edges


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_states": 0}, "expected n_states"),
        ({"n_states": 300}, "expected n_states from 1 to 256, got 300"),
        ({"smoothing": 0}, "expected smoothing from 0.01 to 1,000, or 'auto', got 0"),
        ({"smoothing": -1}, "expected smoothing as a number"),
        ({"held_out": 1.0}, "expected held_out from 0 to less than 1, got 1.0"),
        ({"held_out": "x"}, "expected held_out"),
        ({"tol": -1}, "expected tol of zero or more"),
        ({"max_iter": 0}, "expected max_iter"),
    ],
)
def test_parameters_are_checked(parameters, message):
    """One line says what was expected."""
    with pytest.raises(InvalidInputError, match=message):
        LatentTreeModel(**parameters).fit([["a"], ["b"]] * 20)


def test_impossible_memory_is_refused():
    """Before anything is allocated."""
    data = Transactions.from_lists([[i] for i in range(3)]).align_items(range(2_000_000))
    with pytest.raises(itemix.NotEnoughMemoryError, match="256 states of 2,000,000 items"):
        LatentTreeModel(256).fit(data)
