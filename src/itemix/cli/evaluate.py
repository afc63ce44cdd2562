"""``itemix evaluate``: how well a model, or mined itemsets, predict the frequent itemsets of unseen data."""

import dataclasses
import math
import shutil
import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itemix._files import refuse_repeated
from itemix.cli.options import AsJson, Quiet, Reading, as_support, data_sources, option
from itemix.cli.output import note, on_terminal, stopwatch, write_lines
from itemix.cli.sources import opened, read_model_or_data, read_result, read_source
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.evaluation import Evaluation, RecommendationEvaluation
    from itemix.fitted import FittedModel
    from itemix.mining.ruleset import Rules
    from itemix.models.base import Model

_ENDINGS = (".json", ".csv")
_PANEL = "The evaluation"


def evaluate(
    *,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            show_default=False,
            autocompletion=data_sources,
            help="A model that itemix fit has saved, itemsets of itemix mine -o, or transactions.",
        ),
    ],
    test: Annotated[
        str,
        typer.Argument(
            metavar="TEST",
            show_default=False,
            autocompletion=data_sources,
            help="Transactions that the model has not seen: a file, - or dataset:NAME:PART.",
        ),
    ],
    min_support: Annotated[
        str | None,
        option(
            "--min-support",
            "-s",
            panel=_PANEL,
            metavar="SUPPORT",
            help="The least support: a fraction (0.01), a percentage (1%) or a whole number of test "
            "transactions (20).",
        ),
    ] = None,
    recommend: Annotated[
        int | None,
        option(
            "--recommend",
            panel=_PANEL,
            metavar="N",
            help="Instead, leave items out of the baskets of TEST and see whether they are among N that are "
            "recommended; MODEL may also be rules of itemix rules -o.",
        ),
    ] = None,
    train: Annotated[
        str | None,
        option(
            "--train",
            panel=_PANEL,
            metavar="SOURCE",
            help="The transactions behind the model: their exact supports are shown beside it, as the floor; "
            "with --recommend, what popularity and a linear regression recommend.",
        ),
    ] = None,
    threads: Annotated[
        int,
        option("--threads", "-j", panel=_PANEL, metavar="N", help="Threads; by default all processors."),
    ] = -1,
    reading: Reading,
    output: Annotated[
        str | None,
        option("--output", "-o", panel="Output", metavar="FILE", help="Write to a .json or .csv file."),
    ] = None,
    limit: Annotated[
        int,
        option(
            "--limit",
            "-n",
            panel="Output",
            metavar="N",
            help="The most lengths of itemsets to show, 0 for all (the default).",
        ),
    ] = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a model on unseen data.

    Compares the frequent itemsets of TEST with those that MODEL predicts: how many of them are missed, how
    many predicted ones are false, and how far predicted supports are from the true ones on average, with and
    without their sign. All of this is also shown for each length of itemsets.

    With --recommend, items are left out of the baskets of TEST: how often are they recommended?
    """
    from itemix.core.display import plural
    from itemix.evaluation import evaluate as compare

    if limit < 0:
        raise InvalidInputError(f"expected --limit as a number of rows, got {limit}; try 0 for all")
    _check_output(output)
    if json and output is not None:
        raise InvalidInputError("expected --json or -o, got both; leave out one of them")
    refuse_repeated(model, test, train, reading.names)
    if recommend is not None:
        if min_support is not None:
            raise InvalidInputError("expected --min-support or --recommend, got both; leave out one of them")
        _recommended(recommend, model, test, train, reading=reading, output=output, as_json=json, quiet=quiet)
        return
    least = as_support(min_support)
    if least is None:
        raise InvalidInputError("expected --min-support or --recommend, got neither; try -s 1%")
    prediction = _read_prediction(model, reading, quiet)
    data = read_source(test, reading, quiet=quiet, beside=prediction)
    behind = None if train is None else read_source(train, reading, quiet=quiet, beside=prediction)
    with stopwatch(quiet=quiet) as watch:
        found = compare(prediction, data, least, train=behind, n_jobs=threads)
    numbers = f"{plural(found.n_true, 'true itemset')}, {found.n_predicted:,} predicted"
    note(f"{numbers}, evaluated in {watch.seconds():.2f} s", quiet=quiet)
    if found.log_likelihood == -math.inf:
        note(
            "the log-likelihood is -inf: the model rules out a transaction of the test data, as by an item "
            "that its training data never held",
            quiet=quiet,
        )
    if limit:
        found = shortened(found, limit)
    if json:
        _write_json(found)
    elif output is None and on_terminal():
        _draw(found)
    else:
        _write(found, output, quiet)


def shortened(evaluation: "Evaluation", n: int) -> "Evaluation":
    """Return an evaluation with the figures of the first n lengths only, and of its floor."""
    floor = None if evaluation.floor is None else shortened(evaluation.floor, n)
    return dataclasses.replace(evaluation, lengths=evaluation.lengths[:n], floor=floor)


def _recommended(
    k: int,
    model: str,
    test: str,
    train: str | None,
    *,
    reading: Reading,
    output: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Evaluate recommendations, and show or write the figures."""
    from itemix.cli.output import Page
    from itemix.core.display import plural
    from itemix.evaluation import evaluate_recommendations

    if k < 1:
        raise InvalidInputError(f"expected --recommend of at least 1, got {k}; try 10")
    source = _read_recommender(model, reading, quiet)
    data = read_source(test, reading, quiet=quiet, beside=source)
    behind = None if train is None else read_source(train, reading, quiet=quiet, beside=source)
    with stopwatch(quiet=quiet) as watch:
        found = evaluate_recommendations(source, data, k=k, train=behind)
    note(f"{plural(found.n_left_out, 'item')} left out, evaluated in {watch.seconds():.2f} s", quiet=quiet)
    if as_json:
        _write_json(found)
    elif output is None and on_terminal():
        Page().table(found.table())
    else:
        _write(found, output, quiet)


