"""The explorer: questions to models over HTTP, and the page that asks them.

A view (`views`) is a function from a model and a question to what JSON can hold; `app` gives each an
address. The page (`static`) draws nothing that did not come from there.
"""

from __future__ import annotations

from importlib.util import find_spec

from itemix.errors import MissingExtraError

_NEEDED = ("starlette", "uvicorn", "pydantic", "prometheus_client")


def require_extra(extra: str = "web") -> None:
    """Check that what an extra of the web needs is installed: "web", or "mcp", which needs more.

    Raises
    ------
    MissingExtraError
        If something is not.
    """
    needed = _NEEDED if extra == "web" else (*_NEEDED, "mcp")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"expected {', '.join(needed)} to be installed, got no {missing[0]}; "
            f"try python -m pip install 'itemix[{extra}]'"
        )
