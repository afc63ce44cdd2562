"""The sentences of the document that state numbers: each is computed from the results that it is about."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from .claims import bayesian, best, crossing, is_within_paper
from .inputs import INPUTS
from .methods import CORRECTED, PAPER_METHODS, TRUTH, label, standing_in
from .published import paper, paper_row
from .scales import MINERS
from .summary import by_length

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .store import Record
    from .summary import Compared, Row, Summary

_FEW = 3
_FIVE = 5
# A mixture that is worth no more than this is next to nothing beside thousands of transactions.
_NEXT_TO_NOTHING = 10.0
# Rarer items are hardly ever shown, and so few of them are there that chance decides.
_SHOWN_CHANCE = 0.001
# One that is worth more than this leaves nothing to say for them.
_ALL_THERE_IS = 100_000.0


def all_sentences(summary: Summary) -> dict[str, str]:
    """Return all of them by the part of the document that they stand in."""
    return {
        "data": _data(summary),
        "supports": _supports(summary),
        "table3": _synthetic(summary),
        "table4": _real(summary, "table4"),
        "alike": _real(summary, "alike"),
        "floors": _floors(summary),
        "bias": _bias(summary),
        "beyond": _beyond(summary),
        "learned": _learned(summary),
        "identities": _identities(summary),
        "many": _many(summary),
        "compared": _compared(summary),
        "scarce": _scarce(summary),
        "signs": _signs(summary),
        "starts": _starts(summary),
        "calibration": _calibration(summary),
        "table5": _training(summary),
        "table6": _generation(summary),
        "density": _density(summary),
        "machine": _machine(summary),
    }


def _data(summary: Summary) -> str:
    """Say of which data sets the itemsets are the paper's, length by length."""
    same, other = [], []
    for name in summary.scale.real:
        record, published = summary.data(name), paper()["lengths"].get(name)
        if record is None or published is None:
            continue
        total, *counts = by_length(record["lengths"])
        if counts == list(published.values()):
            same.append(f"{INPUTS[name].label} ({total:,} itemsets)")
        else:
            difference = 100 * (total / sum(published.values()) - 1)
            other.append(f"{INPUTS[name].label} by {difference:+.1f}%")
    agree = f"The counts agree in every length on {_listed(same)}." if same else ""
    differ = f"The totals differ from the paper's on {_listed(other)}." if other else ""
    return _joined(agree, differ)


def _supports(summary: Summary) -> str:
    name = next(iter(summary.scale.synthetic), None)
    record = summary.data(name) if name else None
    if record is None or name is None:
        return ""
    total, edge = sum(record["lengths"]), record["supports"][0]
    return (
        f"Of the {total:,} frequent itemsets of {INPUTS[name].label}, {edge:,} ({100 * edge / total:.0f}%) "
        "lie between 0.30 and 0.32; the paper speaks of over 35,000, about a third."
    )


def _synthetic(summary: Summary) -> str:
    rows = bayesian(summary.all_rows("table3"))
    if not rows:
        return ""
    names = [name for name in summary.scale.synthetic if any(row.dataset == name for row in rows)]
    bests = [best(row for row in rows if row.dataset == name) for name in names]
    below = [row for row in bests if row.own["E"].mean < row.floor["E"].mean]
    truths = [row for row in summary.all_rows("table3") if row.method == TRUTH]
    em = [row for row in summary.all_rows("table3") if row.method == "nbm"]
    return _joined(
        f"The best Bayesian method is below the floor on {len(below)} of {len(names)} sets.",
        f"The Bayesian methods have errors of {_span(row.own['E'].mean for row in rows)}, the floor is "
        f"{_span(row.floor['E'].mean for row in rows)}.",
        f"The mixture that the data came from has errors of {_span(row.own['E'].mean for row in truths)}, "
        "which no method can be expected to beat: they are due to the test part being a sample.",
        f"EM (NBM) comes to {_span(row.own['E'].mean for row in em)}, in the paper to "
        f"{_span(row.paper['E'].mean for row in em)}.",
        _numbers(rows),
    )


