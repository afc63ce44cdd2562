"""Long CSV: a header, then a row for each (transaction, item) pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.core.encoding import Encoded, sorted_by_label
from itemix.core.frames import number_values
from itemix.errors import InvalidInputError
from itemix.io.csv import labels_from_text
from itemix.io.options import pair_of_columns
from itemix.io.text import Utf8Stream
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa
    from pyarrow import csv

    from itemix.io.detect import Recognised
    from itemix.io.options import ReadOptions
    from itemix.io.source import Source

_BLOCK_SIZE = 1 << 22
_TEXT_SHOWN = 40
_ROLES = ("transaction", "item")


def read_long(source: Source, found: Recognised, options: ReadOptions) -> Encoded:
    """Read a long table; transactions come in the order of their first appearance.

    Raises
    ------
    InvalidInputError
        If a column is not there, a row is too short or too long, or a value is missing.
    """
    pair = pair_of_columns(found.columns, options)
    for name in pair:
        if found.columns.count(name) > 1:
            raise InvalidInputError(
                f"expected one column {name!r}, got {found.columns.count(name)} in {source.label}; rename one"
            )
    table = _read_columns(source, found, pair, options.encoding)
    (rows, ids), (codes, names) = (
        _numbered(source, table, *column) for column in zip(_ROLES, pair, strict=True)
    )
    indptr, indices = csr.rows_of_pairs(rows.astype(np.int64), codes, len(ids))
    return sorted_by_label(indptr, indices, labels_from_text(names.to_pylist()))


def _read_columns(source: Source, found: Recognised, wanted: tuple[str, str], encoding: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    wrong: list[csv.InvalidRow] = []

    def keep(row: csv.InvalidRow) -> str:
        wrong.append(row)
        return "error"

    try:
        reader = csv.open_csv(
            Utf8Stream(source, encoding),
            read_options=csv.ReadOptions(
                use_threads=False,  # rows are numbered only without threads
                block_size=_BLOCK_SIZE,
                column_names=list(found.columns),
                skip_rows=found.header_lines,
            ),
            parse_options=csv.ParseOptions(
                delimiter=found.delimiter, newlines_in_values=True, invalid_row_handler=keep
            ),
            convert_options=csv.ConvertOptions(
                include_columns=list(wanted),
                column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in wanted},
            ),
        )
        return reader.read_all()
    except pa.ArrowInvalid as error:
        raise InvalidInputError(_malformed(source, wrong, error)) from None


def _malformed(source: Source, wrong: Sequence[csv.InvalidRow], error: Exception) -> str:
    if not wrong:
        return f"expected a long CSV table, got {source.label} with this problem: {error}; check its quotes"
    row = wrong[0]
    text = row.text if len(row.text) <= _TEXT_SHOWN else f"{row.text[:_TEXT_SHOWN]}..."
    return (
        f"expected {row.expected_columns} cells in every row, got {row.actual_columns} in row {row.number:,} "
        f"of {source.label} ({text!r}); quote the cells that hold the delimiter, or try format='basket'"
    )


def _numbered(
    source: Source, table: pa.Table, role: str, name: str
) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Return the number of each entry of a column and the values, without the blanks around them."""
    import pyarrow.compute as pc

    numbers, values = number_values(table[name])
    trimmed = pc.utf8_trim_whitespace(values).dictionary_encode()
    numbers = trimmed.indices.to_numpy()[numbers]
    empty = pc.index(trimmed.dictionary, "").as_py()
    missing = int((numbers == empty).sum()) if empty >= 0 else 0
    if missing:
        raise InvalidInputError(
            f"expected a value in every row of the {role} column {name!r}, got {missing:,} missing in "
            f"{source.label}; fill them in, or drop those rows"
        )
    return numbers, trimmed.dictionary
