"""``itemix mine``: the frequent itemsets of transactions."""

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from itemix.cli.compiling import Stopwatch, stopwatch
from itemix.cli.completing import one_of
from itemix.cli.options import Output, Reading, Searching, Source, check_choice
from itemix.cli.output import more_rows, names_of, note, on_terminal, rows_shown, save, write_lines
from itemix.cli.sources import read_source

if TYPE_CHECKING:
    from itemix.itemsets import Itemsets
    from itemix.transactions import Transactions

SORTS = ("support", "length", "order")


def mine(
    source: Source,
    search: Searching,
    reading: Reading,
    output: Output,
    sort: Annotated[
        str,
        typer.Option(
            "--sort",
            metavar="|".join(SORTS),
            autocompletion=one_of(SORTS),
            show_default=False,
            rich_help_panel="Output",
            help="What is shown first: the highest support (the default), the longest sets, or the order of "
            "mining, which files always have.",
        ),
    ] = "support",
) -> None:
    """Find frequent itemsets, exactly.

    On a terminal the result is a table; in a pipe, lines with tabs between the columns; with -o, a file.
    """
    check_choice("--sort", sort, SORTS)
    search.check()
    with stopwatch() as watch:
        itemsets = mined(read_source(source, reading, output), search, output, watch)
    if not save(itemsets, "itemset", output):
        _show(itemsets, sort, output)


def mined(transactions: "Transactions", search: Searching, output: Output, watch: Stopwatch) -> "Itemsets":
    """Mine transactions, and say on standard error how many itemsets there are."""
    from itemix.display import plural
    from itemix.mining.search import mine as find

    began = watch.seconds()
    itemsets = find(transactions, **search.as_arguments(), progress=True)
    seconds = watch.seconds() - began
    kind = "" if search.target == "all" else f"{search.target} "
    threshold = ""
    if search.min_support is not None and itemsets.min_support is not None:
        n = transactions.n_transactions
        least = round(itemsets.min_support * n)
        threshold = f" in at least {least:,} of {n:,} transactions ({itemsets.min_support:.3%})"
    note(f"{plural(len(itemsets), f'{kind}itemset')}{threshold}, mined in {seconds:.2f} s", output)
    return itemsets


def _show(itemsets: "Itemsets", sort: str, output: Output) -> None:
    n = rows_shown(len(itemsets), output)
    shown = _sorted(itemsets, sort, n)
    if on_terminal():
        from itemix.cli.page import Page

        table = dataclasses.replace(shown.table(n), footer=more_rows(len(itemsets) - n))
        Page().table(table, bars=(shown.support / max(shown.support.max(initial=0), 1e-300)).tolist())
        return
    columns = {"support": [f"{value:.6g}" for value in shown.support.tolist()]}
    if shown.count is not None:
        columns["count"] = [str(value) for value in shown.count.tolist()]
    write_lines([*columns, "itemset"], zip(*columns.values(), names_of(shown.sets), strict=True))


def _sorted(itemsets: "Itemsets", sort: str, n: int) -> "Itemsets":
    """Return the first n itemsets in some order."""
    import numpy as np

    if sort == "support":
        return itemsets.top(n)
    if sort == "length":
        return itemsets.take(np.lexsort((-itemsets.support, -itemsets.lengths))[:n])
    return itemsets[:n]
