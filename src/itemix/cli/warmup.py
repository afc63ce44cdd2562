"""``itemix warmup``: compile all kernels now, so that no later command has to.

Each path is a small job that needs some of the kernels, through the public functions. With more than one core
they are compiled in processes side by side, which find each other's code on disk.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itemix._files import replacing
from itemix.cli.options import Quiet, check_choice, one_of
from itemix.cli.output import note, stopwatch
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemix.core.transactions import Transactions

PARTS = ("mining", "models", "inference")
# A background process that takes longer than this is stuck.
_MOST_SECONDS = 900


def warmup(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PART]...",
            show_default=False,
            autocompletion=one_of(PARTS),
            help="What to compile: mining (with rules and reading), models (questions and "
            "recommendations), inference (fits). By default all.",
        ),
    ] = None,
    *,
    quiet: Quiet = False,
) -> None:
    """Compile everything for this machine now, once.

    For images, servers and slow machines: later commands start at once. Without it, kernels are compiled
    when they are first needed, or in the background while small jobs do without.
    """
    from itemix.kernels import jit

    chosen = list(dict.fromkeys(parts or PARTS))
    for part in chosen:
        check_choice("PART", part, PARTS)
    in_background = os.environ.get("ITEMIX_COMPILE") == "background"
    os.environ["ITEMIX_COMPILE"] = "now"
    steps = [(part, name) for part in chosen for name in PATHS[part]]
    if in_background:
        _be_modest()
    with stopwatch(quiet=True):
        began = time.perf_counter()
        n_processes = 1 if in_background else min(len(steps), len(_cores()))
        for n_done, name in enumerate(_compiled(steps, n_processes), start=1):
            _tell(n_done, len(steps), name, quiet=quiet or in_background)
        seconds = time.perf_counter() - began
    for part in chosen:
        mark = jit.mark_of(part)
        if mark is not None:
            with replacing(mark) as written:
                written.write_bytes(b"1")
    if in_background:
        return
    folder = jit.code_folder()
    if folder is None:
        raise InvalidInputError(
            "expected a folder for compiled code, got none that this user may write to; set NUMBA_CACHE_DIR"
        )
    note(f"compiled in {seconds:.0f} s; kept in {folder}", quiet=quiet)


def _cores() -> list[int]:
    """Return the cores that this process may use."""
    allowed: Any = getattr(os, "sched_getaffinity", None)
    return sorted(allowed(0)) if allowed else list(range(os.cpu_count() or 1))


def _be_modest() -> None:
    """Run at the lowest priority, and end after a while whatever happens."""
    with suppress(OSError, AttributeError):
        os.nice(19)
    timer = threading.Timer(_MOST_SECONDS, os._exit, (1,))
    timer.daemon = True
    timer.start()


def _tell(n_done: int, n_steps: int, name: str, *, quiet: bool) -> None:
    if quiet:
        return
    line = f"compiling for this machine, once ({n_done} of {n_steps}): {name}"
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{line:<78}{chr(10) if n_done == n_steps else ''}")
    else:
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _compiled(steps: list[tuple[str, str]], n_processes: int) -> Iterator[str]:
    """Compile the paths, and yield the name of each when it is done."""
    if n_processes == 1:
        for step in steps:
            yield compile_path(step)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(n_processes, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(compile_path, step) for step in steps]):
            yield done.result()


def compile_path(step: tuple[str, str]) -> str:
    """Do the small job that a part and a name stand for, and return the name."""
    import warnings

    from itemix.kernels import jit

    jit.compilations.is_quiet = True
    part, name = step
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PATHS[part][name]()
    return name


def _baskets(n_items: int, density: float, *, merged: bool = False) -> Transactions:
    import numpy as np

    from itemix.core.transactions import Transactions

    rng = np.random.default_rng(0)
    table = rng.random((120, n_items)) < density
    table[:60] = table[60:]
    tx = Transactions.from_matrix(table, [f"item {i}" for i in range(n_items)])
    return tx.merge_identical() if merged else tx


def _mine(target: str) -> Callable[[], None]:
    def mine_all_layouts() -> None:
        from itemix.mining.mine import mine

        for density in (0.3, 0.06):
            for merged in (False, True):
                tx = _baskets(30, density, merged=merged)
                mine(tx, 4, target=target, n_jobs=2)
        mine(tx, 4, target=target, include=["item 1"], top_k=5)

    return mine_all_layouts


def _read() -> None:
    import io

    from itemix.io.read import read_transactions

    for text in (b"milk,bread\nbread,butter\n", b"1 2 3\n2 1\n", b"1,0,1\n0,1,1\n"):
        tx = read_transactions(io.BytesIO(text))
        tx.item_counts()
        tx.support([tx.items[0]])
        tx[[1, 0]]


def _rules() -> None:
    from itemix.mining.mine import mine
    from itemix.mining.rules import rules

    for target in ("all", "closed"):
        found = mine(_baskets(12, 0.4), 10, target=target)
        made = rules(found, min_threshold=0.3)
        made.to_pandas()
    found.closed()
    found.maximal()


def _model(kind: str = "BernoulliMixture", **options: Any) -> Any:  # noqa: ANN401 - an estimator
    import itemix

    options = {"random_state": 0, "max_iter": 3} | options
    return getattr(itemix, kind)(**options).fit(_baskets(30, 0.2))


def _ask() -> None:
    from itemix.mining.mine import mine

    model = _model("BayesianMixture", n_components=3)
    item, other = "item 0", "item 1"
    model.probability([item])
    model.probability([item], given=[other])
    model.probability([item], absent=[other])
    model.interval([item])
    for target in ("all", "closed", "maximal"):
        mine(model, 0.05, target=target, n_jobs=2)


def _recommend() -> None:
    from itemix.fitted import learn_recommender

    model = _model(n_components=3)
    model.recommend(["item 0"])
    learn_recommender(model, _baskets(30, 0.2))


def _corrected() -> None:
    from itemix.mining.mine import mine

    model = _model("DirichletProcessMixture", n_components=3, correction="auto")
    model.probability(["item 0"])
    mine(model, 0.05)


def _fit_by(kind: str, **options: Any) -> Callable[[], None]:  # noqa: ANN401 - of an estimator
    def fit() -> None:
        _model(kind, **options)

    return fit


def _default() -> None:
    import itemix

    itemix.fit(_baskets(30, 0.2), progress=False)


def _groups() -> None:
    import itemix

    tx = _baskets(30, 0.2)
    labels = [row % 40 for row in range(len(tx))]
    itemix.BernoulliMixture(2, random_state=0, max_iter=3).fit(tx, groups=labels).group(1)


def _max_entropy() -> None:
    import itemix

    model = itemix.MaxEntropyModel(min_support=0.1, max_len=2).fit(_baskets(12, 0.3))
    model.probability(["item 0"])


PATHS: dict[str, dict[str, Callable[[], None]]] = {
    "mining": {
        "reading": _read,
        "itemsets": _mine("all"),
        "closed itemsets": _mine("closed"),
        "maximal itemsets": _mine("maximal"),
        "rules": _rules,
    },
    "models": {"questions": _ask, "recommendations": _recommend},
    "inference": {
        "EM": _fit_by("BernoulliMixture", n_components=3),
        "variational inference": _fit_by("BayesianMixture", n_components=3),
        "Gibbs sampling": _fit_by(
            "BayesianMixture", n_components=3, inference="gibbs", n_samples=2, thin=1, max_iter=5
        ),
        "Gibbs sampling of a Dirichlet process": _fit_by(
            "DirichletProcessMixture", inference="gibbs", n_samples=2, thin=1, max_iter=5
        ),
        "the default fit": _default,
        "a corrected model": _corrected,
        "trees": _fit_by("ChowLiuMixture", n_components=2),
        "a latent tree": _fit_by("LatentTreeModel", n_states=2, max_iter=2),
        "maximum entropy": _max_entropy,
        "groups": _groups,
    },
}
"""The small jobs of each part, by name."""
