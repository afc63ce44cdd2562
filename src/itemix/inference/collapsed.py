"""What the collapsed samplers' kernels work on: tables of the prior, and of the components of labels."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.kernels import csr
from itemix.kernels.csr import RowArrays
from itemix.kernels.inference import components, layout, scores
from itemix.kernels.inference.components import Points, PriorTables, Tables

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions
    from itemix.inference.priors import Prior

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

_VECTOR = 8
_LOG_SAFE = 690.0  # a product of factors stays below exp(690), so that it neither overflows nor vanishes
_N_TERMS = 16


def expanded_rows(transactions: Transactions, flipped: npt.NDArray[np.bool_] | None = None) -> RowArrays:
    """Return a row for each transaction: identical ones have labels of their own.

    Flipped items are those that a row holds if the transaction does not.
    """
    indptr, indices = transactions.indptr, transactions.indices
    if transactions.multiplicities is not None:
        each = np.repeat(np.arange(transactions.n_rows), transactions.multiplicities)
        indptr, indices = csr.gather_rows(indptr, indices, each)
    if flipped is not None and flipped.any():
        indptr, indices = layout.flip_items(indptr, indices, flipped)
    return _read_only(indptr, indices)


def _read_only(indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32]) -> RowArrays:
    """Make rows as read-only as those of Transactions, for which the kernels are compiled."""
    indptr.setflags(write=False)
    indices.setflags(write=False)
    return RowArrays(indptr, indices)


def flipped_prior(prior: Prior, flipped: npt.NDArray[np.bool_]) -> Prior:
    """Return the prior of flipped items: beta and gamma change places."""
    beta, gamma = np.where(flipped, prior.gamma, prior.beta), np.where(flipped, prior.beta, prior.gamma)
    return replace(prior, beta=beta, gamma=gamma)


def prior_tables(prior: Prior, n_transactions: int, n_components: int | None) -> PriorTables:
    """Return the kernels' form of a prior; `n_components` is None for the Dirichlet process."""
    weight = np.arange(n_transactions + 1, dtype=np.float64)
    if n_components is None:
        weight[0] = prior.alpha
    else:
        weight += prior.alpha / n_components
    absent = sums_of_logs(prior.gamma, n_transactions)
    either = sums_of_logs(prior.beta + prior.gamma, n_transactions)
    size_term = np.log(weight) + absent - either
    growth = np.concatenate([[0.0], np.cumsum(size_term[:-1])])
    block = _safe_block(prior, n_transactions)
    return PriorTables(
        np.array(prior.beta), np.array(prior.gamma), size_term, growth, block, n_components is None
    )


def sums_of_logs(shifts: Floats, n: int) -> Floats:
    """Return sum_i log(m + shifts_i) for m = 0, ..., n.

    Around the mean shift c this is a power series in 1 / (m + c), whose coefficients are the moments of the
    shifts; it is used where it converges at least as fast as powers of 1/8, and before that the plain sum.
    """
    center = float(shifts.mean())
    off = shifts - center
    first = min(n + 1, math.ceil(max(8 * float(np.abs(off).max()) - center, 0.0)))
    direct = [float(np.log(m + shifts).sum()) for m in range(first)]
    x = np.arange(first, n + 1) + center
    series = np.zeros(len(x))
    for j in range(_N_TERMS, 0, -1):
        series = (series + (1 if j % 2 else -1) * float((off**j).sum()) / j) / x
    return np.concatenate([direct, len(shifts) * np.log(x) + series])


def _safe_block(prior: Prior, n_transactions: int) -> int:
    """Return how many factors of a score can be multiplied before a logarithm must be taken."""
    least = min(prior.beta.min(), prior.gamma.min())
    most = n_transactions + max(prior.beta.max(), prior.gamma.max())
    return max(1, int(_LOG_SAFE / max(abs(math.log(least)), abs(math.log(most)), 1.0)))


def make_tables(rows: RowArrays, labels: Labels, prior: PriorTables, n_slots: int, capacity: int) -> Tables:
    """Return the tables of labels, with room for at least `capacity` components.

    The finite model never chooses a slot from n_slots on; in the process all empty ones are room to grow.
    """
    n_items = len(prior.beta)
    C = -(-max(capacity, n_slots) // _VECTOR) * _VECTOR
    tables = Tables(
        sizes=np.zeros(C, dtype=np.int64),
        counts=np.zeros((n_items, C), dtype=np.int32),
        base=np.zeros(C),
        base_out=np.zeros(C),
        series=np.zeros((C, components.N_TERMS + 1)),
        anchor=np.zeros(C, dtype=np.int64),
        listed=np.zeros((C, n_items), dtype=np.int32),
        n_listed=np.zeros(C, dtype=np.int64),
        n_near=np.zeros(C, dtype=np.int64),
        place=np.zeros((n_items, C), dtype=np.uint8),
        scratch=np.zeros((2, components.CHUNK)),
    )
    components.fill(Points(*rows, labels), prior, tables, n_slots)
    return tables


def no_tables(prior: PriorTables) -> Tables:
    """Return tables of two empty components: scratch for split and merge moves."""
    nothing = _read_only(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    return make_tables(nothing, np.empty(0, dtype=np.int32), prior, 2, 2)


def log_joint(prior: PriorTables, alpha: float, tables: Tables) -> float:
    """Return the joint log-probability of labels and data (of partition and data, in the process)."""
    parts = sum(scores.log_component(prior, tables, int(k)) for k in np.flatnonzero(tables.sizes))
    return parts + math.lgamma(alpha) - math.lgamma(int(tables.sizes.sum()) + alpha)
