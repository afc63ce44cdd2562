"""Itemsets and rules as people and pipes get them: a table on a terminal, lines with tabs elsewhere."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from itemix.cli.output import more_rows, names_of, on_terminal, rows_shown, write_lines

if TYPE_CHECKING:
    from itemix.core.itemsets import Itemsets
    from itemix.mining.rules import Rules

SORTS = ("support", "length", "order")


def show_itemsets(itemsets: Itemsets, limit: int | None, sort: str = "order") -> None:
    """Show the first itemsets in some order."""
    n = rows_shown(len(itemsets), limit)
    shown = _sorted(itemsets, sort, n)
    if on_terminal():
        from itemix.cli.page import Page

        table = dataclasses.replace(shown.table(n), title="", footer=more_rows(len(itemsets) - n))
        Page().table(table, bars=(shown.support / max(shown.support.max(initial=0), 1e-300)).tolist())
        return
    numbers = {"support": shown.support, "lower": shown.lower, "upper": shown.upper}
    columns = {
        name: [f"{value:.6g}" for value in values.tolist()]
        for name, values in numbers.items()
        if values is not None
    }
    if shown.count is not None:
        columns["count"] = [str(value) for value in shown.count.tolist()]
    write_lines([*columns, "itemset"], zip(*columns.values(), names_of(shown.sets), strict=True))


def show_rules(rules: Rules, limit: int | None) -> None:
    """Show the first rules, with the measure that selected them."""
    from itemix.mining.rule_columns import usual_measures

    n = rows_shown(len(rules), limit)
    shown = rules[:n]
    usual = usual_measures(shown)
    extra = [name for name in (rules.metric,) if name is not None and name not in usual]
    if on_terminal():
        _draw_rules(shown, extra, len(rules) - n)
        return
    columns = {name: [f"{value:.6g}" for value in shown.measure(name).tolist()] for name in (*usual, *extra)}
    if shown.count is not None:
        columns["count"] = [str(value) for value in shown.count.tolist()]
    write_lines(
        [*columns, "antecedents", "consequents"],
        zip(*columns.values(), names_of(shown.antecedents), names_of(shown.consequents), strict=True),
    )


def _draw_rules(shown: Rules, extra: list[str], n_left_out: int) -> None:
    from itemix.cli.page import Page
    from itemix.core.display import format_number

    table = shown.table(len(shown))
    cells = [[format_number(value) for value in shown.measure(name)] for name in extra]
    rows = tuple((*(column[r] for column in cells), *row) for r, row in enumerate(table.rows))
    headers = (*extra, *table.headers)
    Page().table(
        dataclasses.replace(table, title="", headers=headers, rows=rows, footer=more_rows(n_left_out))
    )


def _sorted(itemsets: Itemsets, sort: str, n: int) -> Itemsets:
    """Return the first n itemsets in some order."""
    import numpy as np

    if sort == "support":
        return itemsets.top(n)
    if sort == "length":
        return itemsets.take(np.lexsort((-itemsets.support, -itemsets.lengths))[:n])
    return itemsets[:n]
