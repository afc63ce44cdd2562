"""What people read: headings, sentences and tables, drawn by rich on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rich.console import JustifyMethod, RenderableType

    from itemix.display import Table

_WIDTH_IN_PIPES = 100
_ACCENT = "cyan"
_BAR_WIDTH = 16
_PADDING = 2
_LEAST_CROPPED = 10


class Page:
    """Writes to standard output, with colours and lines on a terminal and without any elsewhere."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._is_plain = not self._console.is_terminal
        if self._is_plain:
            self._console = Console(highlight=False, width=_WIDTH_IN_PIPES, color_system=None)

    def heading(self, text: str, aside: str = "") -> None:
        """Begin a section; what is aside comes after the heading in a quieter tone."""
        self._print(Text.assemble("\n", (text, f"bold {_ACCENT}"), (f"   {aside}" if aside else "", "dim")))

    def text(self, markup: str) -> None:
        """Write a sentence; it may have rich's markup."""
        self._print(Padding(Text.from_markup(markup), (0, 0, 0, 1)))

    def command(self, line: str, why: str) -> None:
        """Show a command to try, and what it is for."""
        self._print(Text.assemble((f"  # {why}\n", "dim"), ("  $ ", "dim"), (line, "bold")))

    def table(
        self, table: Table, bars: Sequence[float] = (), *, words: Collection[str] = (), crop: bool = False
    ) -> None:
        """Draw a table.

        Parameters
        ----------
        table : Table
            What to draw; its last column is of words, the others are of numbers.
        bars : sequence of float
            On a terminal, how long the bar of each row is, as a fraction.
        words : names of columns
            Other columns of words.
        crop : bool
            Whether the last column is cut where the line ends.
        """
        drawn = RichTable(box=None, header_style="dim")
        *others, last = table.headers
        widths = [max(len(row[j]) for row in [table.headers, *table.rows]) for j in range(len(others))]
        for header, width in zip(others, widths, strict=True):
            justify: JustifyMethod = "left" if header in words else "right"
            drawn.add_column(header, justify=justify, no_wrap=True, min_width=width)
        if bars and not self._is_plain:
            drawn.add_column(style=_ACCENT, no_wrap=True, min_width=_BAR_WIDTH)
            widths.append(_BAR_WIDTH)
        drawn.add_column(last, overflow="fold")
        room = max(self._console.width - sum(widths) - _PADDING * (len(widths) + 1), _LEAST_CROPPED)
        for position, row in enumerate(table.rows):
            bar = [_bar(bars[position])] if bars and not self._is_plain else []
            text = _cropped(row[-1], room) if crop else row[-1]
            drawn.add_row(*map(Text, row[:-1]), *bar, Text(text))
        self._print(drawn)
        if table.footer:
            self._print(Text(f" {table.footer}", style="dim"))

    def _print(self, what: RenderableType) -> None:
        if not self._is_plain:
            self._console.print(what)
            return
        with self._console.capture() as captured:
            self._console.print(what)
        sys.stdout.write("\n".join(line.rstrip() for line in captured.get().split("\n")))


def _cropped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _bar(fraction: float) -> str:
    halves = round(min(max(fraction, 0.0), 1.0) * _BAR_WIDTH * 2)
    return "━" * (halves // 2) + "╸" * (halves % 2)
