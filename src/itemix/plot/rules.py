"""The picture of rules: support against confidence, coloured by lift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itemix.core.display import plural
from itemix.errors import InvalidInputError
from itemix.mining.ruleset import Rules
from itemix.plot import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from itemix._typing import Floats
    from itemix.plot.canvas import Palette


_MOST_RULES = 2000
_MOST_NAMED = 9
_APART = 0.055


def rules_scatter(rules: Rules, *, n_named: int = 5, ax: Axes | None = None) -> Axes:
    """Draw rules as dots: support against confidence, coloured by lift.

    The rules of the highest lift have a number and stand below in words. Of more than 2,000 rules, those of
    the highest lift are drawn, and the picture says so.

    Parameters
    ----------
    rules : Rules
        From data or from a model.
    n_named : int, default 5
        How many rules to name, at most 9. Of rules that would lie on each other only the better one is named.
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
    >>> found = itemix.rules(itemix.mine(tx, 0.01), min_threshold=0.5)
    >>> ax = itemix.plot.rules_scatter(found)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('support', 'confidence')
    """
    canvas.require_kind(rules, Rules, by="itemix.rules(itemsets)")
    if len(rules) == 0:
        raise InvalidInputError("expected at least one rule to draw, got none; try a lower min_threshold")
    shown = rules.top(_MOST_RULES)
    n_named = min(n_named, _MOST_NAMED, len(shown))
    ax = canvas.axes_of(ax, 6.4, 4.4 + 0.18 * n_named)
    palette = canvas.palette_of(ax)
    title = f"{plural(len(rules), 'rule')} by support, confidence and lift"
    if len(shown) < len(rules):
        title = f"The {len(shown):,} rules of highest lift, of {len(rules):,}"
    canvas.entitle(ax, palette, title, rows=1)
    canvas.frame(ax, palette, grid="xy")
    _draw_dots(ax, palette, shown)
    _scale(ax, shown)
    _name_best(ax, palette, shown, n_named)
    canvas.legend(ax, palette, columns=6, handletextpad=0.1, columnspacing=0.8)
    return ax


def _draw_dots(ax: Axes, palette: Palette, rules: Rules) -> None:
    """Draw the rules in groups of about the same lift, the highest on top."""
    bounds = _round_bounds(rules.lift)
    colours = canvas.spread(palette.steps, len(bounds) + 1)
    group = np.searchsorted(bounds, rules.lift, side="right")
    size = np.interp(len(rules), (100, 1000), (34, 16))
    for step, colour in enumerate(colours):
        held = group == step
        dots: dict[str, Any] = {
            "s": size,
            "color": colour,
            "linewidths": 0,
            "label": _range(bounds, step),
            "zorder": 2 + step,
        }
        ax.scatter(rules.support[held], rules.confidence[held], **dots)


def _round_bounds(lift: Floats) -> list[float]:
    """Return round numbers that divide rules by lift into up to five groups of about the same size."""
    round_numbers = np.outer(10.0 ** np.arange(-3, 7), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)).ravel()
    wanted = np.quantile(lift[np.isfinite(lift)], (0.2, 0.4, 0.6, 0.8))
    nearest = round_numbers[np.abs(np.log(round_numbers / wanted[:, None])).argmin(axis=1)]
    inside = (nearest > lift.min()) & (nearest <= lift.max())
    bounds: list[float] = np.unique(nearest[inside]).tolist()
    return bounds


def _range(bounds: list[float], step: int) -> str:
    if not bounds:
        return "any lift"
    if step == 0:
        return f"lift below {bounds[0]:g}"
    return (
        f"{bounds[step - 1]:g} or more"
        if step == len(bounds)
        else f"{bounds[step - 1]:g} to {bounds[step]:g}"
    )


def _scale(ax: Axes, rules: Rules) -> None:
    low, high = float(rules.support.min()), float(rules.support.max())
    if low > 0 and high > 4 * low:
        canvas.log_shares(ax, "x", low / 1.08, min(high * 1.08, 1.0))
    else:
        ax.xaxis.set_major_formatter(canvas.as_percent)
    ax.yaxis.set_major_formatter(canvas.as_percent)
    ax.margins(y=0.08)
    ax.set(xlabel="support", ylabel="confidence")


def _name_best(ax: Axes, palette: Palette, rules: Rules, n: int) -> None:
    """Put numbers on the rules of highest lift that are far enough from each other, and write them below."""
    places = ax.transLimits.transform(
        ax.transScale.transform(np.column_stack([rules.support, rules.confidence]))
    )
    chosen: list[int] = []
    for position, place in enumerate(places):
        if len(chosen) < n and all(np.hypot(*(place - places[other])) > _APART for other in chosen):
            chosen.append(position)
    room = int(canvas.size_in_characters(ax)[0]) - 6
    lines = []
    for number, position in enumerate(chosen, start=1):
        rule = rules[position]
        place = (rule.support, rule.confidence)
        badge: dict[str, Any] = {
            "s": 105,
            "facecolor": palette.paper,
            "edgecolor": palette.ink,
            "linewidths": 1.2,
        }
        ax.scatter(place[0], place[1], **badge, zorder=9 + number)
        number_in_it = {"ha": "center", "fontsize": "x-small", "fontweight": "bold", "color": palette.ink}
        canvas.beside(ax, place, str(number), by=(0, -0.5), zorder=9 + number, **number_in_it)
        left, right = canvas.short_sets([rule.antecedents, rule.consequents], room)
        lines.append(f"{number}  {left} → {right}")
    canvas.below(ax, palette, lines)
