"""What `itemix.fit` takes: its stages in processor time, memory, and the size of what it makes.

    python benchmarks/front_door.py --data FOLDER [--output docs/benchmarks/front-door.md] [--only NAME]

Each data set is fitted in a process of its own. What was measured is kept beside the page, so that one data
set can be measured again without the others.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mining import machine
from pages import page_parser, parse, publish
from recommendation import online_retail

import itemix
from itemix.data.synthetic import quest
from itemix.estimators.bayesian import fit_as_recommended

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix import Transactions

KEPT = Path(__file__).parent.parent / "docs" / "benchmarks" / "front-door.json"
# As many transactions of as many items as a fit is to take less than five minutes for, on two cores.
LARGE = (1_000_000, 5_000)
# What `fit` tells its callbacks, and what that is called here.
STAGES = {"choosing the correction": "choosing", "learning to recommend": "learning"}
COLUMNS = (
    "data", "transactions", "items", "fit", "choosing the correction", "of the fit", "learning to recommend",
    "in all", "on the clock", "memory", "model file",
)  # fmt: skip


class Case(NamedTuple):
    """A data set: its name, and how it is read from the folder of all data."""

    name: str
    read: Callable[[Path], Transactions]


def _file(path: str) -> Callable[[Path], Transactions]:
    return lambda folder: itemix.read_transactions(folder / path)


CASES = (
    Case("groceries", _file("groceries/groceries.csv")),
    Case("MS Web", _file("msweb/train.dat")),
    Case("online retail", lambda folder: online_retail(folder / "online_retail/online_retail.parquet")),
    Case("retail", _file("retail/retail.dat.gz")),
    Case("Quest", lambda _: quest(LARGE[0], n_items=LARGE[1], random_state=0)),
)


class Clock:
    """A callback that notes the processor time at which each stage began."""

    def __init__(self) -> None:
        self._began = time.process_time()
        self._stages = [("fit", self._began)]

    def __call__(self, _: object) -> None:
        """Do nothing after an iteration."""

    def stage(self, text: str) -> None:
        """Note that another stage has begun; what is sampled first is part of the fit."""
        if text in STAGES:
            self._stages.append((STAGES[text], time.process_time()))

    def seconds(self) -> dict[str, float]:
        """Return the seconds that each stage took, the last of them until now."""
        ends = [began for _, began in self._stages[1:]] + [time.process_time()]
        return {name: end - began for (name, began), end in zip(self._stages, ends, strict=True)}


def measure(name: str, folder: Path, keep: Path | None = None) -> dict[str, Any]:
    """Fit what `itemix.fit` fits, with a clock; keep the model's file if there is a place for it."""
    data = next(case for case in CASES if case.name == name).read(folder)
    itemix.fit(data.sample(200, random_state=0), progress=False)  # so that all is compiled
    model = itemix.DirichletProcessMixture(correction="auto", random_state=0, n_jobs=-1)
    clock, wall = Clock(), time.perf_counter()
    fit_as_recommended(model, data, [clock])
    seconds = clock.seconds()
    wall = time.perf_counter() - wall
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as scratch:
        path = keep or Path(scratch) / "model.itemix"
        model.save(path)
        n_bytes = path.stat().st_size
    assert model.corrected_ is not None  # noqa: S101 - it was asked for
    return {
        "n_transactions": data.n_transactions,
        "n_items": data.n_items,
        "n_ones": data.n_ones,
        "seconds": seconds,
        "wall": wall,
        "memory": peak,
        "bytes": n_bytes,
        "components": model.n_components_,
        "worth": model.corrected_.worth,
    }


def all_kept() -> dict[str, Any]:
    """Return what was measured, by the name of the data."""
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return kept


def row_of(name: str, found: dict[str, Any]) -> str:
    """Return a row of the table."""
    seconds = found["seconds"]
    cells = [
        name,
        f"{found['n_transactions']:,}",
        f"{found['n_items']:,}",
        f"{seconds['fit']:.1f} s",
        f"{seconds['choosing']:.1f} s",
        f"{seconds['choosing'] / seconds['fit']:.2f}",
        f"{seconds['learning']:.1f} s",
        f"{sum(seconds.values()):.0f} s",
        f"{found['wall']:.0f} s",
        f"{found['memory'] / 1e9:.1f} GB",
        f"{found['bytes'] / 1e6:.1f} MB",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure every data set, or one of them, and write the page."""
    parser = page_parser(__doc__ or "")
    parser.add_argument("--only", choices=[case.name for case in CASES], help="measure this data set only")
    parser.add_argument("--keep", type=Path, help="with --only: keep the model's file here")
    parser.add_argument("--redraw", action="store_true", help="only write the page from what was measured")
    arguments, folder = parse(parser)
    spawn = multiprocessing.get_context("spawn")
    for case in CASES:
        if arguments.only in (None, case.name) and not arguments.redraw:
            with spawn.Pool(1) as pool:
                found = pool.apply(partial(measure, case.name, folder, arguments.keep))
            KEPT.write_text(json.dumps(all_kept() | {case.name: found}, indent=1) + "\n")
    kept = all_kept()
    rows = [row_of(case.name, kept[case.name]) for case in CASES if case.name in kept]
    table = "\n".join([f"| {' | '.join(COLUMNS)} |", "|---|" + "---:|" * (len(COLUMNS) - 1), *rows])
    publish(PAGE.format(machine=machine(), table=table), arguments.output)


PAGE = """# What `itemix.fit` takes

Measured by `benchmarks/front_door.py` on {machine}, with
two threads. Seconds are those of processor time, both threads together: where nothing else runs, it takes a
little more than half of them on the clock. The machine was busy with other work, often several times what
its cores can do, so the time *on the clock* is far too long. *Of the fit* is the time of choosing the
correction as a multiple of that of the fit. *Memory* is the peak of the process, with Python, Numba and the
data. Quest is what the generator of IBM draws: a million transactions of about ten of 5,000 items.

{table}
"""


if __name__ == "__main__":
    main()
