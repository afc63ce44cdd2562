"""Pairs of items: weighted counts, what an edge between two gains a tree, and terms of a log-linear model.

Shapes: rows in compressed form (`indptr` (N + 1,) int64, `indices` (nnz,) int32, ascending in each row).
Pairs are listed by their larger item: others[starts[i]:starts[i + 1]], ascending, are the smaller items that
i is paired with; `starts` (D + 1,) int64, `others` (P,) int32. If all pairs are listed, the pair of i and j
is at starts[i] + j, and nothing needs to be searched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel

if TYPE_CHECKING:
    from itemix.kernels.mining.layouts import RowIndex

_ROUNDING = 1e-12


@inlined
def _n_log_n(n: float) -> float:
    return n * math.log(n) if n > 0.0 else 0.0


@inlined
def _place(others: np.ndarray, low: int, high: int, item: int) -> int:
    """Return the position of an item in others[low:high], or where it would be inserted."""
    while low < high:
        middle = (low + high) >> 1
        if others[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def count_pairs(
    indptr: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
    others: np.ndarray,
    first: int,
    weights: np.ndarray,
    singles: np.ndarray,
    pairs: np.ndarray,
) -> None:
    """Add the counts of the rows from `first` on, one for each of `weights` (n,) float64.

    `singles` (D,) and `pairs` (P,) are added to. Equivalent to C = X.T @ diag(weights) @ X; singles +=
    diag(C); pairs += C[larger, smaller].
    """
    D = len(singles)
    complete = len(others) == D * (D - 1) // 2
    for m in range(len(weights)):
        weight = weights[m]
        if weight == 0.0:
            continue
        begin, end = indptr[first + m], indptr[first + m + 1]
        for a in range(begin, end):
            i = indices[a]
            singles[i] += weight
            if complete:
                own = starts[i]
                for b in range(begin, a):
                    pairs[own + indices[b]] += weight
            else:
                low, high = starts[i], starts[i + 1]
                for b in range(begin, a):
                    low = _place(others, low, high, indices[b])
                    if low == high:
                        break
                    if others[low] == indices[b]:
                        pairs[low] += weight


@kernel
def list_pairs(
    indptr: np.ndarray, indices: np.ndarray, starts: np.ndarray, others: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the listed pairs of all rows, compressed; both empty if that is more than `most`.

    So the pairs are searched for once, and not in every iteration.
    """
    n_rows = len(indptr) - 1
    ends = np.zeros(n_rows + 1, dtype=np.int64)
    found = np.empty(0, dtype=np.int32)
    for fill in range(2):
        n_found = 0
        for t in range(n_rows):
            begin, end = indptr[t], indptr[t + 1]
            for a in range(begin, end):
                low, high = starts[indices[a]], starts[indices[a] + 1]
                for b in range(begin, a):
                    low = _place(others, low, high, indices[b])
                    if low == high:
                        break
                    if others[low] == indices[b]:
                        if fill:
                            found[n_found] = low
                        n_found += 1
            if n_found > most:
                return np.zeros(0, dtype=np.int64), np.empty(0, dtype=np.int32)
            ends[t + 1] = n_found
        if not fill:
            found = np.empty(n_found, dtype=np.int32)
    return ends, found


@kernel
def count_listed(
    indptr: np.ndarray,
    indices: np.ndarray,
    ends: np.ndarray,
    places: np.ndarray,
    first: int,
    weights: np.ndarray,
    singles: np.ndarray,
    pairs: np.ndarray,
) -> None:
    """Add the same counts as `count_pairs`, from the places that `list_pairs` returned."""
    for m in range(len(weights)):
        weight = weights[m]
        if weight != 0.0:
            for a in range(indptr[first + m], indptr[first + m + 1]):
                singles[indices[a]] += weight
            for a in range(ends[first + m], ends[first + m + 1]):
                pairs[places[a]] += weight


@inlined
def _alone(singles: np.ndarray, total: float) -> np.ndarray:
    """Return the part of a gain that each item has on its own."""
    out = np.empty(len(singles))
    for i in range(len(singles)):
        out[i] = _n_log_n(singles[i]) + _n_log_n(total - singles[i])
    return out


@inlined
def _together(total: float, n_i: float, n_j: float, both: float) -> float:
    """Return the part of a gain that the four cells of a pair have.

    This, minus the parts that the items have alone, plus n log n of the total, is `total` times the mutual
    information.
    """
    one = _n_log_n(both) + _n_log_n(n_i - both)
    return one + _n_log_n(n_j - both) + _n_log_n(total - n_i - n_j + both)


