"""Write the golden model files of this format and what they answer: ``python tests/golden/write_golden.py``.

Done once for each format number; the files of older formats stay, since later versions must read them.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from itemix import BayesianMixture, BernoulliMixture, DirichletProcessMixture, Transactions
from itemix.mixture import Mixture
from itemix.storage import save
from itemix.tensor_files import FORMAT

FOLDER = Path(__file__).parent / f"format-{FORMAT}"
GIBBS = {"inference": "gibbs", "max_iter": 10, "n_samples": 2, "thin": 2, "random_state": 0}


def golden_models():
    """Return a small model of every kind, by name; together they use every part of the format."""
    names = ["milk", "bread, white", "crème", "牛乳"]
    truth = Mixture([0.6, 0.4], [[0.9, 0.8, 0.1, 0.2], [0.1, 0.2, 0.7, 0.0]], names)
    data = truth.sample(80, random_state=0)
    matrix = data.to_scipy().toarray()
    numbered = Transactions.from_matrix(matrix, items=[10, -2, 2**40, 0])
    return {
        "mixture": truth,
        "nbm": BernoulliMixture("auto", random_state=0).fit(pd.DataFrame(matrix, columns=names)),
        "vfbm": BayesianMixture(2, init=truth, beta=[0.5, 0.4, 0.3, 0.2], random_state=0)
        .partial_fit(data)
        .partial_fit(data),
        "gsfbm": BayesianMixture(2, n_init=2, **GIBBS).fit(numbered),
        "vdpm": DirichletProcessMixture(4, init=np.arange(80) % 4, random_state=0).fit(data),
        "gsdpm": DirichletProcessMixture(2, alpha="learn", beta="learn", init="one", **GIBBS).fit(data),
    }


def answers_of(model):
    """Return what a model answers about its items, and what it says of its training."""
    items = list(model.mixture_.items if hasattr(model, "mixture_") else model.items)
    found = {
        "items": items,
        "probabilities": [model.probability(items[:n]) for n in range(1, len(items) + 1)],
        "conditional": model.probability(items[:1], given=items[1:2], given_absent=items[2:3]),
    }
    if isinstance(model, Mixture):
        return found
    found["log_likelihoods"] = model.score_samples(
        Transactions.from_matrix(np.eye(len(items), dtype=int)[1:], items)
    ).tolist()
    found |= {name: getattr(model, name) for name in ("n_iter_", "converged_", "lower_bound_")}
    if model.posteriors_:
        found["interval"] = list(model.interval(items[:2]))
    if hasattr(model, "chains_"):
        found["n_components"] = model.chains_.traces()["n_components"].tolist()
    return found


if __name__ == "__main__":
    FOLDER.mkdir()
    warnings.simplefilter("ignore")
    models = golden_models()
    for name, model in models.items():
        save(model, FOLDER / f"{name}.itemix")
    answers = {name: answers_of(model) for name, model in models.items()}
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")
