"""Pictures of patterns: itemsets by support and by length, the top ones, and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.core.display import plural
from itemix.core.itemsets import Itemsets
from itemix.errors import InvalidInputError
from itemix.mining.ruleset import Rules
from itemix.plot import canvas

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from itemix._typing import Floats, TransactionsLike
    from itemix.mining.comparison import Comparison, ComponentShifts
    from itemix.mining.surprise import Surprises
    from itemix.plot.canvas import Palette


def support_agreement(
    itemsets: Itemsets,
    data: TransactionsLike,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the supports of a model's itemsets against their exact supports in the data.

    On the diagonal both are the same. Sets that lie close together share a cell, the darker the more; a set
    that is alone is a dot.

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
    _require_itemsets(itemsets)
    ax = canvas.axes_of(ax, 5.0, 4.6)
    palette = canvas.palette_of(ax)
    exact = exact_supports(itemsets, data)
    low = float(min(itemsets.support.min(), exact[exact > 0].min(initial=1.0)))
    high = float(max(itemsets.support.max(), exact.max()))
    bounds = low / 1.15, min(high * 1.15, 1.0)
    canvas.entitle(ax, palette, "The model against the data")
    canvas.frame(ax, palette, grid="xy")
    ax.plot(bounds, bounds, color=palette.muted, linewidth=1, zorder=1)
    places = np.maximum(exact, bounds[0])
    cells = ax.hexbin(
        places, itemsets.support, np.arange(len(itemsets)), reduce_C_function=_size_or_only, gridsize=34,
        xscale="log", yscale="log", extent=(*np.log10(bounds), *np.log10(bounds)), linewidths=0.2, zorder=2,
    )  # fmt: skip
    found = np.asarray(cells.get_array(), dtype=np.float64)
    alone = (-1 - found[found < 0]).astype(np.int64)
    most = float(found.max(initial=2.0))
    cells.set_array(None)
    cells.set(facecolor=palette.positive, edgecolor=palette.positive)
    cells.set_alpha([_opacity(count, most) for count in found.tolist()])
    ax.plot(places[alone], itemsets.support[alone], "o", color=palette.positive, markersize=2.2, zorder=3)
    _explain_cells(ax, palette, most if (found > 0).any() else 1.0)
    for axis in "xy":
        canvas.log_shares(ax, axis, *bounds)
    ax.set_aspect("equal")
    ax.set_xlabel("support in the data")
    ax.set_ylabel("support in the model")
    return ax


def _size_or_only(positions: npt.NDArray[Any] | list[float]) -> float:
    """Return how many sets share a cell; of one that is alone, minus 1 minus its position."""
    return len(positions) if len(positions) > 1 else -1.0 - positions[0]


def _opacity(count: float, most: float) -> float:
    """Return how strong the colour of a cell is: by order of magnitude, and none for a single set."""
    return 0.25 + 0.75 * float(np.log(count) / np.log(most)) if count > 1 else 0.0


def _explain_cells(ax: Axes, palette: Palette, most: float) -> None:
    """Say what a dot is, and how many sets the colours of cells stand for."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Line2D | Patch] = [
        Line2D([], [], marker="o", linestyle="", color=palette.positive, markersize=2.5, label="1 itemset")
    ]
    handles += [
        Patch(facecolor=palette.positive, alpha=_opacity(n, most), label=f"{n:,}")
        for n in sorted({2, round(most**0.5), round(most)} if most > 1 else ())
    ]
    canvas.legend(
        ax, palette, columns=1, handles=handles, handleheight=1.0, loc="lower right", bbox_to_anchor=(1, 0)
    )


def exact_supports(itemsets: Itemsets, data: TransactionsLike) -> Floats:
    """Count the supports of itemsets in the data, 0 if it does not have one of the items; shape (n,)."""
    from itemix.core.transactions import as_transactions
    from itemix.mining.counts import count

    transactions = as_transactions(data)
    known = [name for name in transactions.items if name in itemsets.items]
    aligned = transactions.select_items(known).align_items(itemsets.items)
    found: Floats = count(itemsets.sets, aligned) / max(len(aligned), 1)
    return found


_THRESHOLDS = 300
_LENGTHS_NAMED = 5
_BARS_NAMED = 12


