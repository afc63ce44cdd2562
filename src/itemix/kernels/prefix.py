"""All itemsets that are probable enough under a mixture, depth first with one vector a level.

The probability of a set is sum_k pi_k prod_{i in set} phi_ik (eq. predict). Level d keeps the K products of
its prefix, so that an extension costs K multiplications and additions. The search goes as in `eclat`: from
the rarest item of a set to more probable ones, siblings in order of rank, and so are the records.

Shapes: F items of enough probability, by rank; `table` (F, K) float64, row i the phi of the item of rank i;
`start` (K,) float64 the weights (times the phi of items that every set is to hold). A record is a key as in
`eclat`, and a probability float64.

A corrected mixture shifts the log-odds of items below each path of up to `n_pivots` items (see `residuals`):
`trie` is (rank, first, item, shift), `rank` (F,) the rank there of each of the F items. Below such a path the
rows of the shifted items are written anew, on a stack; all others are those of the path above.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.bitsets import grown, longer
from itemix.kernels.control import MAX_LEN, MIN_LEN, N_ROOTS_DONE, RUNNING, STOP, report
from itemix.kernels.eclat import LENGTH_SHIFT
from itemix.kernels.intrinsics import fetch_add
from itemix.kernels.jit import inlined, kernel, summing
from itemix.kernels.residuals import child_of, tilt

# As in `eclat`: the extensions of level d are ext[START:START + SIZE]; CURSOR is the next one to visit.
_START, _SIZE, _CURSOR = 0, 1, 2
# The node of the trie that the path of a level ends at (-1: none), and how many rows of the stack are in use.
_NODE, _N_ROWS = 3, 4
_ITEM, _ROW = 0, 1
_DEPTH, _N_OUT = 0, 1
_DONE, _OUT_FULL, _EXT_FULL = 0, 1, 2
# A component is left out below a root where all that it could add is lost in rounding anyway.
_NEGLIGIBLE = 1e-16
# Rows are padded with zeros to whole cache lines, so that the vector loops have no remainder.
_PAD = 8


@kernel
def search(
    control: np.ndarray,
    limits: np.ndarray,
    queue: np.ndarray,
    min_probability: float,
    root_probabilities: np.ndarray,
    table: np.ndarray,
    start: np.ndarray,
    trie: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    n_pivots: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the sets of the roots this thread gets; arguments and results as in `eclat.search`."""
    n_items, n_components = table.shape
    segments = np.zeros((n_items, 2), dtype=np.int64)
    out_keys = np.empty(1 << 16, dtype=np.uint32)
    out_probabilities = np.empty(1 << 16, dtype=np.float64)
    ext = np.empty((4 * n_items + 16, 2), dtype=np.int64)
    ext_probability = np.empty(len(ext), dtype=np.float64)
    levels = np.zeros((n_items + 2, 5), dtype=np.int64)
    state = np.zeros(2, dtype=np.int64)
    active = np.empty(n_components, dtype=np.int64)
    smallest = _NEGLIGIBLE * min_probability / n_components

    while control[STOP] == RUNNING:
        root = fetch_add(queue, 0, -1) - 1
        if root < 0:
            break
        n_before = state[_N_OUT]
        n_reported = n_before
        if n_before == len(out_keys):
            out_keys, out_probabilities = longer(out_keys, 0), longer(out_probabilities, 0)
        out_keys[n_before] = (1 << LENGTH_SHIFT) + root
        out_probabilities[n_before] = root_probabilities[root]
        state[_N_OUT] += 1
        if limits[MAX_LEN] > 1 and root > 0:
            n_active = 0
            for k in range(n_components):
                if start[k] * table[root, k] > smallest:
                    active[n_active] = k
                    n_active += 1
            width = (n_active + _PAD - 1) // _PAD * _PAD
            # Only the components that can hold the root matter below it: their columns are gathered once.
            local = np.zeros((root * max(1, n_pivots), width), dtype=np.float64)
            vectors = np.zeros((min(n_items, limits[MAX_LEN]) + 1, width), dtype=np.float64)
            for a in range(n_active):
                vectors[1, a] = start[active[a]] * table[root, active[a]]
            n_first = _first_level(
                table, active[:n_active], root, min_probability, local, vectors, ext, ext_probability, trie,
                n_pivots,
            )  # fmt: skip
            levels[1, _START], levels[1, _SIZE], levels[1, _CURSOR] = 0, n_first, 0
            levels[1, _NODE], levels[1, _N_ROWS] = 1 + trie[0][root], n_first
            state[_DEPTH] = 1
            status = _OUT_FULL
            while status != _DONE:
                status = _descend(
                    levels, ext, ext_probability, local, vectors, trie, n_pivots, out_keys, out_probabilities,
                    state, control, limits[MAX_LEN], min_probability,
                )  # fmt: skip
                if status == _OUT_FULL:
                    _report(out_keys[n_reported : state[_N_OUT]], control, limits)
                    n_reported = state[_N_OUT]
                    out_keys, out_probabilities = longer(out_keys, 0), longer(out_probabilities, 0)
                elif status == _EXT_FULL:
                    ext_probability = longer(ext_probability, 0)
                    ext = grown(ext, len(ext_probability))
        segments[root, 0], segments[root, 1] = n_before, state[_N_OUT]
        _report(out_keys[n_reported : state[_N_OUT]], control, limits)
        fetch_add(control, N_ROOTS_DONE, 1)
    return out_keys[: state[_N_OUT]], out_probabilities[: state[_N_OUT]], segments


