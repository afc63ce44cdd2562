"""What estimators that iterate say of it: printed lines, and a warning if a fit has not converged."""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from itemix._checks import check_whole
from itemix.core.display import plural

if TYPE_CHECKING:
    from itemix.inference.loop import Callback, Report
    from itemix.inference.selection import Selection
    from itemix.inference.trying import Scores


def printers(verbose: int) -> list[Callback]:
    """Return what prints every so many iterations; nothing for 0."""
    every = int(verbose) if isinstance(verbose, bool) else check_whole("verbose", verbose, 0)
    return [] if every <= 0 else [_Printer(every)]


class _Printer:
    """Prints some iterations, and what comes before and after them."""

    def __init__(self, every: int) -> None:
        self._every = every

    def __call__(self, report: Report) -> None:
        if report.iteration % self._every == 0 or report.iteration == 1:
            sys.stderr.write(
                f"start {report.restart + 1} of {report.n_restarts}, iteration {report.iteration}: "
                f"{report.bound:.6g}, {plural(report.n_components, 'component')}, {report.seconds:.1f} s\n"
            )

    def stage(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")


def forget(model: Any, *attributes: str) -> None:  # noqa: ANN401 - an estimator
    """Drop what an earlier fit has learned, and another one may not learn."""
    for name in attributes:
        if hasattr(model, name):
            delattr(model, name)


def warn(message: str) -> None:
    """Warn of how a fit went, at the line outside of this library that asked for it."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "itemix":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ConvergenceWarning, stacklevel=level)


def warn_of_choice(scores: Scores | Selection, n_tried: int, what: str, best: object) -> None:
    """Warn if Ctrl-C has ended a choice."""
    if scores.interrupted:
        tried = f"{best}, the best of {n_tried} tried," if n_tried > 1 else f"{best}, the only one tried,"
        warn(f"the choice of {what} was interrupted; {tried} is taken")


def warn_of(model: Any, *, interrupted: bool, stopped: bool) -> None:  # noqa: ANN401 - an estimator
    """Warn if the fit of a model was interrupted, or has not converged and was not stopped by a callback."""
    name = type(model).__name__
    if interrupted:
        left_out = "" if getattr(model, "correction", None) is None else ", without a correction"
        n_iter = plural(model.n_iter_, "iteration")
        message = f"{name} was interrupted; the best state so far is kept ({n_iter}){left_out}"
    elif not model.converged_ and not stopped:
        message = (
            f"{name} did not converge in max_iter={model.max_iter} iterations; raise max_iter, or "
            "use the model as it is"
        )
    else:
        return
    warn(message)
