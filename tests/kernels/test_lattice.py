import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive import lattice as naive

from itemix.kernels import lattice

N_ITEMS = 7
sets_of_codes = st.lists(st.integers(0, N_ITEMS - 1), unique=True, max_size=N_ITEMS)
families = st.lists(sets_of_codes, max_size=25, unique_by=frozenset)


def downward_closed(draw_families):
    """Families with all subsets of their sets, sorted or not."""

    def close(family):
        subsets = {
            frozenset(c for k, c in enumerate(codes) if mask >> k & 1)
            for codes in family
            for mask in range(1, 1 << len(codes))
        }
        return sorted((sorted(s) for s in subsets), key=lambda codes: (len(codes), codes[::-1]))

    return draw_families.map(close)


def index(family):
    """Make the hash table of a family, as the kernels take it."""
    offsets, codes = naive.as_arrays(family)
    keys = lattice.item_keys(N_ITEMS)
    return lattice.build_table(offsets, codes, keys), offsets, codes, keys


def test_keys_are_distinct_and_fixed():
    """Keys never change, since the hash tables of two sessions must agree, and no two items share one."""
    keys = lattice.item_keys(100_000)
    assert len(np.unique(keys)) == len(keys)
    assert keys[:2].tolist() == [16294208416658607535, 7960286522194355700]


@given(families, st.lists(sets_of_codes, max_size=10))
def test_find_sets(family, wanted):
    """Sets are found whatever the order of their items; sets that are not there are not found."""
    table, offsets, codes, keys = index(family)
    queries = [codes[::-1] for codes in family] + wanted
    found = lattice.find_sets(table, offsets, codes, keys, *naive.as_arrays(queries))
    assert found.tolist() == naive.find(family, queries)


def test_equal_hashes_are_told_apart():
    """Sets with the same hash are compared item by item: here all keys are the same."""
    family = [[0], [1], [2, 3], [4, 5], [0, 1]]
    offsets, codes = naive.as_arrays(family)
    keys = np.full(N_ITEMS, 5, dtype=np.uint64)
    table = lattice.build_table(offsets, codes, keys)
    queries = [*family, [3, 4], [6], [], [0, 1, 2]]
    found = lattice.find_sets(table, offsets, codes, keys, *naive.as_arrays(queries))
    assert found.tolist() == [0, 1, 2, 3, 4, -1, -1, -1, -1]


@given(families, sets_of_codes)
def test_count_members(family, wanted):
    """Members are counted per set."""
    is_wanted = np.isin(np.arange(N_ITEMS), wanted)
    counts = lattice.count_members(*naive.as_arrays(family), is_wanted)
    assert counts.tolist() == [len(set(codes) & set(wanted)) for codes in family]


@given(st.lists(st.lists(st.integers(0, N_ITEMS - 1), max_size=4), max_size=6))
def test_first_repetition(family):
    """The first set with an item twice is found, and only such a set."""
    expected = next((s for s, codes in enumerate(family) if len(set(codes)) < len(codes)), -1)
    assert lattice.first_repetition(*naive.as_arrays(family), N_ITEMS) == expected


@given(st.one_of(families, downward_closed(families)), st.data())
def test_mark_covered(family, data):
    """Marks supersets with one more item, and says whether the family is closed under taking subsets."""
    group = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(family), max_size=len(family))))
    group = group.astype(np.int64)
    table, offsets, codes, keys = index(family)
    covered, is_complete = lattice.mark_covered(table, offsets, codes, keys, group)
    assert covered.tolist() == naive.covered_by_one_more(family, group)
    assert is_complete == naive.is_complete(family)


@given(families, st.lists(sets_of_codes, max_size=8), st.randoms(use_true_random=False))
def test_find_closures(family, wanted, random):
    """For each wanted set, the first set in the given order that holds all its items."""
    order = list(range(len(family)))
    random.shuffle(order)
    arrays = naive.as_arrays(family), np.array(order, dtype=np.int64), naive.as_arrays(wanted)
    found = lattice.find_closures(*arrays[0], arrays[1], N_ITEMS, *arrays[2])
    expected = [next((s for s in order if set(w) <= set(family[s])), -1) for w in wanted]
    assert found.tolist() == expected


@given(families, st.data())
def test_mark_contained(family, data):
    """In any family, exactly the sets with a proper superset in their group are marked."""
    group = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(family), max_size=len(family))))
    group = group.astype(np.int64)
    order = np.array(sorted(range(len(family)), key=lambda s: (group[s], -len(family[s]))), dtype=np.int64)
    covered = lattice.mark_contained(*naive.as_arrays(family), group, order, N_ITEMS)
    assert (~covered).tolist() == naive.largest(family, group)
