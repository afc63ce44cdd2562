"""Write the golden model files of this format and what they answer: ``python tests/golden/write_golden.py``.

Done once for each format number, and once for each kind of model that comes to it: files that are there stay
as they are, since later versions must read them.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from itemix import (
    BayesianMixture,
    BernoulliMixture,
    ChowLiuMixture,
    ChowLiuTree,
    DirichletProcessMixture,
    IndependentModel,
    LatentTreeModel,
    MaxEntropyModel,
    MultipleCauseMixture,
    Transactions,
)
from itemix.correction import correct
from itemix.files import save
from itemix.files.container import FORMAT
from itemix.models.base import Model
from itemix.models.mixture import Mixture

FOLDER = Path(__file__).parent / f"format-{FORMAT}"
GIBBS = {"inference": "gibbs", "max_iter": 10, "n_samples": 2, "thin": 2, "random_state": 0}


def golden_models():
    """Return a small model of every kind, by name; together they use every part of the format."""
    names = ["milk", "bread, white", "crème", "牛乳"]
    truth = Mixture([0.6, 0.4], [[0.9, 0.8, 0.1, 0.2], [0.1, 0.2, 0.7, 0.0]], names)
    data = truth.sample(80, random_state=0)
    matrix = data.to_scipy().toarray()
    numbered = Transactions.from_matrix(matrix, items=[10, -2, 2**40, 0])
    trees = ChowLiuMixture("auto", pooling="auto", random_state=0).fit(pd.DataFrame(matrix, columns=names))
    start = ChowLiuMixture(2, edge_cost=0, random_state=0).fit(data).trees_
    baskets = Transactions.from_lists([[i, 20 + (7 * i) % 20] for i in range(20)])
    max_entropy = MaxEntropyModel(min_support=0.2, max_len=2).fit(data)
    return {
        "independent": IndependentModel().fit(data),
        "chow-liu": ChowLiuTree(edge_cost=0).fit(numbered),
        "causes": MultipleCauseMixture(2, random_state=0, correction=3).fit(data),
        "cause-mixture": MultipleCauseMixture(1, random_state=0).fit(numbered).mixture_,
        "latent-tree": LatentTreeModel(2, random_state=0).fit(data),
        "latent-tree-alone": LatentTreeModel(1, random_state=0).fit(numbered).tree_,
        "chow-liu-mixture": trees,
        "chow-liu-mixture-from-trees": ChowLiuMixture(2, init=start, random_state=0).fit(data),
        "tree-mixture": start,
        "maxent": max_entropy,
        "max-entropy": max_entropy.max_entropy_,
        "mixture": truth,
        "corrected-mixture": correct(truth, data, 3),
        "nbm": BernoulliMixture("auto", random_state=0).fit(pd.DataFrame(matrix, columns=names)),
        "vfbm": BayesianMixture(2, init=truth, beta=[0.5, 0.4, 0.3, 0.2], random_state=0)
        .partial_fit(data)
        .partial_fit(data),
        "gsfbm": BayesianMixture(2, n_init=2, **GIBBS).fit(numbered),
        "vdpm": DirichletProcessMixture(4, init=np.arange(80) % 4, random_state=0).fit(data),
        "vdpm-groups": DirichletProcessMixture(3, random_state=0).fit(data, groups=np.arange(80) % 7),
        "vdpm-named-groups": DirichletProcessMixture(3, random_state=0).fit(
            data, groups=[f"crème {row % 9}" for row in range(80)]
        ),
        "vdpm-unsure": DirichletProcessMixture(3, random_state=0).fit(data).partial_fit(data),
        "gsdpm": DirichletProcessMixture(2, alpha="learn", beta="learn", init="one", **GIBBS).fit(data),
        "gsdpm-wide": DirichletProcessMixture(5, **GIBBS).fit(baskets),
    }


def answers_of(model):
    """Return what a model answers about its items, and what it says of its training."""
    items = list(model.items if isinstance(model, Model) else model.model_.items)
    found = {
        "items": items,
        "probabilities": [model.probability(items[:n]) for n in range(1, len(items) + 1)],
        "conditional": model.probability(items[:1], given=items[1:2], given_absent=items[2:3]),
    }
    if isinstance(model, Model):
        return found
    found["log_likelihoods"] = model.score_samples(
        Transactions.from_matrix(np.eye(len(items), dtype=int)[1:], items)
    ).tolist()
    learned = ("n_iter_", "converged_", "lower_bound_", "pooling_", "n_constraints_")
    found |= {name: getattr(model, name) for name in learned if hasattr(model, name)}
    if getattr(model, "posteriors_", ()):
        found["interval"] = list(model.interval(items[:2]))
    if model.fitted_.component_labels is not None:
        found["component_labels"] = model.fitted_.component_labels.tolist()
    if model.fitted_.groups is not None:
        labels = list(model.fitted_.groups.labels)
        found["groups"] = labels
        found["of_groups"] = [model.probability(items[:2], group=label) for label in labels]
        found["similar"] = [found.group for found in model.similar_groups(labels[0])]
    if hasattr(model, "chains_"):
        found["n_components"] = model.chains_.traces()["n_components"].tolist()
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    said = FOLDER / "answers.json"
    answers = json.loads(said.read_text()) if said.exists() else {}
    for name, model in golden_models().items():
        if name not in answers:
            save(model, FOLDER / f"{name}.itemix")
            answers[name] = answers_of(model)
    said.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")
