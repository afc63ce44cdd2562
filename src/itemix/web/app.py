"""The application: an address for each view, each file and the page."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import itemix
from itemix._runtime import still_wanted
from itemix.core.tables import TableColumns, write
from itemix.errors import InvalidInputError
from itemix.web import openapi
from itemix.web.limits import HANDLERS, in_thread, make_pool
from itemix.web.middleware import KnownHosts, Measured, Metrics, SecureHeaders, TokenRequired
from itemix.web.openapi import Document
from itemix.web.questions import asked_in, chosen_model
from itemix.web.views import ask, model, patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from starlette.requests import Request

    from itemix.core.sets import Sets
    from itemix.web.questions import Question
    from itemix.web.served import Served

FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def write_itemsets(served: Served, asked: patterns.ItemsetsChosen, path: Path) -> None:
    """Write the itemsets in the order of the table, each with its interval and its support in the data."""
    found = patterns.choose_itemsets(served, asked)
    order = patterns.page_of(found, asked, 0, len(found.positions))
    chosen = found.family.itemsets.take(order)
    values: dict[str, Sets | npt.NDArray[Any]] = {
        "support": chosen.support,
        "itemsets": chosen.sets,
        "length": chosen.lengths,
        "lift": found.family.lift[order],
    }
    ends = served.intervals(chosen, asked.level) if len(chosen) else None
    if ends is not None:
        values |= {"lower": ends[0], "upper": ends[1]}
    exact = served.exact_support(chosen.sets)
    if exact is not None:
        values["exact"] = exact
    facts = {"n_transactions": None, "min_support": asked.min_support, "target": None}
    write(TableColumns("itemsets", chosen.items, values, facts), path)


def write_rules(served: Served, asked: patterns.RulesChosen, path: Path) -> None:
    """Write the rules in the order of the table, with all measures."""
    found, positions = patterns.choose_rules(served, asked)
    found.take(patterns.ranked(found, positions, asked, 0, len(positions))).save(path)


HERE = Path(__file__).parent
# An answer of up to so many steps takes a few milliseconds, so that it may hold up the event loop.
_STEPS_IN_THE_LOOP = 1_000_000
_FRESH = {"cache-control": "no-store"}


def _unknown(served: Served, question: object) -> float:
    return math.inf


@dataclass(frozen=True)
class View:
    """An address, what may be asked there, what answers, and the shape of the answer.

    `steps` says about how many steps an answer takes: infinitely many if that is not known beforehand.
    """

    path: str
    question: type[Question]
    answer: Callable[[Any, Any], dict[str, Any]]
    shape: Any
    steps: Callable[[Any, Any], float] = _unknown


@dataclass(frozen=True)
class File:
    """The name of a file, what may be asked for in it, and what writes it."""

    name: str
    question: type[Question]
    write: Callable[[Any, Any, Path], None]


# Routes are tried in this order, so what is asked for most comes first.
VIEWS = (
    View("/query", ask.QueryQuestion, ask.query, openapi.Query, ask.query_steps),
    View(
        "/recommend", ask.RecommendQuestion, ask.recommend, openapi.RecommendationsAnswer, ask.recommend_steps
    ),
    View("/influences", ask.InfluencesQuestion, ask.influences, openapi.Influences),
    View("/model", model.AboutQuestion, model.about, openapi.ModelFacts),
    View("/items", model.ItemsQuestion, model.items, openapi.FoundItems),
    View("/itemsets", patterns.ItemsetsQuestion, patterns.itemsets, openapi.ItemsetsAnswer),
    View("/components", model.ComponentsQuestion, model.components, openapi.Components),
    View("/components/{number:int}", model.ComponentQuestion, model.component, openapi.Component),
    View("/dependencies", patterns.DependenciesQuestion, patterns.dependencies, openapi.Dependencies),
    View("/rules", patterns.RulesQuestion, patterns.rules, openapi.RulesAnswer),
)
FILES = (
    File("itemsets", patterns.ItemsetsChosen, write_itemsets),
    File("rules", patterns.RulesChosen, write_rules),
)


def make_app(models: Sequence[Served], *, token: str | None = None, only_loopback: bool = True) -> Starlette:
    """Make the application that serves some models.

    Parameters
    ----------
    models : sequence of Served
        At least one; the first answers if a request names none.
    token : str, optional
        What requests must know to get an answer.
    only_loopback : bool
        Whether only requests to this machine by its own name are answered.
    """
    names = [served.name for served in models]
    if not names or len(set(names)) < len(names):
        raise InvalidInputError(f"expected models of different names, got {names}; rename the files")
    metrics = Metrics(len(models))
    middleware = [Middleware(Measured, metrics), Middleware(SecureHeaders)]
    if only_loopback:
        middleware.append(Middleware(KnownHosts))
    if token is not None:
        middleware.append(Middleware(TokenRequired, token))
    app = Starlette(
        routes=[*_view_routes(models), *_file_routes(models), *_other_routes(models, metrics)],
        middleware=middleware,
        exception_handlers=HANDLERS,
    )
    app.state.pool = make_pool()
    return app


def _view_routes(models: Sequence[Served]) -> list[Route]:
    return [Route(view.path, partial(_answer, models, view), methods=["GET", "POST"]) for view in VIEWS]


async def _answer(models: Sequence[Served], view: View, request: Request) -> Response:
    question = await asked_in(request, view.question)
    served = chosen_model(models, question.model)
    work = partial(_rendered, view, served, question)
    if view.steps(served, question) <= _STEPS_IN_THE_LOOP:
        return work()
    return await in_thread(request, work, served.limits.seconds)


def _rendered(view: View, served: Served, question: object) -> Response:
    return JSONResponse(view.answer(served, question), headers=_FRESH)


def _file_routes(models: Sequence[Served]) -> list[Route]:
    return [
        Route(f"/{file.name}.{extension}", partial(_download, models, file, extension))
        for file in FILES
        for extension in FORMATS
    ]


async def _download(models: Sequence[Served], file: File, extension: str, request: Request) -> Response:
    question = await asked_in(request, file.question)
    served = chosen_model(models, question.model)
    name = f"{served.name}-{file.name}.{extension}"
    work = partial(_written, file, served, question, name)
    folder = await in_thread(request, work, served.limits.download_seconds)
    return FileResponse(
        Path(folder.name) / name,
        media_type=FORMATS[extension],
        filename=name,
        headers=_FRESH,
        background=BackgroundTask(folder.cleanup),
    )


def _written(file: File, served: Served, question: object, name: str) -> tempfile.TemporaryDirectory[str]:
    """Write a file into a folder of its own, and remove it again if nobody wants it any more."""
    folder = tempfile.TemporaryDirectory(prefix="itemix-")
    try:
        file.write(served, question, Path(folder.name) / name)
        still_wanted()
    except BaseException:
        folder.cleanup()
        raise
    return folder


def _other_routes(models: Sequence[Served], metrics: Metrics) -> list[Route | Mount]:
    async def page(request: Request) -> Response:
        return FileResponse(HERE / "static" / "index.html", headers={"cache-control": "no-cache"})

    async def openapi(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(document))

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": itemix.__version__}, headers=_FRESH)

    async def listed(request: Request) -> Response:
        return JSONResponse({"models": [served.name for served in models]}, headers=_FRESH)

    return [
        Route("/", page),
        Route("/openapi.json", openapi),
        Route("/health", health),
        Route("/metrics", metrics.endpoint),
        Route("/models", listed),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    made = Document([openapi.Health, openapi.Models, *(view.shape for view in VIEWS)])
    for view in VIEWS:
        made.add_view(view.path.replace(":int}", "}"), _summary(view.answer), view.question, view.shape)
    for file in FILES:
        for extension, media_type in FORMATS.items():
            summary = f"All {file.name} that /{file.name} shows a page of, as a file."
            made.add_file(f"/{file.name}.{extension}", summary, file.question, media_type.partition(";")[0])
    made.add_other("/", "The page.", "text/html")
    made.add_other("/openapi.json", "This document; needs no token.", "application/json")
    made.add_other(
        "/health", "Whether the server answers; needs no token.", "application/json", openapi.Health
    )
    made.add_other("/metrics", "Figures for a monitor, in the text format of Prometheus.", "text/plain")
    made.add_other("/models", "The names of the models.", "application/json", openapi.Models)
    return made.as_json()


def _summary(answer: Callable[[Any, Any], dict[str, Any]]) -> str:
    """Return the first line of a docstring without its "Return"."""
    return (answer.__doc__ or "").partition("\n")[0].removeprefix("Return ").capitalize()
