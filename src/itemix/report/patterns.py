"""Itemsets: what the model expects, and how that compares with the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.core.display import plural
from itemix.mining.query import lift
from itemix.plot import support_agreement, support_distribution, top_itemsets
from itemix.report.findings import LEVEL, MOST_ITEMSETS
from itemix.report.markup import Child, as_percent, count, itemset, number, percent, ratio, table
from itemix.report.page import figure
from itemix.report.sections import Section, paragraph

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from itemix.core.itemsets import Itemsets
    from itemix.report.findings import Findings

_SHOWN = 15


def itemsets(findings: Findings) -> Section:
    """Tell of the itemsets."""
    found = findings.itemsets
    min_len = 2 if found.lengths.max() > 1 else 1
    top = found.top(_SHOWN, min_len=min_len)
    parts = [paragraph(*_numbers(found), lead=True), paragraph(*_first(findings, top))]
    parts.append(
        figure(
            "supports",
            "How many itemsets the model expects at every threshold, all and by length.",
            lambda ax: support_distribution(found, ax=ax),
            height=3.4,
            narrow_height=3.0,
        )
    )
    parts.append(_picture_of_top(findings, top, min_len))
    parts.append(_table(findings, top))
    if findings.exact is not None:
        parts += _against_data(findings)
    return Section("itemsets", "Itemsets", parts)


def _numbers(found: Itemsets) -> list[Child]:
    least = _threshold(found)
    lengths, counts = np.unique(found.lengths, return_counts=True)
    words: list[Child] = [
        "At a support of at least ",
        number(least, f"{100 * least:.3g}%"),
        " the model expects ",
        count(len(found)),
        f" {'itemset' if len(found) == 1 else 'itemsets'}",
    ]
    if len(lengths) > 1:
        usual = int(lengths[counts.argmax()])
        words += [
            " of up to ",
            count(int(lengths[-1])),
            " items; most, ",
            count(int(counts.max())),
            f", have {plural(usual, 'item')}",
        ]
    if 2 * least > 1:
        return [*words, "."]
    higher = int((found.support >= 2 * least - 1e-12).sum())
    return [*words, ". At twice this threshold there would be ", count(higher), "."]


def _first(findings: Findings, top: Itemsets) -> list[Child]:
    names, support, _ = top[0]
    words: list[Child] = [
        "The most probable ",
        "one of two or more items" if len(names) > 1 else "one",
        " is ",
    ]
    words += [itemset(names), ", in ", percent(support), " of the transactions"]
    if top.lower is not None and top.upper is not None:
        ends = percent(float(top.lower[0])), percent(float(top.upper[0]))
        words += [f" ({LEVEL:.0%} interval ", ends[0], " to ", ends[1], ")"]
    if len(names) > 1:
        words += [
            ", ",
            ratio(lift(findings.model, names)),
            " times as often as if its items were independent",
        ]
    return [*words, "."]


def _picture_of_top(findings: Findings, top: Itemsets, min_len: int) -> Element:
    kind = " of two or more items" if min_len > 1 else ""
    description = f"The {plural(len(top), 'itemset')}{kind} of the highest support"
    if top.lower is not None:
        description += f", with {LEVEL:.0%} intervals"
    description += "." if findings.data is None else ", and their exact supports in the data."
    return figure(
        "top",
        description,
        lambda ax: top_itemsets(top, _SHOWN, data=findings.data, ax=ax),
        height=0.9 + 0.23 * len(top),
        narrow_height=0.9 + 0.25 * len(top),
    )


def _table(findings: Findings, top: Itemsets) -> Element:
    columns: dict[str, list[Child]] = {
        "itemset": [itemset(names) for names in top.sets],
        "support": [percent(value) for value in top.support.tolist()],
    }
    if top.lower is not None and top.upper is not None:
        ends = zip(top.lower.tolist(), top.upper.tolist(), strict=True)
        columns[f"{LEVEL:.0%} interval"] = [f"{as_percent(low)} to {as_percent(high)}" for low, high in ends]
    if findings.exact is not None:
        exact = findings.exact[findings.itemsets.positions(top.offsets, top.codes)]
        columns["in the data"] = [percent(value) for value in exact.tolist()]
    columns["lift"] = [ratio(lift(findings.model, names)) for names in top.sets]
    return table(f"The {plural(len(top), 'top itemset')}", list(columns), zip(*columns.values(), strict=True))


def _against_data(findings: Findings) -> list[Element]:
    """Compare the supports of all itemsets with those in the data."""
    found, exact, missed = findings.itemsets, findings.exact, findings.missed
    assert exact is not None  # noqa: S101 - asked only then
    there = exact > 0
    relative = (found.support[there] - exact[there]) / exact[there]
    n_true = int((exact >= _threshold(found) - 1e-12).sum())
    words: list[Child] = ["Counted in the data, "]
    if len(relative):
        error, bias = float(np.abs(relative).mean()), float(relative.mean())
        words += ["these supports are off by ", percent(error), " of their value on average, and too "]
        words += ["high" if bias > 0 else "low", " by ", percent(abs(bias)), ". "]
    words += [count(n_true), " of the ", count(len(found))]
    words += [f" {'is' if n_true == 1 else 'are'} frequent there too, and "]
    others = f"more than {MOST_ITEMSETS:,}" if missed is None else count(missed)
    words += [others, f" {'other is' if missed == 1 else 'others are'}, which the model does not expect."]
    picture = figure(
        "agreement",
        "The support of every expected itemset in the model and in the data: on the line both are the same. "
        "The stronger the colour, the more itemsets.",
        lambda ax: support_agreement(found, findings.data, ax=ax),
        height=4.6,
        narrow_height=3.6,
    )
    return [paragraph(*words), picture]


def _threshold(found: Itemsets) -> float:
    assert found.min_support is not None  # noqa: S101 - they were mined at one
    return found.min_support
