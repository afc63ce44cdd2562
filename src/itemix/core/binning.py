"""Tables of categories and numbers: which item each value of a column becomes, and how numbers are cut.

A table has a row for each transaction. Its items are called ``column=value``. `Bins` says for each column how
its values become items. It is learned from one table, and may be used for others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from itemix._checks import check_choice, did_you_mean, nearest
from itemix.core import display
from itemix.core.conditions import MISSING_WORDS, plain_numbers, written
from itemix.core.encoding import Encoded, columns_shown
from itemix.core.items import Items
from itemix.core.rows import RowOptions, as_columns, ids_of_rows, kept_of, weights_of_groups
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from itemix._typing import Codes, Floats, Ints, Marks
    from itemix.core.items import Label
    from itemix.core.rows import Columns

    BinsLike = str | int | Iterable[float] | Mapping[str, Any] | None

MISSING = ("skip", "item", "refuse")
"""What a missing cell is: no item, an item ``column=missing``, or an error."""

QUANTILE, WIDTH, STEP, VALUE = "quantile", "width", "step", "value"
ALL_OTHERS = "*"
"""The name for all other columns in a mapping of bins."""

_N_BINS = 4
_MOST_VALUES = 10
_MOST_BINS = 1000
_MANY_ROWS = 100
_LARGEST_WHOLE = 2.0**53
_DIGITS = 3
# Bins of quantiles may have this share of rows more or fewer, so that edges can be round numbers.
_SLACK = 0.1
_ABSENT = -1
_MOST_COMPARED = 100
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?!\d)|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?!\d)|\d{4}/\d{1,2}/\d{1,2}(?!\d)"
)
# How the names of columns end whose numbers only name the rows.
_NUMBERED = re.compile(r"(id|no|nr|num|number|nummer|key|code|index)$", re.IGNORECASE)
_TRUTH = ("False", "True")
_TRUTH_WORDS = {"true": True, "false": False}


class Bins(Mapping[str, "tuple[float, ...] | None"]):
    """How the columns of a table become items: the edges of the bins of each column, in order.

    A column maps to the numbers at which its bins begin. There is also a bin below the first of them, and the
    last bin has no upper end. A column maps to None if each of its values is an item. Pass it as ``bins=`` to
    cut another table in the same way.

    Parameters
    ----------
    edges : mapping of str to iterable of float, or None
        The edges of each column.
    whole : iterable of str, optional
        The columns of whole numbers, whose bins are named by their first and last number.

    Examples
    --------
    >>> import itemix, pandas as pd
    >>> train = itemix.Transactions.from_table(pd.DataFrame({"age": [25, 40, 70]}), bins=[18, 65])
    >>> train.bins
    Bins(age=(18, 65))
    >>> itemix.Transactions.from_table(pd.DataFrame({"age": [17]}), bins=train.bins).to_lists()
    [['age=<18']]
    """

    def __init__(self, edges: Mapping[str, Iterable[float] | None], whole: Iterable[str] = ()) -> None:
        self._edges = {
            str(column): None if cuts is None else _checked_edges(column, cuts)
            for column, cuts in edges.items()
        }
        self._whole = frozenset(whole)

    def __getitem__(self, column: str) -> tuple[float, ...] | None:
        return self._edges[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._edges)

    def __len__(self) -> int:
        return len(self._edges)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bins):
            return NotImplemented
        return self._edges == other._edges and self._whole == other._whole

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{column}={'values' if cuts is None else '(' + ', '.join(map(written, cuts)) + ')'}"
            for column, cuts in self._edges.items()
        )
        return f"Bins({shown})"

    def _repr_html_(self) -> str:
        """Show the columns and the names of their bins, for notebooks."""
        rows = tuple(
            (column, "its values" if cuts is None else ", ".join(self.names(column)))
            for column, cuts in self._edges.items()
        )
        return display.Table("", ("column", "items"), rows, words=frozenset({"column"})).as_html()

    @property
    def whole(self) -> frozenset[str]:
        """The columns of whole numbers."""
        return self._whole

    def names(self, column: str) -> list[str]:
        """Return the names of the bins of a column, those below the first edge and from the last on included.

        Raises
        ------
        InvalidInputError
            If the column has no bins.
        """
        cuts = self._edges.get(column)
        if cuts is None:
            raise InvalidInputError(
                f"expected a column with bins, got {column!r}; those with bins are "
                f"{[name for name, edges in self._edges.items() if edges is not None]}"
            )
        return _bin_names(cuts, is_whole=column in self._whole)

    def to_dict(self) -> dict[str, Any]:
        """Return the same as lists and words, for JSON."""
        return {
            "edges": {k: None if v is None else list(v) for k, v in self._edges.items()},
            "whole": sorted(self._whole),
        }

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Return what `to_dict` has written.

        Raises
        ------
        InvalidInputError
            If it is something else.
        """
        if (
            isinstance(content, dict)
            and isinstance(content.get("edges"), dict)
            and isinstance(content.get("whole"), list)
        ):
            return cls(content["edges"], content["whole"])
        raise InvalidInputError(f"expected the edges of bins, got {content!r:.60}; write the file again")