def _numbers(rows: list[Row]) -> str:
    """Say how many components the process finds where their number is known."""
    found = [row for row in rows if row.method == "gsdpm" and row.found is not None]
    shown = [f"{row.found:.1f} on {INPUTS[row.dataset].label}" for row in found]
    theirs = [f"{paper_row(paper()['accuracy'][row.dataset], 'gsdpm', 0)['K']:g}" for row in found]
    return f"GSDPM finds {_listed(shown)} components, in the paper {_listed(theirs)}." if found else ""


def _real(summary: Summary, part: str) -> str:
    rows = summary.all_rows(part)
    ours = bayesian(rows)
    if not ours:
        return ""
    parts = [_within_sentence(ours)]
    for name in summary.scale.datasets(part):
        there = [row for row in ours if row.dataset == name]
        if not there:
            continue
        above = [row for row in there if not is_within_paper(row)]
        row = best(there)
        parts.append(
            f"{INPUTS[name].label}: {len(there) - len(above)} of {len(there)}{_exceptions(above)}; the best "
            f"is {_named(row)}, {row.own['E'].mean:.2f}% (floor {row.floor['E'].mean:.2f}%)."
        )
    return "\n".join([parts[0], "", *(f"- {part}" for part in parts[1:]), *_nbm_line(rows)])


def _exceptions(rows: list[Row]) -> str:
    """Name the rows above the paper's where they are few."""
    if not 0 < len(rows) <= _FEW:
        return ""
    pairs = [(row, row.own["E"], row.paper["E"]) for row in rows]
    shown = [
        f"{_named(row)} has {own.mean:.2f}% against {theirs.mean:.2f} ± {theirs.sd:.2f}%"
        for row, own, theirs in pairs
    ]
    return f" ({_listed(shown)})"


def _nbm_line(rows: Iterable[Row]) -> list[str]:
    ratios = [row.own["E"].mean / row.paper["E"].mean for row in rows if row.method == "nbm" and row.paper]
    if not ratios:
        return []
    least, most = _range(ratios)
    text = f"NBM: E is {least:.2f} to {most:.2f} times the paper's, {mean(ratios):.2f} on average."
    return [f"- {text}"]


def _within_sentence(rows: list[Row]) -> str:
    within = sum(map(is_within_paper, rows))
    return (
        f"{within} of {len(rows)} Bayesian rows have an E of at most the paper's plus one of its standard "
        "deviations."
    )


def _floors(summary: Summary) -> str:
    said = []
    for name in summary.scale.real:
        errors = [100 * record["E"] for record in summary.floors(name)]
        if len(errors) > 1:
            said.append(f"from {min(errors):.2f}% to {max(errors):.2f}% on {INPUTS[name].label}")
    return f"The floor alone varies between random halves {_listed(said)}." if said else ""


def _bias(summary: Summary) -> str:
    """Say how the longest sets compare with single items, and who is nearest to no bias at all."""
    said, least = [], []
    for name in summary.scale.real:
        rows = [row for row in summary.rows("table4", name) if row.method in PAPER_METHODS]
        for row in rows:
            if row.method == "gsdpm":
                ends = [(run["by_length"][0][3], run["by_length"][-1][3]) for run in row.runs]
                shortest, longest = (100 * mean(values) for values in zip(*ends, strict=True))
                said.append(f"{shortest:+.1f}% and {longest:+.1f}% on {INPUTS[name].label}")
        if rows:
            means = {_named(row): 100 * mean(run["D"] for run in row.runs) for row in rows}
            nearest = min(means, key=lambda key: abs(means[key]))
            least.append(f"{nearest} on {INPUTS[name].label} ({means[nearest]:+.2f}%)")
    if not said:
        return ""
    lead = "The mean relative difference of GSDPM for single items and for the longest sets is"
    return f"{lead} {_listed(said)}. Over all sets of a data set, the least biased is {_listed(least)}."


