"""Pictures of dependencies between items: the lifts of pairs as a matrix, the strongest pairs as a network.

In both, items that belong together stand side by side: along a line, or around a circle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.fitted import FittedModel
from itemix.mining.query import comparable_items, dependencies
from itemix.plot import canvas

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from itemix._typing import Codes, Floats, Ints, ModelLike
    from itemix.core.items import Label
    from itemix.mining.query import Dependency, Sign
    from itemix.models.base import Model, Names
    from itemix.plot.canvas import Palette

# Less mutual information of a pair than this is only rounding.
_NOISE = 1e-9
_ROUNDS = 20


def along_a_line(affinity: Floats) -> Ints:
    """Return an order of n things in which similar ones are neighbours, from an (n, n) matrix of affinities.

    Things are similar if they have similar affinities to all others; they are clustered by average linkage.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import pdist

    n = len(affinity)
    if n < 3:
        return np.arange(n)
    leaves: Ints = leaves_list(linkage(pdist(affinity), "average", optimal_ordering=True)).astype(np.int64)
    return leaves


def around_a_circle(ends: Ints, strength: Floats, n: int) -> Ints:
    """Return the seat of each of n things around a circle, linked ones close to each other.

    It begins with the order of `along_a_line`; then two things change seats as long as that makes the links
    shorter.

    Parameters
    ----------
    ends : array of int, shape (m, 2)
        The things that each link joins.
    strength : array of float, shape (m,)
        How much the length of each link counts.
    n : int
        How many things there are.
    """
    affinity = np.zeros((n, n))
    affinity[ends[:, 0], ends[:, 1]] = affinity[ends[:, 1], ends[:, 0]] = strength
    seat = np.empty(n, dtype=np.int64)
    seat[along_a_line(affinity)] = np.arange(n)
    cost = _cost(seat, ends, strength)
    for _ in range(_ROUNDS):
        before = cost
        for a in range(n):
            for b in range(a + 1, n):
                seat[[a, b]] = seat[[b, a]]
                other = _cost(seat, ends, strength)
                if other < cost - 1e-12:
                    cost = other
                else:
                    seat[[a, b]] = seat[[b, a]]
        if cost == before:
            break
    return seat


def _cost(seat: Ints, ends: Ints, strength: Floats) -> float:
    """Return the sum of the lengths of all chords, weighted by their strengths."""
    steps = seat[ends[:, 0]] - seat[ends[:, 1]]
    return float(strength @ np.abs(np.sin(np.pi * steps / len(seat))))


_MOST_IN_MATRIX = 40
_MINUS, _TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


