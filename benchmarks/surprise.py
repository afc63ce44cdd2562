"""Surprises: how many finds are false and how many are missed, on data of which the truth is known.

python benchmarks/surprise.py --data FOLDER [--runs 50] [--together 50] [--sampled 5]
    [--kept FILE] [--output docs/surprise.md]
"""

from __future__ import annotations

import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from pages import page_parser, parse, publish
from scipy import sparse
from scipy.stats import kstest
from slim import items_only, log_likelihood, slim

import itemix
from itemix.core.sets import Sets
from itemix.estimators.summary import beliefs, fit_to_test
from itemix.mining.counts import count
from itemix.mining.intervals import intervals
from itemix.mining.search import min_count
from itemix.mining.surprise import candidates, tested
from itemix.models.maxent import TiltedMixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemix import Mixture, Surprises, Transactions
    from itemix._typing import Codes, Ints
    from itemix.fitted import FittedModel
    from itemix.models.posterior import Posterior

T = TypeVar("T")

RATIOS = (1.5, 2.0, 3.0, 1 / 1.5, 1 / 2, 1 / 3)
N_PLANTED = 3  # pairs, and as many triples, for each ratio
MOST_TRIED = 2000  # sets, of which many cannot be planted
LEVEL = 0.05
SLIM_SECONDS = 30.0
N_TOGETHER = 4


class Case(NamedTuple):
    """A data set, where it is, the threshold of support, and the most items of a set."""

    name: str
    path: str
    min_support: float
    max_len: int | None = None

    def read(self, folder: Path) -> Transactions:
        """Read it."""
        return itemix.read_transactions(folder / self.path)


CASES = [
    Case("groceries", "groceries/groceries.csv", 0.005),
    Case("MS Web", "msweb/train.dat", 0.005),
    Case("mushroom", "mushroom/mushroom.dat", 0.25),
    # Where sets are as frequent as above, nearly all items of a component are certain, and none can be moved.
    Case("mushroom, 3 items", "mushroom/mushroom.dat", 0.02, 3),
]


class Drawn(NamedTuple):
    """Transactions that were drawn from a mixture, with the component of each; rows as a dense matrix."""

    held: np.ndarray
    labels: Ints

    @classmethod
    def of(cls, truth: Mixture, n: int, rng: np.random.Generator) -> Drawn:
        """Draw n transactions."""
        labels = rng.choice(truth.n_components, size=n, p=truth.weights)
        return cls(rng.random((n, truth.n_items)) < truth.probs[labels], labels)

    def transactions(self, truth: Mixture) -> Transactions:
        """Return them as transactions of the mixture's items."""
        return itemix.Transactions.from_matrix(sparse.csr_array(self.held), items=truth.items)


class Plant(NamedTuple):
    """A set whose count was changed: how many times as often as expected it should occur, and does."""

    codes: Codes
    ratio: float
    expected: float


def plant(drawn: Drawn, truth: Mixture, min_support: float, rng: np.random.Generator) -> list[Plant]:
    """Change how often some pairs and triples occur, and nothing else.

    Within a component items are independent. So an item may be moved from one transaction of a component to
    another one of it: only sets with at least two items of a planted one are changed by that.
    """
    alone = itemix.mine(truth, min_support, min_len=2, max_len=3)
    eligible = np.flatnonzero(alone.support <= 4 * min_support)
    plants: list[Plant] = []
    done: list[set[int]] = []
    for length in (2, 3):
        own = rng.permutation(eligible[alone.lengths[eligible] == length])[:MOST_TRIED]
        wanted = list(RATIOS) * N_PLANTED
        for s in own:
            codes = alone.codes[alone.offsets[s] : alone.offsets[s + 1]]
            if not wanted:
                break
            # Planted sets share no item, or a third set would change: of two that are planted with b, {a, c}.
            if any(other.intersection(codes.tolist()) for other in done):
                continue
            made = _planted(drawn, truth, codes, wanted[0], rng)
            if made is not None:
                wanted.pop(0)
                done.append(set(codes.tolist()))
                plants.append(made)
    return plants


