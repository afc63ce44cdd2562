"""Sections of a report on the model as a whole: the summary, its components, and diagnostics of the fit."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from itemix.core.display import plural
from itemix.mining.characteristics import Characteristic, characteristic_items, in_general
from itemix.models.corrected import CorrectedMixture
from itemix.plot import component_heatmap, component_sizes, top_itemsets, trace
from itemix.plot.models import largest_components, trace_of
from itemix.report.page import (
    Child,
    Section,
    as_percent,
    count,
    element,
    facts,
    figure,
    item,
    number,
    paragraph,
    percent,
    ratio,
    table,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    import numpy.typing as npt

    from itemix._typing import Floats
    from itemix.fitted import FittedModel, Training
    from itemix.inference.chains import Chain
    from itemix.models.mixture import Mixture
    from itemix.plot.models import Quantity
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
    name = findings.fitted.kind
    in_words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return _KINDS.get(name, in_words)


def _how(findings: Findings) -> str:
    how = {"gibbs": " by Gibbs sampling", "variational": " by variational inference"}
    return how.get(findings.fitted.inference or "", "")


def _origin(findings: Findings) -> list[Child]:
    """Say which model was fitted to what, as far as that is known."""
    kind = kind_of(findings)
    words: list[Child] = [f"{'An' if kind[0] in 'aeiou' else 'A'} {kind} "]
    if findings.fitted.n_transactions is None:
        words += ["of ", count(findings.model.n_items), " items"]
    else:
        words += [f"was fitted{_how(findings)} to ", count(findings.fitted.n_transactions)]
        words += [" transactions of ", count(findings.model.n_items), " items"]
    if isinstance(findings.model, CorrectedMixture):
        words.append(", and corrected by the transactions themselves, beside which it is worth ")
        words += [count(round(findings.model.worth)), " of them"]
    return [*words, ". This is what it has found."]


def _tiles(findings: Findings) -> Element:
    rows: list[tuple[str, Child]] = []
    if findings.fitted.n_transactions is not None:
        rows.append(("transactions", count(findings.fitted.n_transactions)))
    rows.append(("items", count(findings.model.n_items)))
    n_components = findings.fitted.n_components
    if n_components is not None and n_components > 1:
        rows.append(("components", count(n_components)))
    least = findings.itemsets.min_support
    assert least is not None  # noqa: S101 - they were mined at one
    rows.append((f"itemsets in {100 * least:.3g}% or more", count(len(findings.itemsets))))
    return facts(rows, "tiles")


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


_SHOWN = 10
_ITEMS_NAMED = 6
_USUAL = 0.3


def components(findings: Findings) -> Section | None:
    """Describe the components, the kinds of transactions that a mixture tells apart, if there are several."""
    mixture = findings.fitted.components
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
        _component_table(mixture, shown),
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
    """Name the component whose usual items include the one of the highest lift."""
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
    numbers = findings.fitted.n_components_of_samples
    if len(numbers) < 2:
        return []
    spread = f"{min(numbers)} to {max(numbers)}" if min(numbers) < max(numbers) else f"{numbers[0]}"
    return [
        paragraph(
            f"All answers are averages over {len(numbers)} samples, which have {spread} components each. "
            "Components of different samples that are one and the same were matched with each other."
        )
    ]


def _before_correction(findings: Findings) -> list[Element]:
    if not isinstance(findings.model, CorrectedMixture):
        return []
    return [paragraph("The components are those of the mixture before its correction.")]


def _component_table(mixture: Mixture, shown: npt.NDArray[np.int64]) -> Element:
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


_MIXED = 1.01
_TRACED = {
    "log_joint": "the joint log-probability",
    "n_components": "the number of components",
    "alpha": "the concentration of the weights",
}


def diagnostics(findings: Findings) -> Section:
    """Say how the fit went and whether it can be relied on, as far as the model knows."""
    fitted, training = findings.fitted, findings.fitted.training
    has_trace = training is not None and training.bounds is not None
    parts: list[Element] = []
    if training is None or training.bounds is None:
        parts.append(paragraph("The model does not come with a record of how it was fitted.", lead=True))
    elif training.chains is None:
        parts.append(paragraph(*_of_climb(training, training.bounds), lead=True))
    else:
        parts += _of_chains(fitted, training, training.chains.chains)
    if has_trace:
        name = trace_of(fitted).name
        parts.append(
            _trace(fitted, "bound", f"{name}, at every iteration. It is flat where the fit has settled.")
        )
    if training is not None and training.chains is not None:
        parts.append(_trace(fitted, "n_components", "The number of components at every iteration."))
    parts.append(_fit_table(findings))
    return Section("diagnostics", "Diagnostics", parts)


def _trace(fitted: FittedModel, quantity: Quantity, description: str) -> Element:
    return figure(
        f"trace-{quantity}",
        description,
        lambda ax: trace(fitted, quantity, ax=ax),
        height=2.8,
        narrow_height=2.4,
    )


def _of_climb(training: Training, bounds: Floats) -> list[Child]:
    words: list[Child] = ["The fit ", "converged" if training.converged else "had not converged", " after "]
    words += [count(len(bounds)), f" {'iteration' if len(bounds) == 1 else 'iterations'}"]
    if len(bounds) > 1:
        gain, last = float(bounds[-1] - bounds[0]), float(bounds[-1] - bounds[-2])
        words += [": it gained ", number(gain, f"{gain:.3f}"), " a transaction in all, and "]
        words += [number(last, _without_exponent(last)), " in the last iteration"]
    words.append("." if training.converged else "; more iterations may still change the model.")
    return words


def _without_exponent(value: float) -> str:
    """Write a number with two significant digits, however small it is."""
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def _of_chains(fitted: FittedModel, training: Training, chains: tuple[Chain, ...]) -> list[Element]:
    n_burn = max(chain.n_burn for chain in chains)
    settled = "had settled" if training.converged else "had not settled"
    words: list[Child] = [
        f"{plural(len(chains), 'chain')} of up to ",
        count(training.n_iter or 0),
        " iterations; the trace ",
        settled,
        " when burn-in ended after ",
        count(n_burn),
        "." if training.converged else ": a longer run may still change the model.",
    ]
    parts = [paragraph(*words, lead=True)]
    known = {
        name: found["r_hat"] for name, found in fitted.diagnostics().items() if not math.isnan(found["r_hat"])
    }
    if known:
        worst = max(known, key=known.__getitem__)
        value = known[worst]
        which = "chain has" if len(chains) == 1 else "chains have"
        verdict = (
            f"no sign that the {which} not mixed"
            if value <= _MIXED
            else f"above {_MIXED:g}: the {which} not mixed well, and intervals may be too narrow"
        )
        parts.append(
            paragraph(
                f"R-hat is largest for {_TRACED[worst]}: ", number(value, f"{value:.3f}"), f", {verdict}."
            )
        )
    return parts


def _fit_table(findings: Findings) -> Element:
    fitted, training = findings.fitted, findings.fitted.training
    rows: list[tuple[str, Child]] = [
        ("model", kind_of(findings)),
        ("free parameters", count(int(findings.model.n_parameters))),
    ]
    if training is not None and training.bound is not None:
        rows.append(("iterations", count(training.n_iter or 0)))
        rows.append(("converged", "yes" if training.converged else "no"))
        rows.append((trace_of(fitted).name.lower(), number(training.bound, f"{training.bound:.4f}")))
    for name, found in fitted.diagnostics().items():
        figures = f"R-hat {found['r_hat']:.3f}, effective sample size {found['ess']:.0f}"
        rows.append((_TRACED[name], figures))
    return facts(rows, "facts")
