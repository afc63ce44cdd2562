"""The latent tree against enumeration of all states."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from naive.latent import joint, random_tree

import itemix
from itemix import LatentTree, Transactions
from itemix.errors import InvalidInputError
from itemix.models import latent
from itemix.models.base import Model

MODELS = [(0, False), (1, False), (2, True), (3, True)]


def events(n_items):
    """Yield sets of present and of absent items."""
    for kinds in itertools.product((None, True, False), repeat=n_items):
        codes = np.arange(n_items, dtype=np.int32)
        yield codes[[kind is True for kind in kinds]], codes[[kind is False for kind in kinds]]


@pytest.mark.parametrize(("seed", "zeros"), MODELS)
def test_every_probability_is_that_of_the_definition(seed, zeros):
    """Of every event, of every item given it, and of every whole transaction."""
    model = random_tree(seed, zeros=zeros)
    rows, _, table = joint(model)
    whole = table.sum(axis=1)
    found = model.log_likelihood(Transactions.from_matrix(rows, model.items))
    np.testing.assert_allclose(np.exp(found), whole, atol=1e-15)
    for held, missing in events(5):
        agrees = (rows[:, held] == 1).all(axis=1) & (rows[:, missing] == 0).all(axis=1)
        expected = whole[agrees].sum()
        names = [model.items.names(codes) for codes in (held, missing)]
        assert model.probability(names[0], absent=names[1]) == pytest.approx(expected, abs=1e-14)
        assert np.exp(model.log_probability_of_codes(held, missing)) == pytest.approx(expected, abs=1e-14)
        if expected == 0:
            assert model.log_probability_of_codes(held, missing) == -np.inf
            with pytest.raises(InvalidInputError, match="a condition of positive probability"):
                model.items_given(held, missing)
            continue
        given = [whole[agrees & (rows[:, i] == 1)].sum() / expected for i in range(5)]
        np.testing.assert_allclose(model.items_given(held, missing), given, atol=1e-12)


@pytest.mark.parametrize(("seed", "zeros"), MODELS)
def test_what_many_ask_is_what_each_asks(seed, zeros):
    """Pairs, and items given baskets, complete or not, as the slow ways of any model have them."""
    model = random_tree(seed, zeros=zeros)
    codes = np.arange(5, dtype=np.int32)
    pairs = Model.pair_probabilities(model, codes)
    np.testing.assert_allclose(model.pair_probabilities(codes), pairs, atol=1e-14)
    baskets = [
        held
        for held, missing in events(5)
        if not len(missing) and model.log_probability_of_codes(held, missing) > -np.inf
    ]
    offsets = np.concatenate([[0], np.cumsum([len(basket) for basket in baskets])])
    together = np.concatenate(baskets)
    one_by_one = np.array([model.items_given(basket, codes[:0]) for basket in baskets])
    np.testing.assert_allclose(model.items_given_each(offsets, together), one_by_one, atol=1e-12)
    slow = Model.items_completing_each(model, offsets, together)
    np.testing.assert_allclose(model.items_completing_each(offsets, together), slow, atol=1e-12)


def test_mining_finds_what_is_probable():
    """Level by level it finds the sets that reach the threshold, and no others."""
    model = random_tree(5)
    rows, _, table = joint(model)
    found = itemix.mine(model, 0.1)
    expected = {}
    for n in range(1, 6):
        for held in itertools.combinations(range(5), n):
            support = table.sum(axis=1)[(rows[:, held] == 1).all(axis=1)].sum()
            if support >= 0.1:
                expected[frozenset(model.items.names(held))] = support
    assert {
        frozenset(names): pytest.approx(s) for names, s in zip(found.sets, found.support, strict=True)
    } == expected


def test_samples_have_the_probabilities_of_the_model():
    """Items and pairs occur as often as they should; the same seed draws the same."""
    model = random_tree(6)
    data = model.sample(20_000, random_state=0)
    for pair in itertools.combinations(model.items, 2):
        p = model.probability(pair)
        assert data.support(pair) == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 20_000))
    assert data == model.sample(20_000, random_state=0)
    assert model.sample(0).n_transactions == 0


def test_blocks_change_nothing(monkeypatch):
    """However many rows are brought into patterns at once, their likelihoods are the same."""
    model = random_tree(7, n_items=8)
    data = model.sample(200, random_state=0)
    whole = model.log_likelihood(data)
    monkeypatch.setattr(latent, "_CELLS_AT_A_TIME", 8 * 7)
    np.testing.assert_allclose(model.log_likelihood(data), whole, rtol=1e-13)
    merged = model.log_likelihood(data.merge_identical())
    assert len(merged) == 200
    assert merged.sum() == pytest.approx(whole.sum())


def test_long_chains_do_not_underflow():
    """A transaction of 3,000 items has a logarithm, and an item given all others a probability."""
    D = 3_000
    moves = np.tile([[0.9, 0.1], [0.1, 0.9]], (D, 1, 1))
    moves[0] = 0.5
    model = LatentTree(np.arange(-1, D - 1), moves, np.tile([0.01, 0.99], (D, 1)), range(D))
    held = np.arange(0, D, 2, dtype=np.int32)
    missing = np.arange(1, D, 2, dtype=np.int32)
    data = Transactions.from_lists([held.tolist()]).align_items(range(D))
    value = float(model.log_likelihood(data)[0])
    assert -np.inf < value < -700
    assert model.log_probability_of_codes(held, missing) == pytest.approx(value)
    assert model.probability([0]) == pytest.approx(0.5)
    given = model.items_given(held[1:], missing)
    assert 0 < given[0] < 0.5


def test_a_star_of_many_leaves_does_not_underflow():
    """A root with a thousand children that disagree."""
    D = 1_001
    parents = np.zeros(D, dtype=np.int32)
    parents[0] = -1
    moves = np.tile([[0.999, 0.001], [0.001, 0.999]], (D, 1, 1))
    moves[0] = 0.5
    model = LatentTree(parents, moves, np.tile([0.0, 1.0], (D, 1)), range(D))
    codes = np.arange(1, D, dtype=np.int32)
    value = model.log_probability_of_codes(codes[::2], codes[1::2])
    assert value == pytest.approx(500 * np.log(0.999 * 0.001))
    sets = np.array([0, 500]), codes[::2], np.array([0, 500]), codes[1::2]
    assert model.probabilities_of_codes(*sets)[0] == 0.0
    given = model.items_given(codes[::2], codes[1::2][:-1])
    assert given[codes[1::2][-1]] == pytest.approx(0.999, abs=1e-3)


def test_it_is_a_value():
    """Equal to its copies, read-only, with counts of what it is made of."""
    model = random_tree(0)
    assert copy.deepcopy(model) == model == pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    assert model != random_tree(1)
    assert model != "a model"
    assert not model.emissions.flags.writeable
    assert model.n_edges == len(model.edges()) == (model.parents >= 0).sum()
    roots = 5 - model.n_edges
    assert model.n_parameters == 5 * 3 + model.n_edges * 3 * 2 + roots * 2
    assert repr(model) == f"LatentTree(5 items, {model.n_edges} edges, 3 states)"
    np.testing.assert_allclose(model.state_probabilities.sum(axis=1), 1)
    with pytest.raises(TypeError):
        hash(model)


def test_only_the_first_row_of_a_root_counts():
    """The others are made like it."""
    moves = [[[0.3, 0.7], [0.5, 0.5]]]
    model = LatentTree([-1], moves, [[0.0, 1.0]], ["a"])
    assert model.probability(["a"]) == pytest.approx(0.7)
    assert model == LatentTree([-1], [[[0.3, 0.7], [0.3, 0.7]]], [[0.0, 1.0]], ["a"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parents": [1, 0]}, "expected parents that make a tree"),
        ({"parents": [-1, 2]}, "expected parents from -1 to 1, got -1 to 2"),
        ({"parents": [-1]}, "expected parents as whole numbers, one for each of 2 items"),
        ({"parents": [-1.0, 0.0]}, "expected parents as whole numbers"),
        ({"emissions": [[0.5, 1.5], [0, 1]]}, "expected probabilities from 0 to 1 in emissions"),
        ({"emissions": [[0.5, np.nan], [0, 1]]}, "expected probabilities from 0 to 1 in emissions"),
        ({"emissions": [[0.5, 0.5]]}, r"expected emissions of shape \(2, n_states\), got \(1, 2\)"),
        ({"emissions": np.empty((2, 0))}, "expected at least one state"),
        ({"transitions": np.full((2, 2, 3), 0.3)}, r"expected transitions of shape \(2, 2, 2\)"),
        ({"transitions": np.full((2, 2, 2), 0.3)}, "expected transitions that sum to one"),
    ],
)
def test_what_is_no_tree_is_refused(change, message):
    """One line says what was expected."""
    parts = {
        "parents": [-1, 0],
        "transitions": np.full((2, 2, 2), 0.5),
        "emissions": [[0.1, 0.2], [0.3, 0.4]],
        "items": ["a", "b"],
    }
    LatentTree(**parts)
    with pytest.raises(InvalidInputError, match=message):
        LatentTree(**(parts | change))
