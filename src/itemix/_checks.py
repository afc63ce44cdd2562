"""Checks of arguments: numbers, words, counts, paths and seeds, and suggestions for mistyped names.

Each error says what was expected, what was got and one thing to try.
"""

from __future__ import annotations

import difflib
import heapq
import math
import re
from decimal import Decimal, InvalidOperation
from itertools import islice
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix._runtime import still_wanted
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable


_LARGEST = 2**63 - 1
_ROUNDING = 1e-9


def check_whole(name: str, value: object, example: int, *, least: int | None = None) -> int:
    """Return a whole number of 64 bits.

    Raises
    ------
    InvalidInputError
        If it is something else, or less than `least`; the message offers the example.
    """
    low = -_LARGEST if least is None else least
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= _LARGEST:
        bound = "" if least is None else f" of {least} or more"
        raise InvalidInputError(f"expected {name} as a whole number{bound}, got {value!r}; try {example}")
    return int(value)


def check_number(name: str, value: object, example: float) -> float:
    """Return a number that is not NaN.

    Raises
    ------
    InvalidInputError
        If it is something else; the message offers the example.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise InvalidInputError(f"expected {name} as a number, got {value!r}; try {example}")
    return float(value)


def check_level(level: object, example: float) -> float:
    """Return the level of a test or of an interval.

    Raises
    ------
    InvalidInputError
        If it is not a number between 0 and 1; the message offers the example.
    """
    found = check_number("level", level, example)
    if not 0 < found < 1:
        raise InvalidInputError(f"expected a level between 0 and 1, got {level!r}; try {example}")
    return found


def as_written(number: float | Real | np.floating[Any]) -> float:
    """Return a number as the float that people would write for it.

    float(np.float32(0.4)) is a little more than 0.4, and would miss a support of exactly 0.4.
    """
    return float(str(number) if isinstance(number, np.floating) else number)


def as_support(text: str, name: str = "min_support") -> float | int:
    """Return a support that was written as text: digits are a count, a decimal or percentage a fraction.

    Raises
    ------
    InvalidInputError
        If it is none of these.
    """
    written = text.strip()
    try:
        if written.isascii() and written.removeprefix("-").isdigit():
            return int(written)
        number = Decimal(written.removesuffix("%")).normalize()  # raises an error for a signaling NaN
    except (InvalidOperation, ValueError):  # not a number, or one with too many digits
        raise InvalidInputError(
            f"expected {name} as a fraction (0.01), a percentage (1%) or a whole number of "
            f"transactions (20), got {text!r:.60}; try 0.01"
        ) from None
    if not written.endswith("%"):
        return float(number)
    if not number.is_finite() or not 0 < number <= 100:
        raise InvalidInputError(
            f"expected {name} as a percentage above 0% and up to 100%, got {text!r}; try 1%"
        )
    return float(number / 100)


def check_flag(name: str, value: object) -> bool:
    """Return True or False.

    Raises
    ------
    InvalidInputError
        If it is something else.
    """
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"expected {name} as True or False, got {value!r}; try True")
    return bool(value)


def check_bounds(low_name: str, low: float | None, high_name: str, high: float | None) -> None:
    """Check that the lower bound is not above the upper one; None is no bound.

    Raises
    ------
    InvalidInputError
        If the lower one is above the upper one.
    """
    if low is not None and high is not None and low > high:
        raise InvalidInputError(f"expected {low_name} <= {high_name}, got {low} and {high}; lower {low_name}")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return a word that is one of the choices.

    Raises
    ------
    InvalidInputError
        If it is something else; the message offers the first word.
    """
    if not isinstance(value, str) or value not in choices:
        raise InvalidInputError(
            f"expected {name} to be one of {', '.join(map(repr, choices))}, got {value!r}; try {choices[0]!r}"
        )
    return value


def check_support_count(name: str, count: int, n_transactions: int) -> int:
    """Return a support that is a number of transactions; a count of one is always allowed.

    Raises
    ------
    InvalidInputError
        If it is above the number of transactions; the message says how to write a percentage.
    """
    if count > max(n_transactions, 1):
        hint = f"for {count}% write {count / 100:g}" if count <= 100 else "for a fraction write 0.01"
        raise InvalidInputError(
            f"expected {name} as a fraction or a count of at most {n_transactions:,}, the number of "
            f"transactions, got {count}, which is a count; {hint}"
        )
    return count


def check_counts(
    support: npt.NDArray[np.float64], count: npt.NDArray[np.int64] | None, n_transactions: int | None
) -> None:
    """Check that each count matches its support, which may be rounded.

    Raises
    ------
    InvalidInputError
        If `n_transactions` is not a whole number of 0 or more, or a count does not match its support.
    """
    if n_transactions is None:
        return
    n = check_whole("n_transactions", n_transactions, 1000, least=0)
    if count is None:
        return
    fits = np.abs(support * n - count) <= 0.5 + _ROUNDING * n
    if not fits.all():
        first = int(np.argmin(fits))
        raise InvalidInputError(
            f"expected supports that are count / n_transactions, got support {support[first]:.6g} with count "
            f"{count[first]:,} of {n:,} at position {first:,}; correct one of them, or make the file again"
        )


