"""The format of a file, recognised by its first bytes, and the usual names of the columns of tables."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from itemix.core.binning import TableOptions
from itemix.core.encoding import check_column, check_different, columns_shown, is_braced, share_of_lists
from itemix.core.rows import LEAST_LISTS, RowOptions, as_columns
from itemix.errors import InvalidInputError
from itemix.io.source import HEAD_SIZE, decoder_of
from itemix.kernels.text import FALSE_WORDS, TRUE_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.io.source import Source

_ENDINGS_OF_KEYS = ("", "id", "no", "nr", "num", "number", "key", "code")
_PERSON_NAMES = tuple(
    f"{noun}{ending}" for noun in ("customer", "member", "user") for ending in _ENDINGS_OF_KEYS
)
TRANSACTION_NAMES = (
    "tid",
    *(
        f"{noun}{ending}"
        for noun in (
            "transaction", "basket", "order", "invoice", "receipt", "bill", "ticket", "session", "visit",
            "cart",
        )
        for ending in _ENDINGS_OF_KEYS
    ),
    *_PERSON_NAMES,
    "id",
)  # fmt: skip
DAY_NAMES = ("date", "day", "transactiondate", "orderdate", "purchasedate", "visitdate", "saledate")
ITEM_NAMES = (
    "item", "items", "itemid", "itemname", "itemdescription", "itemcode", "itemno", "itemnumber", "product",
    "products", "productid", "productname", "productdescription", "productcode", "sku", "skuid", "article",
    "articleid", "articlename", "stockcode", "description", "name", "label", "code", "page", "movie",
    "movieid", "event",
)  # fmt: skip
LIST_NAMES = ("items", "basket", "transaction", "itemset", "products", "skus", "codes", "labels", "names")
DELIMITERS = ",;\t|"

_EXPECTED = "text (FIMI, CSV, JSONL), Parquet or Arrow"
_ROWS_LOOKED_AT = 200
# The header of a one-hot table with many items may be longer than the head. It takes rows to recognise it.
_LINES_NEEDED = 3
_ROWS_OF_A_TABLE = 10
_LONGEST_HEAD = 1 << 26
_MOST = 0.6
# A name in a text file may begin like a binary file (PAR1, FEA1, BZh), so the next bytes count too.
_BINARY = {
    "parquet": re.compile(rb"PAR1(?:[^\t\n\r -~]|\Z)", re.DOTALL),
    "arrow": re.compile(rb"ARROW1\x00\x00|\xff\xff\xff\xff"),
}
_MODEL = re.compile(rb'.{8}\{"__metadata__":\{"itemix":', re.DOTALL)
_FOREIGN = {
    "a zip archive or spreadsheet": re.compile(rb"PK\x03\x04"),
    "a bzip2 file": re.compile(rb"BZh[1-9]1AY&SY"),
    "an xz file": re.compile(rb"\xfd7zXZ\x00"),
    "a zstd file": re.compile(rb"\x28\xb5\x2f\xfd"),
    "a PDF document": re.compile(rb"%PDF-\d"),
    "an SQLite database": re.compile(rb"SQLite format 3\x00"),
    "a Feather file of version 1": re.compile(rb"FEA1\x00"),
    "a web page": re.compile(rb"\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE),
}
_LAYOUTS_OF_TABLES = ("long", "onehot", "table")
_YES_OR_NO = frozenset(TRUE_WORDS + FALSE_WORDS)
_JSON_ENDING = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
_TAB_ENDING = re.compile(r"\.tsv(\.gz)?$", re.IGNORECASE)
BINARY_ENDING = re.compile(r"\.(?:(parquet|pq)|arrow|feather|ipc)(?:\.gz)?$", re.IGNORECASE)
_FIMI_ENDING = re.compile(r"\.(dat|fimi)(\.gz)?$", re.IGNORECASE)
# Something that no line of whole numbers has. To match a whole line would take memory for each number in it.
_NOT_FIMI = re.compile(r"[^\s0-9-]|-(?![0-9])|(?<=\S)-")
_JSON_BEGINNING = re.compile(r"\s*(?:\[\s*(?:[\"\[{]|-?[0-9])|\{\s*\")")
_NUMBER_OR_DATE = re.compile(r"(?=.*[0-9])[-+0-9.,:/ TZ]+")


@dataclass(frozen=True)
class ReadOptions:
    """How a file is written and what its columns mean; None is for what should be recognised.

    Attributes
    ----------
    encoding : str
        The encoding of text.
    delimiter : str or None
        The character between the cells of CSV.
    header : bool or None
        Whether the first line of CSV has the names of the columns.
    transaction : str, sequence of str or None
        The columns of a long table that tell transactions apart; in others, a column that is not an item.
    item : str or None
        The items of a long table, or a list column.
    table : TableOptions
        How a table of categories and numbers becomes items.
    rows : RowOptions
        Which rows of a long table, or one of categories, remain, and how often they count.
    may_be_lists : bool
        Whether cells such as "milk,bread" may be recognised as lists: not where the layout was named.
    """

    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool | None = None
    transaction: str | Sequence[str] | None = None
    item: str | None = None
    table: TableOptions = field(default_factory=TableOptions)
    rows: RowOptions = field(default_factory=RowOptions)
    may_be_lists: bool = False


class Recognised(NamedTuple):
    """The format of a file, as it was recognised.

    Attributes
    ----------
    format : str
        A key of `itemix.io.read.FORMATS`.
    delimiter : str or None
        The delimiter of CSV.
    header_lines : int
        How many lines the header of CSV takes: none, one, or more if a name has several lines.
    columns : tuple of str
        The names of the columns of CSV; their numbers where it has no header.
    has_lists : bool
        Whether the cells of a basket CSV hold lists, such as "milk,bread" in quotes, or sets in braces.
    """

    format: str
    delimiter: str | None = None
    header_lines: int = 0
    columns: tuple[str, ...] = ()
    has_lists: bool = False


def recognise(
    source: Source, options: ReadOptions, wanted: str | None = None, *, content: str = "transactions"
) -> Recognised:
    """Recognise the format by the first bytes; `wanted` is the format that the caller asked for.

    Raises
    ------
    InvalidInputError
        If the file is empty, or of an unknown binary format, or not of the format that was asked for.
    """
    _refuse_columns(wanted, options)
    if not source.head.removeprefix(codecs.BOM_UTF8).strip():
        raise InvalidInputError(
            f"expected {content}, got {source.label} which is empty; check how it was made"
        )
    if _MODEL.match(source.head):
        raise InvalidInputError(
            f"expected {content}, got {source.label}, which holds a model; read it with itemix.load"
        )
    binary = next((name for name, begin in _BINARY.items() if begin.match(source.head)), None)
    if binary is not None and wanted in (None, binary, *_LAYOUTS_OF_TABLES):
        return Recognised(binary)
    if binary is not None or wanted in _BINARY:
        what = f"is a {binary} file" if binary else "does not begin like one"
        raise InvalidInputError(
            f"expected a file in {wanted} format, got {source.label} which {what}; "
            "leave format= out to have it recognised"
        )
    if wanted is None and (ending := BINARY_ENDING.search(source.label)):
        raise InvalidInputError(
            f"expected {'a Parquet' if ending[1] else 'an Arrow'} file, as its name says, got {source.label} "
            "which does not begin like one; download it again, or name its format="
        )
    decoder_of(options.encoding)
    _refuse_foreign(source, options.encoding)
    lines = _first_lines(source, options.encoding)
    name = wanted if wanted is not None else _format_of(source, lines, options)
    if name in ("fimi", "jsonl"):
        return Recognised(name)
    delimiter = options.delimiter or _sniffed_delimiter(lines, source.label)
    if _is_plainly_basket(lines, delimiter, name, options):
        return Recognised("basket", delimiter)
    rows, first_lines = _split(lines, delimiter)
    layout = name or _layout_of(rows, options)
    if name is None and options.header is None and layout == "basket":
        _refuse_table(source, rows)
    header = _has_header(layout, rows, options)
    columns = rows[0] if header else [str(j) for j in range(len(rows[0]))]
    is_lists = layout == "lists"
    kind = "basket" if is_lists else layout
    return Recognised(kind, delimiter, first_lines if header else 0, tuple(columns), is_lists)


def _has_header(layout: str, rows: Sequence[Sequence[str]], options: ReadOptions) -> bool:
    if options.header is not None:
        return options.header
    if layout == "lists":
        return _names_lists(rows[0], options)
    return layout in ("long", "table") or (layout == "onehot" and _share_of_yes_or_no(rows[0]) < _MOST)


def _format_of(source: Source, lines: Sequence[str], options: ReadOptions) -> str | None:
    """Return fimi, jsonl, or None for CSV."""
    if _is_json(lines, certain=_JSON_ENDING.search(source.label) is not None):
        return "jsonl"
    if options.delimiter or options.transaction or options.item or options.header:
        return None
    if _TAB_ENDING.search(source.label):
        return None
    return "fimi" if _is_fimi(lines, certain=_FIMI_ENDING.search(source.label) is not None) else None


def _is_plainly_basket(
    lines: Sequence[str], delimiter: str, wanted: str | None, options: ReadOptions
) -> bool:
    """Whether baskets are asked for, or the first line is far too long for a header.

    To split a line of many megabytes into cells would take many times its memory.
    """
    if wanted is not None:
        return wanted == "basket" and not options.header
    if not lines:  # no text could be made of the bytes
        return False
    if any((options.header, options.transaction, options.item)) or len(lines[0]) <= HEAD_SIZE:
        return False
    if _share_of_yes_or_no([cell.strip() for cell in lines[0][:HEAD_SIZE].split(delimiter)]) >= _MOST:
        return False
    n_marks = lines[0].count(delimiter)
    return len(lines) == 1 or not n_marks // 2 <= lines[1].count(delimiter) <= n_marks


def _layout_of(rows: Sequence[Sequence[str]], options: ReadOptions) -> str:
    """Return the layout that most rows have: a few wrong rows should give an error, not another layout."""
    first, body = rows[0], rows[1 : 1 + _ROWS_LOOKED_AT] or rows
    if options.may_be_lists and _are_lists(rows, options):
        return "lists"
    if options.item is not None or (options.may_be_lists and _are_ids_and_lists(rows, options)):
        return "long"
    without_columns = "basket" if options.transaction is None else "long"
    if len(first) == 1 and len(rows) > 1 and _is_one_item(first[0], body):
        return "onehot"
    whole = [row for row in body if len(row) == len(first)]
    if len(first) == 1 or 2 * len(whole) < len(body):
        return without_columns
    share = _share_of_yes_or_no([cell for row in whole for cell in row[0 if first[0] else 1 :]])
    if share < 1 and options.header is not False and looks_long(first):
        return "long"
    return "onehot" if share >= _MOST else without_columns


def _are_lists(rows: Sequence[Sequence[str]], options: ReadOptions) -> bool:
    """Whether each row is one cell that holds a list, or a set in braces which the delimiter cuts."""
    body = rows[1:] if _names_lists(rows[0], options) else rows
    if options.transaction is not None or not body:
        return False
    if options.item is not None and body is rows:
        return False
    if all(len(row) == 1 for row in body):
        return share_of_lists([row[0] for row in body]) >= LEAST_LISTS
    return options.item is None and all(is_braced(",".join(row)) for row in body)


def _names_lists(first: Sequence[str], options: ReadOptions) -> bool:
    """Whether the first row is the name of a column of lists."""
    if len(first) != 1 or "," in first[0] or is_braced(first[0]):
        return False
    return first[0] == options.item or find_column(first, (*LIST_NAMES, *ITEM_NAMES)) is not None


def _are_ids_and_lists(rows: Sequence[Sequence[str]], options: ReadOptions) -> bool:
    """Whether a table has two columns, of distinct numbers and of lists."""
    first, body = rows[0], rows[1:]
    if (
        options.header is False
        or not body
        or any(len(row) != 2 for row in rows)
        or _NUMBER_OR_DATE.fullmatch(first[0])
    ):
        return False
    ids = [row[0] for row in body]
    if len(set(ids)) < len(ids) or not all(_NUMBER_OR_DATE.fullmatch(cell) for cell in ids):
        return False
    return share_of_lists([row[1] for row in body]) >= LEAST_LISTS


def _is_one_item(name: str, body: Sequence[Sequence[str]]) -> bool:
    """Whether a file of one column has the name of an item, and below it only yes and no."""
    return name.lower() not in _YES_OR_NO and all(_share_of_yes_or_no(row) == len(row) == 1 for row in body)


def _refuse_table(source: Source, rows: Sequence[Sequence[str]]) -> None:
    """Refuse rows of equal length whose columns are plainly no items, with a header or without.

    A column of numbers, dates, or yes and no is none, even if some of its cells are empty. And where many
    rows share no value between any two columns, nor with the first row, that row is a header.
    """
    rows = rows[: 1 + _ROWS_LOOKED_AT]
    first, body = rows[0], rows[1:]
    if len(first) < 2 or len(body) < 2 or any(len(row) != len(first) for row in body):
        return
    columns = [_filled(column) for column in zip(*body, strict=True)]
    of_values = [_are_values(column, len(body)) for column in columns]
    if not any(_NUMBER_OR_DATE.fullmatch(cell) or cell.lower() in _YES_OR_NO for cell in first):
        is_one = any(name and found for name, found in zip(first, of_values, strict=True))
        if not is_one and not _are_apart(first, columns):
            return
        what, header = f"a table, with {columns_shown(first)},", ""
    elif _are_values_and_words(rows):
        what, header = "a table without a header", " and header=False"
    else:
        return
    raise InvalidInputError(
        f"expected baskets of items, got what looks like {what} in {source.label}; try format='table'"
        f"{header} if each row is a transaction, transaction= and item= if several are, or format='basket'"
    )


def _filled(cells: Sequence[str]) -> list[str]:
    return [cell for cell in cells if cell]


def _are_values(cells: Sequence[str], n_rows: int) -> bool:
    """Whether a column has numbers or dates alone, or yes and no alone, in at least half of the rows."""
    if len(cells) < max(2, n_rows / 2):
        return False
    words = {cell.lower() for cell in cells}
    return words <= _YES_OR_NO or all(_NUMBER_OR_DATE.fullmatch(cell) for cell in cells)


def _are_apart(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether each name of the first row is there once, and no value is in two of the columns."""
    values = [set(column) for column in columns]
    together = set(first).union(*values)
    return (
        len(columns[0]) >= _ROWS_OF_A_TABLE
        and all(len(column) > 1 for column in values)
        and len(together) == len(first) + sum(map(len, values))
    )


