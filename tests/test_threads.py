"""Threads: how many are asked for, and results in the order of the blocks."""

import os
import signal
import threading

import numpy as np
import pytest

from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.threads import Workers, count_threads, interruptible


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


@interruptible()
def sort_forever(rows):
    """Spend all time in a kernel that returns two arrays."""
    while True:
        csr.canonical_rows(*rows)


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX timer")
def test_an_interrupt_in_a_kernel_is_an_interrupt():
    """Ctrl-C while the main thread is in a kernel raises KeyboardInterrupt, and not Numba's SystemError."""
    rows = np.arange(0, 3_000_001, 3), np.tile(np.array([3, 1, 2], dtype=np.int32), 1_000_000)
    csr.canonical_rows(*rows)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            sort_forever(rows)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_errors_stay_what_they_are():
    """A SystemError that no interrupt has caused is handed through."""
    with pytest.raises(SystemError, match="something else"), interruptible():
        raise SystemError("something else")
