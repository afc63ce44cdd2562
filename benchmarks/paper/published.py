"""The figures of the paper's tables, and those of an earlier correction."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def paper() -> dict[str, Any]:
    """Return the figures of the paper's tables."""
    figures: dict[str, Any] = json.loads((Path(__file__).parent / "paper.json").read_text())
    return figures


@cache
def earlier() -> dict[str, Any]:
    """Return the errors of the correction that shifted log-odds, on divisions that stand in the results too.

    "errors" has those of parts in which today's correction stands as well, run by run. "further" has more
    divisions, with the floor and both corrections.
    """
    figures: dict[str, Any] = json.loads((Path(__file__).parent / "earlier.json").read_text())
    return figures


def paper_row(rows: list[dict[str, Any]], method: str, components: int) -> dict[str, Any]:
    """Return a row of one of the paper's tables, empty if it has none; 0 components is any number."""
    fits = (row for row in rows if row["method"] == method and (not components or row["K"] == components))
    return next(fits, {})
