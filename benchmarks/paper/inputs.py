"""The data sets of the experiments, and how each is split."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

import itemix
from itemix.data import synthetic
from itemix.data.datasets import DATA_VARIABLE

from .published import paper

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix import Transactions


@dataclass(frozen=True)
class Input:
    """A data set.

    Attributes
    ----------
    label : str
        Its name in tables.
    min_support : float
        The threshold.
    load : callable
        Returns one part of it by name, or all of it where the name is None.
    parts : tuple of str
        The parts that it comes in; without any, random halves are taken.
    """

    label: str
    min_support: float
    load: Callable[[str | None], Transactions]
    parts: tuple[str, ...] = ()


def _synthetic(name: str) -> Input:
    label = f"Syn-{name.removeprefix('syn')}"
    return Input(label, 0.3, lambda _: synthetic.paper_data(name))


def _named(label: str, name: str, min_support: float, parts: tuple[str, ...] = ()) -> Input:
    return Input(label, min_support, lambda part: itemix.datasets.load(name, part), parts)


def _online_retail(_: str | None) -> Transactions:
    """Return the baskets of Online Retail: an invoice each, without cancellations and returns.

    It is not downloaded: its owners give it as a workbook. It is read from the folder of all data.
    """
    path = Path(os.environ.get(DATA_VARIABLE, "")) / "online_retail" / "online_retail.parquet"
    lines = pd.read_parquet(path, columns=["InvoiceNo", "StockCode", "Quantity"])
    invoice = lines["InvoiceNo"].astype(str)
    sold = lines[~invoice.str.startswith("C") & (lines["Quantity"] > 0)]
    sold = sold.assign(StockCode=sold["StockCode"].astype(str).str.upper())
    return itemix.Transactions.from_long(sold, "InvoiceNo", "StockCode")


_N_HALVES = 50
_MOST_TESTED = 60_000
_SYNTHETIC = ("syn15", "syn25", "syn50", "syn75", "syn140")
_DENSITY = ("nltcs", "plants", "accidents", "tretail", "dna", "kosarek", "msweb")

INPUTS = {
    "chess": _named("chess", "chess", 0.5),
    "mushroom": _named("mushroom", "mushroom", 0.2),
    "accidents": _named("accidents", "accidents_17009", 0.3),
    "msweb": _named("MS Web", "msweb", 0.005, ("train", "test")),
    "groceries": _named("groceries", "groceries", 0.005),
    "retail": _named("retail", "retail", 0.001),
    "online-retail": Input("online retail", 0.01, _online_retail),
    **{f"debd-{name}": _named(name, f"debd-{name}", 0.1, ("train", "valid", "test")) for name in _DENSITY},
    **{name: _synthetic(name) for name in _SYNTHETIC},
    "toy": Input("toy", 0.03, lambda _: synthetic.grocery_store(400)),
}


@lru_cache(maxsize=4)
def whole(name: str) -> Transactions:
    """Return all of a data set."""
    return INPUTS[name].load(None)


@lru_cache(maxsize=4)
def halves(name: str, run: int) -> tuple[Transactions, Transactions]:
    """Return the training and the test part of a run."""
    if INPUTS[name].parts:
        return INPUTS[name].load("train"), INPUTS[name].load("test")
    return whole(name).split(0.5, random_state=run)


@lru_cache(maxsize=4)
def divisions(name: str, run: int) -> tuple[Transactions, Transactions]:
    """Return random halves; of a data set in parts first these, then random parts of the same sizes."""
    train, test = halves(name, run)
    if not INPUTS[name].parts or run == 0:
        return train, test
    rows = itemix.Transactions.from_lists([*train.to_lists(), *test.to_lists()])
    return rows.split(len(train) / len(rows), random_state=run)


@lru_cache(maxsize=2)
def scarce_data(name: str) -> Transactions:
    """Return the data of which little is to train: all, or the first part of what comes in parts."""
    return INPUTS[name].load("train") if INPUTS[name].parts else whole(name)


@lru_cache(maxsize=2)
def fifths(name: str) -> tuple[Transactions, Transactions]:
    """Return four fifths to fit to and a fifth to test on, or the parts that a data set was divided into."""
    if "valid" in INPUTS[name].parts:
        return INPUTS[name].load("train"), INPUTS[name].load("test")
    return scarce_data(name).split(0.8, random_state=0)


@lru_cache(maxsize=4)
def scarce_parts(name: str, share: int, run: int) -> tuple[Transactions, Transactions]:
    """Return a share of it to train, in per cent, and the rest to test, of which some if it is large."""
    train, test = scarce_data(name).split(share / 100, random_state=run)
    return train, test.sample(min(len(test), _MOST_TESTED), random_state=run)


@cache
def _nearest_halves(name: str) -> tuple[int, ...]:
    """Return the numbers of random halves, those first whose test part is most like the paper's."""
    total, threshold = paper()["totals"][name], INPUTS[name].min_support
    found = {run: len(itemix.mine(halves(name, run)[1], threshold, n_jobs=1)) for run in range(_N_HALVES)}
    return tuple(sorted(found, key=lambda run: (abs(found[run] - total), run)))


def alike_halves(name: str, run: int) -> tuple[Transactions, Transactions]:
    """Return the random halves whose test part has nearly as many frequent itemsets as the paper's had.

    The paper says how many there were in its test part, but not how it was chosen. Of 50 random halves, run 0
    has the number nearest to that, run 1 the next, and so on.
    """
    return halves(name, _nearest_halves(name)[run])


@lru_cache(maxsize=2)
def thirds(name: str) -> tuple[Transactions, Transactions, Transactions]:
    """Return the parts to fit to, to choose by, and to report on."""
    if "valid" in INPUTS[name].parts:
        train, valid, test = (INPUTS[name].load(part) for part in ("train", "valid", "test"))
        return train, valid, test
    train, rest = whole(name).split(0.5, random_state=0)
    return train, *rest.split(0.5, random_state=0)
