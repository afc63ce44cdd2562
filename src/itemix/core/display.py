"""Text and HTML for people: numbers, names, sets, rules, and tables of them."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROWS_SHOWN = 10
NAME_WIDTH = 32
SET_WIDTH = 72


@dataclass(frozen=True)
class Table:
    """A small table for people: a title, cells of text, and a footer that says what was left out.

    The last column holds names and is aligned to the left. The others hold numbers.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    footer: str = ""

    def as_text(self) -> str:
        """Lay the table out in lines of text, without trailing blanks."""
        lines = [self.title]
        if self.rows:
            *numbers, names = zip(*self.rows, strict=True)
            columns = [aligned(h, texts) for h, texts in zip(self.headers, numbers, strict=False)]
            columns.append([self.headers[-1], *names])
            lines += ["  ".join(["", *row]).rstrip() for row in zip(*columns, strict=True)]
        if self.footer:
            lines.append(self.footer)
        return "\n".join(lines)

    def as_html(self) -> str:
        """Write the table as HTML for notebooks; every text is escaped."""
        last = len(self.headers) - 1
        head = "".join(_cell("th", text, j == last) for j, text in enumerate(self.headers))
        body = "".join(
            "<tr>" + "".join(_cell("td", text, j == last) for j, text in enumerate(row)) + "</tr>"
            for row in self.rows
        )
        footer = f"<p>{html.escape(self.footer)}</p>" if self.footer else ""
        return (
            f"<div><p><strong>{html.escape(self.title)}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{footer}</div>"
        )


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


def format_set(names: Iterable[object], width: int = SET_WIDTH) -> str:
    """Write an itemset as '{a, b, c}'; names that do not fit are counted: '{a, b, +7}'."""
    shown = [format_name(name) for name in names]
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


def format_rule(antecedents: Iterable[object], consequents: Iterable[object], width: int = SET_WIDTH) -> str:
    """Write a rule as '{a, b} -> {c}'."""
    follows = format_set(consequents, width // 2)
    return f"{format_set(antecedents, width - len(follows) - 4)} -> {follows}"


def shown_of(n_shown: int, n: int) -> str:
    """Say how many rows a table leaves out, or nothing if it shows all."""
    return f"... {n - n_shown:,} more" if n > n_shown else ""


def joined(parts: Sequence[str]) -> str:
    """Join the parts of a title that are not empty."""
    return ", ".join(part for part in parts if part)


def _cell(tag: str, text: str, is_name: bool) -> str:
    return f'<{tag} style="text-align: {"left" if is_name else "right"}">{html.escape(text)}</{tag}>'
