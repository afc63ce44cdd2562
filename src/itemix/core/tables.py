"""Results as columns, and as data frames and Arrow tables.

Results are a few columns of sets, numbers and texts over the same items. `TableColumns` holds these, so that
every format is written only once. `core/results.py` gives all formats to a class, and `core/table_files.py`
writes files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, as_arrow
from itemix.core.items import Items, as_labels
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa


Column: TypeAlias = "Sets | npt.NDArray[Any]"

FORMAT_VERSION = 1
_METADATA_KEY = b"itemix"
# Supports that are further than this from count / n_transactions have been rounded.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class TableColumns(Immutable):
    """The columns of a result, and facts about all of them.

    Attributes
    ----------
    kind : str
        What a row is, in the plural: "itemsets".
    items : Items
        The items of all columns of sets.
    values : dict of Sets or arrays
        The columns: sets, numbers (int64 or float64), truth values, or texts (an object array of str).
    facts : dict
        What the whole result knows: strings, numbers and None, by name.
    percents : frozenset of str
        The columns of fractions that people read as percentages.
    """

    kind: str
    items: Items
    values: Mapping[str, Column]
    facts: dict[str, Any]
    percents: frozenset[str] = frozenset()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values.values())))

    def parts(self, n_rows: int) -> Iterator[TableColumns]:
        """Yield the columns in parts of at most n_rows rows; without rows, one empty part."""
        for start in range(0, max(self.n_rows, 1), n_rows):
            values = {
                name: column.part(start, start + n_rows)
                if isinstance(column, Sets)
                else column[start : start + n_rows]
                for name, column in self.values.items()
            }
            yield TableColumns(self.kind, self.items, values, self.facts, self.percents)

    def take(self, positions: npt.NDArray[np.int64]) -> TableColumns:
        """Return the rows at some positions, in that order."""
        values = {
            name: column.take(positions) if isinstance(column, Sets) else column[positions]
            for name, column in self.values.items()
        }
        return TableColumns(self.kind, self.items, values, self.facts, self.percents)

    def sets(self, name: str) -> Sets:
        """Return a column of sets."""
        column = self._column(name)
        if not isinstance(column, Sets):
            raise InvalidInputError(f"expected sets in column {name!r}, got numbers; write the file again")
        return column

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers, truth values or texts."""
        column = self._column(name)
        if isinstance(column, Sets):
            raise InvalidInputError(f"expected numbers in column {name!r}, got sets; write the file again")
        return column

    def _column(self, name: str) -> Column:
        if name not in self.values:
            raise InvalidInputError(
                f"expected a column {name!r}, got {', '.join(self.values) or 'none'}; write the file again"
            )
        return self.values[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableColumns):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.facts == other.facts
            and self.values.keys() == other.values.keys()
            and all(same_column(column, other.values[name]) for name, column in self.values.items())
        )

    __hash__ = None  # type: ignore[assignment]


def same_column(mine: Column, theirs: Column) -> bool:
    """Tell whether two columns hold the same; NaN is equal to NaN."""
    if isinstance(mine, Sets) or isinstance(theirs, Sets):
        return mine == theirs if isinstance(mine, Sets) and isinstance(theirs, Sets) else False
    return np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f")


def header_of(columns: TableColumns) -> dict[str, Any]:
    """Return the header of a file, to be written as JSON in its first line or its metadata."""
    return {
        "kind": columns.kind,
        "version": FORMAT_VERSION,
        "rows": columns.n_rows,
        "columns": {name: _type_of(values) for name, values in columns.values.items()},
        **columns.facts,
        "items": columns.items.labels.tolist(),
    }


def items_of(header: object, kind: str) -> Items:
    """Check the header of a file and return its items.

    Raises
    ------
    InvalidInputError
        If the file is not one of ours, of another kind, or of a later version.
    """
    if not isinstance(header, dict) or not {"kind", "version", "rows", "columns", "items"} <= header.keys():
        raise InvalidInputError(f"expected {kind} written by itemix, got another file; write it with .save()")
    refuse_other_kind(header["kind"], kind)
    if header["version"] != FORMAT_VERSION:
        raise InvalidInputError(
            f"expected a file of version {FORMAT_VERSION}, got version {header['version']}; update itemix"
        )
    return Items(header["items"])


def refuse_other_kind(found: object, kind: str) -> None:
    """Raise InvalidInputError if a file holds something else than what was expected."""
    if found != kind:
        raise InvalidInputError(f"expected {kind}, got {found}; try itemix.{str(found).capitalize()}.load")


def facts_of(header: dict[str, Any]) -> dict[str, Any]:
    """Return the facts in a header: all that is not about the format."""
    return {key: header[key] for key in header.keys() - {"kind", "version", "rows", "columns", "items"}}


def to_pandas(columns: TableColumns) -> pd.DataFrame:
    """Make a pandas data frame, with frozensets of names in the columns of sets."""
    import pandas as pd

    return pd.DataFrame(
        {
            name: values.to_frozensets() if isinstance(values, Sets) else values.copy()
            for name, values in columns.values.items()
        }
    )


def to_arrow(columns: TableColumns) -> pa.Table:
    """Make an Arrow table, with lists of names in the columns of sets, and the header in its metadata."""
    import pyarrow as pa

    table = pa.table(
        {
            name: values.to_arrow() if isinstance(values, Sets) else as_arrow(values)
            for name, values in columns.values.items()
        }
    )
    return table.replace_schema_metadata({_METADATA_KEY: json.dumps(header_of(columns))})