def _beyond(summary: Summary) -> str:
    rows = summary.all_rows("beyond")
    names = [name for name in summary.scale.beyond if any(row.dataset == name for row in rows)]
    said = []
    for name in names:
        there = [row for row in rows if row.dataset == name]
        plain = [row for row in there if row.method in PAPER_METHODS]
        corrected = [row for row in there if row.method in CORRECTED]
        shown = [f"of the paper's methods {_of_floor(best(plain))}"] if plain else []
        shown += [f"corrected {_of_floor(best(corrected))}"] if corrected else []
        said.append(
            f"{INPUTS[name].label}: least error {_listed(shown)}, in multiples of the floor; "
            f"highest likelihood {_named(max(there, key=_likelihood))}."
        )
    return "\n".join(f"- {line}" for line in said)


def _identities(summary: Summary) -> str:
    """Say what mixtures were worth past the paper, and where correcting them was counting."""
    said: list[str] = []
    names: list[str] = []
    for name in summary.scale.beyond:
        rows = [row for row in summary.rows("beyond", name) if row.method in CORRECTED]
        worths = [run["worth"] for row in rows for run in row.runs if "worth" in run]
        if not worths:
            continue
        least, most = _range(worths)
        worth = f"{least:,.0f} to {most:,.0f}" if least < most else f"{most:,.0f}"
        said.append(f"{worth} on {INPUTS[name].label}")
        names += [INPUTS[name].label] if most <= _NEXT_TO_NOTHING else []
    if not said:
        return ""
    return _joined(
        f"In transactions, the mixture was worth {_listed(said)}, over both methods and all runs.",
        f"On {_listed(names)} that is next to nothing: there the corrected model *is* counting, and a ratio "
        "of 1.00 to the floor is an identity, not a finding."
        if names
        else "",
        _all_there_is(summary),
    )


def _all_there_is(summary: Summary) -> str:
    """Say where the choice took the mixture for all there is, and what its intervals come to then."""
    said, pairs = [], []
    for name in summary.scale.beyond:
        rows = [row for row in summary.rows("beyond", name) if row.method in CORRECTED]
        found = [
            (run["cover"], floor["cover"])
            for row in rows
            for run, floor in zip(row.runs, row.floors, strict=False)
            if run.get("worth", 0.0) >= _ALL_THERE_IS
        ]
        if found:
            said.append(f"{len(found)} {'run' if len(found) == 1 else 'runs'} on {INPUTS[name].label}")
            pairs += found
    if not said:
        return ""
    own, counted = (100 * mean(covers) for covers in zip(*pairs, strict=True))
    return (
        f"The choice may also take the mixture for all there is, as in {_listed(said)}; there intervals "
        f"cover {own:.1f}%, those of counts {counted:.1f}%."
    )


def _scarce(summary: Summary) -> str:
    """Say where a corrected mixture is better than counting, and where it is no more than that."""
    said = []
    for share in summary.scale.shares:
        found = summary.all_scarce(share)
        ratios = {one.dataset: one.ratio("corrected") or 0.0 for one in found}
        if not found:
            continue
        best_name, worst_name = (choose(ratios, key=lambda name: ratios[name]) for choose in (min, max))
        plain = [one.ratio("plain") or 0.0 for one in found]
        new = [ratio for one in found if (ratio := one.ratio("corrected", "E_new")) is not None]
        better = [
            INPUTS[one.dataset].label
            for one, ratio in zip(found, plain, strict=True)
            if ratio < ratios[one.dataset]
        ]
        same = [INPUTS[one.dataset].label for one in found if max(one.worths) <= _NEXT_TO_NOTHING]
        said.append(
            f"{share}% to train, {len(found)} data sets: the corrected mixture comes to "
            f"{ratios[best_name]:.2f} ({INPUTS[best_name].label}) to {ratios[worst_name]:.2f} "
            f"({INPUTS[worst_name].label}) times counting's error, {mean(ratios.values()):.2f} on average; "
            f"the mixture alone to {_least_and_most(plain)}. For sets that were not frequent in training the "
            f"corrected one comes to {_least_and_most(new)}."
            + (f" The mixture alone is better than corrected on {_listed(better)}." if better else "")
            + (f" Worth next to nothing, and so counting, on {_listed(same)}." if same else "")
        )
    return "\n".join(f"- {line}" for line in said)