def dependency_matrix(
    model: ModelLike,
    n_items: int = 16,
    *,
    items: Iterable[Label] | Label | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how many times more or less often pairs of items occur together than if they were independent.

    Blue pairs attract each other, orange ones with a minus avoid each other; the stronger the colour, the
    further is their lift from 1. Items that behave alike stand beside each other.

    Parameters
    ----------
    model : fitted estimator, Mixture or another model
        What is asked.
    n_items : int, default 16
        How many items, at most 40: those of the pairs that depend most on each other.
    items : names, optional
        Draw these items instead.
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
    >>> ax = itemix.plot.dependency_matrix(model, items=["salsa", "tortillas", "beer"])
    >>> sorted({label.get_text() for label in ax.get_xticklabels() + ax.get_yticklabels()})
    ['beer', 'salsa', 'tortillas']
    """
    asked = FittedModel.of(model).model
    chosen = asked.items.codes(items) if items is not None else _dependent_items(asked, n_items)
    chosen = chosen[:_MOST_IN_MATRIX]
    _require_pairs(len(chosen) - 1)
    log_lift = _log_lift(asked, chosen)
    order = along_a_line(log_lift)
    log_lift, chosen = log_lift[np.ix_(order, order)], chosen[order]
    n = len(chosen)
    ax = canvas.axes_of(ax, 2.0 + 0.28 * n, 1.9 + 0.28 * n)
    palette = canvas.palette_of(ax)
    weaker, stronger = _whole_octaves(-log_lift), _whole_octaves(log_lift)
    shown = np.where(np.tri(n - 1, n - 1, dtype=bool), log_lift[1:, :-1], 0.0)
    canvas.entitle(ax, palette, "Pairs of items against chance")
    canvas.frame(ax, palette)
    colours = np.where(shown > 0, palette.positive, palette.negative)
    canvas.cells(ax, np.clip(np.where(shown > 0, shown / stronger, -shown / weaker), 0.0, 1.0), colours)
    for row, column in zip(*np.nonzero(shown < -0.15 * weaker), strict=True):
        is_strong = -shown[row, column] > canvas.OPAQUE * weaker
        canvas.in_cell(ax, row, column, _MINUS, palette.paper if is_strong else palette.ink)
    names = canvas.short(asked.items.names(chosen), canvas.name_width(ax))
    canvas.name_ticks(ax, "y", range(n - 1), names[1:])
    canvas.name_ticks(ax, "x", range(n - 1), names[:-1], rotation=45, ha="right", rotation_mode="anchor")
    ax.set_aspect("equal")
    _explain_squares(ax, palette, weaker, stronger)
    return ax


def _dependent_items(model: Model, n_items: int) -> Codes:
    """Return the codes of the items of the strongest pairs."""
    chosen: dict[int, None] = {}
    for pair in _strongest_dependencies(model, 4 * min(n_items, _MOST_IN_MATRIX)):
        for name in (pair.item, pair.other):
            if len(chosen) < n_items:
                chosen.setdefault(model.items.code(name))
    return np.array(list(chosen), dtype=np.int32)


def _log_lift(model: Model, codes: Codes) -> Floats:
    """Return the binary logarithm of the lift of all pairs of items, bounded, with 0 on the diagonal."""
    p = model.item_probabilities[codes]
    expected = np.outer(p, p)
    joint = model.pair_probabilities(codes)[:, codes]
    lift = np.divide(joint, expected, out=np.ones_like(joint), where=expected > 0)
    bounded: Floats = np.log2(np.clip(lift, 2.0**-4, 2.0**8))
    np.fill_diagonal(bounded, 0.0)
    return bounded


def _whole_octaves(log_lift: Floats) -> int:
    """Return the strongest lift above 1 that colours tell apart, as a power of two; most are below."""
    above = log_lift[log_lift > 0]
    return max(1, round(float(np.quantile(above, 0.97)))) if len(above) else 1


def _explain_squares(ax: Axes, palette: Palette, weaker: int, stronger: int) -> None:
    from matplotlib.patches import Patch

    # Each side has a scale of its own: lifts above 1 have no bound, and those below it have.
    steps = [-weaker, -weaker / 2, stronger / 2, stronger]
    labels = [f"{2.0**step:.{1 if step > -3 else 2}f}".removesuffix(".0") + _TIMES for step in steps]
    labels[0], labels[-1] = f"{labels[0]} or less", f"{labels[-1]} or more"
    handles = [
        Patch(
            facecolor=palette.positive if step > 0 else palette.negative,
            alpha=abs(step) / (stronger if step > 0 else weaker),
            label=label,
        )
        for step, label in zip(steps, labels, strict=True)
    ]
    where = {
        "loc": "upper right",
        "bbox_to_anchor": (1, 1),
        "title": "as often together\nas independent items",
    }
    canvas.legend(ax, palette, columns=1, handles=handles, handleheight=1.0, **where)
    title = ax.get_legend().get_title()  # type: ignore[union-attr] # it has just been made
    title.set(color=palette.muted, fontsize="small")


_MOST_IN_NETWORK = 40
_MOST_PAIRS = 120
_RIM = 1.1
_WIDENED = 1.2  # a layout makes axes larger that have nothing written beside them,
_LINES_ABOVE = 2.5  # but leaves room for the legend above
_WIDE_NAMES = 1.15  # names may have wider characters than text on average
_LINES_OF_CHARACTER = 2.4  # this many characters are as wide as a line is high
_TOGETHER = "more often together than by chance"
_APART = "less often"


def dependency_network(
    model: ModelLike,
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
    asked = FittedModel.of(model).model
    pairs = _readable(_strongest_dependencies(asked, min(n, _MOST_PAIRS), sign=sign, items=items))
    _require_pairs(len(pairs))
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
    """Return the strongest pairs, as long as there is room for the names of their items."""
    names: set[Label] = set()
    kept = []
    for pair in pairs:
        more = names | {pair.item, pair.other}
        if len(more) <= _MOST_IN_NETWORK:
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

    The reach depends on how large the circle is drawn, and that on the reach: so it is found in rounds.
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


def _strongest_dependencies(
    model: Model, n: int, *, sign: Sign = "both", items: Names | None = None
) -> list[Dependency]:
    """Return the strongest pairs that are more than rounding.

    If there are so many items that comparing all would take long, only the most frequent ones are compared.
    """
    compared = None if items is not None else comparable_items(model)
    among = None if compared is None else model.items.names(compared)
    found = dependencies(model, n, sign=sign, items=items, among=among)
    return [pair for pair in found if pair.information > _NOISE]


def _require_pairs(n: int) -> None:
    """Raise InvalidInputError if there is no pair of items to draw."""
    if n < 1:
        raise InvalidInputError(
            "expected at least one pair of items to draw, got none; ask for more items, or for sign='both'"
        )
