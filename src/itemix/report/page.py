"""The page of a report: HTML elements, sections, and pictures.

HTML is made as a tree, so that all text that goes in comes out escaped. Pictures are drawn by `itemix.plot`,
as SVG whose colours follow those of the page, light or dark.
"""

from __future__ import annotations

import io
import re
import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element, fromstring, tostring

from itemix.core.display import format_name
from itemix.plot.canvas import DARK, LIGHT, require_matplotlib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.axes import Axes

    from itemix.plot.canvas import Palette

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
    """Write the name of an item on one line, without control characters; a long one is cut."""
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
    """Write a number as people read it; the attribute has all its digits for programs."""
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
    """Make a list of names, each with its value."""
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
    # A table that is wider than the page can be scrolled, also by keyboard.
    return element("div", made, class_="scroll", role="region", aria_label=caption, tabindex="0")


def more(title: str, *parts: Element) -> Element:
    """Make parts that are shown when the reader asks for them, and always on paper."""
    return element("details", element("summary", title), *parts)


class Section(NamedTuple):
    """A section of a report: a heading, sentences, pictures and tables.

    Attributes
    ----------
    key : str
        The name that links to it use.
    title : str
        Its heading.
    parts : list of elements
        What it holds.
    gist : str
        What it is about in a few words, for the list of contents.
    """

    key: str
    title: str
    parts: list[Element]
    gist: str

    def as_element(self) -> Element:
        """Return the section with its heading."""
        heading = element("h2", self.title, id=self.key)
        return element("section", heading, *self.parts, aria_labelledby=self.key)

    def link(self) -> Element:
        """Return a link to the section."""
        return element("li", element("a", self.title, href=f"#{self.key}"), element("span", self.gist))


def paragraph(*words: Child, lead: bool = False) -> Element:
    """Make a paragraph; the first one of a section leads."""
    return element("p", *words, class_="lead") if lead else element("p", *words)


_WIDE, _NARROW = 6.4, 3.6
_SETTINGS = {"svg.fonttype": "none", "font.size": 9.0, "font.family": "sans-serif"}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_FONT_FAMILY = re.compile(r"font-family:[^;]*;?\s*")
_DIGITS = re.compile(r"(\.\d\d)\d+")
_REFERENCE = re.compile(r"#([-\w]+)")
_NAMESPACE = re.compile(r"\{[^}]*\}")


def figure(
    name: str,
    description: str,
    draw: Callable[[Axes], object],
    height: float,
    narrow_height: float | None = None,
) -> Element:
    """Draw a picture twice: as wide as the page, and for narrow screens; the style shows the one that fits.

    Parameters
    ----------
    name : str
        The beginning of the names of its parts, different for each picture of a page.
    description : str
        What it shows: read aloud to those who cannot see it, and written below it.
    draw : function
        Draws on axes.
    height, narrow_height : float
        In inches.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    wide = _svg(f"{name}-w", description, draw, (_WIDE, height))
    narrow = _svg(f"{name}-n", description, draw, (_NARROW, narrow_height or height))
    wide.set("class", "wide")
    narrow.set("class", "narrow")
    return element("figure", wide, narrow, element("figcaption", description))


def colours() -> str:
    """Return the colours of pictures and pages as variables of a style sheet."""
    light, dark = (
        "".join(f"--{token}:{colour};" for colour, token in _tokens(palette).items())
        for palette in (LIGHT, DARK)
    )
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _tokens(palette: Palette) -> dict[str, str]:
    """Return what each colour is called in the style sheet."""
    names = ("ink", "muted", "faint", "paper", "positive", "negative")
    steps = {colour: f"step{position}" for position, colour in enumerate(palette.steps)}
    return {getattr(palette, name): name for name in names} | steps


def _svg(name: str, description: str, draw: Callable[[Axes], object], size: tuple[float, float]) -> Element:
    require_matplotlib()
    from matplotlib import style
    from matplotlib.figure import Figure

    text = io.StringIO()
    with style.context(["default", {**_SETTINGS, "svg.hashsalt": name}]), warnings.catch_warnings():
        # The page is read with other fonts, which may have the characters that the one measured here lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        drawn = Figure(size, layout="constrained")
        ax = drawn.subplots()
        draw(ax)
        ax.set_title("", loc="left")
        drawn.savefig(text, format="svg", transparent=True, metadata=_NO_METADATA)
    tree = fromstring(text.getvalue().encode())  # noqa: S314 - what matplotlib has just written
    return _for_page(tree, name, description)


def _for_page(tree: Element, name: str, description: str) -> Element:
    """Reduce an SVG document to what a page needs, with names and colours of the page."""
    tokens = _tokens(LIGHT)
    used = set(_REFERENCE.findall(" ".join(value for part in tree.iter() for value in part.attrib.values())))
    for part in tree.iter():
        part.tag = _NAMESPACE.sub("", part.tag)
        for key, value in list(part.attrib.items()):
            del part.attrib[key]
            kept = _attribute(_NAMESPACE.sub("", key), value, name, used, tokens)
            if kept is not None:
                part.set(_NAMESPACE.sub("", key), kept)
        if part.tag != "text":
            part.text = part.text if part.text and part.text.strip() else None
        part.tail = None
    for definitions in tree.findall("defs"):
        for default in definitions.findall("style"):
            definitions.remove(default)
    for key in ("width", "height", "version"):
        tree.attrib.pop(key, None)
    tree.set("role", "img")
    tree.set("aria-label", description)
    return tree


def _attribute(key: str, value: str, name: str, used: set[str], tokens: dict[str, str]) -> str | None:
    """Return what an attribute of a picture is in the page; None if it is not needed there."""
    if key == "id":
        return f"{name}-{value}" if value in used else None
    if key in ("href", "clip-path"):
        return _REFERENCE.sub(rf"#{name}-\1", value)
    if key == "style":
        value = _FONT_FAMILY.sub("", value)
        value = _COLOUR.sub(
            lambda match: f"var(--{tokens[match[0]]})" if match[0] in tokens else match[0], value
        )
        return _REFERENCE.sub(rf"#{name}-\1", value) if "url(" in value else value
    if key == "transform" and value.startswith("rotate(-0 "):
        return None
    return _DIGITS.sub(r"\1", " ".join(value.split()))
