"""``itemix show``: what a saved model has found, in words; or the itemsets or rules of a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itemix.cli import models
from itemix.cli.options import Quiet, option
from itemix.cli.output import note, on_terminal, write_lines
from itemix.cli.sources import read_result
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.itemsets import Itemsets
    from itemix.mining.rules import Rules
    from itemix.mixture import Mixture
    from itemix.storage.stored import StoredModel

_ROWS = 20


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
    quiet: Quiet = False,
) -> None:
    """Show what a model has found.

    The components come largest first, each with the items that tell it from the others: how probable they are
    in it, and how many times as probable as overall. Of a model that was sampled, the components of the last
    sample are shown. For a file of itemsets or rules, its first rows are shown.
    """
    if limit < 0:
        raise InvalidInputError(f"expected --limit as a number of rows, got {limit}; try 0 for all")
    result = read_result(file)
    if result is not None:
        _show_result(file, result, limit, quiet)
        return
    model = _read_model(file)
    note(models.summary(model), quiet=quiet)
    from itemix.mining.characteristics import characteristic_items

    components = model.components
    order = (-components.weights).argsort(kind="stable")
    shown = order[: len(order) if limit == 0 else limit].tolist()
    if on_terminal():
        _draw(components, shown, items, len(order) - len(shown))
        return
    write_lines(
        ["component", "weight", "item", "probability", "lift"],
        (
            [str(number), f"{components.weights[k]:.6g}", str(name), f"{probability:.6g}", f"{lift:.6g}"]
            for number, k in enumerate(shown, start=1)
            for name, probability, lift in characteristic_items(components, k, items)
        ),
    )


def _show_result(file: str, result: "Itemsets | Rules", limit: int, quiet: bool) -> None:
    from itemix.cli.results import show_itemsets, show_rules
    from itemix.itemsets import Itemsets

    note(f"{file}: {result.table(0).title.partition(': ')[2]}", quiet=quiet)
    if isinstance(result, Itemsets):
        show_itemsets(result, limit)
    else:
        show_rules(result, limit)


def _read_model(file: str) -> "StoredModel":
    from itemix.storage.stored import StoredModel
    from itemix.tensor_files import is_model_file

    if Path(file).is_file() and not file.endswith(models.SUFFIX) and not is_model_file(file):
        raise InvalidInputError(
            f"expected a model, itemsets or rules, got {file!r}, which is something else; for transactions "
            "try itemix mine"
        )
    return StoredModel(file)


def _draw(components: "Mixture", shown: list[int], n_items: int, n_left_out: int) -> None:
    from itemix.cli.page import Page
    from itemix.display import Table

    rows = tuple((f"{components.weights[k]:.1%}", in_words(components, k, n_items)) for k in shown)
    largest = components.weights[shown[0]]
    Page().table(
        Table(
            "",
            ("weight", "mostly"),
            rows,
            f"... {n_left_out:,} more: --limit 0 shows all" if n_left_out else "",
        ),
        bars=[float(components.weights[k] / largest) for k in shown],
    )


def in_words(components: "Mixture", component: int, n_items: int) -> str:
    """Name the items that are typical of a component, each with its probability there."""
    from itemix.display import format_name
    from itemix.mining.characteristics import characteristic_items

    typical = characteristic_items(components, component, n_items)
    return (
        ", ".join(f"{format_name(item)} {probability:.0%}" for item, probability, _ in typical) or "anything"
    )
