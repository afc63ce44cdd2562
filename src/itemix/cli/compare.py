"""``itemix compare``, ``surprises``, ``summarise``, ``unusual``: data beside other data, or a model."""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itemix._files import is_stream, refuse_repeated
from itemix.cli.options import (
    Output,
    Reading,
    SourceArgument,
    as_support,
    check_choice,
    data_sources,
    one_of,
    option,
)
from itemix.cli.output import check_output, note, save, show_table, stopwatch
from itemix.cli.sources import opened, read_model_or_data, read_source
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    import pyarrow as pa

    from itemix.core.results import ColumnResult
    from itemix.core.transactions import Transactions
    from itemix.fitted import FittedModel

_WHICH = "What is compared"
PERIODS = ("year", "quarter", "month", "week", "day")
ADJUSTMENTS = ("bh", "by", "holm", "bonferroni", "none")


def compare(
    *,
    source: SourceArgument,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="OTHER",
            show_default=False,
            autocompletion=data_sources,
            help="The transactions to compare them with.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        option(
            "--by",
            panel=_WHICH,
            metavar="COLUMN",
            help="Instead of OTHER: a column of the long table with the group of each transaction.",
        ),
    ] = None,
    per: Annotated[
        str | None,
        option(
            "--per",
            panel=_WHICH,
            metavar="|".join(PERIODS),
            autocompletion=one_of(PERIODS),
            help="Take the values of --by as times, and put those of one period together.",
        ),
    ] = None,
    min_support: Annotated[
        str,
        option(
            "--min-support",
            "-s",
            panel=_WHICH,
            metavar="SUPPORT",
            help="The least support in one of the two: a fraction, a percentage (1%) or a number; 0.5%.",
        ),
    ] = "0.005",
    min_len: Annotated[
        int, option("--min-len", panel=_WHICH, metavar="N", help="The fewest items of a set.")
    ] = 1,
    max_len: Annotated[
        int | None, option("--max-len", panel=_WHICH, metavar="N", help="The most items of a set.")
    ] = None,
    level: Annotated[
        float,
        option("--level", panel=_WHICH, metavar="X", help="The most that an adjusted p-value may be; 0.05."),
    ] = 0.05,
    adjust: Annotated[
        str,
        option(
            "--adjust",
            panel=_WHICH,
            metavar="METHOD",
            autocompletion=one_of(ADJUSTMENTS),
            help="How p-values are adjusted for many tests: bh (the default), by, holm, bonferroni, none.",
        ),
    ] = "bh",
    own: Annotated[
        bool, option("--own", panel=_WHICH, help="Leave out sets whose difference a part of them explains.")
    ] = False,
    components: Annotated[
        bool,
        option(
            "--components",
            panel=_WHICH,
            help="Compare kinds of transactions instead of itemsets: components of one mixture of both.",
        ),
    ] = False,
    seed: Annotated[
        int, option("--seed", panel=_WHICH, metavar="N", help="With --components, the seed of the fit; 0.")
    ] = 0,
    threads: Annotated[
        int,
        option(
            "--threads", "-j", panel=_WHICH, metavar="N", help="Threads to use; by default all processors."
        ),
    ] = -1,
    reading: Reading,
    output: Output,
) -> None:
    """Find the itemsets that are more frequent in one set of transactions than in another.

    SOURCE is compared with OTHER: the first month with the second, one store with another. With --by, each
    group of SOURCE is compared with all others. For each set that differs by more than chance, the table has
    both supports, and how many times as frequent it is in the second. With --components, it has the kinds of
    transactions whose shares differ. On a terminal the result is a table; in a pipe, lines with tabs between
    the columns; with -o, a file.
    """
    check_choice("--adjust", adjust, ADJUSTMENTS)
    check_output(output)
    refuse_repeated(source, other, reading.names)
    if (other is None) == (by is None):
        got = "neither" if other is None else "both"
        raise InvalidInputError(
            f"expected OTHER or --by, got {got}; name a second source, or a column with the groups"
        )
    support = as_support(min_support)
    if per is not None:
        check_choice("--per", per, PERIODS)
        if by is None:
            raise InvalidInputError("expected --by with --per, got none; try --by date --per month")
    if components and (own or (min_support, min_len, max_len) != ("0.005", 1, None)):
        raise InvalidInputError(
            "expected --components without options of itemsets, got them; leave out --own, --min-support, "
            "--min-len and --max-len"
        )
    from itemix.mining.comparison import compare as find

    with stopwatch(quiet=output.quiet) as watch:
        first = read_source(source, reading, quiet=output.quiet)
        second = None if other is None else read_source(other, reading, quiet=output.quiet)
        groups = None if by is None else _groups(source, first, by, per, reading)
        began = watch.seconds()
        common: dict[str, Any] = {"by": groups, "level": level, "adjust": adjust, "n_jobs": threads}
        if components:
            from itemix.estimators import compare_components

            shifts = compare_components(first, second, **common, random_state=seed, progress=not output.quiet)
            _show(shifts, "component", watch.seconds() - began, output)
            return
        found = find(
            first,
            second,
            min_support=0.005 if support is None else support,
            min_len=min_len,
            max_len=max_len,
            **common,
        )
        seconds = watch.seconds() - began
    _show(found, "itemset", seconds, output, rows=found.own() if own else found)


