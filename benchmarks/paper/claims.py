"""What the figures say: every number in a sentence of the document, and which targets hold."""

from __future__ import annotations

import math
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from .inputs import INPUTS
from .methods import BAYESIAN, CORRECTED, FRONT, PAPER_METHODS, label
from .scales import DENSE, SPARSE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .store import Record
    from .summary import Row, Started, Summary

# Held-out log-likelihoods that quick prototypes of Bernoulli mixtures reached.
PROTOTYPES = {
    "debd-nltcs": -6.01,
    "debd-plants": -13.29,
    "debd-accidents": -35.8,
    "debd-tretail": -10.91,
    "debd-dna": -95.2,
    "debd-kosarek": -10.97,
    "debd-msweb": -9.92,
}
# The same with mixtures of Chow-Liu trees.
TREES = {
    "debd-nltcs": -6.01,
    "debd-plants": -13.0,
    "debd-accidents": -29.7,
    "debd-tretail": -10.85,
    "debd-dna": -85.5,
    "debd-kosarek": -10.65,
    "debd-msweb": -9.86,
}
# Online retail: log-likelihoods that default starts should reach, and what `itemix.fit` makes.
STARTED = {("vfbm", 10): -115.5, ("vfbm", 50): -117.0, ("vfbm-learned", 50): -109.4}
_FRONT_LIKELIHOOD = -103.4
_MOST_LOST = 0.005
# Gains of recommendations: where they are to be better than EASE's, and by how much.
_BETTER_THAN_EASE = {"groceries": 1.02, "msweb": 1.02}
_MOST_SECONDS = 10.0
_FLOOR_FACTOR = 1.05
_POINTS = 3.0
_COVER = (85.0, 95.0)
_MUSHROOM_COMPONENTS = (15, 30)
_MSWEB_ERROR = 19.7
_MOST_HOURS = 3.0
# With so much of the data to train, in per cent, a corrected mixture is to be no worse than counting on any
# data, better where data is sparse, and no worse for long sets.
_SCARCE = (5, 10)
_NO_WORSE, _BETTER, _LONG = 1.02, 0.95, 1.05


class Target(NamedTuple):
    """Something that the figures should show, what they do show, and whether that is it."""

    wanted: str
    measured: str
    holds: bool


def crossing(times: dict[int, Record], seconds: float) -> float | None:
    """Return the number of rows from which mining data takes longer than some time; None if it never does.

    Between two measured numbers of rows the logarithm of the time is taken to be linear in that of the rows.
    """
    below: tuple[int, float] | None = None
    for n, record in sorted(times.items()):
        taken = record["wall_seconds"]
        if taken >= seconds:
            if below is None:
                return float(n)
            share = math.log(seconds / below[1]) / math.log(taken / below[1])
            return float(below[0] * (n / below[0]) ** share)
        below = (n, taken)
    return None


def is_within_paper(row: Row) -> bool:
    """Whether the error of a row is at most the paper's plus one of its standard deviations."""
    return row.own["E"].mean <= row.paper["E"].mean + row.paper["E"].sd


