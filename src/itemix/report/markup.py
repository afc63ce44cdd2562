"""HTML as a tree, so that whatever text goes in comes out escaped; and the few elements that reports use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, tostring

from itemix.core.display import format_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Child = Element | str

_TINY = 1e-5
_LONGEST_NAME = 100


def element(tag: str, *children: Child, **attributes: str) -> Element:
    """Make an element; in the names of attributes, _ stands for - and a last _ for nothing."""
    made = Element(tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    for child in children:
        if isinstance(child, str):
            _append_text(made, child)
        else:
            made.append(child)
    return made


def _append_text(parent: Element, text: str) -> None:
    """Put text after the last child of an element, or into it if it has none."""
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def page(title: str, style: str, *children: Child) -> str:
    """Write a whole page that needs no other file."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content="itemix"),
        element("title", title),
        element("style", style),
    )
    whole = element("html", head, element("body", *children), lang="en")
    return f"<!DOCTYPE html>\n{tostring(whole, encoding='unicode', method='html')}\n"


def item(name: object) -> Element:
    """Write the name of an item, on one line and without control characters; of long ones the beginning."""
    whole, shown = format_name(name, sys.maxsize), format_name(name, _LONGEST_NAME)
    return element("b", shown, class_="item", **({} if shown == whole else {"title": whole}))


def itemset(names: Iterable[object]) -> Element:
    """Write a set of items."""
    made = element("span", class_="set")
    for position, name in enumerate(names):
        if position:
            _append_text(made, " + ")
        made.append(item(name))
    return made


def number(value: float, text: str) -> Element:
    """Write a number as people read it; programs find all its digits."""
    return element("data", text.replace("-", "\N{MINUS SIGN}"), value=repr(value))


def percent(fraction: float) -> Element:
    """Write a fraction in per cent."""
    return number(fraction, as_percent(fraction))


def count(value: int) -> Element:
    """Write a whole number."""
    return number(value, f"{value:,}")


def ratio(value: float) -> Element:
    """Write a ratio with two digits after the point, or as many as there is room for."""
    return number(value, as_ratio(value))


def as_percent(fraction: float) -> str:
    """Write a fraction in per cent with one digit after the point, or two significant ones."""
    if 0 < fraction < _TINY:
        return f"<{100 * _TINY:g}%"
    return f"{fraction:.1%}" if fraction >= 0.01 or fraction == 0 else f"{100 * fraction:#.2g}%"


def as_ratio(value: float) -> str:
    """Write a ratio with two digits after the point; large ones need none."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def facts(rows: Iterable[tuple[str, Child]], kind: str) -> Element:
    """Make a list of what things are, each with its value."""
    pairs = [element("div", element("dt", name), element("dd", value)) for name, value in rows]
    return element("dl", *pairs, class_=kind)


def table(caption: str, headers: Sequence[str], rows: Iterable[Sequence[Child]]) -> Element:
    """Make a table whose first column says what a row is about; the others hold numbers."""
    first, *others = headers
    head = element(
        "tr",
        element("th", first, scope="col"),
        *(element("th", text, scope="col", class_="number") for text in others),
    )
    body = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(element("td", cell, class_="number") for cell in row[1:]),
        )
        for row in rows
    ]
    made = element(
        "table", element("caption", element("span", caption)), element("thead", head), element("tbody", *body)
    )
    # A table that is wider than the page is scrolled, also by keyboard.
    return element("div", made, class_="scroll", role="region", aria_label=caption, tabindex="0")
