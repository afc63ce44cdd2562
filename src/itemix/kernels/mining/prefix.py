"""All itemsets that are probable enough under a mixture, depth first with one vector a level.

The probability of a set is sum_k pi_k prod_{i in set} phi_ik (eq. predict). Level d keeps the K products of
its prefix, so that an extension costs K multiplications and additions. The order of the search and of the
records is that of `eclat`: from the rarest item of a set to more probable ones, siblings in order of rank.

F is the number of items that are probable enough, K the number of components. The value of a record is a
probability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import fetch_add, inlined, kernel, summing
from itemix.kernels.mining.layouts import grown, longer
from itemix.kernels.mining.records import (
    LENGTH_SHIFT,
    N_ROOTS_DONE,
    RUNNING,
    STOP,
    SearchLimits,
    ThreadRecords,
    report,
    with_room,
)

# As in `eclat`: the extensions of level d are ext[START:START + SIZE]; CURSOR is the next one to visit.
_START, _SIZE, _CURSOR = 0, 1, 2
_ITEM, _ROW = 0, 1
_DEPTH, _N_OUT = 0, 1
_DONE, _OUT_FULL, _EXT_FULL = 0, 1, 2
# A component is left out below a root if all that it could add would be lost in rounding.
_NEGLIGIBLE = 1e-16
# Rows are padded with zeros to whole cache lines, so that the vector loops have no remainder.
_PAD = 8


class RankedMixture(NamedTuple):
    """The mixture that is searched, its items by rank.

    Attributes
    ----------
    weights : array of float64, shape (K,)
        The weights, times the phi of items that every set is to hold.
    table : array of float64, shape (F, K)
        Row i is the phi of the item of rank i.
    item_probabilities : array of float64, shape (F,)
        The probability of each item.
    may_pair : array of uint8, shape (F, ceil(F / 8))
        Bit i of row j, lowest first, is 0 if items i < j are not to be joined: they cannot be probable enough
        together, or are values of one column.
    """

    weights: np.ndarray
    table: np.ndarray
    item_probabilities: np.ndarray
    may_pair: np.ndarray


class Branch(NamedTuple):
    """The state of the search below one root. It goes on from there after an array was full.

    Attributes
    ----------
    levels : array of int64, shape (n_levels, 3)
        The sets from the root to the current one.
    ext : array of int64, shape (n, 2)
        The extensions of all levels, one level after the other: an item and its row of phi.
    ext_probability : array of float64, shape (n,)
        The probability of each set with its extension.
    phi : array of float64, shape (n_rows, width)
        A row for each item, of the components that can hold the root, filled up with zeros.
    products : array of float64, shape (n_levels, width)
        The share of each of these components in the probability of the set of a level.
    state : array of int64, shape (2,)
        How deep the search is, and how much has been found.
    """

    levels: np.ndarray
    ext: np.ndarray
    ext_probability: np.ndarray
    phi: np.ndarray
    products: np.ndarray
    state: np.ndarray


@kernel
def search(
    control: np.ndarray,
    limits: SearchLimits,
    queue: np.ndarray,
    min_probability: float,
    mixture: RankedMixture,
) -> ThreadRecords:
    """Find the sets of the roots this thread gets; `queue` as in `eclat.search`."""
    start, table = mixture.weights, mixture.table
    n_items, n_components = table.shape
    found = ThreadRecords(
        np.empty(1 << 16, dtype=np.uint32),
        np.empty(1 << 16, dtype=np.float64),
        np.zeros((n_items, 2), dtype=np.int64),
    )
    ext = np.empty((4 * n_items + 16, 2), dtype=np.int64)
    ext_probability = np.empty(len(ext), dtype=np.float64)
    levels = np.zeros((n_items + 2, 3), dtype=np.int64)
    state = np.zeros(2, dtype=np.int64)
    active = np.empty(n_components, dtype=np.int64)
    partners = np.empty(n_items, dtype=np.int64)
    smallest = _NEGLIGIBLE * min_probability / n_components

    while control[STOP] == RUNNING:
        root = fetch_add(queue, 0, -1) - 1
        if root < 0:
            break
        n_before = state[_N_OUT]
        n_reported = n_before
        if n_before == len(found.keys):
            found = with_room(found, 0)
        found.keys[n_before] = (1 << LENGTH_SHIFT) + root
        found.values[n_before] = mixture.item_probabilities[root]
        state[_N_OUT] += 1
        n_partners = _list_partners(mixture.may_pair, root, partners)
        if limits.max_len > 1 and n_partners > 0:
            n_active = 0
            for k in range(n_components):
                if start[k] * table[root, k] > smallest:
                    active[n_active] = k
                    n_active += 1
            width = (n_active + _PAD - 1) // _PAD * _PAD
            # Only the components that can hold the root matter below it: their columns are gathered once.
            phi = np.zeros((n_partners, width), dtype=np.float64)
            products = np.zeros((min(n_partners + 1, limits.max_len) + 1, width), dtype=np.float64)
            for a in range(n_active):
                products[1, a] = start[active[a]] * table[root, active[a]]
            branch = Branch(levels, ext, ext_probability, phi, products, state)
            n_first = _first_level(
                branch, root, partners[:n_partners], table, active[:n_active], min_probability
            )
            levels[1, _START], levels[1, _SIZE], levels[1, _CURSOR] = 0, n_first, 0
            state[_DEPTH] = 1
            status = _OUT_FULL
            while status != _DONE:
                status = _descend(branch, found, control, limits.max_len, min_probability, mixture.may_pair)
                if status == _OUT_FULL:
                    _report(found.keys[n_reported : state[_N_OUT]], control, limits)
                    n_reported = state[_N_OUT]
                    found = with_room(found, 0)
                elif status == _EXT_FULL:
                    ext_probability = longer(ext_probability, 0)
                    ext = grown(ext, len(ext_probability))
                    branch = Branch(levels, ext, ext_probability, phi, products, state)
        found.segments[root, 0], found.segments[root, 1] = n_before, state[_N_OUT]
        _report(found.keys[n_reported : state[_N_OUT]], control, limits)
        fetch_add(control, N_ROOTS_DONE, 1)
    n_out = state[_N_OUT]
    return ThreadRecords(found.keys[:n_out], found.values[:n_out], found.segments)


@kernel
def _list_partners(may_pair: np.ndarray, root: int, out: np.ndarray) -> int:
    """List the items before a root that may be probable enough with it. Return how many there are."""
    n = 0
    for i in range(root):
        if (may_pair[root, i >> 3] >> (i & 7)) & 1:
            out[n] = i
            n += 1
    return n


@kernel
def _first_level(
    branch: Branch,
    root: int,
    partners: np.ndarray,
    table: np.ndarray,
    active: np.ndarray,
    min_probability: float,
) -> int:
    """Gather the rows of a root's partners, and list those that are probable enough with it."""
    _, ext, ext_probability, phi, products, _ = branch
    n_new = 0
    for i in partners:
        for a in range(len(active)):
            phi[n_new, a] = table[i, active[a]]
        probability = _dot(products, 1, phi, n_new)
        if probability >= min_probability:
            ext[n_new, _ITEM], ext[n_new, _ROW], ext_probability[n_new] = i, n_new, probability
            n_new += 1
    return n_new


