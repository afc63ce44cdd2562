"""Mining transactions in parts: exactly what mining all of them at once gives, whatever the parts."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itemix
from itemix import InvalidInputError, TooManyItemsetsError, Transactions, UnknownItemError, mine
from itemix.io.partitions import Listed, Partitions, Reread
from itemix.mining import partitioned
from itemix.mining.partitioned import _shares


@pytest.fixture(autouse=True, scope="module")
def parts_as_they_are():
    """Parts so small are not put together, except where a test says so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitioned, "_TOGETHER_BYTES", 0)
        yield


NAMES = "abcdef"
rows = st.lists(st.lists(st.sampled_from(NAMES), max_size=6), min_size=1, max_size=20)


@st.composite
def cut(draw):
    """Data, maybe sorted, and its parts: some empty, some with items of their own, or all in one."""
    baskets = draw(rows)
    if draw(st.booleans()):
        baskets.sort()
    n_parts = draw(st.integers(1, 4))
    cuts = sorted(draw(st.lists(st.integers(0, len(baskets)), min_size=n_parts - 1, max_size=n_parts - 1)))
    own = [Transactions.from_lists(baskets[a:b]) for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
    if draw(st.booleans()):
        own = [part.merge_identical() for part in own]
    parts = Partitions((Listed if draw(st.booleans()) else lambda parts: Reread(lambda: iter(parts)))(own))
    return Transactions.from_lists(baskets), parts


@st.composite
def options(draw):
    """Options of `mine`."""
    low = draw(st.integers(1, 3))
    chosen = {
        "target": draw(st.sampled_from(["all", "all", "closed", "maximal", "generators"])),
        "min_len": low,
        "max_len": draw(st.none() | st.integers(low, 5)),
        "include": draw(st.lists(st.sampled_from("ab"), unique=True, max_size=2)),
        "exclude": draw(st.lists(st.sampled_from("cd"), unique=True, max_size=1)),
    }
    if draw(st.booleans()):
        chosen["top_k"] = draw(st.integers(1, 12))
    return chosen


@given(cut(), st.integers(1, 8) | st.floats(0.01, 1), options(), st.sampled_from([0, 100, 10**9]))
def test_parts_are_mined_like_the_whole(data, min_support, chosen, together):
    """Itemsets, counts and their order are those of all transactions at once; so are errors of options."""
    tx, parts = data
    known = set(tx.items)
    chosen = {**chosen, **{name: [i for i in chosen[name] if i in known] for name in ("include", "exclude")}}
    if isinstance(min_support, int):
        min_support = min(min_support, tx.n_transactions)
    try:
        expected = mine(tx, min_support, **chosen)
    except InvalidInputError as error:  # generators go with few other options
        with pytest.raises(InvalidInputError, match=re.escape(str(error))):
            mine(parts, min_support, **chosen)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitioned, "_TOGETHER_BYTES", together)
        found = mine(parts, min_support, **chosen)
    assert parts.items == tx.items
    assert found == expected
    assert (found.min_support, found.target) == (expected.min_support, expected.target)


@given(cut(), st.integers(1, 8))
def test_parts_that_are_elsewhere(data, min_support):
    """What is sent to parts on other machines can be pickled, and the result is that of parts here."""
    tx, parts = data
    min_support = min(min_support, tx.n_transactions)
    assert mine(Partitions(Elsewhere(list(parts))), min_support) == mine(tx, min_support)


@given(cut(), st.integers(0, 300))
def test_small_parts_are_put_together(data, n_bytes):
    """They keep their order, and none is larger than was asked for, unless a single one is."""
    tx, parts = data
    fewer = parts.put_together(n_bytes)
    assert fewer.sizes == tuple(part.n_transactions for part in fewer)
    before, after = ([row for part in own for row in part.to_lists()] for own in (parts, fewer))
    assert after == before
    assert fewer.n_transactions == tx.n_transactions
    largest, together = (
        max(part.indptr.nbytes + part.indices.nbytes for part in own) for own in (parts, fewer)
    )
    assert together <= max(n_bytes, largest)


class Elsewhere(Listed):
    """Parts that are pickled on their way, as those on other machines are."""

    is_here = False

    def map(self, function, each=None):
        """Send a function and its results as bytes."""
        sent = pickle.loads(pickle.dumps(function))  # noqa: S301 - our own
        return map(pickle.loads, map(pickle.dumps, super().map(sent, each)))

    def keep(self, make, each=None):
        """Keep what a function makes."""
        return Elsewhere(self.map(make, each))


@given(st.lists(st.integers(0, 100), min_size=1, max_size=12), st.integers(0, 300))
def test_shares(sizes, budget):
    """Sets that no part proposes occur less often than the threshold; the smallest parts propose nothing."""
    shares = _shares(sizes, min(budget, sum(sizes)))
    unproposed = [share - 1 if share else size for share, size in zip(shares, sizes, strict=True)]
    assert sum(unproposed) <= min(budget, sum(sizes))
    assert all(size <= 0.1 * budget for share, size in zip(shares, sizes, strict=True) if share == 0)


