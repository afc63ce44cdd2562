"""The tables of the document, in Markdown."""

from __future__ import annotations

from statistics import mean, median
from typing import TYPE_CHECKING

from .claims import ranked
from .inputs import INPUTS
from .methods import METHODS, label, standing_in
from .published import paper
from .scales import MINERS
from .summary import CRITERIA, LENGTHS, Scarce, Spread, Summary, average, by_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .methods import Method
    from .scales import Task
    from .store import Record
    from .summary import Row

ABSENT = ""
# What is judged where there is little data to train.
SOURCES = {"counting": "counting", "plain": "mixture", "corrected": "corrected mixture"}
SHARE_BY_LENGTH = 10


def markdown(headers: Sequence[str], rows: Iterable[Sequence[str]], *, n_words: int = 1) -> str:
    """Make a table; all columns but the first few hold numbers."""
    lines = ["| " + " | ".join(headers) + " |"]
    lines.append("|" + "|".join("---" if i < n_words else "---:" for i in range(len(headers))) + "|")
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def data_sets(summary: Summary) -> str:
    """Make table 1: the data sets, ours and the paper's."""
    headers = ("data set", "N", "paper", "D", "paper", "ones", "paper", "density", "paper", "threshold")
    rows = []
    for name in summary.scale.described:
        own = summary.data(name)
        if own is None:
            continue
        cells = [INPUTS[name].label]
        published = paper()["datasets"].get(name)
        for key, paper_key in (("n_transactions", "N"), ("n_items", "D"), ("n_ones", "ones")):
            cells += [f"{own[key]:,}", f"{published[paper_key]:,}" if published else ABSENT]
        cells.append(_percent(own["n_ones"] / (own["n_transactions"] * own["n_items"])))
        cells.append(_percent(published["density"]) if published else ABSENT)
        rows.append((*cells, f"{100 * INPUTS[name].min_support:g}%"))
    return markdown(headers, rows)


def lengths(summary: Summary) -> str:
    """Make table 2: frequent itemsets by length."""
    names = [name for name in summary.scale.real if summary.data(name) is not None]
    headers = ["length"]
    columns: list[list[str]] = []
    for name in names:
        record = summary.data(name)
        assert record is not None  # noqa: S101 - see the line above
        headers += [INPUTS[name].label, "all rows", "paper"]
        published = paper()["lengths"].get(name)
        columns += [
            [f"{n:,}" for n in by_length(record["lengths"])],
            [f"{n:,}" for n in by_length(record["lengths_in_all"])],
            [f"{n:,}" for n in (sum(published.values()), *published.values())]
            if published
            else [ABSENT] * (LENGTHS + 2),
        ]
    titles = ["total", *map(str, range(1, LENGTHS + 1)), f"over {LENGTHS}"]
    return markdown(headers, list(zip(titles, *columns, strict=True)))


def accuracy(summary: Summary, dataset: str, part: str) -> str:
    """Make the rows of a data set in table 3 or 4: ours, the floor and the paper's."""
    rows = summary.rows(part, dataset)
    headers = ["method", "K"]
    has_paper = any(row.paper for row in rows)
    for name in ("F-", "F+", "E"):
        headers += [name, "floor", "paper"] if has_paper else [name, "floor"]
    return markdown([*headers, "log-likelihood"], [_accuracy_row(row, has_paper=has_paper) for row in rows])


def _accuracy_row(row: Row, *, has_paper: bool) -> list[str]:
    cells = [label(row.method), _components(row)]
    for name in CRITERIA:
        cells += [_spread(row.own[name]), f"{row.floor[name].mean:.2f}"]
        if has_paper:
            cells.append(_spread(row.paper[name]) if row.paper else ABSENT)
    return [*cells, _number(mean(float(run["log_likelihood"]) for run in row.runs), 3)]


def past(summary: Summary, dataset: str) -> str:
    """Make the rows of a data set past the paper: the floor first, then all models."""
    headers = ("method", "K", "F-", "F+", "E", "E of the floor", "intervals cover", "log-likelihood")
    rows = summary.rows("beyond", dataset)
    cover = rows[0].floor_cover
    floor = ["floor", ABSENT, *(_spread(rows[0].floor[name]) for name in CRITERIA), "1.00"]
    floor += [ABSENT if cover is None else f"{100 * cover:.1f}%", ABSENT]
    return markdown(headers, [floor, *map(_past_row, rows)])


def _past_row(row: Row) -> list[str]:
    cover, likelihood = row.average("cover"), row.average("log_likelihood")
    return [
        label(row.method),
        _components(row),
        *(_spread(row.own[name]) for name in CRITERIA),
        f"{row.of_the_floor:.2f}",
        ABSENT if cover is None else f"{100 * cover:.1f}%",
        ABSENT if likelihood is None else _number(likelihood, 3),
    ]


