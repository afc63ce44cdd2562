"""At a glance: the data, the model, and the items that are most frequent."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from itemix.models.corrected import CorrectedMixture
from itemix.plot import top_itemsets
from itemix.report.markup import Child, count, facts, item, number, percent
from itemix.report.page import figure
from itemix.report.sections import Section, paragraph

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from itemix.report.findings import Findings

_ITEMS = 12
_NO_DIFFERENCE = 0.005
_KINDS = {
    "DirichletProcessMixture": "Dirichlet process mixture",
    "BayesianMixture": "Bayesian mixture",
    "BernoulliMixture": "mixture of maximum likelihood",
    "IndependentModel": "model of independent items",
    "ChowLiuTree": "Chow-Liu tree",
    "ChowLiuMixture": "mixture of Chow-Liu trees",
    "MaxEntropyModel": "model of maximum entropy",
}


def summary(findings: Findings) -> Section:
    """Say what the report is about."""
    singles = findings.itemsets.filter(max_len=1)
    parts = [paragraph(*_origin(findings), lead=True), _tiles(findings)]
    if findings.data is not None:
        parts.append(paragraph(*_of_data(findings)))
    if findings.fit is not None:
        parts.append(paragraph(*_of_fit(findings)))
    if len(singles):
        n = min(len(singles), _ITEMS)
        description = f"The {n} items of the highest support" + (
            ", in the model and in the data." if findings.data is not None else " in the model."
        )
        if findings.itemsets.lower is not None:
            description += (
                " The wide lines are intervals that hold the true support with a probability of 90%."
            )
        picture = figure(
            "items",
            description,
            lambda ax: top_itemsets(singles, n, data=findings.data, ax=ax),
            height=0.9 + 0.23 * n,
        )
        parts.append(picture)
    return Section("summary", "At a glance", parts)


def kind_of(findings: Findings) -> str:
    """Name the kind of model in words."""
    name = type(findings.source).__name__
    in_words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return _KINDS.get(name, in_words)


def _how(findings: Findings) -> str:
    how = {"gibbs": " by Gibbs sampling", "variational": " by variational inference"}
    return how.get(str(getattr(findings.source, "inference", None)), "")


def _origin(findings: Findings) -> list[Child]:
    """Say what was fitted to what, as far as that is known."""
    kind = kind_of(findings)
    words: list[Child] = [f"{'An' if kind[0] in 'aeiou' else 'A'} {kind} "]
    if findings.n_transactions is None:
        words += ["of ", count(findings.model.n_items), " items"]
    else:
        words += [f"was fitted{_how(findings)} to ", count(findings.n_transactions), " transactions of "]
        words += [count(findings.model.n_items), " items"]
    if isinstance(findings.model, CorrectedMixture):
        order = findings.model.correction.residuals.order
        words.append(f", and corrected by how often itemsets of up to {order} items were counted")
    return [*words, ". This is what it has found."]


def _tiles(findings: Findings) -> Element:
    rows: list[tuple[str, Child]] = []
    if findings.n_transactions is not None:
        rows.append(("transactions", count(findings.n_transactions)))
    rows.append(("items", count(findings.model.n_items)))
    n_components = _n_components(findings)
    if n_components is not None and n_components > 1:
        rows.append(("components", count(n_components)))
    least = findings.itemsets.min_support
    assert least is not None  # noqa: S101 - they were mined at one
    rows.append((f"itemsets in {100 * least:.3g}% or more", count(len(findings.itemsets))))
    return facts(rows, "tiles")


def _n_components(findings: Findings) -> int | None:
    if findings.components is None:
        return getattr(findings.source, "n_components_", None)
    return int((findings.components.weights > 0).sum())


def _of_data(findings: Findings) -> list[Child]:
    assert findings.data is not None  # noqa: S101 - asked only then
    described = findings.data.describe()
    words: list[Child] = [
        "The data it is compared with has ",
        count(described.n_transactions),
        " transactions, which hold ",
        number(described.length_mean, f"{described.length_mean:.1f}"),
        f" items on average ({described.length_min} to {described.length_max}).",
    ]
    if described.top_items:
        name, support = next(iter(described.top_items.items()))
        words += [" The most frequent item is ", item(name), ", in ", percent(support), " of them."]
    return words


def _of_fit(findings: Findings) -> list[Child]:
    assert findings.fit is not None  # noqa: S101 - asked only then
    own, independent = findings.fit
    words: list[Child] = [
        "A transaction of the data has a mean log-probability of ",
        number(own, f"{own:.2f}"),
        " in the model, against ",
        number(independent, f"{independent:.2f}"),
        " if all items were independent",
    ]
    bits = (own - independent) / math.log(2)
    if not math.isfinite(own):
        return [*words, ": the model rules at least one of them out."]
    if abs(bits) < _NO_DIFFERENCE:
        return [*words, ", which is the same."]
    saved = "fewer" if bits > 0 else "more"
    return [
        *words,
        ": the model takes ",
        number(abs(bits), f"{abs(bits):.2f}"),
        f" bits {saved} to describe it.",
    ]
