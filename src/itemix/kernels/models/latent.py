"""Latent trees: messages of many rows at once, probabilities of itemsets, and the odds of items given others.

Shapes: every item has a latent variable with S states. That of item i depends on that of item parents[i] (-1:
none, a root). transitions[i, a, b] is the probability of state b where the parent is in state a; of a root
all rows are the same. emissions[i, s] is the probability of the item in state s, marginals[i, s] that of the
state. `order` (D,) lists the items, each after its parent; `rank` (D,) gives their positions in that list.

Rows of data that agree on all items of a subtree send the same message from there. So messages are computed
for the distinct *patterns* of each subtree (`SubtreePatterns`), and flows back are summed by pattern.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel

if TYPE_CHECKING:
    from itemix.kernels.models.probability import AskedSets


# Numbers are scaled up before they get smaller than this, and never divided by smaller ones.
_SMALL = 1e-100


class TreeShape(NamedTuple):
    """The shape of a tree: parents, order and rank (D,) int32; see the top of the module."""

    parents: np.ndarray
    order: np.ndarray
    rank: np.ndarray


class LatentTables(NamedTuple):
    """The parameters: transitions (D, S, S), emissions and marginals (D, S), all of one type of float."""

    transitions: np.ndarray
    emissions: np.ndarray
    marginals: np.ndarray


class SubtreePatterns(NamedTuple):
    """The distinct patterns of rows on the subtree of each item.

    Attributes
    ----------
    starts : array of int64, shape (D + 1,)
        The patterns of item i are at starts[i]:starts[i + 1].
    held : array of bool, shape (n_patterns,)
        Whether the pattern has the item itself.
    map_starts : array of int64, shape (D + 1,)
        Where the map of each item begins.
    maps : array of int32
        The map of item i gives, for each pattern of its parent, the pattern of i that it holds, counted from
        0. Of a root it gives the pattern of each row.
    """

    starts: np.ndarray
    held: np.ndarray
    map_starts: np.ndarray
    maps: np.ndarray


class Messages(NamedTuple):
    """What goes up and down the tree, for each pattern: all (n_patterns, S), but logs.

    Attributes
    ----------
    beliefs : array
        The probability of the pattern given each state of its item, times a factor; the largest is 1.
    messages : array
        The same given each state of the item's parent. Of a root, the first column has the probability
        itself.
    flows : array
        The expected number of rows in each state.
    logs : array of float64, shape (n_patterns,)
        The logarithms of the factors.
    """

    beliefs: np.ndarray
    messages: np.ndarray
    flows: np.ndarray
    logs: np.ndarray


@kernel
def label_patterns(
    shape: TreeShape, labels: np.ndarray, sizes: np.ndarray, table: np.ndarray, places: np.ndarray
) -> None:
    """Turn `labels` (D, n) int32, 1 where a row has an item, into the numbers of the patterns of subtrees.

    `sizes` (D,) int64 gets the numbers of patterns. `table` and `places` int64, longer than 2 n, are used up.
    Patterns are numbered as they first occur, those of leaves by 0 and 1. Equivalent to
    np.unique(held[:, subtree], axis=0, return_inverse=True) up to the numbers.
    """
    D, n = labels.shape
    for i in range(D):
        sizes[i] = 2
    n_places = len(table)
    for m in range(D - 1, -1, -1):
        c = shape.order[m]
        p = shape.parents[c]
        if p < 0:
            continue
        n_found = 0
        for r in range(n):
            key = np.int64(labels[p, r]) * sizes[c] + labels[c, r]
            place = key % n_places
            while table[place] >= 0 and table[place] != key:
                place = place + 1 if place + 1 < n_places else 0
            if table[place] < 0:
                table[place] = key
                places[place] = n_found
                n_found += 1
            labels[p, r] = places[place]
        sizes[p] = n_found
        for place in range(n_places):
            table[place] = -1


@kernel
def fill_patterns(
    shape: TreeShape, labels: np.ndarray, indptr: np.ndarray, indices: np.ndarray, patterns: SubtreePatterns
) -> None:
    """Fill `held` and `maps` of patterns from the labels (D, n) of rows; `held` comes as zeros."""
    starts, held, map_starts, maps = patterns
    D, n = labels.shape
    for r in range(n):
        for a in range(indptr[r], indptr[r + 1]):
            i = indices[a]
            held[starts[i] + labels[i, r]] = True
    for c in range(D):
        p = shape.parents[c]
        first = map_starts[c]
        if p < 0:
            for r in range(n):
                maps[first + r] = labels[c, r]
        else:
            if starts[p + 1] - starts[p] == 2:  # a parent always has a child, but a pattern may not occur
                maps[first] = 0
                maps[first + 1] = 0
            for r in range(n):
                maps[first + labels[p, r]] = labels[c, r]


@kernel
def send_up(
    shape: TreeShape, tables: LatentTables, patterns: SubtreePatterns, out: Messages, values: np.ndarray
) -> None:
    """Compute beliefs and messages from the leaves to the roots, and write log-probabilities of rows (n,).

    A belief is an emission times the messages of all children. It is scaled after each of these.
    """
    starts, held, map_starts, maps = patterns
    transitions, emissions, marginals = tables
    beliefs, messages, _, logs = out
    D, S = emissions.shape
    n = len(values)
    one = emissions.dtype.type(1.0)
    for i in range(D):
        for q in range(starts[i], starts[i + 1]):
            logs[q] = 0.0
            for s in range(S):
                e = emissions[i, s]
                beliefs[q, s] = e if held[q] else one - e
    for r in range(n):
        values[r] = 0.0
    for m in range(D - 1, -1, -1):
        c = shape.order[m]
        p = shape.parents[c]
        first, last, at = starts[c], starts[c + 1], map_starts[c]
        if p < 0:
            for q in range(first, last):
                total = 0.0
                for s in range(S):
                    total += beliefs[q, s] * marginals[c, s]
                messages[q, 0] = total
                logs[q] += math.log(total) if total > 0.0 else -np.inf
            for r in range(n):
                values[r] += logs[first + maps[at + r]]
            continue
        np.dot(beliefs[first:last], transitions[c].T, messages[first:last])
        for q in range(starts[p], starts[p + 1]):
            sent = first + maps[at + q - starts[p]]
            top = one - one
            for s in range(S):
                value = beliefs[q, s] * messages[sent, s]
                beliefs[q, s] = value
                top = max(top, value)
            if top > 0.0:
                scale = one / top
                for s in range(S):
                    beliefs[q, s] *= scale
                logs[q] += logs[sent] + math.log(top)
            else:
                logs[q] = -np.inf


@kernel
def send_down(
    shape: TreeShape,
    tables: LatentTables,
    patterns: SubtreePatterns,
    sent: Messages,
    weights: np.ndarray,
    moves: np.ndarray,
    states: np.ndarray,
    present: np.ndarray,
) -> None:
    """Compute the expected counts of rows that weigh (n,), after `send_up`; the messages are used up.

    `moves` (D, S, S) gets how often each state of the parent and of the item come together, `states` (D, S)
    how often each state occurs, and `present` (D, S) how often with the item. Rows of probability zero count
    as nothing.
    """
    starts, held, map_starts, maps = patterns
    transitions, _, marginals = tables
    beliefs, messages, flows, _ = sent
    S = states.shape[1]
    zero = beliefs.dtype.type(0.0)
    for c in shape.order:
        p = shape.parents[c]
        first, last, at = starts[c], starts[c + 1], map_starts[c]
        for q in range(first, last):
            for s in range(S):
                flows[q, s] = zero
        if p < 0:
            for r in range(len(weights)):
                flows[first + maps[at + r], 0] += weights[r]
            for q in range(first, last):
                total = messages[q, 0]
                share = flows[q, 0] / total if total > zero else zero
                for s in range(S):
                    flows[q, s] = share * beliefs[q, s] * marginals[c, s]
        else:
            for q in range(starts[p], starts[p + 1]):
                to = first + maps[at + q - starts[p]]
                for s in range(S):
                    flows[to, s] += flows[q, s]
            for q in range(first, last):
                for s in range(S):
                    sum_ = messages[q, s]
                    flows[q, s] = flows[q, s] / sum_ if sum_ > zero else zero
            np.dot(flows[first:last].T, beliefs[first:last], moves[c])
            np.dot(flows[first:last], transitions[c], messages[first:last])
            for a in range(S):
                for b in range(S):
                    moves[c, a, b] *= transitions[c, a, b]
            for q in range(first, last):
                for s in range(S):
                    flows[q, s] = beliefs[q, s] * messages[q, s]
        for s in range(S):
            states[c, s] = zero
            present[c, s] = zero
        for q in range(first, last):
            for s in range(S):
                states[c, s] += flows[q, s]
            if held[q]:
                for s in range(S):
                    present[c, s] += flows[q, s]


@kernel
def itemset_log_probabilities(
    asked: AskedSets, shape: TreeShape, tables: LatentTables, out: np.ndarray
) -> None:
    """Write the log-probability of every set into `out`.

    Only items that are asked for send messages, from the last in the order on, and only until one is left.
    Equivalent to the log of the sum over all states of the product of transitions and of the emissions of the
    set.
    """
    present_ptr, present, absent_ptr, absent = asked
    transitions, emissions, marginals = tables
    D, S = emissions.shape
    longest = 0
    for s in range(len(out)):
        n_asked = present_ptr[s + 1] - present_ptr[s] + absent_ptr[s + 1] - absent_ptr[s]
        longest = max(longest, n_asked)
    node = np.empty(longest, dtype=np.int64)
    belief = np.empty((longest, S))
    message = np.empty(S)
    stamp = np.full(D, -1, dtype=np.int64)
    for s in range(len(out)):
        n_left = 0
        for j in range(present_ptr[s], present_ptr[s + 1]):
            i = present[j]
            if stamp[i] != s:
                stamp[i] = s
                node[n_left] = i
                for b in range(S):
                    belief[n_left, b] = emissions[i, b]
                n_left += 1
        for j in range(absent_ptr[s], absent_ptr[s + 1]):
            i = absent[j]
            if stamp[i] != s:
                stamp[i] = s
                node[n_left] = i
                for b in range(S):
                    belief[n_left, b] = 1.0 - emissions[i, b]
                n_left += 1
        value = 0.0
        while n_left > 0:
            last = 0
            for m in range(1, n_left):
                if shape.rank[node[m]] > shape.rank[node[last]]:
                    last = m
            i = node[last]
            p = shape.parents[i]
            if n_left == 1 or p < 0:
                total = 0.0
                for b in range(S):
                    total += marginals[i, b] * belief[last, b]
                if total <= 0.0:
                    value = -np.inf
                    break
                value += math.log(total)
                merged = True
            else:
                for a in range(S):
                    total = 0.0
                    for b in range(S):
                        total += transitions[i, a, b] * belief[last, b]
                    message[a] = total
                to = last
                for m in range(n_left):
                    if node[m] == p:
                        to = m
                merged = to != last
                node[last] = p
                top = 0.0
                for a in range(S):
                    belief[to, a] = belief[to, a] * message[a] if merged else message[a]
                    top = max(top, belief[to, a])
                if top <= 0.0:
                    value = -np.inf
                    break
                if top < _SMALL:
                    value += math.log(top)
                    for a in range(S):
                        belief[to, a] /= top
            if merged:
                n_left -= 1
                node[last] = node[n_left]
                for b in range(S):
                    belief[last, b] = belief[n_left, b]
        out[s] = value


@kernel
def item_odds(
    asked: AskedSets,
    shape: TreeShape,
    tables: LatentTables,
    values: np.ndarray,
    on: np.ndarray,
    off: np.ndarray,
) -> None:
    """Write the probabilities of each item with and without it, given the rest of each set, up to a factor.

    `on` and `off` (n, D) add up to 1 for each item; what a set says of the item itself is left out. `values`
    (n,) gets log P(set). If a set is impossible, that is -inf, and its rows are what is left of the
    computation.
    """
    present_ptr, present, absent_ptr, absent = asked
    transitions, emissions, marginals = tables
    D, S = emissions.shape
    own, inner, message = np.empty((D, S)), np.empty((D, S)), np.empty((D, S))
    outer, others = np.empty((D, S)), np.empty((D, S))
    starts = np.zeros(D + 2, dtype=np.int64)
    children = np.empty(D, dtype=np.int64)
    for i in range(D):
        starts[shape.parents[i] + 2] += 1
    for i in range(D + 1):
        starts[i + 1] += starts[i]
    fill = starts.copy()
    for m in range(D):
        i = shape.order[m]
        p = shape.parents[i] + 1
        children[fill[p]] = i
        fill[p] += 1
    for n in range(len(values)):
        for i in range(D):
            for s in range(S):
                own[i, s] = 1.0
                inner[i, s] = 1.0
        for j in range(present_ptr[n], present_ptr[n + 1]):
            for s in range(S):
                own[present[j], s] = emissions[present[j], s]
        for j in range(absent_ptr[n], absent_ptr[n + 1]):
            for s in range(S):
                own[absent[j], s] = 1.0 - emissions[absent[j], s]
        value = 0.0
        for m in range(D - 1, -1, -1):
            i = shape.order[m]
            top = 0.0
            for a in range(S):
                total = 0.0
                for b in range(S):
                    total += transitions[i, a, b] * own[i, b] * inner[i, b]
                message[i, a] = total
                top = max(top, total)
            if top <= 0.0:
                value = -np.inf
                break
            value += math.log(top)
            p = shape.parents[i]
            for a in range(S):
                message[i, a] /= top
                if p >= 0:
                    inner[p, a] *= message[i, a]
            if p >= 0:
                value += _rescale(inner, p)
        values[n] = value
        if value == -np.inf:
            continue
        for m in range(D):
            i = shape.order[m]
            p = shape.parents[i]
            if p < 0:
                for s in range(S):
                    outer[i, s] = marginals[i, s]
            else:
                least = 1.0
                for a in range(S):
                    least = min(least, message[i, a])
                if least > _SMALL:
                    for a in range(S):
                        others[p, a] = inner[p, a] / message[i, a]
                else:  # quotients would be of zeros: the product of what the others say
                    for a in range(S):
                        others[p, a] = 1.0
                    for c in range(starts[p + 1], starts[p + 2]):
                        if children[c] != i:
                            for a in range(S):
                                others[p, a] *= message[children[c], a]
                            _rescale(others, p)
                top = 0.0
                for b in range(S):
                    total = 0.0
                    for a in range(S):
                        total += outer[p, a] * own[p, a] * others[p, a] * transitions[i, a, b]
                    outer[i, b] = total
                    top = max(top, total)
                if top > 0.0:
                    for b in range(S):
                        outer[i, b] /= top
            held = missing = 0.0
            for s in range(S):
                chance = outer[i, s] * inner[i, s]
                held += chance * emissions[i, s]
                missing += chance * (1.0 - emissions[i, s])
            both = held + missing
            on[n, i] = held / both if both > 0.0 else 0.0
            off[n, i] = missing / both if both > 0.0 else 0.0


@inlined
def _rescale(inner: np.ndarray, p: int) -> float:
    """Divide a row by its largest number if that is small, and return the logarithm of this."""
    top = 0.0
    for a in range(inner.shape[1]):
        top = max(top, inner[p, a])
    if not 0.0 < top < _SMALL:
        return 0.0
    for a in range(inner.shape[1]):
        inner[p, a] /= top
    return math.log(top)
