"""Maximum entropy under the supports of itemsets, by iterative scaling over the states of a few items.

The sets whose supports are known form a trie, which holds all subsets of each of its sets.

The supports of a set and all its subsets determine the probabilities of its 2^f cells. A sweep scales the
states so that they agree with the cells of one maximal set after the other (iterative proportional fitting).
If the sets join like the cliques of a tree, one sweep is enough. If sets together rule out states that none
of them rules out alone, the error of sweeps only falls as one over their number. Newton's method then takes
over.

States (2^n,) are numbered by their bits. For Newton's method, known sets are numbers of the same kind,
`masks` (m,), with the empty set among them; `targets` (m,) are their probabilities. The probability of a set
is the sum over the states that hold it. The second derivative for two sets is the probability of their union,
so that all of them are read from one table of sums over supersets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel
from itemix.kernels.lattice import child_of

PRESENT, ABSENT, GIVEN_PRESENT, GIVEN_ABSENT = 0, 1, 2, 3
# A pivot that has shrunk to this part of itself is zero up to rounding: the sets before determine this one.
_NOTHING = 1e-12
# Less probable states do not count for the length of a step: they may be about to vanish.
_NEGLIGIBLE = 1e-14
_LONGEST_STEP = 2.0
_NEAR = 1e-7
_CLOSE = 1e-13
_MOST_STEPS = 60
_LAST_STEPS = 5
# The supports of a real distribution are met far more closely than this.
_POSSIBLE = 1e-6
_SWEEPS = 100
# With more known sets than this, Newton's method would take longer than sweeps.
_MOST_REFINED = 2000
_MOST_SWEEPS = 500


@inlined
def _sum_supersets(table: np.ndarray) -> None:
    """Turn the probabilities of states into those of sets."""
    bit = 1
    while bit < len(table):
        for s in range(len(table)):
            if not s & bit:
                table[s] += table[s | bit]
        bit <<= 1


@inlined
def _sum_subsets(table: np.ndarray) -> None:
    """Replace the value of each set by the sum over its subsets."""
    bit = 1
    while bit < len(table):
        for s in range(len(table)):
            if s & bit:
                table[s] += table[s ^ bit]
        bit <<= 1


@inlined
def _solve(matrix: np.ndarray, values: np.ndarray) -> None:
    """Solve a symmetric system without negative eigenvalues; `values` becomes the solution.

    Unknowns that the ones before them determine are set to zero. The upper triangle of `matrix` is
    overwritten.
    """
    m = len(values)
    for k in range(m):
        pivot = matrix[k, k]
        if pivot == 0.0:
            continue
        for i in range(k + 1, m):
            factor = matrix[k, i] / pivot
            if factor != 0.0:
                whole = matrix[i, i]
                for j in range(i, m):
                    matrix[i, j] -= factor * matrix[k, j]
                if matrix[i, i] <= _NOTHING * whole:
                    matrix[i, i] = 0.0
                values[i] -= factor * values[k]
    for k in range(m - 1, -1, -1):
        if matrix[k, k] == 0.0:
            values[k] = 0.0
            continue
        for j in range(k + 1, m):
            values[k] -= matrix[k, j] * values[j]
        values[k] /= matrix[k, k]


@inlined
def _direction(
    masks: np.ndarray,
    targets: np.ndarray,
    table: np.ndarray,
    sums: np.ndarray,
    matrix: np.ndarray,
    values: np.ndarray,
) -> float:
    """Write the step of the logarithm of each state to `sums`; return by how much the sets are off."""
    m = len(masks)
    for s in range(len(table)):
        sums[s] = table[s]
    _sum_supersets(sums)
    error = 0.0
    for i in range(m):
        values[i] = targets[i] - sums[masks[i]]
        error = max(error, abs(values[i]))
        for j in range(i, m):
            matrix[i, j] = sums[masks[i] | masks[j]]
    _solve(matrix, values)
    for s in range(len(table)):
        sums[s] = 0.0
    for i in range(m):
        sums[masks[i]] = values[i]
    _sum_subsets(sums)
    return error


@kernel
def refine_states(masks: np.ndarray, targets: np.ndarray, table: np.ndarray) -> float:
    """Change the states so that they agree with the sets; return the error that is left.

    Steps multiply the states by the exponential of a sum over their subsets, which keeps the entropy at its
    maximum. A state that must vanish shrinks by a factor of e at each step. The last steps are linear and
    remove it.
    """
    m = len(masks)
    sums = np.empty(len(table))
    matrix, values = np.empty((m, m)), np.empty(m)
    n_last = 0
    error = np.inf
    for _ in range(_MOST_STEPS):
        error = _direction(masks, targets, table, sums, matrix, values)
        if error < _CLOSE or n_last == _LAST_STEPS:
            break
        is_near = error < _NEAR
        n_last += is_near
        longest = _LONGEST_STEP
        for s in range(len(table)):
            if table[s] > _NEGLIGIBLE:
                longest = max(longest, abs(sums[s]))
        part = 1.0 if is_near else _LONGEST_STEP / longest
        for s in range(len(table)):
            if is_near and table[s] > _NEGLIGIBLE:
                table[s] *= max(1.0 + sums[s], 0.0)
            elif table[s] > 0.0:
                table[s] *= np.exp(min(part * sums[s], _LONGEST_STEP))
    return error


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


class Joint(NamedTuple):
    """The states of whole parts; a part is all items that are connected, directly or through others.

    Item i is the bit bit_of[i] in the states of the part part_of[i]; those of part p are states[starts[p]] to
    states[starts[p + 1]], none if the part has too many items.
    """

    part_of: np.ndarray
    bit_of: np.ndarray
    starts: np.ndarray
    states: np.ndarray


class Asked(NamedTuple):
    """Events of a few items each: event t has the items codes[offsets[t]:offsets[t + 1]], ascending.

    `status` says what is asked of each item: present, absent, given as present or given as absent.
    """

    offsets: np.ndarray
    codes: np.ndarray
    status: np.ndarray


@kernel
def join_items(trie: SupportTrie, offsets: np.ndarray, codes: np.ndarray, out: np.ndarray) -> None:
    """Write the place of the first connected code to `out`, for each code of each set.

    Two items of a set are connected if the trie has them as a pair, or through others of the set. `offsets`
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
    """Scale the states so that they agree with some cells; return how far off they were."""
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
    """Return the probability of each state of some items (2^n,), codes[0] being its lowest bit.

    NaN if no distribution has these supports.
    """
    n = len(codes)
    size = 1 << n
    known = np.empty(size)
    node, mask, last = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    n_known = _list_known(trie, codes, known, node, mask, last)
    if known[size - 1] >= 0.0:
        _to_cells(known, n)
        return known
    sets, supports = np.zeros(n_known + 1, np.int64), np.ones(n_known + 1)
    n_positive = 0
    for m in range(n_known):
        if known[mask[m]] > 0.0:
            n_positive += 1
            sets[n_positive], supports[n_positive] = mask[m], known[mask[m]]
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
    for _ in range(_SWEEPS if n_known <= _MOST_REFINED else _MOST_SWEEPS):
        error = 0.0
        for m in range(n_maximal):
            error = max(error, _scale(index[m], target[starts[m] : starts[m + 1]], cells, table))
        if error < _CLOSE:
            return table
    if n_known <= _MOST_REFINED:
        error = refine_states(sets[: n_positive + 1], supports[: n_positive + 1], table)
        if not error < _POSSIBLE:
            table[:] = np.nan
    return table


