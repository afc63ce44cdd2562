"""Partitions of chunks, lists, files, Dask collections and Spark data frames."""

from __future__ import annotations

import os
from functools import partial
from glob import glob
from typing import TYPE_CHECKING, Any

from itemix._runtime import interruptible
from itemix.core.partitions import Listed, Partitions, Reread
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError, MissingFileError
from itemix.io.chunks import Chunks
from itemix.io.read import read_transactions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itemix._typing import TransactionsLike


@interruptible()
def partitions(
    source: Chunks | Partitions | Sequence[TransactionsLike] | str | os.PathLike[str],
    **reading: Any,  # noqa: ANN401 - the options of read_transactions
) -> Partitions:
    """Return transactions in parts, to be mined and fitted where they lie.

    Parameters
    ----------
    source : Chunks, list, or paths of files
        The chunks of `read_chunks`; a list of `Transactions`, data frames or matrices, a part each; or the
        files to read, a part each: a pattern such as ``"sales-*.parquet"``, or a list of paths.
    **reading
        The options of `read_transactions`, for files.

    Returns
    -------
    Partitions
        For `mine`, `fit` and `evaluate`. Files are read anew in each pass, so that one part at a time is in
        memory.

    Raises
    ------
    InvalidInputError
        If this is none of these, or the names of items are strings in one part and integers in another.
    MissingFileError
        If there is no such file.

    Examples
    --------
    >>> import itemix
    >>> monday = itemix.Transactions.from_lists([["milk", "bread"], ["milk"]])
    >>> tuesday = itemix.Transactions.from_lists([["beer"], ["milk", "beer"]])
    >>> week = itemix.partitions([monday, tuesday])
    >>> week
    Partitions(4 x 3 in 2 parts)
    >>> itemix.mine(week, 0.5)
    Itemsets: 2 itemsets, support >= 50%, of 4 transactions
      support  count  itemset
       0.7500      3  {milk}
       0.5000      2  {beer}
    """
    if isinstance(source, Partitions):
        return source
    if isinstance(source, Chunks):
        return Partitions.known(Reread(source.__iter__), source.items, source.sizes)
    if isinstance(source, str | os.PathLike):
        return _of_files(_matching(source), reading)
    if isinstance(source, list | tuple) and source:
        if all(isinstance(part, str | os.PathLike) for part in source):
            return _of_files(source, reading)
        return Partitions(Listed([as_transactions(part) for part in source]))
    raise InvalidInputError(
        f"expected chunks, a list of transactions, or paths, got {_kind(source)}; "
        "try itemix.partitions([first, second])"
    )


def _kind(source: object) -> str:
    return "an empty list" if isinstance(source, list | tuple) else type(source).__name__


def _matching(pattern: str | os.PathLike[str]) -> list[str]:
    paths = sorted(glob(os.fspath(pattern)))  # noqa: PTH207 - a pattern may be absolute
    if not paths:
        raise MissingFileError(f"expected files that match {os.fspath(pattern)!r}, got none; check the path")
    return paths


def _of_files(paths: Sequence[str | os.PathLike[str]], reading: dict[str, Any]) -> Partitions:
    return Partitions(Reread(partial(_read_files, paths, reading)))


def _read_files(paths: Sequence[str | os.PathLike[str]], reading: dict[str, Any]) -> Iterator[Transactions]:
    return (read_transactions(path, **reading) for path in paths)
