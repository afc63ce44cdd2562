"""The parts that all searches share: options, threads that can be stopped, and the found sets as columns."""

from __future__ import annotations

import math
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

import numpy as np

from itemix._arrays import without_noise
from itemix._checks import as_support, as_written, check_bounds, check_choice, check_flag, check_support_count
from itemix._runtime import free_memory, progress_of, still_wanted
from itemix.core.itemsets import TARGETS
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.kernels import csr, lattice
from itemix.kernels.mining import records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from itemix._runtime import Progress
    from itemix._typing import Array, Codes, Ints
    from itemix.core.items import Items
    from itemix.kernels.mining.records import ThreadRecords

R = TypeVar("R")

# The main thread wakes up after this many seconds, to show progress and to notice Ctrl-C.
_WAKE_SECONDS = 0.1
# A search for the k most frequent sets gives up on a threshold after this many times k sets.
_TRIAL_FACTOR = 4
_TRIAL_AT_LEAST = 10_000


class SearchStopped(Exception):  # noqa: N818 - caught by the caller, never seen by users
    """The search went past its limits."""

    def __init__(self, n_found: int) -> None:
        super().__init__(n_found)
        self.n_found = n_found


def too_many(n_found: int, max_itemsets: int | None, advice: str) -> TooManyItemsetsError:
    """Return the error for too many sets: more than `max_itemsets`, or than memory holds."""
    expected = "itemsets that fit into half of the free memory"
    if max_itemsets is not None:
        expected = f"at most max_itemsets={max_itemsets:,} itemsets"
    return TooManyItemsetsError(f"expected {expected}, got {n_found:,} and more; {advice}", n_found)


def trial_size(k: int) -> int:
    """Return how many sets a search for k sets may find before it gives up on a threshold."""
    return max(_TRIAL_FACTOR * k, _TRIAL_AT_LEAST)


@dataclass
class Search:
    """The threads of one search, and what they share."""

    n_threads: int
    on_progress: Callable[[int, int], None] | None
    shared: Ints = field(default_factory=lambda: np.zeros(4, dtype=np.int64))

    def run(self, jobs: Sequence[Callable[[], R]], n_roots: int) -> list[R]:
        """Run jobs in threads and return their results in order; Ctrl-C stops all of them."""
        with ThreadPoolExecutor(self.n_threads) as pool:
            futures: list[Future[R]] = [pool.submit(job) for job in jobs]
            pending = set(futures)
            try:
                while pending:
                    _, pending = wait(pending, timeout=_WAKE_SECONDS, return_when=FIRST_COMPLETED)
                    still_wanted()
                    if self.on_progress is not None:
                        self.on_progress(int(self.shared[records.N_ROOTS_DONE]), n_roots)
            except BaseException:
                self.shared[records.STOP] = records.CANCELLED
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        if self.shared[records.STOP] == records.TOO_MANY:
            raise SearchStopped(int(self.shared[records.N_FOUND]))
        return [future.result() for future in futures]


@contextmanager
def search_progress(
    shown: bool | Callable[[int, int], None], noun: str = "items"
) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function to call with (done, total), or None if nothing is shown.

    True shows it on standard error, or in a notebook. A function is yielded as it is.
    """
    if callable(shown):
        yield shown
        return
    with progress_of("mining", shown=check_flag("progress", shown)) as progress:
        yield None if progress is None else partial(_tell, progress, noun)


def _tell(progress: Progress, noun: str, done: int, total: int) -> None:
    progress.tell(f"{done:,}/{total:,} {noun}", done, total)


def readonly_view(array: Array) -> Array:
    """Return a read-only view in C order, so that kernels are compiled for only one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view