@inlined
def _is_known(trie: SupportTrie, codes: np.ndarray) -> bool:
    """Whether the trie has the set of some items."""
    node = codes[0]
    for a in range(1, len(codes)):
        node = child_of(trie.first, trie.item, node, codes[a])
        if node < 0:
            return False
    return True


@inlined
def _marginal(joint: Joint, codes: np.ndarray) -> np.ndarray:
    """Return the probability of each state of some items of one part (2^n,), the first the lowest bit."""
    part = joint.part_of[codes[0]]
    begin, end = joint.starts[part], joint.starts[part + 1]
    out = np.zeros(1 << len(codes))
    for s in range(end - begin):
        state = 0
        for a in range(len(codes)):
            if s & joint.bit_of[codes[a]]:
                state |= 1 << a
        out[state] += joint.states[begin + s]
    return out


@kernel
def part_probabilities(
    trie: SupportTrie,
    joint: Joint,
    asked: Asked,
    leader: np.ndarray,
    order: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the probabilities of events of a few items each to `out` (m, 2).

    The columns are the probability of all that is asked, and that of what is given. Equal parts have the same
    `leader` (m,) and stand together in `order` (m,), so that the states of each are found only once. They
    come from the states of the whole part, if there are any and the set is not in the trie, else from the
    trie.
    """
    table = np.ones(1)
    for m in range(len(order)):
        t = order[m]
        begin, end = asked.offsets[t], asked.offsets[t + 1]
        if m == 0 or leader[t] != leader[order[m - 1]]:
            codes = asked.codes[begin:end]
            part = joint.part_of[codes[0]]
            has_states = joint.starts[part] < joint.starts[part + 1]
            if has_states and not _is_known(trie, codes):
                table = _marginal(joint, codes)
            else:
                table = state_probabilities(trie, codes)
        present = given = given_present = 0
        for a in range(begin, end):
            bit = 1 << (a - begin)
            if asked.status[a] == PRESENT or asked.status[a] == GIVEN_PRESENT:
                present |= bit
            if asked.status[a] == GIVEN_PRESENT or asked.status[a] == GIVEN_ABSENT:
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
def join_parts(offsets: np.ndarray, codes: np.ndarray, part_of: np.ndarray, out: np.ndarray) -> None:
    """Write the place of the first code of the same part to `out`, for each code of each set.

    Codes of part -1 are left as they are.
    """
    for s in range(len(offsets) - 1):
        for b in range(offsets[s], offsets[s + 1]):
            part = part_of[codes[b]]
            if part >= 0:
                a = offsets[s]
                while part_of[codes[a]] != part:
                    a += 1
                out[b] = a


@kernel
def row_log_probabilities(
    indptr: np.ndarray, indices: np.ndarray, joint: Joint, logs: np.ndarray, out: np.ndarray
) -> None:
    """Write the log-probability of each row, the sum over the parts of the items, to `out` (N,).

    `logs` are the logarithms of the states. Only the parts of a row's items are looked at. The others are as
    in the empty row.
    """
    part_of, bit_of, starts = joint.part_of, joint.bit_of, joint.starts
    state = np.zeros(len(starts) - 1, dtype=np.int64)
    nothing = 0.0
    n_impossible = 0
    for p in range(len(starts) - 1):
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
