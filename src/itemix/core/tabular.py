"""What itemsets and rules have in common as tables: printing, data frames, Arrow and files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from itemix.core import exchange, tables
from itemix.core.display import ROWS_SHOWN
from itemix.immutable import Immutable

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from itemix.core.display import Table
    from itemix.inputs import Held


class Tabular(Immutable, ABC):
    """A result with columns of sets and of numbers; a class says which, and gets all formats."""

    __slots__ = ()
    _kind: str

    @abstractmethod
    def _as_columns(self) -> exchange.Columns:
        """Return all that a file must hold."""

    @classmethod
    @abstractmethod
    def _from_columns(cls, columns: exchange.Columns) -> Self:
        """Make the value again."""

    @abstractmethod
    def table(self, n: int = ROWS_SHOWN) -> Table:
        """Return the first n rows as a table of text, for people."""

    def __repr__(self) -> str:
        return self.table().as_text()

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame with mlxtend's columns and a few more; sets are frozensets of names."""
        return exchange.to_pandas(self._as_columns())

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with the columns of `to_pandas`; sets are lists of names."""
        return exchange.to_arrow(self._as_columns())

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame with the columns of `to_pandas`; sets are lists of names.

        Raises
        ------
        MissingExtraError
            If polars is not installed.
        """
        return exchange.to_polars(self._as_columns())

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Self:
        """Take the value back out of a table that `to_arrow` made.

        Raises
        ------
        InvalidInputError
            If the table was made by something else or is not complete.
        """
        return cls._from_columns(exchange.from_arrow(table, cls._kind))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .parquet, .csv, .jsonl, .csv.gz or .jsonl.gz file, for `load` to give back.

        In CSV the sets are JSON lists, and the first line is a comment that starts with # (pandas reads it
        with ``comment="#"``). In JSON lines, NaN and infinity are null.

        Raises
        ------
        InvalidInputError
            If the extension is another one, or the folder does not exist.
        """
        tables.write(self._as_columns(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Held) -> Self:
        """Read what `save` has written: the value is equal to the one that was saved.

        Raises
        ------
        InvalidInputError
            If there is no such file, it is damaged, or it was not written by `save`.
        """
        return tables.read(path, cls._kind, cls._from_columns)
