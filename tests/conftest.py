"""Fixtures and settings that all tests share."""

import os
import signal
from pathlib import Path

import pytest
from five_baskets import BASKETS
from hypothesis import settings
from inference.planted import planted_mixture
from naive import lattice

# What is tested is the compiled code, also in small tests and in the programs that they start.
os.environ["ITEMIX_COMPILE"] = "now"

settings.register_profile("itemix", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("itemix")


# Workers take whole files in this order, so that none is left with a long one at the end.
LONGEST = {
    "test_sources_pipes.py",
    "test_ctrl_c.py",
    "test_containers.py",
    "test_documentation.py",
    "test_mine_wide.py",
    "test_intervals.py",
    "test_partitions_spark.py",
    "test_first_hour.py",
    "test_report.py",
}


def pytest_configure():
    """Let Ctrl-C interrupt, which a shell turns off for what it runs in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest; skip tests of real data, saying so, where it is not there."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    folder = os.environ.get("ITEMIX_DATA")
    for item in items:
        for mark in item.iter_markers("data"):
            missing = [name for name in mark.args if not folder or not (Path(folder) / name).exists()]
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(missing)} in ITEMIX_DATA"))


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data sets that ITEMIX_DATA names."""
    return Path(os.environ["ITEMIX_DATA"]).resolve()


@pytest.fixture(scope="module")
def data():
    """Transactions of the planted mixture."""
    return planted_mixture().sample(600, random_state=0)


@pytest.fixture
def itemsets():
    """All itemsets of five baskets, and an item that never occurs."""
    return lattice.as_itemsets(BASKETS, 1, items=["beer", "bread", "caviar", "milk"])
