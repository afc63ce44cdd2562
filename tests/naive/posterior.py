"""Moments of itemset probabilities under a posterior, as double sums over the components."""

from __future__ import annotations

from math import prod


def weight_products(rho, rest):
    """Return E[pi_k pi_l] of the weights behind sticks v_k ~ Beta(rho_k, rest_k), for all k and l."""

    def moment(j, a, b):
        """Return E[v_j^a (1 - v_j)^b]."""
        rising = prod(rho[j] + n for n in range(a)) * prod(rest[j] + n for n in range(b))
        return rising / prod(rho[j] + rest[j] + n for n in range(a + b))

    def product(k, low, high):
        """Return E[of what stick k gives to the weights `low` and `high` together]."""
        return moment(k, (k == low) + (k == high), (k < low) + (k < high))

    K = range(len(rho))
    return [[prod(product(j, min(k, m), max(k, m)) for j in range(max(k, m) + 1)) for m in K] for k in K]


def itemset_moments(rho, rest, eta, nu, event, condition):
    """Return E[f], E[f^2], E[f g] and E[h] of one event under a condition, each a pair of sets of codes.

    g is the probability of the condition, f that of both, and h that of the condition and, in the component
    that it comes from, of the event twice.
    """
    K, D = range(len(rho)), range(len(eta[0]))
    pairs = weight_products(rho, rest)
    weights = [sum(row) for row in pairs]
    both = [event[0] | condition[0], event[1] | condition[1]]

    def expected(k, *events):
        """Return the expected product of the probabilities of some events in component k."""
        total = 1.0
        for i in D:
            held = sum(i in present for present, _ in events)
            missing = sum(i in absent for _, absent in events)
            total *= prod(eta[k][i] + n for n in range(held)) * prod(nu[k][i] + n for n in range(missing))
            total /= prod(eta[k][i] + nu[k][i] + n for n in range(held + missing))
        return total

    def second(one, other):
        """Return the expected product of the probabilities of two events."""
        return sum(
            pairs[k][m] * (expected(k, one, other) if k == m else expected(k, one) * expected(m, other))
            for k in K
            for m in K
        )

    rest_of_it = [event[0] - condition[0], event[1] - condition[1]]
    return [
        sum(weights[k] * expected(k, both) for k in K),
        second(both, both),
        second(both, condition),
        sum(weights[k] * expected(k, condition, rest_of_it, rest_of_it) for k in K),
    ]
