"""The picture of an evaluation: a criterion by the length of itemsets, beside the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.core.display import format_percent
from itemix.errors import InvalidInputError
from itemix.evaluation import Evaluation
from itemix.plot import canvas
from itemix.plot.models import require_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_CRITERIA = {
    "mean_relative_error": "Mean relative error of supports",
    "mean_relative_bias": "Mean relative bias of supports",
    "false_negative_rate": "True itemsets that were missed",
    "false_positive_rate": "Predicted itemsets that are not true",
    "precision": "Predicted itemsets that are true",
    "recall": "True itemsets that were predicted",
}


def evaluation_by_length(
    evaluation: Evaluation, criterion: str = "mean_relative_error", *, ax: Axes | None = None
) -> Axes:
    """Draw a criterion of an evaluation for itemsets of each length, beside the floor if that is known.

    The floor is what exact mining of the training data reaches.

    Parameters
    ----------
    evaluation : Evaluation
        What `itemix.evaluate` has returned.
    criterion : str
        "mean_relative_error" (the default), "mean_relative_bias", "false_negative_rate",
        "false_positive_rate", "precision" or "recall".
    ax : matplotlib Axes, optional
        Where to draw; by default new ones.

    Returns
    -------
    Axes
        What was drawn on.

    Examples
    --------
    >>> import itemix
    >>> train, test = itemix.datasets.load("grocery_store").split(0.5, random_state=0)
    >>> model = itemix.BayesianMixture(n_components=12, random_state=0).fit(train)
    >>> ax = itemix.plot.evaluation_by_length(itemix.evaluate(model, test, 0.02, train=train))
    >>> ax.get_title(loc="left")
    'Mean relative error of supports'
    """
    require_kind(evaluation, Evaluation, by="itemix.evaluate(model, test, 0.01)")
    if criterion not in _CRITERIA:
        raise InvalidInputError(
            f"expected a criterion that is one of {', '.join(_CRITERIA)}, got {criterion!r}; try "
            "'mean_relative_error'"
        )
    ax = canvas.axes_of(ax, 6.4, 3.4)
    palette = canvas.palette_of(ax)
    canvas.entitle(ax, palette, _CRITERIA[criterion])
    canvas.frame(ax, palette, grid="y")
    lines = [("model", evaluation, palette.positive, "-")]
    if evaluation.floor is not None:
        lines.insert(0, ("floor", evaluation.floor, palette.muted, "--"))
    ends = []
    for name, source, colour, dashes in lines:
        known = {length: getattr(own, criterion) for length, own in source.lengths}
        points = [(length, value) for length, value in known.items() if value is not None]
        ax.plot(*np.array(points).T, dashes, marker="o", markersize=5, color=colour, linewidth=1.8, zorder=3)
        ends.append((name, points[-1], colour))
    _finish(ax, evaluation)
    low, high = ax.get_ylim()
    line = (high - low) / canvas.size_in_characters(ax)[1]
    heights = canvas.apart([value for _, (_, value), _ in ends], line, low)
    for (name, (length, value), colour), height in zip(ends, heights, strict=True):
        canvas.beside(ax, (length, height), f"{name} {value:.1%}", by=(9, 0), color=colour)
    return ax


def _finish(ax: Axes, evaluation: Evaluation) -> None:
    """Name the lengths with the number of true itemsets, and scale the fractions."""
    lengths = [length for length, _ in evaluation.lengths]
    numbers = [f"{length}\n({own.n_true:,})" for length, own in evaluation.lengths]
    ax.set_xticks(lengths, numbers)
    ax.set_xlim(lengths[0] - 0.2, lengths[-1] + 0.04)
    ax.set_xlabel("items in the set (true itemsets)")
    ax.yaxis.set_major_formatter(lambda value, _: format_percent(round(value, 6)))
    if ax.get_ylim()[0] >= 0:
        ax.set_ylim(bottom=0)
    else:
        ax.axhline(0, color=canvas.palette_of(ax).muted, linewidth=0.8, zorder=1)