def _are_values_and_words(rows: Sequence[Sequence[str]]) -> bool:
    """Whether some columns have only numbers, dates, or yes and no, and all others none of these."""
    if len(rows) < _ROWS_OF_A_TABLE:
        return False
    columns = [_filled(column) for column in zip(*rows, strict=True)]
    is_value = [_are_values(column, len(rows)) for column in columns]
    is_words = [not any(_NUMBER_OR_DATE.fullmatch(cell) for cell in column) for column in columns]
    each = zip(is_value, is_words, strict=True)
    return any(is_value) and not all(is_value) and all(value or words for value, words in each)


def _refuse_columns(wanted: str | None, options: ReadOptions) -> None:
    """Refuse the name of a column that the format does not have."""
    without = {"transaction": ("fimi", "basket"), "item": ("fimi", "basket", "onehot", "table")}
    for role, column in (("transaction", options.transaction), ("item", options.item)):
        if column is not None and wanted in without[role]:
            raise InvalidInputError(
                f"expected no column of {role}s with format={wanted!r}, got {role}={column!r}; leave one out"
            )


def _refuse_foreign(source: Source, encoding: str) -> None:
    wide = "16" in encoding or "32" in encoding
    for what, begin in _FOREIGN.items():
        if begin.match(source.head):
            raise InvalidInputError(
                f"expected {_EXPECTED}, got {what}: {source.label}; unpack it, or export it as CSV"
            )
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")) and not wide:
        raise InvalidInputError(
            f"expected {encoding} text, got UTF-16: {source.label}; try encoding='utf-16'"
        )
    for start, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if not wide and 2 * source.head[start::2].count(0) > len(source.head[start::2]):
            raise InvalidInputError(
                f"expected {encoding} text, got what looks like UTF-16: {source.label}; try encoding={name!r}"
            )
    if b"\x00" in source.head and not wide:
        raise InvalidInputError(
            f"expected {_EXPECTED}, got an unknown binary file: {source.label}; export it as CSV"
        )


