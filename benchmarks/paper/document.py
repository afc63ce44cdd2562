"""``docs/results.md``: the template, with every table, figure and number of the results put in."""

from __future__ import annotations

import textwrap
from functools import partial
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from . import claims, figures, sentences, tables
from .inputs import INPUTS
from .summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from .scales import Scale
    from .store import Store

_TEMPLATE = Path(__file__).parent / "template.md"
_WIDTH = 120
_MISSING = "*There are no results of this part yet.*"
# Chow-Liu trees and independent items with one pseudo-count, as reported elsewhere and found again here.
REPORTED = {
    "Chow-Liu tree, reported": {
        "debd-nltcs": -6.759,
        "debd-plants": -16.524,
        "debd-accidents": -33.188,
        "debd-dna": -87.735,
    },
    "independent items, reported": {
        "debd-nltcs": -9.234,
        "debd-plants": -31.266,
        "debd-accidents": -45.560,
        "debd-dna": -100.386,
    },
}


def write_document(store: Store, scale: Scale, output: Path) -> None:
    """Write the document, and its figures into the folder of the same name beside it."""
    summary = Summary(store, scale)
    folder = output.with_suffix("")
    drawn = {
        "supports": figures.draw_supports(summary, folder / "supports.svg"),
        "bias": figures.draw_bias(summary, folder / "bias.svg"),
        "crossing": figures.draw_crossing(summary, folder / "crossing.svg"),
        "reliability": figures.draw_reliability(summary, folder / "reliability.svg"),
    }
    parts = {
        "targets": _targets(summary),
        "table1": tables.data_sets(summary),
        "table2": tables.lengths(summary),
        "table3": _by_dataset(summary, "table3", partial(tables.accuracy, part="table3")),
        "table4": _by_dataset(summary, "table4", partial(tables.accuracy, part="table4")),
        "floors": tables.floors(summary),
        "alike": _by_dataset(summary, "alike", partial(tables.accuracy, part="alike")),
        "probes": tables.probes(summary),
        "beyond": _by_dataset(summary, "beyond", tables.past),
        "many": tables.many(summary),
        "compared": tables.compared(summary),
        "scarce": _scarce(summary),
        "starts": tables.starts(summary),
        "front": tables.front(summary),
        "recommendations": tables.recommendations(summary),
        "cover_by_length": tables.cover_by_length(summary),
        "sizes": tables.sizes(summary),
        "table5": tables.training(summary),
        "table6": tables.generation(summary),
        "density": tables.density(summary, REPORTED),
        "choices": tables.density_choices(summary),
    }
    parts = {name: text if text.count("\n") > 1 else _MISSING for name, text in parts.items()}
    parts |= {
        f"figure_{name}": f"![{figures.TITLES[name]}]({folder.name}/{name}.svg)" if is_drawn else _MISSING
        for name, is_drawn in drawn.items()
    }
    parts |= {f"said_{name}": text for name, text in sentences.all_sentences(summary).items()}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(_filled(Template(_TEMPLATE.read_text()).substitute(parts)))


def _filled(text: str) -> str:
    """Break the lines of plain paragraphs where they are full; tables, lists and code stay as they are."""
    blocks = [block for block in text.split("\n\n") if block.strip()]
    return "\n\n".join(_fill(block) for block in blocks).rstrip() + "\n"


def _fill(block: str) -> str:
    if block.startswith(("|", "#", "-", "!", "*", "    ")):
        return block
    return textwrap.fill(" ".join(block.split()), _WIDTH, break_long_words=False, break_on_hyphens=False)


def _by_dataset(summary: Summary, part: str, table: Callable[[Summary, str], str]) -> str:
    names = [name for name in summary.scale.datasets(part) if summary.rows(part, name)]
    return "\n\n".join(_titled(name, table(summary, name)) for name in names)


def _scarce(summary: Summary) -> str:
    names = [name for name in summary.scale.scarce if summary.largest_scarce(name) is not None]
    return "\n\n".join(_titled(name, tables.scarce(summary, name)) for name in names)


def _titled(name: str, table: str) -> str:
    return f"**{INPUTS[name].label}, {100 * INPUTS[name].min_support:g}%**\n\n{table}"


def _targets(summary: Summary) -> str:
    found = claims.targets(summary)
    rows = [(target.wanted, target.measured, "yes" if target.holds else "**no**") for target in found]
    return tables.markdown(("wanted", "measured", "holds"), rows, n_words=3)
