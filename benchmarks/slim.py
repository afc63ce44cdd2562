"""SLIM, to compare summaries with: patterns that compress transactions best.

Smets and Vreeken, Slim: directly mining descriptive patterns, SDM 2012. A code table has itemsets, the
longest first. Each transaction is covered by the first that fit into what is left of it, and a code is the
shorter, the more often its set is used. Unions of two sets of the table are tried, the most promising first,
and a union stays if codes and table together become shorter. Sets that are less used then are tried without.
"""

from __future__ import annotations

import time
from itertools import chain
from math import log, log2
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix import Transactions

Pattern = tuple[int, ...]


class CodeTable(NamedTuple):
    """What SLIM has found: sets in the order of the cover, and those it took, in the order of taking.

    Attributes
    ----------
    usage : dict
        How many transactions each set covers, single items too.
    taken : list of tuple of int
        The sets that are in the table at the end, the first taken first.
    n_codes : array of int
        How many transactions of the data have 0, 1, 2, ... codes.
    bits, bits_of_items : float
        The length of table and data, and of those with single items only.
    is_done : bool
        Whether no union makes all shorter; otherwise the time was over.
    """

    usage: dict[Pattern, int]
    taken: list[Pattern]
    n_codes: np.ndarray
    bits: float
    bits_of_items: float
    is_done: bool


def slim(data: Transactions, seconds: float = float("inf")) -> CodeTable:
    """Find the patterns; after so many seconds of processor time, stop with those that are there."""
    found = _Slim(data)
    began = time.process_time()
    is_done = False
    while not is_done and time.process_time() - began < seconds:
        is_done = not found.take_one()
    return _table(found.covers, found.taken, data, (found.bits, found.bits_of_items), is_done)


def items_only(data: Transactions) -> CodeTable:
    """Return the table of single items."""
    found = _Slim(data)
    return _table(found.covers, [], data, (found.bits, found.bits), is_done=False)


def _table(
    covers: dict[Pattern, int],
    taken: list[Pattern],
    data: Transactions,
    bits: tuple[float, float],
    is_done: bool,
) -> CodeTable:
    usage = {pattern: covered.bit_count() for pattern, covered in covers.items()}
    own = [pattern for pattern in taken if pattern in usage]
    return CodeTable(usage, own, np.bincount(_codes_of(covers, data)), *bits, is_done)


def _codes_of(covers: dict[Pattern, int], data: Transactions) -> np.ndarray:
    """Return how many codes each transaction has."""
    n = data.n_transactions
    size = (n + 7) // 8
    total = np.zeros(n, dtype=np.int64)
    for covered in covers.values():
        if covered:
            # The first transaction is the highest bit of the whole bytes.
            total += np.unpackbits(np.frombuffer(covered.to_bytes(size, "big"), np.uint8))[:n]
    return total


def log_likelihood(table: CodeTable, data: Transactions) -> float:
    """Return the mean log-probability of transactions that a table stands for, in nats.

    A code of L bits has the probability 2^-L. The codes of a transaction may come in any order, and their
    number has to be known. So it is that of this number in the data of the table, times that of the codes,
    times the number of orders. All counts are one higher, so that nothing is impossible.
    """
    columns = columns_of(data)
    single = {(item,) for item in range(data.n_items)}
    covers = _cover(sorted({*table.taken, *single}, key=_Order(columns)), columns)
    used = {pattern: table.usage.get(pattern, 0) + 1 for pattern in covers}
    total = sum(used.values())
    codes = sum(covered.bit_count() * log(used[p] / total) for p, covered in covers.items())
    n_codes = _codes_of(covers, data)
    of_number = np.ones(1 + max(len(table.n_codes), int(n_codes.max())))
    of_number[: len(table.n_codes)] += table.n_codes
    orders = gammaln(n_codes + 1.0)
    return float(codes / data.n_transactions + np.mean(orders + np.log(of_number / of_number.sum())[n_codes]))


def columns_of(data: Transactions) -> list[int]:
    """Return the transactions of each item, as the bits of a whole number."""
    held = data.to_scipy().tocsc()
    columns = []
    for item in range(data.n_items):
        bits = np.zeros(data.n_transactions, dtype=bool)
        bits[held.indices[held.indptr[item] : held.indptr[item + 1]]] = True
        columns.append(int.from_bytes(np.packbits(bits).tobytes(), "big"))
    return columns


