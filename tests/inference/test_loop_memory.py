"""How much memory a fit takes: little, whatever the number of transactions."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from itemix import (
    BayesianMixture,
    BernoulliMixture,
    ChowLiuMixture,
    ChowLiuTree,
    DirichletProcessMixture,
    MaxEntropyModel,
    NotEnoughMemoryError,
    Transactions,
    _runtime,
)
from itemix.estimators.maxent import MOST_SETS

SCRIPT = """
import gc, json, sys, warnings
from pathlib import Path
import numpy as np
import itemix

warnings.simplefilter("ignore")

def resident(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(field)))

def rows(n, length, n_items):
    rng = np.random.default_rng(0)
    gaps = rng.integers(1, n_items // length, (n, length), dtype=np.int32, endpoint=True)
    codes = np.cumsum(gaps, axis=1, dtype=np.int32) - 1
    return itemix.Transactions(np.arange(n + 1) * length, codes.ravel(), range(n_items))

def fit(data, n_components):
    settings = {"max_iter": 2, "n_jobs": 2, "random_state": 0}
    itemix.BernoulliMixture(n_components, **settings).fit(data)
    itemix.DirichletProcessMixture(n_components, **settings).fit(data)
    sampling = settings | {"inference": "gibbs", "n_samples": 1, "thin": 1, "max_iter": 1}
    itemix.BayesianMixture(n_components, **sampling).fit(data)

fit(rows(500, 5, 200), 3)
found = []
for n, length in ((20_000, 20), (120_000, 100), (1_000_000, 10)):
    data = rows(n, length, 200)
    gc.collect()
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    fit(data, 4)
    found.append(resident("VmHWM") - before)
    del data
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of resident memory from /proc")
def test_the_memory_of_a_fit_does_not_grow_with_the_data():
    """Beyond its input, a fit takes less than 300 MB and 16 bytes for each cell of the model and thread.

    The three data sets are small; as large as is still copied to be sorted; and larger than that.
    """
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    allowed = 300e6 + 16 * 4 * 200 * 2
    assert max(found) < allowed, found
    assert found[2] < found[1] + 100e6, found


K, N_ITEMS = 5_000, 1_000_000


@pytest.mark.parametrize(
    ("estimator", "needed"),
    [
        (BernoulliMixture(K), "242.1"),
        (BernoulliMixture(K, correction=2), "242.1"),
        (BayesianMixture(K), "484.3"),
        (DirichletProcessMixture(K), "484.3"),
        (BayesianMixture(K, inference="gibbs", n_init=2, n_samples=3), "1,466.8"),
        (DirichletProcessMixture(K, inference="gibbs"), "302.7"),
        (ChowLiuMixture(K), "605.8"),
    ],
    ids=str,
)
def test_a_model_that_does_not_fit_is_refused_before_it_is_made(estimator, needed, monkeypatch):
    """The message says what is needed, what there is, and what to lower."""
    monkeypatch.setattr(_runtime, "free_memory", lambda: 8 << 30)
    data = Transactions(np.arange(K + 1), np.arange(K, dtype=np.int32), range(N_ITEMS))
    message = (
        f"expected {needed} GiB of memory for 5,000 components of 1,000,000 items, got 8.0 GiB; lower "
        "n_components, or leave out rare items with select_items"
    )
    with pytest.raises(NotEnoughMemoryError, match=message):
        estimator.fit(data)
    assert isinstance(NotEnoughMemoryError("x"), MemoryError)


@pytest.mark.parametrize("estimator", [ChowLiuTree(), ChowLiuMixture("auto")], ids=str)
def test_trees_of_too_many_items_are_refused_before_they_are_made(estimator, monkeypatch):
    """Also before a number of components is chosen; the message names no setting that would not help."""
    monkeypatch.setattr(_runtime, "free_memory", lambda: 1 << 29)
    data = Transactions(np.arange(K + 1), np.arange(K, dtype=np.int32), range(N_ITEMS))
    message = "expected 1.1 GiB of memory for a tree of 1,000,000 items, got 0.5 GiB; leave out rare items"
    with pytest.raises(NotEnoughMemoryError, match=message):
        estimator.fit(data)


def test_constraints_of_maximum_entropy_take_little_memory():
    """A million is the most there can be, and less than a gigabyte is never refused."""
    draws = np.random.default_rng(0).random((1500, 700)) < 0.03
    data = Transactions.from_matrix(draws)
    tracemalloc.start()
    model = MaxEntropyModel(min_support=0.005, max_len=2).fit(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak / model.n_constraints_ * MOST_SETS < 1 << 30
