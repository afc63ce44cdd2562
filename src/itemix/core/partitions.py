"""Partitions: transactions in parts that are worked on where they lie, on this machine or on many.

All work on data that outgrows memory or a machine has one form: a function is called for every part, and what
it returns adds up. `PartsOf` is what an engine has to offer for that: two methods, `map` and `keep`.
`Partitions` are parts of transactions over the same items, with what is known of all of them together.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from itemix._runtime import count_threads, still_wanted
from itemix.core.items import Items
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from itemix._typing import Array, Ints

P = TypeVar("P")
K = TypeVar("K")
R = TypeVar("R")


class PartsOf(ABC, Generic[P]):
    """Parts of something, in order: what an engine has to offer.

    Attributes
    ----------
    is_here : bool
        Whether functions run in this process, for one part after the other, and may use all its threads.
        Otherwise they run with one thread each.
    """

    is_here: ClassVar[bool] = False

    @abstractmethod
    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part and yield what it returns, in the order of the parts.

        Parameters
        ----------
        function : callable
            A function that can be pickled.
        each : sequence, optional
            A second argument for each part; without it the function gets the part alone.
        """

    @abstractmethod
    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> PartsOf[K]:
        """Return parts that are what a function makes of these, kept where they were made.

        An engine that loses one makes it again.
        """


class Listed(PartsOf[P]):
    """Parts that are in memory, in this process."""

    is_here = True

    def __init__(self, parts: Iterable[P]) -> None:
        self._parts = list(parts)

    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part, one after the other."""
        return _called(function, self._parts, each)

    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> Listed[K]:
        """Make something of every part, and keep it in memory."""
        return Listed(self.map(make, each))


class Reread(PartsOf[P]):
    """Parts that are read anew whenever they are asked for: no more than one is in memory.

    Parameters
    ----------
    read : callable
        Returns the parts, one after the other.
    """

    is_here = True

    def __init__(self, read: Callable[[], Iterable[P]]) -> None:
        self._read = read

    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part, one after the other."""
        return _called(function, self._read(), each)

    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> Reread[K]:
        """Return parts that are made whenever they are asked for."""
        return Reread(partial(self.map, make, each))


def _called(function: Callable[..., R], parts: Iterable[Any], each: Sequence[Any] | None) -> Iterator[R]:
    n_called = 0
    for part in parts:
        still_wanted()
        n_called += 1
        if each is not None and n_called > len(each):
            break
        yield function(part) if each is None else function(part, each[n_called - 1])
    if each is not None and n_called != len(each):
        more = "more" if n_called > len(each) else f"{n_called:,}"
        raise InvalidInputError(
            f"expected {len(each):,} parts in every pass, as before, got {more}; {_UNCHANGED}"
        )


_UNCHANGED = "wait until nobody writes to the data, and make the partitions again"


class Summary(NamedTuple):
    """What is known of one part.

    Attributes
    ----------
    labels : array
        The names of its items.
    n_transactions : int
        How many transactions it has.
    checksum : int
        A number that changes when the counts of its items do.
    """

    labels: Array
    n_transactions: int
    checksum: int

    @classmethod
    def of(cls, part: Transactions) -> Summary:
        """Return the summary of a part."""
        names = "\n".join(map(str, part.items.labels.tolist())).encode()
        checksum = zlib.crc32(part.item_counts().tobytes(), zlib.crc32(names))
        return cls(part.items.labels, part.n_transactions, checksum)


class Partitions:
    """Transactions in parts over the same items: see `itemix.partitions`.

    Parameters
    ----------
    parts : PartsOf of Transactions
        The parts, over any items.

    Attributes
    ----------
    items : Items
        The items of all parts.
    n_transactions : int
        The number of transactions in all parts together.
    sizes : tuple of int
        The number of transactions of each part.
    parts : PartsOf of Transactions
        The parts, over the items of all.
    """

    def __init__(self, parts: PartsOf[Transactions]) -> None:
        summaries = list(parts.map(Summary.of))
        self.items = _all_items([summary.labels for summary in summaries])
        self.sizes = tuple(summary.n_transactions for summary in summaries)
        self.n_transactions = sum(self.sizes)
        self.parts = parts.keep(partial(_aligned, items=self.items), [summary[1:] for summary in summaries])

    @classmethod
    def known(cls, parts: PartsOf[Transactions], items: Items, sizes: Sequence[int]) -> Self:
        """Return partitions of parts that all have these items, and these sizes, without reading them."""
        self = cls.__new__(cls)
        self.items, self.sizes, self.parts = items, tuple(sizes), parts
        self.n_transactions = sum(self.sizes)
        return self

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.items)

    def __repr__(self) -> str:
        n_parts = len(self.sizes)
        parts = f"{n_parts:,} part{'s' if n_parts != 1 else ''}"
        return f"Partitions({self.n_transactions:,} x {self.n_items:,} in {parts})"

    def __iter__(self) -> Iterator[Transactions]:
        """Bring the parts here, one after the other."""
        return self.map(_as_it_is)

    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part, and yield what it returns: see `PartsOf.map`."""
        return self.parts.map(function, each)

    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> PartsOf[K]:
        """Return what a function makes of every part, kept where it was made: see `PartsOf.keep`."""
        return self.parts.keep(make, each)

    def n_threads(self, n_jobs: int | None) -> int:
        """Return how many threads a function may use for a part."""
        n_threads = count_threads(n_jobs)
        return n_threads if self.parts.is_here else 1

    def item_counts(self) -> Ints:
        """Return how many transactions hold each item, shape (n_items,)."""
        return sum(self.map(Transactions.item_counts), start=np.zeros(self.n_items, dtype=np.int64))

    def take(self, positions: Ints) -> Transactions:
        """Return the transactions at some positions, ascending, each as a row of its own."""
        ends = np.cumsum([0, *self.sizes])
        cuts = np.searchsorted(positions, ends)
        each = [positions[a:b] - end for a, b, end in zip(cuts, cuts[1:], ends, strict=False)]
        return Transactions.concatenate(list(self.map(_taken, each)))


def _as_it_is(part: Transactions) -> Transactions:
    return part


def _taken(part: Transactions, positions: Ints) -> Transactions:
    return part[positions]


def _all_items(labels: Sequence[Array]) -> Items:
    """Return the items of all parts: those of the parts if they agree, else all names, sorted."""
    distinct = {id(own): own for own in labels if len(own)}
    named = list(distinct.values())
    if not named:
        return Items(())
    if len({own.dtype for own in named}) > 1:
        raise InvalidInputError(
            "expected names that are all strings or all integers, got parts with both; write them alike"
        )
    if all(np.array_equal(named[0], own) for own in named[1:]):
        return Items(named[0])
    return Items(np.unique(np.concatenate(named)))


def _aligned(part: Transactions, known: tuple[int, int], items: Items) -> Transactions:
    """Return a part over the items of all, if it is as it was.

    Raises
    ------
    InvalidInputError
        If it has other transactions, or items that no part had.
    """
    found = Summary.of(part)
    if found[1:] != known:
        raise InvalidInputError(
            f"expected the same data in every pass, got a part of {found.n_transactions:,} transactions "
            f"in place of other {known[0]:,}; {_UNCHANGED}"
        )
    return part.align_items(items)
