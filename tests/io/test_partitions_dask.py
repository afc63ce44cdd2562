"""Parts on a Dask cluster of two processes, which is started once for this file."""

import os
import signal
import threading
import time

import pytest
from sorted_baskets import LISTS, WHOLE, check, check_fit, run_guide

import itemix
from itemix import EngineError, InvalidInputError, mine
from itemix._runtime import interruptible
from itemix.io import partitions as module


@pytest.fixture(scope="module")
def dask_client():
    """Two processes of Dask, with one thread each."""
    dask = pytest.importorskip("dask", reason="NOT TESTED: Dask is not installed")
    distributed = pytest.importorskip("distributed", reason="NOT TESTED: Dask is not installed")
    quiet = {"distributed.admin.log-length": 0, "distributed.scheduler.allowed-failures": 2}
    with (
        dask.config.set({**quiet, "logging.distributed": "critical"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def broken(part):
    """Fail for a part that has more transactions than some."""
    if part.n_transactions > 100:
        raise KeyError("a part that fails")
    return part


def test_dask(dask_client, tmp_path):
    """Bags of lists, long tables and files are mined where they lie; errors of a part come as they are."""
    import dask.bag
    import dask.dataframe

    parts = itemix.from_dask(dask.bag.from_sequence(LISTS, npartitions=3))
    assert len(parts.sizes) == 3
    check(parts)
    model = check_fit(parts)
    assert mine(model, 0.05, verify=parts) == mine(WHOLE, 0.05)
    long = dask.dataframe.from_pandas(WHOLE.to_long("basket", "name"), npartitions=2)
    shuffled = itemix.from_dask(long, transaction="basket", item="name", client=dask_client)
    assert mine(shuffled, 50) == mine(WHOLE, 50)
    for number, part in enumerate(WHOLE.split(0.3, random_state=0)):
        itemix.write_transactions(part, tmp_path / f"{number}.parquet")
    check(itemix.partitions(str(tmp_path / "*.parquet"), client=dask_client))
    with pytest.raises(KeyError, match="a part that fails"):
        list(parts.map(broken))
    with pytest.raises(InvalidInputError, match="expected a Dask data frame or bag, got list"):
        itemix.from_dask([["a"]])


def test_the_guide_on_dask(dask_client, tmp_path):
    """What it says is what happens."""
    import dask.dataframe

    found = run_guide(0, tmp_path, client=dask_client, dask=dask)
    assert found["found"] == found["verified"] == mine(found["sales"], 0.05)
    assert found["found_in_lines"] == mine(WHOLE, 0.05)


def lost_once(part, marker):
    """End the process of a worker, the first time."""
    if not os.path.exists(marker):  # noqa: PTH110 - a path goes to another process
        with open(marker, "w"):  # noqa: PTH123 - as above
            os.kill(os.getpid(), signal.SIGKILL)
    return part.n_transactions


def lost_always(_part):
    """End the process of a worker."""
    os.kill(os.getpid(), signal.SIGKILL)


def slow(_part):
    """Take a while."""
    time.sleep(2)


def test_dask_workers_that_are_lost(dask_client, tmp_path):
    """A worker killed in the middle of a pass costs time only; a part that always kills is a clear error."""
    import dask.bag

    parts = itemix.from_dask(dask.bag.from_sequence(LISTS, npartitions=3), client=dask_client)
    marker = str(tmp_path / "killed")
    assert tuple(parts.map(lost_once, [marker] * 3)) == parts.sizes
    assert mine(parts, 0.05) == mine(WHOLE, 0.05)
    with pytest.raises(EngineError, match="expected workers that finish their parts, got KilledWorker"):
        list(parts.map(lost_always))


def test_ctrl_c_ends_a_pass(dask_client):
    """A signal ends a pass at once, the cluster does not go on with it, and can be used again."""
    import dask.bag

    parts = itemix.from_dask(dask.bag.from_sequence(LISTS, npartitions=2), client=dask_client)
    began = time.monotonic()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible()(list)(parts.map(slow))
    assert time.monotonic() - began < 2
    assert mine(parts, 0.05) == mine(WHOLE, 0.05)


def test_a_cluster_without_workers(dask_client, monkeypatch):
    """A cluster whose workers have all ended is a clear error, not a wait without end."""
    import distributed

    monkeypatch.setattr(module, "_ALONE_SECONDS", 0.2)
    monkeypatch.setattr(module, "_ASK_SECONDS", 0.05)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(EngineError, match="expected workers in the Dask cluster, got none for"),
    ):
        itemix.partitions(["a.csv"], client=client)
