"""A page of headings, sentences and tables, drawn by rich on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from itemix.core.display import Table

_WIDTH_IN_PIPES = 100
_ACCENT = "cyan"
_BAR_WIDTH = 16
_PADDING = 2
_LEAST_CROPPED = 10
_LEAST_FOLDED = 16
_LEAST_BESIDE_BARS = 30


class Page:
    """Writes to standard output, with colours and lines on a terminal and without any elsewhere."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._is_plain = not self._console.is_terminal
        self._draws_bars = not self._is_plain and self._console.encoding.startswith("utf")
        if self._is_plain:
            self._console = Console(highlight=False, width=_WIDTH_IN_PIPES, color_system=None)

    def heading(self, text: str, aside: str = "") -> None:
        """Begin a section; the aside follows the heading in a quieter tone."""
        self._print(Text.assemble("\n", (text, f"bold {_ACCENT}"), (f"   {aside}" if aside else "", "dim")))

    def text(self, markup: str) -> None:
        """Write a sentence; it may have rich's markup."""
        self._print(Padding(Text.from_markup(markup), (0, 0, 0, 1)))

    def command(self, line: str, why: str) -> None:
        """Show a command to try, and what it is for."""
        self._print(Text.assemble((f"  # {why}\n", "dim"), ("  $ ", "dim"), (line, "bold")))

    def table(self, table: Table, bars: Sequence[float] = (), *, crop: bool = False) -> None:
        """Draw a table.

        Parameters
        ----------
        table : Table
            What to draw.
        bars : sequence of float
            On a terminal with room for them, how long the bar of each row is, as a fraction.
        crop : bool
            Whether the last column is cut where the line ends, or left out where there is no room for it.
        """
        if not table.rows:
            self.text("none")
            return
        *columns, names = table.columns()
        widths = [max(map(len, column)) for column in columns]
        room = self._console.width - sum(widths) - _PADDING * (len(widths) + 1)
        has_bars = bool(bars) and self._draws_bars and room - _BAR_WIDTH - _PADDING >= _LEAST_BESIDE_BARS
        if has_bars:
            columns.append(["", *map(_bar, bars)])
            widths.append(_BAR_WIDTH)
        if not crop and room < _LEAST_FOLDED:
            self._draw_in_two_lines(columns, names)
        else:
            self._draw(columns, names, widths, has_bars=has_bars, room=room if crop else None)
        if table.footer:
            self._print(Text(f" {table.footer}", style="dim"))

    def _draw(
        self,
        columns: Sequence[Sequence[str]],
        names: Sequence[str],
        widths: Sequence[int],
        *,
        has_bars: bool,
        room: int | None,
    ) -> None:
        """Draw columns of numbers and one of names, which are cropped where there is only some room."""
        drawn = RichTable(box=None, header_style="dim")
        for column, width in zip(columns, widths, strict=True):
            is_bar = has_bars and column is columns[-1]
            drawn.add_column(column[0], style=_ACCENT if is_bar else "", no_wrap=True, min_width=width)
        is_named = room is None or room >= _LEAST_CROPPED
        if is_named:
            drawn.add_column(names[0], overflow="fold")
        for position, name in enumerate(names[1:], start=1):
            last = [Text(name if room is None else _cropped(name, room))] if is_named else []
            drawn.add_row(*(Text(column[position]) for column in columns), *last)
        self._print(drawn)

    def _draw_in_two_lines(self, columns: Sequence[Sequence[str]], names: Sequence[str]) -> None:
        """Draw each row as its numbers, and its names on the next lines: for narrow terminals."""
        for position, name in enumerate(names):
            style = "" if position else "dim"
            self._print(Text(" " + "  ".join(column[position] for column in columns), style=style))
            self._print(Padding(Text(name, style=style), (0, 0, 0, 3)))

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
