"""``itemix query``: the probability of items, from a model or counted in data."""

from typing import TYPE_CHECKING, Annotated

import typer

from itemix._files import refuse_repeated
from itemix.cli.options import AsJson, ModelOrData, Quiet, Reading, option
from itemix.cli.output import on_terminal, write_object, write_rows
from itemix.cli.sources import opened, read_model_or_data
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions
    from itemix.fitted import FittedModel
    from itemix.models.mixture import Mixture

_EVENT = "The question"

EventNames = dict[str, list[str]]


def query(
    *,
    source: ModelOrData,
    items: Annotated[
        list[str] | None,
        typer.Argument(metavar="ITEM...", show_default=False, help="Items that are present together."),
    ] = None,
    absent: Annotated[
        list[str] | None,
        option("--absent", panel=_EVENT, metavar="ITEM", help="An item that is absent; may be repeated."),
    ] = None,
    given: Annotated[
        list[str] | None,
        option("--given", panel=_EVENT, metavar="ITEM", help="An item known to be present; may be repeated."),
    ] = None,
    given_absent: Annotated[
        list[str] | None,
        option(
            "--given-absent",
            panel=_EVENT,
            metavar="ITEM",
            help="An item known to be absent; may be repeated.",
        ),
    ] = None,
    level: Annotated[
        float,
        option(
            "--level",
            panel=_EVENT,
            metavar="X",
            help="The probability inside the credible interval of a Bayesian model; 0.9 by default.",
        ),
    ] = 0.9,
    reading: Reading,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Ask for the probability of items.

    SOURCE is a model that itemix fit has saved, or transactions, in which the answer is counted. Shown is the
    probability that the items are present together (and others absent), given the items that are known. With
    a condition, the probability without it is shown too, and the lift: how many times as large it is with it.
    """
    event: EventNames = {"itemset": items or [], "absent": absent or []}
    condition: EventNames = {"given": given or [], "given_absent": given_absent or []}
    if not any(event.values()):
        raise InvalidInputError(
            "expected items to ask for, got none; try itemix query SOURCE milk --given bread"
        )
    refuse_repeated(source, reading.names)
    with opened(source, quiet=quiet) as found:
        asked = read_model_or_data(found, reading, quiet=quiet)
    row = _answer(asked, event, condition, level)
    if json:
        write_object(row)
    elif on_terminal():
        _draw(
            row,
            _words(event["itemset"], event["absent"]),
            _words(condition["given"], condition["given_absent"]),
        )
    else:
        write_rows(list(row), [list(row.values())], as_json=False)


def _answer(
    asked: "FittedModel | Transactions", event: EventNames, condition: EventNames, level: float
) -> dict[str, float]:
    """Return the numbers to show, by the headers of their columns."""
    from itemix.fitted import FittedModel
    from itemix.mining.intervals import interval

    error_source = asked.error_source if isinstance(asked, FittedModel) else None
    model = asked.model if isinstance(asked, FittedModel) else _counted(asked, event, condition)
    row = {"probability": model.probability(**event, **condition)}
    if error_source:
        found = interval(
            error_source,
            event["itemset"],
            absent=event["absent"],
            given=condition["given"],
            given_absent=condition["given_absent"],
            level=level,
        )
        row |= {"lower": found.lower, "upper": found.upper}
    if any(condition.values()):
        row["unconditional"] = model.probability(**event)
        row["lift"] = row["probability"] / row["unconditional"] if row["unconditional"] else float("nan")
    return row


def _counted(transactions: "Transactions", event: EventNames, condition: EventNames) -> "Mixture":
    """Return the data as a mixture of its different transactions: few, with only the items asked for."""
    from itemix.models.mixture import Mixture

    named = [name for names in (*event.values(), *condition.values()) for name in names]
    counted = Mixture.from_transactions(transactions.select_items(named).merge_identical())
    if counted.probability(condition["given"], absent=condition["given_absent"]) == 0:
        raise InvalidInputError(
            f"expected transactions with {_words(condition['given'], condition['given_absent'])}, got none; "
            "leave out one of these items, or fit a model"
        )
    return counted


def _draw(row: dict[str, float], event: str, condition: str) -> None:
    from itemix.cli.output import Page
    from itemix.core.display import Table, format_number

    question = f"P({event} | {condition})" if condition else f"P({event})"
    cells = (*(format_number(value) for value in row.values()), question)
    Page().table(Table("", (*row, ""), (cells,)))


def _words(present: list[str], absent: list[str]) -> str:
    return ", ".join([*present, *(f"no {name}" for name in absent)])
