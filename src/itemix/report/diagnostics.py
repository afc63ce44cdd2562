"""Diagnostics: whether the fit can be relied on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix.core.display import plural
from itemix.plot import trace
from itemix.plot.fits import trace_of
from itemix.report.markup import Child, count, facts, number
from itemix.report.overview import kind_of
from itemix.report.page import figure
from itemix.report.sections import Section, paragraph

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from itemix.report.findings import Findings

_MIXED = 1.01
_TRACED = {
    "log_joint": "the joint log-probability",
    "n_components": "the number of components",
    "alpha": "the concentration of the weights",
}


def diagnostics(findings: Findings) -> Section:
    """Tell how the fit went, as far as the model knows."""
    source = findings.source
    parts: list[Element] = []
    if hasattr(source, "chains_"):
        parts += _of_chains(source)
    elif hasattr(source, "lower_bounds_"):
        parts.append(paragraph(*_of_climb(source), lead=True))
    else:
        parts.append(paragraph("The model does not come with a record of how it was fitted.", lead=True))
    if hasattr(source, "lower_bounds_"):
        name = trace_of(source).name
        parts.append(
            _trace(source, "bound", f"{name}, at every iteration. It is flat where the fit has settled.")
        )
    if hasattr(source, "chains_"):
        description = "The number of components at every iteration."
        parts.append(_trace(source, "n_components", description))
    parts.append(_table(findings))
    return Section("diagnostics", "Diagnostics", parts)


def _trace(source: Any, quantity: Any, description: str) -> Element:  # noqa: ANN401 - an estimator; a literal
    return figure(
        f"trace-{quantity}",
        description,
        lambda ax: trace(source, quantity, ax=ax),
        height=2.8,
        narrow_height=2.4,
    )


def _of_climb(source: Any) -> list[Child]:  # noqa: ANN401 - an estimator
    bounds = np.asarray(source.lower_bounds_)
    words: list[Child] = ["The fit ", "converged" if source.converged_ else "had not converged", " after "]
    words += [count(int(source.n_iter_)), f" {'iteration' if source.n_iter_ == 1 else 'iterations'}"]
    if len(bounds) > 1:
        gain, last = float(bounds[-1] - bounds[0]), float(bounds[-1] - bounds[-2])
        words += [": it gained ", number(gain, f"{gain:.3f}"), " a transaction in all, and "]
        words += [number(last, _without_exponent(last)), " in the last iteration"]
    words.append("." if source.converged_ else "; more iterations may still change the model.")
    return words


def _without_exponent(value: float) -> str:
    """Write a number with two significant digits, however small it is."""
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def _of_chains(source: Any) -> list[Element]:  # noqa: ANN401 - an estimator
    chains = source.chains_.chains
    n_burn = max(chain.n_burn for chain in chains)
    settled = "had settled" if source.converged_ else "had not settled"
    words: list[Child] = [
        f"{plural(len(chains), 'chain')} of up to ",
        count(int(source.n_iter_)),
        " iterations; the trace ",
        settled,
        " when burn-in ended after ",
        count(n_burn),
        "." if source.converged_ else ": a longer run may still change the model.",
    ]
    parts = [paragraph(*words, lead=True)]
    known = {
        name: found["r_hat"]
        for name, found in source.chains_.diagnostics().items()
        if not math.isnan(found["r_hat"])
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


def _table(findings: Findings) -> Element:
    source = findings.source
    rows: list[tuple[str, Child]] = [
        ("model", kind_of(findings)),
        ("free parameters", count(int(findings.model.n_parameters))),
    ]
    if hasattr(source, "n_iter_"):
        rows.append(("iterations", count(int(source.n_iter_))))
    if hasattr(source, "converged_"):
        rows.append(("converged", "yes" if source.converged_ else "no"))
    if hasattr(source, "lower_bound_"):
        rows.append(
            (trace_of(source).name.lower(), number(source.lower_bound_, f"{source.lower_bound_:.4f}"))
        )
    if hasattr(source, "chains_"):
        for name, found in source.chains_.diagnostics().items():
            figures = f"R-hat {found['r_hat']:.3f}, effective sample size {found['ess']:.0f}"
            rows.append((_TRACED[name], figures))
    return facts(rows, "facts")
