"""Components: the kinds of transactions that a mixture tells apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.core.display import plural
from itemix.mining.characteristics import Characteristic, characteristic_items, in_general
from itemix.models.corrected import CorrectedMixture
from itemix.plot import component_heatmap, component_sizes
from itemix.plot.models import largest_components
from itemix.report.markup import Child, as_percent, count, element, item, number, percent, ratio, table
from itemix.report.page import figure
from itemix.report.sections import Section, paragraph

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    import numpy.typing as npt

    from itemix.models.mixture import Mixture
    from itemix.report.findings import Findings

_SHOWN = 10
_ITEMS_NAMED = 6
_USUAL = 0.3


def components(findings: Findings) -> Section | None:
    """Tell of the components, if the model has more than one."""
    mixture = findings.components
    if mixture is None or (mixture.weights > 0).sum() < 2:
        return None
    shown = largest_components(mixture, _SHOWN)
    n = len(shown)
    parts = [
        paragraph(*_sizes(mixture), lead=True),
        *_most_distinct(mixture, shown),
        *_of_samples(findings),
        *_before_correction(findings),
        figure(
            "sizes",
            f"The {n} largest components, with the items that are most characteristic of each and their "
            "probability in it.",
            lambda ax: component_sizes(mixture, _SHOWN, ax=ax),
            height=0.4 + 0.42 * n,
        ),
        figure(
            "heat",
            "How probable the most characteristic items are in each of these components, in per cent. Column "
            "heads are the number and the size of a component.",
            lambda ax: component_heatmap(mixture, _SHOWN, ax=ax),
            height=5.6,
        ),
        _table(mixture, shown),
    ]
    return Section("components", "Components", parts)


def _sizes(mixture: Mixture) -> list[Child]:
    weights = np.sort(mixture.weights[mixture.weights > 0])[::-1]
    most = int(np.searchsorted(np.cumsum(weights), 0.9 - 1e-12)) + 1
    words: list[Child] = [
        "The model tells ",
        count(len(weights)),
        " kinds of transactions apart. The largest covers ",
        percent(float(weights[0])),
        " of them, ",
    ]
    return [
        *words,
        "and " if most > 1 else "which is ",
        count(most),
        " together cover 90%." if most > 1 else " of them.",
    ]


def _most_distinct(mixture: Mixture, shown: npt.NDArray[np.int64]) -> list[Element]:
    """Name the component of which an item that is usual there tells most."""
    usual = [
        (found.lift, position, found)
        for position, k in enumerate(shown.tolist(), start=1)
        for found in characteristic_items(mixture, k, _ITEMS_NAMED)
        if found.probability >= _USUAL
    ]
    if not usual:
        return []
    lift, position, found = max(usual, key=lambda candidate: candidate[0])
    return [
        paragraph(
            "The most distinct of the largest is component ",
            count(position),
            ": ",
            item(found.item),
            " is in ",
            percent(found.probability),
            " of its transactions, ",
            ratio(lift),
            " times as often as overall.",
        )
    ]


def _of_samples(findings: Findings) -> list[Element]:
    posteriors = getattr(findings.source, "posteriors_", ())
    if len(posteriors) < 2:
        return []
    numbers = [posterior.n_components for posterior in posteriors]
    spread = f"{min(numbers)} to {max(numbers)}" if min(numbers) < max(numbers) else f"{numbers[0]}"
    return [
        paragraph(
            f"These are the components of the last of {len(posteriors)} samples, which have {spread} each; "
            "all other answers are averages over the samples."
        )
    ]


def _before_correction(findings: Findings) -> list[Element]:
    if not isinstance(findings.model, CorrectedMixture):
        return []
    return [paragraph("The components are those of the mixture before its correction.")]


def _table(mixture: Mixture, shown: npt.NDArray[np.int64]) -> Element:
    rows = [
        (
            _typical(position, characteristic_items(mixture, k, _ITEMS_NAMED), in_general(mixture, k)),
            percent(float(mixture.weights[k])),
            number(float(mixture.probs[k].sum()), f"{mixture.probs[k].sum():.1f}"),
        )
        for position, k in enumerate(shown.tolist(), start=1)
    ]
    headers = ("typical items: probability, and how many times the overall one", "share", "items each")
    return table(f"The {plural(len(rows), 'largest component')}", headers, rows)


def _typical(position: int, found: list[Characteristic], otherwise: str) -> Element:
    words: list[Child] = [f"{position}. "]
    for name, probability, lift in found:
        words += [item(name), f" {as_percent(probability)}, {lift:.1f}\N{MULTIPLICATION SIGN}", "; "]
    return element("span", *(words[:-1] if found else [*words, otherwise]))
