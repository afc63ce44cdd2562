"""The application: an address for each view, each file and the page; and the document that lists them.

Around them are refusals, who may ask, what a browser may do with the answer, and figures for a monitor.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import logging
import math
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypeVar

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.process_collector import ProcessCollector
from pydantic import Field, TypeAdapter
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import itemix
from itemix._runtime import deadline, still_wanted
from itemix.errors import InvalidInputError, ItemixError, TooManyItemsetsError, UnknownItemError
from itemix.web.served import Deadline, ThresholdTooLowError, TooSlowError
from itemix.web.views import (
    Answer,
    ask,
    asked_in,
    chosen_model,
    differences,
    model,
    patterns,
    schema_of,
    segments,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from itemix.web.served import Served
    from itemix.web.views import Question


# The one style that Observable Plot writes into its pictures; the policy lets in this text and no other.
PLOT_STYLE = """:where(.plot) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.plot text),
:where(.plot tspan) {
  white-space: pre;
}"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(PLOT_STYLE.encode()).digest()).decode()

# Pictures are saved as PNG by drawing an image of them, which has an address of the kind blob.
HEADERS = {
    "content-security-policy": f"default-src 'self'; style-src 'self' 'sha256-{_STYLE_HASH}'; "
    "img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]", "::1")

_OPEN_PATHS = ("/", "/health", "/openapi.json")
_OPEN_FOLDER = "/static/"


# Every refusal has one form: {"error": {"code": ..., "message": ...}}.

_LOG = logging.getLogger("itemix.web")

_CODES: tuple[tuple[type[ItemixError], int, str], ...] = (
    (UnknownItemError, 400, "unknown_item"),
    (TooManyItemsetsError, 400, "too_many"),
    (TooSlowError, 503, "too_slow"),
    (ItemixError, 400, "invalid_request"),
)
_CODE_OF_STATUS = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def refusal(status: int, code: str, message: str, **more: float) -> JSONResponse:
    """Return the answer to a request that is refused; the message is one line."""
    content = {"error": {"code": code, "message": " ".join(message.split()), **more}}
    return JSONResponse(content, status, headers={"cache-control": "no-store"})


async def of_library(request: Request, error: Exception) -> JSONResponse:
    """Answer an error that the library has raised on purpose."""
    status, code = next((status, code) for kind, status, code in _CODES if isinstance(error, kind))
    lowest = error.lowest if isinstance(error, ThresholdTooLowError | TooSlowError) else None
    more = {} if lowest is None else {"lowest_min_support": lowest}
    return refusal(status, code, str(error), **more)


async def of_http(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that the framework refuses: no such address, no such method."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    detail = error.detail if isinstance(error, HTTPException) else str(error)
    if status == 404 and detail == "Not Found":
        detail = f"expected one of the addresses in /openapi.json, got {request.url.path[:100]!r}; check it"
    if status == 405:
        detail = f"expected another method for {request.url.path}, got {request.method}; see /openapi.json"
    return refusal(status, _CODE_OF_STATUS.get(status, "invalid_request"), detail)


async def of_bug(request: Request, error: Exception) -> JSONResponse:
    """Answer what should not have happened; the log has more."""
    _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return refusal(500, "internal_error", "expected an answer, got a mistake of itemix; see the server's log")


async def of_nobody(request: Request, error: Exception) -> Response:
    """Answer a client that is gone: nobody reads it, but the metrics count it, with the status of nginx."""
    return Response(status_code=499)


HANDLERS = {ItemixError: of_library, ClientDisconnect: of_nobody, HTTPException: of_http, Exception: of_bug}


# Who may ask.


def is_loopback(host: str) -> bool:
    """Whether a host can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class SecureHeaders:
    """Adds the headers that keep a browser from running anything that is not ours."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *RAW_HEADERS]
            await send(message)

        await self._app(scope, receive, send_with_headers)


class TokenRequired:
    """Lets in who knows the token; the page itself and /health are open, because they hold nothing secret."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http" or self._may_pass(scope):
            await self._app(scope, receive, send)
            return
        refused = refusal(
            401,
            "unauthorized",
            "expected a header 'Authorization: Bearer TOKEN', got none or another; send it",
        )
        refused.headers["www-authenticate"] = "Bearer"
        await refused(scope, receive, send)

    def _may_pass(self, scope: Scope) -> bool:
        path = scope["path"]
        if path in _OPEN_PATHS or path.startswith(_OPEN_FOLDER):
            return True
        given = Headers(scope=scope).get("authorization", "").encode()
        return hmac.compare_digest(given, self._expected)


class KnownHosts:
    """Refuses requests for other hosts than this one: a foreign page may let its own name point to us."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] = LOOPBACK_HOSTS) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "http":
            host = Headers(scope=scope).get("host", "")
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if name.lower() not in self._hosts:
                refused = refusal(
                    400, "wrong_host", f"expected the host 127.0.0.1, got {host[:100]!r}; open that one"
                )
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)


