"""Text and HTML for people: numbers, names, sets, rules, and tables of them."""

from __future__ import annotations

import html
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from itemix.core.sets import Sets

ROWS_SHOWN = 10
NAME_WIDTH = 32
SET_WIDTH = 72
# In HTML long names are folded, not cut.
HTML_WIDTH = 400
_GAP = 2
_NUMBER = re.compile(r"[-\d.,]+%?")


@dataclass(frozen=True, repr=False)
class Table:
    """A small table for people: a title, cells of text, and a footer that says what was left out.

    It prints as text, and shows as HTML in a notebook. The last column holds names and is aligned to the
    left, and so are the columns of words. The others hold numbers. Headers that are all empty are left out.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    footer: str = ""
    words: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()

    def as_text(self) -> str:
        """Lay the table out in lines of text, without trailing blanks."""
        lines = [self.title] if self.title else []
        if self.rows:
            columns = self.columns()
            columns = columns if any(self.headers) else [column[1:] for column in columns]
            lines += ["  ".join(["", *row]).rstrip() for row in zip(*columns, strict=True)]
        if self.footer:
            lines.append(self.footer)
        return "\n".join(lines)

    def columns(self) -> list[list[str]]:
        """Return the lines of each column, the header first, aligned; the last one is as it is."""
        *others, names = zip(*self.rows, strict=True)
        columns = [
            padded(header, texts) if header in self.words else aligned(header, texts)
            for header, texts in zip(self.headers, others, strict=False)
        ]
        last = self.headers[-1]
        return [*columns, aligned(last, names) if self._ends_in_numbers() else [last, *names]]

    def _ends_in_numbers(self) -> bool:
        """Whether the last column has no names but numbers."""
        if not self.rows or self.headers[-1] in self.words:
            return False
        return all(_NUMBER.fullmatch(row[-1]) for row in self.rows)

    def as_html(self) -> str:
        """Write the table as HTML for notebooks; every text is escaped.

        Its only colours are translucent greys, which suit light and dark pages.
        """
        last = len(self.headers) - 1
        is_left = [j == last or header in self.words for j, header in enumerate(self.headers)]
        if self._ends_in_numbers():
            is_left[last] = False
        head = "".join(
            _cell("th", text, left, f"font-weight: 600; {_LINE}")
            for text, left in zip(self.headers, is_left, strict=True)
        )
        body = "".join(
            "<tr>" + "".join(map(_cell, ["td"] * len(row), row, is_left, [""] * len(row))) + "</tr>"
            for row in self.rows
        )
        table = (
            '<table style="margin: 0; border-collapse: collapse">'
            f"{f'<thead><tr>{head}</tr></thead>' if any(self.headers) else ''}<tbody>{body}</tbody></table>"
        )
        title = f'<p style="margin: 0 0 0.4em"><strong>{html.escape(self.title)}</strong></p>'
        footer = f'<p style="margin: 0.4em 0 0; opacity: 0.7">{html.escape(self.footer)}</p>'
        return (
            f'<div style="overflow-x: auto">{title if self.title else ""}{table if self.rows else ""}'
            f"{footer if self.footer else ''}</div>"
        )


def padded(header: str, texts: Sequence[str]) -> list[str]:
    """Align words to the left below a header."""
    width = max(map(len, (header, *texts)))
    return [text.ljust(width) for text in (header, *texts)]


def aligned(header: str, texts: Sequence[str]) -> list[str]:
    """Align numbers by their decimal points, to the right below a header."""
    split = [text.partition(".") for text in texts]
    before = max((len(whole) for whole, _, _ in split), default=0)
    lined_up = [whole.rjust(before) + point + digits for whole, point, digits in split]
    after = max(map(len, lined_up), default=0)
    width = max(len(header), after)
    return [header.rjust(width), *(text.ljust(after).rjust(width) for text in lined_up)]


def format_number(value: float) -> str:
    """Write a support or a measure with four significant digits."""
    if value != value:  # noqa: PLR0124 - NaN
        return "-"
    return f"{value:#.4g}".rstrip(".")


def format_percent(value: float) -> str:
    """Write a fraction as a percentage, as short as it can be without losing digits that matter."""
    return f"{100 * value:.6g}%"


def format_count(value: int | None) -> str:
    """Write a whole number with thousands separators; None is a dash."""
    return "-" if value is None else f"{value:,}"


def plural(n: int, noun: str) -> str:
    """Write a number with its noun: '1 rule', '2,000 rules'."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def format_name(name: object, width: int = NAME_WIDTH) -> str:
    """Write an item name on one line, without control characters; a long one is cut in the middle."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(name))
    if not text.strip():
        text = repr(text)
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def format_set(names: Iterable[object], width: int | None = SET_WIDTH) -> str:
    """Write an itemset as '{a, b, c}'; names that do not fit are counted: '{a, b, +7}'.

    Names are cut at 32 letters, unless the width is more than usual; None cuts nothing.
    """
    width = sys.maxsize if width is None else width
    shown = [format_name(name, width if width > SET_WIDTH else NAME_WIDTH) for name in names]
    kept = 0
    used = 2
    for position, text in enumerate(shown):
        rest = len(shown) - position - 1
        used += len(text) + 2
        if position and used + (len(f"+{rest}") if rest else -2) > width:
            break
        kept += 1
    left_out = [f"+{len(shown) - kept}"] if kept < len(shown) else []
    return "{" + ", ".join(shown[:kept] + left_out) + "}"


def format_rule(
    antecedents: Iterable[object], consequents: Iterable[object], width: int | None = SET_WIDTH
) -> str:
    """Write a rule as '{a, b} -> {c}'."""
    if width is None:
        return f"{format_set(antecedents, None)} -> {format_set(consequents, None)}"
    follows = format_set(consequents, width // 2)
    return f"{format_set(antecedents, width - len(follows) - 4)} -> {follows}"


def columns_of_sets(
    sets: Sequence[Sets], before: Sequence[str], width: int | None, taken: Iterable[str]
) -> dict[str, list[str]] | None:
    """Lay sets of items of a table out in its columns: under each, the value that a set has there.

    Parameters
    ----------
    sets : sequence of Sets
        The sets, of one row or more sides of a row each.
    before : sequence of str
        What stands before the names of the columns of each side.
    width : int or None
        How wide all of it may be.
    taken : iterable of str
        The names of other columns.

    Returns
    -------
    dict of lists of str, or None
        The cells by column, in the order of the table. None if items come from elsewhere, if there is no
        room, or if a column has the name of another one.
    """
    found: dict[str, list[str]] = {}
    for side, mark in zip(sets, before, strict=True):
        bins, column_of = side.items.bins, side.items.column_of
        if bins is None or column_of is None:
            return None
        names, columns = list(bins), column_of[side.codes]
        for number in sorted(set(columns.tolist())):
            found[mark + names[number]] = [""] * len(side)
        rows = [row for row, length in enumerate(side.lengths.tolist()) for _ in range(length)]
        for row, code, number in zip(rows, side.codes.tolist(), columns.tolist(), strict=True):
            value = str(side.items[code]).removeprefix(f"{names[number]}=")
            found[mark + names[number]][row] = format_name(value, max(width or 0, NAME_WIDTH))
    needed = sum(max(map(len, (name, *cells))) + _GAP for name, cells in found.items())
    is_clear = bool(found) and not found.keys() & set(taken)
    return found if is_clear and (width is None or needed - _GAP <= width) else None


def format_column(
    values: Sets | npt.NDArray[Any], width: int | None = SET_WIDTH, *, is_percent: bool = False
) -> list[str]:
    """Write a column of sets, texts, truth values or numbers for people."""
    if not hasattr(values, "dtype"):
        return [format_set(names, width) for names in values]
    values = cast("npt.NDArray[Any]", values)
    if values.dtype == object:
        whole = [text and format_name(text, sys.maxsize) for text in values]
        return [text if width is None or len(text) <= width else f"{text[: width - 1]}…" for text in whole]
    if values.dtype.kind == "b":
        return ["yes" if value else "no" for value in values]
    if values.dtype.kind in "iu":
        return [format_count(value) for value in values.tolist()]
    if is_percent:
        digits = ("" if value != value else f"{100 * value:#.3g}" for value in values.tolist())  # noqa: PLR0124 - NaN
        return [f"{text.rstrip('.')}%" if text else "-" for text in digits]
    return [format_number(value) for value in values.tolist()]


def shown_of(n_shown: int, n: int) -> str:
    """Say how many rows a table leaves out, or nothing if it shows all."""
    return f"... {n - n_shown:,} more" if n > n_shown else ""


def joined(parts: Sequence[str]) -> str:
    """Join the parts of a title that are not empty."""
    return ", ".join(part for part in parts if part)


_LINE = "border-bottom: 1px solid rgba(128, 128, 128, 0.5);"


def _cell(tag: str, text: str, is_left: bool, style: str) -> str:
    wraps = "white-space: nowrap" if len(text) <= NAME_WIDTH else "overflow-wrap: anywhere; max-width: 60em"
    kind = (
        f"text-align: left; {wraps}"
        if is_left
        else ("text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums")
    )
    return f'<{tag} style="{kind}; padding: 0.2em 0.8em; {style}">{html.escape(text)}</{tag}>'
