"""Commands that show a model: in the browser, over HTTP, to assistants, and in one HTML file."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from itemix._files import is_standard_input, refuse_repeated
from itemix.cli.ctrl_c import leave_to_server
from itemix.cli.fit import Fitting, fitted, refuse_fitting
from itemix.cli.options import DATASET_PREFIX, ModelOrData, Quiet, Reading, as_support, option
from itemix.cli.output import note, stopwatch
from itemix.cli.sources import opened, read_data, read_model, read_model_or_data, read_source, whole
from itemix.core.display import plural
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from itemix._typing import ModelLike
    from itemix.cli.sources import Opened
    from itemix.core.transactions import Transactions
    from itemix.web.served import Limits, Served


N = TypeVar("N", int, float)

_PAGE = "The page"
_TEST_HELP = "Transactions that the model was not fitted to, to see what in them it does not expect."
_HOST = "127.0.0.1"
_USUAL_PORT = 8765
_SERVER = "The server"
_LIMITS = "What one answer may cost"


def explore(
    source: ModelOrData,
    data: Annotated[
        str | None,
        option("--data", panel=_PAGE, metavar="DATA", help="Transactions to compare the model with."),
    ] = None,
    test: Annotated[
        str | None,
        option("--test", panel=_PAGE, metavar="DATA", help=_TEST_HELP),
    ] = None,
    port: Annotated[
        int | None,
        option(
            "--port",
            "-p",
            panel=_PAGE,
            metavar="N",
            help="The port on this machine, 0 for any; by default 8765, or any if that is taken.",
        ),
    ] = None,
    browser: Annotated[
        bool, option("--browser/--no-browser", panel=_PAGE, help="Whether to open the page in the browser.")
    ] = True,
    *,
    fitting: Fitting,
    output: Annotated[
        str | None,
        option(
            "--output", "-o", panel="Output", metavar="FILE", help="Where to save the model that is fitted."
        ),
    ] = None,
    reading: Reading,
    quiet: Quiet = False,
) -> None:
    """Explore a model in the browser.

    SOURCE is a model that itemix fit has saved; or transactions, to which a model is fitted first. The page
    is served to this machine only, until Ctrl-C.
    """
    from itemix.web import require_extra

    require_extra()
    from itemix.web.app import make_app
    from itemix.web.server import address_of, serve, warm_up
    from itemix.web.views.model import lowest_threshold

    with _listening(port) as listening:
        served = _served(source, (data, test), fitting, output, reading=reading, quiet=quiet)
        with stopwatch(quiet=quiet):
            warm_up(served)

        ahead = _thread(served.searches.read_ahead, lowest_threshold(served))

        def welcome() -> None:
            address = address_of(listening)
            note(f"explore {served.name} at {address} (Ctrl-C ends it)", quiet=quiet)
            if browser:
                import webbrowser

                _thread(webbrowser.open, address).start()
            ahead.start()

        leave_to_server()
        serve(make_app([served]), listening, welcome)
        served.searches.end()
        if ahead.is_alive():
            ahead.join()


def _thread(work: Callable[..., object], given: object) -> threading.Thread:
    return threading.Thread(target=work, args=(given,), daemon=True)


def _listening(port: int | None) -> socket.socket:
    from itemix.web.server import bound_socket

    if port is not None:
        return bound_socket(_HOST, port)
    try:
        return bound_socket(_HOST, _USUAL_PORT)
    except InvalidInputError:
        return bound_socket(_HOST, 0)


def _served(
    source: str,
    others: tuple[str | None, str | None],
    fitting: Fitting,
    output: str | None,
    *,
    reading: Reading,
    quiet: bool,
) -> Served:
    """Return what is served: the model of a source, or one fitted to it, with the data and the test data."""
    from itemix.web.served import Served

    refuse_repeated(source, *others, reading.names)

    with opened(source, quiet=quiet) as found:
        if found.kind == "model":
            refuse_fitting(fitting, source, output)
            beside = _beside_model(found, others, reading, quiet=quiet)
            return Served.from_file(whole(found), **beside, for_owner=True)
        if output is not None:
            from itemix._files import checked_target

            checked_target(output)
        fitting.estimator()  # says what is wrong before the data is read
        transactions = read_data(found, reading, quiet=quiet)
    data, test = _read_others(others, reading, transactions, quiet=quiet)
    model = fitted(fitting, transactions, quiet=quiet)
    if output is not None:
        model.save(output)
        note(f"wrote {output}: itemix explore {output} shows it again", quiet=quiet)
    shown = transactions if data is None else data
    return Served(_name_of(source), model, data=shown, test=test, path=output, for_owner=True)


def _beside_model(
    found: Opened, others: tuple[str | None, str | None], reading: Reading, *, quiet: bool
) -> dict[str, Any]:
    """Read data and test data to serve with a saved model; tables are cut as the model's was."""
    is_cut = reading.format == "table" and others != (None, None)
    cut_like = read_model(found) if is_cut else None
    data, test = _read_others(others, reading, cut_like, quiet=quiet)
    return {"data": data, "test": test}


