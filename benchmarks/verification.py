"""Exact itemsets by way of a model against mining the data: passes, candidates and time.

    python benchmarks/verification.py --data FOLDER [--output docs/benchmarks/verification.md]

A model of half of the data (a Dirichlet process mixture by variational inference, with a correction and
without) proposes, all of the data decides. Times are of one thread, in seconds of the processor, the least of
a few runs. The rows of the larger accidents data are drawn with replacement from the sample of 17,009, and
read in twenty chunks.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mining import machine
from pages import page_parser, parse, publish

import itemix
from itemix.mining.verification import error_source_of, own_slack, verify

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N_RUNS = 3
# None is the model's own error.
SLACKS = (0.0, 0.05, 0.1, 0.2, None)
CORRECTIONS = (None, "auto")
N_CHUNKS = 20


class Case(NamedTuple):
    """A data set and its threshold; with a number of rows, so many drawn from it, in chunks."""

    name: str
    path: str
    min_support: float
    n_rows: int | None = None


CASES = [
    Case("mushroom 20%", "mushroom/mushroom.dat", 0.2),
    Case("chess 50%", "chess/chess.dat", 0.5),
    Case("accidents 30%", "accidents/accidents_17009.dat", 0.3),
    Case("accidents 30%, 340,183 rows", "accidents/accidents_17009.dat", 0.3, 340_183),
    Case("retail 0.1%", "retail/retail.dat.gz", 0.001),
    Case("groceries 0.5%", "groceries/groceries.csv", 0.005),
]
COLUMNS = (
    "data", "itemsets", "slack", "proposed", "not frequent", "missed", "passes", "mining the data",
    "mining the model", "verifying", "verifying / mining the data",
)  # fmt: skip


def least_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Time a call a few times, after one that is not timed; return its result too."""
    call()
    times = []
    for _ in range(N_RUNS):
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    return min(times), result


def measure(case: Case, folder: Path) -> list[dict[str, Any]]:
    """Fit models to half of the data, and verify them with several slacks."""
    data = sample = itemix.read_transactions(folder / case.path)
    half, _ = sample.split(0.5, random_state=0)
    chunks = [sample]
    if case.n_rows is not None:
        data = sample.sample(case.n_rows, replace=True, random_state=0)
        rows = data.to_scipy()
        step = -(-case.n_rows // N_CHUNKS)
        chunks = [
            itemix.Transactions.from_matrix(rows[first : first + step], items=sample.items)
            for first in range(0, case.n_rows, step)
        ]
    exact_seconds, exact = least_seconds(lambda: itemix.mine(data, case.min_support, n_jobs=1))
    results = []
    for correction in CORRECTIONS:
        model = itemix.DirichletProcessMixture(
            inference="variational", correction=correction, random_state=0, n_jobs=1
        ).fit(half)
        for slack in SLACKS:
            found = verified(case, model, chunks, slack)
            if found["found"].itemsets != exact or not found["found"].is_certified:
                raise AssertionError(f"{case.name}: verified itemsets differ from those of the data")
            results.append({"name": case.name, "correction": correction, "exact": exact_seconds, **found})
    return results


def verified(
    case: Case,
    model: itemix.DirichletProcessMixture,
    chunks: list[itemix.Transactions],
    slack: float | None,
) -> dict[str, Any]:
    """Verify a model with a slack; return what was found, the slack in words, and times."""
    own = own_slack(error_source_of(model), model.model_, case.min_support, n_jobs=1)
    share, shown = (own, f"own, {own:.0%}") if slack is None else (slack, f"{slack:.0%}")
    lowered = case.min_support * (1 - share)
    model_seconds, _ = least_seconds(partial(itemix.mine, model, lowered, n_jobs=1))
    seconds, found = least_seconds(partial(verify, model, chunks, case.min_support, slack=slack, n_jobs=1))
    return {"slack": shown, "found": found, "model": model_seconds, "verifying": seconds}


def as_markdown(results: list[dict[str, Any]]) -> str:
    """Make the page that the documentation includes."""
    lines = [
        "# Exact itemsets by way of a model, and by mining",
        "",
        f"Measured by `benchmarks/verification.py` on {machine()}, one thread; processor",
        "times in ms. The model is a Dirichlet process mixture (variational inference) of half of the data;",
        "at a threshold lower by the *slack* it proposes sets. Its *own* slack, the default, is four",
        "standard errors of the model. In every row the result is that of mining the data. The 340,183 rows",
        "are drawn with replacement from the 17,009, and come in twenty chunks.",
        "",
    ]
    for correction, title in zip(CORRECTIONS, ("A mixture", "A corrected mixture"), strict=True):
        rows = [row for row in results if row["correction"] == correction]
        lines += [f"## {title}", "", *as_table(rows), ""]
    return "\n".join(lines)


def as_table(results: list[dict[str, Any]]) -> list[str]:
    """Make the lines of a table."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * (len(COLUMNS) - 1) + "|"]
    for row in results:
        found = row["found"]
        numbers = len(found.itemsets), found.n_proposed, found.n_refuted, found.n_missed
        shown = [f"{number:,}" for number in numbers]
        times = [f"{1e3 * row[name]:.0f}" for name in ("exact", "model", "verifying")]
        cells = [row["name"], shown[0], row["slack"], *shown[1:], str(found.n_passes), *times]
        lines.append("| " + " | ".join([*cells, f"{row['verifying'] / row['exact']:.1f}"]) + " |")
    return lines


def main() -> None:
    """Run the benchmark and print its table."""
    arguments, folder = parse(page_parser("exact itemsets by way of a model against mining the data"))
    page = as_markdown([row for case in CASES for row in measure(case, folder)])
    publish(page, arguments.output)


if __name__ == "__main__":
    main()