def _components(row: Row) -> str:
    if row.components:
        return f"{row.components}"
    return ABSENT if row.found is None else f"{row.found:.1f}"


def floors(summary: Summary) -> str:
    """Make the table of how the floor varies between random halves."""
    headers = ("data set", "halves", "mean", "standard deviation", "least", "median", "most", "table 4's")
    rows = []
    for name in summary.scale.real:
        errors = [100 * record["E"] for record in summary.floors(name)]
        if len(errors) < 2:
            continue
        spread = Spread.of(errors)
        values = [spread.mean, spread.sd, min(errors), median(errors), max(errors)]
        values.append(mean(errors[: summary.scale.n_runs]))
        rows.append([INPUTS[name].label, f"{len(errors)}", *(f"{value:.2f}" for value in values)])
    return markdown(headers, rows)


def many(summary: Summary) -> str:
    """Make the table of corrected mixtures over many random halves."""
    headers = (
        "data set", "halves", "E", "floor", "E of the floor", "F-", "floor", "F+", "floor", "intervals cover",
        "floor", "least", "most",
    )  # fmt: skip
    rows = []
    for name in summary.scale.real:
        fits, floors = summary.many(name)
        if not fits:
            continue
        shown = [
            Spread.of([100 * record[key] for record in records])
            for key in ("E", "F-", "F+")
            for records in (fits, floors)
        ]
        cells = [_spread(value) for value in shown]
        covers = [fit["cover"] for fit in fits]
        cells.insert(2, f"{shown[0].mean / shown[1].mean:.2f}")
        of_floor = average(floors, "cover")
        cells += [_percent(mean(covers)), ABSENT if of_floor is None else _percent(of_floor)]
        cells += [_percent(value) for value in (min(covers), max(covers))]
        rows.append([INPUTS[name].label, f"{len(fits)}", *cells])
    return markdown(headers, rows)


def compared(summary: Summary) -> str:
    """Make the table of the correction beside an earlier one, on the same divisions."""
    headers = ("data set", "method", "divisions", "earlier", "now", "difference", "standard error")
    rows = []
    for one in summary.compared():
        ratios = [mean(errors) / mean(one.floor) for errors in (one.earlier, one.now)]
        rows.append(
            [
                INPUTS[one.dataset].label,
                label(one.method),
                f"{len(one.floor)}",
                *(f"{ratio:.4f}" for ratio in ratios),
                f"{one.difference:+.4f}",
                f"{one.standard_error:.4f}",
            ]
        )
    return markdown(headers, rows, n_words=2)


def scarce(summary: Summary, dataset: str) -> str:
    """Make the table of a data set with little data to train: counting, the mixture, the corrected one."""
    headers = (
        "to train", "prediction", "transactions", "E", "of counting's", "not frequent in training",
        "longer than five", "intervals cover", "the mixture is worth",
    )  # fmt: skip
    found = [one for share in summary.scale.shares if (one := summary.scarce(dataset, share)) is not None]
    return markdown(headers, [_scarce_row(one, source) for one in found for source in SOURCES], n_words=2)


def _scarce_row(found: Scarce, source: str) -> list[str]:
    ratios = [found.ratio(source, kind) for kind in ("E", "E_new", "E_long")]
    return [
        f"{found.share}%",
        SOURCES[source],
        f"{found.runs[0]['n_train']:,}",
        f"{100 * (found.error(source) or 0.0):.2f}",
        *(ABSENT if ratio is None else f"{ratio:.2f}" for ratio in ratios),
        f"{100 * found.cover(source):.1f}%",
        " / ".join(f"{worth:,.0f}" for worth in found.worths) if source == "corrected" else ABSENT,
    ]


def cover_by_length(summary: Summary) -> str:
    """Make the table of how many supports lie in their intervals by length, over all data sets and splits."""
    runs = [run for found in summary.all_scarce(SHARE_BY_LENGTH) for run in found.runs]
    longest = max((len(run["lengths"]) for run in runs), default=1) - 1
    rows = []
    for least in range(1, min(longest, LENGTHS + 1) + 1):
        chosen = slice(least, least + 1 if least <= LENGTHS else None)
        n_sets = sum(sum(run["lengths"][chosen]) for run in runs)
        covers = [_pooled(runs, source, chosen) / n_sets for source in SOURCES]
        title = f"{least}" if least <= LENGTHS else f"over {LENGTHS}"
        rows.append([title, f"{n_sets:,}", *(f"{100 * cover:.1f}%" for cover in covers)])
    return markdown(("length", "sets", *SOURCES.values()), rows)