def _read_others(
    others: tuple[str | None, str | None], reading: Reading, beside: object, *, quiet: bool
) -> tuple[Transactions | None, Transactions | None]:
    """Read data and test data, as far as they were named."""
    data, test = (
        None if other is None else read_source(other, reading, quiet=quiet, beside=beside) for other in others
    )
    return data, test


def _name_of(source: str) -> str:
    if is_standard_input(source):
        return "standard input"
    name = source.removeprefix(DATASET_PREFIX)
    return Path(name).name.split(".")[0].replace(":", " ") or "data"


_Models = Annotated[
    list[str],
    typer.Argument(metavar="MODEL...", show_default=False, help="Models that itemix fit has saved."),
]


@dataclass(frozen=True)
class Serving:
    """What is served beside models, and what one answer may cost."""

    data: Annotated[
        str | None,
        option("--data", panel=_SERVER, metavar="DATA", help="Transactions to compare the one model with."),
    ] = None
    test: Annotated[str | None, option("--test", panel=_SERVER, metavar="DATA", help=_TEST_HELP)] = None
    max_itemsets: Annotated[
        int,
        option("--max-itemsets", panel=_LIMITS, metavar="N", help="The most itemsets; 1,000,000 by default."),
    ] = 1_000_000
    max_rules: Annotated[
        int, option("--max-rules", panel=_LIMITS, metavar="N", help="The most rules; 1,000,000 by default.")
    ] = 1_000_000
    seconds: Annotated[
        float, option("--seconds", panel=_LIMITS, metavar="X", help="The longest time; 10 by default.")
    ] = 10.0

    def models(self, files: list[str], reading: Reading, *, quiet: bool) -> list[Served]:
        """Read all models, and the data beside the only one."""
        from itemix.web.served import Served

        others = (self.data, self.test)
        if others != (None, None) and len(files) > 1:
            raise InvalidInputError(
                f"expected one model with --data or --test, got {len(files)}; serve the others by themselves"
            )
        refuse_repeated(*files, *others, reading.names)
        models = []
        for file in files:
            with opened(file, quiet=quiet) as found:
                beside = _beside_model(found, others, reading, quiet=quiet)
                models.append(Served.from_file(whole(found), **beside, limits=self.limits()))
        return models

    def limits(self) -> Limits:
        """Return what one answer may cost."""
        from itemix.web.served import Limits

        return Limits(
            _at_least("--max-itemsets", self.max_itemsets, 1),
            _at_least("--max-rules", self.max_rules, 1),
            _at_least("--seconds", self.seconds, 0.1),
        )


def serve(
    *,
    files: _Models,
    host: Annotated[
        str,
        option(
            "--host", panel=_SERVER, metavar="HOST", help="The address to listen at; by default 127.0.0.1."
        ),
    ] = _HOST,
    port: Annotated[
        int, option("--port", "-p", panel=_SERVER, metavar="N", help="The port, 0 for any; by default 8765.")
    ] = _USUAL_PORT,
    token: Annotated[
        str | None,
        option(
            "--token",
            panel=_SERVER,
            metavar="TEXT",
            envvar="ITEMIX_TOKEN",
            help="What requests must send as 'Authorization: Bearer TEXT'. Where other machines can ask, one "
            "is made up if none is given.",
        ),
    ] = None,
    serving: Serving,
    reading: Reading,
    quiet: Quiet = False,
) -> None:
    """Serve models as JSON over HTTP, and the page that itemix explore opens.

    What can be asked is in /openapi.json; /health and /metrics are for monitors. A request names the model
    with model=NAME, the name of its file without the ending; by default the first one answers.
    """
    from itemix.web import require_extra

    require_extra()
    from itemix.web import server
    from itemix.web.app import is_loopback, make_app

    serving.limits()  # says what is wrong before a port is taken
    is_local = is_loopback(host)
    if token is None and not is_local:
        token = secrets.token_urlsafe(24)
    with server.bound_socket(host, port) as listening:
        models = serving.models(files, reading, quiet=quiet)
        app = make_app(models, token=token, only_loopback=is_local)
        with stopwatch(quiet=quiet):
            for served in models:
                server.warm_up(served)

        def welcome() -> None:
            address = server.address_of(listening)
            note(f"serving {plural(len(models), 'model')} at {address} (Ctrl-C ends it)", quiet=quiet)
            if token is not None and not is_local:
                note(f"the token is {token}; the page is at {address}#token={token}", quiet=quiet)

        leave_to_server()
        server.serve(app, listening, welcome)