class TableOptions(NamedTuple):
    """How a table becomes transactions.

    Attributes
    ----------
    columns : sequence of str or None
        The columns that become items; None for all.
    drop : sequence of str
        Columns that are left out.
    bins : BinsLike
        How numbers are cut.
    missing : str
        One of `MISSING`.
    transaction : label, sequence of labels or None
        The column, or columns, of the ids of transactions; they are no items.
    """

    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    bins: BinsLike = QUANTILE
    missing: str = MISSING[0]
    transaction: Label | Sequence[Label] | None = None

    @classmethod
    def checked(
        cls,
        *,
        columns: object = None,
        drop: object = None,
        bins: BinsLike = QUANTILE,
        missing: object = MISSING[0],
        transaction: Any = None,  # noqa: ANN401 - checked with the columns
    ) -> TableOptions:
        """Check the options that can be checked without the table.

        Raises
        ------
        InvalidInputError
            If one has no meaning.
        """
        rules = bins if isinstance(bins, Mapping) else {"": bins}
        if not isinstance(bins, Bins):
            for rule in rules.values():
                _checked_rule(rule)
        return cls(
            columns=None if columns is None else _as_names("columns", columns),
            drop=() if drop is None else _as_names("drop", drop),
            bins=bins,
            missing=check_choice("missing", missing, MISSING),
            transaction=transaction,
        )

    def chosen(self, names: Sequence[str], rows: RowOptions) -> list[str]:
        """Return the columns that become items.

        Raises
        ------
        InvalidInputError
            If a column that is named is not there, or there are none.
        """
        for role, given in (("columns", self.columns or ()), ("drop", self.drop)):
            for name in given:
                _check_there(name, names, role)
        keys = [str(name) for name in as_columns(self.transaction)]
        for name in keys:
            _check_there(name, names, "transaction")
        rows.check_columns(names)
        no_items = {*keys, *self.drop, rows.weight}
        if isinstance(self.bins, Mapping) and not isinstance(self.bins, Bins):
            for name in set(self.bins) - {ALL_OTHERS}:
                _check_there(str(name), names, "bins")
        wanted: Iterable[str] = names
        if self.columns is not None:
            wanted = self.columns
        elif isinstance(self.bins, Bins):
            wanted = [name for name in self.bins if name in names]
        kept = [name for name in wanted if name not in no_items]
        if not kept:
            raise InvalidInputError(
                f"expected at least one column of items, got {columns_shown(names)}, all left out; name some "
                "with columns="
            )
        return kept

    def names(self, column: str) -> bool:
        """Whether a column was asked for by its name."""
        is_binned = isinstance(self.bins, Bins) or (isinstance(self.bins, Mapping) and column in self.bins)
        return self.columns is not None or is_binned

    def needed(self, names: Sequence[str], rows: RowOptions) -> list[str]:
        """Return all columns that must be read."""
        keys = [str(name) for name in as_columns(self.transaction)]
        return list(dict.fromkeys([*self.chosen(names, rows), *keys, *rows.columns]))


def _as_names(role: str, names: object) -> tuple[str, ...]:
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise InvalidInputError(f"expected {role} as a list of names, got {names!r}; try ['age', 'sex']")
    return tuple(map(str, names))


def _check_there(name: str, names: Sequence[str], role: str) -> None:
    if name not in names:
        hint = did_you_mean(nearest(name, names), f"name the right one with {role}=")
        raise InvalidInputError(f"expected a column {name!r}, got {columns_shown(names)}; {hint}")


# From a table to items.


class _Values(NamedTuple):
    """A column: for each row a number, or the code of a category; and which cells are missing."""

    numbers: Floats | None
    codes: Codes
    names: list[str]
    missing: Marks


