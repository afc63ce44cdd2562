"""The picture of dependencies between items as a network: the strongest pairs, positive and negative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.plot import canvas
from itemix.plot.models import model_of, require_pairs, strongest_dependencies
from itemix.plot.ordering import around_a_circle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from itemix.core.items import Label
    from itemix.mining.query import Dependency, Sign
    from itemix.plot.canvas import Palette

Floats = npt.NDArray[np.float64]

_MOST_ITEMS = 40
_MOST_PAIRS = 120
_RIM = 1.1
_WIDENED = 1.2  # a layout makes axes larger beside which nothing is written,
_LINES_ABOVE = 2.5  # except for the legend above them
_WIDE_NAMES = 1.15  # names may have wider characters than text has on average
_LINES_OF_CHARACTER = 2.4  # so many characters are as wide as a line is high
_TOGETHER = "more often together than by chance"
_APART = "less often"


def dependency_network(
    model: Any,  # noqa: ANN401 - an estimator or any model
    n: int = 30,
    *,
    sign: Sign = "both",
    items: Iterable[Label] | Label | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the pairs of items that depend most on each other as a network.

    Lines are blue where the items attract each other, orange and dashed where they avoid each other; the
    wider, the stronger (by mutual information). Items lie on a circle, linked ones close together; the larger
    its dot, the more frequent an item.

    Parameters
    ----------
    model : fitted estimator, Mixture or another model
        What is asked.
    n : int, default 30
        How many pairs, at most 120 and of at most 40 items.
    sign : {"both", "positive", "negative"}
        Which pairs.
    items : names, optional
        Only pairs with at least one of these: an item and its neighbours.
    ax : matplotlib Axes, optional
        Where to draw; by default new ones.

    Returns
    -------
    Axes
        What was drawn on.

    Examples
    --------
    >>> import itemix
    >>> tx = itemix.datasets.load("grocery_store")
    >>> model = itemix.BayesianMixture(n_components=12, random_state=0).fit(tx)
    >>> ax = itemix.plot.dependency_network(model, 5, items="salsa")
    >>> len(ax.patches)
    5
    """
    asked = model_of(model)
    pairs = _readable(strongest_dependencies(asked, min(n, _MOST_PAIRS), sign=sign, items=items))
    require_pairs(len(pairs))
    strength = np.array([pair.information for pair in pairs])
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.item, pair.other)))
    ends = np.array([[names.index(pair.item), names.index(pair.other)] for pair in pairs])
    seat = around_a_circle(ends, strength, len(names))
    angles = np.pi / 2 - 2 * np.pi * seat / len(names)
    ax = canvas.axes_of(ax, 6.4, 6.4)
    palette = canvas.palette_of(ax)
    canvas.entitle(ax, palette, "Items that depend on each other", rows=1)
    canvas.frame(ax, palette)
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    # The strongest last, so that they lie on top.
    for edge in np.argsort(strength, kind="stable").tolist():
        first, last = points[ends[edge]]
        _link(ax, palette, first, last, strength[edge] / strength.max(), positive=pairs[edge].leverage > 0)
    frequency = asked.item_probabilities[[asked.items.code(name) for name in names]]
    _draw_items(ax, palette, points, frequency / frequency.max())
    shown = canvas.short(names, canvas.name_width(ax))
    for name, angle in zip(shown, angles.tolist(), strict=True):
        _name_on_rim(ax, palette, name, angle)
    left, right, down, up = _reach(ax, angles, np.array([len(name) for name in shown]))
    ax.set(xlim=(-left, right), ylim=(-down, up), xticks=[], yticks=[], aspect="equal")
    _explain_lines(ax, palette, [pair.leverage > 0 for pair in pairs])
    return ax


def _readable(pairs: list[Dependency]) -> list[Dependency]:
    """Return the strongest pairs, as many as have names for which there is room."""
    names: set[Label] = set()
    kept = []
    for pair in pairs:
        more = names | {pair.item, pair.other}
        if len(more) <= _MOST_ITEMS:
            names = more
            kept.append(pair)
    return kept


def _link(
    ax: Axes, palette: Palette, first: Floats, last: Floats, strength: float, *, positive: bool
) -> None:
    """Draw a curve between two points of the circle, bent towards its centre."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    # Neighbours are joined by a flat curve, opposite points by a straight line.
    middle = (first + last) / 2 * (0.75 - 0.3 * float(np.hypot(*(first - last))))
    curve = Path([tuple(first), tuple(middle), tuple(last)], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    ax.add_patch(
        PathPatch(
            curve,
            facecolor="none",
            edgecolor=palette.positive if positive else palette.negative,
            linewidth=0.7 + 3.6 * strength,
            linestyle="solid" if positive else (0, (3, 1.2)),
            alpha=0.35 + 0.6 * strength,
            capstyle="butt",
            zorder=2,
        )
    )


def _draw_items(ax: Axes, palette: Palette, points: Floats, frequency: Floats) -> None:
    """Draw dots whose areas tell how frequent items are."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    dots = [
        Circle((x, y), float(radius))
        for (x, y), radius in zip(points, 0.012 + 0.04 * frequency**0.5, strict=True)
    ]
    ax.add_collection(PatchCollection(dots, facecolor=palette.ink, edgecolor="none", zorder=3))


def _name_on_rim(ax: Axes, palette: Palette, name: str, angle: float) -> None:
    """Write a name outside the circle, along its radius, so that it is never upside down."""
    is_right = np.cos(angle) > -1e-9
    turn = np.degrees(angle) if is_right else np.degrees(angle) + 180
    ax.text(
        _RIM * np.cos(angle), _RIM * np.sin(angle), name, rotation=turn, rotation_mode="anchor", va="center",
        ha="left" if is_right else "right", fontsize="small", color=palette.ink, **canvas.PLAIN,
    )  # fmt: skip


def _reach(ax: Axes, angles: Floats, lengths: npt.NDArray[np.int64]) -> tuple[float, float, float, float]:
    """Return how far the axes must reach to each side so that names fit around the circle of radius 1.

    That depends on how large the circle is drawn, and this on how far the axes reach.
    """
    width, height = canvas.size_in_characters(ax)
    figure = ax.get_figure(root=True)
    if figure is not None and figure.get_layout_engine() is not None:
        width, height = width * _WIDENED, height * _WIDENED - _LINES_ABOVE
    directions = (-np.cos(angles), np.cos(angles), -np.sin(angles), np.sin(angles))
    left = right = down = up = _RIM
    for _ in range(10):
        radius = min(width / (left + right), _LINES_OF_CHARACTER * height / (down + up))
        room = _RIM + (_WIDE_NAMES * lengths + 1) / radius
        left, right, down, up = (max(_RIM, float((room * ahead).max())) for ahead in directions)
    return left, right, down, up


def _explain_lines(ax: Axes, palette: Palette, is_positive: list[bool]) -> None:
    from matplotlib.lines import Line2D

    handles = []
    if any(is_positive):
        handles.append(Line2D([], [], color=palette.positive, linewidth=2.5, label=_TOGETHER))
    if not all(is_positive):
        label = _APART if any(is_positive) else f"{_APART} together than by chance"
        handles.append(
            Line2D([], [], color=palette.negative, linewidth=2.5, linestyle=(0, (2, 1)), label=label)
        )
    canvas.legend(ax, palette, columns=2, handles=handles, handlelength=1.8)
