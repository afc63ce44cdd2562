"""Recommendation: how often what was left out of a basket is found, by us and by the baselines, in one run.

python benchmarks/recommendation.py --data FOLDER [--output docs/benchmarks/recommendation.md]
    [--picture docs/pictures/reliability.png] [--only NAME]
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from mining import machine
from pages import page_parser, parse, publish
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import itemix
from itemix.inference.affinity import Cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix import Transactions
    from itemix._typing import Floats
    from itemix.evaluation.recommendations import RankingScore
    from itemix.fitted import FittedModel

    Reliability = dict[str, tuple[Floats, Floats]]

T = TypeVar("T")

# So many test baskets are enough for a standard error of about one per cent.
MOST_BASKETS = 3_000
COLUMNS = (
    "data",
    "recommender",
    "NDCG@10",
    "error",
    "hit rate",
    "coverage",
    "learned in",
    "baskets a second",
)


def online_retail(path: Path) -> Transactions:
    """Read the invoices of Online Retail: without cancellations, codes in upper case."""
    import pandas as pd

    lines = pd.read_parquet(path)
    sold = lines[~lines["InvoiceNo"].astype(str).str.startswith("C") & (lines["Quantity"] > 0)]
    pairs = pd.DataFrame(
        {"invoice": sold["InvoiceNo"].astype(str), "item": sold["StockCode"].astype(str).str.upper()}
    )
    return itemix.Transactions.from_long(pairs.drop_duplicates(), "invoice", "item")


class Case(NamedTuple):
    """A data set: how it is read, the threshold of support for rules, and how many trees there are."""

    name: str
    path: str
    read: Callable[[Path], Transactions]
    min_support: float
    n_trees: int


CASES = [
    Case("groceries", "groceries/groceries.csv", itemix.read_transactions, 0.001, 20),
    Case("MS Web", "msweb/train.dat", itemix.read_transactions, 0.001, 20),
    Case("online retail", "online_retail/online_retail.parquet", online_retail, 0.005, 10),
    Case("retail", "retail/retail.dat.gz", itemix.read_transactions, 0.0005, 0),
]


def neighbours(train: Transactions, test: Transactions) -> float:
    """Return the NDCG of item-item neighbours: the sum of cosines with the items of the basket."""
    data = train.to_scipy().astype(np.float32)
    lengths = np.sqrt(np.maximum(train.item_counts(), 1)).astype(np.float32)
    unit = data @ sparse.diags_array(1 / lengths)
    cosines = (unit.T @ unit).tocsr()
    cases = Cases.of(test.to_scipy(), np.random.default_rng(0))
    gains, weights = [], []
    for rows in np.array_split(np.arange(len(cases.left_out)), 40):
        part = cases.take(rows)
        gains.append(part.gain((part.baskets @ cosines).toarray()))
        weights.append(part.weights.sum())
    return float(np.average(gains, weights=weights))


def row_of(case: str, label: str, score: RankingScore, learned: float | None, speed: float | None) -> str:
    """Return a row of the table."""
    cells = [
        case,
        label,
        f"{score.ndcg:.4f}",
        f"{score.ndcg_error:.4f}",
        f"{score.hit_rate:.3f}",
        f"{100 * score.coverage:.0f}%",
        "" if learned is None else f"{learned:.1f} s",
        "" if speed is None else f"{speed:,.0f}",
    ]
    return shown(cells)


def shown(cells: list[str]) -> str:
    """Print a row, and return it."""
    row = f"| {' | '.join(cells)} |"
    print(row, flush=True)
    return row


def timed(make: Callable[[], T]) -> tuple[T, float]:
    """Return what a function makes, and how long it took."""
    begin = time.perf_counter()
    return make(), time.perf_counter() - begin


def measure(case: Case, folder: Path) -> tuple[list[str], Reliability]:
    """Evaluate all recommenders on one data set; return rows, and chances with what came of them."""
    train, test = case.read(folder / case.path).split(0.8, random_state=0)
    if len(test) > MOST_BASKETS:
        test = test.sample(MOST_BASKETS, random_state=0)
    rows = []

    def evaluated(label: str, source: Any, seconds: float) -> None:  # noqa: ANN401 - a model or rules
        found, asking = timed(partial(itemix.evaluate_recommendations, source, test))
        rows.append(row_of(case.name, label, found.rows[0], seconds, found.n_left_out / asking))

    rules, seconds = timed(
        lambda: itemix.rules(itemix.mine(train, case.min_support, max_len=4), min_threshold=0.02)
    )
    baselines = itemix.evaluate_recommendations(rules, test, train=train)
    rows.append(row_of(case.name, "popularity", baselines.score("popularity"), None, None))
    rows.append(shown([case.name, "item-item", f"{neighbours(train, test):.4f}", *[""] * 5]))
    evaluated("rules", rules, seconds)
    rows.append(row_of(case.name, "EASE", baselines.score("ease"), None, None))
    mixture = itemix.BayesianMixture(50, init="random", beta="learn", random_state=0)
    chances: Reliability = {}
    fits: dict[str, Any] = {"mixture": mixture}
    if case.n_trees:
        fits["trees"] = itemix.ChowLiuMixture(case.n_trees, random_state=0)
    for label, model in fits.items():
        _, seconds = timed(partial(model.fit, train))
        evaluated(label, model, seconds)
        better, learning = timed(partial(itemix.learn_recommender, model, train))
        evaluated(f"{label}, learned", better, seconds + learning)
        if label == "mixture":
            chances[case.name] = reliability(better, test)
    return rows, chances


def reliability(fitted: FittedModel, test: Transactions) -> tuple[Floats, Floats]:
    """Return the chances of items given the rest of their baskets, and whether they were there.

    Present items are asked for one at a time; all absent ones at once.
    """
    known = test.to_scipy()[:1500]
    cases = Cases.of(known, np.random.default_rng(0), 5)
    model, affinity = fitted.value, fitted.affinity
    assert affinity is not None  # noqa: S101 - it has learned

    def asked(baskets: Any) -> Floats:  # noqa: ANN401 - a sparse array
        sets = itemix.Transactions(baskets.indptr, baskets.indices, model.items)
        whole = model.items_completing_each(sets.indptr, sets.indices)
        return affinity.combine(whole, sets.indptr, sets.indices)

    there = np.concatenate(
        [
            asked(cases.baskets[rows])[np.arange(len(rows)), cases.left_out[rows]]
            for rows in np.array_split(np.arange(len(cases.left_out)), 20)
        ]
    )
    # A present item stands for all of its basket that were not left out.
    weight = cases.weights * np.diff(known.indptr)[cases.basket]
    others, counts = [], []
    edges = np.linspace(-14, 6, 41)
    for rows in np.array_split(np.flatnonzero(np.diff(known.indptr) > 0), 20):
        found = asked(known[rows])
        found[found == 1] = np.nan
        logits = np.log(found / (1 - found)).ravel()
        logits = logits[np.isfinite(logits)]
        others.append(np.histogram(logits, edges, weights=1 / (1 + np.exp(-logits)))[0])
        counts.append(np.histogram(logits, edges)[0])
    logits = np.log(there / (1 - there))
    present = np.histogram(logits, edges, weights=weight)[0]
    total = present + np.sum(counts, axis=0)
    expected = np.histogram(logits, edges, weights=weight * there)[0] + np.sum(others, axis=0)
    usable = present >= 10
    return expected[usable] / total[usable], present[usable] / total[usable]


def draw(chances: Reliability, path: Path) -> None:
    """Draw how often items were there, by how probable they were said to be."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4.2), layout="constrained")
    axes.plot([1e-4, 1], [1e-4, 1], color="0.7", linewidth=1)
    for name, (said, came) in chances.items():
        axes.plot(said, came, marker="o", markersize=3, linewidth=1, label=name)
    axes.set(xscale="log", yscale="log", xlabel="probability that was given", ylabel="how often it was there")
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def main() -> None:
    """Measure every data set, and write the page."""
    parser = page_parser(__doc__ or "")
    parser.add_argument("--picture", type=Path, help="draw the reliability diagram to this file")
    parser.add_argument("--only", help="measure this data set only")
    arguments, folder = parse(parser)
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows: list[str] = []
    chances: Reliability = {}
    for case in CASES:
        if arguments.only in (None, case.name):
            own, said = measure(case, folder)
            rows += own
            chances |= said
    if arguments.picture is not None:
        draw(chances, arguments.picture)
    table = "\n".join([f"| {' | '.join(COLUMNS)} |", "|---|---|" + "---:|" * (len(COLUMNS) - 2), *rows])
    publish(PAGE.format(machine=machine(), n=MOST_BASKETS, table=table), arguments.output)


PAGE = """# Recommendation: what is found again

Measured by `benchmarks/recommendation.py` on {machine}.
Four fifths of each data set are learned from. Of the others, at most {n:,} baskets, up to five items are left
out one at a time, and ten are recommended for the rest. *NDCG@10* is the mean of 1 / log2(1 + rank) of what
was left out, with its standard error. *Learned* is the same model after `itemix.learn_recommender`; its time
includes that of the fit. EASE's ridge is chosen on a fifth of the training data. Of retail's 16,470 items it
has the 5,000 most frequent, as has the learned recommender; no trees were fitted to them. That an item keeps
its 300 strongest terms was settled by looking at one of these data sets, and so may favour us a little there.
What `itemix.fit` makes, and whether its probabilities are right, is in
[the results](../results.md#what-itemixfit-makes).

{table}

## Are the probabilities right?

Items of test baskets, given the rest of the basket: how probable the learned recommender said they were, and
how often they were there. Points have ten present items or more. What is calibrated are regressions of four
fifths of the training data, not those of all of it that are used. This may be why small probabilities are
a little low on online retail, up to about a third between 0.1% and 3%; it was not tested.

![Reliability of the probabilities](../pictures/reliability.png)
"""


if __name__ == "__main__":
    main()
