"""How much memory a fit takes: little, whatever the number of transactions."""

import json
import subprocess
import sys

import pytest

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