def bayesian(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of the paper's Bayesian methods that it has a figure for."""
    return [row for row in rows if row.method in BAYESIAN and row.paper]


def best(rows: Iterable[Row]) -> Row:
    """Return the row with the least error."""
    return min(rows, key=lambda row: row.own["E"].mean)


def floor_ratios(row: Row) -> list[float]:
    """Return the error of each run as a multiple of the floor of its split."""
    return [run["E"] / floor["E"] for run, floor in zip(row.runs, row.floors, strict=True)]


def targets(summary: Summary) -> list[Target]:
    """Return all targets that there are results for."""
    found = [_bayesian_target(summary, "table4", name) for name in summary.scale.real]
    found += [_bayesian_target(summary, "alike", name) for name in summary.scale.alike]
    found += [_nbm_target(summary, "table4"), _nbm_target(summary, "alike")]
    found += [_mushroom_target(summary), _msweb_target(summary)]
    found += [_synthetic_target(summary, name) for name in summary.scale.synthetic]
    found += [target for name in summary.scale.beyond for target in _corrected_targets(summary, name)]
    found += [_many_target(summary, name) for name in summary.scale.real]
    found += [_compared_target(summary)]
    found += [target for share in _SCARCE for target in _scarce_targets(summary, share)]
    found += _start_targets(summary)
    found += _front_targets(summary)
    mixtures = (*PAPER_METHODS, "gsdpm-learned")
    for methods, what, wanted in (
        (mixtures, "Bernoulli mixture", PROTOTYPES),
        (("trees",), "mixture of trees", TREES),
    ):
        found += [_density_target(summary, name, methods, what, wanted) for name in summary.scale.density]
    found += [_hours_target(summary)]
    return [target for target in found if target is not None]


def _bayesian_target(summary: Summary, part: str, name: str) -> Target | None:
    rows = bayesian(summary.rows(part, name))
    if not rows:
        return None
    within = [row for row in rows if is_within_paper(row)]
    where = INPUTS[name].label + (", halves like the paper's" if part == "alike" else "")
    wanted = f"{where}: E of every Bayesian row at most the paper's plus one standard deviation"
    return Target(wanted, f"{len(within)} of {len(rows)} rows", len(within) == len(rows))


def _nbm_target(summary: Summary, part: str) -> Target | None:
    rows = [row for row in summary.all_rows(part) if row.method == "nbm" and row.paper]
    if not rows:
        return None
    ratios = [row.own["E"].mean / row.paper["E"].mean for row in rows]
    measured = f"{min(ratios):.2f} to {max(ratios):.2f} of the paper's, {mean(ratios):.2f} on average"
    where = {"table4": "all four sets", "alike": "halves like the paper's"}[part]
    return Target(f"{where}: E of the NBM rows far below the paper's", measured, max(ratios) < 1)


def _mushroom_target(summary: Summary) -> Target | None:
    rows = [row for row in summary.rows("table4", "mushroom") if row.method == "gsdpm"]
    if not rows:
        return None
    ratios = floor_ratios(rows[0])
    numbers = [run["components"] for run in rows[0].runs]
    least, most = _MUSHROOM_COMPONENTS
    holds = max(ratios) <= _FLOOR_FACTOR and least <= min(numbers) and max(numbers) <= most
    wanted = f"mushroom: GSDPM within 5% of the floor in every run, with {least} to {most} components"
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return Target(
        wanted, f"{shown} times the floor; {min(numbers):.0f} to {max(numbers):.0f} components", holds
    )


def _msweb_target(summary: Summary) -> Target | None:
    rows = [row for row in summary.rows("table4", "msweb") if row.method == "gsdpm"]
    if not rows:
        return None
    error = rows[0].own["E"].mean
    return Target(f"MS Web: E of GSDPM at most {_MSWEB_ERROR}%", f"{error:.2f}%", error <= _MSWEB_ERROR)


def _synthetic_target(summary: Summary, name: str) -> Target | None:
    rows = bayesian(summary.rows("table3", name))
    if not rows:
        return None
    row = best(rows)
    own, floor = row.own["E"].mean, row.floor["E"].mean
    measured = f"{label(row.method)} {own:.2f}%, floor {floor:.2f}%"
    return Target(
        f"{INPUTS[name].label}: E of the best Bayesian method below the floor", measured, own < floor
    )


def _corrected_targets(summary: Summary, name: str) -> list[Target]:
    """Return what corrected mixtures should come to on a data set: near to the floor, in every way."""
    rows = {row.method: row for row in summary.rows("beyond", name) if row.method in CORRECTED}
    if not rows:
        return []
    ratios = {method: row.of_the_floor for method, row in rows.items()}
    above = {
        method: [row.own[key].mean - row.floor[key].mean for key in ("F-", "F+")]
        for method, row in rows.items()
    }
    covers = {method: 100 * (row.average("cover") or 0.0) for method, row in rows.items()}
    return [
        Target(
            f"{INPUTS[name].label}, corrected: E at most {_FLOOR_FACTOR} times the floor",
            _each({method: f"{ratio:.3f}" for method, ratio in ratios.items()}),
            max(ratios.values()) <= _FLOOR_FACTOR,
        ),
        Target(
            f"{INPUTS[name].label}, corrected: F- and F+ within {_POINTS:g} points of the floor's, or lower",
            _each(
                {method: " and ".join(f"{value:+.1f}" for value in pair) for method, pair in above.items()}
            ),
            max(max(pair) for pair in above.values()) <= _POINTS,
        ),
        Target(
            f"{INPUTS[name].label}, corrected: intervals of 90% cover {_COVER[0]:g} to {_COVER[1]:g}%",
            _each({method: f"{cover:.1f}%" for method, cover in covers.items()}) + _counted(rows),
            all(_COVER[0] <= cover <= _COVER[1] for cover in covers.values()),
        ),
    ]


def _many_target(summary: Summary, name: str) -> Target | None:
    fits, floors = summary.many(name)
    if not fits:
        return None
    ratio = mean(fit["E"] for fit in fits) / mean(floor["E"] for floor in floors)
    cover = 100 * mean(fit["cover"] for fit in fits)
    return Target(
        f"{INPUTS[name].label}, {len(fits)} halves, corrected VDPM: the same of E and of the intervals",
        f"{ratio:.3f} times the floor, {cover:.1f}%",
        ratio <= _FLOOR_FACTOR and _COVER[0] <= cover <= _COVER[1],
    )


def _compared_target(summary: Summary) -> Target | None:
    """Return whether today's correction is no worse than the earlier one, beyond what divisions differ by."""
    rows = summary.compared()
    if not rows:
        return None
    worst = max(rows, key=lambda row: row.difference)
    where = f"{INPUTS[worst.dataset].label}, {label(worst.method).split(',')[0]}"
    return Target(
        "halves, corrected: E above that of an earlier correction by no more than two standard errors",
        f"at the worst {worst.difference:+.4f} times the floor, standard error {worst.standard_error:.4f} "
        f"({where}, {len(worst.floor)} divisions)",
        all(row.difference <= 2 * row.standard_error for row in rows),
    )


def _scarce_targets(summary: Summary, share: int) -> list[Target]:
    """Return what corrected mixtures should come to with little data to train."""
    ratios = {one.dataset: one.ratio("corrected") or 0.0 for one in summary.all_scarce(share)}
    sparse = {name: ratio for name, ratio in ratios.items() if name in SPARSE}
    long = {
        one.dataset: ratio
        for one in summary.all_scarce(share, DENSE)
        if (ratio := one.ratio("corrected", "E_long")) is not None
    }
    what = f"{share}% to train, corrected"
    found = []
    if ratios:
        wanted = f"{what}: E at most {_NO_WORSE} times counting's on every set"
        found.append(Target(wanted, _by_name(ratios), max(ratios.values()) <= _NO_WORSE))
    if sparse:
        wanted = f"{what}: E at most {_BETTER} times counting's on average over {_names(SPARSE)}"
        average = mean(sparse.values())
        missing = [name for name in SPARSE if name not in sparse]
        left_out = f" ({_names(missing)} not measured)" if missing else ""
        holds = average <= _BETTER and not missing
        found.append(Target(wanted, f"{average:.3f}{left_out}", holds))
    if long:
        wanted = f"{what}: E of sets longer than five at most {_LONG} times counting's on {_names(DENSE)}"
        found.append(Target(wanted, _by_name(long), max(long.values()) <= _LONG))
    return found


def _start_targets(summary: Summary) -> list[Target]:
    """Return what fits from the default starts should come to."""
    found = []
    starts = summary.starts()
    for one in starts:
        least = STARTED.get((one.method, one.components))
        if one.dataset == "online-retail" and least is not None:
            wanted = f"{_started(one)}, default start: log-likelihood at least {least}"
            found.append(Target(wanted, f"{one.own:.1f}", round(one.own, 1) >= least))
    if starts:
        worst = min(starts, key=lambda one: one.gain)
        wanted = (
            f"default starts, {len(starts)} fits: log-likelihood at most {100 * _MOST_LOST:g}% below that of "
            "the best other start"
        )
        measured = f"{100 * worst.gain:+.2f}% at the least ({_started(worst)})"
        found.append(Target(wanted, measured, worst.gain >= -_MOST_LOST))
    return found


def _started(one: Started) -> str:
    number = f", K = {one.components}" if one.components else ""
    return f"{INPUTS[one.dataset].label}, {label(one.method)}{number}"


def _front_targets(summary: Summary) -> list[Target]:
    """Return what `itemix.fit` should come to."""
    found = []
    for name, record in summary.front().items():
        what = f"{INPUTS[name].label}, {label(FRONT)}"
        if name == "online-retail":
            wanted = f"{what}: log-likelihood at least {_FRONT_LIKELIHOOD}"
            value = float(record["test"])
            found.append(Target(wanted, f"{value:.1f}", round(value, 1) >= _FRONT_LIKELIHOOD))
        ours, ease = (ranked(record, key)["ndcg"] for key in ("model", "ease"))
        factor = _BETTER_THAN_EASE.get(name, 1.0)
        times = f"{factor:g} times " if factor != 1 else ""
        wanted = f"{what}: NDCG@10 of recommendations at least {times}EASE's"
        found.append(Target(wanted, f"{ours:.4f}, EASE {ease:.4f}", ours >= factor * ease))
        if name == "online-retail":
            seconds = float(record["recommend_seconds"])
            wanted = f"{what}: recommendations for 2,000 baskets in less than {_MOST_SECONDS:g} s"
            found.append(Target(wanted, f"{seconds:.1f} s of one core", seconds < _MOST_SECONDS))
    return found


def ranked(record: Record, recommender: str) -> dict[str, float]:
    """Return how well a recommender ranks what was left out of baskets."""
    rows: dict[str, dict[str, float]] = {row["recommender"]: row for row in record["ranked"]}
    return rows[recommender]


def _by_name(ratios: dict[str, float]) -> str:
    return ", ".join(f"{INPUTS[name].label} {ratio:.3f}" for name, ratio in ratios.items())


def _names(names: Iterable[str]) -> str:
    return ", ".join(INPUTS[name].label for name in names)


def _counted(rows: dict[str, Row]) -> str:
    """Say what the intervals of counts cover in the same runs."""
    cover = next(iter(rows.values())).floor_cover
    return "" if cover is None else f" (counting {100 * cover:.1f}%)"


def _each(shown: dict[str, str]) -> str:
    return ", ".join(f"{label(method).split(',')[0]} {text}" for method, text in shown.items())


def _density_target(
    summary: Summary, name: str, methods: Iterable[str], what: str, figures: dict[str, float]
) -> Target | None:
    fits = {method: summary.density(name, method) for method in methods}
    values = {method: float(fit[1]["test"]) for method, fit in fits.items() if fit is not None}
    if name not in figures or not values:
        return None
    method = max(values, key=lambda key: values[key])
    # The wanted figures are given with two digits, or with one.
    digits = len(str(figures[name]).split(".")[1])
    wanted = f"{INPUTS[name].label}: log-likelihood of a {what} at least {figures[name]}"
    holds = round(values[method], digits) >= figures[name]
    return Target(wanted, f"{values[method]:.3f} ({label(method)})", holds)


def _hours_target(summary: Summary) -> Target | None:
    hours = summary.processor_seconds() / 3600
    if not hours:
        return None
    wanted = f"the whole of it under {_MOST_HOURS:g} hours on two cores"
    return Target(wanted, f"{hours:.2f} hours of one core", hours < _MOST_HOURS)