_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The figures of one server: requests by address and status, how long they took, what is loaded."""

    def __init__(self, n_models: int) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "itemix_requests", "Requests by address and status.", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "itemix_request_seconds",
            "Seconds until an answer was complete.",
            ["path"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._running = Gauge(
            "itemix_requests_in_progress", "Requests being answered.", registry=self._registry
        )
        Gauge("itemix_models", "Models that are served.", registry=self._registry).set(n_models)

    def record(self, path: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    async def endpoint(self, request: Request) -> Response:
        """Answer with all figures, in the text format of Prometheus."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    def started(self) -> None:
        """Count a request that is being answered."""
        self._running.inc()

    def ended(self) -> None:
        """Count one less."""
        self._running.dec()


class Measured:
    """Counts and times every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500

        async def send_and_see(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.perf_counter()
        self._metrics.started()
        try:
            await self._app(scope, receive, send_and_see)
        finally:
            self._metrics.ended()
            # Take the path of the route. With that of the request, every address that somebody tries would
            # make a new row.
            path = getattr(scope.get("route"), "path", "none")
            self._metrics.record(path, status, time.perf_counter() - began)


FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
HERE = Path(__file__).parent
# An answer of up to this many steps takes a few milliseconds, so that it may hold up the event loop.
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
    View("/query", ask.QueryQuestion, ask.query, ask.Query, ask.query_steps),
    View("/recommend", ask.RecommendQuestion, ask.recommend, ask.RecommendationsAnswer, ask.recommend_steps),
    View("/influences", ask.InfluencesQuestion, ask.influences, ask.Influences),
    View("/model", model.AboutQuestion, model.about, model.ModelFacts),
    View("/overview", model.OverviewQuestion, model.overview, model.Overview),
    View("/items", model.ItemsQuestion, model.items, model.FoundItems),
    View("/itemsets", patterns.ItemsetsQuestion, patterns.itemsets, patterns.ItemsetsAnswer),
    View("/agreement", patterns.AgreementQuestion, patterns.agreement, patterns.AgreementAnswer),
    View("/components", segments.ComponentsQuestion, segments.components, segments.Components),
    View("/components/{number:int}", segments.ComponentQuestion, segments.component, segments.Component),
    View("/map", segments.MapQuestion, segments.segment_map, segments.SegmentMap),
    View("/what-if", ask.WhatIfQuestion, ask.what_if, ask.WhatIf),
    View("/evidence", ask.EvidenceQuestion, ask.evidence, ask.Evidence),
    View("/dependencies", model.DependenciesQuestion, model.dependencies, model.Dependencies),
    View("/rules", patterns.RulesQuestion, patterns.rules, patterns.RulesAnswer),
    View("/surprises", differences.SurprisesQuestion, differences.surprises, differences.SurprisesAnswer),
    View("/compare", differences.CompareQuestion, differences.compare, differences.CompareAnswer),
    View("/shifts", differences.ShiftsQuestion, differences.shifts, differences.ShiftsAnswer),
)
FILES = (
    File("itemsets", patterns.ItemsetsChosen, patterns.write_itemsets),
    File("rules", patterns.RulesChosen, patterns.write_rules),
    File("surprises", differences.SurprisesChosen, differences.write_surprises),
    File("assignments", segments.AssignmentsChosen, segments.write_assignments),
    File("compare", differences.CompareChosen, differences.write_comparison),
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
    require_names(models)
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


def require_names(models: Sequence[Served]) -> list[str]:
    """Return the names of models.

    Raises
    ------
    InvalidInputError
        If there are none, or two are the same.
    """
    names = [served.name for served in models]
    if not names or len(set(names)) < len(names):
        raise InvalidInputError(f"expected models of different names, got {names}; rename the files")
    return names


def _view_routes(models: Sequence[Served]) -> list[Route]:
    return [Route(view.path, partial(_answer, models, view), methods=["GET", "POST"]) for view in VIEWS]


async def _answer(models: Sequence[Served], view: View, request: Request) -> Response:
    question = await asked_in(request, view.question)
    served = chosen_model(models, question.model)
    work = partial(_rendered, view, served, question)
    if view.steps(served, question) <= _STEPS_IN_THE_LOOP:
        return work()
    try:
        return await in_thread(request, work, served.limits.seconds)
    except TooSlowError as error:
        threshold = getattr(question, "min_support", None)
        lowest = None if threshold is None else served.searches.note_slow(threshold)
        raise TooSlowError(error.seconds, lowest) from None


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

    async def name(request: Request) -> Response:
        _require_own_page(request)
        question = await asked_in(request, segments.NameQuestion)
        served = chosen_model(models, question.model)
        work = partial(segments.give_name, served, question)
        return JSONResponse(await in_thread(request, work, served.limits.seconds), headers=_FRESH)

    return [
        Route("/", page),
        Route("/names", name, methods=["POST"]),
        Route("/openapi.json", openapi),
        Route("/health", health),
        Route("/metrics", metrics.endpoint),
        Route("/models", listed),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]


def _require_own_page(request: Request) -> None:
    """Check that a request that changes something comes from a program, or from our own page.

    A foreign page can send forms, but no JSON without asking first, and it cannot hide where it comes from.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if site not in ("same-origin", "none") or kind != "application/json":
        raise HTTPException(
            400, "expected JSON (content-type: application/json) from this server's own page; send that"
        )