def _planted(
    drawn: Drawn, truth: Mixture, codes: Codes, ratio: float, rng: np.random.Generator
) -> Plant | None:
    """Plant a set, if its components have enough transactions to move an item from and to."""
    held, labels = drawn
    support = float(truth.probabilities_of_codes(np.array([0, len(codes)]), codes)[0])
    *kept, moved = rng.permutation(codes).tolist()
    wanted = round(abs(ratio - 1) * support * len(held))
    base, has = held[:, kept].all(axis=1), held[:, moved]
    sides = (base & ~has, ~base & has) if ratio > 1 else (~base & ~has, base & has)
    room = np.min([np.bincount(labels[side], minlength=truth.n_components) for side in sides], axis=0)
    if room.sum() < wanted:
        return None
    share = truth.weights * truth.probs[:, codes].prod(axis=1)
    n_of = np.minimum(rng.multinomial(wanted, share / share.sum()), room)
    left = np.repeat(np.arange(len(room)), room - n_of)
    n_of += np.bincount(rng.choice(left, wanted - n_of.sum(), replace=False), minlength=len(room))
    for k in np.flatnonzero(n_of):
        ends = (np.flatnonzero(side & (labels == k)) for side in sides)
        to, source = (rng.choice(end, n_of[k], replace=False) for end in ends)
        held[to, moved], held[source, moved] = True, False
    return Plant(codes, ratio, support * len(held))


def variational(train: Transactions, rng: np.random.Generator) -> list[FittedModel]:
    """Fit quickly."""
    seed = int(rng.integers(1 << 31))
    return [itemix.DirichletProcessMixture(50, beta="learn", random_state=seed).fit(train).fitted_]


def together(train: Transactions, rng: np.random.Generator) -> list[FittedModel]:
    """Fit quickly, several times."""
    return [variational(train, rng)[0] for _ in range(N_TOGETHER)]


def sampled(train: Transactions, rng: np.random.Generator) -> list[FittedModel]:
    """Fit as `itemix.surprises` does if no model is given."""
    return [fit_to_test(train, rng, n_jobs=1, progress=False)]


FITS = {"variational": variational, "four together": together, "sampled": sampled}