def _show(
    result: "ColumnResult",
    noun: str,
    seconds: float,
    output: Output,
    *,
    rows: "ColumnResult | None" = None,
) -> None:
    """Say what a result is and how long it took, and write it, or some of its rows, where it is wanted."""
    note(f"{result.table(0).title}, found in {seconds:.2f} s", quiet=output.quiet)
    shown = result if rows is None else rows
    if not save(shown, noun, output):
        show_table(shown, output.limit)


def _groups(source: str, data: "Transactions", by: str, per: str | None, reading: Reading) -> list[str]:
    """Return the group of each transaction of a long table: its only value in a column.

    Raises
    ------
    InvalidInputError
        If it is no long table that can be read again, or a transaction has several values.
    """
    import numpy as np

    if is_stream(source) or reading.transaction is None or reading.item is None:
        raise InvalidInputError(
            "expected --by with a file of a long table, and --transaction and --item for its columns, got "
            f"{source!r}; name these columns"
        )
    values = read_source(source, dataclasses.replace(reading, item=by, names=None), quiet=True)
    values = values[_rows_with(data.ids, values.ids)]
    if values.n_rows != data.n_rows or (np.diff(values.indptr) == 0).any():
        raise InvalidInputError(
            f"expected a value in column {by!r} for each of the {data.n_rows:,} transactions, got "
            f"{int((np.diff(values.indptr) > 0).sum()):,}; fill in what is missing"
        )
    names = np.array([str(name) for name in values.items] if per is None else _periods(values, by, per))
    of_each = names[values.indices]
    first = of_each[values.indptr[:-1]]
    differs = np.flatnonzero(np.repeat(first, np.diff(values.indptr)) != of_each)
    if len(differs):
        row = int(np.searchsorted(values.indptr, differs[0], side="right")) - 1
        raise InvalidInputError(
            f"expected one value in column {by!r} for each transaction, got {str(first[row])!r} and "
            f"{str(of_each[differs[0]])!r} in transaction {row + 1:,}; choose a column that is the same in "
            "all its lines, or try --per"
        )
    groups: list[str] = first.tolist()
    return groups


def _rows_with(wanted: "pa.Array | None", ids: "pa.Array | None") -> list[int]:
    """Return the position of each wanted id that is there.

    A line without an item is no line of the data, but may well have a value in another column.
    """
    if wanted is None or ids is None:
        return []
    keys = (str(key) for key in ids.to_pylist())
    position = {key: row for row, key in enumerate(keys)}
    return [position[key] for key in map(str, wanted.to_pylist()) if key in position]


