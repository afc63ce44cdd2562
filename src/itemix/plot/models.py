"""Pictures of models: the components of a mixture, the trace of a fit, and an evaluation by length."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from itemix.core.display import format_name, format_percent, plural
from itemix.errors import InvalidInputError
from itemix.evaluation import Evaluation
from itemix.fitted import FittedModel
from itemix.inference import METHODS
from itemix.mining.characteristics import characteristic_items, in_general
from itemix.plot import canvas

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes

    from itemix._typing import Floats, ModelLike
    from itemix.models.causes import AnyComponents


_MOST_COMPONENTS = 24
_MOST_ITEMS = 60
_LEAST_WRITTEN = 0.095


def component_heatmap(
    model: ModelLike,
    n_components: int = 10,
    n_items: int = 24,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability of items in the largest components, in per cent.

    The items are those that are most characteristic of the components, a few of each; they stand beside the
    component that they were chosen for first. The components of a sampled model are averages over its
    samples.

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
    model: ModelLike,
    n: int = 10,
    *,
    n_items: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """Draw how large the largest components are, each under the items that are most characteristic of it.

    An item has its probability in the component. The components of a sampled model are averages over the
    samples.

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


def _telling_items(
    components: AnyComponents, chosen: npt.NDArray[np.int64], n_items: int
) -> npt.NDArray[np.int32]:
    """Return the codes of characteristic items: the best of each component, then the next, as many as fit."""
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


def _in_words(components: AnyComponents, component: int, n_items: int, room: int) -> str:
    """Name items that are typical of a component with their probabilities, as many as there is room for."""
    words = ""
    for name, probability, _ in characteristic_items(components, component, n_items):
        more = f"{', ' if words else ''}{format_name(name, canvas.NAME_WIDTH)} {probability:.0%}"
        if words and len(words) + len(more) > room:
            break
        words += more
    return words or in_general(components, component)


def largest_components(components: AnyComponents, n: int) -> npt.NDArray[np.int64]:
    """Return the positions of the n largest components that are not empty, the largest first."""
    order = np.argsort(-components.weights, kind="stable")[: max(n, 1)]
    return order[components.weights[order] > 0]


def _require_components(source: ModelLike) -> AnyComponents:
    """Return the components of a model, or raise InvalidInputError if it has none."""
    fitted = FittedModel.of(source)
    if fitted.components is None:
        raise InvalidInputError(
            f"expected a model with components, got {type(fitted.model).__name__}; try itemix.BayesianMixture"
        )
    return fitted.components


Quantity = Literal["bound", "n_components", "alpha"]

_QUANTITIES = get_args(Quantity)


class Trace(NamedTuple):
    """The trace of a fit.

    Attributes
    ----------
    name : str
        What it is.
    lines : list of arrays, each of shape (n_iter,)
        Its value at every iteration, for every chain.
    n_burn : list of int
        How many iterations of each chain were burn-in; 0 where nothing was sampled.
    """

    name: str
    lines: list[Floats]
    n_burn: list[int]


def trace(
    model: ModelLike,
    quantity: Quantity = "bound",
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw how a fit went: what it climbed, or what its chains sampled, at every iteration.

    A fit has converged where the line is flat. What matters of chains is the part after burn-in, where all of
    them should be at the same height.

    Parameters
    ----------
    model : fitted mixture estimator
        Also one that was loaded from a file.
    quantity : {"bound", "n_components", "alpha"}
        The log-likelihood (EM), the evidence lower bound (variational inference) or the joint log-probability
        of labels and data (sampling), per transaction; chains also have the number of components, and the
        concentration of their weights.
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
    >>> ax = itemix.plot.trace(model)
    >>> ax.get_title(loc="left")
    'Evidence lower bound a transaction'
    """
    traced = trace_of(model, quantity)
    ax = canvas.axes_of(ax, 6.4, 3.2)
    from matplotlib.ticker import MaxNLocator

    palette = canvas.palette_of(ax)
    canvas.entitle(ax, palette, traced.name)
    canvas.frame(ax, palette, grid="y")
    longest = max(len(line) for line in traced.lines)
    colours = (
        canvas.spread(palette.steps[1:], len(traced.lines)) if len(traced.lines) > 1 else [palette.positive]
    )
    for line, colour in zip(traced.lines, colours, strict=True):
        ax.plot(np.arange(1, len(line) + 1), line, color=colour, linewidth=1.6, zorder=3)
    if max(traced.n_burn) > 1:
        _mark_burn_in(ax, max(traced.n_burn))
    last = float(np.mean([line[-1] for line in traced.lines]))
    canvas.beside(ax, (longest, last), f"{last:,.4g}".replace("-", "\N{MINUS SIGN}"), color=palette.ink)
    ax.set_xlim(1, max(longest, 2))
    ax.set_ylim(*_limits(traced.lines))
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    if quantity == "n_components":
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.set_xlabel("iteration")
    return ax


def trace_of(model: ModelLike, quantity: Quantity = "bound") -> Trace:
    """Return the trace of a fit.

    Raises
    ------
    InvalidInputError
        If the fit has no such trace.
    """
    fitted = FittedModel.of(model)
    if quantity not in _QUANTITIES:
        raise InvalidInputError(
            f"expected a quantity that is one of {', '.join(_QUANTITIES)}, got {quantity!r}; try 'bound'"
        )
    training = fitted.training
    if training is None or training.bounds is None or (training.chains is None and quantity != "bound"):
        raise InvalidInputError(
            f"expected a model with a trace of {quantity!r}, got {fitted.kind}, which has none; try "
            "one that was fitted with inference='gibbs'"
        )
    climbed = "Bound" if fitted.method is None else METHODS[fitted.method].climbs
    name = {"n_components": "Number of components", "alpha": "Concentration of the weights"}.get(
        quantity, f"{climbed} a transaction"
    )
    if training.chains is None:
        return Trace(name, [training.bounds], [0])
    chains = training.chains.chains
    scale, traced = (training.n_transactions, "log_joint") if quantity == "bound" else (1, quantity)
    lines = [np.asarray(getattr(chain, traced), dtype=np.float64) / scale for chain in chains]
    return Trace(name, lines, [chain.n_burn for chain in chains])


def _limits(lines: list[Floats]) -> tuple[float, float]:
    """Return the ends of the y axis; lines may begin below it in the first tenth of the iterations."""
    settled = np.concatenate([line[len(line) // 10 :] for line in lines])
    low, high = float(settled.min()), float(max(line.max() for line in lines))
    margin = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _mark_burn_in(ax: Axes, n_burn: int) -> None:
    palette = canvas.palette_of(ax)
    ax.axvspan(1, n_burn, color=palette.faint, alpha=0.5, linewidth=0, zorder=1)
    where = {"xycoords": ("data", "axes fraction"), "va": "bottom", "ha": "right", "color": palette.muted}
    canvas.beside(ax, (n_burn, 0), f"burn-in: {plural(n_burn, 'iteration')}", by=(-5, 5), **where)


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
    canvas.require_kind(evaluation, Evaluation, by="itemix.evaluate(model, test, 0.01)")
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
