"""One result: what a task asks for, measured. Every fit and every search has one thread."""

from __future__ import annotations

import gzip
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta, norm
from sklearn.exceptions import ConvergenceWarning

import itemix
from itemix.data import synthetic
from itemix.evaluation import predict
from itemix.inference.affinity import Cases
from itemix.mining.intervals import intervals

from . import timing
from .inputs import INPUTS, alike_halves, divisions, fifths, halves, scarce_data, scarce_parts, thirds, whole
from .methods import FLOOR, METHODS, TRUTH, found_components

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from itemix import Evaluation, Itemsets, Transactions
    from itemix.core.sets import Sets
    from itemix.fitted import FittedModel

    from .scales import Task
    from .store import Record

    Floats = npt.NDArray[np.float64]

_N_BINS = 50
_LEVEL = 0.9
_MOST_COVERED = 20_000
_MOST_JUDGED = 50_000
_LONG = 5
_CHANCE = 0.05
# Of so many baskets recommendations are judged, as many are timed, and of so many all items are looked at.
_MOST_RECOMMENDED, _TIMED, _MOST_READ = 3_000, 2_000, 1_500
# Bins of probabilities, by their log-odds, and how many present items there are in one that is shown.
_BINS_OF_CHANCES, _FEWEST_PRESENT = np.linspace(-14, 6, 41), 10
_WITH_INTERVALS = ("beyond", "many", "floors")
_DIVIDED: dict[str, Callable[[str, int], tuple[Transactions, Transactions]]] = {
    "alike": alike_halves,
    "beyond": divisions,
}


def measure(task: Task) -> Record:
    """Do a task and return its record, with the seconds of processor time that it took."""
    began = time.process_time()
    record = _MEASURES[task.part](task)
    return {**record, "seconds": time.process_time() - began}


def fit(task: Task, train: Transactions, **options: Any) -> Any:  # noqa: ANN401 - an estimator
    """Fit the method of a task, with its run as the seed.

    A fit that does not converge is a result; one that Ctrl-C has ended is not, though it is kept by then.
    """
    return _fitted(METHODS[task.method].make(task.components or None, task.run, **options), train)


def _fitted(model: Any, train: Transactions) -> Any:  # noqa: ANN401 - an estimator
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(train)
    if any("was interrupted" in str(warning.message) for warning in caught):
        raise KeyboardInterrupt
    return model


def _describe_fit(model: Any) -> Record:  # noqa: ANN401 - an estimator
    corrected = getattr(model, "corrected_", None)
    return {
        "components": found_components(model),
        "iterations": getattr(model, "n_iter_", None),
        "converged": getattr(model, "converged_", None),
        **({"worth": corrected.worth} if corrected is not None else {}),
    }


def describe_data(task: Task) -> Record:
    """Count a data set, and the itemsets of its test part by length and by support (tables 1 and 2)."""
    data = whole(task.dataset)
    _, test = halves(task.dataset, task.run)
    threshold = INPUTS[task.dataset].min_support
    found = itemix.mine(test, threshold, n_jobs=1)
    in_all = itemix.mine(data, threshold, n_jobs=1)
    # Bars as wide as the paper's, or where the threshold is low a part of it; what is far above is left out.
    width = min(0.02, 0.4 * threshold)
    bars = ((found.support - threshold) / width + 1e-9).astype(np.int64)
    return {
        "n_transactions": data.n_transactions,
        "n_items": data.n_items,
        "n_ones": data.n_ones,
        "lengths": np.bincount(found.lengths).tolist(),
        "lengths_in_all": np.bincount(in_all.lengths).tolist(),
        "supports": np.bincount(bars)[:_N_BINS].tolist(),
        "bar_width": width,
    }


def _predictor(task: Task, train: Transactions) -> Any:  # noqa: ANN401 - what `evaluate` takes
    if task.method == FLOOR:
        return train
    if task.method == TRUTH:
        return synthetic.paper_mixture(task.dataset)
    return fit(task, train, **_prior(task, train))


def _prior(task: Task, train: Transactions) -> dict[str, Any]:
    return METHODS[task.method].prior(train, float(task.setting)) if task.setting else {}


