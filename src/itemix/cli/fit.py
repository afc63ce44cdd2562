"""``itemix fit``: learn a mixture model of transactions, and save it."""

import dataclasses
import inspect
import warnings
from typing import TYPE_CHECKING, Annotated, Any

from itemix.cli.compiling import stopwatch
from itemix.cli.completing import one_of
from itemix.cli.fit_display import watching
from itemix.cli.messages import in_options
from itemix.cli.models import components, correction
from itemix.cli.options import Quiet, Reading, Source, check_choice, option
from itemix.cli.output import note
from itemix.cli.sources import read_source
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.estimators.base import MixtureEstimator
    from itemix.transactions import Transactions

_CLASS_OF = {
    "gsdpm": ("DirichletProcessMixture", "gibbs"),
    "vdpm": ("DirichletProcessMixture", "variational"),
    "gsfbm": ("BayesianMixture", "gibbs"),
    "vfbm": ("BayesianMixture", "variational"),
    "nbm": ("BernoulliMixture", None),
}
METHODS = tuple(_CLASS_OF)
CRITERIA = ("bic", "aic", "held-out")
INITS = ("k-means++", "random", "one")

_MODEL = "Which model"
_RUN = "How it is fitted"
_PARAMETER_OF = {
    "components": "n_components",
    "starts": "n_init",
    "samples": "n_samples",
    "seed": "random_state",
    "threads": "n_jobs",
}
_ONLY_SAMPLING = ("samples", "thin")


@dataclasses.dataclass(frozen=True)
class Fitting:
    """Which model is to be fitted, and how."""

    method: Annotated[
        str,
        option(
            "--method",
            panel=_MODEL,
            metavar="|".join(METHODS),
            autocompletion=one_of(METHODS),
            help="Gibbs sampling (gs) or variational inference (v) for the Dirichlet process (dpm), which "
            "finds the number of components, or for a finite Bayesian mixture (fbm); or EM (nbm). By default "
            "gsdpm.",
        ),
    ] = "gsdpm"
    components: Annotated[
        str | None,
        option(
            "--components",
            "-K",
            panel=_MODEL,
            metavar="N|auto",
            help="The number of components (10 by default), or auto to choose it; for a Dirichlet process "
            "only where it starts or ends.",
        ),
    ] = None
    criterion: Annotated[
        str | None,
        option(
            "--criterion",
            panel=_MODEL,
            metavar="|".join(CRITERIA),
            autocompletion=one_of(CRITERIA),
            help="What chooses the number of components with --components auto; bic by default.",
        ),
    ] = None
    alpha: Annotated[
        str | None,
        option(
            "--alpha", panel=_MODEL, metavar="X|learn", help="Concentration of the weights; 1.5 by default."
        ),
    ] = None
    beta: Annotated[
        str | None,
        option(
            "--beta",
            panel=_MODEL,
            metavar="X|learn",
            help="Prior of the presence of an item, its frequency by default; learn: also its strength.",
        ),
    ] = None
    gamma: Annotated[
        float | None,
        option(
            "--gamma",
            panel=_MODEL,
            metavar="X",
            help="Prior of the absence of an item; 1 less its frequency by default.",
        ),
    ] = None
    correction: Annotated[
        str,
        option(
            "--correction",
            panel=_MODEL,
            metavar="auto|none|N",
            help="Correct the model by the counts of itemsets of up to N items (2 to 5); auto, the default, "
            "chooses how on held-out data, or not at all.",
        ),
    ] = "auto"
    init: Annotated[
        str | None,
        option(
            "--init",
            panel=_RUN,
            metavar="|".join(INITS),
            autocompletion=one_of(INITS),
            help="How to start: from spread-out transactions, random labels, or (sampling) one component.",
        ),
    ] = None
    starts: Annotated[
        int | None,
        option(
            "--starts",
            panel=_RUN,
            metavar="N",
            help="Starts, of which the best is kept; or chains. One by default.",
        ),
    ] = None
    max_iter: Annotated[
        int | None, option("--max-iter", panel=_RUN, metavar="N", help="The most iterations; 300 by default.")
    ] = None
    tol: Annotated[
        float | None,
        option("--tol", panel=_RUN, metavar="X", help="A gain by iteration and transaction that is no gain."),
    ] = None
    samples: Annotated[
        int | None,
        option("--samples", panel=_RUN, metavar="N", help="Samples that each chain keeps; 5 by default."),
    ] = None
    thin: Annotated[
        int | None,
        option("--thin", panel=_RUN, metavar="N", help="Iterations between two of them; 10 by default."),
    ] = None
    seed: Annotated[
        int | None, option("--seed", panel=_RUN, metavar="N", help="The same seed gives the same model.")
    ] = None
    threads: Annotated[
        int,
        option("--threads", "-j", panel=_RUN, metavar="N", help="Threads to use; by default all processors."),
    ] = -1

    def __post_init__(self) -> None:
        check_choice("--method", self.method, METHODS)
        check_choice("--criterion", self.criterion, CRITERIA)
        check_choice("--init", self.init, INITS)
        inference = _CLASS_OF[self.method][1]
        for name in _ONLY_SAMPLING:
            if getattr(self, name) is not None and inference != "gibbs":
                raise InvalidInputError(
                    f"expected --{name} only with the sampling methods gsdpm and gsfbm, got it with "
                    f"{self.method}; leave it out"
                )
        for name in ("alpha", "beta"):
            _number_or(f"--{name}", getattr(self, name), "learn", float)
        _number_or("--components", self.components, "auto", int)
        _correction(self.correction)

    def estimator(self) -> "MixtureEstimator":
        """Return the estimator, not yet fitted.

        Raises
        ------
        InvalidInputError
            If an option was given that the method does not have.
        """
        from itemix import estimators

        class_name, inference = _CLASS_OF[self.method]
        cls = getattr(estimators, class_name)
        given: dict[str, Any] = {
            "components": _number_or("--components", self.components, "auto", int),
            "alpha": _number_or("--alpha", self.alpha, "learn", float),
            "beta": _number_or("--beta", self.beta, "learn", float),
            "correction": _correction(self.correction),
            **{
                name: getattr(self, name)
                for name in (
                    "criterion", "gamma", "init", "starts", "max_iter", "tol", "samples", "thin", "seed",
                    "threads",
                )
            },
        }  # fmt: skip
        arguments = {"inference": inference} if inference else {}
        for name, value in given.items():
            parameter = _PARAMETER_OF.get(name, name)
            if value is None:
                continue
            if parameter not in inspect.signature(cls).parameters:
                raise InvalidInputError(
                    f"expected options that {self.method} has, got --{name.replace('_', '-')}; leave it out, "
                    "or try --method gsdpm"
                )
            arguments[parameter] = value
        estimator: MixtureEstimator = cls(**arguments)
        return estimator


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
    """Learn a mixture model of transactions.

    On a terminal, the progress is shown; Ctrl-C ends the fit early, and the best state so far is saved. Mine
    the model with itemix mine, ask it with itemix query and recommend, look at it with itemix show.
    """
    if output is None:
        raise InvalidInputError("expected -o with a file to save the model to, got none; try -o model.itemix")
    from itemix.files import checked_target

    checked_target(output)
    estimator = fitting.estimator()
    model = fitted(estimator, read_source(source, reading, quiet=quiet), fitting.method, quiet=quiet)
    model.save(output)
    note(f"wrote {output}: itemix show {output} shows what it has found", quiet=quiet)