class _Order:
    """The order of the cover: long sets first, then frequent ones."""

    def __init__(self, columns: list[int]) -> None:
        self.columns = columns
        self.known: dict[Pattern, tuple[int, int, Pattern]] = {}

    def __call__(self, pattern: Pattern) -> tuple[int, int, Pattern]:
        if pattern not in self.known:
            self.known[pattern] = -len(pattern), -_together(pattern, self.columns).bit_count(), pattern
        return self.known[pattern]


def _together(pattern: Pattern, columns: list[int]) -> int:
    first, *others = pattern
    held = columns[first]
    for item in others:
        held &= columns[item]
    return held


def _cover(patterns: Iterable[Pattern], columns: list[int]) -> dict[Pattern, int]:
    left = list(columns)
    covers = {}
    for pattern in patterns:
        covered = _together(pattern, left)
        covers[pattern] = covered
        if covered:
            for item in pattern:
                left[item] ^= covered
    return covers


class _Slim:
    def __init__(self, data: Transactions) -> None:
        self.columns = columns_of(data)
        self.n_bytes = (data.n_transactions + 7) // 8
        self.order = _Order(self.columns)
        counts = data.item_counts()
        self.item_bits = {item: log2(counts.sum() / n) for item, n in enumerate(counts.tolist()) if n}
        self.covers = _cover(sorted(((item,) for item in self.item_bits), key=self.order), self.columns)
        self.taken: list[Pattern] = []
        self.bits = self.bits_of_items = self._size(self.covers)

    def _size(self, covers: dict[Pattern, int]) -> float:
        """Return the bits of table and data."""
        used = {pattern: n for pattern, covered in covers.items() if (n := covered.bit_count())}
        total = sum(used.values())
        own = sum((n + 1) * log2(total / n) for n in used.values())
        return own + sum(self.item_bits[item] for item in chain.from_iterable(used))

    def take_one(self) -> bool:
        """Take the first union that makes all shorter; return whether there is one."""
        for pattern in self._candidates():
            patterns = sorted([*self.covers, pattern], key=self.order)
            covers = _cover(patterns, self.columns)
            bits = self._size(covers)
            if bits < self.bits:
                self.taken.append(pattern)
                before, self.covers, self.bits = self.covers, covers, bits
                self._prune({p for p in before if covers[p].bit_count() < before[p].bit_count()})
                return True
        return False

    def _prune(self, less_used: set[Pattern]) -> None:
        less_used = {pattern for pattern in less_used if len(pattern) > 1}
        while less_used:
            least = min(less_used, key=lambda pattern: (self.covers[pattern].bit_count(), pattern))
            less_used.remove(least)
            covers = _cover([pattern for pattern in self.covers if pattern != least], self.columns)
            bits = self._size(covers)
            if bits < self.bits:
                less_used |= {
                    p for p in covers if len(p) > 1 and covers[p].bit_count() < self.covers[p].bit_count()
                }
                self.covers, self.bits = covers, bits

    def _candidates(self) -> list[Pattern]:
        """Return unions of two sets that seem to make the data shorter, the most promising first."""
        patterns = [pattern for pattern, covered in self.covers.items() if covered]
        packed = [self.covers[pattern].to_bytes(self.n_bytes, "big") for pattern in patterns]
        rows = np.unpackbits(np.frombuffer(b"".join(packed), np.uint8).reshape(len(packed), -1), axis=1)
        used = rows.sum(axis=1).astype(np.float64)
        both = rows.astype(np.float32) @ rows.T.astype(np.float32)
        x, y = np.nonzero(np.triu(both, 1))
        n = both[x, y].astype(np.float64)
        total = used.sum()
        # The bits of the data before, less those after.
        gain = _entropy(total) - _entropy(used[x]) - _entropy(used[y]) - _entropy(total - n)
        gain += _entropy(n) + _entropy(used[x] - n) + _entropy(used[y] - n)
        item_bits = np.array([sum(self.item_bits[item] for item in pattern) for pattern in patterns])
        gain -= item_bits[x] + item_bits[y]
        chosen = np.flatnonzero(gain > 0)
        chosen = chosen[np.argsort(-gain[chosen], kind="stable")]
        unions = (
            tuple(sorted({*patterns[i], *patterns[j]})) for i, j in zip(x[chosen], y[chosen], strict=True)
        )
        return [union for union in dict.fromkeys(unions) if union not in self.covers]


def _entropy(n: np.ndarray | float) -> np.ndarray:
    """Return n log2 n."""
    n = np.asarray(n, dtype=np.float64)
    found: np.ndarray = n * np.log2(np.maximum(n, 1.0))
    return found
