"""Maximum entropy under the supports of itemsets, by iterative scaling over the states of a few items.

The sets whose supports are known make a trie. With a set all its subsets are in it.

The supports of a set and all its subsets are as good as the probabilities of its 2^f cells. A sweep scales
the states so that they agree with the cells of one maximal set after the other (iterative proportional
fitting); where sets join like the cliques of a tree one sweep is enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel
from itemix.kernels.residuals import child_of

PRESENT, ABSENT, GIVEN_PRESENT, GIVEN_ABSENT = 0, 1, 2, 3
_CLOSE = 1e-10
_MOST_SWEEPS = 500


class SupportTrie(NamedTuple):
    """Sets whose supports are known: the items alone, then the longer sets, the shorter first.

    Node i is the item i alone; the nodes first[v] to first[v + 1] add the items `item` (ascending, all above
    the last item of v) to the set of node v.

    Attributes
    ----------
    first : array of int64, shape (n + 1,)
        The first child of each node.
    item : array of int32, shape (n,)
        The item that a node adds to its parent.
    support : array of float64, shape (n,)
        The support of each node's set.
    """

    first: np.ndarray
    item: np.ndarray
    support: np.ndarray


@kernel
def join_items(trie: SupportTrie, offsets: np.ndarray, codes: np.ndarray, out: np.ndarray) -> None:
    """Write for each code of each set the place of the first code that it hangs together with to `out`.

    Two items of a set hang together if the trie has them as a pair, or through others of the set. `offsets`
    (m + 1,), `codes` and `out` (total length,); codes ascend in each set.
    """
    first, item = trie.first, trie.item
    for s in range(len(offsets) - 1):
        begin, end = offsets[s], offsets[s + 1]
        for a in range(begin, end):
            out[a] = a
        for b in range(begin, end):
            for a in range(begin, b):
                if out[a] != out[b] and child_of(first, item, codes[a], codes[b]) >= 0:
                    low, high = min(out[a], out[b]), max(out[a], out[b])
                    for c in range(begin, end):
                        if out[c] == high:
                            out[c] = low


@inlined
def _list_known(
    trie: SupportTrie,
    codes: np.ndarray,
    known: np.ndarray,
    node: np.ndarray,
    mask: np.ndarray,
    last: np.ndarray,
) -> int:
    """Write the supports of the subsets of some items to `known` (2^n,) by their bits, -1 where unknown.

    `node`, `mask`, `last` (2^n,) are written too. Return how many subsets are known, without the empty one.
    """
    first, item, support = trie
    n = len(codes)
    for s in range(1 << n):
        known[s] = -1.0
    known[0] = 1.0
    for a in range(n):
        node[a], mask[a], last[a] = codes[a], 1 << a, a
        known[1 << a] = support[codes[a]]
    head, tail = 0, n
    while head < tail:
        for b in range(last[head] + 1, n):
            child = child_of(first, item, node[head], codes[b])
            if child >= 0:
                node[tail], mask[tail], last[tail] = child, mask[head] | 1 << b, b
                known[mask[tail]] = support[child]
                tail += 1
        head += 1
    return tail


@inlined
def _to_cells(table: np.ndarray, n: int) -> None:
    """Turn the probabilities of sets (2^n,) into those of states, at least 0."""
    for b in range(n):
        bit = 1 << b
        for s in range(1 << n):
            if not s & bit:
                table[s] -= table[s | bit]
    for s in range(1 << n):
        table[s] = max(table[s], 0.0)


@inlined
def _scale(index: np.ndarray, target: np.ndarray, cells: np.ndarray, table: np.ndarray) -> float:
    """Scale the states so that they agree with some cells; return by how much they did not."""
    for c in range(len(target)):
        cells[c] = 0.0
    for s in range(len(table)):
        cells[index[s]] += table[s]
    error = 0.0
    for c in range(len(target)):
        error = max(error, abs(cells[c] - target[c]))
        cells[c] = target[c] / cells[c] if cells[c] > 0.0 else 0.0
    for s in range(len(table)):
        table[s] *= cells[index[s]]
    return error


@kernel
def state_probabilities(trie: SupportTrie, codes: np.ndarray) -> np.ndarray:
    """Return the probability of each state of some items (2^n,), codes[0] being its lowest bit."""
    n = len(codes)
    size = 1 << n
    known = np.empty(size)
    node, mask, last = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    n_known = _list_known(trie, codes, known, node, mask, last)
    if known[size - 1] >= 0.0:
        _to_cells(known, n)
        return known
    table = np.ones(size)
    for s in range(size):
        for a in range(n):
            table[s] *= known[1 << a] if s >> a & 1 else 1.0 - known[1 << a]
    n_maximal = 0
    n_cells = 0
    for m in range(n, n_known):
        is_maximal = True
        for b in range(n):
            if not mask[m] >> b & 1 and known[mask[m] | 1 << b] >= 0.0:
                is_maximal = False
                break
        if is_maximal:
            mask[n_maximal] = mask[m]
            n_maximal += 1
            f = 0
            for b in range(n):
                f += mask[m] >> b & 1
            n_cells += 1 << f
    index = np.empty((n_maximal, size), dtype=np.int32)
    target = np.empty(n_cells)
    starts = np.zeros(n_maximal + 1, dtype=np.int64)
    bits = np.empty(n, dtype=np.int64)
    for m in range(n_maximal):
        f = 0
        for b in range(n):
            if mask[m] >> b & 1:
                bits[f] = b
                f += 1
        for s in range(size):
            cell = 0
            for b in range(f):
                cell |= (s >> bits[b] & 1) << b
            index[m, s] = cell
            if s & mask[m] == s:
                target[starts[m] + cell] = known[s]
        starts[m + 1] = starts[m] + (1 << f)
        _to_cells(target[starts[m] : starts[m + 1]], f)
    cells = np.empty(size)
    for _ in range(_MOST_SWEEPS):
        error = 0.0
        for m in range(n_maximal):
            error = max(error, _scale(index[m], target[starts[m] : starts[m + 1]], cells, table))
        if error < _CLOSE:
            break
    return table


@kernel
def part_probabilities(
    trie: SupportTrie,
    offsets: np.ndarray,
    codes: np.ndarray,
    status: np.ndarray,
    leader: np.ndarray,
    order: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the probabilities of events of a few items each to `out` (m, 2).

    Part t has the items codes[offsets[t]:offsets[t + 1]], ascending, which are asked for as `status` says:
    present, absent, given as present or given as absent. In `out` are the probability of all that, and that
    of what is given. Equal parts have the same `leader` (m,) and stand together in `order` (m,), so that the
    states of each are found once.
    """
    table = np.ones(1)
    for m in range(len(order)):
        t = order[m]
        begin, end = offsets[t], offsets[t + 1]
        if m == 0 or leader[t] != leader[order[m - 1]]:
            table = state_probabilities(trie, codes[begin:end])
        present = given = given_present = 0
        for a in range(begin, end):
            bit = 1 << (a - begin)
            if status[a] == PRESENT or status[a] == GIVEN_PRESENT:
                present |= bit
            if status[a] == GIVEN_PRESENT or status[a] == GIVEN_ABSENT:
                given |= bit
        given_present = present & given
        out[t, 0] = table[present]
        out[t, 1] = 1.0
        if given:
            total = 0.0
            for s in range(len(table)):
                if s & given == given_present:
                    total += table[s]
            out[t, 1] = total


