"""``itemix serve``: answer questions to models over HTTP."""

import secrets
from typing import Annotated, TypeVar

import typer

from itemix._files import refuse_repeated
from itemix.cli.ctrl_c import leave_to_server
from itemix.cli.options import Quiet, option
from itemix.cli.output import note, stopwatch
from itemix.cli.sources import opened, whole
from itemix.core.display import plural
from itemix.errors import InvalidInputError

N = TypeVar("N", int, float)

_SERVER = "The server"
_LIMITS = "What one answer may cost"


def serve(
    *,
    files: Annotated[
        list[str],
        typer.Argument(metavar="MODEL...", show_default=False, help="Models that itemix fit has saved."),
    ],
    host: Annotated[
        str,
        option(
            "--host", panel=_SERVER, metavar="HOST", help="The address to listen at; by default 127.0.0.1."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, option("--port", "-p", panel=_SERVER, metavar="N", help="The port, 0 for any; by default 8765.")
    ] = 8765,
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
    max_itemsets: Annotated[
        int,
        option("--max-itemsets", panel=_LIMITS, metavar="N", help="The most itemsets; 1,000,000 by default."),
    ] = 1_000_000,
    max_rules: Annotated[
        int, option("--max-rules", panel=_LIMITS, metavar="N", help="The most rules; 1,000,000 by default.")
    ] = 1_000_000,
    seconds: Annotated[
        float, option("--seconds", panel=_LIMITS, metavar="X", help="The longest time; 10 by default.")
    ] = 10.0,
    quiet: Quiet = False,
) -> None:
    """Serve models as JSON over HTTP, and the page that itemix explore opens.

    What can be asked is in /openapi.json; /health and /metrics are for monitors. A request names the model
    with model=NAME, the name of its file without the ending; by default the first one answers.
    """
    from itemix.web import require_extra

    require_extra()
    from itemix.web import server
    from itemix.web.app import make_app
    from itemix.web.limits import Limits
    from itemix.web.middleware import is_loopback
    from itemix.web.served import Served

    limits = Limits(
        _at_least("--max-itemsets", max_itemsets, 1),
        _at_least("--max-rules", max_rules, 1),
        _at_least("--seconds", seconds, 0.1),
    )
    refuse_repeated(*files)
    is_local = is_loopback(host)
    if token is None and not is_local:
        token = secrets.token_urlsafe(24)
    with server.bound_socket(host, port) as listening:
        models = []
        for file in files:
            with opened(file, quiet=quiet) as found:
                models.append(Served.from_file(whole(found), limits=limits))
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


def _at_least(name: str, value: N, least: float) -> N:
    if not value >= least:
        raise InvalidInputError(f"expected {name} of {least} or more, got {value}; try {least}")
    return value
