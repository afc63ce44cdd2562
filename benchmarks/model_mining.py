"""Mining a model against mining its data, corrected and wide models, and many questions at once.

    python benchmarks/model_mining.py --data FOLDER [--output docs/benchmarks/model-mining.md]
        [--only SECTION]

The full accidents file has 340,183 transactions; as many rows are drawn with replacement from a sample of
17,009 of them, which the table says.
"""

from __future__ import annotations

import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import fim
import numpy as np
from mining import machine
from pages import page_parser, parse, publish

import itemix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from itemix import Transactions

N_RUNS = 7
N_ROUNDS = 3
N_QUESTIONS = 100_000
QUESTION_LENGTH = 5
QUESTION_COMPONENTS = 75
# What a mixture of wide data might be worth, so that it has a say about which sets are frequent.
MORE_WORTH = 178


class Case(NamedTuple):
    """A data set, its threshold, and the size of the model."""

    name: str
    path: str
    min_support: float
    n_components: int
    n_rows: int | None


CASES = [
    Case("chess", "chess/chess.dat", 0.5, 50, None),
    Case("accidents, 17,009 rows", "accidents/accidents_17009.dat", 0.3, 75, None),
    Case("accidents, 340,183 rows drawn with replacement", "accidents/accidents_17009.dat", 0.3, 75, 340_183),
]
CORRECTED = [
    ("chess", "chess/chess.dat", 0.5),
    ("mushroom", "mushroom/mushroom.dat", 0.2),
    ("accidents, 17,009 rows", "accidents/accidents_17009.dat", 0.3),
    ("groceries", "groceries/groceries.csv", 0.005),
    ("retail", "retail/retail.dat.gz", 0.001),
]
COLUMNS = (
    "data", "K", "sets, model", "sets, data", "model, 1 thread", "data, 1 thread", "pyfim", "data / model",
    "pyfim / model", "all threads: model", "data", "data / model",
)  # fmt: skip
CORRECTED_COLUMNS = (
    "data", "K", "the mixture is worth", "sets, plain", "sets, corrected", "plain, 1 thread", "corrected",
    "corrected / plain",
)  # fmt: skip
PEERS = ("eclat", "fpgrowth", "relim")