@kernel
def row_log_probabilities(
    indptr: np.ndarray,
    indices: np.ndarray,
    part_of: np.ndarray,
    bit_of: np.ndarray,
    starts: np.ndarray,
    logs: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the log-probability of each row, the sum over the parts of the items, to `out` (N,).

    Item i is the bit bit_of[i] of the states of its part; the logarithms of part p's states start at
    logs[starts[p]]. Only the parts that a row touches are looked at: the others are as in the empty row.
    """
    state = np.zeros(len(starts), dtype=np.int64)
    nothing = 0.0
    n_impossible = 0
    for p in range(len(starts)):
        if logs[starts[p]] == -np.inf:
            n_impossible += 1
        else:
            nothing += logs[starts[p]]
    for t in range(len(indptr) - 1):
        value = nothing
        n_left = n_impossible
        for a in range(indptr[t], indptr[t + 1]):
            state[part_of[indices[a]]] |= bit_of[indices[a]]
        for a in range(indptr[t], indptr[t + 1]):
            p = part_of[indices[a]]
            if state[p]:
                empty = logs[starts[p]]
                value += logs[starts[p] + state[p]]
                if empty == -np.inf:
                    n_left -= 1
                else:
                    value -= empty
                state[p] = 0
        out[t] = value if n_left == 0 else -np.inf
