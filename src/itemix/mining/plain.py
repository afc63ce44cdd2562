"""The exact search in plain Python, over whole numbers as bitsets: for small work, before kernels are loaded.

To import Numba and to load compiled code takes longer than most searches in a few thousand transactions, and
to compile it takes a minute. This search has the same results in the same order. It gives up when its time is
over, and the kernels take over (`exact.py`).
"""

from __future__ import annotations

import time
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from itemix._runtime import still_wanted
from itemix.kernels import jit
from itemix.kernels.mining.records import BYTES_PER_CODE, BYTES_PER_SET
from itemix.mining.search import SearchStopped, SetColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix._typing import Codes, Ints
    from itemix.core.transactions import Transactions
    from itemix.kernels.mining.records import SearchLimits

    # An item by its rank, the transactions that hold it and all items of a prefix, and their number.
    Extension = tuple[int, int, int]

# About what it takes to intersect and count two bitsets: for the call, and for each transaction.
_SECONDS_PER_PAIR = 1.5e-7
_SECONDS_PER_BIT = 4e-11
_MOST_BITS = 2e8
# The search calls itself for each item of a set; Python allows a thousand calls.
_LONGEST = 400


class _GivenUpError(Exception):
    """The search takes too long for plain Python."""


def mine_plainly(
    tx: Transactions, target: str, limits: SearchLimits, code_of: Codes, kernel: object
) -> SetColumns | None:
    """Return the sets that a kernel would find, or None if the kernel is the quicker way.

    `code_of` has the frequent items, most frequent first.

    Raises
    ------
    SearchStopped
        If there are more itemsets than the limits allow.
    """
    seconds = jit.spare_seconds(kernel)
    n_bits = len(code_of) * float(tx.n_rows)
    expected = len(code_of) ** 2 / 2 * (_SECONDS_PER_PAIR + _SECONDS_PER_BIT * tx.n_rows)
    if n_bits > _MOST_BITS or expected > seconds:
        return None
    began = time.perf_counter()
    search = _PlainSearch(limits, _counter(tx.multiplicities), began + seconds)
    try:
        extensions = [
            (rank, bits, search.count(bits)) for rank, bits in enumerate(_bitsets(tx, code_of, search.check))
        ]
        if target == "all":
            search.grow((), extensions)
        else:
            search.close(tx.n_transactions, extensions, only_maximal=target == "maximal")
        return search.columns(code_of)
    except _GivenUpError:
        return None
    finally:
        jit.spend(time.perf_counter() - began)


def _bitsets(tx: Transactions, code_of: Codes, check: Callable[[], None]) -> list[int]:
    """Return the rows that hold each item, as whole numbers with a bit for each row."""
    rows = np.repeat(np.arange(tx.n_rows), tx.lengths())
    order = np.argsort(tx.indices, kind="stable")
    starts = np.searchsorted(tx.indices[order], np.arange(tx.n_items + 1))
    rows = rows[order]
    found = []
    for code in code_of.tolist():
        check()
        holds = np.zeros(tx.n_rows, dtype=np.uint8)
        holds[rows[starts[code] : starts[code + 1]]] = 1
        found.append(int.from_bytes(np.packbits(holds, bitorder="little").tobytes(), "little"))
    return found


def _counter(multiplicities: Ints | None) -> Callable[[int], int]:
    """Return a function that counts the transactions of a bitset."""
    if multiplicities is None:
        return int.bit_count
    planes = []
    for digit in range(int(multiplicities.max(initial=0)).bit_length()):
        is_set = (multiplicities >> digit & 1).astype(np.uint8)
        planes.append(int.from_bytes(np.packbits(is_set, bitorder="little").tobytes(), "little"))

    def count(bits: int) -> int:
        return sum((bits & plane).bit_count() << digit for digit, plane in enumerate(planes))

    return count


class _PlainSearch:
    """One search: its limits, and what it has found."""

    def __init__(self, limits: SearchLimits, count: Callable[[int], int], until: float) -> None:
        self.count = count
        self._limits = limits
        self._until = until
        # For each length: the ranks of the sets, largest first, and their counts.
        self._found: dict[int, list[tuple[tuple[int, ...], int]]] = {}
        self._n_sets = self._n_codes = 0

    def check(self) -> None:
        """Give up if the time is over, stop if the limits are reached or nobody wants the result."""
        still_wanted()
        n_bytes = BYTES_PER_SET * self._n_sets + BYTES_PER_CODE * self._n_codes
        if self._n_sets > self._limits.max_itemsets or n_bytes > self._limits.max_bytes:
            raise SearchStopped(self._n_sets)
        if time.perf_counter() > self._until:
            raise _GivenUpError

    def grow(self, path: tuple[int, ...], extensions: Sequence[Extension]) -> None:
        """Find all frequent sets below a prefix; its extensions ascend by rank.

        Sets grow by items of lower rank, so that sets of one length come in the order of the result.
        """
        self.check()
        if len(path) > _LONGEST:
            raise _GivenUpError
        count, least = self.count, self._limits.min_count
        is_last = len(path) + 1 >= self._limits.max_len
        for position, (rank, bits, n) in enumerate(extensions):
            longer = (*path, rank)
            self._add(longer, n)
            if is_last or position == 0:
                continue
            both = [(other, bits & held) for other, held, _ in extensions[:position]]
            below = [(other, held, n_both) for other, held in both if (n_both := count(held)) >= least]
            if below:
                self.grow(longer, below)

    def close(self, n_transactions: int, extensions: Sequence[Extension], *, only_maximal: bool) -> None:
        """Find all closed or maximal sets, by closures that preserve prefixes.

        An item that a set's transactions all hold belongs to its closure. If its rank is above the last item
        that was added, another branch has the set.
        """
        others = [extension for extension in reversed(extensions) if extension[2] < n_transactions]
        always = tuple(rank for rank, _, n in reversed(extensions) if n == n_transactions)
        if always and (not only_maximal or not others):
            self._add(always, n_transactions)
        self._close(always, others, len(extensions), only_maximal=only_maximal)
        for sets in self._found.values():
            sets.sort()

    def _close(
        self, members: tuple[int, ...], extensions: Sequence[Extension], core: int, *, only_maximal: bool
    ) -> None:
        self.check()
        if len(members) > _LONGEST:
            raise _GivenUpError
        if len(members) >= self._limits.max_len and not only_maximal:
            return
        count, least = self.count, self._limits.min_count
        for rank, bits, n in extensions:
            if rank >= core:
                continue
            both = [(other, bits & held) for other, held, _ in extensions if other != rank]
            counted = [(other, held, count(held)) for other, held in both]
            always = [other for other, _, n_both in counted if n_both == n]
            if always and max(always) > rank:
                continue
            below = [extension for extension in counted if least <= extension[2] < n]
            closed = tuple(sorted((*members, rank, *always), reverse=True))
            if not only_maximal or not below:
                self._add(closed, n)
            self._close(closed, below, rank, only_maximal=only_maximal)

    def _add(self, ranks: tuple[int, ...], n: int) -> None:
        length = len(ranks)
        if self._limits.min_len <= length <= self._limits.max_len:
            self._found.setdefault(length, []).append((ranks, n))
            self._n_sets += 1
            self._n_codes += length

    def columns(self, code_of: Codes) -> SetColumns:
        """Return what was found, in the order of the kernels: by length, then by the last rank."""
        self.check()
        lengths = sorted(self._found)
        sizes = np.repeat(lengths, [len(self._found[length]) for length in lengths]).astype(np.int64)
        sets = list(chain.from_iterable(self._found[length] for length in lengths))
        ranks = np.fromiter(
            chain.from_iterable(reversed(found) for found, _ in sets), np.int64, self._n_codes
        )
        counts = np.fromiter((n for _, n in sets), np.int64, self._n_sets)
        return SetColumns(np.concatenate([[0], np.cumsum(sizes)]), code_of[ranks], counts)
