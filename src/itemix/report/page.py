"""Pictures for a page: drawn by `itemix.plot`, as SVG whose colours follow the page's, light or dark."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, fromstring

from itemix.plot.canvas import DARK, LIGHT, require_matplotlib
from itemix.report.markup import element

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from itemix.plot.canvas import Palette

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
        What its parts are called in the page, unlike those of all other pictures.
    description : str
        What it shows, for those who do not see it, and below it for those who do.
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
        # The page is read with other fonts, which may have the signs that the one measured here lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        drawn = Figure(size, layout="constrained")
        ax = drawn.subplots()
        draw(ax)
        ax.set_title("", loc="left")
        drawn.savefig(text, format="svg", transparent=True, metadata=_NO_METADATA)
    tree = fromstring(text.getvalue().encode())  # noqa: S314 - what matplotlib has just written
    return _for_page(tree, name, description)


def _for_page(tree: Element, name: str, description: str) -> Element:
    """Leave of an SVG document what a page needs, with names and colours of the page."""
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