class SetColumns(NamedTuple):
    """Itemsets as plain columns, each with a count or a probability. `Itemsets` are made from them."""

    offsets: Ints
    codes: Codes
    values: Array

    @classmethod
    def empty(cls, dtype: type = np.int64) -> SetColumns:
        """Return no itemsets."""
        return cls(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, dtype))

    @classmethod
    def of_nothing(cls, value: float) -> SetColumns:
        """Return the set of no items, with its value."""
        return cls(np.zeros(2, np.int64), np.empty(0, np.int32), np.array([value]))

    @property
    def n_sets(self) -> int:
        """The number of itemsets."""
        return len(self.values)

    @property
    def lengths(self) -> Ints:
        """The number of items of each set."""
        return np.diff(self.offsets)

    def take(self, chosen: Ints) -> SetColumns:
        """Return the sets at some positions, in that order."""
        return SetColumns(*csr.gather_rows(self.offsets, self.codes, chosen), self.values[chosen])

    def best(self, k: int) -> SetColumns:
        """Return the k sets with the highest values, in the order they have; of ties the first are taken."""
        return self.take(np.sort(np.argsort(-without_noise(self.values), kind="stable")[:k]))

    def join(self, other: SetColumns) -> SetColumns:
        """Return these sets, followed by the other ones."""
        return SetColumns(
            np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.values, other.values]),
        )

    def with_items(self, items: Codes, rank_of: Codes) -> SetColumns:
        """Add some items to every set, and sort sets and items by `rank_of`, as mining does."""
        ends = self.offsets[1:] + len(items) * np.arange(1, self.n_sets + 1)
        ranks = np.empty(len(self.codes) + len(items) * self.n_sets, dtype=np.int32)
        is_added = np.zeros(len(ranks), dtype=np.bool_)
        is_added[(ends[:, None] - 1 - np.arange(len(items))).ravel()] = True
        ranks[is_added] = np.tile(rank_of[items], self.n_sets)
        ranks[~is_added] = rank_of[self.codes]
        csr.sort_rows(ranks, ends, self.n_sets)
        code_of = np.empty(len(rank_of), dtype=np.int32)
        code_of[rank_of] = np.arange(len(code_of), dtype=np.int32)
        order = lattice.colex_order(ends, ranks, len(code_of))
        return SetColumns(*lattice.gather_sets(ends, ranks, order, code_of), self.values[order])


@dataclass(frozen=True)
class Records:
    """The records of all threads, and the places of their sets: see `records.place_records`."""

    parts: list[ThreadRecords]
    positions: Ints
    length_start: Ints
    code_start: Ints

    @classmethod
    def of(cls, parts: list[ThreadRecords], n_roots: int, min_len: int) -> Self:
        """Find the places of all sets that are long enough."""
        n_lengths = max(records.longest_record(part.keys) for part in parts) + 1
        histogram = np.zeros((n_roots, n_lengths), dtype=np.int64)
        for part in parts:
            histogram += records.length_histogram(part.keys, part.segments, n_lengths)
        histogram[:, : min(min_len, n_lengths)] = 0
        totals = histogram.sum(axis=0)
        length_start = np.concatenate([[0], np.cumsum(totals)])
        positions = np.zeros((n_roots + 1, n_lengths), dtype=np.int64)
        positions[1:] = np.cumsum(histogram, axis=0)
        positions += length_start[:-1]
        positions[:, :min_len] = -1
        code_start = np.concatenate([[0], np.cumsum(totals * np.arange(n_lengths))])
        return cls(parts, positions, length_start, code_start)

    def columns(self, search: Search, code_of: Codes) -> SetColumns:
        """Return the sets with their values; `code_of` has the item code of each rank."""
        found = self.parts[0].values.dtype
        values = found if found.kind == "f" else np.int64
        n_sets, n_codes = int(self.length_start[-1]), int(self.code_start[-1])
        out = np.empty(n_sets + 1, np.int64), np.empty(n_codes, np.int32), np.empty(n_sets, values)
        out[0][-1] = n_codes
        places = self.positions, self.length_start, self.code_start, code_of
        self._run(search, [partial(records.place_records, part, *places, *out) for part in self.parts])
        return SetColumns(*out)

    def _run(self, search: Search, jobs: Sequence[Callable[[], R]]) -> list[R]:
        """Run jobs in threads; a single job runs in this thread."""
        return [jobs[0]()] if len(jobs) == 1 else search.run(jobs, len(self.positions) - 1)


UNBOUNDED = (1 << 62) - 1
"""A length, or a number of sets, without a bound."""