@kernel
def edge_gains(
    singles: np.ndarray,
    pairs: np.ndarray,
    total: float,
    starts: np.ndarray,
    others: np.ndarray,
    cost: float,
    out: np.ndarray,
) -> int:
    """Write the gain in log-likelihood of each pair as an edge, minus its cost, to `out` (P,); at least 0.

    `singles` and `pairs` count the items and pairs in `total` transactions. Return how many gain.
    Equivalent to max(total * mutual_information(pair) - cost, 0) for every pair.

    Most pairs gain nothing and are passed over without a logarithm: the gain is at most the chi-square
    statistic of the pair, delta^2 total^3 / (n_i (total - n_i) n_j (total - n_j)), where delta is its count
    minus the expected one.
    """
    alone = _alone(singles, total)
    whole = _n_log_n(total)
    least = cost + _ROUNDING * (total + abs(whole))
    n_found = 0
    scale = np.zeros(len(singles))
    for i in range(len(singles)):
        spread = singles[i] * (total - singles[i])
        if spread > 0.0:
            scale[i] = total * math.sqrt(total) / spread
    for i in range(len(singles)):
        for p in range(starts[i], starts[i + 1]):
            j = others[p]
            out[p] = 0.0
            delta = pairs[p] - singles[i] * singles[j] / total
            if delta * delta * scale[i] * scale[j] <= least:
                continue
            gain = _together(total, singles[i], singles[j], pairs[p]) - alone[i] - alone[j] + whole
            if gain > least:
                out[p] = gain - cost
                n_found += 1
    return n_found


@kernel
def strongest_partners(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    index: RowIndex,
    singles: np.ndarray,
    total: float,
    frequent: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the m partners with the highest mutual information of each item to `out` (D, m), -1 for none.

    Candidates are the items that occur together with it, and always the `frequent` ones: of the items that an
    item never meets, the most frequent ones tell most about it. `index` lists the rows that hold each item;
    `weights` (N,) int64 or empty for ones.
    """
    rows_ptr, rows = index
    D, n_kept = out.shape
    both = np.zeros(D)
    met = np.empty(D, dtype=np.int32)
    best = np.empty(n_kept)
    alone = _alone(singles, total)
    for i in range(D):
        n_met = 0
        for j in frequent:
            if j != i:
                both[j] = 1e-300  # counts as met, but adds nothing
                met[n_met] = j
                n_met += 1
        for a in range(rows_ptr[i], rows_ptr[i + 1]):
            t = rows[a]
            weight = np.float64(weights[t]) if len(weights) else 1.0
            for b in range(indptr[t], indptr[t + 1]):
                j = indices[b]
                if j != i:
                    if both[j] == 0.0:
                        met[n_met] = j
                        n_met += 1
                    both[j] += weight
        for m in range(n_kept):
            out[i, m] = -1
            best[m] = -np.inf
        for m in range(n_met):
            j = met[m]
            n_both = both[j] if both[j] >= 1.0 else 0.0
            gain = _together(total, singles[i], singles[j], n_both) - alone[j]
            both[j] = 0.0
            place = n_kept
            while place > 0 and gain > best[place - 1]:
                place -= 1
                if place + 1 < n_kept:
                    best[place + 1] = best[place]
                    out[i, place + 1] = out[i, place]
            if place < n_kept:
                best[place] = gain
                out[i, place] = j


class PairTerms(NamedTuple):
    """A logistic regression of each item on the others: log-odds bias[i] + |B| ** -flattening * sum W[j, i].

    Attributes
    ----------
    starts : array of int64, shape (D + 1,)
        Where the terms of each present item j begin.
    others : array of int32, shape (P,)
        The items i that they speak for.
    weights, weight_squares : arrays of float64, shape (P,)
        The terms, and the squares of their gradients so far.
    bias, bias_squares : arrays of float64, shape (D,)
        The log-odds in an empty basket, and the squares of their gradients so far.
    """

    starts: np.ndarray
    others: np.ndarray
    weights: np.ndarray
    weight_squares: np.ndarray
    bias: np.ndarray
    bias_squares: np.ndarray


@kernel
def learn_pair_terms(
    indptr: np.ndarray,
    indices: np.ndarray,
    order: np.ndarray,
    row_weights: np.ndarray,
    terms: PairTerms,
    flattening: float,
    rate: float,
) -> None:
    """Take a step of AdaGrad for each row in `order`, up the pseudo-likelihood; `terms` is written to.

    A row tells of each item whether it is there, given all others: a present item is predicted by the rest of
    its row. Shapes: `row_weights` (N,) float64, `order` (n,) int64.
    """
    starts, others, weights, weight_squares, bias, bias_squares = terms
    D = len(bias)
    total = np.empty(D)
    slope = np.empty(D)
    for t in order:
        begin, end = indptr[t], indptr[t + 1]
        n = end - begin
        if n == 0:
            continue
        for i in range(D):
            total[i] = 0.0
        for a in range(begin, end):
            for c in range(starts[indices[a]], starts[indices[a] + 1]):
                total[others[c]] += weights[c]
        scale, own_scale = n**-flattening, max(n - 1, 1) ** -flattening
        for i in range(D):
            slope[i] = row_weights[t] / (1.0 + math.exp(-bias[i] - scale * total[i]))
        for a in range(begin, end):
            i = indices[a]
            slope[i] = row_weights[t] * (1.0 / (1.0 + math.exp(-bias[i] - own_scale * total[i])) - 1.0)
        for i in range(D):
            bias_squares[i] += slope[i] * slope[i]
            bias[i] -= rate * slope[i] / math.sqrt(bias_squares[i])
            slope[i] *= scale
        for a in range(begin, end):
            slope[indices[a]] *= own_scale / scale
        for a in range(begin, end):
            for c in range(starts[indices[a]], starts[indices[a] + 1]):
                g = slope[others[c]]
                weight_squares[c] += g * g
                weights[c] -= rate * g / math.sqrt(weight_squares[c])