def _pooled(runs: list[Record], source: str, lengths: slice) -> float:
    """Return how many sets of some lengths lie in their intervals, over all runs."""
    pairs = (
        pair
        for run in runs
        for pair in zip(run["lengths"][lengths], run[source]["cover_by_length"][lengths], strict=True)
    )
    return sum(float(n * cover) for n, cover in pairs)


def starts(summary: Summary) -> str:
    """Make the table of starts: the log-likelihood of the test part from each, the default one first."""
    others = ("sampled", "k-means++", "random", "one")
    headers = ("data set", "method", "K", *others, "default to the best other", "largest component")
    rows = []
    for found in summary.starts():
        values = {start: _number(float(record["test"]), 3) for start, record in found.fits.items()}
        default = next(iter(values))
        values[default] = f"**{values[default]}**"
        rows.append(
            [
                INPUTS[found.dataset].label,
                label(found.method),
                f"{found.components}" if found.components else ABSENT,
                *(values.get(start, ABSENT) for start in others),
                f"{100 * found.gain:+.2f}%",
                f"{100 * found.fits[default]['largest']:.0f}%",
            ]
        )
    return markdown(headers, rows, n_words=2)


RECOMMENDERS = {"model": "itemix.fit", "ease": "EASE", "popularity": "popularity"}


def front(summary: Summary) -> str:
    """Make the table of what `itemix.fit` makes: its likelihood, its supports, and what it took."""
    headers = (
        "data set", "components", "log-likelihood", "worth", "E", "E of counting", "processor seconds",
        "2,000 baskets, seconds",
    )  # fmt: skip
    rows = []
    for name, record in summary.front().items():
        cells = [INPUTS[name].label, f"{record['components']:.0f}", _number(float(record["test"]), 3)]
        cells += [f"{record['worth']:,.0f}", f"{100 * record['E']:.2f}", f"{100 * record['E_counting']:.2f}"]
        rows.append([*cells, f"{record['fit_seconds']:.1f}", f"{record['recommend_seconds']:.1f}"])
    return markdown(headers, rows)


def recommendations(summary: Summary) -> str:
    """Make the table of recommendations by what `itemix.fit` makes, and by the baselines."""
    headers = ("data set", "recommender", "NDCG@10", "error", "hit rate", "coverage")
    rows = []
    for name, record in summary.front().items():
        for key, title in RECOMMENDERS.items():
            found = ranked(record, key)
            cells = [INPUTS[name].label, title, f"{found['ndcg']:.4f}", f"{found['ndcg_error']:.4f}"]
            rows.append([*cells, f"{found['hit_rate']:.3f}", f"{100 * found['coverage']:.0f}%"])
    return markdown(headers, rows, n_words=2)


def sizes(summary: Summary) -> str:
    """Make the table of what the files of models take beside those of data and itemsets."""
    headers = (
        "data set", "transactions", "data as text", "gzipped", "model", "itemsets of the model",
        "how many these are", "model / gzipped data", "model / itemsets",
    )  # fmt: skip
    rows = []
    for name in summary.scale.scarce:
        found = summary.largest_scarce(name)
        if found is None:
            continue
        own = found.runs[0]["bytes"]
        ratios = [own["model"] / own[other] for other in ("gzip", "itemsets")]
        cells = [INPUTS[name].label, f"{found.runs[0]['n_train']:,}"]
        cells += [f"{own[key]:,}" for key in ("text", "gzip", "model", "itemsets", "n_itemsets")]
        rows.append([*cells, *(f"{ratio:.2f}" for ratio in ratios)])
    return markdown(headers, rows)


def probes(summary: Summary) -> str:
    """Make the table of what makes a difference: a variant, and what it varies."""
    headers = ("data set", "method", "K", "F-", "table 4", "E", "table 4", "floor", "paper")
    rows = []
    for setting, row, usual in summary.probes():
        name = label(row.method) + (f", prior worth {setting} transactions" if setting else "")
        cells = [INPUTS[row.dataset].label, name, _components(row)]
        for criterion in ("F-", "E"):
            cells += [_spread(row.own[criterion]), ABSENT if usual is None else _spread(usual.own[criterion])]
        published = ABSENT if usual is None or not usual.paper else _spread(usual.paper["E"])
        rows.append([*cells, f"{row.floor['E'].mean:.2f}", published])
    return markdown(headers, rows, n_words=2)