def support_distribution(itemsets: Itemsets, *, ax: Axes | None = None) -> Axes:
    """Draw how many itemsets have at least a support, for every support: all of them, and by length.

    The threshold falls from left to right, so that the lines rise to what was found at the lowest one, where
    they are labelled. Both axes are logarithmic.

    Parameters
    ----------
    itemsets : Itemsets
        From data or from a model.
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
    >>> ax = itemix.plot.support_distribution(itemix.mine(tx, 0.01))
    >>> ax.get_xlabel()
    'least support'
    """
    _require_itemsets(itemsets)
    ax = canvas.axes_of(ax, 6.4, 3.8)
    palette = canvas.palette_of(ax)
    low, high = float(itemsets.support.min()), float(itemsets.support.max())
    lengths = np.unique(itemsets.lengths).tolist()
    lines = [("all", itemsets.support, palette.ink, 2.2)]
    if len(lengths) > 1:
        shades = canvas.spread(palette.steps, len(lengths))
        lines += [
            (plural(length, "item"), itemsets.support[itemsets.lengths == length], shade, 1.6)
            for length, shade in zip(lengths, shades, strict=True)
        ]
    canvas.entitle(ax, palette, "Itemsets by least support")
    canvas.frame(ax, palette, grid="xy")
    for _, support, colour, width in lines:
        ax.step(*_counts_at_least(support, low), where="post", color=colour, linewidth=width)
    canvas.log_shares(ax, "x", high, low)
    ax.set_xlabel("least support")
    ax.set_yscale("log")
    ax.set_ylim(0.8, len(itemsets) * 1.5)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.yaxis.set_minor_formatter(lambda *_: "")
    _label_ends(ax, palette, low, [(name, len(support)) for name, support, *_ in lines])
    return ax


def length_distribution(itemsets: Itemsets, *, ax: Axes | None = None) -> Axes:
    """Draw how many itemsets there are of each length.

    Parameters
    ----------
    itemsets : Itemsets
        From data or from a model.
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
    >>> ax = itemix.plot.length_distribution(itemix.mine(tx, 0.01))
    >>> ax.get_xlabel()
    'items in the set'
    """
    _require_itemsets(itemsets)
    ax = canvas.axes_of(ax, 6.4, 3.2)
    palette = canvas.palette_of(ax)
    lengths, counts = np.unique(itemsets.lengths, return_counts=True)
    canvas.entitle(ax, palette, "Itemsets by length")
    canvas.frame(ax, palette)
    ax.bar(lengths, counts, width=0.72, color=palette.positive)
    size = "small" if len(lengths) <= _BARS_NAMED else "xx-small"
    for length, count in zip(lengths.tolist(), counts.tolist(), strict=True):
        canvas.beside(
            ax, (length, count), f"{count:,}", by=(0, 3), ha="center", va="bottom", fontsize=size,
            color=palette.ink,
        )  # fmt: skip
    ax.set_xticks(lengths)
    ax.set_xlim(lengths[0] - 0.9, max(lengths[-1] + 0.9, lengths[0] + 2.9))
    ax.set_ylim(0, counts.max() * 1.12)
    ax.set_yticks([])
    ax.set_xlabel("items in the set")
    return ax