def as_generator(random_state: Any) -> np.random.Generator:  # noqa: ANN401 - checked here
    """Return the generator for a seed; a generator is returned as it is.

    Raises
    ------
    InvalidInputError
        If it is neither a seed nor a generator.
    """
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInputError(
            "expected random_state as a whole number of 0 or more, a NumPy Generator or None, got "
            f"{random_state!r}; try 0"
        ) from None


_NAMES_SEARCHED = 20_000
_MOST_COMPARED = 200
_LIKE_A_NAME = 0.7
_LIKE_A_NUMBER = 0.6
_LIKE_A_WORD = 0.75
_SHORTEST_WORD = 3
_SHORTEST_PART = 5
# Names whose likeness is this far below that of the best one are not offered.
_BEHIND = 0.15
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
_LONG_WORD = re.compile(rf"\w{{{_SHORTEST_WORD},}}")
# Where a word begins in a name such as InvoiceDate.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HASHED = np.uint32(2_654_435_761)


def nearest(wanted: object, names: Iterable[object], n: int = 3) -> list[str]:
    """Return at most n names that look like the wanted one, or have a word that does; case does not matter.

    A name also counts if one of its words begins with the wanted text, or if it has a long wanted text
    anywhere. Only the first 20,000 names are looked at.
    """
    key = str(wanted).casefold().strip()
    if not key:
        return []
    texts = [str(name) for name in islice(names, _NAMES_SEARCHED)]
    lower = [text.casefold() for text in texts]
    whole = _alike(key, dict.fromkeys(lower), _LIKE_A_NUMBER if key[0].isdigit() else _LIKE_A_NAME)
    words = _alike(key, {word: None for text in lower for word in _LONG_WORD.findall(text)}, _LIKE_A_WORD)
    begin = "" if len(key) >= _SHORTEST_PART else r"(?<![^\W_])"
    part = re.compile(begin + re.escape(key))
    found = dict.fromkeys(
        text
        for text, folded in zip(texts, lower, strict=True)
        if folded in whole
        or (len(key) >= _SHORTEST_WORD and part.search(f"{folded} {_HUMP.sub(' ', text).casefold()}"))
        or (words and not words.isdisjoint(_WORD.findall(folded)))
    )
    likeness = {text: _likeness(key, text) for text in _promising(key, found)}
    best = heapq.nlargest(n, sorted(likeness), key=likeness.__getitem__)
    return [text for text in best if likeness[text][0] >= likeness[best[0]][0] - _BEHIND]


def did_you_mean(near: Iterable[str], otherwise: str) -> str:
    """Return the end of a message: the names to offer, or else what to try."""
    offered = ", ".join(map(repr, near))
    return f"did you mean {offered}?" if offered else otherwise


def _alike(key: str, texts: Iterable[str], cutoff: float) -> set[str]:
    """Return the texts that are alike. A typo rarely changes the first and the last letter at once."""
    near = difflib.get_close_matches(key, _promising(key, texts), n=10, cutoff=cutoff)
    return {text for text in near if text[0] == key[0] or text[-1] == key[-1] or key in text}


def _promising(key: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that share the most letters and pairs of letters with a key.

    A name with a typo keeps most of both, and difflib would take a second for 20,000 names.
    """
    still_wanted()
    chosen = list(texts)
    if len(chosen) <= _MOST_COMPARED:
        return chosen
    lengths = np.array([len(text) + 1 for text in chosen])
    starts = np.cumsum(lengths) - lengths
    shared = sum(
        np.add.reduceat(np.isin(of_texts, of_key), starts, dtype=np.int64)
        for of_texts, of_key in zip(_letters("\n".join(chosen)), _letters(key), strict=True)
    )
    best = np.argsort(-shared / (lengths + len(key)), kind="stable")[:_MOST_COMPARED]
    return [chosen[j] for j in best.tolist()]


def _letters(text: str) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the letters of lines as numbers, and a hash of each letter and the one after it."""
    letters = np.frombuffer(f"{text}\n\n".encode("utf-32-le", "surrogatepass"), np.uint32)
    return letters[:-1], letters[:-1] * _HASHED + letters[1:]


def _likeness(key: str, name: str) -> tuple[float, float]:
    """Return how much a name looks like the key: the best of its words, and the name as a whole."""
    lower = name.casefold()
    whole = difflib.SequenceMatcher(None, lower, key).ratio()
    words = {*_WORD.findall(lower), *_PART.findall(_HUMP.sub(" ", name).casefold())}
    return max([whole, *(difflib.SequenceMatcher(None, word, key).ratio() for word in words)]), whole
