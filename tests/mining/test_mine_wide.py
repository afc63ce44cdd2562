"""Mining data with tens of thousands of items, of which each row holds a few."""

import subprocess
import sys
import textwrap
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

import itemix
from itemix import Transactions

N_ITEMS = 9000

# What mining in a process of its own takes beyond the kernels, which small data has loaded before.
MEASURED = textwrap.dedent("""
    import resource, sys
    import numpy as np
    import itemix

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    rng = np.random.default_rng(0)
    n_items, n_rows, length = 40_000, 40_000, 8
    codes = np.sort((n_items * rng.random((n_rows, length)) ** 2).astype(np.int32), axis=1)
    pointers = np.arange(n_rows + 1) * length
    data = itemix.Transactions(pointers, codes.ravel(), np.arange(n_items))
    few = itemix.Transactions(pointers, codes.ravel() % 7000, np.arange(n_items))
    for target in ("all", "closed", "maximal"):
        itemix.mine(few, 12, target=target)
        before = peak()
        found = itemix.mine(data, 2, target=target)
        assert len(found) > 30_000, len(found)
        assert peak() - before < 100, f"{target}: {peak() - before:.0f} MiB"
""")


@pytest.fixture(scope="module")
def baskets():
    """Rows of which each holds a part of one of a thousand groups of items, and an item of its own."""
    rng = np.random.default_rng(3)
    groups = rng.choice(N_ITEMS - 2000, size=(1000, 5))
    picked = [rng.choice(groups[row % 1000], size=3, replace=False).tolist() for row in range(3000)]
    rows = [[*row, N_ITEMS - 1 - k % 2000] for k, row in enumerate(picked)]
    rows += [[item, (item + 1) % N_ITEMS] for item in range(N_ITEMS)]
    return rows


@pytest.fixture(scope="module")
def counts(baskets):
    """Count every subset of every row."""
    subsets = (s for row in baskets for n in range(1, 5) for s in combinations(sorted(set(row)), n))
    return {frozenset(s): count for s, count in Counter(subsets).items()}


def of_target(counts, target):
    """Keep the sets without a superset of one more item that is as frequent, or frequent."""
    best = dict.fromkeys(counts, 0)
    for itemset, count in counts.items():
        for item in itemset:
            part = itemset - {item}
            best[part] = max(best.get(part, 0), count)
    if target == "all":
        return counts
    return {s: c for s, c in counts.items() if best[s] < (c if target == "closed" else 1)}


@pytest.mark.parametrize("merged", [False, True], ids=["rows", "merged"])
@pytest.mark.parametrize("target", ["all", "closed", "maximal"])
@pytest.mark.parametrize("min_count", [1, 2, 3])
def test_many_items(baskets, counts, target, min_count, merged):
    """More items than a table of pairs is made for: what counting all subsets finds, for any target."""
    data = Transactions.from_lists(baskets)
    frequent = {itemset: count for itemset, count in counts.items() if count >= min_count}
    expected = of_target(frequent, target)
    found = itemix.mine(data.merge_identical() if merged else data, min_count, target=target, n_jobs=2)
    assert {frozenset(own.items): own.count for own in found} == expected
    assert len(found) > 512  # as many as a search for maximal ones keeps in mind with so many items


def test_memory_is_that_of_the_pairs_that_occur():
    """With 40,000 frequent items, a table of all pairs would take gigabytes."""
    call = [sys.executable, "-c", MEASURED]
    run = subprocess.run(call, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    assert run.returncode == 0, run.stderr
