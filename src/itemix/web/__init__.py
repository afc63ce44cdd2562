"""The explorer: questions to models over HTTP, and the page that asks them.

A view (`views`) is a function from a model and a question to what JSON can hold; `app` gives each an
address. The page (`static`) draws nothing that did not come from there.
"""

from __future__ import annotations

from importlib.util import find_spec

from itemix.errors import MissingExtraError

_NEEDED = ("starlette", "uvicorn", "pydantic", "prometheus_client")


def require_extra() -> None:
    """Check that what the web needs is installed.

    Raises
    ------
    MissingExtraError
        If something is not.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"expected {', '.join(_NEEDED)} to be installed, got no {missing[0]}; "
            "try python -m pip install 'itemix[web]'"
        )
