"""Surprises: how many finds are false and how many are missed, on data of which the truth is known.

python benchmarks/surprise.py --data FOLDER [--runs 50] [--kept FILE] [--output docs/surprise.md]
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

import itemix
from itemix.estimators.summary import fit_to_test
from itemix.mining.intervals import intervals

if TYPE_CHECKING:
    from pathlib import Path

    from itemix import Mixture, Surprises, Transactions
    from itemix._typing import Codes, Ints
    from itemix.fitted import FittedModel

RATIOS = (1.5, 2.0, 3.0, 1 / 1.5, 1 / 2, 1 / 3)
N_PLANTED = 3  # pairs, and as many triples, for each ratio
LEVEL = 0.05


class Case(NamedTuple):
    """A data set, where it is, and the threshold of support."""

    name: str
    path: str
    min_support: float

    def read(self, folder: Path) -> Transactions:
        """Read it."""
        return itemix.read_transactions(folder / self.path)


CASES = [
    Case("groceries", "groceries/groceries.csv", 0.005),
    Case("MS Web", "msweb/train.dat", 0.005),
    Case("mushroom", "mushroom/mushroom.dat", 0.25),
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
    reached: bool


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
        own = rng.permutation(eligible[alone.lengths[eligible] == length])
        wanted = list(RATIOS) * N_PLANTED
        for s in own:
            codes = alone.codes[alone.offsets[s] : alone.offsets[s + 1]]
            if not wanted:
                break
            # Planted sets share at most one item, or one would change the other.
            if any(len(other.intersection(codes.tolist())) > 1 for other in done):
                continue
            done.append(set(codes.tolist()))
            plants.append(_planted(drawn, truth, codes, wanted.pop(0), rng))
    return plants


def _planted(drawn: Drawn, truth: Mixture, codes: Codes, ratio: float, rng: np.random.Generator) -> Plant:
    held, labels = drawn
    support = float(truth.probabilities_of_codes(np.array([0, len(codes)]), codes)[0])
    *kept, moved = rng.permutation(codes).tolist()
    wanted = round(abs(ratio - 1) * support * len(held))
    share = truth.weights * truth.probs[:, codes].prod(axis=1)
    n_done = 0
    for k, n_own in enumerate(rng.multinomial(wanted, share / share.sum())):
        rows = np.flatnonzero(labels == k)
        base, has = held[rows][:, kept].all(axis=1), held[rows, moved]
        ends = [rows[base & ~has], rows[~base & has]] if ratio > 1 else [rows[~base & ~has], rows[base & has]]
        n = min(n_own, *map(len, ends))
        to, source = (rng.choice(end, n, replace=False) for end in ends)
        held[to, moved], held[source, moved] = True, False
        n_done += n
    return Plant(codes, ratio, support * len(held), n_done >= 0.9 * wanted)


def run(case: Case, truth: Mixture, n: int, seed: int) -> dict[str, Any]:
    """Draw data and fit one half. Test the other half, and data of which the model is right.

    The model is right about data that is drawn from its own posterior: of parameters, and then of
    transactions. Either is tested as it is, and with planted sets.
    """
    rng = np.random.default_rng(seed)
    train = Drawn.of(truth, n // 2, rng).transactions(truth)
    began = time.process_time()
    fitted = fit_to_test(train, rng, n_jobs=1, progress=False)
    row: dict[str, Any] = {"case": case.name, "seed": seed, "seconds": time.process_time() - began}
    posteriors = fitted.posteriors_of_itemsets
    own = posteriors[rng.integers(len(posteriors))].sample(random_state=rng)
    for world, mixture in (("other", truth), ("right", own)):
        drawn = Drawn.of(mixture, n - n // 2, rng)
        found = _found(fitted, drawn, mixture, case)
        row[world] = _judged(fitted, found, mixture, [])
        row["n_tested"] = found.n_tested
        plants = plant(drawn, mixture, case.min_support, rng)
        found = _found(fitted, drawn, mixture, case)
        row[f"{world} planted"] = _judged(fitted, found, mixture, plants)
        sets = [set(mixture.items.codes(names).tolist()) for names in found.sets]
        row[f"{world} plants"] = [
            (len(p.codes), p.ratio, p.expected, set(p.codes.tolist()) in sets) for p in plants if p.reached
        ]
    return row


def _found(fitted: FittedModel, drawn: Drawn, truth: Mixture, case: Case) -> Surprises:
    data = drawn.transactions(truth)
    return itemix.surprises(fitted, data, min_support=case.min_support, level=LEVEL, n_jobs=1)


def _judged(
    fitted: FittedModel, found: Surprises, truth: Mixture, plants: list[Plant]
) -> dict[str, tuple[int, int, int]]:
    """Return the numbers of finds, of those that touch no planted set, and of those that the truth denies."""
    planted = [set(p.codes.tolist()) for p in plants]
    sets = [set(truth.items.codes(names).tolist()) for names in found.sets]
    touched = np.array([any(len(own & p) > 1 for p in planted) for own in sets], dtype=bool)
    _, lower, upper = intervals(fitted.posteriors_of_itemsets, [*found.sets], level=0.9)
    p = truth.probabilities(found.sets)
    more = found.ratio > 1
    allowed = np.where(more, p <= upper, p >= lower)
    sides = {"both": np.ones(len(found), bool), "more": more, "less": ~more}
    return {
        side: (int(own.sum()), int((own & ~touched).sum()), int((own & ~touched & allowed).sum()))
        for side, own in sides.items()
    }


def calibration(folder: Path, seeds: range, kept: Path | None) -> list[dict[str, Any]]:
    """Run all cases, or take the runs that a file has kept."""
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    done = {(row["case"], row["seed"]) for row in rows}
    truths: dict[str, tuple[Mixture, int]] = {}
    for seed in seeds:
        for case in CASES:
            if (case.name, seed) in done:
                continue
            if case.name not in truths:
                data = case.read(folder)
                model = itemix.DirichletProcessMixture(50, random_state=0).fit(data)
                truths[case.name] = model.mixture_, data.n_transactions
            rows.append(run(case, *truths[case.name], seed))
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    return rows
