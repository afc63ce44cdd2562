"""Itemsets and rules on their way out and back: as data frames, Arrow tables and files.

Both are a few columns of sets and of numbers over the same items. `Columns` says so, so that every format
needs to be written only once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.arrow import as_arrow
from itemix.core.items import Items, as_labels
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import polars as pl
    import pyarrow as pa

FORMAT_VERSION = 1
_METADATA_KEY = b"itemix"


@dataclass(frozen=True)
class Columns:
    """The columns of a result, each of sets or an array of int64 or float64, and facts about them all."""

    kind: str
    items: Items
    values: dict[str, Sets | npt.NDArray[Any]]
    facts: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values.values())))

    def parts(self, n_rows: int) -> Iterator[Columns]:
        """Yield the columns in parts of at most n_rows rows; without rows, one empty part."""
        for start in range(0, max(self.n_rows, 1), n_rows):
            values = {
                name: column.part(start, start + n_rows)
                if isinstance(column, Sets)
                else column[start : start + n_rows]
                for name, column in self.values.items()
            }
            yield Columns(self.kind, self.items, values, self.facts)

    def sets(self, name: str) -> Sets:
        """Return a column of sets."""
        column = self.values[name]
        if not isinstance(column, Sets):
            raise InvalidInputError(f"expected sets in column {name!r}, got numbers; write the file again")
        return column

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers."""
        column = self.values[name]
        if isinstance(column, Sets):
            raise InvalidInputError(f"expected numbers in column {name!r}, got sets; write the file again")
        return column


def header_of(columns: Columns) -> dict[str, Any]:
    """Return what a file says of itself in its first line or its metadata, as JSON."""
    return {
        "kind": columns.kind,
        "version": FORMAT_VERSION,
        "rows": columns.n_rows,
        "columns": {name: _type_of(values) for name, values in columns.values.items()},
        **columns.facts,
        "items": columns.items.labels.tolist(),
    }


def items_of(header: Any, kind: str) -> Items:  # noqa: ANN401 - what a file says
    """Check what a file says of itself and return its items.

    Raises
    ------
    InvalidInputError
        If it is not one of ours, of another kind, or of a later version.
    """
    if not isinstance(header, dict) or not {"kind", "version", "rows", "columns", "items"} <= header.keys():
        raise InvalidInputError(f"expected {kind} written by itemix, got another file; write it with .save()")
    if header["kind"] != kind:
        raise InvalidInputError(
            f"expected {kind}, got {header['kind']}; try itemix.{str(header['kind']).capitalize()}.load"
        )
    if header["version"] != FORMAT_VERSION:
        raise InvalidInputError(
            f"expected a file of version {FORMAT_VERSION}, got version {header['version']}; update itemix"
        )
    return Items(header["items"])


def facts_of(header: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a header: all that is not about the format."""
    return {key: header[key] for key in header.keys() - {"kind", "version", "rows", "columns", "items"}}


def to_pandas(columns: Columns) -> pd.DataFrame:
    """Make a pandas data frame, with frozensets of names in the columns of sets."""
    import pandas as pd

    return pd.DataFrame(
        {
            name: values.to_frozensets() if isinstance(values, Sets) else values.copy()
            for name, values in columns.values.items()
        }
    )


def to_arrow(columns: Columns) -> pa.Table:
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
    """Return what an Arrow table says of itself, or None if `to_arrow` did not make it."""
    metadata = schema.metadata or {}
    return json.loads(metadata[_METADATA_KEY]) if _METADATA_KEY in metadata else None


def from_arrow(table: pa.Table, kind: str) -> Columns:
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
    return checked(Columns(kind, items, values, facts_of(header)), header)


def checked(columns: Columns, header: dict[str, Any]) -> Columns:
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


def to_polars(columns: Columns) -> pl.DataFrame:
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


def from_mlxtend(frame: pd.DataFrame, items: Items | None) -> Columns:
    """Take itemsets out of a data frame with mlxtend's columns support and itemsets.

    Within a set, the items come most frequent first, as far as the frame has their supports.

    Raises
    ------
    InvalidInputError
        If it is no data frame, or one of the two columns is missing, or holds something else.
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
    return Columns("itemsets", items, {"support": support, "itemsets": sets.sorted_within(rank), **more}, {})


def _numbers_of(frame: pd.DataFrame, name: str, dtype: type) -> npt.NDArray[Any]:
    try:
        return frame[name].to_numpy(dtype=dtype)
    except (ValueError, TypeError):
        raise InvalidInputError(
            f"expected numbers in the column {name!r}, got {frame[name].iloc[0]!r} and more; convert it"
        ) from None


def _type_of(values: Sets | npt.NDArray[Any]) -> str:
    return "sets" if isinstance(values, Sets) else str(values.dtype)


def in_arrow_memory(content: bytes) -> pa.BufferReader:
    """Copy bytes into memory that is not Python's.

    Arrow's threads may let go of what they have read after Python has begun to shut down, and a Python object
    must not be touched then: the process would abort.
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(content)
    return pa.BufferReader(sink.getvalue())
