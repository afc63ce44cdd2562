import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive import candidates as naive

from itemix.kernels import lattice
from itemix.kernels.mining import candidates
from itemix.kernels.mining.candidates import RULED_OUT, UNKNOWN

N_ITEMS = 6
KEYS = lattice.item_keys(N_ITEMS)

itemsets = st.frozensets(st.integers(0, N_ITEMS - 1), min_size=1, max_size=4)


@st.composite
def families(draw):
    """A family of sets with those that they are joined from."""
    return naive.with_parents(draw(st.sets(itemsets, max_size=6)))


def as_level(nodes, length):
    """The sets of one length as a level: their rows, groups and hashes."""
    level = [itemset for itemset in naive.by_path(nodes) if len(itemset) == length]
    prefixes = [naive.path(itemset)[:-1] for itemset in level]
    rows = np.array([naive.path(itemset) for itemset in level], dtype=np.int32).reshape(-1, length)
    group = np.array([prefixes.index(prefix) for prefix in prefixes], dtype=np.int64)
    return level, rows, group, np.bitwise_xor.reduce(KEYS[rows], axis=1)


def old_nodes(level, nodes):
    """Where the sets of a level stand in a trie, -1 where they do not."""
    ordered = [frozenset(), *naive.by_path(nodes)]
    return np.array([ordered.index(v) if v in nodes else -1 for v in level], dtype=np.int64)


@given(st.lists(st.integers(1, 2**64 - 1) | st.integers(1, 20), max_size=30, unique=True))
def test_a_table_of_hashes_is_a_set(hashes):
    """It holds all of them and no others, and half of it or more is free."""
    table = candidates.hash_table(np.array(hashes, dtype=np.uint64))
    assert sorted(table[table != 0].tolist()) == sorted(hashes)
    assert len(table) >= max(8, 2 * len(hashes))
    assert all(candidates._is_in(table, np.uint64(h)) == (h in hashes) for h in {*hashes, *range(1, 30)})


@given(families(), families(), st.sets(itemsets), st.integers(1, 3), st.data())
def test_joins_of_a_level(nodes, old, proposed, length, data):
    """Joins come in order; known ones keep their counts, and others must have all their subsets."""
    level, rows, group, hashes = as_level(nodes, length)
    old_joins, (_, _, old_join_start, _) = naive.trie(old)
    old_counts = data.draw(st.lists(st.integers(-2, 9), min_size=len(old_joins), max_size=len(old_joins)))
    in_old = old_nodes(level, old), KEYS
    wanted = as_level(proposed, length + 1)
    counts, join_hashes, is_proposed = candidates.join_level(
        rows, group, hashes, *in_old, wanted[1], old_join_start, np.array(old_counts, np.int64)
    )
    joins = [join for node in level for join in naive.joins_of(node, nodes)]
    known = {join: count for join, count in zip(old_joins, old_counts, strict=True) if count >= 0}
    assert is_proposed.tolist() == [join in wanted[0] for join in joins]
    assert join_hashes.tolist() == [int(np.bitwise_xor.reduce(KEYS[list(join)])) for join in joins]
    for join, count in zip(joins, counts.tolist(), strict=True):
        may_occur = join in proposed or naive.has_subsets(join, nodes)
        assert count == known.get(join, UNKNOWN if may_occur else RULED_OUT)


@given(families(), st.integers(1, 3), st.data())
def test_expected_counts(nodes, length, data):
    """Known counts stay; of an unknown one the two last items are taken to be independent."""
    level, _, group, _ = as_level(nodes, length)
    joins = [join for node in level for join in naive.joins_of(node, nodes)]
    counts = data.draw(st.lists(st.integers(-2, 9), min_size=len(joins), max_size=len(joins)))
    positive = st.lists(st.integers(1, 9), min_size=len(level), max_size=len(level))
    values, prefix_values = (np.array(data.draw(positive), dtype=np.float64) for _ in range(2))
    expected = candidates.expected_counts(np.array(counts, np.int64), group, values, prefix_values)
    value_of = dict(zip(level, values, strict=True))
    prefix_of = dict(zip(level, prefix_values, strict=True))
    for join, count, found in zip(joins, counts, expected, strict=True):
        v, w = naive.parents(join)
        assert found == (value_of[v] * value_of[w] / prefix_of[v] if count == UNKNOWN else count)


@given(families(), families(), st.integers(1, 3), st.data())
def test_next_level(nodes, old, length, data):
    """The joins that are chosen become nodes, in order, below the nodes whose joins they are."""
    level, rows, group, _ = as_level(nodes, length)
    below = [(v, join) for v, node in enumerate(level) for join in naive.joins_of(node, nodes)]
    chosen = data.draw(st.lists(st.booleans(), min_size=len(below), max_size=len(below)))
    _, (old_first, old_item, _, _) = naive.trie(old)
    made = candidates.next_level(
        rows, group, old_nodes(level, old), np.array(chosen, dtype=bool), old_first, old_item
    )
    kept = [pair for pair, is_chosen in zip(below, chosen, strict=True) if is_chosen]
    new_rows, new_group, new_old, parent, sizes = made
    assert new_rows.tolist() == [naive.path(join) for _, join in kept]
    parents = [v for v, _ in kept]
    assert parent.tolist() == parents
    assert new_group.tolist() == [parents.index(v) for v in parents]
    assert sizes.tolist() == [parents.count(v) for v in range(len(level))]
    assert new_old.tolist() == old_nodes([join for _, join in kept], old).tolist()


@given(families(), st.data())
def test_unknown_below(nodes, data):
    """Unknown joins are counted at each node, with those of all nodes below it."""
    joins, (first, _, join_start, _) = naive.trie(nodes)
    counts = data.draw(
        st.lists(st.sampled_from([UNKNOWN, RULED_OUT, 0, 3]), min_size=len(joins), max_size=len(joins))
    )
    below = candidates.unknown_below(first, join_start, np.array(counts, np.int64))
    ordered = [frozenset(), *naive.by_path(nodes)]
    for node, found in zip(ordered, below, strict=True):
        under = [v for v in ordered if naive.path(v)[: len(node)] == naive.path(node)]
        unknown = [join for join, count in zip(joins, counts, strict=True) if count == UNKNOWN]
        assert found == sum(join in unknown for v in under for join in naive.joins_of(v, nodes))


@given(families(), st.integers(1, 5))
def test_frequent_nodes(nodes, min_count):
    """Nodes of at least a count are returned as their paths, level by level."""
    joins, (first, item, _, join_of) = naive.trie(nodes)
    count_of = {join: N_ITEMS - max(join) + 5 - len(join) for join in joins}
    counts = np.array([count_of[join] for join in joins], dtype=np.int64)
    ends, items, found = candidates.frequent_nodes(first, item, join_of, counts, min_count)
    expected = [node for node in naive.by_path(nodes) if count_of[node] >= min_count]
    assert [part.tolist() for part in np.split(items, ends)[:-1]] == [naive.path(node) for node in expected]
    assert found.tolist() == [count_of[node] for node in expected]