def _signs(summary: Summary) -> str:
    """Say in which sense sets deviate from mixtures."""
    said = [
        f"{found['higher']:,} higher and {found['lower']:,} lower of {found['n']:,} on {INPUTS[name].label}"
        for name, found in summary.signs().items()
    ]
    return f"Beyond chance are {_listed(said)}." if said else ""


def _starts(summary: Summary) -> str:
    """Say how the default starts compare with the others."""
    found = summary.starts()
    if not found:
        return ""
    ahead = sum(one.gain >= 0 for one in found)
    least, most = _range(100 * one.gain for one in found)
    return (
        f"In {ahead} of {len(found)} fits the default start has the highest log-likelihood; against the best "
        f"of the others it comes to {least:+.2f}% to {most:+.2f}%."
    )


def _calibration(summary: Summary) -> str:
    """Say by how much probabilities of recommendations are off, on each data set."""
    said = []
    for name, record in summary.front().items():
        pairs = zip(record["said"], record["came"], strict=True)
        least, most = _range(came / given for given, came in pairs if given >= _SHOWN_CHANCE)
        said.append(f"{least:.2f} to {most:.2f} times on {INPUTS[name].label}")
    lead = f"Points at {100 * _SHOWN_CHANCE:g}% and above came true"
    return f"{lead} {_listed(said)} as often as was said." if said else ""


def _least_and_most(values: Iterable[float]) -> str:
    least, most = _range(values)
    return f"{least:.2f} to {most:.2f}"


def _learned(summary: Summary) -> str:
    """Say where a prior that is learned makes GSDPM better."""
    rows = {(row.dataset, row.method): row for row in summary.all_rows("beyond")}
    pairs = [
        (rows[name, "gsdpm"], rows[name, "gsdpm-learned"])
        for name in summary.scale.beyond
        if (name, "gsdpm") in rows and (name, "gsdpm-learned") in rows
    ]
    if not pairs:
        return ""
    likelier = [INPUTS[old.dataset].label for old, new in pairs if _likelihood(new) > _likelihood(old)]
    nearer = [INPUTS[old.dataset].label for old, new in pairs if new.of_the_floor < old.of_the_floor]
    return (
        f"Learning the prior of GSDPM (alpha and its strength) raises the likelihood on {len(likelier)} of "
        f"{len(pairs)} sets, and lowers E on {len(nearer)}{': ' * bool(nearer)}{_listed(nearer)}. For that "
        "reason it is not the default."
    )


def _many(summary: Summary) -> str:
    """Say how much the average cover of five halves depends on which they are, and not on the model."""
    said, counted, same = [], [], []
    for name in summary.scale.real:
        fits, floors = summary.many(name)
        fives = _by_fives(fits)
        n_same = sum("worth" in fit and fit["worth"] <= _NEXT_TO_NOTHING for fit in fits)
        same += [f"{n_same} of {len(fits)} on {INPUTS[name].label}"] if n_same else []
        if len(fives) > 1:
            said.append(f"{min(fives):.1f}% to {max(fives):.1f}% on {INPUTS[name].label}")
            of_counts = _by_fives([floor for floor in floors if "cover" in floor])
            counted += [f"{min(of_counts):.1f}% to {max(of_counts):.1f}%"] if of_counts else []
    if not said:
        return ""
    alike = f"; those of counts alone, whose variance is known, {_listed(counted)}" if counted else ""
    counting = f"The mixture is worth next to nothing, so that this is counting, in {_listed(same)}."
    return _joined(
        f"Taken by fives, the intervals of the halves cover {_listed(said)}{alike}.", counting if same else ""
    )


def _compared(summary: Summary) -> str:
    """Say where the correction is surely better than the earlier one, and where surely worse."""
    rows = summary.compared()
    sure = [row for row in rows if abs(row.difference) > 2 * row.standard_error]
    better = [row for row in sure if row.difference < 0]
    worse = [_compared_name(row) for row in sure if row.difference > 0]
    if not rows:
        return ""
    worse_ones = _listed(worse) if worse else "none"
    return (
        f"In {len(better)} of {len(rows)} rows the difference is more than two standard errors below 0"
        f"{': ' * bool(better)}{_listed([_compared_name(row) for row in better])}. More than two above is "
        f"{worse_ones}."
    )