def test_tiny_parts_propose_nothing():
    """A part of a few long transactions would propose all their subsets; it only counts."""
    tx = itemix.datasets.load("grocery_store").sample(2000, random_state=0)
    long = Transactions.from_lists([list(tx.items)])
    parts = itemix.partitions([tx, long, tx.sample(0)])
    whole = Transactions.concatenate([part.align_items(parts.items) for part in (tx, long)])
    assert mine(parts, 0.05) == mine(whole, 0.05)


def test_candidates_that_explode():
    """Parts that would propose more than memory holds are put together; elsewhere that is an error."""
    wide = Transactions.from_matrix(np.ones((3, 60), dtype=bool))
    own = [wide, Transactions.from_matrix(np.eye(60, dtype=bool))]
    assert mine(itemix.partitions(own), 10) == mine(Transactions.concatenate(own), 10)
    parts = Partitions(Elsewhere(own))
    with pytest.raises(TooManyItemsetsError, match="expected parts whose own frequent sets fit into half of"):
        mine(parts, 10)
    with pytest.raises(TooManyItemsetsError, match="expected parts whose own frequent sets fit into half of"):
        mine(itemix.partitions(own), 3)
    with pytest.raises(TooManyItemsetsError, match="expected at most max_itemsets=5 itemsets, got 60"):
        mine(parts, 2, max_itemsets=5, max_len=1)


def test_progress_and_refusals():
    """Progress counts parts; items that no part has, and parts with other kinds of names, are errors."""
    parts = itemix.partitions([[["a", "b"], ["a"]], [["b"], ["c"]]])
    calls = []
    mine(parts, 0.5, progress=lambda *call: calls.append(call))
    assert calls[:2] == [(1, 4), (2, 4)]
    with pytest.raises(UnknownItemError, match="'z'"):
        mine(parts, 0.5, include=["z"])
    with pytest.raises(InvalidInputError, match="names that are all strings or all integers"):
        itemix.partitions([[["a"]], Transactions.from_matrix(np.eye(2, dtype=bool))])
    for wrong in ([], 3, Transactions.from_lists([["a"]])):
        with pytest.raises(InvalidInputError, match="expected chunks, a list of transactions, or paths, got"):
            itemix.partitions(wrong)


def test_data_that_changed_between_passes():
    """A part that is not as it was is an error, whatever of it changed, and so is a part too many."""
    first, other = (Transactions.from_lists(rows) for rows in ([["a", "b"], ["a"]], [["a"], ["b"], ["a"]]))
    for later in ([other, first], [first, first.sample(1)], [first, first, first]):
        passes = iter([[first, first]])
        parts = Partitions(Reread(lambda passes=passes, later=later: next(passes, later)))
        with pytest.raises(InvalidInputError, match=r"in every pass.*wait until nobody writes to the data"):
            mine(parts, 0.5)
    passes = iter([[first, first], [first]])
    parts = Partitions(Reread(lambda: next(passes)))
    with pytest.raises(InvalidInputError, match="expected 2 parts in every pass, as before, got 1"):
        mine(parts, 0.5)


PEAKS = """
import sys, threading, time
from pathlib import Path
import itemix
from itemix.mining import partitioned

def private():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("RssAnon")))

def watch():
    while True:
        peaks.append(private())
        time.sleep(0.002)

peaks = []
partitioned._TOGETHER_BYTES = 1 << 20
threading.Thread(target=watch, daemon=True).start()
for path in sys.argv[1:]:
    chunks = itemix.read_chunks(path, chunk_bytes=1 << 20)
    peaks.clear()
    itemix.mine(chunks, 0.01, n_jobs=1)
    print(max(peaks))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="NOT TESTED: no /proc to measure memory")
def test_memory_is_bounded_by_chunks(tmp_path):
    """Four times the rows take no more memory; what is mapped of the file does not count."""
    rng = np.random.default_rng(0)
    sizes, paths = (100_000, 300_000, 1_200_000), []
    for n in sizes:
        codes = 10 * (rng.random((n, 10), dtype=np.float32) ** 2 * 50).astype(np.int32) + np.arange(10)
        codes = codes.astype(np.int32)
        codes.sort()
        data = Transactions.from_canonical(np.arange(n + 1) * 10, codes.ravel(), itemix.Items(range(500)))
        paths.append(tmp_path / f"{n}.parquet")
        itemix.write_transactions(data, paths[-1])
    ran = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", PEAKS, *paths], capture_output=True, text=True, check=True
    )
    _, few, many = map(int, ran.stdout.split())
    assert many - few < 20 << 20  # 43 MB of rows more


def test_files_are_parts(tmp_path):
    """A pattern or a list of paths names the parts, which are read with the options of read_transactions."""
    for name, text in (("one.csv", "milk;bread\nmilk\n"), ("two.csv", "beer\nmilk;beer\n")):
        (tmp_path / name).write_text(text)
    expected = mine([["milk", "bread"], ["milk"], ["beer"], ["milk", "beer"]], 0.25)
    for source in (str(tmp_path / "*.csv"), [tmp_path / "one.csv", tmp_path / "two.csv"]):
        parts = itemix.partitions(source, delimiter=";")
        assert repr(parts) == "Partitions(4 x 3 in 2 parts)"
        assert mine(parts, 0.25) == expected
        assert itemix.partitions(parts) is parts
    with pytest.raises(itemix.MissingFileError, match=r"expected files that match .* got none"):
        itemix.partitions(str(tmp_path / "*.parquet"))
