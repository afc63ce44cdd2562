"""Sections of a report on patterns: itemsets, rules, and items that attract or avoid each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.core.display import plural
from itemix.mining.query import lift
from itemix.plot import (
    dependency_matrix,
    dependency_network,
    rules_scatter,
    support_agreement,
    support_distribution,
    top_itemsets,
)
from itemix.report.findings import LEVEL, MOST_ITEMSETS
from itemix.report.page import (
    Child,
    Section,
    as_percent,
    count,
    element,
    figure,
    item,
    itemset,
    number,
    paragraph,
    percent,
    ratio,
    table,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from itemix.core.items import Label
    from itemix.core.itemsets import Itemsets
    from itemix.mining.query import Dependency
    from itemix.mining.ruleset import Rule
    from itemix.report.findings import Findings


_SHOWN = 15


def itemsets(findings: Findings) -> Section:
    """Describe the itemsets that the model expects, and compare them with the data."""
    found = findings.itemsets
    min_len = 2 if found.lengths.max() > 1 else 1
    top = found.top(_SHOWN, min_len=min_len)
    parts = [paragraph(*_itemset_numbers(found), lead=True), paragraph(*_first(findings, top))]
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
    parts.append(_itemset_table(findings, top))
    if findings.exact is not None:
        parts += _against_data(findings)
    return Section("itemsets", "Itemsets", parts)


def _itemset_numbers(found: Itemsets) -> list[Child]:
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


def _itemset_table(findings: Findings, top: Itemsets) -> Element:
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


_STRONG = 2.0


def rules(findings: Findings) -> Section | None:
    """Describe the rules, if there are any."""
    found, best = findings.rules, findings.best_rules
    if len(found) == 0:
        return None
    parts = [
        paragraph(*_rule_numbers(findings), lead=True),
        paragraph(*_of_best(best[0])),
        figure(
            "rules",
            "Every rule by its support and its confidence. The further its colour is from the page's, the "
            "higher its lift; the numbered ones are named.",
            lambda ax: rules_scatter(found, ax=ax),
            height=4.7,
            narrow_height=4.4,
        ),
        _rule_table(list(best)),
    ]
    return Section("rules", "Rules", parts)


def _of_best(rule: Rule) -> list[Child]:
    return [
        "A rule of the highest lift: of the transactions with ",
        itemset(rule.antecedents),
        ", ",
        percent(rule.confidence),
        " hold ",
        itemset(rule.consequents),
        " too, ",
        ratio(rule.lift),
        " times the share among all transactions.",
    ]


def _rule_numbers(findings: Findings) -> list[Child]:
    found = findings.rules
    assert found.min_threshold is not None  # noqa: S101 - they were selected by it
    strong = int((found.lift >= _STRONG).sum())
    have = "rule has" if len(found) == 1 else "rules have"
    return [
        count(len(found)),
        f" {have} one item on the right, a confidence of at least {found.min_threshold:.0%} and a lift ",
        "above 1; ",
        count(strong),
        f" of them {'has' if strong == 1 else 'have'} a lift of {_STRONG:g} or more.",
    ]


def _rule_table(best: list[Rule]) -> Element:
    rows = [
        (
            element("span", itemset(rule.antecedents), " \N{RIGHTWARDS ARROW} ", itemset(rule.consequents)),
            percent(rule.support),
            percent(rule.confidence),
            ratio(rule.lift),
        )
        for rule in best
    ]
    caption = f"{plural(len(rows), 'rule')} of high lift, few for each item on the right"
    return table(caption, ("rule", "support", "confidence", "lift"), rows)


_LISTED = 12
_IN_MATRIX = 16
_IN_NETWORK = 30


def dependencies(findings: Findings) -> Section | None:
    """Describe the pairs of items that attract or avoid each other, if the model knows two items."""
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
    # The pictures would search all pairs themselves, which takes long if there are many items.
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
    parts += [_dependency_table("attract", attracting[:_LISTED])] if attracting else []
    parts += [_dependency_table("avoid", avoiding[:_LISTED])] if avoiding else []
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


def _dependency_table(verb: str, pairs: list[Dependency]) -> Element:
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