def training(summary: Summary) -> str:
    """Make table 5: iterations and training time."""
    headers = (
        "method", "K", "iterations", "paper", "seconds", "paper", "seconds an iteration", "paper",
        "times faster an iteration", "in all",
    )  # fmt: skip
    rows = []
    for method, K, runs in summary.training():
        n_iter = mean(run["iterations"] for run in runs)
        seconds = Spread.of([run["wall_seconds"] for run in runs])
        published = summary.paper_training(method, K)
        own = (n_iter, seconds.mean, seconds.mean / n_iter)
        theirs = [published.get(key) for key in ("iterations", "train_s", "s_per_iteration")]
        cells = [label(method), f"{K or mean(run['components'] for run in runs):.4g}"]
        for value, other, digits in zip(own, theirs, (1, 2, 4), strict=True):
            cells += [f"{value:.{digits}f}", ABSENT if other is None else f"{other:g}"]
        if published:
            each = published["train_s"] / published["iterations"]  # its own quotients are not all right
            cells += [f"{each / own[2]:,.0f}", f"{published['train_s'] / own[1]:,.0f}"]
        else:
            cells += [ABSENT, ABSENT]
        rows.append(cells)
    return markdown(headers, rows)


def generation(summary: Summary) -> str:
    """Make table 6: mining models and mining data."""
    headers = ("data", "what is mined", "components", "itemsets", "ms", "search alone, ms", "paper, ms")
    rows = []
    for name in summary.scale.generated:
        shown = INPUTS[name].label
        theirs = paper()["generation"] if name == "accidents" else {}
        for K in summary.scale.components:
            record = summary.get("table6", name, "vfbm", K)
            if record is not None:
                seconds = theirs.get(f"K={K}")
                rows.append([shown, "model", f"{K}", *_timed(record), _milliseconds(seconds)])
        for setting, what in (("one", "GSDPM, one draw"), ("", "GSDPM, all draws")):
            record = summary.get("table6", name, "gsdpm", 0, 0, setting)
            if record is not None:
                seconds = theirs.get("K=114.6") if setting else None
                n = f"{record['mixture_components']}"
                rows.append([shown, what, n, *_timed(record), _milliseconds(seconds)])
        for n_rows in _shown_rows(summary, name):
            for miner in MINERS:
                record = summary.get("table6", name, miner, 0, 0, n_rows)
                if record is not None:
                    where = f"{shown}, {int(n_rows):,} rows" if n_rows else shown
                    seconds = theirs.get("eclat") if miner == MINERS[1] and n_rows == "17009" else None
                    rows.append([where, f"data, {miner}", ABSENT, *_timed(record), _milliseconds(seconds)])
    return markdown(headers, rows, n_words=2)


def _shown_rows(summary: Summary, name: str) -> list[str]:
    """Return the numbers of rows in the table: of the data set itself, and the largest."""
    if name != summary.scale.generated[0]:
        return [""]
    return [str(n) for n in summary.scale.n_rows if n in (17_009, max(summary.scale.n_rows))]


def _timed(record: Record) -> list[str]:
    search = record.get("search_seconds")
    return [f"{record['n_itemsets']:,}", _milliseconds(record["wall_seconds"]), _milliseconds(search)]


def density(summary: Summary, references: dict[str, dict[str, float]]) -> str:
    """Make the table of the density yardstick: the chosen fit of each method, and known figures."""
    names = [
        name
        for name in summary.scale.density
        if any(summary.density(name, key) for key in standing_in("density"))
    ]
    rows = []
    for method in standing_in("density"):
        fits = [summary.density(name, method) for name in names]
        cells = [ABSENT if fit is None else _number(float(fit[1]["test"]), 3) for fit in fits]
        rows.append([label(method), *cells])
    for title, values in references.items():
        rows.append([title, *(_number(values[name], 3) if name in values else ABSENT for name in names)])
    return markdown(["method", *(INPUTS[name].label for name in names)], rows)


def density_choices(summary: Summary) -> str:
    """Make the table of what the validation part chose."""
    names = [
        name
        for name in summary.scale.density
        if any(summary.density(name, key) for key in standing_in("density"))
    ]
    rows = []
    for method in standing_in("density"):
        made, cells = METHODS[method], []
        for name in names:
            fit = summary.density(name, method)
            cells.append(ABSENT if fit is None else _choice(made, *fit))
        rows.append([label(method), *cells])
    return markdown(["method", *(INPUTS[name].label for name in names)], rows)


def _choice(method: Method, task: Task, record: Record) -> str:
    found = record["components"]
    number = f"{task.components}" if method.has_components else ABSENT if found is None else f"{found:.0f}"
    return f"{number}; {task.setting}" if task.setting else number


def _spread(value: Spread) -> str:
    return f"{value.mean:.2f} ± {value.sd:.2f}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}%"


def _milliseconds(seconds: float | None) -> str:
    return ABSENT if seconds is None else f"{1e3 * seconds:,.1f}"


def _number(value: float, digits: int) -> str:
    return "-inf" if value == float("-inf") else f"{value:.{digits}f}"
