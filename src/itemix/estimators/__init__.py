"""The models as scikit-learn estimators."""

from __future__ import annotations

from itemix.estimators.bayesian import BayesianMixture, DirichletProcessMixture
from itemix.estimators.bernoulli import BernoulliMixture, IndependentModel
from itemix.estimators.causes import MultipleCauseMixture
from itemix.estimators.chow_liu import ChowLiuMixture, ChowLiuTree
from itemix.estimators.front_door import fit
from itemix.estimators.latent import LatentTreeModel
from itemix.estimators.maxent import MaxEntropyModel
from itemix.estimators.summary import Summary, compare_components, summarise, surprises

__all__ = [
    "BayesianMixture",
    "BernoulliMixture",
    "ChowLiuMixture",
    "ChowLiuTree",
    "DirichletProcessMixture",
    "IndependentModel",
    "LatentTreeModel",
    "MaxEntropyModel",
    "MultipleCauseMixture",
    "Summary",
    "compare_components",
    "fit",
    "summarise",
    "surprises",
]
