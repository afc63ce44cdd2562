"""The names that somebody may have meant."""

from __future__ import annotations

import difflib
import re
from itertools import islice
from typing import TYPE_CHECKING

from itemix._runtime import still_wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAMES_SEARCHED = 20_000
_LIKE_A_NAME = 0.6
_LIKE_A_WORD = 0.75
_SHORTEST_WORD = 3
_COMPARED_AT_A_TIME = 500


def nearest(wanted: object, names: Iterable[object], n: int = 3) -> list[str]:
    """Return at most n names that are like the wanted one, or have a word that is; case does not matter.

    Only the first 20,000 names are looked at.
    """
    key = str(wanted).casefold().strip()
    if not key:
        return []
    texts = [str(name) for name in islice(names, _NAMES_SEARCHED)]
    whole: dict[str, list[str]] = {}
    words: dict[str, list[str]] = {}
    for text in texts:
        lower = text.casefold()
        whole.setdefault(lower, []).append(text)
        for word in set(re.findall(r"\w+", lower)):
            if len(word) >= _SHORTEST_WORD:
                words.setdefault(word, []).append(text)
    found = _alike(key, whole, _LIKE_A_NAME) | _alike(key, words, _LIKE_A_WORD)
    if len(key) >= _SHORTEST_WORD:
        found |= {text for text in texts if key in text.casefold()}
    return sorted(sorted(found), key=lambda text: _likeness(key, text), reverse=True)[:n]


def did_you_mean(near: Iterable[str], otherwise: str) -> str:
    """Return the end of a message: the names to offer, or what to try if there are none."""
    offered = ", ".join(map(repr, near))
    return f"did you mean {offered}?" if offered else otherwise


def _alike(key: str, texts: dict[str, list[str]], cutoff: float) -> set[str]:
    close = difflib.get_close_matches(key, _while_wanted(texts), n=10, cutoff=cutoff)
    return {name for text in close for name in texts[text]}


def _while_wanted(texts: Iterable[str]) -> Iterator[str]:
    for position, text in enumerate(texts):
        if position % _COMPARED_AT_A_TIME == 0:
            still_wanted()
        yield text


def _likeness(key: str, name: str) -> tuple[float, float]:
    """Compare a name by its best word, and as a whole."""
    lower = name.casefold()
    whole = difflib.SequenceMatcher(None, lower, key).ratio()
    words = re.findall(r"\w+", lower)
    return max([whole, *(difflib.SequenceMatcher(None, word, key).ratio() for word in words)]), whole
