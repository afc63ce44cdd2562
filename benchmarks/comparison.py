"""Comparisons: how many finds are false, on parts of one data set, and how many planted ones are found.

python benchmarks/comparison.py --data FOLDER [--runs 200] [--output docs/comparison.md]
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pages import page_parser, parse, publish

import itemix
from itemix.core.sets import Sets
from itemix.mining import measures
from itemix.mining.comparison import side_counts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from itemix import Mixture, Transactions
    from itemix.mining.comparison import SideCounts

LEVEL = 0.05
RATIOS = (1.25, 1.5, 2.0, 3.0)
N_PLANTED = 5


class Case(NamedTuple):
    """A data set, its threshold of support, and the part of it that is compared with the rest."""

    name: str
    path: str
    min_support: float
    share: float

    def read(self, folder: Path) -> Transactions:
        """Read it; of the invoice lines of online retail, what is neither cancelled nor returned."""
        if not self.path.endswith(".parquet"):
            return itemix.read_transactions(folder / self.path)
        return invoices(folder / self.path)[0]


def invoices(path: Path) -> tuple[Transactions, Any]:
    """Return the baskets of online retail, and a frame with the month and the country of each."""
    import pandas as pd

    lines = pd.read_parquet(path)
    lines = lines[~lines["InvoiceNo"].astype(str).str.startswith("C") & (lines["Quantity"] > 0)]
    lines = lines[lines["Description"].notna()].assign(
        month=lambda frame: frame["InvoiceDate"].astype(str).str.slice(0, 7)
    )
    baskets = itemix.Transactions.from_long(lines, "InvoiceNo", "Description")
    return baskets, lines.groupby("InvoiceNo", sort=True)[["month", "Country"]].first()


CASES = [
    Case("groceries", "groceries/groceries.csv", 0.005, 0.5),
    Case("groceries", "groceries/groceries.csv", 0.005, 0.1),
    Case("retail", "retail/retail.dat.gz", 0.001, 0.5),
    Case("retail", "retail/retail.dat.gz", 0.001, 0.1),
    Case("MS Web", "msweb/train.dat", 0.002, 0.5),
    Case("mushroom", "mushroom/mushroom.dat", 0.3, 0.5),
    Case("online retail", "online_retail/online_retail.parquet", 0.01, 0.5),
    Case("online retail", "online_retail/online_retail.parquet", 0.01, 0.1),
]


def divided(data: Transactions, share: float, seed: int) -> tuple[Transactions, Transactions]:
    """Divide transactions at random."""
    return data.split(share, random_state=seed)


def plain_p_values(found: SideCounts) -> np.ndarray:
    """Return Fisher's p-values as if all sets had been chosen beforehand."""
    total, n = found.first + found.second, found.n_first + found.n_second
    tails = (
        measures.fisher(found.first, found.n_first, total, n),
        measures.fisher(found.second, found.n_second, total, n),
    )
    p_value: np.ndarray = np.minimum(2 * np.minimum(*tails), 1.0)
    return p_value


def false_finds(data: Transactions, case: Case, runs: int) -> dict[str, Any]:
    """Count the divisions with any find, which is false: with ours, with other adjustments, and naively."""
    any_find = {"bh": 0, "by": 0, "holm": 0, "not conditional": 0}
    finds, tested = [], []
    for seed in range(runs):
        found = side_counts(*divided(data, case.share, seed), case.min_support)
        p_value = found.p_values()
        tested.append(len(p_value))
        for adjust in ("bh", "by", "holm"):
            n = int((measures.q_values(p_value, adjust) <= LEVEL).sum())
            any_find[adjust] += n > 0
            if adjust == "bh":
                finds.append(n)
        naive = measures.q_values(plain_p_values(found))
        any_find["not conditional"] += bool((naive <= LEVEL).any())
    return {"any": any_find, "tested": int(np.median(tested)), "finds": int(np.sum(finds))}