def _first_lines(source: Source, encoding: str) -> list[str]:
    """Return the first lines, at least a few, without the last one if it may be cut."""
    is_whole = len(source.head) < HEAD_SIZE
    while HEAD_SIZE <= len(source.head) < _LONGEST_HEAD and _line_ends(source.head) < _LINES_NEEDED:
        if not source.look_further():
            is_whole = True
            break
    text = source.head.decode(encoding, errors="ignore").removeprefix("\ufeff")
    lines = list(io.StringIO(text, newline=""))
    return lines if is_whole or text.endswith("\n") or len(lines) == 1 else lines[:-1]


def _line_ends(head: bytes) -> int:
    return max(head.count(b"\n"), head.count(b"\r"))


def _is_json(lines: Sequence[str], *, certain: bool) -> bool:
    first = next((line for line in lines if line.strip()), "")
    if not first.lstrip().startswith(("[", "{")):
        return False
    if len(first) > HEAD_SIZE:  # to read all of it would take many times its memory
        return certain or _JSON_BEGINNING.match(first) is not None
    try:
        json.loads(first)
    except json.JSONDecodeError:
        return certain
    except (ValueError, RecursionError):  # too many digits, or nested too deeply
        return True
    return True


def _is_fimi(lines: Sequence[str], *, certain: bool) -> bool:
    """Whether most lines are numbers and blanks, and the others have no delimiter of CSV."""
    full = [line for line in lines if line.strip()]
    others = [line for line in full if _NOT_FIMI.search(line)]
    if any(mark in line for line in others for mark in DELIMITERS):
        return False
    if not certain and others == full[:1] and all(line.strip() in _YES_OR_NO for line in full[1:]):
        return False  # the name of one item, and whether each transaction has it
    return certain or len(others) <= (1 - _MOST) * len(full)


