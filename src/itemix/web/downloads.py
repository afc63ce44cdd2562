"""All itemsets or rules that a view shows a page of, as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemix.core.tables import TableColumns, write
from itemix.web.views import patterns

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from itemix.core.sets import Sets
    from itemix.web.served import Served

FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def write_itemsets(served: Served, asked: patterns.ItemsetsChosen, path: Path) -> None:
    """Write the itemsets in the order of the table, each with its interval and its support in the data."""
    found = patterns.choose_itemsets(served, asked)
    order = patterns.page_of(found, asked, 0, len(found.positions))
    chosen = found.family.itemsets.take(order)
    values: dict[str, Sets | npt.NDArray[Any]] = {
        "support": chosen.support,
        "itemsets": chosen.sets,
        "length": chosen.lengths,
        "lift": found.family.lift[order],
    }
    ends = served.intervals(chosen, asked.level) if len(chosen) else None
    if ends is not None:
        values |= {"lower": ends[0], "upper": ends[1]}
    exact = served.exact_support(chosen.sets)
    if exact is not None:
        values["exact"] = exact
    facts = {"n_transactions": None, "min_support": asked.min_support, "target": None}
    write(TableColumns("itemsets", chosen.items, values, facts), path)


def write_rules(served: Served, asked: patterns.RulesChosen, path: Path) -> None:
    """Write the rules in the order of the table, with all measures."""
    found, positions = patterns.choose_rules(served, asked)
    found.take(patterns.ranked(found, positions, asked, 0, len(positions))).save(path)