def planted(data: Transactions, case: Case, ratio: float, runs: int) -> tuple[float, float, int]:
    """Plant pairs that are more frequent in the second part: the share found, and the share of false finds.

    A find is false if it has no item of a planted pair.
    """
    found, wrong, total = [], [], 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        first, second = divided(data, case.share, 10_000 + seed)
        pairs = itemix.mine(data, 1.5 * case.min_support, min_len=2, max_len=2)
        chosen: list[np.ndarray] = []
        for position in rng.permutation(len(pairs)):
            codes = pairs.codes[2 * position : 2 * position + 2]
            if len(chosen) < N_PLANTED and not np.isin(codes, np.ravel(chosen)).any():
                chosen.append(codes)
        matrix = second.to_scipy().tolil()
        for codes in chosen:
            held = np.flatnonzero(np.asarray(second.to_scipy()[:, codes].sum(axis=1)).ravel() == 2)
            others = np.setdiff1d(np.arange(second.n_transactions), held)
            added = rng.choice(others, round((ratio - 1) * len(held)), replace=False)
            for code in codes:
                matrix[added, code] = 1
        changed = itemix.Transactions.from_matrix(matrix.tocsr(), items=data.items)
        result = itemix.compare(first, changed, min_support=case.min_support)
        wanted = Sets(2 * np.arange(len(chosen) + 1), np.ravel(chosen), data.items)
        found.append(np.mean(result.sets.find(wanted) >= 0))
        holds = result.sets.count_members(data.items.names(np.ravel(chosen)))
        wrong.append(np.mean(holds == 0) if len(result) else 0.0)
        total += len(result)
    return float(np.mean(found)), float(np.mean(wrong)), total


def components_moved(data: Transactions, share: float, runs: int) -> tuple[float, float]:
    """Return the share of random divisions in which a component differs, and the processor time of one."""
    began = time.process_time()
    finds = [
        len(itemix.compare_components(*divided(data, share, seed), random_state=seed)) for seed in range(runs)
    ]
    return float(np.mean(np.array(finds) > 0)), (time.process_time() - began) / runs


