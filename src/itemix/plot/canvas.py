"""The canvas of all pictures: axes to draw on, colours for light and dark, plain text, and a quiet frame.

matplotlib is imported here and only when a picture is drawn: it is an extra.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix._files import checked_target, replacing
from itemix.core.display import format_name, format_percent, format_set
from itemix.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes

NAME_WIDTH = 26
_SHORTEST_NAME, _LONGEST_NAME = 8, 32
_FEWEST_TICKS = 3
# The ticks within a decade. The first are for axes whose end is more than this many times their beginning.
_STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 6, 8))
_WIDE = 2000

# Names of items are plain text, whatever characters are in them.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

OPAQUE = 0.55
"""On squares of more than this opacity, text has the colour of paper."""


@dataclass(frozen=True)
class Palette:
    """The colours of a picture.

    Attributes
    ----------
    ink, muted, faint, paper : str
        Text, quieter text, lines behind the data, and what it is all drawn on.
    positive, negative : str
        Blue and orange, which colour-blind people tell apart, too. Opacity shows strength, so that the same
        two colours do for all strengths on light and on dark paper.
    steps : tuple of str
        From few to many.
    """

    ink: str
    muted: str
    faint: str
    paper: str
    positive: str
    negative: str
    steps: tuple[str, ...]


LIGHT = Palette(
    ink="#1a1f26",
    muted="#59636e",
    faint="#dde2e8",
    paper="#ffffff",
    positive="#1768ac",
    negative="#c2520c",
    steps=("#a9cce8", "#6ea8d6", "#3a82bd", "#175d9b", "#083a6a"),
)
DARK = Palette(
    ink="#e8ebef",
    muted="#9ba6b2",
    faint="#313941",
    paper="#12161a",
    positive="#5fb0ec",
    negative="#f29a57",
    steps=("#27557c", "#3a7db3", "#5ba3d9", "#93c8f0", "#d4eafc"),
)


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes that were given, or new ones of this size in inches.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    require_matplotlib()
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=(width, height), layout="constrained")
    return made


_ENDINGS = (".png", ".svg", ".pdf")
_DOTS_PER_INCH = 300


def save(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write a picture to a file: PNG with 300 dots an inch, or SVG or PDF, which are sharp at every size.

    Nothing is cut off at the edges, whatever was added to the axes. An old file stays until the new one is
    complete.

    Parameters
    ----------
    ax : matplotlib Axes
        What a function of this module returned. The whole figure that they are in is written.
    path : path
        Where to write it. The ending says how: .png, .svg or .pdf.

    Raises
    ------
    InvalidInputError
        If the ending is another one, or the picture is something else.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import itemix
    >>> tx = itemix.datasets.load("grocery_store")
    >>> itemix.plot.save(itemix.plot.top_itemsets(itemix.mine(tx, 0.05)), "top.svg")
    """
    from matplotlib import rc_context

    target = checked_target(path)
    ending = target.suffix.lower()
    if ending not in _ENDINGS:
        raise InvalidInputError(
            f"expected a file that ends in {', '.join(_ENDINGS)}, got {target.name!r}; try {target.stem}.png"
        )
    if not hasattr(ax, "get_figure"):
        raise InvalidInputError(
            f"expected the axes that a function of itemix.plot returned, got {type(ax).__name__}; try "
            "save(plot.top_itemsets(itemsets), path)"
        )
    figure = ax.get_figure(root=True)
    if figure is None:
        raise InvalidInputError("expected axes of a figure to save, got axes that were removed; draw anew")
    unstamped = {} if ending == ".png" else {"CreationDate" if ending == ".pdf" else "Date": None}
    # Text in PDF stays text, and the same picture gives the same file.
    with replacing(target) as temporary, rc_context({"pdf.fonttype": 42, "svg.hashsalt": "itemix"}):
        figure.savefig(
            temporary, format=ending[1:], dpi=_DOTS_PER_INCH, bbox_inches="tight", metadata=unstamped
        )


