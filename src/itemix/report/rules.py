"""Rules: what follows from what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemix.core.display import plural
from itemix.plot import rules_scatter
from itemix.report.markup import Child, count, element, itemset, percent, ratio, table
from itemix.report.page import figure
from itemix.report.sections import Section, paragraph

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from itemix.mining.ruleset import Rule
    from itemix.report.findings import Findings

_STRONG = 2.0


def rules(findings: Findings) -> Section | None:
    """Tell of the rules, if there are any."""
    found, best = findings.rules, findings.best_rules
    if len(found) == 0:
        return None
    parts = [
        paragraph(*_numbers(findings), lead=True),
        paragraph(*_of_best(best[0])),
        figure(
            "rules",
            "Every rule by its support and its confidence. The further its colour is from the page's, the "
            "higher its lift; the numbered ones are named.",
            lambda ax: rules_scatter(found, ax=ax),
            height=4.7,
            narrow_height=4.4,
        ),
        _table(list(best)),
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


def _numbers(findings: Findings) -> list[Child]:
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


def _table(best: list[Rule]) -> Element:
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
