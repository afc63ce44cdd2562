"""``itemix fit``: learn a model of transactions, and save it."""

import warnings
from typing import TYPE_CHECKING, Annotated

from itemix.cli.compiling import stopwatch
from itemix.cli.ctrl_c import Keeping
from itemix.cli.fit_display import watching
from itemix.cli.fitting import Fitting
from itemix.cli.messages import in_options
from itemix.cli.models import found
from itemix.cli.options import Quiet, Reading, Source, option
from itemix.cli.output import note
from itemix.cli.sources import read_source
from itemix.errors import InvalidInputError
from itemix.inputs import refuse_repeated

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions
    from itemix.estimators.base import MixtureEstimator
    from itemix.estimators.single import ModelEstimator


def fit(
    source: Source,
    fitting: Fitting,
    reading: Reading,
    output: Annotated[
        str | None,
        option(
            "--output", "-o", panel="Output", metavar="FILE", help="Where to save the model: model.itemix."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Learn a model of transactions.

    On a terminal, the progress is shown; Ctrl-C ends the fit early, and the best state so far is saved; a
    second one ends the program at once. Mine the model with itemix mine, ask it with itemix query and
    recommend, look at it with itemix show.
    """
    if output is None:
        raise InvalidInputError("expected -o with a file to save the model to, got none; try -o model.itemix")
    from itemix._files import checked_target

    checked_target(output)
    refuse_repeated(source, reading.names)
    estimator = fitting.estimator()
    model = fitted(estimator, read_source(source, reading, quiet=quiet), fitting.method, quiet=quiet)
    model.save(output)
    note(f"wrote {output}: itemix show {output} shows what it has found", quiet=quiet)


def fitted(
    model: "MixtureEstimator | ModelEstimator", transactions: "Transactions", method: str, *, quiet: bool
) -> "MixtureEstimator | ModelEstimator":
    """Fit a model, showing the progress on a terminal, and say on standard error how it went."""
    from sklearn.exceptions import ConvergenceWarning

    with stopwatch(quiet=quiet) as watch, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        with watching(method, len(transactions), quiet=quiet) as callbacks, Keeping() as keeping:
            model.fit(transactions, callbacks=[*callbacks, keeping])
        seconds = watch.seconds()
    for warning in warned:
        note(in_options(str(warning.message)), quiet=quiet)
    note(_summary(model, method, seconds), quiet=quiet)
    return model


def refuse_fitting(fitting: Fitting, source: str, output: str | None = None) -> None:
    """Refuse options that say how to fit, or where to save the model, where it is there already.

    Raises
    ------
    InvalidInputError
        If there are any.
    """
    if fitting != Fitting() or output is not None:
        raise InvalidInputError(
            f"expected options of fitting only with transactions, got them with the model {source!r}; leave "
            "them out"
        )


def _summary(model: "MixtureEstimator | ModelEstimator", method: str, seconds: float) -> str:
    from itemix.core.display import joined, plural

    values = vars(model)
    parts = [found(model)]
    if "converged_" in values:
        state = "converged" if values["converged_"] else "not converged"
        parts.append(f"{state} after {plural(values['n_iter_'], 'iteration')}")
        parts.append(f"{values['lower_bound_']:.4f} a transaction")
    return f"{method}: {joined([*parts, f'{seconds:.1f} s'])}"