@kernel
def _first_level(
    table: np.ndarray,
    active: np.ndarray,
    root: int,
    min_probability: float,
    local: np.ndarray,
    vectors: np.ndarray,
    ext: np.ndarray,
    ext_probability: np.ndarray,
    trie: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    n_pivots: int,
) -> int:
    """Gather the rows of the items before a root, and list those that are probable enough with it."""
    rank, first, item, shift = trie
    child, last_child = 0, 0
    if n_pivots > 0:
        child, last_child = first[1 + rank[root]], first[2 + rank[root]]
    n_new = 0
    for i in range(root):
        for a in range(len(active)):
            local[n_new, a] = table[i, active[a]]
        while child < last_child and item[child] < rank[i]:
            child += 1
        if child < last_child and item[child] == rank[i] and shift[child] != 0.0:
            tilt(local[n_new], shift[child], local[n_new])
        probability = _dot(vectors, 1, local, n_new)
        if probability >= min_probability:
            ext[n_new, _ITEM], ext[n_new, _ROW], ext_probability[n_new] = i, n_new, probability
            n_new += 1
    return n_new


@kernel
def _descend(
    levels: np.ndarray,
    ext: np.ndarray,
    ext_probability: np.ndarray,
    local: np.ndarray,
    vectors: np.ndarray,
    trie: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    n_pivots: int,
    out_keys: np.ndarray,
    out_probabilities: np.ndarray,
    state: np.ndarray,
    control: np.ndarray,
    max_len: int,
    min_probability: float,
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there."""
    depth, n_out = state[_DEPTH], state[_N_OUT]
    status = _DONE
    while depth > 0 and control[STOP] == RUNNING:
        j = levels[depth, _CURSOR]
        if j == levels[depth, _SIZE]:
            depth -= 1
            continue
        first = levels[depth, _START]
        base = first + levels[depth, _SIZE]
        if n_out == len(out_keys):
            status = _OUT_FULL
            break
        if base + j > len(ext):
            status = _EXT_FULL
            break
        levels[depth, _CURSOR] = j + 1
        length = depth + 1
        out_keys[n_out] = (length << LENGTH_SHIFT) + ext[first + j, _ITEM]
        out_probabilities[n_out] = ext_probability[first + j]
        n_out += 1
        if j == 0 or length == max_len:
            continue
        _multiply(vectors, depth, local, ext[first + j, _ROW])
        if length <= n_pivots:
            n_new = _extend_shifted(
                levels, depth, ext, ext_probability, local, vectors, trie, j, min_probability
            )
        else:
            n_new = _extend(levels, depth, ext, ext_probability, local, vectors, j, min_probability)
        if n_new > 0:
            depth += 1
            levels[depth, _START], levels[depth, _SIZE], levels[depth, _CURSOR] = base, n_new, 0
    state[_DEPTH], state[_N_OUT] = depth, n_out
    return status


@inlined
def _extend(
    levels: np.ndarray,
    depth: int,
    ext: np.ndarray,
    ext_probability: np.ndarray,
    local: np.ndarray,
    vectors: np.ndarray,
    j: int,
    min_probability: float,
) -> int:
    """List behind a level those of its extensions before the j-th that are probable enough with it."""
    start, base = levels[depth, _START], levels[depth, _START] + levels[depth, _SIZE]
    n_new = 0
    for i in range(start, start + j):
        probability = _dot(vectors, depth + 1, local, ext[i, _ROW])
        if probability >= min_probability:
            new = base + n_new
            ext[new, _ITEM], ext[new, _ROW] = ext[i, _ITEM], ext[i, _ROW]
            ext_probability[new] = probability
            n_new += 1
    return n_new


@kernel
def _extend_shifted(
    levels: np.ndarray,
    depth: int,
    ext: np.ndarray,
    ext_probability: np.ndarray,
    local: np.ndarray,
    vectors: np.ndarray,
    trie: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    j: int,
    min_probability: float,
) -> int:
    """List the extensions of a level that are probable enough with its j-th, as `_descend` does.

    Items whose log-odds are shifted below that path get rows of their own.
    """
    rank, first, item, shift = trie
    start, base = levels[depth, _START], levels[depth, _START] + levels[depth, _SIZE]
    node = levels[depth, _NODE]
    if node >= 0:
        node = child_of(first, item, node, rank[ext[start + j, _ITEM]])
    child, last_child = (first[node], first[node + 1]) if node >= 0 else (0, 0)
    n_rows = levels[depth, _N_ROWS]
    n_new = 0
    for i in range(start, start + j):
        row, wanted = ext[i, _ROW], rank[ext[i, _ITEM]]
        while child < last_child and item[child] < wanted:
            child += 1
        is_shifted = child < last_child and item[child] == wanted and shift[child] != 0.0
        if is_shifted:
            tilt(local[row], shift[child], local[n_rows])
            row = n_rows
        probability = _dot(vectors, depth + 1, local, row)
        if probability >= min_probability:
            new = base + n_new
            ext[new, _ITEM], ext[new, _ROW] = ext[i, _ITEM], row
            ext_probability[new] = probability
            n_new += 1
            n_rows += is_shifted
    levels[depth + 1, _NODE], levels[depth + 1, _N_ROWS] = node, n_rows
    return n_new


@summing
def _dot(vectors: np.ndarray, level: int, local: np.ndarray, row: int) -> float:
    """Equivalent to vectors[level] @ local[row]."""
    total = 0.0
    for k in range(vectors.shape[1]):
        total += vectors[level, k] * local[row, k]
    return total


@summing
def _multiply(vectors: np.ndarray, level: int, local: np.ndarray, row: int) -> None:
    """Equivalent to vectors[level + 1] = vectors[level] * local[row]."""
    for k in range(vectors.shape[1]):
        vectors[level + 1, k] = vectors[level, k] * local[row, k]


@kernel
def _report(keys: np.ndarray, control: np.ndarray, limits: np.ndarray) -> None:
    """Add some new records to the shared totals."""
    n_found, n_codes = 0, 0
    for s in range(len(keys)):
        length = keys[s] >> LENGTH_SHIFT
        if length >= limits[MIN_LEN]:
            n_found += 1
            n_codes += length
    report(n_found, n_codes, control, limits)
