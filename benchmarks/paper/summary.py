"""Means over runs, and the paper's figures beside them."""

from __future__ import annotations

import math
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from .methods import (
    CORRECTED,
    FLOOR,
    FRONT,
    MANY,
    METHODS,
    PAPER_METHODS,
    SAMPLED,
    STARTS,
    TRUTH,
    standing_in,
)
from .published import earlier, paper, paper_row
from .scales import Task, chosen_components, density_grid, plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .scales import Scale
    from .store import Record, Store

CRITERIA = ("F-", "F+", "E")
LENGTHS = 10


class Spread(NamedTuple):
    """A mean and a standard deviation."""

    mean: float
    sd: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Summarise values; one alone has no deviation."""
        return cls(mean(values), stdev(values) if len(values) > 1 else 0.0)


class Row(NamedTuple):
    """A row of table 3 or 4: a method with a number of components on a data set.

    Attributes
    ----------
    dataset, method : str
        What and where.
    components : int
        The number asked for; 0 where the method finds it.
    found : float or None
        The mean number that was found.
    own, floor : dict of Spread
        The criteria, in per cent.
    paper : dict of Spread
        The paper's, empty where it has none.
    runs, floors : list of records
        What was summarised, run by run.
    """

    dataset: str
    method: str
    components: int
    found: float | None
    own: dict[str, Spread]
    floor: dict[str, Spread]
    paper: dict[str, Spread]
    runs: list[Record]
    floors: list[Record]

    @property
    def of_the_floor(self) -> float:
        """The mean error as a multiple of the floor's."""
        return self.own["E"].mean / self.floor["E"].mean

    def average(self, name: str) -> float | None:
        """Return the mean of something over the runs; None where they do not have it."""
        return average(self.runs, name)

    @property
    def floor_cover(self) -> float | None:
        """How many supports lie in the intervals of what was counted, on average over the runs."""
        return average(self.floors, "cover")


def average(records: Iterable[Record], name: str) -> float | None:
    """Return the mean of something over records; None where they do not have it."""
    values = [float(record[name]) for record in records if record.get(name) is not None]
    return mean(values) if values else None


def by_length(counts: list[int]) -> list[int]:
    """Return the total, the numbers of lengths 1 to 10, and of all longer ones."""
    padded = counts + [0] * (LENGTHS + 1 - len(counts))
    return [sum(counts), *padded[1 : LENGTHS + 1], sum(padded[LENGTHS + 1 :])]


class Compared(NamedTuple):
    """Today's correction and the earlier one on the same divisions, their errors as shares.

    Attributes
    ----------
    dataset, method : str
        What and where.
    floor, earlier, now : list of float
        The errors, division by division.
    """

    dataset: str
    method: str
    floor: list[float]
    earlier: list[float]
    now: list[float]

    @property
    def difference(self) -> float:
        """How much the error has changed, in multiples of the mean floor: negative is better."""
        return (mean(self.now) - mean(self.earlier)) / mean(self.floor)

    @property
    def standard_error(self) -> float:
        """How sure the difference is, over divisions."""
        differences = [now - then for now, then in zip(self.now, self.earlier, strict=True)]
        return stdev(differences) / math.sqrt(len(differences)) / mean(self.floor)


class Scarce(NamedTuple):
    """What came of little data to train: the splits of a data set and a share.

    Attributes
    ----------
    dataset : str
        Which data.
    share : int
        How much of it there was to train, in per cent.
    runs : list of records
        Split by split.
    """

    dataset: str
    share: int
    runs: list[Record]

    def error(self, source: str, kind: str = "E") -> float | None:
        """Return the mean error of counting, of the plain or of the corrected mixture, over some sets."""
        return average((run[source] for run in self.runs), kind)

    def ratio(self, source: str, kind: str = "E") -> float | None:
        """Return the mean error as a multiple of counting's; None where there are no such sets."""
        own, counting = self.error(source, kind), self.error("counting", kind)
        return None if own is None or not counting else own / counting

    def cover(self, source: str) -> float:
        """Return how many supports lie in their intervals."""
        return mean(float(run[source]["cover"]) for run in self.runs)

    @property
    def worths(self) -> list[float]:
        """How many transactions the mixture was worth in each split."""
        return [run["worth"] for run in self.runs]


