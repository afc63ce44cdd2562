"""The mixture models as scikit-learn estimators."""

from __future__ import annotations

from itemix.estimators.bayesian import BayesianMixture, DirichletProcessMixture
from itemix.estimators.bernoulli import BernoulliMixture

__all__ = ["BayesianMixture", "BernoulliMixture", "DirichletProcessMixture"]