def require_matplotlib() -> None:
    """Check that matplotlib is installed, before any long work for a picture.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtraError(
            "expected matplotlib to be installed, got no such package; try pip install itemix[plots]"
        ) from None


def palette_of(ax: Axes) -> Palette:
    """Return the colours that can be read on the axes: those for light paper, or for dark."""
    from matplotlib import colors, rcParams

    for face in (ax.get_facecolor(), ax.figure.get_facecolor()):
        red, green, blue, alpha = colors.to_rgba(face)
        if alpha > 0:
            return DARK if _lightness(red, green, blue) < 0.5 else LIGHT
    # Nothing is painted: the colour of text shows what lies behind.
    return DARK if _lightness(*colors.to_rgb(rcParams["text.color"])) > 0.5 else LIGHT


def _lightness(red: float, green: float, blue: float) -> float:
    return 0.299 * red + 0.587 * green + 0.114 * blue


def frame(ax: Axes, palette: Palette, *, grid: str = "") -> None:
    """Keep of the frame only what helps to read the data: quiet numbers, and lines along one or both axes."""
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, colors=palette.muted, labelsize="small")
    ax.tick_params(which="minor", length=0)
    ax.set_axisbelow(True)
    for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        axis.label.set(color=palette.muted, fontsize="small")
        axis.grid(visible=False, which="both")
        if name in grid:
            axis.grid(visible=True, which="major", color=palette.faint, linewidth=0.8)


def entitle(ax: Axes, palette: Palette, text: str, *, rows: int = 0) -> None:
    """Write a title above the axes, on the left; leave room for the rows of a legend below it."""
    how: dict[str, Any] = {"color": palette.ink, "fontsize": "medium", "fontweight": "bold"}
    ax.set_title(text, loc="left", pad=10 + 15 * rows, **how)


def beside(
    ax: Axes,
    place: tuple[float, float],
    text: str,
    *,
    by: tuple[float, float] = (6, 0),
    **how: Any,  # noqa: ANN401 - properties of matplotlib's texts
) -> None:
    """Write plain text beside a place, a few points away from it."""
    ax.annotate(
        text, place, by, textcoords="offset points", annotation_clip=False,
        **{"fontsize": "small", "va": "center", **PLAIN, **how},
    )  # fmt: skip


def name_ticks(ax: Axes, axis: str, places: npt.ArrayLike, names: Sequence[str], **how: Any) -> None:  # noqa: ANN401
    """Put names along an axis, as plain text in the colour of text."""
    setter = ax.set_xticks if axis == "x" else ax.set_yticks
    setter(np.asarray(places), names, color=palette_of(ax).ink, **{**PLAIN, **how})


def legend(ax: Axes, palette: Palette, *, columns: int, **how: Any) -> None:  # noqa: ANN401 - matplotlib's
    """Draw a legend of one row above the axes."""
    ax.legend(
        **{
            "loc": "lower left",
            "bbox_to_anchor": (0, 1),
            "ncols": columns,
            "frameon": False,
            "fontsize": "small",
            "labelcolor": palette.muted,
            "handlelength": 1.2,
            "handletextpad": 0.5,
            "columnspacing": 1.2,
            "borderaxespad": 0.1,
            "borderpad": 0.2,
            **how,
        }
    )


def log_shares(ax: Axes, axis: str, first: float, last: float) -> None:
    """Make an axis logarithmic for fractions between two ends, with a few round percentages along it."""
    from matplotlib.ticker import FixedLocator, NullLocator

    scaled = ax.xaxis if axis == "x" else ax.yaxis
    ax.set(**{f"{axis}scale": "log", f"{axis}lim": _wider(first, last)})
    scaled.set_major_locator(FixedLocator(_round_shares(*sorted((first, last)))))
    scaled.set_minor_locator(NullLocator())
    scaled.set_major_formatter(as_percent)


def _round_shares(low: float, high: float) -> list[float]:
    """Return a few round numbers between two, further apart the larger they are."""
    from matplotlib.ticker import MaxNLocator

    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in _STEPS[0 if high > _WIDE * low else 1 :]:
        ticks = [m * 10.0**d for d in decades for m in steps if low * 0.999 <= m * 10.0**d <= high * 1.001]
        if len(ticks) >= _FEWEST_TICKS:
            return ticks
    if low == high:
        return [low]
    between = MaxNLocator(4).tick_values(low, high)
    return [float(tick) for tick in between if low * 0.999 <= tick <= high * 1.001] or [low]


def _wider(first: float, last: float) -> tuple[float, float]:
    """Return the ends of an axis, a little apart even if they are the same."""
    return (first, last) if first != last else (first * 1.1, last / 1.1)


def cells(ax: Axes, opacity: npt.NDArray[np.float64], colours: str | npt.NDArray[Any]) -> None:
    """Draw a matrix of squares with its first row on top; opacity shows strength.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    opacity : array of float, shape (rows, columns)
        From 0 to 1.
    colours : str or array of str, shape (rows, columns)
        The colour of the squares.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    rows, columns = np.nonzero(opacity > 0.02)
    names = np.broadcast_to(np.asarray(colours), opacity.shape)
    faces = [(*to_rgba(names[r, c])[:3], opacity[r, c]) for r, c in zip(rows, columns, strict=True)]
    squares = [Rectangle((c - 0.47, r - 0.47), 0.94, 0.94) for r, c in zip(rows, columns, strict=True)]
    ax.add_collection(PatchCollection(squares, facecolors=faces, edgecolors="none"), autolim=False)
    ax.set_xlim(-0.5, opacity.shape[1] - 0.5)
    ax.set_ylim(opacity.shape[0] - 0.5, -0.5)


