"""``itemix fit``: learn a model of transactions, and save it.

`Fitting` holds the options and makes the estimator of them; `fitted` fits it and shows the progress. The
commands explore and report use both, too.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import warnings
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from itemix._files import refuse_repeated
from itemix.cli.ctrl_c import Keeping
from itemix.cli.options import (
    Quiet,
    Reading,
    SourceArgument,
    as_support,
    check_choice,
    in_options,
    one_of,
    option,
)
from itemix.cli.output import note, stopwatch
from itemix.cli.sources import read_source
from itemix.errors import InvalidInputError
from itemix.inference import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from itemix.core.transactions import Transactions
    from itemix.estimators import DirichletProcessMixture
    from itemix.estimators.base import MixtureEstimator, ModelEstimator

CRITERIA = ("bic", "aic", "held-out")
INITS = ("sampled", "k-means++", "random", "one", "mixture")
# What methods cannot start from, by their inference or estimator; and what all others cannot.
_NO_INIT_OF = {"gibbs": ("sampled", "mixture"), "ChowLiuMixture": ("sampled", "one")}
_NO_INITS = ("one", "mixture")

_MODEL = "Which model"
_OTHERS = "Trees, maximum entropy, independent items"
_RUN = "How it is fitted"
_PARAMETER_OF = {
    "components": "n_components",
    "itemset_support": "min_support",
    "itemset_len": "max_len",
    "starts": "n_init",
    "samples": "n_samples",
    "seed": "random_state",
    "threads": "n_jobs",
}
# What --components is called where it is not n_components.
_SIZES = ("n_causes", "n_states")
_METHODS = ("auto", "density", *METHODS)
_ONLY_SAMPLING = ("samples", "thin", "max_components")
# Defaults for all methods; a method that has no such parameter does without it.
_DEFAULTS = {"correction": "auto", "threads": -1}
# Options that any method may be given. A method without chance gives the same model for any seed.
_NEEDLESS = ("seed",)


@dataclasses.dataclass(frozen=True)
class Fitting:
    """Which model is to be fitted, and how."""

    method: Annotated[
        str,
        option(
            "--method",
            panel=_MODEL,
            metavar="|".join(_METHODS),
            autocompletion=one_of(_METHODS),
            help="Gibbs sampling (gs) or variational inference (v) for the Dirichlet process (dpm), which "
            "finds the number of components, or for a finite Bayesian mixture (fbm); or EM (nbm); or a model "
            "of another kind; density takes the kind that predicts best. By default auto: gsdpm, and if no "
            "other option says how, everything is chosen "
            "as itemix.fit chooses it.",
        ),
    ] = "auto"
    components: Annotated[
        str | None,
        option(
            "--components",
            "-K",
            panel=_MODEL,
            metavar="N|auto",
            help="The number of components (10 by default), or auto to choose it; for a Dirichlet process, "
            "which finds its own number, only where it starts or ends (50 by default); the causes of causes, "
            "and the states of latent-tree.",
        ),
    ] = None
    criterion: Annotated[
        str | None,
        option(
            "--criterion",
            panel=_MODEL,
            metavar="|".join(CRITERIA),
            autocompletion=one_of(CRITERIA),
            help="What chooses the number of components with --components auto; held-out by default.",
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
            metavar="X|learn|learn-by-frequency",
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
            help="Correct the model by the transactions themselves, beside which it is worth N of them; "
            "auto, the default, finds out on held-out data how many.",
        ),
    ] = "auto"
    smoothing: Annotated[
        float | None,
        option(
            "--smoothing",
            panel=_OTHERS,
            metavar="X",
            help="Transactions of independent items that are added, so that nothing is impossible; 1 by "
            "default.",
        ),
    ] = None
    pooling: Annotated[
        str | None,
        option(
            "--pooling",
            panel=_OTHERS,
            metavar="X|auto",
            help="Transactions of the whole data that each of several trees sees besides; 20 by default.",
        ),
    ] = None
    edge_cost: Annotated[
        str | None,
        option(
            "--edge-cost",
            panel=_OTHERS,
            metavar="X|bic",
            help="The log-likelihood that an edge of a tree must gain; bic, half the logarithm of the number "
            "of transactions, by default.",
        ),
    ] = None
    itemset_support: Annotated[
        str | None,
        option(
            "--itemset-support",
            panel=_OTHERS,
            metavar="SUPPORT",
            help="Maximum entropy: the support from which itemsets are frequent, as a fraction, a percentage "
            "or a whole number of transactions; 0.01 by default.",
        ),
    ] = None
    itemset_len: Annotated[
        int | None,
        option(
            "--itemset-len",
            panel=_OTHERS,
            metavar="N",
            help="Maximum entropy: the longest itemsets whose supports the model knows; 3 by default.",
        ),
    ] = None
    init: Annotated[
        str | None,
        option(
            "--init",
            panel=_RUN,
            metavar="|".join(INITS),
            autocompletion=one_of(INITS),
            help="How to start: from labels that short chains have drawn (EM and variational), spread-out "
            "transactions, random labels, (sampling) one component, or (trees) a mixture without trees.",
        ),
    ] = None
    starts: Annotated[
        int | None,
        option(
            "--starts",
            panel=_RUN,
            metavar="N",
            help="Starts, the best of which is kept; or chains. One by default.",
        ),
    ] = None
    max_iter: Annotated[
        int | None, option("--max-iter", panel=_RUN, metavar="N", help="The most iterations; 300 by default.")
    ] = None
    tol: Annotated[
        float | None,
        option(
            "--tol",
            panel=_RUN,
            metavar="X",
            help="It has converged when an iteration gains less than this for each transaction.",
        ),
    ] = None
    samples: Annotated[
        int | None,
        option("--samples", panel=_RUN, metavar="N", help="Samples that each chain keeps; 5 by default."),
    ] = None
    thin: Annotated[
        int | None,
        option("--thin", panel=_RUN, metavar="N", help="Iterations between two of them; 10 by default."),
    ] = None
    max_components: Annotated[
        int | None,
        option(
            "--max-components",
            panel=_RUN,
            metavar="N",
            help="The most components of a sample of gsdpm; by default 4,000,000 divided by the number of "
            "items, but from 50 to 500.",
        ),
    ] = None
    seed: Annotated[
        int | None, option("--seed", panel=_RUN, metavar="N", help="The same seed gives the same model.")
    ] = None
    threads: Annotated[
        int,
        option("--threads", "-j", panel=_RUN, metavar="N", help="Threads to use; by default all processors."),
    ] = -1

    def __post_init__(self) -> None:
        check_choice("--method", self.method, _METHODS)
        check_choice("--criterion", self.criterion, CRITERIA)
        method = METHODS[self.name]
        impossible = _NO_INIT_OF.get(method.inference or method.estimator, _NO_INITS)
        check_choice("--init", self.init, tuple(init for init in INITS if init not in impossible))
        for name in _ONLY_SAMPLING:
            if getattr(self, name) is not None and method.keeps != "draws":
                raise InvalidInputError(
                    f"expected --{name.replace('_', '-')} only with the sampling methods gsdpm and gsfbm, "
                    f"got it with {self.name}; leave it out"
                )
        self._given()
        if self.wants_density and not dataclasses.replace(self, method="auto").leaves_the_choice:
            raise InvalidInputError(
                "expected only --seed and --threads with --method density, which chooses all else, got other "
                "options; leave them out"
            )

    @property
    def wants_density(self) -> bool:
        """Whether the family is to be chosen that predicts best."""
        return self.method == "density"

    @property
    def leaves_the_choice(self) -> bool:
        """Whether no option says which model is fitted, or how."""
        return dataclasses.replace(self, seed=None, threads=-1) == Fitting()

    @property
    def name(self) -> str:
        """The short name of the method; that of a density is not known yet."""
        return "gsdpm" if self.method in ("auto", "density") else self.method

    def _given(self) -> dict[str, Any]:
        """Return the value of each option by its name, None where it was not given."""
        components = _number_or("--components", self.components, "auto", int)
        is_process = METHODS[self.name].weights == "sticks"
        return {
            "components": None if is_process and components == "auto" else components,
            "alpha": _number_or("--alpha", self.alpha, "learn", float),
            "beta": _number_or("--beta", self.beta, "learn", float, "learn-by-frequency"),
            "correction": _correction(self.correction),
            "pooling": _number_or("--pooling", self.pooling, "auto", float),
            "itemset_support": as_support(self.itemset_support, "--itemset-support"),
            "edge_cost": _number_or("--edge-cost", self.edge_cost, "bic", float),
            **{
                name: getattr(self, name)
                for name in (
                    "criterion", "gamma", "smoothing", "itemset_len", "init", "starts",
                    "max_iter", "tol", "samples", "thin", "max_components", "seed", "threads",
                )
            },
        }  # fmt: skip

    def estimator(self) -> MixtureEstimator | ModelEstimator:
        """Return the estimator, not yet fitted.

        Raises
        ------
        InvalidInputError
            If an option was given that the method does not have.
        """
        from itemix import estimators

        def parameters_of(method: str) -> Collection[str]:
            return inspect.signature(getattr(estimators, METHODS[method].estimator)).parameters

        chosen = METHODS[self.name]
        arguments: dict[str, Any] = {"inference": chosen.inference} if chosen.inference else {}
        has = parameters_of(self.name)
        for name, value in self._given().items():
            parameter = _PARAMETER_OF.get(name, name)
            if parameter == "n_components":
                parameter = next((own for own in _SIZES if own in has), parameter)
            is_needless = name in _NEEDLESS or value == _DEFAULTS.get(name)
            if value is None or (parameter not in has and is_needless):
                continue
            if parameter not in has:
                other = next(method for method in METHODS if parameter in parameters_of(method))
                raise InvalidInputError(
                    f"expected options that {self.name} has, got --{name.replace('_', '-')}; leave it out, "
                    f"or try --method {other}"
                )
            arguments[parameter] = value
        estimator: MixtureEstimator | ModelEstimator = getattr(estimators, chosen.estimator)(**arguments)
        return estimator


def in_parameters(message: str) -> str:
    """Say ``itemset_support`` for the estimator's ``min_support``: the options have names of their own."""
    own = {_PARAMETER_OF[name]: name for name in ("itemset_support", "itemset_len")}
    return re.sub(rf"\b({'|'.join(own)})\b", lambda match: own[match[1]], message)


