"""The obvious twin of the walk through groups: dense, in the order of the definition."""

import numpy as np


def walk(mixture, rows, codes, prior, loyalty=None):
    """Yield (group, log-probability, sizes, memory) for each transaction, group by group.

    `rows` are sets of item codes, `codes` their groups. Sizes and memory are those after the transaction.
    """
    for g in range(max(codes) + 1):
        sizes, memory, seen = np.zeros(mixture.n_components), np.zeros(mixture.n_items), 0.0
        for n, row in enumerate(rows[t] for t in range(len(rows)) if codes[t] == g):
            weights = (prior.concentration * mixture.weights + sizes) / (prior.concentration + n)
            own = (prior.loyalty if loyalty is None else loyalty) * n / (n + prior.half)
            probs = (1 - own) * mixture.probs + (own * memory / seen if n else 0)
            x = np.isin(np.arange(mixture.n_items), row)
            joint = weights * np.where(x, probs, 1 - probs).prod(axis=1)
            sizes = sizes + joint / joint.sum()
            memory, seen = memory * prior.fading + x, seen * prior.fading + 1
            yield g, np.log(joint.sum()), sizes, memory


def group_mixture(mixture, rows, prior, loyalty):
    """Return the weights and item probabilities of the next transaction of a group with these rows."""
    sizes, memory = np.zeros(mixture.n_components), np.zeros(mixture.n_items)
    for _, _, sizes, memory in walk(mixture, rows, [0] * len(rows), prior, loyalty):  # noqa: B007 - the last
        pass
    n = len(rows)
    own = loyalty * n / (n + prior.half)
    seen = sum(prior.fading**age for age in range(n))
    weights = (prior.concentration * mixture.weights + sizes) / (prior.concentration + n)
    return weights, (1 - own) * mixture.probs + (own * memory / seen if n else 0)


def counted(mixture, rows, codes, prior):
    """Return how many transactions hold each item that their group remembers, and how many should."""
    seen, expected = np.zeros((2, mixture.n_items))
    sizes, memory, last = np.zeros(mixture.n_components), np.zeros(mixture.n_items), -1
    place = {g: [t for t in range(len(rows)) if codes[t] == g] for g in set(codes)}
    n = 0
    for g, _, new_sizes, new_memory in walk(mixture, rows, codes, prior):
        if g != last:
            sizes, memory, last, n = np.zeros(mixture.n_components), np.zeros(mixture.n_items), g, 0
        weights = (prior.concentration * mixture.weights + sizes) / (prior.concentration + n)
        own = prior.loyalty * n / (n + prior.half)
        total = sum(prior.fading**age for age in range(n))
        for i in np.flatnonzero(memory):
            seen[i] += i in rows[place[g][n]]
            expected[i] += own * memory[i] / total + (1 - own) * weights @ mixture.probs[:, i]
        sizes, memory, n = new_sizes, new_memory, n + 1
    return seen, expected