def header_in(schema: pa.Schema) -> Any:  # noqa: ANN401 - what a table says
    """Return the header of an Arrow table, or None if `to_arrow` did not make it."""
    metadata = schema.metadata or {}
    return json.loads(metadata[_METADATA_KEY]) if _METADATA_KEY in metadata else None


def from_arrow(table: pa.Table, kind: str) -> TableColumns:
    """Take the columns back out of an Arrow table that `to_arrow` made.

    Raises
    ------
    InvalidInputError
        If the table was made by something else, or is not complete.
    """
    if not hasattr(table, "schema"):
        raise InvalidInputError(
            f"expected an Arrow table, got {type(table).__name__}; write it with to_arrow()"
        )
    header = header_in(table.schema)
    items = items_of(header, kind)
    values: dict[str, Sets | npt.NDArray[Any]] = {}
    for name, expected in header["columns"].items():
        if name not in table.column_names:
            raise InvalidInputError(f"expected a column {name!r}, got {table.column_names}; write it again")
        column = table.column(name)
        values[name] = (
            Sets.from_arrow(column, items) if expected == "sets" else column.to_numpy().astype(expected)
        )
    return checked(TableColumns(kind, items, values, facts_of(header)), header)


def checked(columns: TableColumns, header: dict[str, Any]) -> TableColumns:
    """Check that all rows are there, and return the columns.

    Raises
    ------
    InvalidInputError
        If a column has more or fewer rows than the header says.
    """
    for name, values in columns.values.items():
        if len(values) != header["rows"]:
            raise InvalidInputError(
                f"expected {header['rows']:,} rows, got {len(values):,} in column {name!r}; "
                "the file was cut or edited: write it again"
            )
    return columns


def to_polars(columns: TableColumns) -> pl.DataFrame:
    """Make a polars data frame, with lists of names in the columns of sets.

    Raises
    ------
    MissingExtraError
        If polars is not installed.
    """
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError(
            "expected polars to be installed, got no such package; try pip install itemix[polars]"
        ) from None
    return pl.DataFrame(to_arrow(columns))


def from_mlxtend(frame: pd.DataFrame, items: Items | None) -> TableColumns:
    """Take itemsets out of a data frame with mlxtend's columns support and itemsets.

    Within a set, the items come most frequent first, as far as the frame has their supports.

    Raises
    ------
    InvalidInputError
        If it is not a data frame, or one of the two columns is missing, or holds something else.
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise InvalidInputError(
            f"expected itemsets or a pandas data frame of them, got {type(frame).__name__}; try itemix.mine"
        )
    missing = [name for name in ("support", "itemsets") if name not in frame.columns]
    if missing:
        raise InvalidInputError(
            f"expected a column {missing[0]!r}, got {list(frame.columns)[:8]}; "
            "pass a frame like that of mlxtend.frequent_patterns.fpgrowth"
        )
    cells = frame["itemsets"].tolist()
    odd = next((cell for cell in cells if isinstance(cell, str) or not isinstance(cell, Iterable)), None)
    if odd is not None:
        raise InvalidInputError(
            f"expected sets of names in the column 'itemsets', got {odd!r}; try frozenset({{'milk'}})"
        )
    if items is None:
        items = Items(np.sort(as_labels(list(set().union(*cells)))))
    sets = Sets.from_names(cells, items)
    support = _numbers_of(frame, "support", np.float64)
    single = np.flatnonzero(sets.lengths == 1)
    support_of_item = np.zeros(len(items))
    support_of_item[sets.codes[sets.offsets[single]]] = support[single]
    rank = np.empty(len(items), dtype=np.int64)
    rank[np.argsort(-support_of_item, kind="stable")] = np.arange(len(items))
    more = {
        name: _numbers_of(frame, name, dtype)
        for name, dtype in (("count", np.int64), ("lower", np.float64), ("upper", np.float64))
        if name in frame.columns
    }
    return TableColumns(
        "itemsets", items, {"support": support, "itemsets": sets.sorted_within(rank), **more}, {}
    )


def _numbers_of(frame: pd.DataFrame, name: str, dtype: type) -> npt.NDArray[Any]:
    try:
        return frame[name].to_numpy(dtype=dtype)
    except (ValueError, TypeError):
        raise InvalidInputError(
            f"expected numbers in the column {name!r}, got {frame[name].iloc[0]!r} and more; convert it"
        ) from None


def _type_of(values: Column) -> str:
    return "sets" if isinstance(values, Sets) else str(values.dtype)


def transactions_behind(columns: TableColumns) -> int | None:
    """Return the number of transactions that gives these supports and counts, which plain files do not say.

    It is None if there are no counts, or if the supports have been rounded.
    """
    count, support = columns.values.get("count"), columns.numbers("support")
    if count is None or isinstance(count, Sets) or count.max(initial=0) == 0:
        return None
    most = int(np.argmax(count))
    n = round(min(int(count[most]) / max(float(support[most]), _ROUNDING), 2.0**62))
    with np.errstate(over="ignore"):  # a damaged file may hold any supports
        return n if np.allclose(support * n, count, rtol=_ROUNDING, atol=0) else None
