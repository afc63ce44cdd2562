"""Kernels are plain Python functions too: they can be stepped through, and give the same results."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# All of them pass without Numba, but it takes minutes: these are the quick ones.
QUICK = (
    "kernels/test_jit_intrinsics.py",
    "kernels/mining/test_layouts_bitsets.py",
    "kernels/mining/test_layouts_rows.py",
    "kernels/mining/test_layouts.py::test_pairs",
    "kernels/mining/test_layouts.py::test_many_rows",
    "kernels/mining/test_eclat.py::test_equal_to_counting",
    "kernels/mining/test_records.py::test_records_are_placed",
    "kernels/test_lattice_sorting.py",
    "mining/test_mine.py::test_edges",
    "mining/test_mine.py::test_items_that_always_come_together",
)


def test_kernels_without_numba():
    """With NUMBA_DISABLE_JIT=1 the tests of the miner's kernels pass, without a warning."""
    chosen = [str(HERE / name) for name in QUICK]
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout
