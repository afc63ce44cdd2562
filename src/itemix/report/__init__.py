"""Reports: what a model has found, in one HTML file that needs nothing else."""

from __future__ import annotations

import sys
from importlib.resources import files
from typing import TYPE_CHECKING

import itemix
from itemix._files import checked_target, replacing
from itemix.core.display import format_name
from itemix.core.transactions import as_transactions
from itemix.report import sections
from itemix.report.findings import find
from itemix.report.page import colours, element, page

if TYPE_CHECKING:
    import os

    from itemix._typing import ModelLike, TransactionsLike

__all__ = ["render_report", "write_report"]

_SECTIONS = (
    sections.summary,
    sections.components,
    sections.itemsets,
    sections.dependencies,
    sections.rules,
    sections.surprises,
    sections.diagnostics,
)
_TITLE = "What the transactions hold"
_NOTE = (
    "The report holds no transactions: all numbers are answers of the model, or counts over all of the data."
)


def write_report(
    model: ModelLike,
    path: str | os.PathLike[str],
    *,
    data: TransactionsLike | None = None,
    test: TransactionsLike | None = None,
    title: str | None = None,
    min_support: float | None = None,
) -> None:
    """Write what a model has found to an HTML file that needs no other file, no network and no script.

    It has a summary, the components, the top itemsets, dependencies, rules, with `test` surprises, and
    diagnostics, each with a picture and sentences computed from the numbers. It holds no transactions. It is
    light or dark as the reader's system is, can be printed, and fits a phone.

    Parameters
    ----------
    model : fitted estimator, Mixture or another model
        What to report on.
    path : path
        Where to write it; an old file stays until the new one is complete.
    data : Transactions, data frame, matrix or list of lists, optional
        Transactions to compare with: exact supports are counted in them.
    test : Transactions, data frame, matrix or list of lists, optional
        Transactions that the model was not fitted to: what in them it does not expect.
    title : str, optional
        The heading of the report.
    min_support : float, optional
        The least probability of the itemsets; by default chosen so that there are about a thousand.

    Raises
    ------
    InvalidInputError
        If it is not a fitted model, the data has none of its items, no itemset is that probable, or there is
        `test` and the model has no posterior, or was fitted to it.
    MissingExtraError
        If matplotlib is not installed.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import itemix
    >>> tx = itemix.datasets.load("grocery_store")
    >>> model = itemix.BayesianMixture(n_components=12, random_state=0).fit(tx)
    >>> itemix.write_report(model, "report.html", data=tx, title="The grocery store")
    """
    checked_target(path)
    text = render_report(model, data=data, test=test, title=title, min_support=min_support)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render_report(
    model: ModelLike,
    *,
    data: TransactionsLike | None = None,
    test: TransactionsLike | None = None,
    title: str | None = None,
    min_support: float | None = None,
) -> str:
    """Return the report as the text of an HTML page; parameters as in `write_report`."""
    data, test = (None if given is None else as_transactions(given) for given in (data, test))
    findings = find(model, data, min_support, test)
    parts = [made for make in _SECTIONS if (made := make(findings)) is not None]
    heading = format_name(_TITLE if title is None else title, sys.maxsize)
    header = element(
        "header",
        element("h1", heading),
        element("nav", element("ul", *(part.link() for part in parts)), aria_label="Sections"),
    )
    footer = element("footer", element("p", f"Made by itemix {itemix.__version__}. {_NOTE}"))
    style = colours() + files("itemix.report").joinpath("report.css").read_text(encoding="utf-8")
    return page(heading, style, header, element("main", *(part.as_element() for part in parts)), footer)
