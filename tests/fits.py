"""The kinds of fits that the tests of estimators go through."""

from itemix.estimators import BayesianMixture, BernoulliMixture, DirichletProcessMixture

BAYESIAN = [BayesianMixture, DirichletProcessMixture]
CLASSES = [BernoulliMixture, *BAYESIAN]
GIBBS = {"inference": "gibbs", "max_iter": 400, "n_samples": 3, "thin": 2}


def learned_names(model):
    """Return the names of all that an estimator has learned."""
    return {
        name
        for name in dir(model)
        if name.endswith("_") and not name.startswith("_") and hasattr(model, name)
    }
