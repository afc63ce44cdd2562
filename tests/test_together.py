"""Processes and threads side by side: one cache, forks after threads, calls from many threads."""

import multiprocessing
import os
import subprocess
import sys
import sysconfig
import textwrap
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from itemix import BernoulliMixture, Transactions, mine

ROWS = [[i % 7, 7 + i % 5, 12 + i % 3] for i in range(400)]


def found(_=None):
    """Mine with threads, and return all that was found."""
    return [(itemset.items, itemset.count) for itemset in mine(Transactions.from_lists(ROWS), 4, n_jobs=2)]


def test_two_processes_share_one_cache(tmp_path):
    """Processes that compile the same kernels into one folder at once both work, and leave a good cache."""
    script = """
        import numpy as np
        from itemix.kernels import csr
        indptr, indices = np.array([0, 3, 5]), np.array([2, 1, 0, 4, 3], dtype=np.int32)
        print(csr.canonical_rows(indptr, indices)[1].tolist(), len(csr.canonical_rows.stats.cache_hits))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    both = [subprocess.Popen(command, **output) for _ in range(2)]  # noqa: S603 - our own script
    for process in both:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out[:15], err) == (0, "[0, 1, 2, 3, 4]", "")
    later = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    assert later.stdout == "[0, 1, 2, 3, 4] 1\n"


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_fork_after_threads_works():
    """Threads do not survive a fork: a child makes its own, and finds the same."""
    expected = found()
    BernoulliMixture(2, n_jobs=2, random_state=0, max_iter=500).fit(Transactions.from_lists(ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # later versions of Python warn of any such fork
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(found, range(4)).get(timeout=60) == [expected] * 4


def test_many_threads_at_once():
    """Calls from several threads, each with threads of its own, do not disturb each other."""
    expected = found()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(found, range(32))) == [expected] * 32


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="NOT TESTED: this build of Python has a GIL"
)
def test_a_free_threaded_build_stays_free():
    """Nothing that itemix imports switches the GIL on."""
    script = "import itemix, sys; itemix.mine([[1, 2]], 1); assert not sys._is_gil_enabled()"
    subprocess.run([sys.executable, "-c", script], check=True)  # noqa: S603 - our own script