def _correction(text: str) -> float | str | None:
    """Return the parameter of an estimator that --correction stands for."""
    if text == "none":
        return None
    found = _number_or("--correction", text, "auto", float)
    if isinstance(found, float) and not 0 < found < math.inf:
        raise InvalidInputError(
            f"expected --correction as auto, none or a positive number, got {text!r}; try --correction auto"
        )
    return found


def _number_or(
    option_name: str, text: str | None, word: str, number: type[int | float], *more: str
) -> float | str | None:
    """Return the value of an option that takes a number or one of some words; None if it was not given."""
    if text is None or text in (word, *more):
        return text
    try:
        return number(text)
    except ValueError:
        kind = "a whole number" if number is int else "a number"
        words = [word, *more]
        from itemix._checks import nearest  # it imports NumPy, and help does without

        meant = (nearest(text, words) or words)[0]
        raise InvalidInputError(
            f"expected {option_name} as {kind} or {' or '.join(words)}, got {text!r}; "
            f"try {option_name} {meant}"
        ) from None


def fit(
    *,
    source: SourceArgument,
    fitting: Fitting,
    reading: Reading,
    groups: Annotated[
        str | None,
        option(
            "--groups",
            panel=_MODEL,
            metavar="COLUMN",
            help="Learn also what groups have of their own: the column of the long table with the customer, "
            "store or month of each transaction. Such a model of mixtures has no correction.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        option(
            "--output", "-o", panel="Output", metavar="FILE", help="Where to save the model: model.itemix."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Learn a model of transactions.

    On a terminal, the progress is shown. Ctrl-C ends the fit early, and the best state so far is saved; a
    second one ends the program at once. Mine the model with itemix mine, ask it with itemix query and
    recommend, look at it with itemix show.
    """
    if output is None:
        raise InvalidInputError("expected -o with a file to save the model to, got none; try -o model.itemix")
    from itemix._files import checked_target

    checked_target(output)
    refuse_repeated(source, reading.names)
    if groups is not None:
        reading = _with_groups(fitting, reading, groups)
    fitting.estimator()  # says what is wrong before the data is read
    try:
        transactions = read_source(source, reading, quiet=quiet)
    except InvalidInputError as error:
        if groups is not None and str(error).startswith(f"expected a column {groups!r}"):
            raise InvalidInputError(str(error).replace("with transaction=", "with --groups")) from error
        raise
    model = fitted(fitting, transactions, groups=groups, quiet=quiet)
    model.save(output)
    note(f"wrote {output}: itemix show {output} shows what it has found", quiet=quiet)


def _with_groups(fitting: Fitting, reading: Reading, groups: str) -> Reading:
    """Return the options for a fit with groups: their column is among the ids of transactions.

    Raises
    ------
    InvalidInputError
        If the method has no groups, no option names the transactions of a long table, or the column is
        that of transactions or items itself.
    """
    if (
        fitting.wants_density
        or METHODS[fitting.name].model != "Mixture"
        or METHODS[fitting.name].keeps == "nothing"
    ):
        able = [name for name, method in METHODS.items() if method.keeps in ("draws", "counts")]
        raise InvalidInputError(
            f"expected one of {', '.join(able)} with --groups, got "
            f"{'density' if fitting.wants_density else fitting.name}; leave --groups out"
        )
    if not reading.transaction:
        raise InvalidInputError(
            "expected --transaction and --item with --groups, which is a column of a long table, got no "
            "--transaction; name the columns"
        )
    if groups == reading.item or [groups] == list(reading.transaction):
        own = "items" if groups == reading.item else "transactions"
        raise InvalidInputError(
            f"expected another column with --groups than that of {own}, got {groups!r} for both; name the "
            "column of the customer, store or month"
        )
    columns = list(dict.fromkeys([*reading.transaction, groups]))
    return dataclasses.replace(reading, transaction=columns)


def fitted(
    fitting: Fitting, transactions: Transactions, *, groups: str | None = None, quiet: bool
) -> MixtureEstimator | ModelEstimator:
    """Fit a model, showing the progress on a terminal, and say on standard error how it went.

    Where no option says which model or how, it is the one of `itemix.fit`.
    """
    from sklearn.exceptions import ConvergenceWarning

    from itemix.estimators.bayesian import fit_as_recommended, recommendation
    from itemix.estimators.front_door import fit_density
    from itemix.inference.loop import shown_progress

    if fitting.wants_density:
        with stopwatch(quiet=quiet) as watch:
            found = fit_density(
                transactions, random_state=fitting.seed or 0, n_jobs=fitting.threads, quiet=quiet
            )
            note(_summary(found, watch.seconds()), quiet=quiet)
        return found
    model = fitting.estimator()
    fit: Callable[..., object] = model.fit
    if fitting.leaves_the_choice:
        note(f"fit: {recommendation(transactions, groups)}", quiet=quiet)
        fit = partial(fit_as_recommended, cast("DirichletProcessMixture", model))
    if groups is not None:
        fit = partial(fit, groups=groups)
        if fitting.correction == _DEFAULTS["correction"]:
            model.set_params(correction=None)
    with stopwatch(quiet=quiet) as watch, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        with shown_progress("fit", len(transactions), quiet=quiet) as callbacks, Keeping() as keeping:
            try:
                fit(transactions, callbacks=[*callbacks, keeping])
            except InvalidInputError as error:
                raise InvalidInputError(in_parameters(str(error))) from None
        seconds = watch.seconds()
    for warning in warned:
        note(in_options(str(warning.message)), quiet=quiet)
    note(_summary(model, seconds), quiet=quiet)
    return model


def refuse_fitting(fitting: Fitting, source: str, output: str | None = None) -> None:
    """Refuse options that say how to fit a model, or where to save it, if it is fitted already.

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


def _summary(model: MixtureEstimator | ModelEstimator, seconds: float) -> str:
    from itemix.core.display import joined, plural

    training = model.fitted_.training
    parts = model.fitted_.parts
    if training is not None and training.bound is not None:
        state = "converged" if training.converged else "not converged"
        parts.append(f"{state} after {plural(training.n_iter or 0, 'iteration')}")
        parts.append(f"{training.bound:.4f} a transaction")
    return f"{model.fitted_.method}: {joined([*parts, f'{seconds:.1f} s'])}"