def median_seconds(call: Callable[[], Any], n_runs: int = N_RUNS) -> float:
    """Time a call, after one that is not timed."""
    call()
    times = []
    for _ in range(n_runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def least_medians(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Time calls in turns, and return the least of the medians of each."""
    rounds = [[median_seconds(call) for call in calls] for _ in range(N_ROUNDS)]
    return [min(medians) for medians in zip(*rounds, strict=True)]


def measure(case: Case, folder: Path) -> dict[str, Any]:
    """Fit a model to a sample, then time mining it, mining the data, and pyfim on the data."""
    sample = itemix.read_transactions(folder / case.path)
    model = itemix.BernoulliMixture(n_components=case.n_components, random_state=0, max_iter=200, tol=1e-3)
    mixture = model.fit(sample).mixture_
    tx = sample if case.n_rows is None else sample.sample(case.n_rows, replace=True, random_state=0)
    lists = tx.to_lists()
    result: dict[str, Any] = {"name": case.name, "n_components": case.n_components}
    for n_threads, label in ((1, "one"), (-1, "all")):
        calls = [partial(itemix.mine, source, case.min_support, n_jobs=n_threads) for source in (mixture, tx)]
        result[f"model_{label}"], result[f"exact_{label}"] = least_medians(calls)
        result["n_model"], result["n_exact"] = (len(call()) for call in calls)
    peers = [partial(getattr(fim, name), lists, supp=100 * case.min_support, report="a") for name in PEERS]
    result["pyfim"] = min(median_seconds(call, 3) for call in peers)
    return result


def measure_corrected(name: str, path: Path, min_support: float) -> tuple[str, ...]:
    """Fit a corrected model; return a line of the table: mining it with and without its correction."""
    model = itemix.DirichletProcessMixture(random_state=0, n_jobs=-1, correction="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(itemix.read_transactions(path))
    corrected, plain = model.corrected_, model.mixture_
    assert corrected is not None  # noqa: S101 - it was asked for
    calls = [partial(itemix.mine, source, min_support, n_jobs=1) for source in (plain, corrected)]
    times = [1e3 * least_processor_seconds(call) for call in calls]
    return (
        name,
        f"{plain.n_components}",
        f"{corrected.worth:,.0f}",
        *(f"{len(call()):,}" for call in calls),
        *(f"{milliseconds:.1f}" for milliseconds in times),
        f"{times[1] / times[0]:.2f}",
    )


def measure_wide(path: Path, min_support: float) -> list[str]:
    """Sample a mixture of thousands of items; return lines about mining it, asking it, and its file."""
    data = itemix.read_transactions(path)
    model = itemix.DirichletProcessMixture(inference="gibbs", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mixture = model.fit(data).mixture_
    sets = itemix.mine(data, min_support, n_jobs=1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wide.itemix"
        model.save(file)
        n_bytes = file.stat().st_size
        loading = least_processor_seconds(partial(itemix.load, file))
    draws = model.chains_.draws
    in_memory = mixture.probs.nbytes + sum(draw.item_counts.nbytes for draw in draws)
    mining = least_processor_seconds(partial(itemix.mine, mixture, min_support, n_jobs=1))
    counting = least_processor_seconds(partial(itemix.mine, data, min_support, n_jobs=1))
    asking = least_processor_seconds(partial(mixture.probabilities_of_codes, sets.offsets, sets.codes))
    return [
        f"Retail has {mixture.n_items:,} items. Gibbs sampling of a Dirichlet process gives",
        f"{mixture.n_components:,} components in {len(draws)} samples. In processor time, least of",
        f"{N_RUNS} runs: mining the mixture at {min_support:.1%} on one thread takes {1e3 * mining:.0f} ms,",
        f"mining the data {1e3 * counting:.0f} ms. The mixture's probabilities of the {len(sets):,}",
        f"itemsets of the data take {1e3 * asking:.0f} ms. The model's file has {n_bytes / 1e6:.1f} MB,",
        f"its tables in memory {in_memory / 1e6:.0f} MB; loading it takes {1e3 * loading:.0f} ms.",
        "",
        *measure_front(data, path, min_support),
    ]


def measure_front(data: Transactions, path: Path, min_support: float) -> list[str]:
    """Fit what `itemix.fit` fits; return lines about mining it, with its correction and without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = itemix.fit(data, progress=False)
    corrected, plain = model.corrected_, model.mixture_
    assert corrected is not None  # noqa: S101 - it always is
    more = itemix.CorrectedMixture(corrected.base, corrected.transactions, MORE_WORTH)
    seconds = [
        least_processor_seconds(partial(itemix.mine, source, min_support, n_jobs=1))
        for source in (plain, corrected, more)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "front.itemix"
        model.save(file)
        n_bytes = file.stat().st_size
        command = [sys.executable, "-m", "itemix", "mine", str(file), "--min-support", str(min_support)]
        calling = least_processor_seconds(partial(subprocess.run, command, check=True, capture_output=True))
    times = [f"{1e3 * value:.0f} ms" for value in seconds]
    n_samples = len(model.chains_.draws)
    return [
        f"What `itemix.fit` makes of it has {plain.n_components:,} components in {n_samples} samples. Mining",
        f"it at {min_support:.1%} on one thread takes {times[0]} without its correction (wanted: 500) and",
        f"{times[1]} with it (wanted: 1,000). The mixture was found to be worth {corrected.worth:,.0f};",
        f"were it worth {MORE_WORTH:,} transactions, so that both searches count, it would take {times[2]}.",
        f"All of `itemix mine MODEL -s {min_support:.1%}` takes {calling:.1f} s (wanted: 4). The file has",
        f"{n_bytes / 1e6:.1f} MB (wanted: 14), the recommender and the transactions included.",
    ]


def least_processor_seconds(call: Callable[[], Any]) -> float:
    """Return the least processor time of calls, programs that they run included, after one not timed."""
    call()
    times = []
    for _ in range(N_RUNS):
        start = processor_seconds()
        call()
        times.append(processor_seconds() - start)
    return min(times)


def processor_seconds() -> float:
    """Return the processor time of this process, and of those that it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def time_questions(path: Path) -> str:
    """Time the probabilities of many random itemsets, and say it."""
    data = itemix.read_transactions(path)
    model = itemix.BernoulliMixture(QUESTION_COMPONENTS, random_state=0, max_iter=20, tol=1.0).fit(data)
    rng = np.random.default_rng(0)
    codes = rng.permuted(np.tile(np.arange(data.n_items, dtype=np.int32), (N_QUESTIONS, 1)), axis=1)
    codes = np.sort(codes[:, :QUESTION_LENGTH], axis=1)
    offsets = QUESTION_LENGTH * np.arange(N_QUESTIONS + 1)
    sets = itemix.Itemsets(offsets, codes.ravel(), np.zeros(N_QUESTIONS), data.items, check=False)
    seconds = median_seconds(partial(model.probabilities, sets))
    named = median_seconds(partial(model.probabilities, [list(itemset.items) for itemset in sets]))
    return (
        f"The probabilities of {N_QUESTIONS:,} itemsets of {QUESTION_LENGTH} items under "
        f"{QUESTION_COMPONENTS} components take {1e3 * seconds:.0f} ms on one thread (wanted: 50); given as "
        f"lists of names, {1e3 * named:.0f} ms."
    )


def as_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, all columns but the first of which hold numbers."""
    return [f"| {' | '.join(cells)} |" for cells in (columns, ["---", *["---:"] * (len(columns) - 1)], *rows)]


def head(results: list[dict[str, Any]]) -> list[str]:
    """Return the lines of the page up to its first section."""
    lines = [
        "# Mining a model, and mining its data",
        "",
        f"Measured by `benchmarks/model_mining.py` on {machine()}; times in ms, the least of",
        f"{N_ROUNDS} medians taken in turns. The model is a",
        "mixture of K components fitted by EM. Mining it takes the same time whatever the size of the data.",
        "",
    ]
    rows = []
    for row in results:
        times = {key: 1e3 * row[key] for key in ("model_one", "exact_one", "pyfim", "model_all", "exact_all")}
        cells = [
            row["name"],
            str(row["n_components"]),
            f"{row['n_model']:,}",
            f"{row['n_exact']:,}",
            *(f"{times[key]:.1f}" for key in ("model_one", "exact_one", "pyfim")),
            f"{times['exact_one'] / times['model_one']:.1f}",
            f"{times['pyfim'] / times['model_one']:.1f}",
            *(f"{times[key]:.1f}" for key in ("model_all", "exact_all")),
            f"{times['exact_all'] / times['model_all']:.1f}",
        ]
        rows.append(cells)
    return [*lines, *as_table(COLUMNS, rows)]


def with_a_correction(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines about corrected mixtures."""
    return [
        "A Dirichlet process mixture (variational inference), mined as it is and with the correction that",
        '`correction="auto"` has chosen for it: the mixture is worth so many transactions. Processor time',
        f"in ms, least of {N_RUNS} runs. A corrected mixture is searched twice, its transactions as data and",
        "its mixture as a mixture; where the mixture is worth little, the first is enough.",
        "",
        *as_table(CORRECTED_COLUMNS, rows),
    ]


def sections_of(page: str) -> dict[str, str]:
    """Return the parts of a page by their titles; the first one has none."""
    first, *others = re.split(r"^## ", page, flags=re.MULTILINE)
    parts = (part.partition("\n") for part in others)
    return {"": first.strip(), **{title: text.strip() for title, _, text in parts}}


def main() -> None:
    """Run the benchmark, or a section of it, and print the page."""
    parser = page_parser("mining a model against mining its data")
    parser.add_argument(
        "--only", help="measure this section only; --output has the others", metavar="SECTION"
    )
    arguments, folder = parse(parser)
    measured: dict[str, Callable[[], list[str]]] = {
        "": lambda: head([measure(case, folder) for case in CASES]),
        "With a correction": lambda: with_a_correction(
            [measure_corrected(name, folder / path, min_support) for name, path, min_support in CORRECTED]
        ),
        "Wide models": lambda: measure_wide(folder / "retail/retail.dat.gz", 0.001),
        "Questions": lambda: [time_questions(folder / "mushroom/mushroom.dat")],
    }
    if arguments.only is None:
        sections = {title: "\n".join(lines()) for title, lines in measured.items()}
    else:
        sections = sections_of(arguments.output.read_text())
        sections[arguments.only] = "\n".join(measured[arguments.only]())
    page = "\n\n".join((f"## {title}\n\n" if title else "") + text for title, text in sections.items())
    publish(page + "\n", arguments.output)


if __name__ == "__main__":
    main()
