"""Reading a stream of data once: items are counted, and candidates with them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError, UnknownItemError
from itemix.mining.passes import CountingPass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix.core.items import Items, Label
    from itemix.core.transactions import Transactions
    from itemix.mining.candidates import Candidates
    from itemix.mining.streams import Numbering, Stream

Numbers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass
class Totals:
    """What was counted of the data, by the numbers of the items.

    Attributes
    ----------
    item_counts : array, shape (n_items,)
        How many transactions hold each item.
    held_counts : array, shape (n_items,)
        How many of those that hold all included items hold each other item; 0 for excluded ones.
    n_transactions : int
        The number of transactions.
    n_holding : int
        How many of them hold all included items.
    """

    item_counts: Numbers
    held_counts: Numbers
    n_transactions: int = 0
    n_holding: int = 0


@dataclass(frozen=True)
class Reader:
    """Data that is read as often as there are candidates to count in it.

    Attributes
    ----------
    stream : Stream
        The data.
    include : sequence of names
        Only the transactions that hold all these are looked at, and what else they hold.
    exclude : sequence of names
        Items that are overlooked.
    n_threads : int
        The number of threads.
    on_progress : function or None
        Told (transactions read, transactions in all) after each chunk.
    """

    stream: Stream
    include: Sequence[Label]
    exclude: Sequence[Label]
    n_threads: int
    on_progress: Callable[[int, int], None] | None

    def count(
        self, candidates: Candidates, numbering: Numbering, n_expected: int | None
    ) -> tuple[Candidates, Totals]:
        """Read the data and return the candidates with their counts, and the totals.

        Raises
        ------
        InvalidInputError
            If there are more or fewer transactions than expected.
        """
        totals = Totals(*np.zeros((2, len(numbering)), dtype=np.int64))
        counting = CountingPass(candidates, self.n_threads)
        for chunk in self.stream.chunks():
            self._count_chunk(chunk, numbering.of(chunk.items), counting, totals)
            if self.on_progress is not None:
                self.on_progress(totals.n_transactions, n_expected or totals.n_transactions)
        if n_expected not in (None, totals.n_transactions):
            raise InvalidInputError(
                f"expected {n_expected:,} transactions in every pass, got {totals.n_transactions:,}; "
                "pass a function that opens the data anew"
            )
        return counting.finished(totals.held_counts), totals

    def _count_chunk(
        self, chunk: Transactions, numbers: Codes, counting: CountingPass, totals: Totals
    ) -> None:
        totals.n_transactions += chunk.n_transactions
        totals.item_counts = _added(totals.item_counts, numbers, chunk.item_counts())
        if self.include:
            is_known = len(known_codes(chunk.items, self.include)) == len(self.include)
            chunk = chunk.holding(self.include) if is_known else chunk.sample(0)
        counts = chunk.item_counts()
        counts[known_codes(chunk.items, [*self.include, *self.exclude])] = 0
        totals.held_counts = _added(totals.held_counts, numbers, counts)
        totals.n_holding += chunk.n_transactions
        counting.add(chunk, numbers)


def known_codes(items: Items, names: Sequence[Label]) -> Codes:
    """Return the codes of those names that there are."""
    codes = []
    for name in names:
        with suppress(UnknownItemError):
            codes.append(items.code(name))
    return np.array(codes, dtype=np.int32)


def _added(totals: Numbers, numbers: Codes, counts: Numbers) -> Numbers:
    """Return totals with the counts of some items added, longer where their numbers are higher."""
    n_items = max(len(totals), int(numbers.max(initial=-1)) + 1)
    longer = np.pad(totals, (0, n_items - len(totals)))
    longer[numbers] += counts
    return longer
