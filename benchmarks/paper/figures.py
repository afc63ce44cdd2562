"""The figures of the document: vector graphics without a background, readable on white and on black.

Colours are those of Okabe and Ito, which people of all kinds of colour vision tell apart; lines are named
where they end rather than in a legend, and each method has a mark of its own.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from statistics import mean
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from .claims import crossing
from .inputs import INPUTS
from .measures import BIN_WIDTH
from .methods import FLOOR, PAPER_METHODS, label
from .scales import MINERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    from .summary import Summary

INK = "#767676"
COLOURS = {
    "nbm": "#D55E00",
    "vfbm": "#56B4E9",
    "gsfbm": "#0072B2",
    "vdpm": "#E69F00",
    "gsdpm": "#009E73",
    FLOOR: INK,
}
MARKS = {"nbm": "v", "vfbm": "o", "gsfbm": "s", "vdpm": "D", "gsdpm": "^", FLOOR: ""}
_MINER_COLOURS = dict(zip(MINERS, ("#0072B2", "#D55E00", "#E69F00"), strict=True))
_SHOWN_COMPONENTS = 50
TITLES = {
    "supports": "How many itemsets have which support",
    "bias": "Relative difference between model and data by the length of itemsets",
    "crossing": "Time of mining data and of mining a model, against the number of rows",
}
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "font.size": 9,
    "svg.hashsalt": "itemix",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw_supports(summary: Summary, path: Path) -> bool:
    """Draw how the frequent itemsets lie over support."""
    names = [
        name
        for name in (*summary.scale.synthetic[:1], *summary.scale.real)
        if summary.get("data", name) is not None
    ]
    with _panels(path, len(names)) as panels:
        for panel, name in zip(panels, names, strict=True):
            record = summary.get("data", name)
            assert record is not None  # noqa: S101 - names are those that have one
            counts = record["supports"]
            first = next(i for i, n in enumerate(counts) if n)
            last = max(i for i, n in enumerate(counts) if n)
            left = [100 * BIN_WIDTH * i for i in range(first, last + 1)]
            panel.bar(left, counts[first : last + 1], 92 * BIN_WIDTH, align="edge", color="#0072B2")
            share = counts[first] / sum(counts)
            panel.annotate(
                f"{100 * share:.0f}% of {sum(counts):,}",
                (left[0] + 100 * BIN_WIDTH, counts[first]),
                xytext=(6, -2),
                textcoords="offset points",
                va="top",
            )
            panel.set_title(INPUTS[name].label, loc="left")
            panel.set_xlabel("support, %")
            panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    return bool(names)


def draw_bias(summary: Summary, path: Path) -> bool:
    """Draw the mean relative difference by length of itemset for each method (the under-estimation)."""
    names = [name for name in summary.scale.real if summary.rows("table4", name)]
    with _panels(path, len(names), n_columns=2, height=2.9) as panels:
        for panel, name in zip(panels, names, strict=True):
            lines = {method: _bias(summary, name, method) for method in (FLOOR, *PAPER_METHODS)}
            _draw_lines(panel, {method: line for method, line in lines.items() if line})
            panel.axhline(0, color=INK, linewidth=0.6)
            panel.set_title(INPUTS[name].label, loc="left")
            panel.set_xlabel("items in the set")
            panel.set_ylabel("relative difference, %")
    return bool(names)


def _bias(summary: Summary, name: str, method: str) -> dict[int, float]:
    """Return the mean over runs of the relative difference of each length, in per cent."""
    by_length: dict[int, list[float]] = defaultdict(list)
    choices = summary.scale.components
    nearest = min(choices, key=lambda K: abs(K - _SHOWN_COMPONENTS))
    runs = summary.runs("table4", name, method, nearest) or summary.runs("table4", name, method)
    for record in runs:
        for length, _, _, bias in record["by_length"]:
            by_length[length].append(100 * bias)
    return {length: mean(values) for length, values in sorted(by_length.items())}


def _draw_lines(panel: Axes, lines: dict[str, dict[int, float]]) -> None:
    for method, line in lines.items():
        panel.plot(
            list(line),
            list(line.values()),
            color=COLOURS[method],
            linestyle="--" if method == FLOOR else "-",
            marker=MARKS[method],
            markersize=4,
            linewidth=1.4,
        )
    ends = {method: line[max(line)] for method, line in lines.items()}
    low, high = panel.get_ylim()
    right = max(max(line) for line in lines.values())
    for method, y in _apart(ends, (high - low) / 14).items():
        at = (max(lines[method]), ends[method])
        panel.annotate(
            label(method),
            at,
            xytext=(right + 0.04 * right, y),
            color=COLOURS[method],
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": COLOURS[method], "linewidth": 0.5, "shrinkB": 2},
        )
    panel.set_xlim(right=right * 1.22)
    panel.set_xticks([length for length in panel.get_xticks() if 1 <= length <= right and length % 1 == 0])


def _apart(places: dict[str, float], gap: float) -> dict[str, float]:
    """Move labels up and down as little as it takes for each to have room."""
    order = sorted(places, key=lambda key: places[key])
    moved = [places[key] for key in order]
    for _ in range(200):
        for i in range(len(moved) - 1):
            short = gap - (moved[i + 1] - moved[i])
            if short > 0:
                moved[i] -= short / 2
                moved[i + 1] += short / 2
    return dict(zip(order, moved, strict=True))


def draw_crossing(summary: Summary, path: Path) -> bool:
    """Draw the time of mining data against its number of rows, and that of mining a model of it."""
    name, n_rows = summary.scale.generated[0], summary.scale.n_rows
    times = {miner: found for miner in MINERS if (found := summary.times(name, miner))}
    K = max(summary.scale.components)
    model = summary.get("table6", name, "vfbm", K)
    if not times or model is None:
        return False
    with _panels(path, 1, n_columns=1, height=4.2) as (panel,):
        for miner, points in times.items():
            _draw_times(panel, points, miner, _MINER_COLOURS[miner])
        milliseconds = 1e3 * model["wall_seconds"]
        panel.plot([min(n_rows), max(n_rows)], [milliseconds] * 2, color=COLOURS["gsdpm"], linewidth=2)
        _name_line(panel, max(n_rows), milliseconds, f"model, K = {K}", COLOURS["gsdpm"])
        _mark_crossing(panel, crossing(times[MINERS[0]], model["wall_seconds"]), milliseconds)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlim(right=max(n_rows) * 4)
        panel.set_xlabel("rows of the data")
        panel.set_ylabel("milliseconds")
        panel.set_title(f"{INPUTS[name].label}, {100 * INPUTS[name].min_support:g}% support", loc="left")
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.4g}")
    return True


def _mark_crossing(panel: Axes, n_rows: float | None, milliseconds: float) -> None:
    if n_rows is None:
        return
    panel.plot([n_rows], [milliseconds], "o", color=COLOURS["gsdpm"], markersize=8, markerfacecolor="none")
    panel.annotate(
        f"{round(n_rows, -2):,.0f} rows",
        (n_rows, milliseconds),
        xytext=(6, -12),
        textcoords="offset points",
        color=COLOURS["gsdpm"],
    )


def _draw_times(panel: Axes, points: dict[int, dict[str, Any]], miner: str, colour: str) -> None:
    """Draw the time of a miner as it is called, and dashed that of its search alone where it is known."""
    times = [1e3 * record["wall_seconds"] for record in points.values()]
    panel.plot(list(points), times, color=colour, marker="o", markersize=3.5, linewidth=1.4)
    _name_line(panel, max(points), times[-1], f"data, {miner}", colour)
    alone = [1e3 * record["search_seconds"] for record in points.values() if "search_seconds" in record]
    if len(alone) == len(points) and min(alone) > 0:
        panel.plot(list(points), alone, color=colour, linestyle=":", linewidth=1.4)
        _name_line(panel, max(points), alone[-1], "its search alone", colour)


def _name_line(panel: Axes, x: float, y: float, text: str, colour: str) -> None:
    panel.annotate(text, (x, y), xytext=(6, 0), textcoords="offset points", color=colour, va="center")


@contextmanager
def _panels(path: Path, n: int, *, n_columns: int = 3, height: float = 2.4) -> Iterator[list[Axes]]:
    """Make panels in rows, and write them when they are drawn; without any, nothing is written."""
    if not n:
        yield []
        return
    n_columns = min(n_columns, n)
    n_rows = -(-n // n_columns)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8.2, height * n_rows), layout="constrained")
        grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel().tolist()
        for spare in grid[n:]:
            spare.remove()
        yield grid[:n]
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