def top_itemsets(
    itemsets: Itemsets,
    n: int = 15,
    *,
    min_len: int = 1,
    data: TransactionsLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the itemsets of the highest support, with their intervals where they have them.

    Parameters
    ----------
    itemsets : Itemsets
        From data or from a model; `lower` and `upper` are drawn as a line through the support.
    n : int, default 15
        How many, at most 40.
    min_len : int, default 1
        The fewest items of a set.
    data : Transactions, data frame, matrix or list of lists, optional
        Where the exact supports are counted, to be marked beside those of a model.
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
    >>> ax = itemix.plot.top_itemsets(itemix.mine(tx, 0.02), 8, min_len=2)
    >>> len(ax.get_yticks())
    8
    """
    _require_itemsets(itemsets)
    shown = itemsets.top(min(n, 40), min_len=min_len)
    _require_itemsets(shown)
    ax = canvas.axes_of(ax, 6.4, 1.1 + 0.24 * len(shown))
    palette = canvas.palette_of(ax)
    places = np.arange(len(shown))[::-1]
    ends = shown.support if shown.upper is None else np.maximum(shown.support, shown.upper)
    canvas.frame(ax, palette, grid="y")
    if shown.lower is not None and shown.upper is not None:
        line: dict[str, Any] = {"color": palette.positive, "linewidth": 5, "alpha": 0.4, "label": "interval"}
        ax.hlines(places, shown.lower, shown.upper, zorder=2, **line)
    ax.plot(shown.support, places, "o", color=palette.positive, markersize=6, label="support", zorder=3)
    if data is not None:
        ends = np.maximum(ends, _mark_exact(ax, palette, shown, data, places))
    for place, end, support in zip(places.tolist(), ends.tolist(), shown.support.tolist(), strict=True):
        canvas.beside(ax, (end, place), f"{support:.1%}", by=(7, 0), color=palette.ink)
    canvas.name_ticks(ax, "y", places, _names_of(shown, canvas.name_width(ax)))
    ax.set_xlim(0, float(ends.max()) * 1.14)
    ax.set_ylim(-0.7, len(shown) - 0.3)
    ax.xaxis.set_major_formatter(canvas.as_percent)
    ax.set_xlabel("support")
    title = f"The {plural(len(shown), 'top itemset')}" + (
        f" of {min_len} items or more" if min_len > 1 else ""
    )
    canvas.entitle(ax, palette, title, rows=int(data is not None))
    return ax


def differences(comparison: Comparison | ComponentShifts, n: int = 15, *, ax: Axes | None = None) -> Axes:
    """Draw the itemsets, or the components, that differ most between two sets of transactions.

    A line goes from the support in a, a ring, to that in b, a dot, and is labelled with the ratio. Sets whose
    difference a part of them explains are left out. The axis is logarithmic; what does not occur is at its
    left end.

    Parameters
    ----------
    comparison : Comparison or ComponentShifts
        What `itemix.compare` or `itemix.compare_components` has returned.
    n : int, default 15
        How many sets or components, at most 40: the most significant ones.
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
    >>> with_beer, others = tx.holding("beer"), tx[:2000]
    >>> ax = itemix.plot.differences(itemix.compare(others, with_beer, min_support=0.05), 8)
    >>> ax.get_xlabel()
    'support'
    """
    from itemix.mining.comparison import Comparison, ComponentShifts

    is_of_sets = not isinstance(comparison, ComponentShifts)
    if is_of_sets:
        canvas.require_kind(comparison, Comparison, by="itemix.compare(a, b)")
    own: Any = comparison.own() if isinstance(comparison, Comparison) else comparison
    shown = own.take(np.arange(len(own))[: min(n, 40)])
    if len(shown) == 0:
        what, lower = ("itemsets", "min_support") if is_of_sets else ("components", "level")
        try_this = f"try a lower {lower}" if is_of_sets else "try level=1 for all of them"
        raise InvalidInputError(f"expected a comparison with {what} that differ, got none; {try_this}")
    ax = canvas.axes_of(ax, 7.6, 1.3 + 0.26 * len(shown))
    palette = canvas.palette_of(ax)
    places = np.arange(len(shown))[::-1]
    both = np.stack([shown.support_a, shown.support_b] if is_of_sets else [shown.share_a, shown.share_b])
    low, high = float(both[both > 0].min()) / 2, float(both.max())
    both = np.maximum(both, low)
    canvas.frame(ax, palette, grid="y")
    for is_more, colour in ((True, palette.positive), (False, palette.negative)):
        chosen = (shown.ratio > 1) == is_more
        if not chosen.any():
            continue
        a, b = both[:, chosen]
        ax.hlines(places[chosen], a, b, color=colour, linewidth=1.6, alpha=0.6, zorder=2)
        mark: dict[str, Any] = {"color": colour, "markersize": 6, "clip_on": False, "zorder": 4}
        ax.plot(a, places[chosen], "o", markerfacecolor=palette.paper, **mark)
        ax.plot(b, places[chosen], "o", **mark)
    for place, end, ratio in zip(
        places.tolist(), both.max(axis=0).tolist(), shown.ratio.tolist(), strict=True
    ):
        canvas.beside(ax, (end, place), _times(ratio), by=(7, 0), color=palette.ink)
    width = max(canvas.name_width(ax), _SET_WIDTH)
    named = shown.sets if is_of_sets else shown.typical
    names = [canvas.short_sets([names], width)[0] for names in named]
    if not is_of_sets:
        names = [name if len(names) else "others" for name, names in zip(names, named, strict=True)]
    if shown.group is not None:
        names = [f"{group}: {name}" for group, name in zip(shown.group, names, strict=True)]
    canvas.name_ticks(ax, "y", places, names)
    canvas.log_shares(ax, "x", low, min(high * 1.9, 1.0))
    ax.set_ylim(-0.7, len(shown) - 0.3)
    ax.set_xlabel("support" if is_of_sets else "share of the transactions")
    title = "What differs: a (ring) and b (dot)"
    canvas.entitle(ax, palette, title)
    return ax


_MOST_SURPRISES = 1000
_STEPS_OF_Q = (1e-4, 1e-2)


def surprises(surprises: Surprises, *, n_named: int = 5, ax: Axes | None = None) -> Axes:
    """Draw surprises: the support in the data against the expected one, coloured by q value.

    Both axes are logarithmic; on the line both are the same. Sets that are more frequent than expected are
    blue and point upwards, the others are orange and point downwards, the stronger the smaller q is. Sets
    with a q value above 5% are rings: they are there if `itemix.surprises` was asked for all sets with
    ``level=1``. The most significant ones have a number and stand below in words.

    Parameters
    ----------
    surprises : Surprises
        What `itemix.surprises` has returned.
    n_named : int, default 5
        How many surprises to name, at most 9. Of those that would lie on each other only the first is named.
    ax : matplotlib Axes, optional
        Where to draw; by default new ones.

    Returns
    -------
    Axes
        What was drawn on.

    Examples
    --------
    >>> import itemix
    >>> train, new = itemix.datasets.load("grocery_store").split(0.5, random_state=0)
    >>> model = itemix.DirichletProcessMixture(12, random_state=0).fit(train)
    >>> ax = itemix.plot.surprises(itemix.surprises(model, new, min_support=0.02, level=1.0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('expected support', 'support in the data')
    """
    from itemix.mining.surprise import Surprises

    canvas.require_kind(surprises, Surprises, by="itemix.surprises(model, data)")
    if len(surprises) == 0:
        raise InvalidInputError(
            "expected at least one surprise to draw, got none; try level=1.0 for all sets"
        )
    is_find = surprises.q_value <= _FIND
    finds = surprises.take(np.flatnonzero(is_find)[:_MOST_SURPRISES])
    n_named = min(n_named, _MOST_NAMED, len(finds))
    ax = canvas.axes_of(ax, 6.0, 4.6 + 0.18 * n_named)
    palette = canvas.palette_of(ax)
    both = np.stack([surprises.expected, surprises.support])
    # What does not occur lies at the edge.
    low = np.array([values[values > 0].min(initial=1.0) for values in both]) / 1.3
    high = np.minimum(both.max(axis=1) * 1.2, 1.0)
    canvas.entitle(ax, palette, _in_words(surprises, len(finds)), rows=1)
    canvas.frame(ax, palette, grid="xy")
    ends = float(low.min()), float(high.max())
    ax.plot(ends, ends, color=palette.muted, linewidth=1, zorder=1)
    places = np.maximum(both, 1.05 * low[:, None])
    others = np.flatnonzero(~is_find)
    # If there are very many, only every n-th is drawn: the cloud looks the same.
    others = others[:: max(1, -(-len(others) // _MOST_SURPRISES))]
    if len(others):
        rings: dict[str, Any] = {"s": 9, "facecolors": "none", "edgecolors": palette.muted, "linewidths": 0.5}
        ax.scatter(*places[:, others], **rings, alpha=0.6, label="no find", zorder=2)
    step = np.searchsorted(_STEPS_OF_Q, finds.q_value)
    more = finds.ratio > 1
    at = places[:, is_find][:, : len(finds)]
    for position, (alpha, label) in reversed(list(enumerate(_SHOWN_AS))):
        own = step == position
        sides = (own & more, "^", palette.positive, label), (own & ~more, "v", palette.negative, "")
        for held, marker, colour, own_label in sides:
            if held.any():
                mark: dict[str, Any] = {"s": 30, "marker": marker, "color": colour, "linewidths": 0}
                is_named = own_label or not (own & more).any()
                ax.scatter(
                    *at[:, held], **mark, alpha=alpha, label=label if is_named else None, zorder=6 - position
                )
    for axis, first, last in zip("xy", low.tolist(), high.tolist(), strict=True):
        canvas.log_shares(ax, axis, first, last)
    ax.set(xlabel="expected support", ylabel="support in the data")

    def said(position: int, room: int) -> str:
        found = finds[position : position + 1]
        numbers = f"{canvas.as_percent(found.support[0])} for {canvas.as_percent(found.expected[0])}"
        return f"{canvas.short_sets([found.sets[0]], room - len(numbers) - 2)[0]}: {numbers}"

    _name_best(ax, palette, at.T, said, n_named)
    canvas.legend(ax, palette, columns=5, handletextpad=0.1, columnspacing=0.8)
    return ax


_FIND = 0.05
_SHOWN_AS = ((1.0, "q up to 0.01%"), (0.7, "q up to 1%"), (0.45, "q up to 5%"))


def _in_words(found: Surprises, n_finds: int) -> str:
    if n_finds < len(found):
        return f"{plural(n_finds, 'surprise')} among {len(found):,} itemsets"
    return f"{plural(n_finds, 'surprise')}: seen and expected"


_SET_WIDTH = 34


def _times(ratio: float) -> str:
    if ratio == 0:
        return "lost"
    return f"{ratio:.3g} times" if np.isfinite(ratio) else "new"


def _counts_at_least(support: Floats, low: float) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return thresholds, highest first, and how many supports are at least as high."""
    ordered = np.sort(support)
    thresholds = np.unique(ordered)
    if len(thresholds) > _THRESHOLDS:
        thresholds = np.geomspace(ordered[0], ordered[-1], _THRESHOLDS)
        thresholds[0], thresholds[-1] = ordered[0], ordered[-1]
    counts = len(ordered) - np.searchsorted(ordered, thresholds)
    return np.append(thresholds[::-1], low), np.append(counts[::-1], len(ordered))


def _label_ends(ax: Axes, palette: Palette, low: float, ends: list[tuple[str, int]]) -> None:
    """Write beside the ends of lines what they are; if there is no room for all, beside the highest."""
    whole, *others = ends
    named = [whole, *sorted(others, key=lambda end: -end[1])[:_LENGTHS_NAMED]]
    heights = canvas.apart([float(np.log10(count)) for _, count in named], _line_in_decades(ax), 0.0)
    for (name, count), height in zip(named, heights, strict=True):
        is_whole = name == whole[0]
        canvas.beside(
            ax,
            (low, 10**height),
            f"{count:,} {'in all' if is_whole else f'of {name}'}",
            color=palette.ink if is_whole else palette.muted,
            fontweight="bold" if is_whole else "normal",
        )


def _line_in_decades(ax: Axes) -> float:
    """Return the height of a line of text on the logarithmic y axis."""
    bottom, top = np.log10(ax.get_ylim())
    return float(top - bottom) / canvas.size_in_characters(ax)[1]


def _mark_exact(
    ax: Axes,
    palette: Palette,
    shown: Itemsets,
    data: TransactionsLike,
    places: npt.NDArray[np.int64],
) -> Floats:
    exact = exact_supports(shown, data)
    mark: dict[str, Any] = {"markersize": 11, "markeredgewidth": 2, "color": palette.negative}
    ax.plot(exact, places, "|", label="in the data", zorder=4, **mark)
    # There is room for it above the names.
    canvas.legend(ax, palette, columns=3, loc="lower right", bbox_to_anchor=(1, 1))
    return exact


def _names_of(itemsets: Itemsets, width: int) -> list[str]:
    """Return the sets for the side of a picture; an item alone needs no braces."""
    if itemsets.lengths.max() == 1:
        return canvas.short((names[0] for names in itemsets.sets), width)
    return [canvas.short_sets([names], width * 3 // 2)[0] for names in itemsets.sets]


def _require_itemsets(itemsets: Itemsets) -> None:
    """Raise InvalidInputError if there is no itemset to draw."""
    canvas.require_kind(itemsets, Itemsets, by="itemix.mine(data, 0.01)")
    if len(itemsets) == 0:
        raise InvalidInputError(
            "expected at least one itemset to draw, got none; mine with a lower min_support, or ask for "
            "shorter ones"
        )


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

    def said(position: int, room: int) -> str:
        rule = shown[position]
        return " → ".join(canvas.short_sets([rule.antecedents, rule.consequents], room))

    _name_best(ax, palette, np.column_stack([shown.support, shown.confidence]), said, n_named)
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


def _name_best(ax: Axes, palette: Palette, places: Floats, said: Callable[[int, int], str], n: int) -> None:
    """Put numbers on the first places that are far enough from each other, and write below what they are.

    `said` gets a position and how many characters there is room for.
    """
    on_axes = ax.transLimits.transform(ax.transScale.transform(places))
    chosen: list[int] = []
    for position, place in enumerate(on_axes):
        if len(chosen) < n and all(np.hypot(*(place - on_axes[other])) > _APART for other in chosen):
            chosen.append(position)
    room = int(canvas.size_in_characters(ax)[0]) - 6
    lines = []
    for number, position in enumerate(chosen, start=1):
        x, y = places[position].tolist()
        badge: dict[str, Any] = {
            "s": 105,
            "facecolor": palette.paper,
            "edgecolor": palette.ink,
            "linewidths": 1.2,
        }
        ax.scatter(x, y, **badge, zorder=9 + number)
        number_in_it = {"ha": "center", "fontsize": "x-small", "fontweight": "bold", "color": palette.ink}
        canvas.beside(ax, (x, y), str(number), by=(0, -0.5), zorder=9 + number, **number_in_it)
        lines.append(f"{number}  {said(position, room)}")
    canvas.below(ax, palette, lines)