def _periods(values: "Transactions", by: str, per: str) -> list[str]:
    """Return the period of each time that occurs."""
    import pandas as pd

    try:
        times = pd.to_datetime(pd.Series([str(name) for name in values.items]), format="mixed")
    except (ValueError, TypeError):
        raise InvalidInputError(
            f"expected times in column {by!r} with --per, got {values.items[0]!r} and more; leave out --per"
        ) from None
    code = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D"}[per]
    return [str(period) for period in times.dt.to_period(code)]


# Data beside a model.

SIDES = ("both", "more", "less")
_BOTH = ("bh", "by")
_PANEL = "The test"

_Data = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        autocompletion=data_sources,
        help="Transactions that the model has not seen: a file, - or dataset:NAME:PART.",
    ),
]


@dataclasses.dataclass(frozen=True)
class Testing:
    """Which itemsets are tested, and how."""

    min_support: Annotated[
        str,
        option(
            "--min-support",
            "-s",
            panel=_PANEL,
            metavar="SUPPORT",
            help="The least support, in the data or expected: 0.01, 1% (the default), or a number like 20.",
        ),
    ] = "1%"
    level: Annotated[
        float,
        option("--level", panel=_PANEL, metavar="X", help="The share of false finds; 0.05 by default."),
    ] = 0.05
    side: Annotated[
        str,
        option(
            "--side",
            panel=_PANEL,
            metavar="|".join(SIDES),
            autocompletion=one_of(SIDES),
            help="Sets that are more frequent than expected, less, or both (the default).",
        ),
    ] = "both"
    adjust: Annotated[
        str,
        option(
            "--adjust",
            panel=_PANEL,
            metavar="|".join(_BOTH),
            autocompletion=one_of(_BOTH),
            help="How p-values are adjusted for many tests: bh (the default) or by.",
        ),
    ] = "bh"
    min_len: Annotated[
        int, option("--min-len", panel=_PANEL, metavar="N", help="The fewest items of a set; 2 by default.")
    ] = 2
    max_len: Annotated[
        int | None, option("--max-len", panel=_PANEL, metavar="N", help="The most items of a set.")
    ] = None
    threads: Annotated[
        int,
        option("--threads", "-j", panel=_PANEL, metavar="N", help="Threads; by default all processors."),
    ] = -1

    def __post_init__(self) -> None:
        check_choice("--side", self.side, SIDES)
        check_choice("--adjust", self.adjust, _BOTH)
        as_support(self.min_support)

    def as_arguments(self) -> dict[str, Any]:
        """Return the arguments of `itemix.surprises`."""
        return {
            "min_support": as_support(self.min_support),
            "level": self.level,
            "side": self.side,
            "adjust": self.adjust,
            "min_len": self.min_len,
            "max_len": self.max_len,
            "n_jobs": self.threads,
        }


def surprises(
    *,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            show_default=False,
            autocompletion=data_sources,
            help="A model that itemix fit has saved; or transactions, and no DATA.",
        ),
    ],
    data: _Data = None,
    also: Annotated[
        list[str] | None,
        option(
            "--also",
            panel=_PANEL,
            metavar="MODEL",
            help="Another model of the same data, from another --seed: what they do not agree on is unsure. "
            "May be repeated.",
        ),
    ] = None,
    testing: Testing,
    seed: Annotated[
        int,
        option("--seed", panel=_PANEL, metavar="N", help="The seed of division and fit; 0 by default."),
    ] = 0,
    reading: Reading,
    output: Output,
) -> None:
    """Find the itemsets that are more or less frequent than a model allows.

    The test knows how sure the model is. With transactions alone, a mixture is fitted to one half of them,
    and tested on the other. The most significant sets come first.
    """
    from itemix.estimators import surprises as test

    check_output(output)
    others = also or []
    refuse_repeated(model, *others, data, reading.names)
    quiet = output.quiet
    with opened(model, quiet=quiet) as found:
        source = read_model_or_data(found, reading, quiet=quiet)
    if others and data is None:
        raise InvalidInputError("expected --also with a model and data, got no data; name what is tested")
    several = [_model(other, reading, quiet) for other in others]
    tested = None if data is None else read_source(data, reading, quiet=quiet, beside=source)
    if data is not None and found.kind != "model":
        raise InvalidInputError(
            f"expected a model before the data, got {model!r}, which holds transactions; try itemix fit "
            f"{model} -o model.itemix"
        )
    with stopwatch(quiet=quiet) as watch:
        models = [source, *several] if several else source
        result = test(models, tested, **testing.as_arguments(), random_state=seed, progress=not quiet)
    _show(result, "surprise", watch.seconds(), output)


