"""Itemsets of at least a probability: how many, how they are distributed, and a page of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from itemix.mining.ranking import ranked_part
from itemix.web.limits import MAX_ROWS
from itemix.web.questions import Names, Question, Text
from itemix.web.searches import Found, lifts
from itemix.web.views.columns import as_list, rows_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from itemix.core.items import Items, Label
    from itemix.core.itemsets import Itemsets
    from itemix.web.searches import Family
    from itemix.web.served import Served

Target = Literal["all", "closed", "maximal"]
Sort = Literal["support", "length", "lift"]
Order = Literal["descending", "ascending"]
_BINS = 24
_LONGEST = 1_000


class ItemsetsChosen(Question):
    """Which itemsets, and in which order."""

    min_support: float = Field(gt=0, le=1, description="The least probability of an itemset, as a fraction.")
    target: Target = Field(
        default="all",
        description="All itemsets; those without a superset of the same probability; those without a "
        "superset that reaches the threshold.",
    )
    min_len: int = Field(default=1, ge=1, le=_LONGEST, description="The fewest items of a set.")
    max_len: int | None = Field(default=None, ge=1, le=_LONGEST, description="The most items of a set.")
    include: Names = Field(default=(), description="Items that every set holds.")
    exclude: Names = Field(default=(), description="Items that no set holds.")
    search: Text = Field(default="", description="Words; each must be part of the name of an item.")
    sort: Sort = Field(default="support", description="What to sort by.")
    order: Order = Field(default="descending", description="The direction.")
    level: float = Field(
        default=0.9, ge=0.5, le=0.999, description="The probability inside the credible intervals."
    )


class ItemsetsQuestion(ItemsetsChosen):
    """A page of them."""

    offset: int = Field(default=0, ge=0, le=10**9, description="How many rows to skip.")
    limit: int = Field(default=50, ge=0, le=MAX_ROWS, description="The most rows to return.")


def itemsets(served: Served, asked: ItemsetsQuestion) -> dict[str, Any]:
    """Return the number of itemsets, their distribution over support and length, and some of them."""
    found = choose(served, asked)
    page = page_of(found, asked, asked.offset, asked.offset + asked.limit)
    family, positions = found
    return {
        "min_support": asked.min_support,
        "n_itemsets": len(positions),
        "lengths": _by_length(family.lengths[positions]),
        "supports": _by_support(family.itemsets.support[positions], asked.min_support),
        "offset": asked.offset,
        "itemsets": _rows(served, family.itemsets.take(page), asked.level),
    }


def choose(served: Served, asked: ItemsetsChosen) -> Found:
    """Return the itemsets that meet all conditions of a question."""
    found = served.searches.at(asked.min_support, asked.target)
    family, positions = found
    sets = family.itemsets.sets
    kept = np.ones(len(sets), dtype=bool)
    if asked.min_len > 1:
        kept &= family.lengths >= asked.min_len
    if asked.max_len is not None:
        kept &= family.lengths <= asked.max_len
    if asked.include:
        kept &= sets.count_members(asked.include) == len(sets.items.codes(asked.include))
    if asked.exclude:
        kept &= sets.count_members(asked.exclude) == 0
    for word in asked.search.split():
        kept &= sets.count_members(matching_items(sets.items, word)) > 0
    return Found(family, positions[kept[positions]])


def matching_items(items: Items, word: str) -> list[Label]:
    """Return the items whose names have a word in them, whatever the case."""
    wanted = word.casefold()
    return [name for name in items if wanted in str(name).casefold()]


def page_of(found: Found, asked: ItemsetsChosen, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the positions in the family of what stands from start up to stop in the order asked for."""
    family, positions = found
    keys = _column(family, asked.sort)[positions]
    return positions[ranked_part(keys, start, stop, descending=asked.order == "descending")]


def _column(family: Family, name: str) -> npt.NDArray[Any]:
    if name == "support":
        return family.itemsets.support
    return family.lengths if name == "length" else family.lift


def _rows(served: Served, chosen: Itemsets, level: float) -> list[dict[str, Any]]:
    columns: dict[str, list[Any]] = {
        "items": [list(names) for names in chosen.sets],
        "support": chosen.support.tolist(),
        "lift": as_list(lifts(chosen, served.model.item_probabilities)),
    }
    ends = served.intervals(chosen, level) if len(chosen) else None
    if ends is not None:
        columns |= {"lower": ends[0].tolist(), "upper": ends[1].tolist()}
    exact = served.exact_support(chosen.sets)
    if exact is not None:
        columns["exact"] = exact.tolist()
    return rows_of(columns)


def _by_length(lengths: npt.NDArray[np.int64]) -> list[dict[str, int]]:
    counts = np.bincount(lengths)
    return [{"length": length, "count": int(n)} for length, n in enumerate(counts) if length]


def _by_support(support: npt.NDArray[np.float64], lowest: float) -> list[dict[str, float]]:
    """Count supports in bins of equal width on a logarithmic scale, from the threshold to 1."""
    if lowest >= 1:
        return [{"from": 1.0, "to": 1.0, "count": len(support)}]
    width = -np.log(lowest) / _BINS
    bins = ((np.log(support) - np.log(lowest)) / width).astype(np.int64)
    counts = np.bincount(np.clip(bins, 0, _BINS - 1), minlength=_BINS)
    edges = lowest * np.exp(width * np.arange(_BINS + 1))
    edges[-1] = 1.0
    columns = edges[:-1].tolist(), edges[1:].tolist(), counts.tolist()
    return [{"from": low, "to": high, "count": n} for low, high, n in zip(*columns, strict=True)]
