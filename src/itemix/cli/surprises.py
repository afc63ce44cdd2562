"""``itemix surprises``, ``summarise`` and ``unusual``: what a model does not know of data."""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itemix._files import refuse_repeated
from itemix.cli.options import Output, Reading, as_support, check_choice, data_sources, one_of, option
from itemix.cli.output import check_output, note, save, show_table, stopwatch
from itemix.cli.sources import opened, read_model_or_data, read_source
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions
    from itemix.fitted import FittedModel

SIDES = ("both", "more", "less")
ADJUSTMENTS = ("bh", "by")
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
            metavar="|".join(ADJUSTMENTS),
            autocompletion=one_of(ADJUSTMENTS),
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
        check_choice("--adjust", self.adjust, ADJUSTMENTS)
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
    refuse_repeated(model, data, reading.names)
    quiet = output.quiet
    with opened(model, quiet=quiet) as found:
        source = read_model_or_data(found, reading, quiet=quiet)
    tested = None if data is None else read_source(data, reading, quiet=quiet, beside=source)
    if data is not None and found.kind != "model":
        raise InvalidInputError(
            f"expected a model before the data, got {model!r}, which holds transactions; try itemix fit "
            f"{model} -o model.itemix"
        )
    with stopwatch(quiet=quiet) as watch:
        result = test(source, tested, **testing.as_arguments(), random_state=seed, progress=not quiet)
    note(f"{result.table(0).title}, found in {watch.seconds():.2f} s", quiet=quiet)
    if not save(result, "surprise", output):
        show_table(result, output.limit)


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

    The set that tells most is taken, the model learns it, and all are tested again, until nothing contradicts
    or there are enough. What follows from the sets before is not taken.
    """
    from itemix.estimators import summarise as explain

    check_output(output)
    refuse_repeated(model, data, reading.names)
    quiet = output.quiet
    known = None if model is None else _model(model, reading, quiet)
    transactions = read_source(data, reading, quiet=quiet, beside=known)
    with stopwatch(quiet=quiet) as watch:
        result = explain(transactions, n, model=known, **testing.as_arguments())
    note(f"{result.table(0).title}, found in {watch.seconds():.2f} s", quiet=quiet)
    if not save(result, "itemset", output):
        show_table(result, output.limit)


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
            help="The p-value up to which transactions are shown, and their odd items told; 0.05.",
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

    The p-value of a transaction is the share of the model's own that are as unusual. Items that are
    unexpected given the rest are told, and items that are missing. The most unusual come first.
    """
    check_output(output)
    refuse_repeated(model, data, reading.names)
    quiet = output.quiet
    fitted = _model(model, reading, quiet)
    transactions: Transactions = read_source(data, reading, quiet=quiet, beside=fitted)
    with stopwatch(quiet=quiet) as watch:
        every = fitted.unusual(transactions, level=level, n_simulated=simulated, random_state=seed)
    result = every.top(int((every.p_value <= level).sum()))
    note(f"{result.table(0).title}, found in {watch.seconds():.2f} s", quiet=quiet)
    if not save(result, "transaction", output):
        show_table(result, output.limit)


def _model(source: str, reading: Reading, quiet: bool) -> "FittedModel":
    with opened(source, quiet=quiet) as found:
        if found.kind != "model":
            raise InvalidInputError(
                f"expected a model that itemix fit has saved, got {source!r}; try itemix fit {source} -o "
                "model.itemix"
            )
        model: FittedModel = read_model_or_data(found, reading, quiet=quiet)  # type: ignore[assignment]
    return model