def summarise(
    *,
    data: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            show_default=False,
            autocompletion=data_sources,
            help="Transactions: a file, - or dataset:NAME.",
        ),
    ],
    n: Annotated[
        int, option("--most", "-k", panel=_PANEL, metavar="N", help="The most sets; 20 by default.")
    ] = 20,
    model: Annotated[
        str | None,
        option(
            "--model",
            panel=_PANEL,
            metavar="MODEL",
            help="What is known already: a model of other data; by default how frequent each item is.",
        ),
    ] = None,
    testing: Testing,
    reading: Reading,
    output: Output,
) -> None:
    """Explain transactions by the shortest list of itemsets.

    The set that tells most is taken, the model learns it, and all are tested again, until no set contradicts
    the model or there are enough. A set that follows from those before it is not taken.
    """
    from itemix.estimators import summarise as explain

    check_output(output)
    refuse_repeated(model, data, reading.names)
    quiet = output.quiet
    known = None if model is None else _model(model, reading, quiet)
    transactions = read_source(data, reading, quiet=quiet, beside=known)
    with stopwatch(quiet=quiet) as watch:
        result = explain(transactions, n, model=known, **testing.as_arguments())
    _show(result, "itemset", watch.seconds(), output)


def unusual(
    *,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            show_default=False,
            autocompletion=data_sources,
            help="A model that itemix fit has saved.",
        ),
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            show_default=False,
            autocompletion=data_sources,
            help="Transactions: a file, - or dataset:NAME:PART.",
        ),
    ],
    level: Annotated[
        float,
        option(
            "--level",
            panel=_PANEL,
            metavar="X",
            help="The p-value up to which transactions are shown, and their odd items named; 0.05.",
        ),
    ] = 0.05,
    simulated: Annotated[
        int,
        option(
            "--simulated",
            panel=_PANEL,
            metavar="N",
            help="How many transactions to draw from the model; 10,000 by default.",
        ),
    ] = 10_000,
    seed: Annotated[
        int, option("--seed", panel=_PANEL, metavar="N", help="The seed of the simulation; 0 by default.")
    ] = 0,
    reading: Reading,
    output: Output,
) -> None:
    """Find the transactions that are unusual for a model.

    The p-value of a transaction is the share of the model's own transactions that are as unusual. Items that
    are unexpected given the rest are named, and items that are missing. The most unusual come first.
    """
    check_output(output)
    refuse_repeated(model, data, reading.names)
    quiet = output.quiet
    fitted = _model(model, reading, quiet)
    transactions: Transactions = read_source(data, reading, quiet=quiet, beside=fitted)
    with stopwatch(quiet=quiet) as watch:
        every = fitted.unusual(transactions, level=level, n_simulated=simulated, random_state=seed)
    result = every.top(int((every.p_value <= level).sum()))
    _show(result, "transaction", watch.seconds(), output)


def _model(source: str, reading: Reading, quiet: bool) -> "FittedModel":
    with opened(source, quiet=quiet) as found:
        if found.kind != "model":
            raise InvalidInputError(
                f"expected a model that itemix fit has saved, got {source!r}; try itemix fit {source} -o "
                "model.itemix"
            )
        model: FittedModel = read_model_or_data(found, reading, quiet=quiet)  # type: ignore[assignment]
    return model