def run(case: Case, fit: str, truth: Mixture, n: int, seed: int) -> dict[str, Any]:
    """Draw data and fit one half. Test the other half, and data of which the model is right.

    The model is right about data that is drawn from its own posterior: of parameters, and then of
    transactions. Either is tested as it is, and with planted sets.
    """
    rng = np.random.default_rng(seed)
    train = Drawn.of(truth, n // 2, rng).transactions(truth)
    began = time.process_time()
    several = FITS[fit](train, rng)
    row: dict[str, Any] = {
        "case": case.name,
        "fit": fit,
        "seed": seed,
        "seconds": time.process_time() - began,
    }
    posteriors = [posterior for fitted in several for posterior in fitted.posteriors_of_itemsets]
    own = posteriors[rng.integers(len(posteriors))].sample(random_state=rng)
    for world, mixture in (("other", truth), ("right", own)):
        drawn = Drawn.of(mixture, n - n // 2, rng)
        alone = _found(several, drawn, mixture, case)
        row["n_tested"] = alone.n_tested
        row[world] = _judged(posteriors, alone, mixture, [])
        plants = plant(drawn, mixture, case.min_support, rng)
        found = _found(several, drawn, mixture, case)
        row[f"{world} planted"] = _judged(posteriors, found, mixture, plants)
        sets = [set(mixture.items.codes(names).tolist()) for names in found.sets]
        row[f"{world} plants"] = [
            (len(p.codes), p.ratio, p.expected, set(p.codes.tolist()) in sets) for p in plants
        ]
    return row


def _found(several: list[FittedModel], drawn: Drawn, truth: Mixture, case: Case) -> Surprises:
    """Test data as `itemix.surprises` does."""
    data = drawn.transactions(truth)
    model, source = beliefs(*several)
    least = min_count(case.min_support, data.n_transactions)
    bounds: dict[str, Any] = {"min_len": 2, "max_len": case.max_len, "n_jobs": 1}
    found = candidates(model, source, data, least, "both", **bounds)
    facts = {"is_divided": False}
    return tested(found, data.n_transactions, level=LEVEL, side="both", adjust="bh", facts=facts)


def _judged(
    posteriors: list[Posterior], found: Surprises, truth: Mixture, plants: list[Plant]
) -> dict[str, tuple[int, int, int]]:
    """Return the numbers of finds, of those that touch no planted set, and of those that the truth denies."""
    planted = [set(p.codes.tolist()) for p in plants]
    sets = [set(truth.items.codes(names).tolist()) for names in found.sets]
    touched = np.array([any(len(own & p) > 1 for p in planted) for own in sets], dtype=bool)
    _, lower, upper = intervals(posteriors, [*found.sets], level=0.9)
    p = truth.probabilities(found.sets)
    more = found.ratio > 1
    allowed = np.where(more, p <= upper, p >= lower)
    sides = {"both": np.ones(len(found), bool), "more": more, "less": ~more}
    return {
        side: (int(own.sum()), int((own & ~touched).sum()), int((own & ~touched & allowed).sum()))
        for side, own in sides.items()
    }


def calibration(folder: Path, n_runs: dict[str, int], kept: Path | None) -> list[dict[str, Any]]:
    """Run all cases, or take the runs that a file has kept."""
    rows = [row for row in _kept(kept) if "case" in row]
    done = {(row["case"], row["fit"], row["seed"]) for row in rows}
    truths: dict[str, tuple[Mixture, int]] = {}
    # Seed by seed, so that runs that are stopped have a bit of everything.
    most = max(n_runs.values())
    wanted = [(seed, fit) for seed in range(most) for fit, n in n_runs.items() if seed < n]
    for seed, fit in wanted:
        for case in CASES:
            if (case.name, fit, seed) in done:
                continue
            if case.name not in truths:
                data = case.read(folder)
                model = itemix.DirichletProcessMixture(50, random_state=0).fit(data)
                truths[case.name] = model.mixture_, data.n_transactions
            rows.append(run(case, fit, *truths[case.name], seed))
            _keep(kept, rows[-1])
    return rows


def _kept(kept: Path | None) -> list[dict[str, Any]]:
    """Return what a file has kept."""
    return [json.loads(line) for line in kept.read_text().splitlines()] if kept and kept.exists() else []


def _keep(kept: Path | None, row: dict[str, Any]) -> None:
    if kept:
        with kept.open("a") as file:
            file.write(json.dumps(row) + "\n")


def part(kept: Path | None, name: str, make: Callable[[], T]) -> T:
    """Return a part of the page that a file has kept, or make it."""
    for row in _kept(kept):
        if row.get("part") == name:
            found: T = row["lines"]
            return found
    lines = make()
    _keep(kept, {"part": name, "lines": lines})
    return lines


def share(values: list[float] | np.ndarray) -> str:
    """Write the mean of shares in per cent, with its standard error."""
    values = np.asarray(values, dtype=np.float64)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{100 * values.mean():.1f} ± {100 * error:.1f}"


def false_shares(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table of false finds."""
    yield (
        "| data | fit | runs | the model is right: all | more | less | refitted: all | more | less | "
        "of these the truth denies |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, fit, own in grouped(rows):
        cells = [
            false_share(own, f"{world} planted", side, 1)
            for world in ("right", "other")
            for side in ("both", "more", "less")
        ]
        cells.append(false_share(own, "other planted", "both", 2))
        yield f"| {name} | {fit} | {len(own)} | {' | '.join(cells)} |"


def false_share(rows: list[dict[str, Any]], world: str, side: str, kind: int) -> str:
    """Write the mean share of a kind of finds: 1 touches nothing planted, 2 is denied by the truth, too."""
    return share([row[world][side][kind] / max(row[world][side][0], 1) for row in rows])


def lonely_finds(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table of finds where nothing was planted."""
    yield (
        "| data | fit | tested | right: runs with a find | finds a run | refitted: runs with a find | "
        "finds a run | false finds among finds |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, fit, own in grouped(rows):
        cells = []
        for world in ("right", "other"):
            found = [row[world]["both"][0] for row in own]
            cells += [share([n > 0 for n in found]), f"{np.mean(found):.2f}"]
        denied = false_share(own, "other", "both", 2)
        tested = f"{np.mean([row['n_tested'] for row in own]):,.0f}"
        yield f"| {name} | {fit} | {tested} | {' | '.join(cells)} | {denied} |"


def power(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table of planted sets that were found."""
    labels = {1.5: "1.5 times", 2.0: "2", 3.0: "3", 1 / 1.5: "1/1.5", 0.5: "1/2", 1 / 3: "1/3"}
    yield f"| data | fit | sets | {' | '.join(labels.values())} |"
    yield f"|---|---|---|{'---|' * len(labels)}"
    for name, fit, own in grouped(rows):
        for length, word in ((2, "pairs"), (3, "triples")):
            plants = [p for row in own for p in row["other plants"] + row["right plants"] if p[0] == length]
            cells = []
            for ratio in labels:
                found = [p[3] for p in plants if abs(p[1] - ratio) < 0.01]
                cells.append(f"{100 * np.mean(found):.0f} ({len(found)})" if found else "-")
            yield f"| {name} | {fit} | {word} | {' | '.join(cells)} |"


def grouped(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield the runs of each data set and fit."""
    for fit in FITS:
        for case in CASES:
            own = [row for row in rows if (row["case"], row["fit"]) == (case.name, fit)]
            if own:
                yield case.name, fit, own


def uniform(folder: Path, case: Case) -> str:
    """Return a line of the table of unusual transactions drawn from the model."""
    model = itemix.DirichletProcessMixture(50, random_state=0).fit(case.read(folder))
    own = [model.unusual(model.sample(2000, random_state=s), level=0.0).p_value for s in range(1, 21)]
    tests = [float(kstest(values, "uniform").pvalue) for values in own]
    values = np.concatenate(own)
    shares = " | ".join(f"{np.mean(values <= level):.2%}" for level in (0.05, 0.01))
    return f"| {case.name} | {min(tests):.3f} | {shares} |"


def summary(folder: Path, case: Case) -> tuple[list[str], str]:
    """Return lines of the table of summaries: what sets bring on held-out data; and a note on SLIM."""
    data, held_out = case.read(folder).split(0.5, random_state=0)
    single = itemix.BayesianMixture(1).fit(data)
    mixture = itemix.DirichletProcessMixture(50, random_state=0).fit(data)
    best = float(mixture.score(held_out) - single.score(held_out))
    found = itemix.summarise(data, 40, min_support=case.min_support)
    table = slim(data, SLIM_SECONDS)
    lines = []
    for n in (5, 10, 20, 40):
        first = found[:n]
        gain = _brought(single.mixture_, first.sets, data, held_out)
        inside = first.gain.sum() / data.n_transactions
        theirs = f"{_brought(single.mixture_, _as_sets(table.taken[:n], data), data, held_out):.3f}"
        lines.append(f"| {case.name} | {len(first)} | {inside:.3f} | {gain:.3f} | {theirs} |")
    items = items_only(data)
    independent = float(single.score(held_out))
    note = (
        f"- {case.name}: SLIM took {len(table.taken)} sets"
        f"{'' if table.is_done else f' in {SLIM_SECONDS:g} s, and was not done'}; data and table take "
        f"{100 * table.bits / table.bits_of_items:.1f}% of the bits of single items. Held out, in nats a "
        f"transaction: {log_likelihood(items, held_out):.3f} by codes of single items, "
        f"{log_likelihood(table, held_out):.3f} by SLIM's, {independent:.3f} by independent items, "
        f"{independent + gain:.3f} with the {len(found)} sets of the summary, "
        f"{independent + best:.3f} by a Dirichlet process mixture."
    )
    return lines, note


def _as_sets(patterns: list[tuple[int, ...]], data: Transactions) -> Sets:
    codes = np.concatenate([np.array(pattern, dtype=np.int32) for pattern in patterns])
    return Sets.from_lengths(np.array(list(map(len, patterns))), codes, data.items)


def _brought(independent: Mixture, sets: Sets, data: Transactions, held_out: Transactions) -> float:
    """Return by how much the mean log-likelihood of held-out data rises if a model learns sets from data."""
    own = np.unique(sets.codes)
    known = Sets.concatenate([sets, Sets.from_lengths(np.ones(len(own), np.int64), own, data.items)])
    # As in `itemix.summarise`, the model counts as one more transaction.
    expected = independent.probabilities_of_codes(known.offsets, known.codes)
    wanted = (count(known, data) + expected) / (data.n_transactions + 1)
    tilted = TiltedMixture(independent, known, wanted)
    return float(tilted.gain(count(known, held_out) / held_out.n_transactions))


def speed() -> str:
    """Say how long 100,000 candidates take."""
    rng = np.random.default_rng(0)
    truth = itemix.Mixture(
        rng.dirichlet(np.ones(20)), rng.beta(0.5, 2, (20, 60)), [f"i{i}" for i in range(60)]
    )
    train, test = truth.sample(20_000, random_state=0).split(0.5, random_state=0)
    model = itemix.DirichletProcessMixture(50, random_state=0).fit(train)
    least = float(np.sort(itemix.mine(test, top_k=100_000, min_len=2).support)[0])
    itemix.surprises(model, test, min_support=0.5)
    began, clock = time.process_time(), time.perf_counter()
    found = itemix.surprises(model, test, min_support=least, n_jobs=1)
    seconds, wall = time.process_time() - began, time.perf_counter() - clock
    size = f"{found.n_tested:,} sets in {test.n_transactions:,} transactions"
    return f"{size} took {seconds:.2f} s of one processor ({wall:.1f} s by the clock of a busy machine)"


PAGE = """\
# How honest surprises are

`benchmarks/surprise.py` writes this page. It says how often [surprises](guides/surprises.md) are false,
and how many are missed, on data of which the truth is known.

## The test

The model gives the probability of a set a mean m and a variance (the same as its
[intervals](guides/models.md)). With the Beta distribution of this mean and variance, the count among n
new transactions is beta-binomial: chance, and what the model does not know, together. The p value is the
chance of a count at least as far out. Both tails are computed, and on both sides together p and q values
are twice those of the side.

The tested sets are those that are frequent in the data and those that the model expects to be. The first
choice depends on the data, so a set that the model does not expect is tested only when it has many
transactions. Each such set could have become a find by chance. So the method of Benjamini and Hochberg
counts them all: of sets that are expected to be frequent, each has a p value of at most t with the chance
t, any other with the chance min(t, r) at most, where r is the chance that it is frequent. The sum of
these over the number of finds is the q value. Sets far below the threshold have no such chance and are
not looked for.

A prior that was learned draws itemsets towards independence. So the test takes the weak prior, as
itemsets do.

## False finds

For each data set a mixture of 50 components is fitted by variational inference. It is the truth from here
on. Data of the same size is drawn from it. One half is fitted anew, the other is tested (*refitted*). The
new model does not know the truth: it has half of the data, and misses components. So data is also drawn
from the new model's own posterior, first parameters and then transactions (*the model is right*). In
both, sets are planted: up to {planted} pairs and as many triples, which occur 1.5, 2 or 3 times as often
as expected, or as rarely. An item is moved from one transaction to another one of the same component, and
planted sets share no item. So only sets that have at least two items of a planted one change, and any other
find is **false**. The table has the mean share of false finds among all, in per cent, with its standard
error. The target is 5. The last column counts only those false finds that the truth denies, too: the true
probability is inside the 90% interval that the result shows.

{false}

## Nothing planted

Where there is nothing to find, the share of false finds is the share of runs with any find. If the model
is right, the target is 5 again. A refitted model is not right, and finds say so. In the last column a find
counts as false only if the true probability is inside the 90% interval that the result shows.

{lonely}

A single fit finds some components and misses others, and which ones depends on its start. Its posterior
knows nothing of that. So a set whose component it has missed contradicts it: the truth is 1.3 to 2.2 times
what the model expects. Such a find is true of this model, and false only for somebody who takes it for the
truth. No test of the data can tell it from a planted set, which is the same thing: a set with another
probability than the model gives it. But another fit can. `itemix.surprises` takes several models of the same
data (*four together*: four variational fits with other seeds): where they differ, all are unsure. That ends
most finds of missing components, and costs hardly any power. On mushroom at 2%, where one fit has such finds
in every run, it takes the share of false finds below the target. What all fits miss is still found.

## Power

The share of planted sets that were found, in per cent, with their number, on data of both kinds. The
threshold of support is {supports}; a pair that is expected in 30 transactions and occurs in 45 is hard to
tell from chance. In mushroom, items are in nearly all or nearly none of the transactions of a large
component, and at 25% nothing could be moved. There, sets of up to three items are planted at 2%. As planted
sets share no item, and pairs come first, there may be no items left for triples, too.

{power}

## Unusual transactions

Twenty times 2,000 transactions drawn from a model: their p values are uniform.

| data | least of 20 p values of Kolmogorov and Smirnov | p values up to 5% | up to 1% |
|---|---|---|---|
{uniform}

## Summaries

`itemix.summarise` on one half of the data, from independent items: by how much the mean log-likelihood of
the other half rises. Beside it, Smets and Vreeken's SLIM (*Directly mining descriptive patterns*, SDM 2012)
was run on the same half (`benchmarks/slim.py`; on 1,000 baskets of groceries its table is within 0.1% of the
length that scikit-mine 1.0.0 finds, with 31 sets where that has 35). SLIM covers transactions by sets, such
that codes and their table are short. Its first sets are learned by the same model of maximum entropy as
ours, so that like is compared with like: the last column says how much *they* bring. Mampaey, Tatti and
Vreeken's MTV (*Tell me what I need to know*, KDD 2011) learns that model, too, and was not run.

| data | sets | nats a transaction, in the data | held out | SLIM's first sets, held out |
|---|---|---|---|---|
{summaries}

{notes}

SLIM's codes are no distribution over transactions. They become one if the number of codes in the data is
learned, and the orders of the codes of a transaction are counted as one. Codes of single items then already
know how long transactions are, which independent items do not.

## Speed

The target is 100,000 candidates in 2 s: {speed}.
"""


def main() -> None:
    """Write the page."""
    parser = page_parser(__doc__)
    parser.add_argument("--runs", type=int, default=50, help="runs for each data set, fitted variationally")
    parser.add_argument("--together", type=int, default=50, help="runs for each data set, of four such fits")
    parser.add_argument("--sampled", type=int, default=5, help="runs for each data set, fitted by sampling")
    parser.add_argument("--kept", type=Path, help="a file of what was done, which is not done again")
    arguments, folder = parse(parser)
    runs = {
        "variational": arguments.runs,
        "four together": arguments.together,
        "sampled": arguments.sampled,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = arguments.kept
        uniforms = [part(kept, f"uniform {case.name}", partial(uniform, folder, case)) for case in CASES[:3]]
        found = [part(kept, f"summary {case.name}", partial(summary, folder, case)) for case in CASES[:2]]
        spent = part(kept, "speed", speed)
        rows = calibration(folder, runs, kept)
        page = PAGE.format(
            planted=N_PLANTED * len(RATIOS),
            false="\n".join(false_shares(rows)),
            lonely="\n".join(lonely_finds(rows)),
            power="\n".join(power(rows)),
            supports=", ".join(f"{case.min_support:.1%} for {case.name}" for case in CASES),
            uniform="\n".join(uniforms),
            summaries="\n".join(line for lines, _ in found for line in lines),
            notes="\n".join(note for _, note in found),
            speed=spent,
        )
    publish(page, arguments.output)


if __name__ == "__main__":
    main()
