"""Small files with the names and columns of the real ones, for those who build the gallery without them.

The notebooks read real data from the folder that ITEMIX_DATA names. Where it is not set, `make docs` has them
read what is made here: a synthetic store, and passengers that never sailed. The pages then say so.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from itemix.data.synthetic import grocery_store

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path) -> Path:
    """Write all files into a folder, and return it."""
    store = grocery_store(6000, random_state=0).to_lists()
    (folder / "groceries").mkdir(parents=True, exist_ok=True)
    with (folder / "groceries" / "groceries.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(store)
    (folder / "online_retail").mkdir(exist_ok=True)
    invoices(store, np.random.default_rng(1)).to_parquet(folder / "online_retail" / "online_retail.parquet")
    (folder / "titanic").mkdir(exist_ok=True)
    passengers(np.random.default_rng(2)).to_csv(folder / "titanic" / "titanic.csv", index=False)
    return folder


def invoices(baskets: list[list[str]], rng: np.random.Generator) -> pd.DataFrame:
    """Return baskets as the lines of a shop's invoices: a year of them, with gaps and cancellations."""
    days = np.sort(rng.integers(0, 365, len(baskets)))
    customers = rng.integers(12_000, 12_600, len(baskets))
    lines = [
        (f"{'C' if cancelled else ''}{536_365 + number}", f"{22_000 + sum(map(ord, name))}", name.upper(),
         -1 if cancelled else int(rng.integers(1, 13)), day, float(customer), country)
        for number, (basket, day, customer) in enumerate(zip(baskets, days, customers, strict=True))
        for cancelled in [rng.random() < 0.02]
        for country in [rng.choice(["United Kingdom", "Germany", "France"], p=[0.9, 0.06, 0.04])]
        # Charcoal and sausages are summer's, and cocoa is not.
        for name in basket
        if not (name in {"charcoal", "sausages", "burger buns"} and not 120 < day < 270)
    ]  # fmt: skip
    names = ["InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "CustomerID", "Country"]
    frame = pd.DataFrame(lines, columns=names)
    frame["InvoiceDate"] = pd.Timestamp("2022-12-01") + pd.to_timedelta(frame["InvoiceDate"], unit="D")
    frame["UnitPrice"] = 2.55
    frame.loc[rng.random(len(frame)) < 0.01, "Description"] = None
    return frame


def passengers(rng: np.random.Generator, n: int = 600) -> pd.DataFrame:
    """Return a table of passengers with categories, numbers, truth values and gaps."""
    sex, pclass = rng.choice(["male", "female"], n, p=[0.65, 0.35]), rng.integers(1, 4, n)
    age = np.where(rng.random(n) < 0.2, np.nan, rng.gamma(6, 5, n).round())
    survived = rng.random(n) < np.where(sex == "female", 0.95, 0.25) - 0.1 * (pclass - 1)
    town = rng.choice(["Southampton", "Cherbourg", "Queenstown"], n, p=[0.7, 0.2, 0.1])
    return pd.DataFrame({
        "survived": survived.astype(int), "pclass": pclass, "sex": sex, "age": age,
        "sibsp": rng.poisson(0.5, n), "parch": rng.poisson(0.4, n),
        "fare": (rng.gamma(2, 20, n) / pclass).round(2),
        "embarked": [name[0] for name in town], "class": np.array(["First", "Second", "Third"])[pclass - 1],
        "who": np.where(age < 16, "child", np.where(sex == "male", "man", "woman")),
        "adult_male": (sex == "male") & ~(age < 16), "deck": rng.choice(["A", "B", "C", None], n),
        "embark_town": town, "alive": np.where(survived, "yes", "no"), "alone": rng.random(n) < 0.6,
    })  # fmt: skip