def fitted(
    model: "MixtureEstimator", transactions: "Transactions", method: str, *, quiet: bool
) -> "MixtureEstimator":
    """Fit a model, showing the progress on a terminal, and say on standard error how it went."""
    from sklearn.exceptions import ConvergenceWarning

    with stopwatch(quiet=quiet) as watch, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        with watching(method, len(transactions), quiet=quiet) as callbacks:
            model.fit(transactions, callbacks=callbacks)
        seconds = watch.seconds()
    for warning in warned:
        note(in_options(str(warning.message)), quiet=quiet)
    note(_summary(model, method, seconds), quiet=quiet)
    return model


def refuse_fitting(fitting: Fitting, source: str) -> None:
    """Refuse options that say how to fit where a model is there already.

    Raises
    ------
    InvalidInputError
        If there are any.
    """
    if fitting != Fitting():
        raise InvalidInputError(
            f"expected options of fitting only with transactions, got them with the model {source!r}; leave "
            "them out"
        )


def _summary(model: "MixtureEstimator", method: str, seconds: float) -> str:
    from itemix.display import joined, plural

    samples = len(model.posteriors_)
    last = model.posteriors_[-1].n_components if samples > 1 else model.n_components_
    state = "converged" if model.converged_ else "not converged"
    parts = (
        components(last, samples),
        correction(model.corrected_),
        f"{state} after {plural(model.n_iter_, 'iteration')}",
        f"{model.lower_bound_:.4f} a transaction",
        f"{seconds:.1f} s",
    )
    return f"{method}: {joined(parts)}"


def _correction(text: str) -> str | int | None:
    """Return the parameter of an estimator that --correction stands for."""
    return None if text == "none" else _number_or("--correction", text, "auto", int)


def _number_or(option_name: str, text: str | None, word: str, number: type) -> Any:  # noqa: ANN401 - or the word
    """Return the number that an option has, or its word, or None."""
    if text is None or text == word:
        return text
    try:
        return number(text)
    except ValueError:
        kind = "a whole number" if number is int else "a number"
        raise InvalidInputError(
            f"expected {option_name} as {kind} or {word}, got {text!r}; try {option_name} {word}"
        ) from None
