"""``itemix report``: what a model has found, in one HTML file to send to somebody."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from itemix._files import is_standard_input, refuse_repeated
from itemix.cli.fit import Fitting, fitted, refuse_fitting
from itemix.cli.options import DATASET_PREFIX, ModelOrData, Quiet, Reading, as_support, option
from itemix.cli.output import note
from itemix.cli.sources import opened, read_data, read_model_or_data, read_source
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix._typing import ModelLike
    from itemix.core.transactions import Transactions

_REPORT = "The report"


def report(
    source: ModelOrData,
    output: Annotated[
        str | None,
        option(
            "--output", "-o", panel="Output", metavar="FILE", help="Where to write the report: report.html."
        ),
    ] = None,
    data: Annotated[
        str | None,
        option(
            "--data",
            panel=_REPORT,
            metavar="DATA",
            help="Transactions to compare a model with; those that it is fitted to by default.",
        ),
    ] = None,
    title: Annotated[
        str | None, option("--title", panel=_REPORT, metavar="TEXT", help="The heading of the report.")
    ] = None,
    min_support: Annotated[
        str | None,
        option(
            "--min-support",
            "-s",
            panel=_REPORT,
            metavar="SUPPORT",
            help="The least support of the itemsets: a fraction (0.01) or a percentage (1%). By default such "
            "that there are about a thousand.",
        ),
    ] = None,
    *,
    fitting: Fitting,
    reading: Reading,
    quiet: Quiet = False,
) -> None:
    """Write a report on a model as one HTML file.

    SOURCE is a model that itemix fit has saved; or transactions, to which a model is fitted first. The file
    needs no network and no other file, and holds no transactions.
    """
    if output is None:
        raise InvalidInputError(
            "expected -o with a file to write the report to, got none; try -o report.html"
        )
    from itemix._files import checked_target
    from itemix.plot.canvas import require_matplotlib

    require_matplotlib()
    checked_target(output)
    refuse_repeated(source, data, reading.names)
    threshold = as_support(min_support)
    model, beside = _model_and_data(source, data, fitting, reading, quiet=quiet)
    from itemix.report import write_report

    heading = _heading(source) if title is None else title
    write_report(model, output, data=beside, title=heading, min_support=threshold)
    size = Path(output).stat().st_size
    note(f"wrote {output}, {size / 1e6:.1f} MB: open it in a browser", quiet=quiet)


def _model_and_data(
    source: str, data: str | None, fitting: Fitting, reading: Reading, *, quiet: bool
) -> "tuple[ModelLike, Transactions | None]":
    """Return the model that a source names, or one fitted to its data, and what to compare it with."""
    with opened(source, quiet=quiet) as found:
        if found.kind == "model":
            refuse_fitting(fitting, source)
            saved = read_model_or_data(found, reading, quiet=quiet)
            return saved, None if data is None else read_source(data, reading, quiet=quiet, beside=saved)
        fitting.estimator()  # says what is wrong before the data is read
        transactions = read_data(found, reading, quiet=quiet)
    beside = transactions if data is None else read_source(data, reading, quiet=quiet, beside=transactions)
    return fitted(fitting, transactions, quiet=quiet), beside


def _heading(source: str) -> str:
    """Name a source without the folders that it lies in."""
    if is_standard_input(source):
        return "Report on transactions"
    return f"Report on {Path(source.removeprefix(DATASET_PREFIX)).name}"