@kernel
def _descend(
    branch: Branch,
    found: ThreadRecords,
    control: np.ndarray,
    max_len: int,
    min_probability: float,
    may_pair: np.ndarray,
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there."""
    levels, ext, ext_probability, phi, products, state = branch
    keys, probabilities = found.keys, found.values
    depth, n_out = state[_DEPTH], state[_N_OUT]
    status = _DONE
    while depth > 0 and control[STOP] == RUNNING:
        j = levels[depth, _CURSOR]
        if j == levels[depth, _SIZE]:
            depth -= 1
            continue
        first = levels[depth, _START]
        base = first + levels[depth, _SIZE]
        if n_out == len(keys):
            status = _OUT_FULL
            break
        if base + j > len(ext):
            status = _EXT_FULL
            break
        levels[depth, _CURSOR] = j + 1
        length = depth + 1
        keys[n_out] = (length << LENGTH_SHIFT) + ext[first + j, _ITEM]
        probabilities[n_out] = ext_probability[first + j]
        n_out += 1
        if j == 0 or length == max_len:
            continue
        _multiply(products, depth, phi, ext[first + j, _ROW])
        n_new = _extend(branch, depth, j, min_probability, may_pair)
        if n_new > 0:
            depth += 1
            levels[depth, _START], levels[depth, _SIZE], levels[depth, _CURSOR] = base, n_new, 0
    state[_DEPTH], state[_N_OUT] = depth, n_out
    return status


@inlined
def _extend(branch: Branch, depth: int, j: int, min_probability: float, may_pair: np.ndarray) -> int:
    """List the extensions of a level that are probable enough with its j-th; they come before it."""
    levels, ext, ext_probability, phi, products, _ = branch
    start, base = levels[depth, _START], levels[depth, _START] + levels[depth, _SIZE]
    last = ext[start + j, _ITEM]
    n_new = 0
    for i in range(start, start + j):
        item = ext[i, _ITEM]
        if (may_pair[last, item >> 3] >> (item & 7)) & 1 == 0:
            continue
        probability = _dot(products, depth + 1, phi, ext[i, _ROW])
        if probability >= min_probability:
            new = base + n_new
            ext[new, _ITEM], ext[new, _ROW] = item, ext[i, _ROW]
            ext_probability[new] = probability
            n_new += 1
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
def _report(keys: np.ndarray, control: np.ndarray, limits: SearchLimits) -> None:
    """Add some new records to the shared totals."""
    n_found, n_codes = 0, 0
    for s in range(len(keys)):
        length = keys[s] >> LENGTH_SHIFT
        if length >= limits.min_len:
            n_found += 1
            n_codes += length
    report(n_found, n_codes, control, limits)