class _ColumnItems(NamedTuple):
    """What has become of a column: the local code of each row, -1 for none, and the names of the codes."""

    codes: Codes
    names: list[str]
    edges: tuple[float, ...] | None
    is_whole: bool


def encode_columns(
    columns: Columns, options: TableOptions, rows: RowOptions, *, is_text: bool = False
) -> tuple[Encoded, str]:
    """Encode a table of categories and numbers; also say which columns and rows were left out, if any were.

    Parameters
    ----------
    columns
        A function for each column of the table, which returns it.
    options : TableOptions
        Which columns become items, and how.
    rows : RowOptions
        Which rows remain, and how often they count.
    is_text : bool
        Whether numbers and truth values are written as text.

    Raises
    ------
    InvalidInputError
        If a column is not there, its values are neither categories nor numbers, or one is missing that must
        not be.
    """
    chosen = options.chosen(list(columns), rows)
    keys = [str(name) for name in as_columns(options.transaction)]
    marks, gone = rows.kept(columns, [*keys, *chosen])
    edges: dict[str, tuple[float, ...] | None] = {}
    whole: list[str] = []
    left_out: dict[str, list[str]] = {}
    parts: list[Codes] = []
    labels: list[str] = []
    column_of: list[int] = []
    for name in chosen:
        values = _values_of(name, kept_of(columns[name](), marks), is_text=is_text)
        why = None if options.names(name) else _why_useless(name, values)
        if why is not None:
            left_out.setdefault(why, []).append(name)
            continue
        found = _items_of(name, values, options)
        parts.append(np.where(found.codes < 0, _ABSENT, found.codes + len(labels)).astype(np.int32))
        labels += [f"{name}={value}" for value in found.names]
        column_of += [len(edges)] * len(found.names)
        edges[name] = found.edges
        if found.is_whole:
            whole.append(name)
    if not parts:
        raise InvalidInputError(
            f"expected a column whose values repeat, got {columns_shown(chosen)}, which tell nothing; "
            "to use them all the same, name them with columns="
        )
    codes = np.stack(parts, axis=1)
    present = codes >= 0
    indptr = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(present.sum(axis=1), out=indptr[1:])
    items = Items(labels, bins=Bins(edges, whole), column_of=np.array(column_of, dtype=np.int32))
    weights = None
    if rows.weight is not None:
        weights = weights_of_groups(kept_of(columns[rows.weight](), marks), rows, None, len(codes))
    names = {key: kept_of(columns[key](), marks) for key in keys}
    told = (_left_out_said(left_out), _same_said(list(edges), parts), gone.said)
    said = ", ".join(part for part in told if part)
    return Encoded(indptr, codes[present], items, weights, ids_of_rows(names, is_text=is_text)), said


_DIFFER, _RARE, _DATES, _CONSTANT = (
    "every value differs",
    "few values come twice",
    "dates",
    "one value",
)


