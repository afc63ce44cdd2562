"""The picture of dependencies between items as a matrix: lifts of pairs, positive and negative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.plot import canvas
from itemix.plot.models import model_of, require_pairs, strongest_dependencies
from itemix.plot.ordering import along_a_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from itemix.core.items import Label
    from itemix.models.base import Model
    from itemix.plot.canvas import Palette

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

_MOST_ITEMS = 40
_MINUS, _TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


def dependency_matrix(
    model: Any,  # noqa: ANN401 - an estimator or any model
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
    asked = model_of(model)
    chosen = asked.items.codes(items) if items is not None else _dependent_items(asked, n_items)
    chosen = chosen[:_MOST_ITEMS]
    require_pairs(len(chosen) - 1)
    log_lift = _log_lift(asked, chosen)
    order = along_a_line(log_lift)
    log_lift, chosen = log_lift[np.ix_(order, order)], chosen[order]
    n = len(chosen)
    ax = canvas.axes_of(ax, 2.0 + 0.28 * n, 1.9 + 0.28 * n)
    palette = canvas.palette_of(ax)
    strongest = _whole_octaves(log_lift)
    shown = np.where(np.tri(n - 1, n - 1, dtype=bool), log_lift[1:, :-1], 0.0)
    canvas.entitle(ax, palette, "Pairs of items against chance")
    canvas.frame(ax, palette)
    colours = np.where(shown > 0, palette.positive, palette.negative)
    canvas.cells(ax, np.minimum(np.abs(shown) / strongest, 1.0), colours)
    for row, column in zip(*np.nonzero(shown < -0.15 * strongest), strict=True):
        is_strong = -shown[row, column] > canvas.OPAQUE * strongest
        canvas.in_cell(ax, row, column, _MINUS, palette.paper if is_strong else palette.ink)
    names = canvas.short(asked.items.names(chosen), canvas.name_width(ax))
    canvas.name_ticks(ax, "y", range(n - 1), names[1:])
    canvas.name_ticks(ax, "x", range(n - 1), names[:-1], rotation=45, ha="right", rotation_mode="anchor")
    ax.set_aspect("equal")
    _explain_squares(ax, palette, strongest)
    return ax


def _dependent_items(model: Model, n_items: int) -> Codes:
    """Return the codes of the items of the strongest pairs."""
    chosen: dict[int, None] = {}
    for pair in strongest_dependencies(model, 4 * min(n_items, _MOST_ITEMS)):
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
    bounded: Floats = np.log2(np.clip(lift, 2.0**-4, 2.0**4))
    np.fill_diagonal(bounded, 0.0)
    return bounded


def _whole_octaves(log_lift: Floats) -> int:
    """Return the strongest lift that colours tell apart, as a power of two.

    Nearly all pairs of one sign are below it: of that whose lifts are nearer to 1, so that neither of the two
    signs drowns in the other.
    """
    sides = [side for side in (log_lift[log_lift > 0], -log_lift[log_lift < 0]) if len(side)]
    return max(1, round(min((float(np.quantile(side, 0.97)) for side in sides), default=1.0)))


def _explain_squares(ax: Axes, palette: Palette, strongest: int) -> None:
    from matplotlib.patches import Patch

    steps = [-strongest, -strongest / 2, strongest / 2, strongest]
    labels = [f"{2.0**step:.{1 if step > -3 else 2}f}".removesuffix(".0") + _TIMES for step in steps]
    labels[0], labels[-1] = f"{labels[0]} or less", f"{labels[-1]} or more"
    handles = [
        Patch(
            facecolor=palette.positive if step > 0 else palette.negative,
            alpha=abs(step) / strongest,
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
