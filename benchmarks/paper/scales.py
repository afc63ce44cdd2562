"""What there is to do: the tasks of the full, the quick and the tiny scale."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .methods import FLOOR, FRONT, MANY, METHODS, PAPER_METHODS, SAMPLED, STARTS, TRUTH, standing_in

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS = (
    "data", "table3", "table4", "floors", "alike", "probes", "density", "starts", "beyond", "many", "scarce",
    "signs", "front", "table5", "table6",
)  # fmt: skip
TIMED = ("table5", "table6")
ALIASES = {"table1": "data", "table2": "data"}
MINERS = ("itemix", "pyfim eclat", "pyfim fpgrowth")


@dataclass(frozen=True, order=True)
class Task:
    """One result: what it is part of, and what it is about.

    Attributes
    ----------
    part : str
        One of `PARTS`.
    dataset : str
        A name in `inputs.INPUTS`.
    method : str
        A name in `methods.METHODS`, the floor, a miner, or "data" for the data set itself.
    components : int
        The number of components asked for; 0 where the method takes none.
    run : int
        Which of several runs.
    setting : str
        What else differs: the strength of the prior, the number of rows, the share to train in per cent, or
        the start.
    """

    part: str
    dataset: str
    method: str
    components: int = 0
    run: int = 0
    setting: str = ""

    @property
    def key(self) -> str:
        """A name that no other task has, and that is a path."""
        method = "-".join([self.method, *([str(self.components)] if self.components else [])])
        last = f"{self.run}" + (f"-{self.setting}" if self.setting else "")
        return f"{self.part}/{self.dataset}/{method.replace(' ', '_')}/{last}"


@dataclass(frozen=True)
class Scale:
    """How much to do.

    Attributes
    ----------
    n_runs, n_floors, n_many, n_scarce : int
        Runs of everything that is averaged, random halves of which only the floor is taken, those of them to
        which a corrected mixture is fitted, and splits with little data to train.
    components : tuple of int
        The numbers of components on real data.
    real, synthetic, alike, beyond, scarce, density : tuple of str
        Data sets of table 4 (and 1 and 2), table 3, table 4 on halves like the paper's, the tables past the
        paper, those with little data to train, and the density yardstick.
    shares : tuple of int
        How much of them there is to train, in per cent.
    density_components, strengths : tuple
        What is tried there.
    timed, generated : str, tuple of str
        The data set of table 5 and those of table 6, of which the first is drawn in growing numbers of rows.
    probes : tuple of (data set, method, components, setting)
        Variants that tell what makes a difference in table 4.
    n_rows : tuple of int
        These numbers; the number of rows of the data set itself is there anyway.
    starts : tuple of (data set, method, components)
        What is fitted from each start.
    front : tuple of str
        The data sets of what `itemix.fit` makes.
    """

    n_runs: int
    n_floors: int
    n_many: int
    n_scarce: int
    components: tuple[int, ...]
    real: tuple[str, ...]
    synthetic: tuple[str, ...]
    alike: tuple[str, ...]
    beyond: tuple[str, ...]
    scarce: tuple[str, ...]
    shares: tuple[int, ...]
    density: tuple[str, ...]
    density_components: tuple[int, ...]
    strengths: tuple[float, ...]
    timed: str
    generated: tuple[str, ...]
    n_rows: tuple[int, ...]
    probes: tuple[tuple[str, str, int, str], ...] = ()
    starts: tuple[tuple[str, str, int], ...] = ()
    front: tuple[str, ...] = ()

    def datasets(self, part: str) -> tuple[str, ...]:
        """Return the data sets of a part in which methods are compared by their errors."""
        parts = {"table3": self.synthetic, "table4": self.real, "alike": self.alike, "beyond": self.beyond}
        return parts[part]

    @property
    def described(self) -> tuple[str, ...]:
        """The data sets of table 1."""
        return tuple(dict.fromkeys((*self.real, *self.synthetic, *self.beyond)))


_REAL = ("chess", "mushroom", "accidents", "msweb")
# With little data to train, mixtures are to help where data is sparse, and to do no harm where it is dense.
SPARSE = ("groceries", "msweb", "online-retail", "retail")
DENSE = ("chess", "mushroom", "accidents")
_SYNTHETIC = ("syn15", "syn25", "syn50", "syn75", "syn140")
_DENSITY = ("nltcs", "plants", "accidents", "tretail", "dna", "kosarek", "msweb")

SCALES = {
    "full": Scale(
        n_runs=5,
        n_floors=50,
        n_many=25,
        n_scarce=3,
        components=(15, 25, 50, 75),
        real=_REAL,
        synthetic=_SYNTHETIC,
        alike=("chess", "mushroom"),
        beyond=(*_REAL, "groceries", "retail"),
        scarce=(*SPARSE[:2], *DENSE, *SPARSE[2:]),
        shares=(5, 10, 50),
        density=tuple(f"debd-{name}" for name in _DENSITY),
        density_components=(50, 100, 200),
        strengths=(0.3, 1, 3, 10, 30),
        timed="accidents",
        generated=("accidents", "chess"),
        n_rows=(500, 1_000, 2_000, 5_000, 10_000, 17_009, 40_000, 80_000, 160_000, 340_183),
        probes=(
            *((name, "nbm-short", K, "") for name in ("mushroom", "msweb") for K in (15, 50)),
            ("mushroom", "vfbm", 75, "0.3"),
            ("mushroom", "gsdpm", 0, "0.3"),
            ("mushroom", "gsdpm-learned", 0, ""),
            ("mushroom", "gsdpm-long", 0, ""),
        ),
        starts=(
            *(("online-retail", method, K) for method in ("vfbm", "gsfbm") for K in (10, 50)),
            ("online-retail", "vfbm-learned", 50),
            ("online-retail", "vdpm", 50),
            ("online-retail", "gsdpm", 0),
            *((name, "vfbm", 50) for name in (*_REAL, "groceries", "retail", *_SYNTHETIC)),
            *((f"debd-{name}", "vfbm", 50) for name in _DENSITY),
        ),
        front=SPARSE,
    ),
    "quick": Scale(
        n_runs=1,
        n_floors=5,
        n_many=2,
        n_scarce=1,
        components=(15,),
        real=_REAL,
        synthetic=("syn15",),
        alike=("mushroom",),
        beyond=("groceries",),
        scarce=("groceries",),
        shares=(10,),
        density=("debd-nltcs", "debd-dna"),
        density_components=(50,),
        strengths=(1, 3),
        timed="accidents",
        generated=("accidents",),
        n_rows=(1_000, 17_009, 100_000),
        starts=(("groceries", "vfbm", 50),),
        front=("groceries",),
    ),
    "tiny": Scale(
        n_runs=2,
        n_floors=3,
        n_many=3,
        n_scarce=2,
        components=(3,),
        real=("toy",),
        synthetic=(),
        alike=(),
        beyond=("toy",),
        scarce=("toy",),
        shares=(10, 50),
        density=("toy",),
        density_components=(2, 3),
        strengths=(1,),
        timed="toy",
        generated=("toy",),
        n_rows=(100, 400),
        probes=(("toy", "nbm-short", 3, ""), ("toy", "vfbm", 3, "0.3")),
        starts=(("toy", "vfbm", 3), ("toy", "gsdpm", 0)),
        front=("toy",),
    ),
}


def plan(scale: Scale) -> list[Task]:
    """Return all tasks of a scale, in the order in which they are done."""
    return [
        *(Task("data", name, "data") for name in scale.described),
        *_accuracy(scale, "table3"),
        *_accuracy(scale, "table4"),
        *_floors(scale, "floors", FLOOR, scale.n_floors),
        *_accuracy(scale, "alike"),
        *(
            Task("probes", name, method, K, run, setting)
            for run in range(scale.n_runs)
            for name, method, K, setting in scale.probes
        ),
        *_density(scale),
        *(
            Task("starts", name, method, K, 0, start)
            for name, method, K in scale.starts
            for start in STARTS[method]
        ),
        *_accuracy(scale, "beyond"),
        *_floors(scale, "many", MANY, scale.n_many),
        *_scarce(scale),
        *(Task("signs", name, SAMPLED) for name in scale.scarce),
        *(Task("front", name, FRONT) for name in scale.front),
        *_training(scale),
        *_generation(scale),
    ]


def chosen_components(scale: Scale, part: str, dataset: str, method: str) -> tuple[int, ...]:
    """Return the numbers of components that a method gets; 0 if it has no choice."""
    if method not in METHODS or not METHODS[method].has_components:
        return (0,)
    if part == "table3":
        return (int(dataset.removeprefix("syn")),)
    return (METHODS[method].usual,) if part == "beyond" else scale.components


def _accuracy(scale: Scale, part: str) -> Iterator[Task]:
    for run in range(scale.n_runs):
        for name in scale.datasets(part):
            yield Task(part, name, FLOOR, 0, run)
            if part == "table3":
                yield Task(part, name, TRUTH, 0, run)
            for method in standing_in(part):
                if METHODS[method].stands_on(name):
                    choices = chosen_components(scale, part, name, method)
                    yield from (Task(part, name, method, K, run) for K in choices)


def _floors(scale: Scale, part: str, method: str, n: int) -> Iterator[Task]:
    for name in scale.real:
        if name != "msweb":
            yield from (Task(part, name, method, 0, run) for run in range(n))


def _scarce(scale: Scale) -> Iterator[Task]:
    for share in scale.shares:
        for name in scale.scarce:
            for run in range(scale.n_scarce):
                yield Task("scarce", name, SAMPLED, 0, run, str(share))


def _density(scale: Scale) -> Iterator[Task]:
    for name in scale.density:
        for method in standing_in("density"):
            yield from density_grid(scale, name, method)


def density_grid(scale: Scale, dataset: str, method: str) -> Iterator[Task]:
    """Return what the validation part of the density yardstick chooses from."""
    made = METHODS[method]
    choices = (made.choices or scale.density_components) if made.has_components else (0,)
    for K in choices:
        for strength in (made.strengths or scale.strengths) if made.has_prior else (0,):
            yield Task("density", dataset, method, K, 0, f"{strength:g}" if strength else "")


def _training(scale: Scale) -> Iterator[Task]:
    for run in range(scale.n_runs):
        for method in PAPER_METHODS:
            for K in scale.components if METHODS[method].has_components else (0,):
                yield Task("table5", scale.timed, method, K, run)


def _generation(scale: Scale) -> Iterator[Task]:
    has_pyfim = importlib.util.find_spec("fim") is not None
    for name in scale.generated:
        yield from (Task("table6", name, "vfbm", K) for K in scale.components)
        yield from (Task("table6", name, "gsdpm", setting=draws) for draws in ("one", ""))
        for n in scale.n_rows if name == scale.generated[0] else (0,):
            for miner in MINERS if has_pyfim else MINERS[:1]:
                yield Task("table6", name, miner, setting=str(n) if n else "")
