"""The search behind `mine`: threads, limits, memory, interrupts, progress."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from math import comb

import numpy as np
import pytest

import itemix
from itemix import InvalidInputError, TooManyItemsetsError, Transactions
from itemix.kernels.mining.records import SearchLimits
from itemix.mining import exact, search
from itemix.mining.search import UNBOUNDED

TARGETS = ("all", "closed", "maximal")
every_target = pytest.mark.parametrize("target", TARGETS)
both_layouts = pytest.mark.parametrize("sparse", [False, True], ids=["bitsets", "projections"])

N_ITEMS = 60


def lacking_one(n=N_ITEMS, n_empty=0):
    """Return n rows of which each lacks another of n items: a set of k items is in n - k rows.

    With many items every target has more sets than fit into memory; empty rows make the data sparse.
    """
    return [[item for item in range(n) if item != row] for row in range(n)] + [[]] * n_empty


def limits(**changes):
    """Return limits that stop nothing, but for some changes."""
    no_limits = {"max_len": UNBOUNDED, "max_itemsets": UNBOUNDED, "max_bytes": UNBOUNDED}
    return SearchLimits(**{"min_count": 1, "min_len": 1} | no_limits | changes)


def explosive(sparse):
    """Return data whose sets fit into no memory, in one of the two layouts."""
    return Transactions.from_lists(lacking_one(n_empty=10 * N_ITEMS if sparse else 0))


@both_layouts
@every_target
@pytest.mark.parametrize("n_threads", [1, 2])
def test_too_many_itemsets(target, sparse, n_threads):
    """The error says what was expected, how many sets there were, and what to try."""
    with pytest.raises(TooManyItemsetsError) as caught:
        itemix.mine(explosive(sparse), 30, target=target, max_itemsets=20_000, n_jobs=n_threads)
    found = caught.value.n_found
    assert 20_000 < found < 10**6
    others = {"all": ", target='closed' or 'maximal', or top_k=", "closed": ", target='maximal', or top_k="}
    assert str(caught.value) == (
        f"expected at most max_itemsets=20,000 itemsets, got {found:,} and more; try a higher min_support "
        "than 30 transactions, " + (f"max_len={others[target]}" if target in others else "or max_len=")
    )
    assert isinstance(caught.value, MemoryError)


def test_more_than_memory_holds():
    """Without a limit of their own, itemsets may take half of the free memory: 2^60 of them do not fit."""
    message = r"^expected itemsets that fit into half of the free memory, got [\d,]+ and more; try max_len="
    with pytest.raises(TooManyItemsetsError, match=message):
        itemix.mine([[*range(60)]] * 5, 1.0)


@both_layouts
@every_target
def test_as_many_as_allowed(target, sparse):
    """Exactly `max_itemsets` sets are returned, one more is an error; those not asked for do not count."""
    rows = lacking_one(9, n_empty=100 if sparse else 0)
    for chosen in ({}, {"min_len": 3}, {"max_len": 2}, {"include": [0]}, {"include": [0, 1], "min_len": 3}):
        n = len(itemix.mine(rows, 4, target=target, **chosen))
        if n == 0:
            continue
        assert len(itemix.mine(rows, 4, target=target, max_itemsets=n, **chosen)) == n
        if n > 1:
            with pytest.raises(TooManyItemsetsError):
                itemix.mine(rows, 4, target=target, max_itemsets=n - 1, **chosen)


@both_layouts
def test_only_sets_that_are_asked_for_count(sparse):
    """Of 2^20 sets only one is long enough: no limit is reached on the way to it."""
    rows = [[*range(20)]] * 3 + [[]] * (40 if sparse else 0)
    assert len(itemix.mine(rows, 3, min_len=20, max_itemsets=1)) == 1
    with pytest.raises(TooManyItemsetsError):
        itemix.mine(rows, 3, min_len=19, max_itemsets=20)
    assert len(itemix.mine(rows, 3, min_len=19, max_itemsets=21)) == 21


@both_layouts
def test_steps_take_memory_too(sparse):
    """Sets on the way to longer ones take memory, also where no set is long enough in the end."""
    tx = Transactions.from_lists(lacking_one(20, n_empty=250 if sparse else 0))
    wanted = limits(min_count=10, min_len=11)
    assert exact.mine_exact(tx, "all", wanted, 1).n_sets == 0
    with pytest.raises(search.SearchStopped):
        exact.mine_exact(tx, "all", wanted._replace(max_bytes=10**6), 1)


SCRIPT_OF_MEMORY = """
    import resource, itemix

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    rows = [[i for i in range(60) if i != t] for t in range(60)]
    for start in (rows, rows + [[]] * 600):
        for target in ("all", "closed", "maximal"):
            itemix.mine(start, 59, target=target)
    before = peak()
    for data in (rows, rows + [[]] * 600, [[*range(60)]] * 5):
        for options in ({"target": "all"}, {"target": "closed"}, {"target": "maximal"},
                        {"top_k": 10}, {"top_k": 10, "target": "closed"}, {"min_len": 25}, {"max_len": 25}):
            try:
                itemix.mine(data, 30 if len(data) > 5 else 5, **{"max_itemsets": 50_000, **options})
            except itemix.TooManyItemsetsError as error:
                assert 50_000 < error.n_found
    print(peak() - before)
