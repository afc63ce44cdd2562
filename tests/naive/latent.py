"""Latent trees by their definition: every state of every variable, and every transaction."""

import itertools

import numpy as np

from itemix.models.latent import LatentTree


def random_tree(seed, n_items=5, n_states=3, zeros=False):
    """Return a latent tree with random parameters; with zeros some things are impossible."""
    rng = np.random.default_rng(seed)
    before = [-1, *(int(rng.integers(-1, i)) for i in range(1, n_items))]
    code_of = rng.permutation(n_items)
    parents = np.empty(n_items, dtype=np.int32)
    parents[code_of] = [code_of[p] if p >= 0 else -1 for p in before]
    transitions = rng.dirichlet(np.full(n_states, 0.5), (n_items, n_states))
    emissions = rng.random((n_items, n_states))
    if zeros:
        transitions[rng.random(transitions.shape) < 0.3] = 0.0
        transitions += np.where(transitions.sum(axis=2, keepdims=True) == 0, 1.0, 0.0)
        transitions /= transitions.sum(axis=2, keepdims=True)
        emissions[rng.random(emissions.shape) < 0.3] = 0.0
        emissions[rng.random(emissions.shape) < 0.2] = 1.0
    return LatentTree(parents, transitions, emissions, [f"i{i}" for i in range(n_items)])


def joint(model):
    """Return all transactions (2^D, D), all states (S^D, D), and the probability of each pair of them."""
    D, S = model.n_items, model.n_states
    rows = np.array(list(itertools.product((0, 1), repeat=D)))
    states = np.array(list(itertools.product(range(S), repeat=D)))
    table = np.ones((len(rows), len(states)))
    for i in range(D):
        p = model.parents[i]
        before = states[:, p] if p >= 0 else 0
        present = model.emissions[i, states[:, i]]
        table *= model.transitions[i, before, states[:, i]]
        table *= np.where(rows[:, i, None] == 1, present, 1 - present)
    return rows, states, table
