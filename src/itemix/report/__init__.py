"""Reports: what a model has found, in one HTML file that needs nothing else.

The model is asked and the data is counted here, once; `sections` say it in sentences, tables and pictures.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import itemix
from itemix._files import checked_target, replacing
from itemix.core.display import format_name
from itemix.core.transactions import as_transactions
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.fitted import FittedModel
from itemix.mining.mine import mine
from itemix.mining.query import Dependency, Sign, dependencies
from itemix.mining.rules import rules
from itemix.models.mixture import Mixture
from itemix.plot.patterns import exact_supports
from itemix.report import sections
from itemix.report.page import colours, element, page
from itemix.report.sections import LEVEL, MOST_ITEMSETS, RARE

if TYPE_CHECKING:
    import os

    from itemix._typing import Floats, ModelLike, TransactionsLike
    from itemix.core.items import Label
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.estimators.summary import Summary
    from itemix.fitted import Check
    from itemix.mining.ruleset import Rules
    from itemix.mining.surprise import Surprises
    from itemix.models.base import Model

__all__ = ["render_report", "write_report"]

_SECTIONS = (
    sections.summary,
    sections.surprises,
    sections.itemsets,
    sections.rules,
    sections.dependencies,
    sections.components,
    sections.method,
)
_TITLE = "What the transactions hold"
_NOTE = (
    "The report holds no transactions: all numbers are answers of the model, or counts over all of the data."
)
_ITEMSETS = 1000
_PAIRS = 64
_MOST_ASKED = 1_500_000
_FEWEST_UNCERTAIN = 100
_CONFIDENCES = (0.5, 0.25, 0.1, 0.05)
_ENOUGH_RULES = 10
_RULES_NAMED = 10
_RULES_FOR_EACH = 3
_NOISE = 1e-9
_ATTRACTS = 1.000001  # a lift above 1 that is more than rounding
_SUMMARISED = 12


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

    It begins with what was found, and whether it can be relied on. Then come, with `test`, surprises, the top
    itemsets, rules, dependencies, components, and at the end how it was made, each with sentences computed
    from the numbers and a picture; tables and further pictures are opened by a click. It holds no
    transactions. It is light or dark as the reader's system is, can be printed, and fits a phone.

    Parameters
    ----------
    model : fitted estimator, Mixture or another model
        What to report on.
    path : path
        Where to write it; an old file stays until the new one is complete.
    data : Transactions, data frame, matrix or list of lists, optional
        Transactions to compare with: exact supports are counted in them.
    test : Transactions, data frame, matrix or list of lists, optional
        Transactions that the model was not fitted to: what in them it does not expect, and how well its
        supports agree with theirs.
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
        element("nav", element("ol", *(part.link() for part in parts)), aria_label="Contents"),
    )
    footer = element("footer", element("p", f"Made by itemix {itemix.__version__}. {_NOTE}"))
    style = colours() + files("itemix.report").joinpath("report.css").read_text(encoding="utf-8")
    return page(heading, style, header, element("main", *(part.as_element() for part in parts)), footer)


class News(NamedTuple):
    """What transactions that the model has not seen say against it.

    Attributes
    ----------
    tested : Surprises
        All itemsets that were tested.
    summary : Summary or None
        The shortest list of them that explains the others, or its beginning; None if the model has no
        components.
    n_unusual : int or None
        How many of the transactions have a p value up to `RARE`; None if the model does not tell.
    """

    tested: Surprises
    summary: Summary | None
    n_unusual: int | None


class Fit(NamedTuple):
    """How well the model fits the data: its mean log-likelihood, and that of independent items."""

    log_likelihood: float
    independent: float


@dataclass(frozen=True)
class Findings:
    """The findings about a model, and about the data if there is some.

    Attributes
    ----------
    fitted : FittedModel
        The model, how sure it is and how it was fitted.
    data : Transactions or None
        Transactions to compare it with.
    test : Transactions or None
        Transactions that the model was not fitted to.
    itemsets : Itemsets
        All that the model expects at a threshold, with their intervals if it has a posterior.
    exact : array of float or None
        Their supports in the data.
    unseen : array of float or None
        Their supports in the transactions that the model was not fitted to.
    missed : int or None
        How many itemsets are frequent in the data, but not expected; None also if there are too many. With
        transactions that the model was not fitted to, it is these.
    fit : Fit or None
        How well it fits the data.
    attracting, avoiding : list of Dependency
        The pairs of items that depend most on each other, the strongest first.
    rules : Rules
        All rules with one item on the right, a lift above 1 and some confidence.
    best_rules : Rules
        Those of the highest lift, a few for each item on the right.
    news : News or None
        What transactions that the model has not seen say against it, if there are any.
    """

    fitted: FittedModel
    data: Transactions | None
    test: Transactions | None
    itemsets: Itemsets
    exact: Floats | None
    unseen: Floats | None
    missed: int | None
    fit: Fit | None
    attracting: list[Dependency]
    avoiding: list[Dependency]
    rules: Rules
    best_rules: Rules
    news: News | None

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self.fitted.model

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Whether the fit can be relied on."""
        return self.fitted.checks(self.test)

    @cached_property
    def called(self) -> str:
        """What the data is called: agreement with what a model was fitted to says little."""
        is_training = self.data is not None and self.fitted.was_fitted_to(self.data)
        return "the training data" if is_training else "the data"


