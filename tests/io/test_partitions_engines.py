"""Parts on real engines: two processes of Dask, and Spark. Each engine is started once for this file."""

import os
import shutil
import signal
import sys
import time

import numpy as np
import pytest

import itemix
from itemix import EngineError, InvalidInputError, Transactions, mine
from itemix._runtime import deadline

TX = itemix.datasets.load("grocery_store").sample(900, random_state=0)
LISTS = sorted(TX.to_lists())  # sorted: each part has its own kind of baskets
WHOLE = Transactions.from_lists(LISTS)


@pytest.fixture(scope="module")
def dask_client():
    """Two processes of Dask, with one thread each."""
    dask = pytest.importorskip("dask", reason="NOT TESTED: Dask is not installed")
    distributed = pytest.importorskip("distributed", reason="NOT TESTED: Dask is not installed")
    quiet = {"distributed.admin.log-length": 0, "distributed.scheduler.allowed-failures": 2}
    with (
        dask.config.set({**quiet, "logging.distributed": "critical"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def spark():
    """Spark with two threads, each of which starts a Python process."""
    if shutil.which("java") is None:
        pytest.skip("NOT TESTED: there is no Java for Spark")
    sql = pytest.importorskip("pyspark.sql", reason="NOT TESTED: Spark is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
        "spark.task.maxFailures": "1",
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def broken(part):
    """Fail for a part that has more transactions than some."""
    if part.n_transactions > 200:
        raise KeyError("a part that fails")
    return part


def check(parts):
    """Check that parts give what all transactions at once give, in the second pass as well."""
    assert (parts.items, parts.n_transactions) == (WHOLE.items, WHOLE.n_transactions)
    assert mine(parts, 0.02) == mine(WHOLE, 0.02)
    assert mine(parts, 0.05, target="closed", n_jobs=2) == mine(WHOLE, 0.05, target="closed")
    np.testing.assert_array_equal(parts.item_counts(), WHOLE.item_counts())


def test_dask(dask_client, tmp_path):
    """Bags of lists, long tables and files are mined where they lie; errors of a part come as they are."""
    import dask.bag
    import dask.dataframe

    parts = itemix.from_dask(dask.bag.from_sequence(LISTS, npartitions=3))
    assert len(parts.sizes) == 3
    check(parts)
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
    """Ctrl-C ends a pass at once, and the cluster does not go on with it."""
    import dask.bag

    parts = itemix.from_dask(dask.bag.from_sequence(LISTS, npartitions=2), client=dask_client)

    def interrupt():
        raise KeyboardInterrupt

    began = time.monotonic()
    with deadline(interrupt), pytest.raises(KeyboardInterrupt):
        list(parts.map(slow))
    assert time.monotonic() - began < 2


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark(spark):
    """Columns of lists and long tables are mined where they lie; errors of a part are raised as they are."""
    frame = spark.createDataFrame([(row,) for row in LISTS], "items array<string>").repartition(3)
    parts = itemix.from_spark(frame)
    assert len(parts.sizes) == 3
    check(parts)
    pairs = [(number, name) for number, row in enumerate(LISTS) for name in row]
    long = spark.createDataFrame(pairs, "basket long, name string")
    grouped = itemix.from_spark(long, transaction="basket", item="name")
    assert mine(grouped, 50) == mine(WHOLE, 50)
    with pytest.raises(KeyError, match="a part that fails"):
        list(parts.map(broken))
    with pytest.raises(InvalidInputError, match="expected a Spark data frame, got list"):
        itemix.from_spark([["a"]])