R = TypeVar("R")

# Views work in a few threads, so that the event loop stays free for quick answers.
_WORKERS = 4


def make_pool() -> ThreadPoolExecutor:
    """Return the threads of an application."""
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix="view")


async def in_thread(request: Request, work: Callable[[], R], seconds: float) -> R:
    """Do some work in a thread, until its time is over or nobody waits for it any more.

    Raises
    ------
    TooSlowError
        If the time is over.
    ClientDisconnect
        If the client is gone.
    """
    gone = asyncio.get_running_loop().create_task(_disconnect(request))
    try:
        return await within(request.app.state.pool, work, seconds, gone)
    finally:
        gone.cancel()


async def within(
    pool: ThreadPoolExecutor, work: Callable[[], R], seconds: float, gone: asyncio.Task[None] | None = None
) -> R:
    """Do some work in a thread of a pool, until its time is over, or a task says that nobody waits for it.

    Raises
    ------
    TooSlowError
        If the time is over.
    ClientDisconnect
        If the task is done.
    """
    limit = Deadline(seconds)
    running = asyncio.get_running_loop().run_in_executor(pool, partial(_until, limit, work))
    waited_for: set[asyncio.Future[Any]] = {running} if gone is None else {running, gone}
    try:
        done, _ = await asyncio.wait(waited_for, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if running in done:
            return running.result()
        raise ClientDisconnect if done else TooSlowError(seconds)
    finally:
        # Work that waits for a thread never begins; work that runs ends when it next asks.
        limit.call_off()
        running.cancel()


def _until(limit: Deadline, work: Callable[[], R]) -> R:
    with deadline(limit):
        limit()
        return work()


async def _disconnect(request: Request) -> None:
    """Return when the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


# The OpenAPI document: what may be asked at each address, and the shapes of the answers.


class RefusalFacts(Answer):
    """What is wrong, in a word and in a line."""

    code: Literal[
        "invalid_request",
        "unknown_item",
        "too_many",
        "too_slow",
        "too_busy",
        "unauthorized",
        "not_found",
        "method_not_allowed",
        "too_large",
        "wrong_host",
        "internal_error",
    ]
    message: Annotated[str, Field(description="One line: what was expected, what was got, what to try.")]
    lowest_min_support: NotRequired[
        Annotated[
            float,
            Field(description="With too_many and too_slow: the lowest threshold known to be possible."),
        ]
    ]


class Refusal(Answer):
    """The answer to a request that is refused."""

    error: RefusalFacts


class Health(Answer):
    """Whether the server answers."""

    status: Literal["ok"]
    version: str


class Models(Answer):
    """The models that are served."""

    models: list[str]


Json = dict[str, Any]

_ABOUT = (
    "Every answer of the explorer's page comes from here. Parameters go into the address of a GET request, "
    "names of items repeated, or as a JSON object into the body of a POST request. Whatever is refused has "
    "one shape, with a code and one line that says what to do."
)
_REFERENCE = "#/components/schemas/{model}"
_REFUSED = {"$ref": "#/components/responses/Refused"}


class Document:
    """The document, to which addresses are added.

    Parameters
    ----------
    shapes : iterable of types
        The shapes of all answers.
    """

    def __init__(self, shapes: Iterable[Any]) -> None:
        every = (*shapes, Refusal)
        mode: Literal["serialization"] = "serialization"
        by_shape, schemas = TypeAdapter.json_schemas(
            [(shape, mode, TypeAdapter(shape)) for shape in every], ref_template=_REFERENCE
        )
        self._schema_of = {shape: schema for (shape, _), schema in by_shape.items()}
        self._schemas = schemas.get("$defs", {})
        self._paths: Json = {}

    def add_view(self, path: str, summary: str, question: type[Question], shape: object) -> None:
        """Add an address that answers with JSON, to GET and to POST."""
        content = {"application/json": {"schema": self._schema_of[shape]}}
        responses = _responses("The answer.", content)
        parameters = _parameters(question, path)
        in_path = [entry for entry in parameters if entry["in"] == "path"]
        get: Json = {"summary": summary, "parameters": parameters, "responses": responses}
        body = _body(question, {entry["name"] for entry in in_path})
        post: Json = {"summary": "The same, with a JSON body.", "responses": responses, "requestBody": body}
        self._paths[path] = {"get": get, "post": post | ({"parameters": in_path} if in_path else {})}

    def add_file(self, path: str, summary: str, question: type[Question], media_type: str) -> None:
        """Add an address that answers with a file."""
        responses = _responses("The file; itemix reads it back.", {media_type: {}})
        get = {"summary": summary, "parameters": _parameters(question, path), "responses": responses}
        self._paths[path] = {"get": get}

    def add_change(self, path: str, summary: str, question: type[Question], shape: object) -> None:
        """Add an address that changes something, by POST only."""
        content = {"application/json": {"schema": self._schema_of[shape]}}
        body, responses = _body(question, set()), _responses("What it is now.", content)
        self._paths[path] = {"post": {"summary": summary, "responses": responses, "requestBody": body}}

    def add_other(self, path: str, summary: str, media_type: str, shape: object = None) -> None:
        """Add an address where nothing can be asked."""
        content = {media_type: {} if shape is None else {"schema": self._schema_of[shape]}}
        responses = {"200": {"description": "The answer.", "content": content}}
        self._paths[path] = {"get": {"summary": summary, "responses": responses}}

    def as_json(self) -> Json:
        """Return all of it."""
        refused = {"application/json": {"schema": self._schema_of[Refusal]}}
        return {
            "openapi": "3.1.0",
            "info": {
                "title": "itemix",
                "summary": "Questions to models of transactions.",
                "description": _ABOUT,
                "version": itemix.__version__,
                "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
            },
            "paths": self._paths,
            "components": {
                "schemas": self._schemas,
                "responses": {"Refused": {"description": "Refused, and why.", "content": refused}},
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "Where others than this machine can ask.",
                    }
                },
            },
            "security": [{}, {"token": []}],
        }


def _responses(description: str, content: Json) -> Json:
    return {"200": {"description": description, "content": content}, "4XX": _REFUSED, "503": _REFUSED}


def _parameters(question: type[Question], path: str) -> list[Json]:
    return [_parameter(question, name, f"{{{name}}}" in path) for name in question.model_fields]


def _parameter(question: type[Question], name: str, is_in_path: bool) -> Json:
    schema = dict(schema_of(question, name))
    description = schema.pop("description")
    schema.pop("title", None)
    if schema.get("default") is None:
        schema.pop("default", None)
    is_required = is_in_path or question.model_fields[name].is_required()
    entry = {"name": name, "in": "path" if is_in_path else "query", "description": description}
    return entry | ({"required": True} if is_required else {}) | {"schema": schema}


def _body(question: type[Question], left_out: set[str]) -> Json:
    schema = question.model_json_schema()
    schema["properties"] = {
        name: entry for name, entry in schema["properties"].items() if name not in left_out
    }
    return {"required": True, "content": {"application/json": {"schema": schema}}}


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    made = Document([Health, Models, segments.NameAnswer, *(view.shape for view in VIEWS)])
    for view in VIEWS:
        made.add_view(view.path.replace(":int}", "}"), _summary(view.answer), view.question, view.shape)
    for file in FILES:
        for extension, media_type in FORMATS.items():
            summary = f"All {file.name} that /{file.name} shows a page of, as a file."
            made.add_file(f"/{file.name}.{extension}", summary, file.question, media_type.partition(";")[0])
    made.add_change("/names", _summary(segments.give_name), segments.NameQuestion, segments.NameAnswer)
    made.add_other("/", "The page.", "text/html")
    made.add_other("/openapi.json", "This document; needs no token.", "application/json")
    made.add_other("/health", "Whether the server answers; needs no token.", "application/json", Health)
    made.add_other("/metrics", "Figures for a monitor, in the text format of Prometheus.", "text/plain")
    made.add_other("/models", "The names of the models.", "application/json", Models)
    return made.as_json()


def _summary(answer: Callable[[Any, Any], dict[str, Any]]) -> str:
    """Return the first line of a docstring without its "Return"."""
    return (answer.__doc__ or "").partition("\n")[0].removeprefix("Return ").capitalize()