def _why_useless(name: str, values: _Values) -> str | None:
    """Say why a column of a table of many rows tells nothing; None if it may tell something.

    It tells nothing if it numbers or names the rows, has free text or dates, or the same value in all rows.
    """
    n = len(values.codes)
    n_present = n - int(values.missing.sum())
    if n <= _MANY_ROWS:
        return None
    distinct = None if values.numbers is None else np.unique(values.numbers[~values.missing])
    n_values = len(values.names) if distinct is None else len(distinct)
    found = None
    if n_values == 1 and n_present == n:
        found = _CONSTANT
    elif distinct is not None:
        is_dense = len(distinct) == n and distinct[-1] - distinct[0] < 2 * n
        if n_values == n and _are_whole(distinct) and (is_dense or _NUMBERED.search(name)):
            found = _DIFFER
    elif n_values > _MOST_VALUES and all(map(_DATE.match, values.names)):
        found = _DATES
    elif n_values == n_present > n // 2:
        found = _DIFFER
    elif n_values > max(n_present // 2, _MANY_ROWS // 2):
        found = _RARE
    return found


def _left_out_said(left_out: Mapping[str, Sequence[str]]) -> str:
    """Say which columns were left out, and why."""
    parts = [f"{columns_shown(names).removeprefix('columns ')} ({why})" for why, names in left_out.items()]
    return f"without {', '.join(parts)}" if parts else ""


def _same_said(names: Sequence[str], parts: Sequence[Codes]) -> str:
    """Say which columns tell the same as another one, so that one of them would do."""
    first: dict[tuple[int, ...], list[int]] = {}
    same: list[str] = []
    for number, codes in enumerate(parts):
        counts = np.unique(codes, return_counts=True)[1]
        if len(codes) <= _MANY_ROWS or not 1 < len(counts) <= _MOST_COMPARED:
            continue
        alike = first.setdefault((*np.sort(counts).tolist(),), [])
        twin = next((other for other in alike if _are_same(parts[other], codes, len(counts))), None)
        if twin is None:
            alike.append(number)
        else:
            same.append(f"{names[number]!r} says the same as {names[twin]!r}")
    return f"where {', '.join(same)}" if same else ""


def _are_same(one: Codes, other: Codes, n_values: int) -> bool:
    """Whether each value of one column goes with one value of the other; those missing go together."""
    if not np.array_equal(one < 0, other < 0):
        return False
    pairs = one.astype(np.int64) * (int(other.max(initial=0)) + 2) + other
    return len(np.unique(pairs)) == n_values


def _items_of(name: str, values: _Values, options: TableOptions) -> _ColumnItems:
    """Return the items of a column."""
    n_missing = int(values.missing.sum())
    if n_missing and options.missing == "refuse":
        raise InvalidInputError(
            f"expected a value in every row of column {name!r}, got {n_missing:,} missing; try "
            "missing='item', or missing='skip'"
        )
    found = _binned(name, values, options.bins)
    if n_missing and options.missing == "item":
        names = [*found.names, "missing"] if "missing" not in found.names else found.names
        return found._replace(
            codes=np.where(values.missing, names.index("missing"), found.codes), names=names
        )
    return found


def _binned(name: str, values: _Values, bins: BinsLike) -> _ColumnItems:
    """Return the items of the cells that are not missing."""
    is_own = isinstance(bins, Mapping) and name in bins
    rule: Any = bins
    if isinstance(bins, Mapping):
        rule = bins[name] if is_own else bins.get(ALL_OTHERS, QUANTILE)
    is_whole = name in bins.whole if isinstance(bins, Bins) else None
    if values.numbers is None:
        if is_own and rule not in (None, VALUE):
            raise InvalidInputError(
                f"expected numbers in column {name!r}, to cut them into bins, got {values.names[0]!r:.40}; "
                "leave it out of bins="
            )
        return _ColumnItems(values.codes, values.names, None, False)
    numbers = values.numbers[~values.missing]
    distinct, codes = np.unique(numbers, return_inverse=True)
    edges = _edges_of(rule, distinct, codes, is_own=is_own)
    every = np.full(len(values.codes), _ABSENT, dtype=np.int64)
    if edges is None:
        every[~values.missing] = codes
        return _ColumnItems(every.astype(np.int32), [written(value) for value in distinct], None, False)
    if is_whole is None:
        is_whole = _are_whole(distinct) and _are_whole(np.array(edges))
    every[~values.missing] = np.searchsorted(edges, numbers, side="right")
    used = np.unique(every[every >= 0])
    names = _bin_names(edges, is_whole=is_whole)
    local = np.full(len(names) + 1, _ABSENT, dtype=np.int32)  # the last one is for missing cells
    local[used] = np.arange(len(used))
    return _ColumnItems(local[every], [names[j] for j in used], edges, is_whole)


def _values_of(name: str, column: pa.ChunkedArray, *, is_text: bool) -> _Values:
    """Return the values of a column, which are numbers, or the names of categories."""
    import pyarrow as pa

    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        column = _days_as_text(column)
    kind = column.type
    if pa.types.is_dictionary(kind) and not is_text:
        return _categories(column)
    if pa.types.is_null(kind):
        return _nothing(len(column))
    if pa.types.is_boolean(kind):
        filled = column.fill_null(False).to_numpy().astype(np.int32)
        return _of_truth(filled, column.is_null().to_numpy())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _of_numbers(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    if is_text:
        return _from_text(_categories(column))
    if any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        return _categories(column)
    hint = "leave it out with drop=, or make a column of its hours"
    if not pa.types.is_temporal(kind):
        hint = "leave it out with drop=, or give lists of names to from_lists"
    raise InvalidInputError(
        f"expected categories, truth values or numbers in column {name!r}, got {kind}; {hint}"
    )


def _days_as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates as people write them, without the time of day where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if (
        pa.types.is_timestamp(column.type)
        and pc.all(pc.equal(pc.floor_temporal(column, unit="day"), column)).as_py()
    ):
        column = column.cast(pa.date32())
    return pc.strftime(column, format="%Y-%m-%d" if pa.types.is_date(column.type) else "%Y-%m-%d %H:%M:%S")


def _nothing(n_rows: int) -> _Values:
    return _Values(None, np.full(n_rows, _ABSENT, np.int32), [], np.ones(n_rows, dtype=np.bool_))


def _of_numbers(numbers: Floats) -> _Values:
    return _Values(numbers, np.zeros(len(numbers), np.int32), [], np.isnan(numbers))


def _of_truth(values: Codes, missing: Marks) -> _Values:
    """Return truth values as categories; only those that occur."""
    used = [int(v) for v in np.unique(values[~missing])]
    local = np.full(2, _ABSENT, dtype=np.int32)
    local[used] = np.arange(len(used))
    return _Values(None, np.where(missing, _ABSENT, local[values]), [_TRUTH[v] for v in used], missing)


def _categories(column: pa.ChunkedArray) -> _Values:
    """Return names as categories, in ascending order; blanks around them do not count."""
    import pyarrow as pa

    from itemix.core.encoding import number_values

    missing = column.is_null().to_numpy()
    kept = column.drop_null()
    numbers, values = number_values(kept)
    names = [str(value).strip() for value in values.to_pylist()]
    if pa.types.is_floating(values.type):
        names = [written(float(value)) for value in names]
    distinct = sorted(set(names) - {""}, key=_natural)
    code_of = {name: code for code, name in enumerate(distinct)}
    local = np.array([code_of.get(name, _ABSENT) for name in names], dtype=np.int32)
    codes = np.full(len(column), _ABSENT, dtype=np.int32)
    if len(kept):
        codes[~missing] = local[numbers]
    return _Values(None, codes, distinct, codes < 0)


def _natural(name: str) -> tuple[bool, float, str]:
    """Sort whole numbers by their value, before other names."""
    is_number = name.isascii() and name.isdigit()
    return not is_number, float(name) if is_number else 0.0, name


def _from_text(values: _Values) -> _Values:
    """Recognise numbers, truth values and missing cells among names."""
    absent = np.array([name in MISSING_WORDS for name in values.names] + [True])
    names = [name for name in values.names if name not in MISSING_WORDS]
    missing = absent[values.codes]
    words = [name.lower() for name in names]
    if names and all(word in _TRUTH_WORDS for word in words):
        truth = [int(_TRUTH_WORDS.get(name.lower(), False)) for name in values.names]
        return _of_truth(np.array([*truth, 0], dtype=np.int32)[values.codes], missing)
    parsed = [_as_number(name) for name in plain_numbers(names)]
    if names and None not in parsed:
        by_code = np.full(len(absent), np.nan)
        by_code[~absent] = parsed
        return _of_numbers(by_code[values.codes])
    local = np.where(absent, _ABSENT, np.cumsum(~absent) - 1).astype(np.int32)
    return _Values(None, local[values.codes], names, missing)


def _as_number(name: str) -> float | None:
    """Return a number as it is usually written; digits after a leading zero are a code, and no number."""
    digits = name.removeprefix("-").removeprefix("+")
    is_code = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    if (
        not digits[:1].isascii()
        or not (digits[:1].isdigit() or digits[:1] == ".")
        or is_code
        or "_" in digits
    ):
        return None
    try:
        return float(name)
    except ValueError:
        return None


# How numbers are cut.


def _checked_rule(rule: object) -> tuple[str, float] | tuple[float, ...]:
    """Return a way to cut and its number, or the edges."""
    if rule is None:
        return VALUE, 0.0
    if isinstance(rule, int | np.integer) and rule is not True and 1 <= int(rule) <= _MOST_BINS:
        return QUANTILE, float(rule)
    if isinstance(rule, str):
        word, _, number = rule.strip().partition(":")
        if word == VALUE and not number:
            return VALUE, 0.0
        if word in (QUANTILE, WIDTH) and (
            not number or (number.isdigit() and 1 <= int(number) <= _MOST_BINS)
        ):
            return word, float(number or _N_BINS)
        if word == STEP and (step := _as_number(number)) is not None and 0 < step < math.inf:
            return word, step
    elif isinstance(rule, Iterable):
        return _checked_edges("", rule)
    raise InvalidInputError(
        "expected bins as 'quantile', 'quantile:5', 'width:5', 'step:10', 'value', a number of bins or their "
        f"edges, or these by column, got {rule!r:.60}; try 'quantile'"
    )


def _checked_edges(column: str, edges: object) -> tuple[float, ...]:
    where = f" of column {column!r}" if column else ""
    values = list(edges) if isinstance(edges, Iterable) and not isinstance(edges, str) else [None]
    if not all(isinstance(v, int | float | np.number) and v is not True and math.isfinite(v) for v in values):
        raise InvalidInputError(
            f"expected the edges of bins{where} as numbers, got {edges!r:.60}; try [18, 65]"
        )
    found = tuple(float(value) for value in values if value is not None)
    if any(low >= high for low, high in pairwise(found)):
        raise InvalidInputError(f"expected the edges of bins{where} to ascend, got {values!r:.60}; sort them")
    return found


def _edges_of(rule: object, distinct: Floats, codes: Ints, *, is_own: bool) -> tuple[float, ...] | None:
    """Return where the bins begin, or None if each value is an item.

    Parameters
    ----------
    rule
        How to cut, as it was given.
    distinct : array of float
        The distinct values, ascending.
    codes : array of int
        The position of each row's value among them.
    is_own : bool
        Whether the rule was given for this column. Otherwise few values remain as they are.
    """
    chosen = _checked_rule(rule)
    if not chosen or not isinstance(chosen[0], str):
        return tuple(float(edge) for edge in chosen) or None
    way, number = chosen[0], float(chosen[1])
    if way == VALUE or len(distinct) == 0 or (not is_own and len(distinct) <= _MOST_VALUES):
        return None
    if way == STEP:
        first, last = math.floor(distinct[0] / number) + 1, math.floor(distinct[-1] / number)
        if last - first > _MOST_BINS:
            raise InvalidInputError(
                f"expected at most {_MOST_BINS:,} bins, got {last - first:,} with 'step:{number:g}'; take "
                "wider ones"
            )
        return tuple(float(f"{j * number:.12g}") for j in range(first, last + 1)) or None
    k = int(number)
    if way == WIDTH:
        low, high = float(distinct[0]), float(distinct[-1])
        width = (high - low) / k
        digits = _DIGITS - 1 - math.floor(math.log10(width)) if 0 < width < math.inf else 0
        edges = [round(low + j * width, digits) for j in range(1, k)]
        return tuple(edge for edge in dict.fromkeys(edges) if low < edge <= high) or None
    return _quantiles(distinct, np.bincount(codes, minlength=len(distinct)), k) or None


def _quantiles(distinct: Floats, counts: Ints, k: int) -> tuple[float, ...]:
    """Return edges so that about as many rows lie in each of k bins; each is as short as that allows."""
    if len(distinct) < 2:
        return ()
    up_to = np.cumsum(counts)  # the rows with each value or a lower one
    n, below = int(up_to[-1]), up_to[:-1]
    edges = set()
    for wanted in np.arange(1, k) * (n / k):
        slack = _SLACK * n / k
        low, high = (
            int(np.searchsorted(up_to, rank, side="right")) for rank in (wanted - slack, wanted + slack)
        )
        if low == high:  # many rows have this value: the edge is before or after it, whichever is nearer
            after = min(int(np.searchsorted(below, wanted)), len(below) - 1)
            before = max(after - 1, 0)
            low = before if wanted - below[before] <= below[after] - wanted else after
            high = low + 1
        edges.add(_shortest(float(distinct[low]), float(distinct[min(high, len(distinct) - 1)])))
    return tuple(sorted(edges))


def _shortest(low: float, high: float) -> float:
    """Return the number above `low` and up to `high` that is written with the fewest digits."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return high
    exponent = math.floor(math.log10(max(abs(low), abs(high)))) + 1
    middle = low + (high - low) / 2
    for power in range(exponent, exponent - 18, -1):
        step = 10.0**power
        first = math.floor(low / step)
        near = [float(f"{first + j}e{power}") for j in range(12)]
        fitting = [value for value in near if low < value <= high]
        if fitting:
            return min(fitting, key=lambda value: abs(value - middle))
    return high


def _are_whole(values: Floats) -> bool:
    return bool((np.abs(values) < _LARGEST_WHOLE).all() and (values == np.floor(values)).all())


def _bin_names(edges: Sequence[float], *, is_whole: bool) -> list[str]:
    """Return the names of the bins: below the first edge, from each edge to the next, from the last on."""
    if not edges:
        return ["any"]
    dash = " to " if edges[0] < 0 else "-"
    names = [f"<{written(edges[0])}"]
    for low, high in pairwise(edges):
        last = high - 1 if is_whole else high
        names.append(written(low) if is_whole and last == low else f"{written(low)}{dash}{written(last)}")
    return [*names, f"{written(edges[-1])}+"]
