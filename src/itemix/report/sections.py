"""The sections of a report: what was found, in the order in which it matters, and at the end how."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from itemix.core.display import plural
from itemix.mining.characteristics import Characteristic, characteristic_items, in_general
from itemix.mining.query import lift
from itemix.models.causes import Causes
from itemix.models.corrected import CorrectedMixture
from itemix.plot import (
    component_heatmap,
    component_sizes,
    dependency_matrix,
    dependency_network,
    rules_scatter,
    support_agreement,
    support_distribution,
    top_itemsets,
    trace,
)
from itemix.plot import surprises as surprises_picture
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
    itemset,
    more,
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
    from itemix.core.items import Label
    from itemix.core.itemsets import Itemsets
    from itemix.estimators.summary import Summary
    from itemix.fitted import FittedModel, Training
    from itemix.inference.chains import Chain
    from itemix.mining.query import Dependency
    from itemix.mining.ruleset import Rule
    from itemix.mining.surprise import Surprises
    from itemix.models.causes import AnyComponents
    from itemix.plot.models import Quantity
    from itemix.report import Findings


# The probability inside the intervals that are shown.
LEVEL = 0.9
# Transactions with a p-value up to this are called unusual.
RARE = 0.01
MOST_ITEMSETS = 200_000
_ITEMS = 12
_NO_DIFFERENCE = 0.005
_KINDS = {
    "DirichletProcessMixture": "Dirichlet process mixture",
    "BayesianMixture": "Bayesian mixture",
    "BernoulliMixture": "mixture of maximum likelihood",
    "IndependentModel": "model of independent items",
    "MultipleCauseMixture": "mixture of several causes",
    "ChowLiuTree": "Chow-Liu tree",
    "ChowLiuMixture": "mixture of Chow-Liu trees",
    "LatentTreeModel": "tree of latent variables",
    "MaxEntropyModel": "model of maximum entropy",
}


def summary(findings: Findings) -> Section:
    """Say what was found, in a sentence for each section, and what to be careful with."""
    found = [_finding(*made) for make in _FINDINGS if (made := make(findings)) is not None]
    parts = [_tiles(findings), *_doubts(findings, "converged", "mixed", "calibrated")]
    parts.append(element("ul", *found, class_="findings"))
    return Section("summary", "What was found", parts, plural(len(found), "finding"))


def _finding(key: str, words: list[Child]) -> Element:
    """Make an entry of the list of findings, with a link to the section that has more."""
    return element("li", *words, " ", element("a", "More", href=f"#{key}", aria_label=f"More in {key}"))


def _of_largest(findings: Findings) -> tuple[str, list[Child]] | None:
    mixture = findings.fitted.components
    if mixture is None or isinstance(mixture, Causes) or (mixture.weights > 0).sum() < 2:
        return None
    # The largest one that is more than transactions with fewer items of all kinds.
    for k in largest_components(mixture, _COMPONENTS).tolist():
        typical = characteristic_items(mixture, k, 3)
        if typical:
            names = [item(entry.item) for entry in typical]
            return "components", [
                percent(float(mixture.weights[k])),
                " of the transactions are of one kind, known by ",
                *_listed(names),
                ".",
            ]
    return None


def _listed(names: list[Element]) -> list[Child]:
    """Put a comma between names, and "and" before the last one."""
    words: list[Child] = [names[0]]
    for name in names[1:-1]:
        words += [", ", name]
    return [*words, " and ", names[-1]] if len(names) > 1 else words


def _of_news(findings: Findings) -> tuple[str, list[Child]] | None:
    if findings.news is None:
        return None
    tested = findings.news.tested
    finds = tested.take(np.flatnonzero(tested.q_value <= _FIND))
    if len(finds) == 0:
        return "surprises", ["Nothing in the new transactions contradicts the model."]
    return "surprises", ["A surprise: ", *_of_first(finds)]


def _of_top_set(findings: Findings) -> tuple[str, list[Child]] | None:
    found = findings.itemsets
    top = found.top(1, min_len=2 if found.lengths.max() > 1 else 1)
    return "itemsets", _first(findings, top)


def _of_top_rule(findings: Findings) -> tuple[str, list[Child]] | None:
    return ("rules", _of_best(findings.best_rules[0])) if len(findings.rules) else None


def _of_top_pair(findings: Findings) -> tuple[str, list[Child]] | None:
    if not findings.attracting:
        return None
    return "dependencies", ["The strongest attraction is between ", *_of_pair(findings.attracting[0])]


_FINDINGS = (_of_news, _of_top_set, _of_top_rule, _of_top_pair, _of_largest)


def _doubts(findings: Findings, *names: str) -> list[Element]:
    """Say what is poor about the fit, where it matters."""
    poor = [check for check in findings.checks if check.verdict == "poor" and check.name in names]
    return [element("p", check.sentence, class_="doubt") for check in poor]


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
    return [*words, "."]


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
    if findings.data is None:
        return []
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
    if findings.fit is None:
        return []
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


_COMPONENTS = 10
_ITEMS_NAMED = 6
_USUAL = 0.3


def components(findings: Findings) -> Section | None:
    """Describe the components, the kinds of transactions that a mixture tells apart, or the causes."""
    mixture, called = findings.fitted.components, findings.fitted.called
    if mixture is None or (mixture.weights > 0).sum() < 2:
        return None
    shown = largest_components(mixture, _COMPONENTS)
    n = len(shown)
    parts = [
        paragraph(*_sizes(mixture), lead=True),
        *_most_distinct(mixture, shown, called),
        figure(
            "sizes",
            f"The {n} largest {called}s, with the items that are most characteristic of each and their "
            "probability in it.",
            lambda ax: component_sizes(findings.fitted, _COMPONENTS, ax=ax),
            height=0.4 + 0.37 * n,
        ),
        more(
            f"Their items, and a table of these {called}s",
            figure(
                "heat",
                f"How probable the most characteristic items are in each of these {called}s, in per cent. "
                "Column heads are the number and the size of a component.",
                lambda ax: component_heatmap(findings.fitted, _COMPONENTS, ax=ax),
                height=5.6,
            ),
            _component_table(findings.fitted, mixture, shown),
        ),
    ]
    return Section("components", f"{called.capitalize()}s", parts, plural(mixture.n_components, called))


def _sizes(mixture: AnyComponents) -> list[Child]:
    if isinstance(mixture, Causes):
        return [
            "The model knows ",
            count(mixture.n_components),
            " causes, several of which may act in one transaction: on average ",
            number(float(mixture.weights.sum()), f"{mixture.weights.sum():.1f}"),
            ". The most frequent acts in ",
            percent(float(mixture.weights.max())),
            " of them.",
        ]
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


def _most_distinct(mixture: AnyComponents, shown: npt.NDArray[np.int64], called: str) -> list[Element]:
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
            f"The most distinct of the largest is {called} ",
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


def _component_table(fitted: FittedModel, mixture: AnyComponents, shown: npt.NDArray[np.int64]) -> Element:
    rows: list[tuple[Child, ...]] = [
        (
            _typical(position, characteristic_items(mixture, k, _ITEMS_NAMED), in_general(mixture, k)),
            percent(float(mixture.weights[k])),
            number(float(mixture.probs[k].sum()), f"{mixture.probs[k].sum():.1f}"),
        )
        for position, k in enumerate(shown.tolist(), start=1)
    ]
    headers = ["typical items: probability, and how many times the overall one", "share", "items each"]
    if fitted.names:
        headers.insert(0, "name")
        rows = [(fitted.names.get(k, ""), *row) for k, row in zip(shown.tolist(), rows, strict=True)]
    return table(f"The {plural(len(rows), f'largest {fitted.called}')}", headers, rows)


def _typical(position: int, found: list[Characteristic], otherwise: str) -> Element:
    words: list[Child] = [f"{position}. "]
    for name, probability, times in found:
        words += [item(name), f" {as_percent(probability)}, {times:.1f}\N{MULTIPLICATION SIGN}", "; "]
    return element("span", *(words[:-1] if found else [*words, otherwise]))


_TRACED = {
    "log_joint": "the joint log-probability",
    "n_components": "the number of components",
    "alpha": "the concentration of the weights",
}


def method(findings: Findings) -> Section:
    """Say how well the model fits, how the fit went, and whether it can be relied on."""
    fitted, training = findings.fitted, findings.fitted.training
    parts = [paragraph(*_origin(findings), lead=True)]
    parts += [paragraph(*words) for words in (_of_data(findings), _of_fit(findings)) if words]
    if training is None or training.bounds is None:
        parts.append(paragraph("The model does not come with a record of how it was fitted."))
    elif training.chains is None:
        parts.append(paragraph(*_of_climb(training, training.bounds)))
    else:
        parts.append(paragraph(*_of_chains(training, training.chains.chains)))
    parts += [paragraph(check.sentence) for check in findings.checks if check.name != "converged"]
    parts += [*_of_samples(findings), *_before_correction(findings)]
    pictures = []
    if training is not None and training.bounds is not None:
        name = trace_of(fitted).name
        description = f"{name}, at every iteration. It is flat where the fit has settled."
        pictures.append(_trace(fitted, "bound", description))
    if training is not None and training.chains is not None:
        pictures.append(_trace(fitted, "n_components", "The number of components at every iteration."))
    parts.append(more("The fit in figures", *pictures, _fit_table(findings)))
    return Section("method", "How it was made", parts, "the model and its fit")


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


def _of_chains(training: Training, chains: tuple[Chain, ...]) -> list[Child]:
    n_burn = max(chain.n_burn for chain in chains)
    settled = "had settled" if training.converged else "had not settled"
    return [
        f"{plural(len(chains), 'chain')} of up to ",
        count(training.n_iter or 0),
        " iterations; the trace ",
        settled,
        " when burn-in ended after ",
        count(n_burn),
        "." if training.converged else ": a longer run may still change the model.",
    ]


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


_TOP = 15


def itemsets(findings: Findings) -> Section:
    """Describe the itemsets that the model expects, and compare them with the data."""
    found = findings.itemsets
    min_len = 2 if found.lengths.max() > 1 else 1
    top = found.top(_TOP, min_len=min_len)
    parts = [paragraph(*_itemset_numbers(found), lead=True)]
    if found.lower is not None:
        parts += _doubts(findings, "mixed", "calibrated")
    parts.append(_picture_of_top(findings, top, min_len))
    parts += _agreement(findings)
    curve = figure(
        "supports",
        "How many itemsets the model expects at every threshold, all and by length.",
        lambda ax: support_distribution(found, ax=ax),
        height=3.4,
        narrow_height=3.0,
    )
    parts.append(
        more(
            "The numbers, and how many more there are at a lower support",
            _itemset_table(findings, top),
            curve,
        )
    )
    gist = f"{len(found):,} in {100 * _threshold(found):.3g}% or more"
    return Section("itemsets", "Itemsets", parts, gist)


def _itemset_numbers(found: Itemsets) -> list[Child]:
    least = _threshold(found)
    lengths, counts = np.unique(found.lengths, return_counts=True)
    words: list[Child] = [
        "At a support of at least ",
        number(least, f"{100 * least:.3g}%"),
        " the model expects ",
        count(len(found)),
        f" {'itemset' if len(found) == 1 else 'itemsets'}",
    ]
    if len(lengths) > 1:
        usual = int(lengths[counts.argmax()])
        words += [
            " of up to ",
            count(int(lengths[-1])),
            " items; most, ",
            count(int(counts.max())),
            f", have {plural(usual, 'item')}",
        ]
    if 2 * least > 1:
        return [*words, "."]
    higher = int((found.support >= 2 * least - 1e-12).sum())
    return [*words, ". At twice this threshold there would be ", count(higher), "."]


def _first(findings: Findings, top: Itemsets) -> list[Child]:
    names, support, _ = top[0]
    words: list[Child] = [
        "The most probable ",
        "one of two or more items" if len(names) > 1 else "one",
        " is ",
    ]
    words += [itemset(names), ", in ", percent(support), " of the transactions"]
    if top.lower is not None and top.upper is not None:
        ends = percent(float(top.lower[0])), percent(float(top.upper[0]))
        words += [f" ({LEVEL:.0%} interval ", ends[0], " to ", ends[1], ")"]
    if len(names) > 1:
        words += [
            ", ",
            ratio(lift(findings.model, names)),
            " times as often as if its items were independent",
        ]
    return [*words, "."]


def _picture_of_top(findings: Findings, top: Itemsets, min_len: int) -> Element:
    kind = " of two or more items" if min_len > 1 else ""
    description = f"The {plural(len(top), 'itemset')}{kind} of the highest support"
    if top.lower is not None:
        description += f", with {LEVEL:.0%} intervals"
    description += "." if findings.data is None else f", and their exact supports in {findings.called}."
    return figure(
        "top",
        description,
        lambda ax: top_itemsets(top, _TOP, data=findings.data, ax=ax),
        height=0.9 + 0.23 * len(top),
        narrow_height=0.9 + 0.25 * len(top),
    )


def _itemset_table(findings: Findings, top: Itemsets) -> Element:
    columns: dict[str, list[Child]] = {
        "itemset": [itemset(names) for names in top.sets],
        "support": [percent(value) for value in top.support.tolist()],
    }
    if top.lower is not None and top.upper is not None:
        ends = zip(top.lower.tolist(), top.upper.tolist(), strict=True)
        columns[f"{LEVEL:.0%} interval"] = [f"{as_percent(low)} to {as_percent(high)}" for low, high in ends]
    if findings.exact is not None:
        exact = findings.exact[findings.itemsets.positions(top.offsets, top.codes)]
        columns[f"in {findings.called}"] = [percent(value) for value in exact.tolist()]
    columns["lift"] = [ratio(lift(findings.model, names)) for names in top.sets]
    return table(f"The {plural(len(top), 'top itemset')}", list(columns), zip(*columns.values(), strict=True))


def _agreement(findings: Findings) -> list[Element]:
    """Compare the supports of all itemsets with those in transactions: rather unseen ones than the data."""
    found, exact, missed = findings.itemsets, findings.exact, findings.missed
    data, called = findings.data, findings.called
    if findings.unseen is not None:
        exact, data, called = findings.unseen, findings.test, "transactions that the model has not seen"
    if exact is None:
        return []
    n_true = int((exact >= _threshold(found) - 1e-12).sum())
    words: list[Child] = [f"Counted in {called}, "]
    there = exact > 0
    relative = (found.support[there] - exact[there]) / exact[there]
    if len(relative):
        error, bias = float(np.abs(relative).mean()), float(relative.mean())
        words += ["these supports are off by ", percent(error), " of their value on average, and too "]
        words += ["high" if bias > 0 else "low", " by ", percent(abs(bias))]
        if findings.unseen is not None and findings.exact is not None:
            counted = float(np.abs(findings.exact[there] / exact[there] - 1.0).mean())
            words += ["; those counted in ", findings.called, " are off by ", percent(counted)]
        words.append(". ")
    words += [count(n_true), " of the ", count(len(found))]
    words += [f" {'is' if n_true == 1 else 'are'} frequent there too, and "]
    others = f"more than {MOST_ITEMSETS:,}" if missed is None else count(missed)
    words += [others, f" {'other is' if missed == 1 else 'others are'}, which the model does not expect."]
    picture = figure(
        "agreement",
        f"The support of every expected itemset in the model and in {called}: on the line both are the same. "
        "The stronger the colour, the more itemsets; a dot is a single one.",
        lambda ax: support_agreement(found, data, ax=ax),
        height=3.9,
        narrow_height=3.6,
    )
    return [paragraph(*words), more("Every itemset, in the model and there", picture)]


def _threshold(found: Itemsets) -> float:
    assert found.min_support is not None  # noqa: S101 - they were mined at one
    return found.min_support


_STRONG = 2.0


def rules(findings: Findings) -> Section | None:
    """Describe the rules, if there are any."""
    found, best = findings.rules, findings.best_rules
    if len(found) == 0:
        return None
    parts = [
        paragraph(*_rule_numbers(findings), lead=True),
        _rule_table(list(best)),
        more(
            "All rules in a picture",
            figure(
                "rules",
                "Every rule by its support and its confidence. The further its colour is from the page's, "
                "the higher its lift; the numbered ones are named.",
                lambda ax: rules_scatter(found, ax=ax),
                height=4.7,
                narrow_height=4.4,
            ),
        ),
    ]
    return Section("rules", "Rules", parts, plural(len(found), "rule"))


def _of_best(rule: Rule) -> list[Child]:
    return [
        "A rule of the highest lift: of the transactions with ",
        itemset(rule.antecedents),
        ", ",
        percent(rule.confidence),
        " hold ",
        itemset(rule.consequents),
        " too, ",
        ratio(rule.lift),
        " times the share among all transactions.",
    ]


def _rule_numbers(findings: Findings) -> list[Child]:
    found = findings.rules
    assert found.min_threshold is not None  # noqa: S101 - they were selected by it
    strong = int((found.lift >= _STRONG).sum())
    have = "rule has" if len(found) == 1 else "rules have"
    return [
        count(len(found)),
        f" {have} one item on the right, a confidence of at least {found.min_threshold:.0%} and a lift ",
        "above 1; ",
        count(strong),
        f" of them {'has' if strong == 1 else 'have'} a lift of {_STRONG:g} or more.",
    ]


def _rule_table(best: list[Rule]) -> Element:
    rows = [
        (
            element("span", itemset(rule.antecedents), " \N{RIGHTWARDS ARROW} ", itemset(rule.consequents)),
            percent(rule.support),
            percent(rule.confidence),
            ratio(rule.lift),
        )
        for rule in best
    ]
    caption = f"{plural(len(rows), 'rule')} of high lift, a few for each item on the right"
    return table(caption, ("rule", "support", "confidence", "lift"), rows)


_FIND = 0.05


def surprises(findings: Findings) -> Section | None:
    """Describe what transactions that the model has not seen say against it, if there are any."""
    if findings.news is None:
        return None
    tested, summary, n_unusual = findings.news
    finds = tested.take(np.flatnonzero(tested.q_value <= _FIND))
    parts = [paragraph(*_of_test(tested, finds), lead=True)]
    if n_unusual is not None:
        parts.append(paragraph(*_of_unusual(n_unusual, tested.n_transactions)))
    picture = figure(
        "surprises",
        "Every itemset that was tested, by the support that the model expects and that in the new "
        "transactions: on the line both are the same. Triangles are surprises; a stronger colour is surer.",
        lambda ax: surprises_picture(tested, ax=ax),
        height=5.0,
        narrow_height=4.6,
    )
    if len(finds):
        of_summary = summary is not None and len(summary) > 0
        parts.append(_summary_table(summary) if of_summary and summary else _surprise_table(finds))
    parts += [more("Every itemset that was tested", picture)] if len(tested) else []
    return Section("surprises", "Surprises", parts, f"{len(finds):,} of {tested.n_tested:,} tested")


def _of_test(tested: Surprises, finds: Surprises) -> list[Child]:
    words: list[Child] = ["In ", count(tested.n_transactions), " transactions that the model has not seen, "]
    words += [count(len(finds)), " of ", count(tested.n_tested)]
    contradict = "contradicts" if len(finds) == 1 else "contradict"
    words.append(f" itemsets {contradict} it, by more than chance and its own uncertainty explain")
    if len(finds) == 0:
        return [*words, "."]
    n_more = int((finds.ratio > 1).sum())
    return [
        *words,
        ": ",
        count(n_more),
        " more frequent than expected, ",
        count(len(finds) - n_more),
        " less.",
    ]


def _of_first(finds: Surprises) -> list[Child]:
    n = finds.n_transactions
    expected = float(n * finds.expected[0])
    return [
        itemset(finds.sets[0]),
        ": ",
        count(int(finds.count[0])),
        " transactions where ",
        number(expected, f"{expected:.0f}" if expected >= 10 else f"{expected:.1f}"),
        " are expected.",
    ]


def _of_unusual(n_unusual: int, n: int) -> list[Child]:
    are = "is" if n_unusual == 1 else "are"
    words = f" of them {are} as unusual as one in a hundred of the model's own transactions; "
    return [percent(n_unusual / n), words, f"if they came from it, {RARE:.0%} would be."]


def _summary_table(found: Summary) -> Element:
    """List sets after which the model expects the others, each as it is expected after those before."""
    last = "nothing else contradicts" if found.is_complete else "more would follow"
    rows = _rows_of_surprises(found)
    return table(f"The shortest list that explains them; {last}", _SURPRISE_HEADERS, rows)


def _surprise_table(finds: Surprises) -> Element:
    rows = _rows_of_surprises(finds[:_LISTED])
    return table(f"The {plural(len(rows), 'most certain surprise')}", _SURPRISE_HEADERS, rows)


_SURPRISE_HEADERS = ("itemset", "in the data", "expected", "times", "q")


def _rows_of_surprises(found: Surprises | Summary) -> list[tuple[Child, ...]]:
    columns = (found.support, found.expected, found.ratio, found.q_value)
    return [
        (itemset(names), percent(support), percent(expected), ratio(times), number(q, f"{q:.2g}"))
        for names, support, expected, times, q in zip(
            found.sets, *(column.tolist() for column in columns), strict=True
        )
    ]


_LISTED = 12
_IN_MATRIX = 16
_IN_NETWORK = 30


def dependencies(findings: Findings) -> Section | None:
    """Describe the pairs of items that attract or avoid each other, if the model knows two items."""
    if findings.model.n_items < 2:
        return None
    attracting, avoiding = findings.attracting, findings.avoiding
    if not attracting and not avoiding:
        nothing = "In this model no item depends on another: it says nothing of what occurs together."
        return Section("dependencies", "Dependencies", [paragraph(nothing, lead=True)], "none")
    words: list[Child] = ["No two items avoid each other."]
    if avoiding:
        words = ["The strongest avoidance is between ", *_of_pair(avoiding[0])]
    parts = [paragraph(*words, lead=True)]
    model = findings.model
    # The pictures would search all pairs themselves, which takes long if there are many items.
    names = _items_of(attracting + avoiding)
    parts.append(
        figure(
            "network",
            "The pairs of items that depend most on each other. The wider a line, the stronger; the larger a "
            "dot, the more frequent the item.",
            lambda ax: dependency_network(model, _IN_NETWORK, items=names, ax=ax),
            height=4.3,
            narrow_height=3.9,
        )
    )
    matrix = figure(
        "matrix",
        "How many times as often pairs of items occur together as independent ones would. A minus marks "
        "pairs that avoid each other.",
        lambda ax: dependency_matrix(model, items=names[:_IN_MATRIX], ax=ax),
        height=5.4,
        narrow_height=4.1,
    )
    tables = [_dependency_table("attract", attracting[:_LISTED])] if attracting else []
    tables += [_dependency_table("avoid", avoiding[:_LISTED])] if avoiding else []
    parts.append(more("The numbers, and all pairs of the first of these items", *tables, matrix))
    n = len(attracting) + len(avoiding)
    return Section("dependencies", "Dependencies", parts, plural(n, "pair"))


def _items_of(pairs: list[Dependency]) -> list[Label]:
    """Return the items of the pairs that are drawn, those of the strongest first."""
    strongest = sorted(pairs, key=lambda pair: -pair.information)[:_IN_NETWORK]
    return list(dict.fromkeys(name for pair in strongest for name in (pair.item, pair.other)))


def _of_pair(pair: Dependency) -> list[Child]:
    return [
        item(pair.item),
        " and ",
        item(pair.other),
        ". Both are in ",
        percent(pair.probability),
        " of the transactions, where independent items would be in ",
        percent(pair.expected),
        ": ",
        ratio(pair.lift),
        " times as often.",
    ]


def _dependency_table(verb: str, pairs: list[Dependency]) -> Element:
    rows = [
        (
            itemset([pair.item, pair.other]),
            percent(pair.probability),
            percent(pair.expected),
            ratio(pair.lift),
            number(pair.information, f"{pair.information:.4f}"),
        )
        for pair in pairs
    ]
    headers = ("items", "together", "by chance", "lift", "bits")
    return table(f"The {plural(len(rows), 'pair')} that {verb} each other most", headers, rows)
