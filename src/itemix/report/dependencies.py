"""Dependencies: items that attract or avoid each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemix.core.display import plural
from itemix.plot import dependency_matrix, dependency_network
from itemix.report.markup import Child, item, itemset, number, percent, ratio, table
from itemix.report.page import figure
from itemix.report.sections import Section, paragraph

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from itemix.core.items import Label
    from itemix.mining.query import Dependency
    from itemix.report.findings import Findings


_LISTED = 12
_IN_MATRIX = 16
_IN_NETWORK = 30


def dependencies(findings: Findings) -> Section | None:
    """Tell of the pairs of items, if the model knows two items."""
    if findings.model.n_items < 2:
        return None
    attracting, avoiding = findings.attracting, findings.avoiding
    if not attracting and not avoiding:
        words = "In this model no item depends on another: it says nothing of what occurs together."
        return Section("dependencies", "Dependencies", [paragraph(words, lead=True)])
    parts = []
    if attracting:
        parts.append(paragraph("The strongest attraction is between ", *_of_pair(attracting[0]), lead=True))
    if avoiding:
        parts.append(
            paragraph("The strongest avoidance is between ", *_of_pair(avoiding[0]), lead=not attracting)
        )
    else:
        parts.append(paragraph("No two items avoid each other."))
    model = findings.model
    # The pictures' own search over all pairs would take long where there are many items.
    names = _items_of(attracting + avoiding)
    parts += [
        figure(
            "network",
            "The pairs of items that depend most on each other. The wider a line, the stronger; the larger a "
            "dot, the more frequent the item.",
            lambda ax: dependency_network(model, _IN_NETWORK, items=names, ax=ax),
            height=5.4,
            narrow_height=3.9,
        ),
        figure(
            "matrix",
            "How many times as often pairs of items occur together as independent ones would. A minus marks "
            "pairs that avoid each other.",
            lambda ax: dependency_matrix(model, items=names[:_IN_MATRIX], ax=ax),
            height=5.4,
            narrow_height=4.1,
        ),
    ]
    parts += [_table("attract", attracting[:_LISTED])] if attracting else []
    parts += [_table("avoid", avoiding[:_LISTED])] if avoiding else []
    return Section("dependencies", "Dependencies", parts)


def _items_of(pairs: list[Dependency]) -> list[Label]:
    """Return the items of the pairs that are drawn, those of the strongest first."""
    strongest = sorted(pairs, key=lambda pair: -pair.information)[:_IN_NETWORK]
    return list(dict.fromkeys(name for pair in strongest for name in (pair.item, pair.other)))


def _of_pair(pair: Dependency) -> list[Child]:
    return [
        item(pair.item),
        " and ",
        item(pair.other),
        ". Both are in ",
        percent(pair.probability),
        " of the transactions, where independent items would be in ",
        percent(pair.expected),
        ": ",
        ratio(pair.lift),
        " times as often.",
    ]


def _table(verb: str, pairs: list[Dependency]) -> Element:
    rows = [
        (
            itemset([pair.item, pair.other]),
            percent(pair.probability),
            percent(pair.expected),
            ratio(pair.lift),
            number(pair.information, f"{pair.information:.4f}"),
        )
        for pair in pairs
    ]
    headers = ("items", "together", "by chance", "lift", "bits")
    return table(f"The {plural(len(rows), 'pair')} that {verb} each other most", headers, rows)
