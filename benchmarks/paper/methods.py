"""The methods that are compared: a line in the table is all that a new one needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import itemix

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix import Transactions

# Predictions that are not fitted: the supports of the training part, and the mixture that the data came from.
FLOOR, TRUTH = "floor", "truth"
# GSDPM with a learned prior, with little data to train: it is judged with its correction and without.
SAMPLED = "sampled"
# The parts in which the paper's methods are compared.
COMPARISONS = ("table3", "table4", "alike", "beyond", "density")
_RAREST = 1e-4
# The paper's methods start from spread-out transactions, whatever the default of a class is.
_START = "k-means++"
# The starts of each inference: first that of the classes, then the others that there are.
STARTS = {
    "vfbm": ("sampled", "k-means++", "random"),
    "vfbm-learned": ("sampled", "k-means++", "random"),
    "vdpm": ("sampled", "k-means++", "random"),
    "gsfbm": ("k-means++", "random"),
    "gsdpm": ("k-means++", "random", "one"),
}
# What `itemix.fit` makes, which has no choices.
FRONT = "itemix.fit"


def scaled_prior(train: Transactions, strength: float) -> dict[str, Any]:
    """Return beta and gamma that are worth some number of transactions; the paper's are worth one."""
    frequency = np.clip(train.item_counts() / train.n_transactions, _RAREST, 1 - _RAREST)
    return {"beta": strength * frequency, "gamma": strength * (1 - frequency)}


@dataclass(frozen=True)
class Method:
    """How to make an estimator.

    Attributes
    ----------
    label : str
        Its name in tables.
    make : callable
        Takes the number of components (None where the method finds it), the seed and, by keyword, beta and
        gamma where they are not the default ones.
    has_components : bool
        Whether the number of components is a choice.
    has_prior : bool
        Whether the strength of the prior is a choice.
    parts, only : tuple of str
        The parts of the experiments in which it stands, and the data sets, where it is not for all of them.
    usual : int
        The number of components past the paper.
    choices, strengths : tuple
        The numbers of components and the strengths of the prior in the density yardstick, where they are not
        those of all methods.
    prior : callable
        Takes the training part and a strength; returns options of `make`.
    """

    label: str
    make: Callable[..., Any]
    has_components: bool = True
    has_prior: bool = True
    parts: tuple[str, ...] = COMPARISONS
    only: tuple[str, ...] = ()
    usual: int = 50
    choices: tuple[int, ...] = ()
    strengths: tuple[float, ...] = ()
    prior: Callable[[Transactions, float], dict[str, Any]] = scaled_prior

    def stands_on(self, dataset: str) -> bool:
        """Whether it is for a data set."""
        return not self.only or dataset in self.only


def _nbm(n_components: int, seed: int) -> itemix.BernoulliMixture:
    return itemix.BernoulliMixture(n_components, random_state=seed, init=_START)


def _short_nbm(n_components: int, seed: int) -> itemix.BernoulliMixture:
    return itemix.BernoulliMixture(n_components, random_state=seed, init="random", max_iter=15)


def _finite(inference: Any, **options: Any) -> Callable[..., Any]:  # noqa: ANN401 - one of two words
    return lambda n_components, seed, **more: itemix.BayesianMixture(
        n_components, inference=inference, random_state=seed, **{"init": _START, **options, **more}
    )


def _process(inference: Any, **options: Any) -> Callable[..., Any]:  # noqa: ANN401 - as above
    return lambda n_components, seed, **prior: itemix.DirichletProcessMixture(
        n_components, inference=inference, random_state=seed, **{"init": _START, **options, **prior}
    )


METHODS = {
    "nbm": Method("NBM", _nbm, has_prior=False),
    "vfbm": Method("VFBM", _finite("variational")),
    "gsfbm": Method("GSFBM", _finite("gibbs")),
    "vdpm": Method("VDPM", _process("variational")),
    "gsdpm": Method("GSDPM", _process("gibbs"), has_components=False),
    "gsdpm-learned": Method(
        "GSDPM, prior learned",
        _process("gibbs", alpha="learn", beta="learn"),
        has_components=False,
        has_prior=False,
        parts=("density", "probes", "beyond"),
    ),
    "gsdpm-long": Method(
        "GSDPM, 2,000 iterations from one component",
        _process("gibbs", init="one", max_iter=2000, tol=0),
        has_components=False,
        parts=("probes",),
    ),
    "vfbm-learned": Method("VFBM, prior learned", _finite("variational", beta="learn"), parts=()),
    "nbm-short": Method(
        "NBM, 15 iterations from random labels", _short_nbm, has_prior=False, parts=("probes",)
    ),
    "independent": Method(
        "independent items",
        lambda n_components, seed: itemix.IndependentModel(),
        has_components=False,
        has_prior=False,
        parts=("density", "beyond"),
    ),
    "chow-liu": Method(
        "Chow-Liu tree",
        lambda n_components, seed: itemix.ChowLiuTree(),
        has_components=False,
        has_prior=False,
        parts=("density", "beyond"),
    ),
    "trees": Method(
        "mixture of Chow-Liu trees",
        lambda n_components, seed, **prior: itemix.ChowLiuMixture(n_components, random_state=seed, **prior),
        parts=("density", "beyond"),
        usual=20,
        choices=(5, 10, 20, 40, 80),
        strengths=(5, 20, 50, 200),
        prior=lambda train, strength: {"pooling": strength},
    ),
    # What is asked for may hold at most 14 items that hang together: too few for the dense sets.
    "maxent": Method(
        "maximum entropy",
        lambda n_components, seed: itemix.MaxEntropyModel(min_support=0.002),
        has_components=False,
        has_prior=False,
        parts=("beyond",),
        only=("msweb", "groceries", "retail", "toy"),
    ),
    "vdpm-corrected": Method(
        "VDPM, corrected",
        _process("variational", correction="auto"),
        has_components=False,
        parts=("beyond",),
    ),
    # Three fits of retail by sampling take many minutes a run.
    "gsdpm-corrected": Method(
        "GSDPM, corrected",
        _process("gibbs", correction="auto"),
        has_components=False,
        parts=("beyond",),
        only=("chess", "mushroom", "accidents", "msweb", "groceries", "toy"),
    ),
}
PAPER_METHODS = ("nbm", "vfbm", "gsfbm", "vdpm", "gsdpm")
BAYESIAN = ("vfbm", "gsfbm", "vdpm", "gsdpm")
CORRECTED = ("vdpm-corrected", "gsdpm-corrected")
# The one that is fitted to many random halves.
MANY = "vdpm-corrected"


def standing_in(part: str) -> list[str]:
    """Return the methods of a part."""
    return [name for name, method in METHODS.items() if part in method.parts]


def label(method: str) -> str:
    """Return the name of a method in tables."""
    names = {FLOOR: "floor", TRUTH: "the true mixture", FRONT: "`itemix.fit`"}
    return METHODS[method].label if method in METHODS else names.get(method, method)


def found_components(model: Any) -> float | None:  # noqa: ANN401 - any estimator
    """Return the number of components of a fitted model; of chains, the mean after burn-in."""
    chains = getattr(model, "chains_", None)
    if chains is not None:
        return float(np.mean([chain.n_components[chain.n_burn :].mean() for chain in chains.chains]))
    found = getattr(model, "n_components_", None)
    return None if found is None else float(found)
