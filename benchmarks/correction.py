"""Corrected mixtures against the floor on unseen data, the cover of their intervals, and the price of mining.

    python benchmarks/correction.py --data FOLDER [--output docs/benchmarks/correction.md] [--redraw]

Every result is kept beside the page, so that a run that was interrupted goes on and `--redraw` fits nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from mining import machine

import itemix

if TYPE_CHECKING:
    from itemix import Transactions

N_SPLITS = 5
N_MINED = 5
LEVEL = 0.9
N_JUDGED = 20_000


class Case(NamedTuple):
    """A data set with the threshold at which it is judged."""

    name: str
    path: str
    min_support: float


CASES = [
    Case("chess", "chess/chess.dat", 0.5),
    Case("mushroom", "mushroom/mushroom.dat", 0.2),
    Case("accidents", "accidents/accidents_17009.dat", 0.3),
    Case("MS Web", "msweb", 0.005),
    Case("groceries", "groceries/groceries.csv", 0.005),
    Case("retail", "retail/retail.dat.gz", 0.001),
]
METHODS = {"VDPM": "variational", "GSDPM": "gibbs"}
COLUMNS = (
    "data", "method", "divisions", "E, floor", "E, plain", "E, corrected", "of the floor", "F-, floor",
    "F-, corrected", "F+, floor", "F+, corrected", "intervals cover", "residuals", "mining, of plain",
)  # fmt: skip


def split(case: Case, folder: Path, seed: int) -> tuple[Transactions, Transactions]:
    """Return random halves; of MS Web first the paper's parts, then parts of the same sizes."""
    if case.name != "MS Web":
        first, second = itemix.read_transactions(folder / case.path).split(0.5, random_state=seed)
        return first, second
    train, test = (itemix.datasets.load("msweb", part) for part in ("train", "test"))
    if seed == 0:
        return train, test
    rows = [*train.to_lists(), *test.align_items(train.items).to_lists()]
    whole = itemix.Transactions.from_lists(rows)
    first, second = whole.split(len(train) / len(whole), random_state=seed)
    return first, second


def seconds_to_mine(model: Any, min_support: float) -> float:  # noqa: ANN401 - any model
    """Return the least CPU time of mining a model with one thread."""
    times = []
    for _ in range(1 + N_MINED):
        start = time.process_time()
        itemix.mine(model, min_support, n_jobs=1)
        times.append(time.process_time() - start)
    return min(times[1:])


def fitted(method: Any, train: Transactions, seed: int) -> itemix.DirichletProcessMixture:  # noqa: ANN401 - a word
    """Fit a corrected mixture."""
    model = itemix.DirichletProcessMixture(inference=method, random_state=seed, n_jobs=-1, correction="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(train)


def price(case: Case, method: str, folder: Path) -> float:
    """Return the time of mining a corrected model over that of mining the plain one."""
    model = fitted(METHODS[method], split(case, folder, 0)[0], 0)
    if model.corrected_ is None:
        return 1.0
    return seconds_to_mine(model, case.min_support) / seconds_to_mine(model.mixture_, case.min_support)


def measure(case: Case, method: str, folder: Path, seed: int) -> dict[str, Any]:
    """Fit to one part, judge on the other."""
    train, test = split(case, folder, seed)
    model = fitted(METHODS[method], train, seed)
    corrected = itemix.evaluate(model, test, case.min_support)
    plain = itemix.evaluate(model.mixture_, test, case.min_support)
    true = itemix.mine(test, case.min_support)
    every = max(1, len(true) // N_JUDGED)
    names = [list(itemset.items) for itemset in true[::every]]
    _, lower, upper = model.intervals(names, level=LEVEL, n_transactions=len(test))
    support = true.support[::every]
    floor = itemix.evaluate(train, test, case.min_support)
    return {
        "floor": floor.mean_relative_error,
        "plain": plain.mean_relative_error,
        "corrected": corrected.mean_relative_error,
        "missed_floor": floor.false_negative_rate,
        "missed": corrected.false_negative_rate,
        "false_floor": floor.false_positive_rate,
        "false": corrected.false_positive_rate,
        "cover": float(((lower <= support) & (support <= upper)).mean()),
        "size": 0 if model.corrected_ is None else model.corrected_.correction.residuals.size,
        "way": list(model.correction_choice_.best),
    }


def as_markdown(results: dict[str, dict[str, Any]]) -> str:
    """Make the page that the documentation includes."""
    lines = [
        "# Corrected mixtures on unseen data",
        "",
        f"Measured by `benchmarks/correction.py` on {machine()}; means over divisions into",
        "a training and a test part (of MS Web the paper's own and four random ones of the same sizes). E is",
        "the mean relative error over the frequent itemsets of the test part, F- the share of them that is",
        "missed, F+ the share of false ones among those predicted. The floor is the prediction by the exact",
        'supports of the training part. Corrected is `correction="auto"`, all else at its default. Intervals',
        "are those of 90% for the support in the test part. Mining is the CPU time of mining the corrected",
        "model over that of the plain one, on one thread, of the first division.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|---|---|" + "---:|" * (len(COLUMNS) - 2),
    ]
    for case in CASES:
        for method in METHODS:
            name = f"{case.name}/{method}"
            rows = [row for key, row in results.items() if key.startswith(f"{name}/")]
            if rows:
                cells = _cells(case, method, rows)
                price = results.get("mining", {}).get(name)
                lines.append(f"| {' | '.join(cells)} | {'' if price is None else f'{price:.1f}'} |")
    return "\n".join([*lines, ""])


def _cells(case: Case, method: str, rows: list[dict[str, Any]]) -> list[str]:
    shares = ("missed_floor", "missed", "false_floor", "false", "cover")
    average = {
        key: mean(row[key] for row in rows) for key in ("floor", "plain", "corrected", "size", *shares)
    }
    return [
        f"{case.name}, {case.min_support:.1%}",
        method,
        str(len(rows)),
        *(f"{average[key]:.2%}" for key in ("floor", "plain", "corrected")),
        f"{average['corrected'] / average['floor']:.2f}",
        *(f"{average[key]:.1%}" for key in shares),
        f"{average['size']:,.0f}",
    ]


def main() -> None:
    """Run what has not been run, and print the table."""
    parser = argparse.ArgumentParser(description="corrected mixtures on unseen data")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ITEMIX_DATA"), help="folder of the data sets"
    )
    parser.add_argument("--output", type=Path, default=Path("docs/benchmarks/correction.md"))
    parser.add_argument("--redraw", action="store_true", help="fit nothing")
    parser.add_argument("--mining", action="store_true", help="only time the mining, anew")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("expected the folder of the data sets: --data FOLDER, or set ITEMIX_DATA")
    kept = arguments.output.with_suffix(".json")
    results = json.loads(kept.read_text()) if kept.exists() else {}
    tasks = [(case, method, seed) for seed in range(N_SPLITS) for case in CASES for method in METHODS]
    if arguments.mining:
        results["mining"] = {
            f"{case.name}/{method}": price(case, method, Path(arguments.data))
            for case in CASES
            for method in METHODS
        }
        kept.write_text(json.dumps(results, indent=1) + "\n")
    for case, method, seed in () if arguments.redraw or arguments.mining else tasks:
        key = f"{case.name}/{method}/{seed}"
        if key not in results:
            results[key] = measure(case, method, Path(arguments.data), seed)
            print(key, json.dumps(results[key]), flush=True)
            arguments.output.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(results, indent=1) + "\n")
    page = as_markdown(results)
    print(page)
    arguments.output.write_text(page)


if __name__ == "__main__":
    main()
