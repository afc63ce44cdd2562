"""Parts on Spark, which is started once for this file, with little memory and few optimisations."""

import os
import shutil
import sys

import pytest
import sorted_baskets
from sorted_baskets import LISTS, WHOLE, check, check_fit, run_guide

import itemix
from itemix import InvalidInputError, mine


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
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.showConsoleProgress": "false",
        "spark.task.maxFailures": "1",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.sparkContext.addPyFile(sorted_baskets.__file__)
    yield session
    session.stop()


def broken(part):
    """Fail for a part that has more transactions than some."""
    if part.n_transactions > 100:
        raise KeyError("a part that fails")
    return part


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark(spark, tmp_path):
    """Columns of lists and long tables are mined where they lie; errors of a part are raised as they are."""
    frame = spark.createDataFrame([(row,) for row in LISTS], "items array<string>").repartition(3)
    parts = itemix.from_spark(frame)
    assert len(parts.sizes) == 3
    check(parts)
    check_fit(parts)
    pairs = [(number, name) for number, row in enumerate(LISTS) for name in row]
    long = spark.createDataFrame(pairs, "basket long, name string")
    grouped = itemix.from_spark(long, transaction="basket", item="name")
    assert mine(grouped, 50) == mine(WHOLE, 50)
    found = run_guide(1, tmp_path, spark=spark)
    assert found["found"] == found["found_in_lines"] == mine(WHOLE, 0.05)
    assert len(found["rules"]) > 0
    with pytest.raises(KeyError, match="a part that fails"):
        list(parts.map(broken))
    with pytest.raises(InvalidInputError, match="expected a Spark data frame, got list"):
        itemix.from_spark([["a"]])