def mcp(
    *,
    files: _Models,
    port: Annotated[
        int | None,
        option(
            "--port",
            "-p",
            panel=_SERVER,
            metavar="N",
            help="Answer over HTTP at this port of this machine, 0 for any; by default on standard input.",
        ),
    ] = None,
    serving: Serving,
    reading: Reading,
    quiet: Quiet = False,
) -> None:
    """Serve models to assistants, over the Model Context Protocol.

    An assistant starts this command and asks on standard input; with --port, it asks over HTTP. It can ask
    what the page of itemix explore can, and change nothing.
    """
    from itemix.web import require_extra

    require_extra("mcp")
    from itemix.web.assistants import make_assistant, make_http_app, serve_standard_streams

    if any(is_standard_input(file) for file in (*files, serving.data, serving.test) if file is not None):
        raise InvalidInputError(
            "expected files to serve, got standard input, where questions come; name files"
        )
    models = serving.models(files, reading, quiet=quiet)
    if port is None:
        note(f"serving {plural(len(models), 'model')} on standard input (its end ends it)", quiet=quiet)
        serve_standard_streams(make_assistant(models))
        return
    from itemix.web import server

    with server.bound_socket(_HOST, port) as listening:
        with stopwatch(quiet=quiet):
            for served in models:
                server.warm_up(served)

        def welcome() -> None:
            address = f"{server.address_of(listening)}mcp"
            note(f"serving {plural(len(models), 'model')} at {address} (Ctrl-C ends it)", quiet=quiet)

        leave_to_server()
        server.serve(make_http_app(make_assistant(models)), listening, welcome)


def _at_least(name: str, value: N, least: float) -> N:
    if not value >= least:
        raise InvalidInputError(f"expected {name} of {least} or more, got {value}; try {least}")
    return value


_REPORT = "The report"


def report(
    source: ModelOrData,
    output: Annotated[
        str | None,
        option(
            "--output", "-o", panel="Output", metavar="FILE", help="Where to write the report: report.html."
        ),
    ] = None,
    data: Annotated[
        str | None,
        option(
            "--data",
            panel=_REPORT,
            metavar="DATA",
            help="Transactions to compare a model with; those that it is fitted to by default.",
        ),
    ] = None,
    title: Annotated[
        str | None, option("--title", panel=_REPORT, metavar="TEXT", help="The heading of the report.")
    ] = None,
    min_support: Annotated[
        str | None,
        option(
            "--min-support",
            "-s",
            panel=_REPORT,
            metavar="SUPPORT",
            help="The least support of the itemsets: a fraction (0.01) or a percentage (1%). By default such "
            "that there are about a thousand.",
        ),
    ] = None,
    *,
    test: Annotated[str | None, option("--test", panel=_REPORT, metavar="DATA", help=_TEST_HELP)] = None,
    fitting: Fitting,
    reading: Reading,
    quiet: Quiet = False,
) -> None:
    """Write a report on a model as one HTML file.

    SOURCE is a model that itemix fit has saved; or transactions, to which a model is fitted first. The file
    needs no network and no other file, and holds no transactions.
    """
    if output is None:
        raise InvalidInputError(
            "expected -o with a file to write the report to, got none; try -o report.html"
        )
    from itemix._files import checked_target
    from itemix.plot.canvas import require_matplotlib

    require_matplotlib()
    checked_target(output)
    refuse_repeated(source, data, test, reading.names)
    threshold = as_support(min_support)
    model, beside, unseen = _model_and_data(source, (data, test), fitting, reading, quiet=quiet)
    from itemix.report import write_report

    heading = _heading(source) if title is None else title
    write_report(model, output, data=beside, test=unseen, title=heading, min_support=threshold)
    size = Path(output).stat().st_size
    note(f"wrote {output}, {size / 1e6:.1f} MB: open it in a browser", quiet=quiet)


def _model_and_data(
    source: str, others: tuple[str | None, str | None], fitting: Fitting, reading: Reading, *, quiet: bool
) -> tuple[ModelLike, Transactions | None, Transactions | None]:
    """Return a source's model, or one fitted to its data, and what to compare and to test it with."""
    with opened(source, quiet=quiet) as found:
        if found.kind == "model":
            refuse_fitting(fitting, source)
            saved = read_model_or_data(found, reading, quiet=quiet)
            return saved, *_read_others(others, reading, saved, quiet=quiet)
        fitting.estimator()  # says what is wrong before the data is read
        transactions = read_data(found, reading, quiet=quiet)
    data, test = _read_others(others, reading, transactions, quiet=quiet)
    return fitted(fitting, transactions, quiet=quiet), transactions if data is None else data, test


def _heading(source: str) -> str:
    """Name a source without the folders that it lies in."""
    if is_standard_input(source):
        return "Report on transactions"
    return f"Report on {Path(source.removeprefix(DATASET_PREFIX)).name}"