def in_cell(ax: Axes, row: float, column: float, text: str, colour: str) -> None:
    """Write something small into a square of a matrix."""
    written = ax.text(
        column, row, text, ha="center", va="center_baseline", fontsize="x-small", color=colour, **PLAIN
    )
    # Text inside needs no room, and measuring hundreds of them for the layout would take most of the time.
    written.set_in_layout(False)


def size_in_characters(ax: Axes) -> tuple[float, float]:
    """Return about how many characters of small text fit across the axes, and how many lines of it."""
    from matplotlib.font_manager import FontProperties

    points = FontProperties(size="small").get_size_in_points()
    figure = ax.get_figure(root=True)
    width, height = (6.4, 4.8) if figure is None else figure.get_size_inches()
    box = ax.get_position()
    return 72 * width * box.width / (0.52 * points), 72 * height * box.height / (1.25 * points)


def name_width(ax: Axes) -> int:
    """Return how many characters of a name there is room for beside the data."""
    return int(min(max(0.32 * size_in_characters(ax)[0], 10), NAME_WIDTH))


def below(ax: Axes, palette: Palette, lines: Sequence[str]) -> None:
    """Write lines of plain text below the axes and the name of the x axis."""
    beside(
        ax, (0, 0), "\n".join(lines), by=(0, -36), xycoords="axes fraction", va="top", color=palette.ink,
        linespacing=1.5,
    )  # fmt: skip


def spread(colours: tuple[str, ...], n: int) -> list[str]:
    """Return n of the colours, spread over all of them; if n is larger, neighbours share a colour."""
    steps = np.linspace(0, len(colours) - 1, max(n, 2)).round().astype(int)
    return [colours[step] for step in steps[:n]]


def short(names: Iterable[object], width: int = NAME_WIDTH) -> list[str]:
    """Return item names for a picture, cut where they are too long."""
    return [format_name(name, width) for name in names]


def short_sets(sets: Sequence[Iterable[object]], width: int) -> list[str]:
    """Return sets as '{a, b}', of `width` characters together: long names are cut, then some left out."""
    names = [[format_name(name, min(width, _LONGEST_NAME)) for name in names] for names in sets]
    lengths = [len(name) for written in names for name in written]
    room = width - sum(2 * len(written) for written in names)
    cap = max(lengths, default=0)
    while cap > _SHORTEST_NAME and sum(min(length, cap) for length in lengths) > room:
        cap -= 1
    # Names that are still too many are counted by the last set that has several.
    return [format_set([format_name(name, cap) for name in written], width) for written in names]


def as_percent(value: float, _: object = None) -> str:
    """Write a fraction in per cent with few digits, for ticks and labels."""
    return format_percent(float(f"{value:.3g}"))


def apart(places: Sequence[float], least: float, low: float) -> list[float]:
    """Move places up until they are at least `least` apart, and none is below `low`."""
    moved = list(places)
    for position in sorted(range(len(places)), key=places.__getitem__):
        moved[position] = max(moved[position], low)
        low = moved[position] + least
    return moved


def require_kind(value: object, kind: type, *, by: str) -> None:
    """Check that something is of the kind that a picture shows; `by` makes it.

    Raises
    ------
    InvalidInputError
        If it is of another kind.
    """
    if not isinstance(value, kind):
        raise InvalidInputError(f"expected {kind.__name__} to draw, got {type(value).__name__}; try {by}")