"""


@pytest.mark.skipif(os.name != "posix", reason="asks a POSIX system for its memory")
def test_explosions_take_no_memory():
    """Whatever is asked for, a search that would return 2^60 sets ends soon and has taken next to nothing."""
    script = [sys.executable, "-c", textwrap.dedent(SCRIPT_OF_MEMORY)]
    taken = subprocess.run(script, capture_output=True, text=True, check=True, timeout=300)  # noqa: S603
    assert int(taken.stdout) < 100e6


@both_layouts
@every_target
def test_limit_in_bytes(target, sparse):
    """A search stops when what it has found would take more bytes than it may."""
    with pytest.raises(search.SearchStopped) as stopped:
        exact.mine_exact(explosive(sparse), target, limits(min_count=30, max_bytes=2 * 10**6), 1)
    assert 5000 < stopped.value.n_found < 250_000


@pytest.mark.parametrize("k", [1, 60, 61, 5000])
def test_top_k_of_an_explosion(k):
    """The k most frequent sets of data with 2^60 of them are found without finding the others."""
    found = itemix.mine(lacking_one(), top_k=k)
    assert found.count.tolist() == sorted(found.count, reverse=True)
    assert np.bincount(found.lengths).tolist() == {
        1: [0, 1], 60: [0, 60], 61: [0, 60, 1], 5000: [0, 60, 1770, 3170],
    }[k]  # fmt: skip
    identical = itemix.mine([[*range(60)]] * 5, top_k=k)
    assert np.array_equal(identical.lengths, found.lengths)
    assert itemix.mine([[*range(60)]] * 5, top_k=k, target="closed").lengths.tolist() == [60]


SCRIPT_OF_INTERRUPT = """
    import sys, itemix

    rows = [[i for i in range(60) if i != t] for t in range(60)] + [[]] * int(sys.argv[2])
    itemix.mine(rows, 59, target=sys.argv[1])
    print("started", flush=True)
    try:
        itemix.mine(rows, 30, target=sys.argv[1])
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.parametrize(("target", "n_empty"), [("all", 0), ("closed", 600), ("maximal", 0)])
def test_ctrl_c_stops_a_search(target, n_empty):
    """A search that would take forever ends within a second of Ctrl-C (here three, for slow machines)."""
    script = [sys.executable, "-c", textwrap.dedent(SCRIPT_OF_INTERRUPT), target, str(n_empty)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout.readline() == "started\n"
        time.sleep(0.5)
        assert process.poll() is None
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert time.monotonic() - sent < 3
    assert output == "interrupted\n"
    assert process.returncode == 0


@both_layouts
@every_target
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_is_told(target, sparse, n_jobs):
    """A function hears how many of the frequent items are done, up to all of them."""
    rows = lacking_one(12, n_empty=150 if sparse else 0)
    told = []
    itemix.mine(rows, 5, target=target, n_jobs=n_jobs, progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (12, 12)
    assert told == sorted(told)
    assert {total for _, total in told} == {12}


def test_an_error_in_progress_ends_the_search():
    """What the function raises comes out, and no thread goes on."""

    def stop(done, total):
        raise InvalidInputError("enough")

    started = time.monotonic()
    with pytest.raises(InvalidInputError, match="enough"):
        itemix.mine(lacking_one(), 30, target="maximal", n_jobs=2, progress=stop)
    assert time.monotonic() - started < 5


def test_no_progress_without_a_terminal(capfd):
    """A bar is for people: where nobody looks, nothing is written."""
    itemix.mine(lacking_one(), 59, progress=True)
    assert capfd.readouterr() == ("", "")


SCRIPT_OF_BAR = """
    import itemix

    itemix.mine([[i for i in range(18) if i != t] for t in range(18)], 1, progress=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX terminal")
def test_progress_on_a_terminal():
    """On a terminal a bar says how many items are done."""
    import pty

    ours, theirs = pty.openpty()
    script = [sys.executable, "-c", textwrap.dedent(SCRIPT_OF_BAR)]
    subprocess.run(script, stderr=theirs, check=True, timeout=60, env={**os.environ, "TERM": "xterm"})  # noqa: S603
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "mining" in shown
    assert "18/18" in shown


@pytest.mark.parametrize("n_jobs", [None, -1, -50, 40, np.int64(2)])
def test_any_number_of_threads(n_jobs):
    """None, negative numbers and more threads than items all give the same result."""
    rows = lacking_one(9)
    found = itemix.mine(rows, 1, n_jobs=n_jobs)
    assert np.bincount(found.lengths).tolist() == [0, *(comb(9, k) for k in range(1, 9))]
    assert found == itemix.mine(rows, 1, n_jobs=1)


def test_items_alone_need_no_search():
    """With max_len=1 time does not grow with the pairs of items, and limits hold as elsewhere."""
    n = 50_000
    data = Transactions([0, n, n + 1], [*range(n), 7], range(n))
    began = time.process_time()
    found = itemix.mine(data, 1, max_len=1)
    assert time.process_time() - began < 10  # looking at all pairs takes 40 s
    assert len(found) == n
    assert sorted(found.count.tolist())[-2:] == [1, 2]
    with pytest.raises(TooManyItemsetsError, match="expected at most max_itemsets=10 itemsets, got"):
        itemix.mine(data, 1, max_len=1, max_itemsets=10)
