"""Threads: how many are asked for, and results in the order of the blocks."""

import threading
import time

import pytest

from itemix._runtime import Workers, count_threads
from itemix.errors import InvalidInputError


def test_numbers_of_threads():
    """None is one; a positive number is itself; negative ones count from all processors."""
    everything = count_threads(-1)
    assert count_threads(None) == 1
    assert count_threads(3) == 3
    assert everything >= 1
    assert count_threads(-2) == max(1, everything - 1)
    assert count_threads(-1000) == 1
    for wrong in (0, 1.5, "2", True):
        with pytest.raises(InvalidInputError, match="expected n_jobs as a number of threads"):
            count_threads(wrong)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_results_come_in_order(n_threads):
    """Whatever block ends first, results are in the order of the blocks."""
    first_may_end = threading.Event()

    def work(block):
        if block == 0 and n_threads > 1:
            assert first_may_end.wait(timeout=10)
        first_may_end.set()
        return block * block

    with Workers(n_threads) as workers:
        assert workers.map(work, 5) == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_errors_come_through(n_threads):
    """An error in a block is the caller's."""

    def fail(block):
        raise ZeroDivisionError(block)

    with Workers(n_threads) as workers, pytest.raises(ZeroDivisionError):
        workers.map(fail, 3)


def test_the_caller_works_too():
    """Blocks that need each other at the same time are served by the caller and its helpers."""
    together = threading.Barrier(2, timeout=10)

    def work(block):
        together.wait()
        return threading.current_thread()

    with Workers(2) as workers:
        first, second = workers.map(work, 2)
    assert threading.current_thread() in (first, second)
    assert first is not second


def test_blocks_may_have_blocks():
    """A block that waits for blocks of its own does not wait for helpers that are all busy."""
    with Workers(2) as workers:
        found = workers.map(lambda block: sum(workers.map(lambda inner: 10 * block + inner, 3)), 4)
    assert found == [3, 33, 63, 93]


def test_nothing_is_begun_after_an_error():
    """An error in one thread ends the work of all: the others finish what they have begun, and no more."""
    caller, helper_works, seen = threading.current_thread(), threading.Event(), []

    def work(block):
        if threading.current_thread() is caller:
            assert helper_works.wait(timeout=10)
            raise ZeroDivisionError
        seen.append(block)
        helper_works.set()
        time.sleep(0.02)

    with Workers(2) as workers, pytest.raises(ZeroDivisionError):
        workers.map(work, 100)
    assert len(seen) < 50
