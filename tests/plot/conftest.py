"""Something to draw, and every picture of it."""

import os
from typing import NamedTuple

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")

import matplotlib.pyplot as plt

import itemix
from itemix import plot


class Scene(NamedTuple):
    """Data, models and what comes of them."""

    data: object
    model: object
    sampled: object
    itemsets: object
    rules: object
    evaluation: object
    comparison: object
    surprises: object
    shifts: object


@pytest.fixture(scope="session")
def scene():
    """A store in which two kinds of customers buy."""
    data = itemix.datasets.load("grocery_store").sample(2000, random_state=0)
    train, test = data.split(0.5, random_state=0)
    model = itemix.BayesianMixture(n_components=6, random_state=0).fit(train)
    sampled = itemix.BayesianMixture(
        n_components=4,
        inference="gibbs",
        n_init=2,
        n_samples=2,
        thin=2,
        max_iter=100,
        tol=1.0,
        random_state=0,
    ).fit(train)
    itemsets = model.with_intervals(itemix.mine(model, 0.02))
    rules = itemix.rules(itemsets, min_threshold=0.1)
    evaluation = itemix.evaluate(model, test, 0.02, train=train)
    comparison = itemix.compare(data, data.holding("beer"), min_support=0.05)
    surprises = itemix.surprises(model, test, min_support=0.01, level=1.0)
    shifts = itemix.compare_components(data, data.holding("beer"), n_components=6)
    return Scene(data, model, sampled, itemsets, rules, evaluation, comparison, surprises, shifts)


PICTURES = {
    "support_distribution": lambda scene, ax: plot.support_distribution(scene.itemsets, ax=ax),
    "length_distribution": lambda scene, ax: plot.length_distribution(scene.itemsets, ax=ax),
    "top_itemsets": lambda scene, ax: plot.top_itemsets(scene.itemsets, data=scene.data, ax=ax),
    "support_agreement": lambda scene, ax: plot.support_agreement(scene.itemsets, scene.data, ax=ax),
    "component_heatmap": lambda scene, ax: plot.component_heatmap(scene.model, ax=ax),
    "component_sizes": lambda scene, ax: plot.component_sizes(scene.model, ax=ax),
    "dependency_matrix": lambda scene, ax: plot.dependency_matrix(scene.model, ax=ax),
    "dependency_network": lambda scene, ax: plot.dependency_network(scene.model, ax=ax),
    "rules_scatter": lambda scene, ax: plot.rules_scatter(scene.rules, ax=ax),
    "differences": lambda scene, ax: plot.differences(scene.comparison, ax=ax),
    "shifts": lambda scene, ax: plot.differences(scene.shifts, ax=ax),
    "surprises": lambda scene, ax: plot.surprises(scene.surprises, ax=ax),
    "trace": lambda scene, ax: plot.trace(scene.sampled, ax=ax),
    "evaluation_by_length": lambda scene, ax: plot.evaluation_by_length(scene.evaluation, ax=ax),
}


@pytest.fixture(params=PICTURES)
def picture(request, scene):
    """Draw one of the pictures on some axes."""
    return lambda ax=None: PICTURES[request.param](scene, ax)


@pytest.fixture
def ax():
    """Axes to draw on."""
    _, made = plt.subplots()
    return made


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")
