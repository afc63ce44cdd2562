"""What estimators that iterate say of it: printed lines, and a warning if a fit has not converged."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from itemix.checks import check_whole

if TYPE_CHECKING:
    from itemix.inference.run import Callback, Report


def printers(verbose: int) -> list[Callback]:
    """Return what prints every so many iterations; nothing for 0."""
    every = int(verbose) if isinstance(verbose, bool) else check_whole("verbose", verbose, 0)
    return [] if every <= 0 else [lambda report: _print(report, every)]


def _print(report: Report, every: int) -> None:
    if report.iteration % every == 0 or report.iteration == 1:
        sys.stderr.write(
            f"start {report.restart + 1} of {report.n_restarts}, iteration {report.iteration}: "
            f"{report.bound:.6g}, {report.n_components} components, {report.seconds:.1f} s\n"
        )


def warn_of(model: Any, *, interrupted: bool, stopped: bool, stacklevel: int) -> None:  # noqa: ANN401
    """Warn if the fit of a model was interrupted, or has not converged and was not stopped by a callback."""
    name = type(model).__name__
    if interrupted:
        message = f"{name} was interrupted; the best state so far is kept ({model.n_iter_} iterations)"
    elif not model.converged_ and not stopped:
        message = (
            f"{name} did not converge in max_iter={model.max_iter} iterations; raise max_iter or tol, "
            "or use the model as it is"
        )
    else:
        return
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)
