"""Results: what all of them can do, whatever their columns.

A result is a sequence of rows with columns of sets, numbers and texts, such as itemsets and rules. `Tabular`
has what they share: tables in text and HTML, the first rows, masks, conditions, data frames and files. A
result that is nothing but its columns is a `ColumnResult`: it says what a row is, and of which types its
columns are.
"""

from __future__ import annotations

import contextlib
import io
import os
from abc import ABC, abstractmethod
from dataclasses import replace
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, as_arrow, protected
from itemix._checks import check_flag, check_whole, did_you_mean, nearest
from itemix.core import display, table_files, tables
from itemix.core.sets import Sets, are_several, as_position, as_positions
from itemix.core.table_files import FileLayout
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from itemix._files import Held, PathLike
    from itemix._typing import Floats, Marks
    from itemix.core.conditions import Condition
    from itemix.core.items import Items
    from itemix.core.tables import Column, TableColumns

__all__ = ["ColumnResult", "NamedRows", "Tabular"]

R = TypeVar("R", bound=tuple[Any, ...])

# A number that is this close to the bound of a condition meets it.
_ROUNDING = 1e-12


class Tabular(Immutable, ABC):
    """A result with columns: a subclass names the columns, and gets all tables and formats.

    A subclass has `_kind`, which says in the plural what a row is, and `_types`, the type of each column that
    it may have: "sets", "object" for texts, or the name of a dtype. Plain files do not tell these types.
    """

    __slots__ = ()
    _kind: ClassVar[str]
    _types: ClassVar[Mapping[str, str]]

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def _as_columns(self) -> TableColumns:
        """Return everything that a file must hold."""

    @classmethod
    @abstractmethod
    def _from_columns(cls, columns: TableColumns) -> Self:
        """Make the value again from what `_as_columns` returned."""

    @abstractmethod
    def _title(self) -> str:
        """Return the title of its table: what it is, and how many rows it has."""

    @abstractmethod
    def _shown(self, n: int, width: int | None) -> dict[str, list[str]]:
        """Return the cells of the first n rows for people, by column; in the last one are names."""

    @abstractmethod
    def take(self, positions: npt.ArrayLike) -> Self:
        """Return the rows at some positions (or where a mask is true), in that order."""

    def head(self, n: int = display.ROWS_SHOWN) -> Self:
        """Return the first n rows."""
        return self.take(np.arange(min(check_whole("n", n, display.ROWS_SHOWN, least=0), len(self))))

    def _chosen(self, rows: Any) -> Self:  # noqa: ANN401 - checked here
        """Return the rows of a slice, of a mask or at some positions."""
        return self.take(
            np.arange(len(self))[rows] if isinstance(rows, slice) else as_positions(rows, len(self))
        )

    def where(self, *conditions: str) -> Self:
        """Return the rows for which all conditions hold, in the same order.

        Parameters
        ----------
        *conditions : str
            Each compares a column of `to_pandas` with a value: ``"lift > 3"``, ``"support >= 1%"``,
            ``"q_value <= 0.05 and count > 20"``. Operators are ``= != < <= > >=``, "in" and "not in"; of
            sets and texts "contains" and "not contains": ``"itemsets contains milk"``. Blanks in the names of
            columns may be underscores.

        Raises
        ------
        InvalidInputError
            If a condition has another form, or there is no such column.
        UnknownItemError
            If a set is asked for an item that there is not.
        """
        from itemix.core.conditions import parsed

        kept = np.ones(len(self), dtype=np.bool_)
        for condition in parsed(conditions):
            kept &= _where_holds(condition, self._column(condition.column))
        return self.take(kept)

    def _column(self, name: str) -> Column:
        """Return a column by its name, in which blanks may be underscores."""
        columns = {known.replace(" ", "_"): values for known, values in self._as_columns().values.items()}
        return columns[named_among(name, columns)]

    def table(
        self,
        n: int = display.ROWS_SHOWN,
        *,
        width: int | None = display.SET_WIDTH,
        columns: bool = True,
    ) -> display.Table:
        """Return the first n rows as a table, which shows as text, or as HTML in a notebook.

        Parameters
        ----------
        n : int, default 10
            The most rows.
        width : int or None, default 72
            The most letters of a set or a rule, and, where it is more than the default, of a name; names are
            cut at 32 letters otherwise. None shows all names whole.
        columns : bool, default True
            Whether sets of items of a table, such as ``sex=male``, are shown in the columns of that table,
            where these fit into the width.
        """
        n = min(check_whole("n", n, display.ROWS_SHOWN, least=0), len(self))
        if width is not None:
            check_whole("width", width, display.SET_WIDTH, least=1)
        cells, words = self._shown(n, width), self._words()
        in_columns = self._in_columns(n, width, cells) if check_flag("columns", columns) else None
        if in_columns is not None:
            cells, words = in_columns, words | (in_columns.keys() - cells.keys())
        return display.Table(
            title=self._title(),
            headers=tuple(cells),
            rows=tuple(zip(*cells.values(), strict=True)),
            footer=display.shown_of(n, len(self)),
            words=words,
        )

    def _words(self) -> frozenset[str]:
        """Return the names of the columns of words in its table, but for the last one."""
        return frozenset()

    def _in_columns(
        self, n: int, width: int | None, cells: dict[str, list[str]]
    ) -> dict[str, list[str]] | None:
        """Return the cells with the last ones, of sets, in the columns of the table; None where they stay."""
        sides, before = self._sides()
        *others, _ = cells
        parts = [side.part(0, n) for side in sides]
        found = display.columns_of_sets(parts, before, width, others) if n and sides else None
        return None if found is None else {name: cells[name] for name in others} | found

    def _sides(self) -> tuple[tuple[Sets, ...], tuple[str, ...]]:
        """Return the sets in the last column of its table, and what stands before the names of columns."""
        return (), ()

    def __repr__(self) -> str:
        return self.table().as_text()

    def _repr_html_(self) -> str:
        return self.table(width=display.HTML_WIDTH).as_html()

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame with mlxtend's columns and a few more; sets are frozensets of names."""
        return tables.to_pandas(self._as_columns())

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with the columns of `to_pandas`; sets are lists of names."""
        return tables.to_arrow(self._as_columns())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the columns over to any library that takes Arrow data, without a copy."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame with the columns of `to_pandas`; sets are lists of names.

        Raises
        ------
        MissingExtraError
            If polars is not installed.
        """
        return tables.to_polars(self._as_columns())

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Self:
        """Take the value back out of a table that `to_arrow` made.

        Raises
        ------
        InvalidInputError
            If the table was made by something else or is not complete.
        """
        return cls._from_columns(tables.from_arrow(table, cls._kind))

    @overload
    def to_csv(self, path: None = None, *, sets: str = "names", metadata: bool = False) -> str: ...
    @overload
    def to_csv(self, path: PathLike | IO[bytes], *, sets: str = "names", metadata: bool = False) -> None: ...
    def to_csv(
        self, path: PathLike | IO[bytes] | None = None, *, sets: str = "names", metadata: bool = False
    ) -> str | None:
        """Write plain CSV, which opens anywhere.

        Parameters
        ----------
        path : str, path or binary file object, optional
            The file; packed if it ends in .gz. Without one, the text is returned.
        sets : {"names", "json", "columns"}
            How a cell holds a set: as ``milk, bread``, or as ``["milk", "bread"]``. Among names, one with a
            comma, a quote or a line break is in quotes, as in CSV. "columns" gives the values of items of a
            table, as ``sex=male``, columns of their own, which `load` does not read back.
        metadata : bool, default False
            Whether the first line is a comment that says what the file is, so that `load` gives an equal
            value back: with the items that are in no set, and what was asked for. Without it, `load` gives
            the same rows back. Parquet always has it.

        Raises
        ------
        InvalidInputError
            If the folder does not exist, or sets are to be something else.
        """
        return self._written(path, ".csv", FileLayout(sets, metadata))

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: PathLike | IO[bytes]) -> None: ...
    def to_json(self, path: PathLike | IO[bytes] | None = None) -> str | None:
        """Write a JSON list with an object for each row; sets are lists of names, NaN and infinity are null.

        Parameters
        ----------
        path : str, path or binary file object, optional
            The file; packed if it ends in .gz. Without one, the text is returned.

        Raises
        ------
        InvalidInputError
            If the folder does not exist.
        """
        return self._written(path, ".json", FileLayout())

    def to_excel(self, path: str | os.PathLike[str], *, sets: str = "names") -> None:
        """Write a sheet of Excel: a header that stays in view, columns as wide as needed, percentages.

        Parameters
        ----------
        path : str or path
            The file, which should end in .xlsx.
        sets : {"names", "json"}
            How a cell holds a set: see `to_csv`.

        Raises
        ------
        MissingExtraError
            If openpyxl is not installed.
        InvalidInputError
            If the folder does not exist, or there is more than a sheet can hold: 1,048,575 rows, and 32,767
            letters in a cell.
        """
        table_files.write(self._as_columns(), path, FileLayout(sets), extension=".xlsx")

    def _written(self, path: PathLike | IO[bytes] | None, extension: str, layout: FileLayout) -> str | None:
        if isinstance(path, str | os.PathLike):
            table_files.write(self._as_columns(), path, layout, extension=extension)
            return None
        if isinstance(path, io.TextIOBase) or not (path is None or hasattr(path, "write")):
            raise InvalidInputError(
                f"expected a path or a binary file object, got {type(path).__name__}; try open(path, 'wb')"
            )
        stream = io.BytesIO() if path is None else path
        table_files.write_to(stream, self._as_columns(), extension, table_files.checked_layout(layout))
        return stream.getvalue().decode() if isinstance(stream, io.BytesIO) and path is None else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .parquet, .csv, .jsonl, .json or .xlsx file, for `load` to give back.

        Parquet and JSON lines hold everything. CSV, JSON and Excel are plain (see `to_csv`): `load` gives the
        same rows back, but not what was asked for, nor items that are in no set. CSV, JSON and JSON lines may
        also end in .gz. In JSON, NaN and infinity are null.

        Raises
        ------
        InvalidInputError
            If the extension is another one, or the folder does not exist.
        MissingExtraError
            If it is a file for Excel, and openpyxl is not installed.
        """
        table_files.write(self._as_columns(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Held) -> Self:
        """Read what `save` has written.

        Raises
        ------
        InvalidInputError
            If there is no such file, it is damaged, or it was not written by `save`.
        """
        return table_files.read(path, cls._kind, cls._types, cls._from_columns)


def named_among(name: str, columns: Collection[str]) -> str:
    """Return the name of a column as it is among others, with underscores for blanks.

    Raises
    ------
    InvalidInputError
        If there is none of this name.
    """
    found = name.strip().replace(" ", "_")
    if found not in columns:
        hint = did_you_mean(nearest(found, columns), f"try '{next(iter(columns))} > 0'")
        raise InvalidInputError(
            f"expected a condition on one of {', '.join(columns)}, got {name!r:.60}; {hint}"
        )
    return found


def _where_holds(condition: Condition, values: Column) -> Marks:
    """Return for which rows a condition on a column holds."""
    name = condition.operator
    if isinstance(values, Sets):
        if name not in ("contains", "not contains"):
            raise InvalidInputError(
                f"expected 'contains' or 'not contains' with a column of sets, got {str(condition)!r}; try "
                f"'{condition.column} contains milk'"
            )
        held: Marks = (values.count_members(condition.values[0]) > 0) == (name == "contains")
        return held
    if values.dtype.kind not in "iuf":
        return condition.holds(as_arrow(values))
    wanted = [_as_fraction(text) for text in condition.values]
    numbers = values.astype(np.float64)
    for text in wanted:  # a number that is this close to a bound meets it
        with contextlib.suppress(ValueError):
            bound = float(text)
            numbers[np.abs(numbers - bound) <= _ROUNDING * max(1.0, abs(bound))] = bound
    return condition._replace(values=tuple(wanted)).holds(numbers)


def _as_fraction(text: str) -> str:
    """Write a percentage as a fraction; other texts stay as they are."""
    if not text.endswith("%"):
        return text
    with contextlib.suppress(ArithmeticError):
        return str(Decimal(text.removesuffix("%").strip()) / 100)
    return text


class NamedRows(list[R]):
    """A list of named tuples, which shows as a table in a notebook."""

    def table(self) -> display.Table:
        """Return the rows as a table; names come last."""
        fields: tuple[str, ...] = getattr(self[0], "_fields", ()) if self else ()
        cells = {name.replace("_", " "): _formatted([getattr(row, name) for row in self]) for name in fields}
        words = frozenset(name for name, (_, is_words) in cells.items() if is_words)
        headers = sorted(cells, key=words.__contains__)
        rows = zip(*(cells[name][0] for name in headers), strict=True)
        return display.Table("" if self else "none", tuple(headers), tuple(rows), words=words)

    def _repr_html_(self) -> str:
        return self.table().as_html()


def _formatted(values: list[Any]) -> tuple[list[str], bool]:
    """Write the values of a column of one type, and say whether they are words."""
    if isinstance(values[0], tuple):
        return [display.format_set(names, display.HTML_WIDTH) for names in values], True
    if isinstance(values[0], float):
        return [display.format_number(value) for value in values], False
    if isinstance(values[0], bool):
        return ["yes" if value else "no" for value in values], False
    return [display.format_name(value, display.HTML_WIDTH) for value in values], isinstance(values[0], str)


class ColumnResult(Tabular):
    """A result that is nothing but its columns: an immutable, columnar value.

    A subclass has `_kind`, `_types` and `_title`, and may choose the columns of its table in `_in_table`. It
    reads its columns in properties. See `docs/architecture.md`, "A table of results".

    Parameters
    ----------
    columns : TableColumns
        The columns.
    """

    __slots__ = ("_columns",)
    # The columns of its table, names last; by default all, those of words last.
    _in_table: ClassVar[tuple[str, ...]] = ()
    # The columns of fractions that people read as percentages.
    _percents: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, columns: TableColumns) -> None:
        for values in columns.values.values():
            if not isinstance(values, Sets):
                protected(values)
        columns = replace(columns, percents=self._percents)
        self._columns = tables.checked(columns, {"rows": columns.n_rows})

    def __len__(self) -> int:
        return self._columns.n_rows

    def __eq__(self, other: object) -> bool:
        return self._columns == other._columns if isinstance(other, type(self)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._columns.items

    @overload
    def __getitem__(self, position: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, position: slice | npt.ArrayLike) -> Self: ...
    def __getitem__(self, position: Any) -> dict[str, Any] | Self:
        """Return one row by the names of its columns, or the rows of a slice, a mask or some positions."""
        if are_several(position):
            return self._chosen(position)
        row = as_position(position, len(self))
        return {
            name: values[row] if isinstance(values, Sets) else values[row : row + 1].tolist()[0]
            for name, values in self._columns.values.items()
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows, each by the names of its columns."""
        values = self._columns.values
        columns = [column if isinstance(column, Sets) else column.tolist() for column in values.values()]
        for row in zip(*columns, strict=True):
            yield dict(zip(values, row, strict=True))

    def take(self, positions: npt.ArrayLike) -> Self:
        """Return the rows at some positions (or where a mask is true), in that order."""
        return type(self)(self._columns.take(as_positions(positions, len(self))))

    def _as_columns(self) -> TableColumns:
        return self._columns

    @classmethod
    def _from_columns(cls, columns: TableColumns) -> Self:
        return cls(columns)

    def _title(self) -> str:
        return f"{self._kind.capitalize()}: {len(self):,}"

    def _shown(self, n: int, width: int | None) -> dict[str, list[str]]:
        columns = next(self._columns.parts(n or 1)) if len(self) else self._columns
        names = self._in_table or sorted(columns.values, key=self._is_of_words)
        return {
            name.replace("_", " "): display.format_column(
                columns.values[name], width, is_percent=name in columns.percents
            )[:n]
            for name in names
            if name in columns.values
        }

    def _words(self) -> frozenset[str]:
        return frozenset(name.replace("_", " ") for name in self._columns.values if self._is_of_words(name))

    def _sides(self) -> tuple[tuple[Sets, ...], tuple[str, ...]]:
        names = self._in_table or sorted(self._columns.values, key=self._is_of_words)
        shown = [self._columns.values[name] for name in names if name in self._columns.values]
        return ((shown[-1],), ("",)) if isinstance(shown[-1], Sets) else ((), ())

    def _is_of_words(self, name: str) -> bool:
        values = self._columns.values[name]
        return isinstance(values, Sets) or values.dtype == object


class TestedResult(ColumnResult):
    """A table of what was tested, with p values, and q values for all tests together."""

    __slots__ = ()

    @property
    def p_value(self) -> Floats:
        """The chance of something so far from what is expected, if nothing is behind it, shape (n,)."""
        return self._columns.numbers("p_value")

    @property
    def q_value(self) -> Floats:
        """The p value adjusted for all tests, see `level` and `adjust` of the function, shape (n,)."""
        return self._columns.numbers("q_value")
