"""The command line of the experiments."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .workers import use_one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .scales import Scale, Task
    from .store import Store

_HERE = Path(__file__).parent
_ROOT = _HERE.parent.parent
_MOST_PROCESSES = 2


@dataclass(frozen=True)
class Options:
    """What was asked for.

    Attributes
    ----------
    scale : str
        A name in `scales.SCALES`.
    parts, datasets, methods : tuple of str
        What to restrict it to; empty is everything.
    results, output : Path
        The folder of results, and the document.
    n_processes : int
        How many tasks at a time.
    redraw, forget : bool
        Whether to draw only, or to drop results instead of making them.
    """

    scale: str
    parts: tuple[str, ...]
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    results: Path
    output: Path
    n_processes: int
    redraw: bool
    forget: bool


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments, or what is left of them, and draw their tables and figures."""
    # NumPy and Numba look at the environment when they are imported, which the modules below do.
    use_one_thread()
    options = _parsed(arguments)
    from .document import write_document
    from .scales import SCALES
    from .store import Store

    store = Store(options.results)
    scale = SCALES[options.scale]
    if options.forget:
        print(f"{store.forget(_chosen(options, scale))} results forgotten")
        return
    if not options.redraw:
        _run(options, scale, store)
    write_document(store, scale, options.output)
    print(f"written: {options.output}")


def _run(options: Options, scale: Scale, store: Store) -> None:
    from .progress import Outlook, shown
    from .scales import plan
    from .workers import results

    tasks = [task for task in _chosen(options, scale) if task not in store]
    try:
        with shown(len(tasks), Outlook(tasks, store, plan(scale))) as tell:
            for task, record in results(tasks, options.n_processes):
                store.put(task, record)
                tell(task, record)
    finally:
        store.pack()


def _chosen(options: Options, scale: Scale) -> list[Task]:
    from .scales import plan

    return [
        task
        for task in plan(scale)
        if (not options.parts or task.part in options.parts)
        and (not options.datasets or task.dataset in options.datasets)
        and (not options.methods or task.method in options.methods)
    ]


def _parsed(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
        description="The experiments of the paper: what has a result already is not done again.",
    )
    parser.add_argument("--scale", choices=("full", "quick", "tiny"), default="full", help="how much to do")
    parser.add_argument("--quick", action="store_const", const="quick", dest="scale", help="minutes")
    parser.add_argument(
        "--only",
        default="",
        help="parts: data,table3,table4,floors,alike,probes,density,starts,beyond,many,scarce,signs,front,"
        "table5,table6",
    )
    parser.add_argument("--dataset", default="", help="data sets, such as mushroom,msweb")
    parser.add_argument("--method", default="", help="methods, such as gsdpm,floor")
    parser.add_argument("--processes", type=int, default=1, help="tasks at a time, 1 or 2; one thread each")
    parser.add_argument("--redraw", action="store_true", help="only draw tables and figures")
    parser.add_argument("--forget", metavar="METHODS", help="only drop the results of some methods")
    parser.add_argument("--results", type=Path, help="the folder of results")
    parser.add_argument("--output", type=Path, help="the document to write")
    parsed = parser.parse_args(arguments)
    if not 1 <= parsed.processes <= _MOST_PROCESSES:
        parser.error(f"expected --processes 1 or {_MOST_PROCESSES}, got {parsed.processes}")
    is_full = parsed.scale == "full"
    scratch = _ROOT / "build" / f"paper-{parsed.scale}"
    return Options(
        parsed.scale,
        _parts(parser, parsed.only),
        _words(parsed.dataset),
        _words(parsed.method if parsed.forget is None else parsed.forget),
        parsed.results or (_HERE / "results" if is_full else scratch / "results"),
        parsed.output or (_ROOT / "docs" if is_full else scratch) / "results.md",
        parsed.processes,
        parsed.redraw,
        parsed.forget is not None,
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _parts(parser: argparse.ArgumentParser, text: str) -> tuple[str, ...]:
    from .scales import ALIASES, PARTS

    parts = tuple(ALIASES.get(word, word) for word in _words(text))
    for part in parts:
        if part not in PARTS:
            parser.error(f"expected --only with some of {', '.join(PARTS)}, got {part!r}")
    return parts
