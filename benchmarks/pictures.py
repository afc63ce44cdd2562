"""Draw every picture of the guide to pictures, of the built-in grocery store.

Usage: python benchmarks/pictures.py --output docs/pictures
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

import itemix
from itemix import plot

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes


def pictures() -> dict[str, Callable[[], Axes]]:
    """Return what draws each picture, by its name."""
    tx = itemix.datasets.load("grocery_store")
    train, test = tx.split(0.5, random_state=0)
    model = itemix.DirichletProcessMixture(inference="gibbs", random_state=0).fit(train)
    itemsets = model.with_intervals(itemix.mine(model, 0.01))
    rules = itemix.rules(itemsets, min_threshold=0.3)
    evaluation = itemix.evaluate(model, test, 0.02, train=train)
    held = np.array(["beer" in basket for basket in tx])
    with_beer = itemix.compare(tx[~held], tx[held], min_support=0.05, max_len=2)
    # With twelve components the model does not know all kinds of customers.
    simple = itemix.DirichletProcessMixture(12, random_state=0).fit(train)
    surprises = itemix.surprises(simple, test, min_support=0.004, level=1.0)
    return {
        "support_distribution": lambda: plot.support_distribution(itemsets),
        "length_distribution": lambda: plot.length_distribution(itemsets),
        "top_itemsets": lambda: plot.top_itemsets(itemsets, 12, min_len=2, data=tx),
        "support_agreement": lambda: plot.support_agreement(itemsets, tx),
        "component_sizes": lambda: plot.component_sizes(model, 8),
        "component_heatmap": lambda: plot.component_heatmap(model, 8, 20),
        "dependency_network": lambda: plot.dependency_network(model),
        "dependency_matrix": lambda: plot.dependency_matrix(model),
        "rules_scatter": lambda: plot.rules_scatter(rules),
        "differences": lambda: plot.differences(with_beer),
        "surprises": lambda: plot.surprises(surprises),
        "trace": lambda: plot.trace(model),
        "evaluation_by_length": lambda: plot.evaluation_by_length(evaluation),
    }


def main() -> None:
    """Draw all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="the folder for the pictures")
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    for name, draw in pictures().items():
        plot.save(draw(), folder / f"{name}.png")
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
