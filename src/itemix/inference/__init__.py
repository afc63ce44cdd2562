"""Inference: the algorithms that fit models. Here is the table of methods: every way, by its short name.

Files, the command line, reports and pictures use it. It imports nothing of ours, so that it loads at once.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["METHODS", "Method", "bayesian_method"]


class Method(NamedTuple):
    """A way to fit a model.

    Attributes
    ----------
    estimator : str
        The class in `itemix.estimators`.
    inference : {"variational", "gibbs"} or None
        Its parameter of that name; None if it has none.
    weights : {"dirichlet", "sticks"} or None
        The prior of the weights of components; None if there is none.
    model : str
        The class of the model that it learns, without a correction.
    keeps : {"draws", "counts", "climb", "nothing"}
        What a fit keeps besides the model: the draws of chains; expected counts, from which a stream
        continues; how the bound rose; or nothing.
    climbs : str
        The name of the bound that rises during a fit; empty if there is none.
    """

    estimator: str
    inference: Literal["variational", "gibbs"] | None
    weights: Literal["dirichlet", "sticks"] | None
    model: str
    keeps: Literal["draws", "counts", "climb", "nothing"]
    climbs: str = ""


METHODS = {
    "gsdpm": Method(
        "DirichletProcessMixture", "gibbs", "sticks", "Mixture", "draws", "Joint log-probability"
    ),
    "vdpm": Method(
        "DirichletProcessMixture", "variational", "sticks", "Mixture", "counts", "Evidence lower bound"
    ),
    "gsfbm": Method("BayesianMixture", "gibbs", "dirichlet", "Mixture", "draws", "Joint log-probability"),
    "vfbm": Method(
        "BayesianMixture", "variational", "dirichlet", "Mixture", "counts", "Evidence lower bound"
    ),
    "nbm": Method("BernoulliMixture", None, None, "Mixture", "counts", "Log-likelihood"),
    "causes": Method("MultipleCauseMixture", None, None, "CauseMixture", "climb", "Log-posterior"),
    "chow-liu-mixture": Method("ChowLiuMixture", None, None, "TreeMixture", "climb", "Log-posterior"),
    "latent-tree": Method("LatentTreeModel", None, None, "LatentTree", "climb", "Held-out log-likelihood"),
    "chow-liu": Method("ChowLiuTree", None, None, "TreeMixture", "nothing"),
    "maxent": Method("MaxEntropyModel", None, None, "MaxEntropy", "nothing"),
    "independent": Method("IndependentModel", None, None, "Mixture", "nothing"),
}


def bayesian_method(weights: str, inference: str) -> str:
    """Return the short name of a Bayesian method, by the prior of its weights and its inference."""
    found = (weights, inference)
    return next(name for name, method in METHODS.items() if (method.weights, method.inference) == found)
