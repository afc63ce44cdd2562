"""The figures of the document: vector graphics without a background, readable on white and on black.

Colours are those of Okabe and Ito, which people of all kinds of colour vision tell apart; lines are named
where they end rather than in a legend, and each method has a mark of its own.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from .claims import crossing
from .inputs import INPUTS
from .methods import FLOOR, PAPER_METHODS, label
from .scales import MINERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    from .store import Record
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
    "reliability": "How often items were there, by how probable they were said to be",
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
    "svg.fonttype": "none",
    "svg.hashsalt": "itemix",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw_supports(summary: Summary, path: Path) -> bool:
    """Draw how the frequent itemsets lie over support."""
    names = [
        name for name in (*summary.scale.synthetic[:1], *summary.scale.real) if summary.data(name) is not None
    ]
    with _panels(path, len(names)) as panels:
        for panel, name in zip(panels, names, strict=True):
            record = summary.data(name)
            assert record is not None  # noqa: S101 - names are those that have one
            counts, width = record["supports"], 100 * record["bar_width"]
            first = 100 * INPUTS[name].min_support
            left = [first + width * i for i in range(len(counts))]
            panel.bar(left, counts, 0.92 * width, align="edge", color="#0072B2")
            total = sum(record["lengths"])
            panel.annotate(
                f"{100 * counts[0] / total:.0f}% of {total:,}\nbelow {first + width:.3g}%",
                (left[0] + width, counts[0]),
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
        style: dict[str, Any] = {
            "linestyle": "--" if method == FLOOR else "-",
            "marker": MARKS[method],
            "markersize": 4,
        }
        panel.plot(list(line), list(line.values()), color=COLOURS[method], linewidth=1.4, **style)
    right = max(max(line) for line in lines.values())
    panel.set_xlim(right=1.25 * right)
    panel.set_xticks([length for length in panel.get_xticks() if 1 <= length <= right and length % 1 == 0])
    ends = [End(max(line), line[max(line)], label(key), COLOURS[key]) for key, line in lines.items()]
    _name_lines(panel, ends, 1.04 * right)


def draw_crossing(summary: Summary, path: Path) -> bool:
    """Draw the time of mining data against its number of rows, and that of mining a model of it."""
    name, n_rows = summary.scale.generated[0], summary.scale.n_rows
    times = {miner: found for miner in MINERS if (found := summary.times(name, miner))}
    K = max(summary.scale.components)
    model = summary.get("table6", name, "vfbm", K)
    if not times or model is None:
        return False
    with _panels(path, 1, n_columns=1, height=4.2) as (panel,):
        panel.set_xscale("log")
        panel.set_yscale("log")
        ends = [end for miner, points in times.items() for end in _draw_times(panel, points, miner)]
        milliseconds = 1e3 * model["wall_seconds"]
        panel.plot([min(n_rows), max(n_rows)], [milliseconds] * 2, color=COLOURS["gsdpm"], linewidth=2)
        ends.append(End(max(n_rows), milliseconds, f"the model, K = {K}", COLOURS["gsdpm"]))
        _mark_crossing(panel, crossing(times[MINERS[0]], model["wall_seconds"]), milliseconds)
        panel.set_xlim(right=max(n_rows) * 12)
        _name_lines(panel, ends, 1.3 * max(n_rows))
        panel.set_xlabel("rows of the data")
        panel.set_ylabel("milliseconds")
        panel.set_title(f"{INPUTS[name].label}, {100 * INPUTS[name].min_support:g}% support", loc="left")
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value <= max(n_rows) else "")
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.4g}")
    return True


def draw_reliability(summary: Summary, path: Path) -> bool:
    """Draw how often items were in test baskets, by how probable they were said to be."""
    found = summary.front()
    with _panels(path, len(found), n_columns=2, height=2.9) as panels:
        for panel, (name, record) in zip(panels, found.items(), strict=True):
            ends = [1e-4, 1.0]
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.plot(ends, ends, color=INK, linewidth=0.8, linestyle="--")
            panel.plot(record["said"], record["came"], color="#0072B2", marker="o", markersize=3.5)
            panel.set_title(INPUTS[name].label, loc="left")
            panel.set_xlabel("probability that was given")
            panel.set_ylabel("how often it was there")
    return bool(found)


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


def _draw_times(panel: Axes, points: dict[int, Record], miner: str) -> Iterator[End]:
    """Draw the time of a miner as it is called, and dotted that of its search alone where it is known."""
    colour = _MINER_COLOURS[miner]
    times = [1e3 * record["wall_seconds"] for record in points.values()]
    panel.plot(list(points), times, color=colour, marker="o", markersize=3.5, linewidth=1.4)
    yield End(max(points), times[-1], miner, colour)
    alone = [1e3 * record.get("search_seconds", 0.0) for record in points.values()]
    if min(alone) > 0:
        panel.plot(list(points), alone, color=colour, linestyle=":", linewidth=1.4)
        yield End(max(points), alone[-1], f"{miner}, search alone", colour)


class End(NamedTuple):
    """Where a line ends, what it is called, and its colour."""

    x: float
    y: float
    name: str
    colour: str


def _name_lines(panel: Axes, ends: list[End], x: float) -> None:
    """Write the name of each line beside its end, moved up or down where others need the room."""
    to_points, back = panel.transData, panel.transData.inverted()
    wanted = {end: float(to_points.transform((end.x, end.y))[1]) for end in ends}
    bottom, top = (float(y) for y in to_points.transform([(x, y) for y in panel.get_ylim()])[:, 1])
    room = (top - bottom) / max(13, len(ends))
    for end, y in _apart(wanted, room, bottom + room / 2).items():
        panel.annotate(
            end.name,
            (end.x, end.y),
            xytext=(x, float(back.transform((0.0, y))[1])),
            color=end.colour,
            va="center",
            arrowprops={"arrowstyle": "-", "color": end.colour, "linewidth": 0.5, "relpos": (0, 0.5)},
        )


def _apart(places: dict[End, float], gap: float, bottom: float) -> dict[End, float]:
    """Move places apart, as little as it takes, without going below the bottom."""
    order = sorted(places, key=lambda end: places[end])
    moved = [places[end] for end in order]
    for _ in range(100):
        for i in range(len(moved) - 1):
            short = max(gap - (moved[i + 1] - moved[i]), 0.0)
            moved[i] -= short / 2
            moved[i + 1] += short / 2
        moved[0] = max(moved[0], bottom)
    return dict(zip(order, moved, strict=True))


@contextmanager
def _panels(path: Path, n: int, *, n_columns: int = 3, height: float = 2.4) -> Iterator[list[Axes]]:
    """Make panels in rows, and write them when they are drawn; without any, nothing is written."""
    if not n:
        yield []
        return
    n_columns = min(n_columns, n)
    n_rows = -(-n // n_columns)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8.2, height * n_rows), layout=ConstrainedLayoutEngine(h_pad=0.1))
        grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel().tolist()
        for spare in grid[n:]:
            spare.remove()
        yield grid[:n]
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
