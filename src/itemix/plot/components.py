"""Pictures of the components of a mixture: their items, and their sizes."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix.core.display import format_name
from itemix.errors import InvalidInputError
from itemix.fitted import FittedModel
from itemix.mining.characteristics import characteristic_items, in_general
from itemix.plot import canvas

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes

    from itemix.models.mixture import Mixture

_MOST_COMPONENTS = 24
_MOST_ITEMS = 60
_LEAST_WRITTEN = 0.095


def component_heatmap(
    model: Any,  # noqa: ANN401 - an estimator or a mixture
    n_components: int = 10,
    n_items: int = 24,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability of items in the largest components, in per cent.

    The items are those that are most characteristic of the components, a few of each; they stand beside the
    component that they were chosen for first. Of a model that was sampled, the components of the last sample
    are drawn.

    Parameters
    ----------
    model : fitted mixture estimator or Mixture
        What has components.
    n_components : int, default 10
        How many, at most 24.
    n_items : int, default 24
        How many items, at most 60.
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
    >>> ax = itemix.plot.component_heatmap(model, n_components=8, n_items=20)
    >>> len(ax.get_xticks()), len(ax.get_yticks())
    (8, 20)
    """
    components = _require_components(model)
    chosen = largest_components(components, min(n_components, _MOST_COMPONENTS))
    items = _telling_items(components, chosen, min(n_items, _MOST_ITEMS))
    ax = canvas.axes_of(ax, max(1.9 + 0.42 * len(chosen), 4.6), 1.0 + 0.2 * len(items))
    palette = canvas.palette_of(ax)
    probs = components.probs[np.ix_(chosen, items)].T
    canvas.entitle(ax, palette, "Items by component, in per cent", rows=2)
    canvas.frame(ax, palette)
    canvas.cells(ax, probs, palette.positive)
    for row, column in zip(*np.nonzero(probs >= _LEAST_WRITTEN), strict=True):
        probability = float(probs[row, column])
        colour = palette.paper if probability > canvas.OPAQUE else palette.ink
        canvas.in_cell(ax, row, column, f"{100 * probability:.0f}", colour)
    names = canvas.short(components.items.names(items), canvas.name_width(ax))
    canvas.name_ticks(ax, "y", range(len(items)), names)
    shares = [
        f"{number}\n{_share(components.weights[k])}" for number, k in enumerate(chosen.tolist(), start=1)
    ]
    ax.xaxis.tick_top()
    is_tight = canvas.size_in_characters(ax)[0] < 6 * len(chosen)
    canvas.name_ticks(ax, "x", range(len(chosen)), shares, fontsize="x-small" if is_tight else "small")
    return ax


def component_sizes(
    model: Any,  # noqa: ANN401 - an estimator or a mixture
    n: int = 10,
    *,
    n_items: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """Draw how large the largest components are, each under the items that are most characteristic of it.

    An item has its probability in the component. Of a model that was sampled, the components of the last
    sample are drawn.

    Parameters
    ----------
    model : fitted mixture estimator or Mixture
        What has components.
    n : int, default 10
        How many components, at most 24.
    n_items : int, default 5
        How many items to name for each, as far as there is room.
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
    >>> ax = itemix.plot.component_sizes(model, 6)
    >>> len(ax.patches)
    6
    """
    components = _require_components(model)
    chosen = largest_components(components, min(n, _MOST_COMPONENTS))
    ax = canvas.axes_of(ax, 6.4, 0.7 + 0.46 * len(chosen))
    palette = canvas.palette_of(ax)
    weights = components.weights[chosen]
    places = np.arange(len(chosen))[::-1]
    canvas.entitle(ax, palette, "The largest components, and what is typical of them")
    canvas.frame(ax, palette)
    ax.barh(places - 0.18, weights, height=0.3, color=palette.positive)
    room = int(canvas.size_in_characters(ax)[0])
    for place, weight, component in zip(places.tolist(), weights.tolist(), chosen.tolist(), strict=True):
        words = _in_words(components, component, n_items, room)
        canvas.beside(ax, (0, place + 0.22), words, by=(0, 0), color=palette.ink)
        canvas.beside(
            ax, (weight, place - 0.18), "<0.1%" if weight < 0.0005 else f"{weight:.1%}", color=palette.muted
        )
    canvas.name_ticks(ax, "y", places + 0.22, [str(number + 1) for number in range(len(chosen))])
    ax.tick_params(axis="y", pad=8)
    ax.set_xticks([])
    ax.set_xlim(0, float(weights.max()) * 1.12)
    ax.set_ylim(-0.5, len(chosen) - 0.4)
    return ax


def _telling_items(components: Mixture, chosen: npt.NDArray[np.int64], n_items: int) -> npt.NDArray[np.int32]:
    """Return the codes of characteristic items, the best of each component first in need of room."""
    ranked = [
        [
            components.items.code(name)
            for name, probability, _ in characteristic_items(components, k, n_items)
            if probability >= _LEAST_WRITTEN
        ]
        for k in chosen.tolist()
    ]
    home: dict[int, int] = {}
    for round_of_items in zip_longest(*ranked):
        for component, item in enumerate(round_of_items):
            if item is not None and len(home) < n_items:
                home.setdefault(item, component)
    if not home:  # all components are alike, or nothing is frequent in any
        return np.argsort(-components.item_probabilities, kind="stable")[:n_items].astype(np.int32)
    return np.array(sorted(home, key=home.__getitem__), dtype=np.int32)


def _share(weight: float) -> str:
    return "<1%" if weight < 0.005 else f"{weight:.0%}"


def _in_words(components: Mixture, component: int, n_items: int, room: int) -> str:
    """Name items that are typical of a component with their probabilities, as many as there is room for."""
    words = ""
    for name, probability, _ in characteristic_items(components, component, n_items):
        more = f"{', ' if words else ''}{format_name(name, canvas.NAME_WIDTH)} {probability:.0%}"
        if words and len(words) + len(more) > room:
            break
        words += more
    return words or in_general(components, component)


def largest_components(components: Mixture, n: int) -> npt.NDArray[np.int64]:
    """Return the positions of the n largest components that hold anything, the largest first."""
    order = np.argsort(-components.weights, kind="stable")[: max(n, 1)]
    return order[components.weights[order] > 0]


def _require_components(source: Any) -> Mixture:  # noqa: ANN401 - anything at all
    """Return the components of a model, or raise InvalidInputError if it has none."""
    fitted = FittedModel.of(source)
    if fitted.components is None:
        raise InvalidInputError(
            f"expected a model with components, got {type(fitted.model).__name__}; try itemix.BayesianMixture"
        )
    return fitted.components