def components_planted(truth: Mixture, n: int, ratio: float, runs: int) -> tuple[float, float]:
    """Draw two halves, in one of which a component is so many times as frequent.

    Returns the share of runs with any find, and the share in which a find is mostly of that component.
    """
    eligible = np.flatnonzero((truth.weights > 0.02) & (truth.weights < 0.1))
    any_find, found = [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        moved = int(rng.choice(eligible))
        weights = truth.weights.copy()
        weights[moved] *= ratio
        other = itemix.Mixture(weights / weights.sum(), truth.probs, truth.items)
        first, second = (m.sample(n // 2, random_state=rng) for m in (truth, other))
        result = itemix.compare_components(first, second, random_state=seed)
        any_find.append(len(result) > 0)
        lift = truth.probs[moved] / truth.item_probabilities
        best = set(truth.items.names(np.argsort(-lift * truth.probs[moved] ** 0.5)[:8].tolist()))
        telling = [
            best.intersection(names) for names, r in zip(result.typical, result.ratio, strict=True) if r > 1
        ]
        found.append(any(len(names) > 1 for names in telling))
    return float(np.mean(any_find)), float(np.mean(found))


def time_ratio(data: Transactions, case: Case) -> tuple[float, float]:
    """Return the processor time of a comparison, and how many times that of mining one half it is."""
    first, second = divided(data, case.share, 0)
    times: dict[str, list[float]] = {"mine": [], "compare": []}
    for _ in range(7):
        for name, call in (
            ("mine", lambda: itemix.mine(first, case.min_support)),
            ("compare", lambda: itemix.compare(first, second, min_support=case.min_support)),
        ):
            began = time.process_time()
            call()
            times[name].append(time.process_time() - began)
    own = float(np.median(times["compare"]))
    return own, own / float(np.median(times["mine"]))


HEAD = """# Comparisons: are the finds true?

Written by `benchmarks/comparison.py`. What [`itemix.compare`](guides/comparing.md) returns is only worth
reading if few of its finds are chance. On two random parts of one data set every find is false. Of {runs}
divisions, the share with any find at all should then be at most 5%, within the standard error of {error:.1f}
points.

## Parts of one data set

*Part* is the share of the transactions in the first part. *Not conditional* is Fisher's test without regard
to how the sets were chosen. The time is processor time, and how many times that of mining the first part.

| data | support | part | sets tested | divisions with a find | "by" | "holm" | not conditional | time |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
"""

PLANTED = """
## Planted differences

In one of two halves, five pairs of items are put into more baskets, until they are so many times as
frequent. Ten divisions each. A find without any item of a planted pair is false.

| data | times | planted pairs found | false finds among finds |
|---|---:|---:|---:|
"""


COMPONENTS = """
## Components

[`itemix.compare_components`](guides/comparing.md#kinds-of-transactions) fits one mixture of 20 components
to both. Again {runs} random divisions, each with its own fit: the share with a component that differs. The
target is 5% again.

| data | part | divisions with a find | seconds each |
|---|---:|---:|---:|
"""

COMPONENTS_PLANTED = """
Transactions drawn from a mixture of 20 components, fitted to the data, of which one that holds 2 to 10% of
them is so many times as frequent in the second half. *Told* is the share of {runs} runs with a find that
shares two of its four items with the eight most typical ones of the moved component.

| data | times | runs with a find | told |
|---|---:|---:|---:|
"""

COMPONENT_CASE = Case("groceries", "groceries/groceries.csv", 0.005, 0.5)


def of_components(folder: Path, runs: int) -> Iterator[str]:
    """Yield the lines of the section on components."""
    case = COMPONENT_CASE
    data = case.read(folder)
    yield COMPONENTS.format(runs=runs)
    any_find, seconds = components_moved(data, case.share, runs)
    yield f"| {case.name} | {case.share:.0%} | {any_find:.1%} | {seconds:.1f} |\n"
    n_runs = max(runs // 10, 1)
    yield COMPONENTS_PLANTED.format(runs=n_runs)
    truth = itemix.DirichletProcessMixture(20, random_state=0).fit(data).mixture_
    for ratio in RATIOS:
        any_find, told = components_planted(truth, data.n_transactions, ratio, n_runs)
        yield f"| {case.name} | {ratio:g} | {any_find:.0%} | {told:.0%} |\n"


def main() -> None:
    """Run all simulations and write the page."""
    parser = page_parser("how true the finds of comparisons are")
    parser.add_argument("--runs", type=int, default=200, help="how many divisions")
    arguments, folder = parse(parser)
    runs = arguments.runs
    lines = [HEAD.format(runs=runs, error=100 * (0.05 * 0.95 / runs) ** 0.5)]
    for case in CASES:
        data = case.read(folder)
        result = false_finds(data, case, runs)
        seconds, times = time_ratio(data, case)
        cells = [
            case.name,
            f"{case.min_support:.1%}",
            f"{case.share:.0%}",
            f"{result['tested']:,}",
            *(f"{n / runs:.1%}" for n in result["any"].values()),
            f"{seconds:.2f} s, {times:.1f}",
        ]
        lines.append("| " + " | ".join(cells) + " |\n")
        print(lines[-1], result, flush=True)
    lines.append(PLANTED)
    for case in CASES:
        if case.share != 0.5 or case.name in ("mushroom", "retail"):
            continue
        data = case.read(folder)
        for ratio in RATIOS:
            found, wrong, total = planted(data, case, ratio, 10)
            lines.append(f"| {case.name} | {ratio:g} | {found:.0%} | {wrong:.1%} of {total:,} |\n")
            print(lines[-1], flush=True)
    for line in of_components(folder, runs):
        lines.append(line)
        print(line, flush=True)
    publish("".join(lines), arguments.output)


if __name__ == "__main__":
    main()