_LARGEST = UNBOUNDED >> 8
# Results may take this part of the memory that is free when the search starts.
_MEMORY_SHARE = 0.5
# A product of a fraction and a number of transactions may be off by this much of itself.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class SearchOptions:
    """The options of `mine`, apart from the threshold."""

    target: str
    min_len: int
    max_len: int
    include: Codes
    exclude: Codes
    top_k: int | None
    max_itemsets: int | None
    max_bytes: int

    @property
    def is_whole(self) -> bool:
        """Whether all sets of the target are wanted, of any length and of all items."""
        has_items = len(self.include) or len(self.exclude)
        return self.min_len == 1 and self.max_len == UNBOUNDED and not has_items and self.top_k is None

    @classmethod
    def checked(
        cls,
        items: Items,
        *,
        target: str,
        min_len: int,
        max_len: int | None,
        include: object,
        exclude: object,
        top_k: int | None,
        max_itemsets: int | None,
    ) -> SearchOptions:
        """Check the options against each other and against the items.

        Raises
        ------
        InvalidInputError
            If an option has no meaning.
        UnknownItemError
            If an item to include or exclude is not known.
        """
        chosen = check_choice("target", target, TARGETS)
        low = _whole("min_len", min_len)
        high = UNBOUNDED if max_len is None else _whole("max_len", max_len)
        check_bounds("min_len", low, "max_len", high)
        included = items.codes(() if include is None else include)
        excluded = items.codes(() if exclude is None else exclude)
        if chosen == "generators" and len(included):
            raise InvalidInputError(
                "expected no include with target='generators', whose subsets have fewer items, got some; try "
                "filter(include=) afterwards"
            )
        both = set(included.tolist()) & set(excluded.tolist())
        if both:
            raise InvalidInputError(
                f"expected different items in include and exclude, got {items[both.pop()]!r} in both; "
                "leave it out of one"
            )
        wanted = None if top_k is None else _whole("top_k", top_k)
        most = None if max_itemsets is None else _whole("max_itemsets", max_itemsets)
        check_bounds("top_k", wanted, "max_itemsets", most)
        return cls(
            target=chosen,
            min_len=low,
            max_len=high,
            include=included,
            exclude=excluded,
            top_k=wanted,
            max_itemsets=most,
            max_bytes=int(_MEMORY_SHARE * free_memory()),
        )

    def fewer(self, than: str | None, *ways: str) -> str:
        """Say how to ask for fewer itemsets, in ways that were not used already.

        Parameters
        ----------
        than : str or None
            The threshold as text; None if there is no higher one.
        ways : {"max_len", "target", "top_k"}
            The options that help here.
        """
        shorter = f"a smaller max_len than {self.max_len}" if self.max_len > self.min_len else None
        left = {
            "max_len": "max_len=" if self.max_len >= _LARGEST else shorter,
            "target": {
                "all": "target='closed' or 'maximal'",
                **dict.fromkeys(("closed", "generators"), "target='maximal'"),
            }.get(self.target),
            # All maximal sets are found before the k most frequent are chosen.
            "top_k": "top_k=" if self.top_k is None and self.target != "maximal" else None,
        }
        higher = None if than is None else f"a higher min_support than {than}"
        open_ways = [way for way in (higher, *map(left.get, ways)) if way is not None]
        *others, last = open_ways or ["exclude="]
        return f"try {', '.join([*others, f'or {last}'] if others else [last])}"


def check_support(min_support: object) -> int | float:
    """Return a threshold for data of any size: a count as int, a fraction as float.

    Raises
    ------
    InvalidInputError
        If `min_support` is neither a fraction in (0, 1] nor a count of at least 1.
    """
    if isinstance(min_support, str):
        min_support = as_support(min_support)
    if isinstance(min_support, bool) or not isinstance(min_support, Real):
        raise InvalidInputError(
            f"expected min_support as a fraction in (0, 1] or a whole number of transactions, got "
            f"{min_support!r} ({type(min_support).__name__}); try 0.01"
        )
    if isinstance(min_support, Integral):
        if min_support < 1:
            raise InvalidInputError(
                f"expected min_support as a fraction in (0, 1] or a count of at least 1, got {min_support}; "
                "try 1"
            )
        return int(min_support)
    fraction = as_written(min_support)
    if not 0 < fraction <= 1:
        raise InvalidInputError(
            "expected min_support as a fraction in (0, 1] or a whole number of transactions, got "
            f"{min_support!r}; "
            + (f"for a count write {int(fraction)}" if fraction > 1 and fraction.is_integer() else "try 0.01")
        )
    return fraction


def min_count(min_support: object, n_transactions: int) -> int:
    """Return the count from which an itemset is frequent.

    A fraction s of n transactions is ceil(s * n), guarded against rounding: 0.28 of 25 is 7.

    Raises
    ------
    InvalidInputError
        As `check_support`, or if a count is above the number of transactions.
    """
    threshold = check_support(min_support)
    if isinstance(threshold, int):
        return check_support_count("min_support", threshold, n_transactions)
    exact = threshold * n_transactions
    nearest = round(exact)
    is_rounding = abs(exact - nearest) <= _ROUNDING * max(1.0, exact)
    return max(1, nearest if is_rounding else math.ceil(exact))


def as_fraction(min_support: object, n_transactions: int) -> float:
    """Return a threshold as a fraction of the transactions.

    Raises
    ------
    InvalidInputError
        As `min_count`.
    """
    threshold = check_support(min_support)
    return (
        min_count(threshold, n_transactions) / max(n_transactions, 1)
        if isinstance(threshold, int)
        else threshold
    )


def min_probability(min_support: object) -> float:
    """Return the threshold for a model, which has no transactions to count.

    Raises
    ------
    InvalidInputError
        If it is not a fraction in (0, 1].
    """
    if isinstance(min_support, str):
        min_support = as_support(min_support)
    if isinstance(min_support, float | np.floating) and 0 < min_support <= 1:
        return as_written(min_support)
    raise InvalidInputError(
        f"expected min_support as a fraction in (0, 1], since a model has no transactions to count, got "
        f"{min_support!r}; try 0.01"
    )


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidInputError(f"expected {name} as a whole number of at least 1, got {value!r}; try 1")
    return min(int(value), _LARGEST)