def find(
    source: ModelLike, data: Transactions | None, min_support: float | None, test: Transactions | None = None
) -> Findings:
    """Ask a model everything that a report tells.

    Raises
    ------
    InvalidInputError
        If it is not a model, the data has none of its items, it expects no itemset at the threshold, or it
        cannot be tested.
    """
    fitted = FittedModel.of(source)
    model = fitted.model
    if data is not None:
        _require_common_items(model, data)
    itemsets = _expected(model, min_support)
    if fitted.knows_error:
        itemsets = fitted.with_intervals(itemsets, level=LEVEL)
    found_rules = _some_rules(itemsets)
    compared = data if test is None else test
    return Findings(
        fitted=fitted,
        data=data,
        test=test,
        itemsets=itemsets,
        exact=None if data is None else exact_supports(itemsets, data),
        unseen=None if test is None else exact_supports(itemsets, test),
        missed=None if compared is None else _missed(itemsets, compared),
        fit=None if data is None else _fit(model, data),
        attracting=_pairs(model, "positive"),
        avoiding=_pairs(model, "negative"),
        rules=found_rules,
        best_rules=_varied(found_rules, _RULES_NAMED),
        news=None if test is None else _news(fitted, test, itemsets),
    )


def _expected(model: Model, min_support: float | None) -> Itemsets:
    """Return the itemsets that a model expects: at a threshold, or about a thousand of them."""
    if min_support is not None:
        found = mine(model, min_support, max_itemsets=MOST_ITEMSETS)
    else:
        found = mine(model, top_k=_ITEMSETS)
        found = found.filter(min_support=_rounded_up(float(found.support.min(initial=1.0))))
    if len(found) == 0:
        raise InvalidInputError(
            "expected a model in which some itemset is frequent, got none with that support; try a lower "
            "min_support"
        )
    return found


def _rounded_up(support: float) -> float:
    """Round up to two digits: all itemsets of at least that support are among the top ones."""
    if not 0 < support < 1:
        return min(max(support, 0.0), 1.0)
    unit = 10.0 ** (math.floor(math.log10(support)) - 1)
    return min(float(f"{math.ceil(support / unit - 1e-9) * unit:.2g}"), 1.0)


def _require_common_items(model: Model, data: Transactions) -> None:
    if not any(name in model.items for name in data.items):
        raise InvalidInputError(
            f"expected data with items of the model, got none of its {model.n_items:,} items in it; give the "
            "data that it was fitted to"
        )


def _missed(itemsets: Itemsets, data: Transactions) -> int | None:
    """Count the itemsets that are frequent in the data, but not among the expected ones."""
    assert itemsets.min_support is not None  # noqa: S101 - they were mined at one
    try:
        frequent = mine(data, itemsets.min_support, max_itemsets=MOST_ITEMSETS)
    except TooManyItemsetsError:
        return None
    exact = exact_supports(itemsets, data)
    return len(frequent) - int((exact >= itemsets.min_support - 1e-12).sum())


def _fit(model: Model, data: Transactions) -> Fit | None:
    """Return how probable a transaction is on average; None if the data has items unknown to the model."""
    used = data.items.names(np.flatnonzero(data.item_counts()))
    if not all(name in model.items for name in used):
        return None
    known = data.select_items(used).align_items(model.items)
    p = data.item_counts() / data.n_transactions
    p = p[(p > 0) & (p < 1)]
    independent = float((p * np.log(p) + (1 - p) * np.log1p(-p)).sum())
    return Fit(float(model.log_likelihood(known).mean()), independent)


def _news(fitted: FittedModel, test: Transactions, itemsets: Itemsets) -> News:
    """Test a model on transactions that it has not seen, with the threshold of the report's itemsets."""
    # The estimators import scikit-learn, which takes a second.
    from itemix.estimators.summary import beliefs, summarise, surprises

    least = itemsets.min_support
    assert least is not None  # noqa: S101 - they were mined at one
    tested = surprises(fitted, test, min_support=least, level=1.0)
    is_mixture = isinstance(beliefs(fitted)[0], Mixture)
    summary = summarise(test, _SUMMARISED, model=fitted, min_support=least) if is_mixture else None
    n_unusual = None
    if fitted.model.has_likelihood:
        n_unusual = int((fitted.unusual(test, level=0.0).p_value <= RARE).sum())
    return News(tested, summary, n_unusual)


def _pairs(model: Model, sign: Sign) -> list[Dependency]:
    """Return the strongest dependencies that are more than rounding.

    If there are many items, one of a pair must be among those whose presence is most uncertain: the others
    can tell little about each other.
    """
    n = max(_MOST_ASKED // max(model.n_items, 1), _FEWEST_UNCERTAIN)
    uncertain = np.argsort(np.abs(model.item_probabilities - 0.5), kind="stable")[:n]
    items = None if n >= model.n_items else model.items.names(uncertain)
    return [pair for pair in dependencies(model, _PAIRS, sign=sign, items=items) if pair.information > _NOISE]


def _some_rules(itemsets: Itemsets) -> Rules:
    """Return the rules of the highest confidence at which there are enough of them."""
    for confidence in _CONFIDENCES:
        found = rules(itemsets, min_threshold=confidence, max_consequent_len=1)
        found = found.filter(min_lift=_ATTRACTS)
        if len(found) >= _ENOUGH_RULES:
            break
    return found


def _varied(found: Rules, n: int) -> Rules:
    """Return rules of the highest lift: few for each consequent, and none that only adds items to another."""
    # Of rules whose lifts look the same, the shorter one says as much.
    looks = np.array([-float(f"{lift:.3g}") for lift in found.lift])
    ordered = found.take(np.lexsort((found.antecedents.lengths, looks)))
    kept: list[int] = []
    shown: dict[tuple[Label, ...], list[set[Label]]] = {}
    for position, rule in enumerate(ordered):
        before, left = shown.setdefault(rule.consequents, []), set(rule.antecedents)
        if len(kept) < n and len(before) < _RULES_FOR_EACH and not any(other < left for other in before):
            kept.append(position)
            before.append(left)
    return ordered.take(kept)