def _sniffed_delimiter(lines: Sequence[str], label: str) -> str:
    """Return the delimiter that most lines have outside quotes, or a comma if none has one."""
    if _TAB_ENDING.search(label):
        return "\t"
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines[:_ROWS_LOOKED_AT]]
    return max(DELIMITERS, key=lambda mark: sum(mark in line for line in bare))


def _split(lines: Sequence[str], delimiter: str) -> tuple[list[list[str]], int]:
    """Return the rows as lists of stripped cells, and how many lines the first row takes."""
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    found: list[list[str]] = []
    first_lines = 1
    with suppress(csv.Error):
        for row in rows:
            if not found:
                first_lines = rows.line_num
            if row:
                found.append([cell.strip() for cell in row])
            if len(found) > _ROWS_LOOKED_AT:
                break
    return found or [[""]], first_lines


def _share_of_yes_or_no(cells: Sequence[str]) -> float:
    return sum(cell.lower() in _YES_OR_NO for cell in cells) / len(cells)


def find_column(columns: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the column with one of the known names, whatever its case and punctuation."""
    plain = {re.sub(r"[^a-z0-9]", "", column.lower()): column for column in reversed(columns)}
    return next((plain[name] for name in known if name in plain), None)


def looks_long(columns: Sequence[str]) -> bool:
    """Whether the columns have the usual names of a long table."""
    transaction, item = find_column(columns, TRANSACTION_NAMES), find_column(columns, ITEM_NAMES)
    return transaction is not None and item is not None and transaction != item


def pair_of_columns(columns: Sequence[str], options: ReadOptions) -> tuple[tuple[str, ...], str]:
    """Return the columns that tell transactions apart, and the item column, of a long table.

    Columns that were not named are found by their usual names. Of two columns, the first is the transaction.
    Where only a person is named, such as a member, the day tells the transactions apart, if there is one.

    Raises
    ------
    InvalidInputError
        If a column that was named is not there, or one that was not named cannot be found.
    """
    keys = as_columns(options.transaction)
    for name in keys:
        check_column(name, columns, "transaction")
    found = [keys[0] if keys else find_column(columns, TRANSACTION_NAMES)]
    if options.item is not None:
        check_column(options.item, columns, "item")
    others = [name for name in columns if name not in (*found, *keys)]
    found.append(options.item or find_column(others, ITEM_NAMES))
    if len(columns) == 2:
        others = [name for name in columns if name not in found]
        found = [name if name is not None or not others else others.pop(0) for name in found]
    transaction, item = found
    if transaction is None or item is None:
        role = "transaction" if transaction is None else "item"
        raise InvalidInputError(
            f"expected a column of {role}s, got {columns_shown(columns)}; name the right one with {role}="
        )
    if not keys:
        day = find_column([name for name in columns if name != item], DAY_NAMES)
        is_person = find_column([transaction], _PERSON_NAMES) is not None
        keys = (transaction, day) if is_person and day is not None and len(columns) > 2 else (transaction,)
    check_different(keys, item)
    return keys, item


def said_of_columns(transaction: Sequence[str], item: str) -> str:
    """Say which columns of a long table are read."""
    return f"columns {' with '.join(map(repr, transaction))} and {item!r}"


def checked_delimiter(delimiter: str | None) -> str | None:
    """Check a delimiter and return it.

    Raises
    ------
    InvalidInputError
        If it is not one ASCII character, or one that CSV itself uses.
    """
    if delimiter is None:
        return None
    is_one = isinstance(delimiter, str) and len(delimiter) == 1
    if not is_one or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InvalidInputError(
            f"expected one ASCII character as the delimiter, got {delimiter!r}; try ',' or '\\t'"
        )
    return delimiter
