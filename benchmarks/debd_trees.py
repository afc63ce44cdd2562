"""Held-out log-likelihood of trees and mixtures of trees on seven density-estimation data sets.

    python benchmarks/debd_trees.py [--sets nltcs dna ...] [--output docs/benchmarks/trees.md]

The number of components and the pooling of `ChowLiuMixture` are chosen by the likelihood of the validation
part; everything else is as it is by default. Mixtures of products have the same number of components.
Seconds are processor time of the chosen fit on one thread. ``ITEMIX_DATA`` names a folder with the data.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sklearn.exceptions import ConvergenceWarning

import itemix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix import ChowLiuMixture, Transactions

SETS = ("nltcs", "plants", "dna", "tretail", "kosarek", "accidents", "msweb")
COMPONENTS = (5, 10, 20, 40, 80)
POOLINGS = (5.0, 20.0, 50.0, 200.0)
COLUMNS = (
    "data", "transactions x items", "independent", "tree", "products", "trees", "K", "pooling", "iterations",
    "seconds",
)  # fmt: skip


class Fit(NamedTuple):
    """A mixture of trees, its likelihood on the validation part, and how long it took."""

    model: ChowLiuMixture
    score: float
    seconds: float


def fit_trees(train: Transactions, valid: Transactions, n_components: int, pooling: float) -> Fit:
    """Fit one mixture of trees."""
    start = time.process_time()
    model = itemix.ChowLiuMixture(n_components, pooling=pooling, random_state=0).fit(train)
    seconds = time.process_time() - start
    return Fit(model, model.score(valid), seconds)


def best_trees(train: Transactions, valid: Transactions) -> Fit:
    """Return the mixture of trees that the validation part likes best."""
    best: Fit | None = None
    for n_components, pooling in product(COMPONENTS, POOLINGS):
        fitted = fit_trees(train, valid, n_components, pooling)
        print(
            f"  K={n_components} pooling={pooling:g}: {fitted.score:.4f}, {fitted.seconds:.1f} s", flush=True
        )
        if best is None or fitted.score > best.score:
            best = fitted
    assert best is not None  # noqa: S101 - the grid is not empty
    return best


def row_of(name: str) -> tuple[str, ...]:
    """Fit every model to one data set and return its line of the table."""
    train, valid, test = (itemix.datasets.load(f"debd-{name}", part) for part in ("train", "valid", "test"))
    trees = best_trees(train, valid)
    others = (
        itemix.IndependentModel().fit(train),
        itemix.ChowLiuTree().fit(train),
        itemix.BayesianMixture(trees.model.n_components_, random_state=0).fit(train),
    )
    return (
        name,
        f"{len(train):,} x {train.n_items}",
        *(f"{model.score(test):.2f}" for model in others),
        f"**{trees.model.score(test):.3f}**",
        str(trees.model.n_components_),
        f"{trees.model.pooling_:g}",
        str(trees.model.n_iter_),
        f"{trees.seconds:.1f}",
    )


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the table in Markdown."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for name in options.sets:
        print(name, flush=True)
        rows.append(row_of(name))
        print(table(rows[-1:]), flush=True)
    print(table(rows))
    if options.output is not None:
        options.output.write_text(f"# Trees: held-out log-likelihood\n\n{table(rows)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