def _read_recommender(source: str, reading: Reading, quiet: bool) -> "FittedModel | Rules":
    from itemix.fitted import FittedModel
    from itemix.mining.ruleset import Rules

    with opened(source, quiet=quiet) as asked:
        saved = read_result(asked)
        found = saved if saved is not None else read_model_or_data(asked, reading, quiet=quiet)
    if not isinstance(found, FittedModel | Rules):
        raise InvalidInputError(
            f"expected a model or rules that recommend, got {source!r}, which holds "
            f"{type(found).__name__.lower()}; try itemix fit, or itemix rules -o"
        )
    return found


def _read_prediction(source: str, reading: Reading, quiet: bool) -> "Model | Itemsets | Transactions":
    from itemix.core.itemsets import Itemsets
    from itemix.fitted import FittedModel

    with opened(source, quiet=quiet) as asked:
        saved = read_result(asked)
        if isinstance(saved, Itemsets):
            note(f"{source}: {len(saved):,} itemsets", quiet=quiet)
            return saved
        found = read_model_or_data(asked, reading, quiet=quiet)
    return found.model if isinstance(found, FittedModel) else found


def _check_output(path: str | None) -> None:
    """Check that the file can be written, before anything is read."""
    if path is None:
        return
    from itemix._files import checked_target

    checked_target(path)
    if Path(path).suffix.lower() not in _ENDINGS:
        raise InvalidInputError(
            f"expected a file that ends in {' or '.join(_ENDINGS)}, got {path!r}; try evaluation.json"
        )


def _write(evaluation: "Evaluation | RecommendationEvaluation", path: str | None, quiet: bool) -> None:
    """Write the figures to a file, or as lines to where the output goes."""
    from itemix._files import replacing

    if path is None:
        frame = evaluation.to_pandas()
        columns = list(frame.columns)
        write_lines(columns, (list(map(_cell, columns, row)) for row in frame.itertuples(index=False)))
        return
    with replacing(path) as temporary:
        if Path(path).suffix.lower() == ".csv":
            evaluation.to_pandas().to_csv(temporary, index=False)
        else:
            temporary.write_text(_as_json(evaluation), encoding="utf-8")
    note(f"wrote the evaluation to {path}", quiet=quiet)


def _write_json(evaluation: "Evaluation | RecommendationEvaluation") -> None:
    sys.stdout.write(_as_json(evaluation))


def _as_json(evaluation: "Evaluation | RecommendationEvaluation") -> str:
    return f"{dumps(_finite(evaluation.to_dict()), indent=1, allow_nan=False)}\n"


def _finite(figures: dict[str, Any]) -> dict[str, Any]:
    """Return figures that JSON can hold: an infinite log-likelihood becomes null."""
    value = figures.get("log_likelihood")
    return figures if value is None or math.isfinite(value) else {**figures, "log_likelihood": None}


def _cell(column: str, value: float | None) -> str:
    import pandas as pd

    if pd.isna(value):
        return "all" if column == "length" else ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _draw(evaluation: "Evaluation") -> None:
    """Draw one table, or two where there is no room for the floor beside the model."""
    from dataclasses import replace

    from itemix.cli.output import Page

    page, table = Page(), evaluation.table()
    header_line = table.as_text().splitlines()[1]
    if evaluation.floor is None or len(header_line) < shutil.get_terminal_size().columns:
        page.table(table)
        return
    page.heading("The model")
    page.table(replace(evaluation, floor=None).table())
    page.heading("The floor", "exact supports of the training data")
    page.table(evaluation.floor.table())