class Started(NamedTuple):
    """What came of the starts of a method on a data set.

    Attributes
    ----------
    dataset, method : str
        What and where.
    components : int
        The number asked for; 0 where the method finds it.
    fits : dict of records
        What came of each start; the first one is the default of the class.
    """

    dataset: str
    method: str
    components: int
    fits: dict[str, Record]

    @property
    def own(self) -> float:
        """The log-likelihood of the test part from the default start."""
        return float(next(iter(self.fits.values()))["test"])

    @property
    def best_other(self) -> float:
        """The highest one from another start."""
        return max(float(record["test"]) for record in list(self.fits.values())[1:])

    @property
    def gain(self) -> float:
        """How much higher the first is, as a share of the size of the other."""
        return (self.own - self.best_other) / abs(self.best_other)


class Summary:
    """What the store holds of a scale.

    Parameters
    ----------
    store : Store
        The results.
    scale : Scale
        What there could be.
    """

    def __init__(self, store: Store, scale: Scale) -> None:
        self._store = store
        self.scale = scale

    def get(self, *parts: Any) -> Record | None:  # noqa: ANN401 - the parts of a task
        """Return the record of a task."""
        return self._store.get(Task(*parts))

    def data(self, dataset: str) -> Record | None:
        """Return what is known of a data set itself."""
        return self.get("data", dataset, "data")

    def runs(
        self, part: str, dataset: str, method: str, components: int = 0, setting: str = ""
    ) -> list[Record]:
        """Return the records of all runs that were done."""
        found = (
            self.get(part, dataset, method, components, run, setting) for run in range(self.scale.n_runs)
        )
        return [record for record in found if record is not None]

    def rows(self, part: str, dataset: str) -> list[Row]:
        """Return the rows of a data set in table 3 or 4 or past them, those that there are."""
        tasks = [
            (method, K)
            for method in (*METHODS, TRUTH)
            for K in chosen_components(self.scale, part, dataset, method)
        ]
        return [row for task in tasks if (row := self._row(part, dataset, *task)) is not None]

    def _row(self, part: str, dataset: str, method: str, components: int, setting: str = "") -> Row | None:
        runs = self.runs(part, dataset, method, components, setting)
        floors = self.runs("table4" if part == "probes" else part, dataset, FLOOR)
        if not runs or not floors:
            return None
        found = [run["components"] for run in runs if run["components"] is not None]
        accuracy = {} if part == "beyond" else paper()["accuracy"]
        published = paper_row(accuracy.get(dataset, []), method, components)
        return Row(
            dataset,
            method,
            components,
            mean(found) if found else None,
            _spreads(runs),
            _spreads(floors),
            {name: Spread(*published[name]) for name in CRITERIA if name in published},
            runs,
            floors,
        )

    def probes(self) -> list[tuple[str, Row, Row | None]]:
        """Return the setting and the row of each probe, and the row of table 4 that it varies."""
        rows = []
        for dataset, method, K, setting in self.scale.probes:
            row = self._row("probes", dataset, method, K, setting)
            if row is not None:
                rows.append((setting, row, self._row("table4", dataset, method.partition("-")[0], K)))
        return rows

    def all_rows(self, part: str) -> list[Row]:
        """Return the rows of all data sets."""
        return [row for name in self.scale.datasets(part) for row in self.rows(part, name)]

    def floors(self, dataset: str) -> list[Record]:
        """Return the floors of all random halves that were taken."""
        found = (self.get("floors", dataset, FLOOR, 0, run) for run in range(self.scale.n_floors))
        return [record for record in found if record is not None]

    def compared(self) -> list[Compared]:
        """Return today's correction beside the earlier one, wherever there are both."""
        found = []
        for part, datasets in (("beyond", self.scale.beyond), ("many", self.scale.real)):
            for dataset, method in ((dataset, method) for dataset in datasets for method in CORRECTED):
                then = earlier()["errors"].get(f"{part}/{dataset}/{method}", [])
                where = ("beyond", dataset) if part == "beyond" else ("floors", dataset)
                pairs = [
                    (self.get(*where, FLOOR, 0, run), self.get(part, dataset, method, 0, run))
                    for run in range(len(then))
                ]
                errors = [(own[0]["E"], own[1]["E"]) for own in pairs if own[0] and own[1]]
                if len(errors) == len(then) > 1:
                    floor, now = (list(column) for column in zip(*errors, strict=True))
                    found.append(Compared(dataset, method, floor, then, now))
        return found + [
            Compared(**row) for row in earlier()["further"] if row["dataset"] in self.scale.beyond
        ]

    def many(self, dataset: str) -> tuple[list[Record], list[Record]]:
        """Return the fits to many random halves, and the floors of the same halves."""
        both = [
            (self.get("many", dataset, MANY, 0, run), self.get("floors", dataset, FLOOR, 0, run))
            for run in range(self.scale.n_many)
        ]
        found = [(fit, floor) for fit, floor in both if fit is not None and floor is not None]
        return [fit for fit, _ in found], [floor for _, floor in found]

    def scarce(self, dataset: str, share: int) -> Scarce | None:
        """Return what came of little data to train, None if not all splits were done."""
        found = [
            self.get("scarce", dataset, SAMPLED, 0, run, str(share)) for run in range(self.scale.n_scarce)
        ]
        runs = [record for record in found if record is not None]
        return Scarce(dataset, share, runs) if len(runs) == len(found) else None

    def all_scarce(self, share: int, datasets: Iterable[str] | None = None) -> list[Scarce]:
        """Return the same for all data sets, or for some, those that there are."""
        names = [name for name in self.scale.scarce if datasets is None or name in datasets]
        return [found for name in names if (found := self.scarce(name, share)) is not None]

    def largest_scarce(self, dataset: str) -> Scarce | None:
        """Return the largest share of a data set that there is."""
        found = [self.scarce(dataset, share) for share in self.scale.shares]
        return max((one for one in found if one is not None), key=lambda one: one.share, default=None)

    def signs(self) -> dict[str, Record]:
        """Return in which sense sets deviate from mixtures, by data set."""
        found = {name: self.get("signs", name, SAMPLED) for name in self.scale.scarce}
        return {name: record for name, record in found.items() if record is not None}

    def starts(self) -> list[Started]:
        """Return what came of the starts of each method, where all of them were done."""
        found = []
        for name, method, K in self.scale.starts:
            fits = {start: self.get("starts", name, method, K, 0, start) for start in STARTS[method]}
            there = {start: record for start, record in fits.items() if record is not None}
            found += [Started(name, method, K, there)] if len(there) == len(fits) else []
        return found

    def front(self) -> dict[str, Record]:
        """Return what `itemix.fit` makes, by data set."""
        found = {name: self.get("front", name, FRONT) for name in self.scale.front}
        return {name: record for name, record in found.items() if record is not None}

    def processor_seconds(self) -> float:
        """Return what everything took, in seconds of one core."""
        found = (self._store.get(task) for task in plan(self.scale))
        return float(sum(record["seconds"] for record in found if record is not None))

    def paper_training(self, method: str, components: int) -> dict[str, Any]:
        """Return the paper's row of table 5, empty if it has none."""
        return paper_row(paper()["training"] if self.scale.timed == "accidents" else [], method, components)

    def training(self) -> list[tuple[str, int, list[Record]]]:
        """Return the runs of each row of table 5."""
        rows = [
            (method, K, self.runs("table5", self.scale.timed, method, K))
            for method in PAPER_METHODS
            for K in (self.scale.components if METHODS[method].has_components else (0,))
        ]
        return [row for row in rows if row[2]]

    def times(self, dataset: str, miner: str) -> dict[int, Record]:
        """Return what mining some numbers of rows took, by that number."""
        found = {n: self.get("table6", dataset, miner, 0, 0, str(n)) for n in self.scale.n_rows}
        return {n: record for n, record in found.items() if record is not None}

    def density_sets(self) -> list[str]:
        """Return the data sets of the density yardstick that have results."""
        methods = standing_in("density")
        return [name for name in self.scale.density if any(self.density(name, key) for key in methods)]

    def density(self, dataset: str, method: str) -> tuple[Task, Record] | None:
        """Return the fit that the validation part chooses."""
        tasks = density_grid(self.scale, dataset, method)
        fits = [(task, record) for task in tasks if (record := self._store.get(task)) is not None]
        return max(fits, key=lambda pair: float(pair[1]["valid"]), default=None)


def _spreads(records: list[Record]) -> dict[str, Spread]:
    return {name: Spread.of([100 * record[name] for record in records]) for name in CRITERIA}
