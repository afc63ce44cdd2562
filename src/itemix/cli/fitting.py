"""Which model `itemix fit` is to learn, and how: the options, and the estimator that they make."""

import dataclasses
import inspect
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

from itemix.cli.completing import one_of
from itemix.cli.options import as_support, check_choice, option
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.estimators.base import MixtureEstimator
    from itemix.estimators.single import ModelEstimator

_CLASS_OF = {
    "gsdpm": ("DirichletProcessMixture", "gibbs"),
    "vdpm": ("DirichletProcessMixture", "variational"),
    "gsfbm": ("BayesianMixture", "gibbs"),
    "vfbm": ("BayesianMixture", "variational"),
    "nbm": ("BernoulliMixture", None),
    "chow-liu-mixture": ("ChowLiuMixture", None),
    "chow-liu": ("ChowLiuTree", None),
    "maxent": ("MaxEntropyModel", None),
    "independent": ("IndependentModel", None),
}
METHODS = tuple(_CLASS_OF)
CRITERIA = ("bic", "aic", "held-out")
INITS = ("k-means++", "random", "one", "mixture")
# What some methods cannot start from.
_NO_INIT_OF = {"gibbs": ("mixture",), "ChowLiuMixture": ("one",)}
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
_CORRECTIONS: dict[str, str | int | None] = {"none": None, "auto": "auto", "2": 2, "3": 3, "4": 4, "5": 5}
_ONLY_SAMPLING = ("samples", "thin")
# What all methods are given unless something else is said, also those that have no such thing.
_DEFAULTS = {"correction": "auto", "threads": -1}
# What methods may be given that have no such thing: without chance, any seed gives the same model.
_NEEDLESS = ("seed",)


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
            "finds the number of components, or for a finite Bayesian mixture (fbm); or EM (nbm); or a model "
            "of another kind. By default gsdpm.",
        ),
    ] = "gsdpm"
    components: Annotated[
        str | None,
        option(
            "--components",
            "-K",
            panel=_MODEL,
            metavar="N|auto",
            help="The number of components (10 by default), or auto to choose it; for a Dirichlet process, "
            "which finds its own number, only where it starts or ends (50 by default).",
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
            help="Maximum entropy: the longest itemsets that the model is told of; 3 by default.",
        ),
    ] = None
    init: Annotated[
        str | None,
        option(
            "--init",
            panel=_RUN,
            metavar="|".join(INITS),
            autocompletion=one_of(INITS),
            help="How to start: from spread-out transactions, random labels, (sampling) one component, or "
            "(trees) a mixture without trees.",
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
        class_name, inference = _CLASS_OF[self.method]
        impossible = _NO_INIT_OF.get(inference or class_name, _NO_INITS)
        check_choice("--init", self.init, tuple(init for init in INITS if init not in impossible))
        for name in _ONLY_SAMPLING:
            if getattr(self, name) is not None and inference != "gibbs":
                raise InvalidInputError(
                    f"expected --{name} only with the sampling methods gsdpm and gsfbm, got it with "
                    f"{self.method}; leave it out"
                )
        self._given()

    def _given(self) -> dict[str, Any]:
        """Return the value of each option by its name, None where it was not given."""
        components = _number_or("--components", self.components, "auto", int)
        is_process = _CLASS_OF[self.method][0] == "DirichletProcessMixture"
        return {
            "components": None if is_process and components == "auto" else components,
            "alpha": _number_or("--alpha", self.alpha, "learn", float),
            "beta": _number_or("--beta", self.beta, "learn", float),
            "correction": _correction(self.correction),
            "pooling": _number_or("--pooling", self.pooling, "auto", float),
            "itemset_support": as_support(self.itemset_support, "--itemset-support"),
            "edge_cost": _number_or("--edge-cost", self.edge_cost, "bic", float),
            **{
                name: getattr(self, name)
                for name in (
                    "criterion", "gamma", "smoothing", "itemset_len", "init", "starts",
                    "max_iter", "tol", "samples", "thin", "seed", "threads",
                )
            },
        }  # fmt: skip

    def estimator(self) -> "MixtureEstimator | ModelEstimator":
        """Return the estimator, not yet fitted.

        Raises
        ------
        InvalidInputError
            If an option was given that the method does not have.
        """
        from itemix import estimators

        def parameters_of(method: str) -> Collection[str]:
            return inspect.signature(getattr(estimators, _CLASS_OF[method][0])).parameters

        class_name, inference = _CLASS_OF[self.method]
        arguments = {"inference": inference} if inference else {}
        has = parameters_of(self.method)
        for name, value in self._given().items():
            parameter = _PARAMETER_OF.get(name, name)
            is_needless = name in _NEEDLESS or value == _DEFAULTS.get(name)
            if value is None or (parameter not in has and is_needless):
                continue
            if parameter not in has:
                other = next(method for method in METHODS if parameter in parameters_of(method))
                raise InvalidInputError(
                    f"expected options that {self.method} has, got --{name.replace('_', '-')}; leave it out, "
                    f"or try --method {other}"
                )
            arguments[parameter] = value
        estimator: MixtureEstimator | ModelEstimator = getattr(estimators, class_name)(**arguments)
        return estimator


def _correction(text: str) -> str | int | None:
    """Return the parameter of an estimator that --correction stands for."""
    if text in _CORRECTIONS:
        return _CORRECTIONS[text]
    raise InvalidInputError(
        f"expected --correction as auto, none or a number from 2 to 5, got {text!r}; try --correction auto"
    )


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