def evaluate_accuracy(task: Task) -> Record:
    """Fit to the training part and evaluate on the test part (tables 3 and 4, and past the paper)."""
    train, test = _DIVIDED.get(task.part, halves)(task.dataset, task.run)
    began = time.process_time()
    model = _predictor(task, train)
    fit_seconds = time.process_time() - began
    threshold = INPUTS[task.dataset].min_support
    result = itemix.evaluate(model, test, threshold, n_jobs=1)
    return {
        "F-": result.false_negative_rate,
        "F+": result.false_positive_rate,
        "E": result.mean_relative_error,
        "D": result.mean_relative_bias,
        "n_true": result.n_true,
        "n_predicted": result.n_predicted,
        "log_likelihood": result.log_likelihood,
        "fit_seconds": fit_seconds,
        **_describe_fit(model),
        **(_by_length(result) if task.part == "table4" else {}),
        **(_cover(model, test, threshold) if task.part in _WITH_INTERVALS else {}),
    }


def _cover(source: Any, test: Transactions, threshold: float) -> Record:  # noqa: ANN401 - what predicts
    """Return how many supports in the test part lie in their predictive interval, if there are intervals."""
    is_counted = isinstance(source, itemix.Transactions)
    if not is_counted and not getattr(source, "posteriors_", None):
        return {}
    true = itemix.mine(test, threshold, n_jobs=1)
    some = true[:: max(1, len(true) // _MOST_COVERED)]
    if is_counted:
        lower, upper = _counted_ends(source, some.sets, len(test))
    else:
        sets = [list(itemset.items) for itemset in some]
        _, lower, upper = source.intervals(sets, level=_LEVEL, n_transactions=len(test))
    return {"cover": float(((lower <= some.support) & (some.support <= upper)).mean())}


def _counted_ends(train: Transactions, sets: Sets, n: int) -> tuple[Floats, Floats]:
    """Return the ends of intervals of the frequencies in n transactions, of which others were counted.

    They are those of a Beta distribution with the mean f and the variance f (1 - f) (1 / N + 1 / n).
    """
    f = predict(train, 1.0, None, 1).support_of(sets)
    strength = 1 / (1 / len(train) + 1 / n) - 1
    with np.errstate(invalid="ignore"):  # where nothing was counted, there is no such distribution
        lower, upper = (
            beta.ppf(q, f * strength, (1 - f) * strength) for q in ((1 - _LEVEL) / 2, (1 + _LEVEL) / 2)
        )
    return np.nan_to_num(lower), np.nan_to_num(upper)


def _by_length(result: Evaluation) -> Record:
    """Return error and bias of each length, which the figure of table 4 shows."""
    rows = result.by_length.items()
    return {
        "by_length": [
            [length, own.n_true, own.mean_relative_error, own.mean_relative_bias]
            for length, own in rows
            if own.n_true
        ]
    }


def evaluate_scarce(task: Task) -> Record:
    """Fit a mixture to a small part, and judge counting, the mixture and its correction.

    If there are very many true itemsets, a random sample of them is judged, the same one each time.
    """
    train, test = scarce_parts(task.dataset, int(task.setting), task.run)
    threshold = INPUTS[task.dataset].min_support
    model = _sampled(task, train, "auto")
    true = itemix.mine(test, threshold, n_jobs=1)
    judged = _some(true)
    counted = predict(train, 1.0, None, 1).support_of(judged.sets)
    n = len(test)
    answers = {
        "counting": (counted, *_counted_ends(train, judged.sets, n)),
        "plain": intervals(model.posteriors_, judged, level=_LEVEL, n_transactions=n),
        "corrected": intervals(model.corrected_, judged, level=_LEVEL, n_transactions=n),
    }
    errors = {name: np.abs(answer[0] - judged.support) / judged.support for name, answer in answers.items()}
    covered = {
        name: (lower <= judged.support) & (judged.support <= upper)
        for name, (_, lower, upper) in answers.items()
    }
    # Supports are rounded fractions: what reaches the threshold by its count is frequent.
    kinds = {
        "E": np.ones(len(judged), dtype=bool),
        "E_new": counted < threshold * (1 - 1e-12),
        "E_long": judged.lengths > _LONG,
    }
    return {
        **{
            name: {
                **{kind: float(own[where].mean()) if where.any() else None for kind, where in kinds.items()},
                "cover": float(covered[name].mean()),
                "cover_by_length": _means_by(judged.lengths, covered[name]),
            }
            for name, own in errors.items()
        },
        "lengths": np.bincount(judged.lengths).tolist(),
        "n_train": len(train),
        "n_test": n,
        "n_true": len(true),
        "n_judged": len(judged),
        "n_new": int(kinds["E_new"].sum()),
        **_describe_fit(model),
        **({"bytes": _sizes(model, train, threshold)} if task.run == 0 else {}),
    }


def _sampled(task: Task, train: Transactions, correction: str | None) -> Any:  # noqa: ANN401 - an estimator
    """Fit a Dirichlet process mixture by sampling, its prior learned."""
    model = itemix.DirichletProcessMixture(
        inference="gibbs", beta="learn", correction=correction, random_state=task.run, n_jobs=1
    )
    return _fitted(model, train)


def _some(itemsets: Itemsets) -> Itemsets:
    """Return a random sample of itemsets if they are very many, the same one each time."""
    if len(itemsets) <= _MOST_JUDGED:
        return itemsets
    return itemsets.take(np.sort(np.random.default_rng(0).permutation(len(itemsets))[:_MOST_JUDGED]))


def count_signs(task: Task) -> Record:
    """Count the sets that are more frequent, and those that are less, than a mixture of the same data says.

    The mixture names the sets, of two items and more, so that the data has no say in which they are. What
    chance may do is left out, at 5% for all sets together (Bonferroni).
    """
    data = scarce_data(task.dataset)
    mixture = _sampled(task, data, None).mixture_
    named = _some(itemix.mine(mixture, INPUTS[task.dataset].min_support, n_jobs=1).filter(min_len=2))
    found = predict(data, 1.0, None, 1).support_of(named.sets)
    errors = np.sqrt(named.support * (1 - named.support) / len(data))
    far = norm.ppf(1 - _CHANCE / 2 / max(1, len(named))) * errors
    return {
        "n": len(named),
        "higher": int((found > named.support + far).sum()),
        "lower": int((found < named.support - far).sum()),
    }


def _means_by(lengths: npt.NDArray[np.int64], values: npt.NDArray[np.bool_]) -> list[float]:
    """Return the means of values by length, 0 where there are none."""
    totals = np.bincount(lengths)
    means: list[float] = (np.bincount(lengths, values) / np.maximum(totals, 1)).tolist()
    return means


def _sizes(model: Any, train: Transactions, threshold: float) -> Record:  # noqa: ANN401 - an estimator
    """Return the sizes of the training part as numbers in text, of its model and of the model's itemsets."""
    lines = (" ".join(map(str, row.tolist())) for row in np.split(train.indices, train.indptr[1:-1]))
    text = "\n".join(lines).encode() + b"\n"
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.itemix")
        found = itemix.mine(model, threshold, n_jobs=1)
        found.save(Path(folder) / "itemsets.parquet")
        files = {path.stem: path.stat().st_size for path in sorted(Path(folder).iterdir())}
    packed = len(gzip.compress(text, 9, mtime=0))
    return {"text": len(text), "gzip": packed, **files, "n_itemsets": len(found)}


def evaluate_density(task: Task) -> Record:
    """Fit to the training part; the mean log-likelihood of the other two (the density yardstick)."""
    train, valid, test = thirds(task.dataset)
    model = fit(task, train, **_prior(task, train))
    scores = {"valid": model.score(valid), "test": model.score(test)}
    if len(getattr(model, "posteriors_", ())) > 1:
        one = model.posterior_.mixture()
        scores["test_of_one"] = float(one.log_likelihood(test.align_items(one.items)).mean())
    return {**scores, **_describe_fit(model)}


def evaluate_start(task: Task) -> Record:
    """Fit to four fifths from some start; the mean log-likelihood of the rest."""
    train, test = fifths(task.dataset)
    model = fit(task, train, init=task.setting)
    sizes = model.counts_.sizes
    return {"test": model.score(test), "largest": float(sizes.max() / sizes.sum()), **_describe_fit(model)}


def evaluate_front(task: Task) -> Record:
    """Judge what `itemix.fit` makes of four fifths: its likelihood, its supports, its recommendations."""
    train, test = fifths(task.dataset)
    threshold = INPUTS[task.dataset].min_support
    began = time.process_time()
    model = itemix.fit(train, n_jobs=1, progress=False)
    fit_seconds = time.process_time() - began
    errors = [itemix.evaluate(source, test, threshold, n_jobs=1) for source in (model, train)]
    some = test.sample(min(len(test), _MOST_RECOMMENDED), random_state=0)
    ranked = itemix.evaluate_recommendations(model, some, train=train)
    timed = test.sample(_TIMED, replace=len(test) < _TIMED, random_state=0)
    began = time.process_time()
    model.recommend_many(timed, n=10)
    recommend_seconds = time.process_time() - began
    said, came = _reliability(model.fitted_, some)
    return {
        "test": model.score(test),
        "E": errors[0].mean_relative_error,
        "E_counting": errors[1].mean_relative_error,
        "ranked": [ranked.score(name)._asdict() for name in ("model", "ease", "popularity")],
        "fit_seconds": fit_seconds,
        "recommend_seconds": recommend_seconds,
        "said": said,
        "came": came,
        **_describe_fit(model),
    }


def _reliability(fitted: FittedModel, test: Transactions) -> tuple[list[float], list[float]]:
    """Return the chances of items given the rest of their baskets, and how often they were there, by bins.

    Present items are asked for one at a time; all absent ones at once.
    """
    known = test.to_scipy()[:_MOST_READ]
    cases = Cases.of(known, np.random.default_rng(0), 5)

    def asked(baskets: Any) -> Floats:  # noqa: ANN401 - a sparse array
        sets = itemix.Transactions(baskets.indptr, baskets.indices, fitted.value.items)
        whole = fitted.value.items_completing_each(sets.indptr, sets.indices)
        return whole if fitted.affinity is None else fitted.affinity.combine(whole, sets.indptr, sets.indices)

    there = np.concatenate(
        [
            asked(cases.baskets[rows])[np.arange(len(rows)), cases.left_out[rows]]
            for rows in np.array_split(np.arange(len(cases.left_out)), 20)
        ]
    )
    # A present item stands for all of its basket that were not left out.
    weight = cases.weights * np.diff(known.indptr)[cases.basket]
    edges = _BINS_OF_CHANCES
    expected, total = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    for rows in np.array_split(np.flatnonzero(np.diff(known.indptr) > 0), 20):
        logits = _log_odds(asked(known[rows]))
        logits = logits[np.isfinite(logits)]
        expected += np.histogram(logits, edges, weights=1 / (1 + np.exp(-logits)))[0]
        total += np.histogram(logits, edges)[0]
    logits = _log_odds(there)
    present = np.histogram(logits, edges, weights=weight)[0]
    expected += np.histogram(logits, edges, weights=weight * there)[0]
    total += present
    usable = present >= _FEWEST_PRESENT
    said, came = (values[usable] / total[usable] for values in (expected, present))
    return said.tolist(), came.tolist()


def _log_odds(chances: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # what is there already is certain
        found: Floats = np.log(chances / (1 - chances)).ravel()
    return found


def time_training(task: Task) -> Record:
    """Time a fit to all rows (table 5)."""
    data = whole(task.dataset)
    fit(task, data.sample(min(300, len(data)), random_state=0))
    began = time.perf_counter()
    model = fit(task, data)
    return {
        "wall_seconds": time.perf_counter() - began,
        "machine": timing.machine(),
        **_describe_fit(model),
    }


def time_generation(task: Task) -> Record:
    """Time mining a model, or data in some number of rows (table 6)."""
    threshold = INPUTS[task.dataset].min_support
    data = whole(task.dataset)
    if task.method in METHODS:
        model = fit(task, data)
        mixture = model.posterior_.mixture() if task.setting else model.mixture_
        return {
            **timing.time_itemix(mixture, threshold),
            "mixture_components": mixture.n_components,
            **_describe_fit(model),
        }
    n = int(task.setting or len(data))
    rows = data if n == len(data) else data.sample(n, replace=n > len(data), random_state=0)
    if task.method == "itemix":
        return timing.time_itemix(rows, threshold)
    return timing.time_pyfim(task.method.removeprefix("pyfim "), rows, threshold)


_MEASURES = {
    "data": describe_data,
    "table3": evaluate_accuracy,
    "floors": evaluate_accuracy,
    "alike": evaluate_accuracy,
    "probes": evaluate_accuracy,
    "table4": evaluate_accuracy,
    "beyond": evaluate_accuracy,
    "many": evaluate_accuracy,
    "scarce": evaluate_scarce,
    "signs": count_signs,
    "density": evaluate_density,
    "starts": evaluate_start,
    "front": evaluate_front,
    "table5": time_training,
    "table6": time_generation,
}
