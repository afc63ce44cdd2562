"""The picture of a model against the data: the supports of itemsets in both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.plot import canvas
from itemix.plot.models import require_itemsets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from itemix.core.itemsets import Itemsets

Floats = npt.NDArray[np.float64]


def support_agreement(
    itemsets: Itemsets,
    data: Any,  # noqa: ANN401 - transactions in any form
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the supports of a model's itemsets against their exact supports in the data.

    On the diagonal both are the same. Sets that lie close together share a cell, the darker the more.

    Parameters
    ----------
    itemsets : Itemsets
        What a model expects.
    data : Transactions, data frame, matrix or list of lists
        Where the exact supports are counted.
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
    >>> ax = itemix.plot.support_agreement(itemix.mine(model, 0.02), tx)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('support in the data', 'support in the model')
    """
    require_itemsets(itemsets)
    ax = canvas.axes_of(ax, 5.0, 4.6)
    palette = canvas.palette_of(ax)
    exact = exact_supports(itemsets, data)
    low = float(min(itemsets.support.min(), exact[exact > 0].min(initial=1.0)))
    high = float(max(itemsets.support.max(), exact.max()))
    bounds = low / 1.15, min(high * 1.15, 1.0)
    canvas.entitle(ax, palette, "The model against the data")
    canvas.frame(ax, palette, grid="xy")
    ax.plot(bounds, bounds, color=palette.muted, linewidth=1, zorder=1)
    cells = ax.hexbin(
        np.maximum(exact, bounds[0]), itemsets.support, gridsize=34, xscale="log", yscale="log", mincnt=1,
        extent=(*np.log10(bounds), *np.log10(bounds)), linewidths=0.2, zorder=2,
    )  # fmt: skip
    counts = np.asarray(cells.get_array(), dtype=np.float64)
    cells.set_array(None)
    cells.set(facecolor=palette.positive, edgecolor=palette.positive)
    cells.set_alpha(0.3 + 0.7 * np.log(counts) / max(np.log(counts.max()), 1e-9))
    for axis in "xy":
        canvas.log_shares(ax, axis, *bounds)
    ax.set_aspect("equal")
    ax.set_xlabel("support in the data")
    ax.set_ylabel("support in the model")
    return ax


def exact_supports(itemsets: Itemsets, data: Any) -> Floats:  # noqa: ANN401 - transactions in any form
    """Count the supports of itemsets in the data, 0 where it does not have an item; shape (n,)."""
    from itemix.core.transactions import as_transactions
    from itemix.mining.supports import count

    transactions = as_transactions(data)
    known = [name for name in transactions.items if name in itemsets.items]
    aligned = transactions.select_items(known).align_items(itemsets.items)
    found: Floats = count(itemsets.sets, aligned) / max(len(aligned), 1)
    return found
