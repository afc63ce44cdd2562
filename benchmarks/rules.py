"""Association rules against mlxtend's, from the same itemsets, in one run, as ratios.

python benchmarks/rules.py --data FOLDER [--output docs/benchmarks/rules.md]
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from mining import machine
from mlxtend.frequent_patterns import association_rules
from model_mining import median_seconds
from pages import page_parser, parse, publish

import itemix

if TYPE_CHECKING:
    from pathlib import Path


class Case(NamedTuple):
    """A data set with the thresholds of support and confidence."""

    name: str
    path: str
    min_support: float
    min_confidence: float


CASES = [
    Case("mushroom", "mushroom/mushroom.dat", 0.3, 0.8),
    Case("groceries", "groceries/groceries.csv", 0.001, 0.5),
    Case("retail", "retail/retail.dat.gz", 0.001, 0.1),
]
COLUMNS = (
    "data",
    "support",
    "confidence",
    "rules",
    "itemix",
    "with to_pandas()",
    "mlxtend",
    "ratio",
    "ratio, frames",
)


def measure(case: Case, folder: Path) -> str:
    """Time both on one data set, and return a row of the table."""
    itemsets = itemix.mine(itemix.read_transactions(folder / case.path), case.min_support)
    frame = itemsets.to_pandas()[["support", "itemsets"]]
    ours = partial(itemix.rules, itemsets, min_threshold=case.min_confidence)
    own = median_seconds(ours)
    as_frame = median_seconds(lambda: ours().to_pandas())
    peer = median_seconds(
        partial(association_rules, frame, metric="confidence", min_threshold=case.min_confidence), 3
    )
    cells = [
        case.name,
        f"{case.min_support:g}",
        f"{case.min_confidence:g}",
        f"{len(ours()):,}",
        *(f"{1e3 * seconds:.1f} ms" for seconds in (own, as_frame, peer)),
        f"{peer / own:.0f}",
        f"{peer / as_frame:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run the benchmark and print its table."""
    arguments, folder = parse(page_parser("association rules against mlxtend's"))
    page = "\n".join(
        [
            "# Rules: speed",
            "",
            f"Measured by `benchmarks/rules.py` on {machine()}; medians, from the same itemsets. *Ratio* is",
            "mlxtend's time divided by ours, *ratio, frames* the same with our rules made into a frame.",
            "",
            "| " + " | ".join(COLUMNS) + " |",
            "|---|" + "---:|" * (len(COLUMNS) - 1),
            *(measure(case, folder) for case in CASES),
            "",
        ]
    )
    publish(page, arguments.output)


if __name__ == "__main__":
    main()
