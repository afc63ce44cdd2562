"""MaxEntropy: the supports it knows, the most entropy beyond them, and the answers that follow."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import maxent as naive
from naive.trees import event, random_trees, states

import itemix
from itemix import Transactions
from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError
from itemix.models.maxent import MaxEntropy

seeds = st.integers(0, 10_000)
NAMES = "abcdefghijklmnopqrstuvwxyz"


def data_of(seed, n_items=5, n_rows=200):
    """Return dependent data as a 0/1 matrix, every item and its absence in it."""
    matrix = random_trees(seed, 3, n_items).sample(n_rows, random_state=seed).to_scipy().toarray().astype(int)
    matrix[0], matrix[1] = 0, 1
    return matrix


def model_of(matrix, least, longest):
    """Return the model of all frequent itemsets up to a length."""
    found = naive.frequent_sets(matrix, least, longest)
    names = Items(NAMES[: matrix.shape[1]])
    sets = Sets.from_names([[NAMES[i] for i in items] for items in found], names)
    return MaxEntropy(matrix.mean(axis=0), sets, list(found.values()))


def named(codes):
    """Return names of codes."""
    return [NAMES[i] for i in codes]


@settings(max_examples=30)
@given(seeds, st.integers(2, 5), st.sampled_from([0.05, 0.2, 0.4]), st.integers(2, 3))
def test_all_states_against_plain_scaling(seed, n_items, least, longest):
    """The joint distribution is the one that scaling itemset by itemset ends with."""
    # With every state in the data no cell is empty, and plain scaling converges quickly.
    matrix = np.concatenate([data_of(seed, n_items), states(n_items)])
    model = model_of(matrix, least, longest)
    constraints = {(i,): matrix[:, i].mean() for i in range(n_items)}
    constraints |= naive.frequent_sets(matrix, least, longest)
    expected = naive.max_entropy(n_items, constraints)
    table = states(n_items)
    everything = [named(np.flatnonzero(row)) for row in table]
    rest = [named(np.flatnonzero(1 - row)) for row in table]
    found = model.probabilities(everything, absent=rest)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.sum() == pytest.approx(1.0)
    logs = model.log_likelihood(Transactions.from_matrix(table, model.items))
    np.testing.assert_allclose(np.exp(logs), found, atol=1e-9)


@settings(max_examples=40)
@given(seeds, st.integers(2, 7), st.sampled_from([0.02, 0.1, 0.3]), st.integers(2, 4))
def test_what_is_known_is_exact(seed, n_items, least, longest):
    """Items and itemsets have the supports that were given; entropy is at least that of the data."""
    matrix = data_of(seed, n_items)
    model = model_of(matrix, least, longest)
    np.testing.assert_allclose(model.item_probabilities, matrix.mean(axis=0))
    np.testing.assert_allclose(
        model.probabilities_of_codes(model.itemsets.offsets, model.itemsets.codes), model.supports, rtol=1e-12
    )
    table = states(n_items)
    whole = model.probabilities(
        [named(np.flatnonzero(row)) for row in table],
        absent=[named(np.flatnonzero(1 - row)) for row in table],
    )
    for codes in model.itemsets:
        held = event(table, [NAMES.index(name) for name in codes])
        assert whole[held].sum() == pytest.approx(model.probability(list(codes)), abs=1e-8)
    observed = np.bincount(matrix @ (1 << np.arange(n_items)[::-1]), minlength=2**n_items) / len(matrix)
    assert naive.entropy(whole) >= naive.entropy(observed) - 1e-9


def case_of(seed):
    """Return a model and its number of items: of few rows, of items that others imply, of copies."""
    rng = np.random.default_rng(seed)
    n_items, n_rows = int(rng.integers(3, 8)), int(rng.integers(4, 60))
    matrix = (rng.random((n_rows, n_items)) < rng.random(n_items)).astype(int)
    if seed % 3 == 0:
        matrix[:, -1] = matrix[:, 0] | matrix[:, 1]
    if seed % 5 == 0:
        matrix[:, 1] = matrix[:, 0]
    data = Transactions.from_matrix(matrix, NAMES[:n_items])
    least, longest = float(rng.choice([0.02, 0.1, 0.3])), int(rng.integers(2, 4))
    return itemix.MaxEntropyModel(min_support=least, max_len=longest).fit(data).max_entropy_, n_items


@pytest.mark.parametrize("seed", range(40))
def test_one_account(seed):
    """Every answer is that of summing the likelihoods of all transactions: any set, any question, mining."""
    model, n_items = case_of(seed)
    table = states(n_items)
    chances = np.exp(model.log_likelihood(Transactions.from_matrix(table, model.items)))
    close = partial(np.testing.assert_allclose, rtol=0, atol=1e-9)
    close(chances.sum(), 1)
    every = [np.flatnonzero(row) for row in table]
    summed = np.array([chances[event(table, codes)].sum() for codes in every])
    close(model.probabilities([named(codes) for codes in every]), summed)
    close(model.item_probabilities, [chances[event(table, [i])].sum() for i in range(n_items)])
    for names, support in zip(model.itemsets, model.supports, strict=True):
        close(support, chances[event(table, model.items.codes(names))].sum())
    pairs = model.pair_probabilities(np.arange(n_items, dtype=np.int32))
    close(pairs, [[chances[event(table, [i, j])].sum() for j in range(n_items)] for i in range(n_items)])
    rng = np.random.default_rng(seed)
    for _ in range(5):
        a, b, c, d = (np.flatnonzero(rng.integers(0, 4, n_items) == 0) for _ in range(4))
        c, b = np.setdiff1d(c, a), np.setdiff1d(b, [*a, *c])
        d = np.setdiff1d(d, [*a, *b, *c])
        condition = chances[event(table, c, d)].sum()
        asked = chances[event(table, [*a, *c], [*b, *d])].sum()
        if condition > 1e-6:
            found = model.probability(named(a), absent=named(b), given=named(c), given_absent=named(d))
            assert found * condition == pytest.approx(asked, abs=1e-9)
    for threshold in {*summed[summed > 0.02][:: max(1, len(summed) // 8)], 0.1, 0.25}:
        mined = {frozenset(names) for names in itemix.mine(model, min(float(threshold), 1.0)).sets}
        assert mined >= {frozenset(named(every[k])) for k in np.flatnonzero(summed >= threshold + 1e-9) if k}
        assert mined <= {frozenset(named(every[k])) for k in np.flatnonzero(summed >= threshold - 1e-9) if k}


def test_samples_are_of_the_same_account():
    """Drawn transactions have the probabilities that are told, of known and of unknown sets."""
    model = model_of(data_of(11, 5), 0.35, 2)
    everything = [named(np.flatnonzero(row)) for row in states(5)]
    drawn = model.sample(200_000, random_state=0)
    np.testing.assert_allclose(
        [drawn.support(s) for s in everything], model.probabilities(everything), atol=5e-3
    )
    assert 0 < len(model.itemsets) < 10


def test_items_that_hang_together_through_others():
    """Two items that no itemset has both of are dependent if a third one hangs together with both."""
    items = Items("abc")
    model = MaxEntropy([0.5] * 3, Sets.from_names(["ab", "bc"], items), [0.4, 0.4])
    assert model.probability(["a", "c"]) == pytest.approx(0.5 * (0.8 * 0.8 + 0.2 * 0.2))
    assert model.probability("a", given="c") == pytest.approx(0.68)


def test_many_items_are_asked_about_alone():
    """Where more than 14 items hang together, only what is known of the items of a question counts."""
    chain = Sets.from_names([NAMES[i : i + 2] for i in range(19)], Items(NAMES))
    model = MaxEntropy([0.5] * 26, chain, [0.4] * 19)
    assert model.probability(["a", "c"]) == pytest.approx(0.25)
    assert model.pair_probabilities(np.array([0], dtype=np.int32))[0, 2] == 0.25


@pytest.mark.parametrize("supports", [[0.0, 0.0, 0.0], [0.01, 0.01, 0.01], [0.3, 0.49, 0.1]])
def test_supports_that_no_distribution_has(supports):
    """Three halves cannot exclude each other: the question that meets this is refused, others are not."""
    model = MaxEntropy([0.5] * 3, Sets.from_names(["ab", "bc", "ac"], Items("abc")), supports)
    assert model.probability("a") == 0.5
    for ask in (lambda: model.probability(["a", "b", "c"]), lambda: model.sample(3)):
        with pytest.raises(InvalidInputError, match="expected supports that some distribution has, got some"):
            ask()


def test_items_that_do_not_hang_together_are_independent():
    """Two pairs and an item alone: the probability of all is a product of three."""
    items = Items("abcde")
    model = MaxEntropy([0.5] * 5, Sets.from_names(["ab", "cd"], items), [0.4, 0.1])
    assert model.probability(list("abcde")) == pytest.approx(0.4 * 0.1 * 0.5)
    assert model.probability(["a", "c"], absent=["b", "d"]) == pytest.approx(0.1 * 0.4)


def test_a_conditional_answer_comes_from_one_distribution():
    """Probabilities of an item and of its absence, given others, add up to one."""
    matrix = data_of(3, 6)
    model = model_of(matrix, 0.1, 2)
    given_items = {"given": ["a"], "given_absent": ["b"]}
    with_c = model.probability(["c"], **given_items)
    without = model.probability([], absent=["c"], **given_items)
    assert with_c + without == pytest.approx(1.0, abs=1e-12)
    assert model.probability(["a", "c"], given=["a"]) == pytest.approx(model.probability(["c"], given=["a"]))
    table = model.items_given(np.array([0], dtype=np.int32), np.array([1], dtype=np.int32))
    assert table[2] == pytest.approx(with_c)
    assert table[:2].tolist() == [1.0, 0.0]


def test_pairs():
    """Known pairs have their supports, others are independent, an item with itself has its frequency."""
    model = model_of(data_of(4, 6), 0.3, 3)
    codes = np.array([3, 0, 5], dtype=np.int32)
    offsets = 2 * np.arange(19, dtype=np.int64)
    pairs = np.stack([np.repeat(codes, 6), np.tile(np.arange(6, dtype=np.int32), 3)], axis=1)
    expected = model.probabilities_of_codes(offsets, pairs.ravel()).reshape(3, 6)
    np.testing.assert_allclose(model.pair_probabilities(codes), expected)
    assert 0 < len(model.itemsets) < 15


def test_mining_without_a_bound_on_the_length_is_exact():
    """Told of all frequent sets and their border, the model has the frequent sets of the data, no others."""
    matrix = data_of(8, 7, 400)
    data = Transactions.from_matrix(matrix, NAMES[:7])
    exact = itemix.mine(data, 0.15).to_pandas()
    found = itemix.mine(itemix.MaxEntropyModel(min_support=0.15, max_len=7).fit(data), 0.15).to_pandas()
    expected = dict(zip(exact["itemsets"], exact["support"], strict=True))
    assert dict(zip(found["itemsets"], found["support"], strict=True)) == pytest.approx(expected)
    assert max(map(len, expected)) > 2


def test_deterministic_items():
    """Items that are always there, never there, or always together are exact."""
    matrix = np.array([[1, 0, 1, 1, 0], [1, 0, 1, 1, 1], [1, 0, 0, 0, 1], [1, 0, 0, 0, 0]])
    model = model_of(matrix, 0.2, 2)
    assert model.probability(["a", "c", "d"]) == pytest.approx(0.5)
    assert model.probability("c", absent="d") == 0
    assert model.probability(["a", "b"]) == 0
    assert model.probability(["a", "d", "e"]) == pytest.approx(0.25)
    rows = Transactions.from_matrix(np.array([[1, 0, 1, 1, 1], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0]]), "abcde")
    assert model.log_likelihood(rows).tolist() == [pytest.approx(np.log(0.25)), -np.inf, -np.inf]


def test_samples_have_the_supports():
    """Drawn transactions show the supports that the model knows; multiplicities count."""
    model = model_of(data_of(5, 6), 0.1, 2)
    data = model.sample(40_000, random_state=0)
    supports = [data.support(list(names)) for names in model.itemsets]
    np.testing.assert_allclose(supports, model.supports, atol=0.01)
    few = data.merge_identical()
    assert model.log_likelihood(few).sum() == pytest.approx(model.log_likelihood(data).sum())
    assert len(model.sample(0)) == 0
    with pytest.raises(InvalidInputError, match="expected n as a whole number of 0 or more, got -1"):
        model.sample(-1)


def test_the_limit():
    """Fourteen items that hang together are answered, fifteen are refused; apart they may be more."""
    items = Items(NAMES)
    chain = Sets.from_names([NAMES[i : i + 2] for i in range(19)], items)
    model = MaxEntropy([0.5] * 26, chain, [0.4] * 19)
    assert model.probability([*NAMES[:14]]) == pytest.approx(0.5 * 0.8**13)
    assert model.probability([*NAMES[:20:2], *NAMES[20:]]) == pytest.approx(0.5**16)
    with pytest.raises(
        InvalidInputError, match="at most 14 items hang together by the model's itemsets, got 15; ask"
    ):
        model.probability([*NAMES[:15]])
    assert not model.has_likelihood
    with pytest.raises(
        InvalidInputError, match="at most 14 items hang together by its itemsets, got 20, too many"
    ):
        model.log_likelihood(Transactions.from_lists([["a"]]).align_items(items))
    with pytest.raises(InvalidInputError, match="whole transactions; fit it with a higher"):
        model.sample(3)
    with pytest.raises(InvalidInputError, match=r"to mine: max_len=14"):
        itemix.mine(model, 1e-6, include=list(NAMES[:14]))
    assert itemix.mine(model, 0.3, max_len=14).lengths.max() == 2


def test_a_value():
    """Equal, pickled, printed, immutable, whatever order the sets come in."""
    items = Items("abc")
    sets = [["b", "a"], ["c", "b"], ["a", "c"], ["c", "b", "a"]]
    supports = [0.2, 0.3, 0.25, 0.1]
    model = MaxEntropy([0.5, 0.6, 0.7], Sets.from_names(sets, items), supports)
    turned = MaxEntropy([0.5, 0.6, 0.7], Sets.from_names(sets[::-1], items), supports[::-1])
    assert model == turned
    assert model != MaxEntropy([0.5, 0.6, 0.7], Sets.from_names(sets[:3], items), supports[:3])
    assert model != 1
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301 - our own bytes
    assert repr(model) == "MaxEntropy(4 itemsets, 3 items)"
    assert model.n_parameters == 7
    assert not model.supports.flags.writeable
    assert model.probabilities([["a", "c"], ["c", "b", "a"]]).tolist() == pytest.approx([0.25, 0.1])


@pytest.mark.parametrize(
    ("sets", "supports", "message"),
    [
        (["abc"], [0.1], r"expected all subsets of each itemset, got no support of \['b', 'c'\]"),
        (["ab", "ab"], [0.1, 0.1], "expected each itemset once, got one twice"),
        (["a"], [0.1], "expected itemsets of two items or more, got one of 1"),
        (["ab"], [0.7], "expected no itemset to be more probable than its subsets, got one"),
        (["ab"], [0.1, 0.2], r"expected 1 supports, one for each itemset, from 0 to 1"),
        (["ab"], [np.nan], r"expected 1 supports, one for each itemset, from 0 to 1"),
    ],
)
def test_what_cannot_be_known(sets, supports, message):
    """Sets without their subsets, twice, alone, or more probable than a subset are refused."""
    with pytest.raises(InvalidInputError, match=message):
        MaxEntropy([0.5] * 3, Sets.from_names(sets, Items("abc")), supports)


def test_frequencies_are_probabilities():
    """One for each item."""
    with pytest.raises(InvalidInputError, match="expected 3 frequencies, one for each item"):
        MaxEntropy([0.5], Sets.from_names([], Items("abc")), [])
