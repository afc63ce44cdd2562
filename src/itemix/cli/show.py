"""``itemix show``: what a saved model has found, in words; or the itemsets or rules of a file."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from itemix._files import is_regular, is_stream
from itemix.cli import sources
from itemix.cli.options import AsJson, Quiet, option
from itemix.cli.output import note, on_terminal, write_rows
from itemix.cli.sources import Opened, opened, read_model, read_result
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.core.itemsets import Itemsets
    from itemix.fitted import FittedModel
    from itemix.mining.rules import Rules
    from itemix.models.causes import AnyComponents

_ROWS = 20
# How many letters the numbers of components take.
_BESIDE = 32
# Less mutual information than this, in bits, is only rounding.
_ROUNDING = 1e-12


def show(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", show_default=False, help="A model, or itemsets or rules in a file."),
    ],
    limit: Annotated[
        int,
        option(
            "--limit",
            "-n",
            panel="Output",
            metavar="N",
            help="The most rows to show, 0 for all; 20 by default.",
        ),
    ] = _ROWS,
    items: Annotated[
        int,
        option(
            "--items", panel="Output", metavar="N", help="Items to name for each component; 6 by default."
        ),
    ] = 6,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what a model has found.

    The components come largest first, each with the number of items that its transactions have on average,
    and the items that tell it from the others: how probable they are in it, and how many times as probable as
    overall. Of a model that was sampled, the components are averages over the samples. Of a model without
    components, the pairs of items that depend most on each other are shown, or single items if none do. Of a
    file of itemsets or rules, the first rows are shown.
    """
    if limit < 0:
        raise InvalidInputError(f"expected --limit as a number of rows, got {limit}; try 0 for all")
    with opened(file, quiet=quiet) as found:
        result = read_result(found)
        if result is not None:
            if json:
                sys.stdout.write(result.head(limit or len(result)).to_json())
            else:
                _show_result(file, result, limit, quiet)
            return
        model = _read_model(found)
    note(sources.model_summary(file, model), quiet=quiet)
    if model.training is not None and model.training.prior is not None:
        note(f"prior: {model.training.prior.in_words()}", quiet=quiet)
    components = model.components
    if components is None or (components.n_components == 1 and not model.n_components_of_samples):
        _show_pairs(model, limit, as_json=json, quiet=quiet)
        return
    order = (-components.weights).argsort(kind="stable")
    shown = order[: len(order) if limit == 0 else limit].tolist()
    if on_terminal() and not json:
        _draw(components, shown, items, len(order) - len(shown))
        return
    headers = ["component", "weight", "item", "probability", "lift"]
    write_rows(headers, _lines(components, shown, items), as_json=json)


def _lines(components: "AnyComponents", shown: list[int], n_items: int) -> "Iterator[list[object]]":
    """Yield a line for each typical item of each component, and one without an item if it has none."""
    from itemix.mining.characteristics import characteristic_items

    for number, k in enumerate(shown, start=1):
        own = [number, float(components.weights[k])]
        typical = characteristic_items(components, k, n_items)
        for name, probability, lift in typical:
            yield [*own, name, float(probability), float(lift)]
        if not typical:
            yield [*own, None, None, None]


def _show_pairs(model: "FittedModel", limit: int, *, as_json: bool, quiet: bool) -> None:
    """Show the pairs of items that depend most on each other."""
    from itemix.core.display import Table, format_name, format_number
    from itemix.mining.query import dependencies

    n_items = model.value.n_items
    n_pairs = n_items * (n_items - 1) // 2
    pairs = [pair for pair in dependencies(model.model, limit or n_pairs) if pair.information > _ROUNDING]
    if not pairs:
        note("no two items depend on each other in it", quiet=quiet)
        _show_items(model, limit, as_json=as_json)
        return
    if as_json or not on_terminal():
        numbers = ["probability", "lift", "information"]
        rows = ([pair.item, pair.other, *(float(getattr(pair, name)) for name in numbers)] for pair in pairs)
        write_rows(["item", "other", *numbers], rows, as_json=as_json)
        return
    from itemix.cli.output import Page

    cells = tuple(
        (
            format_number(pair.probability),
            format_number(pair.lift),
            f"{format_name(pair.item)}, {format_name(pair.other)}",
        )
        for pair in pairs
    )
    Page().table(Table("", ("probability", "lift", "depend on each other"), cells))


def _show_items(model: "FittedModel", limit: int, *, as_json: bool) -> None:
    """Show the most probable items."""
    from itemix.cli.output import Page
    from itemix.core.display import Table, format_name, format_number

    probability, items = model.model.item_probabilities, model.model.items
    shown = (-probability).argsort(kind="stable")[: limit or None].tolist()
    if as_json or not on_terminal():
        rows = ([items[code], float(probability[code])] for code in shown)
        write_rows(["item", "probability"], rows, as_json=as_json)
        return
    cells = tuple((format_number(float(probability[code])), format_name(items[code])) for code in shown)
    n_left_out = len(items) - len(shown)
    more = f"... {n_left_out:,} more: --limit 0 shows all" if n_left_out else ""
    Page().table(Table("", ("probability", "item"), cells, more))


def _show_result(file: str, result: "Itemsets | Rules", limit: int, quiet: bool) -> None:
    from itemix.cli.output import show_itemsets, show_rules
    from itemix.core.itemsets import Itemsets

    note(f"{file}: {result.table(0).title.partition(': ')[2]}", quiet=quiet)
    if isinstance(result, Itemsets):
        show_itemsets(result, limit)
    else:
        show_rules(result, limit)


def _read_model(source: Opened) -> "FittedModel":
    if source.kind is None and (is_regular(source.name) or is_stream(source.name)):
        raise InvalidInputError(
            f"expected a model, itemsets or rules, got {source.name!r}, which is something else; for "
            "transactions try itemix mine"
        )
    return read_model(source)


def _draw(components: "AnyComponents", shown: list[int], n_items: int, n_left_out: int) -> None:
    from itemix.cli.output import Page
    from itemix.core.display import Table
    from itemix.fitted import ComponentsTable
    from itemix.mining.characteristics import in_words

    more = f"... {n_left_out:,} more: --limit 0 shows all" if n_left_out else ""
    if components.items.bins is not None:  # of a table, which has columns
        found = ComponentsTable.of(components, None, n_items).table(len(shown), width=Page().width - _BESIDE)
        if found.headers[-1] != "mostly":
            Page().table(replace(found, title="", footer=more))
            return
    rows = tuple(
        (f"{components.probs[k].sum():.1f}", f"{components.weights[k]:.1%}", in_words(components, k, n_items))
        for k in shown
    )
    largest = components.weights[shown[0]]
    Page().table(
        Table(
            "",
            ("items", "weight", "mostly"),
            rows,
            more,
        ),
        bars=[float(components.weights[k] / largest) for k in shown],
    )