def _compared_name(row: Compared) -> str:
    method = label(row.method).split(",")[0]
    return f"{INPUTS[row.dataset].label} ({method}, {len(row.floor)} divisions)"


def _by_fives(records: list[Record]) -> list[float]:
    """Return the mean cover of every five records in turn, in per cent."""
    covers = [100 * record["cover"] for record in records]
    return [mean(covers[k : k + _FIVE]) for k in range(0, len(covers) - _FIVE + 1, _FIVE)]


def _of_floor(row: Row) -> str:
    return f"{row.of_the_floor:.2f} ({_named(row)})"


def _likelihood(row: Row) -> float:
    found = row.average("log_likelihood")
    return float("-inf") if found is None else found


def _training(summary: Summary) -> str:
    ratios = []
    for method, K, runs in summary.training():
        published = summary.paper_training(method, K)
        if published:
            seconds = mean(run["wall_seconds"] for run in runs)
            each = seconds / mean(run["iterations"] for run in runs)
            theirs = published["train_s"] / published["iterations"]
            ratios.append((theirs / each, published["train_s"] / seconds))
    if not ratios:
        return ""
    each, whole = (_range(values) for values in zip(*ratios, strict=True))
    return (
        f"An iteration is {each[0]:,.0f} to {each[1]:,.0f} times faster than in the paper, a whole fit "
        f"{whole[0]:,.0f} to {whole[1]:,.0f} times."
    )


def _generation(summary: Summary) -> str:
    name = summary.scale.generated[0]
    K = max(summary.scale.components)
    model = summary.get("table6", name, "vfbm", K)
    if model is None:
        return ""
    said = []
    for miner in MINERS:
        times = summary.times(name, miner)
        if not times:
            continue
        at = crossing(times, model["wall_seconds"])
        most = max(times)
        ratio = times[most]["wall_seconds"] / model["wall_seconds"]
        where = "nowhere up to there" if at is None else _rows(at, min(times))
        said.append(f"{miner}: {where}; at {most:,} rows the model is {ratio:.1f} times as fast.")
    lead = f"Where mining a model of {K} components becomes faster than mining the data:"
    return "\n".join([lead, "", *(f"- {line}" for line in said)])


def _rows(at: float, least: int) -> str:
    return f"already at {least:,} rows" if at <= least else f"from about {round(at, -2):,.0f} rows on"


def _density(summary: Summary) -> str:
    said = []
    for name in summary.scale.density:
        fits = {method: summary.density(name, method) for method in standing_in("density")}
        values = {method: float(fit[1]["test"]) for method, fit in fits.items() if fit is not None}
        if values:
            method = max(values, key=lambda key: values[key])
            said.append(f"{INPUTS[name].label} {values[method]:.3f} ({label(method)})")
    return _joined(f"The best of each: {_listed(said)}.", _averaging(summary)) if said else ""


def _averaging(summary: Summary) -> str:
    """Say what the average of several posterior samples gains over one of them."""
    fits = [summary.density(name, "gsdpm") for name in summary.scale.density]
    gains = [fit[1]["test"] - fit[1]["test_of_one"] for fit in fits if fit and "test_of_one" in fit[1]]
    if not gains:
        return ""
    least, most = _range(gains)
    return (
        "What GSDPM says is the average of several posterior samples, which is worth "
        f"{least:.3f} to {most:.3f} against the last sample alone."
    )


def _machine(summary: Summary) -> str:
    records = [record for _, _, runs in summary.training() for record in runs]
    names = sorted({record["machine"] for record in records})
    return f"Timings were taken on {_listed(names)}." if names else ""


def _named(row: Row) -> str:
    return f"{label(row.method)} with K = {row.components}" if row.components else label(row.method)


def _span(values: Iterable[float]) -> str:
    least, most = _range(values)
    return f"{least:.2f}% to {most:.2f}%"


def _range(values: Iterable[float]) -> tuple[float, float]:
    found = list(values)
    return (min(found), max(found)) if found else (float("nan"), float("nan"))


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
