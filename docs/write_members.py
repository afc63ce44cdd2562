"""Write docs/members.md: every public attribute of every public class, from the docstrings.

python docs/write_members.py

A test compares the page with what this script would write.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import itemix

PAGE = Path(__file__).with_name("members.md")
# Classes of what public functions return, which have no name of their own in `itemix`.
RETURNED = (
    "itemix.core.transactions.Description",
    "itemix.data.catalogue.DatasetInfo",
    "itemix.core.sets.Sets",
    "itemix.core.itemsets.Itemset",
    "itemix.mining.ruleset.Rule",
    "itemix.mining.recommend.Recommendations",
    "itemix.mining.recommend.RuleRecommendation",
    "itemix.mining.intervals.Interval",
    "itemix.mining.query.Recommendation",
    "itemix.evaluation.recommendations.RankingScore",
    "itemix.models.affinity.Affinity",
    "itemix.models.calibration.Calibration",
    "itemix.mining.query.Dependency",
    "itemix.mining.query.Explanation",
    "itemix.mining.query.Contribution",
    "itemix.mining.verification.Verification",
    "itemix.models.posterior.Posterior",
    "itemix.inference.priors.Prior",
    "itemix.models.counts.Counts",
    "itemix.inference.selection.Selection",
    "itemix.inference.chains.Chains",
    "itemix.correction.Choice",
    "itemix.fitted.FittedModel",
    "itemix.fitted.Training",
)
_BEGINNING = """# Members of the public classes

Every public attribute and method of the classes behind [the public names](reference.md), in one line each;
docstrings say more (`help(itemix.Itemsets.filter)`). This page is written by `docs/write_members.py`.
"""
_MADE_BY_SCIKIT_LEARN = re.compile(r"set_\w+_request")
_ENTRY = re.compile(r"([\w*]+(?:, [\w*]+)*) : ")


def public_classes() -> list[type]:
    """Return the classes that the page describes, errors left out: the reference has them."""
    named = [getattr(itemix, name) for name in itemix.__all__]
    classes = [value for value in named if inspect.isclass(value) and not issubclass(value, Exception)]
    for path in RETURNED:
        module, _, name = path.rpartition(".")
        classes.append(getattr(importlib.import_module(module), name))
    return classes


def members_of(cls: type) -> dict[str, str]:
    """Return what is typed for each public attribute and method of a class, and what it is in a line."""
    described: dict[str, str] = {}
    owners = [base for base in cls.__mro__ if base.__module__.startswith("itemix")]
    for base in owners:
        described = {**entries_of(base.__doc__ or ""), **described}
    found: dict[str, str] = {}
    for base in owners:
        for name, member in vars(base).items():
            # What is learned stands at the end, as the docstring of the class has it.
            is_learned = name.endswith("_") and not isinstance(member, property)
            if not (name.startswith("_") or is_learned or _MADE_BY_SCIKIT_LEARN.fullmatch(name)):
                found.setdefault(name, _line_of(name, member, described))
    if dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            found.setdefault(field.name, described.get(field.name, ""))
    learned = {name: text for name, text in described.items() if name.endswith("_")}
    return {**{_typed(cls, name): text for name, text in found.items()}, **learned}


def entries_of(docstring: str) -> dict[str, str]:
    """Return the first sentence of every entry of the sections of a docstring, by the names it has."""
    entries: dict[str, str] = {}
    lines = inspect.cleandoc(docstring).splitlines()
    for position, line in enumerate(lines):
        match = _ENTRY.match(line)
        if match is None:
            continue
        text = []
        for following in lines[position + 1 :]:
            if not following.startswith("    "):
                break
            text.append(following.strip())
        sentence = re.split(r"(?<=[.;:])\s", " ".join(text), maxsplit=1)[0].rstrip(".;:")
        entries.update(dict.fromkeys(match[1].split(", "), sentence))
    return entries


def _line_of(name: str, member: Any, described: dict[str, str]) -> str:  # noqa: ANN401 - any attribute
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else _behind(member)
    has_own = callable(function) or isinstance(member, property) or hasattr(member, "attrname")
    text = inspect.getdoc(function) if has_own else None
    return (text.split("\n\n")[0].replace("\n", " ").rstrip(".") if text else "") or described.get(name, "")


def _behind(member: Any) -> Any:  # noqa: ANN401 - any attribute
    """Return the function behind a method that scikit-learn makes available under a condition."""
    return getattr(member, "fn", member)


def _typed(cls: type, name: str) -> str:
    member = _behind(inspect.getattr_static(cls, name, None))
    if isinstance(member, classmethod):
        return f"{cls.__name__}.{name}({_arguments(member.__func__)})"
    return f"{name}({_arguments(member)})" if inspect.isfunction(member) else name


def _arguments(function: Any) -> str:  # noqa: ANN401 - any function
    shown = []
    for position, (name, parameter) in enumerate(inspect.signature(function).parameters.items()):
        if position == 0:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown and not any("*" in s for s in shown):
            shown.append("*")
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        shown.append(f"{stars}{name}{default}")
    return ", ".join(shown)


def page() -> str:
    """Return the whole page."""
    parts = [_BEGINNING]
    for cls in public_classes():
        summary = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")
        rows = [
            f"| `{typed}` | {text.replace('|', chr(92) + '|')} |" for typed, text in members_of(cls).items()
        ]
        parts.append("\n".join([f"## {cls.__name__}", "", summary, "", "| | |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
