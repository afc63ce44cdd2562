"""The output of commands: files, tables on a terminal, lines in a pipe; and notes on standard error.

At the end is a page of headings, sentences and tables. Rich draws it, and is imported only then.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import time
from contextlib import contextmanager
from itertools import islice, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from itemix.cli.options import Output
    from itemix.core.display import Table
    from itemix.core.itemsets import Itemsets
    from itemix.core.results import Tabular
    from itemix.core.sets import Sets
    from itemix.mining.rules import Rules


ROWS_ON_TERMINAL = 20
_LINES_AT_ONCE = 1000


def note(message: str, *, quiet: bool) -> None:
    """Say something on standard error, unless the command is to be quiet."""
    if not quiet:
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()


def on_terminal() -> bool:
    """Whether people read the output, not a program or a file; FORCE_COLOR says that they do."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def check_output(output: Output) -> None:
    """Check that the file that was asked for can be written, before any long work."""
    if output.output is not None and not output.is_stream:
        from itemix.core.table_files import check_path

        check_path(output.output)


def save(result: Tabular, noun: str, output: Output) -> bool:
    """Write a result to the file that was asked for, if one was, and say so; - is standard output."""
    if output.output is None and not output.is_stream:
        return False
    from itemix.core.display import plural

    path = output.output or ""
    if output.is_stream:
        sys.stdout.flush()
        if output.json:
            result.to_json(sys.stdout.buffer)
        else:
            result.to_csv(sys.stdout.buffer, sets=output.sets, metadata=output.metadata)
        return True
    if path.lower().endswith((".csv", ".csv.gz")):
        result.to_csv(path, sets=output.sets, metadata=output.metadata)
    elif path.lower().endswith(".xlsx"):
        result.to_excel(path, sets=output.sets)
    else:
        result.save(path)
    note(f"wrote {plural(len(result), noun)} to {output.output}", quiet=output.quiet)
    return True


def rows_shown(n_rows: int, limit: int | None) -> int:
    """Return how many rows to show: at most `limit`; 0 is all, None is 20 on a terminal and all elsewhere."""
    if limit is None:
        limit = ROWS_ON_TERMINAL if on_terminal() else n_rows
    return n_rows if limit == 0 else min(limit, n_rows)


def more_rows(n_left_out: int) -> str:
    """Say how many rows a table leaves out, and how to get them; nothing if it has all."""
    return f"... {n_left_out:,} more: --limit 0 shows all, -o FILE writes them" if n_left_out else ""


def write_rows(headers: Sequence[str], rows: Iterable[Sequence[object]], *, as_json: bool) -> None:
    """Write rows of numbers, names and lists of names: as lines with tabs, or as a JSON list of objects."""
    if not as_json:
        write_lines(headers, (list(map(in_a_line, row)) for row in rows))
        return
    import json

    lines = (
        json.dumps(dict(zip(headers, map(_finite, row), strict=True)), ensure_ascii=False) for row in rows
    )
    sys.stdout.write("[")
    before = "\n"
    for line in lines:
        sys.stdout.write(before + line)
        before = ",\n"
    sys.stdout.write("\n]\n" if before == ",\n" else "]\n")


def write_object(values: Mapping[str, object]) -> None:
    """Write one JSON object."""
    import json

    text = json.dumps({name: _finite(value) for name, value in values.items()}, ensure_ascii=False)
    sys.stdout.write(f"{text}\n")


def _finite(value: object) -> object:
    """Return what JSON can hold: neither NaN nor infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def in_a_line(value: object) -> str:
    """Write a cell for a pipe."""
    if isinstance(value, list | tuple):
        return ", ".join(map(cell, value))
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else cell(value) if isinstance(value, str) else str(value)


def write_lines(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a line for each row, with tabs between the cells, after a line of headers."""
    sys.stdout.write("\t".join(headers) + "\n")
    lines = ("\t".join(row) + "\n" for row in rows)
    while block := "".join(islice(lines, _LINES_AT_ONCE)):
        sys.stdout.write(block)


def cell(name: object) -> str:
    """Write a name whole, control characters escaped, in quotes as in CSV where it has a comma or quotes."""
    from itemix.core.display import format_name

    text = format_name(name, sys.maxsize)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def names_of(sets: Sets) -> Iterator[str]:
    """Yield the names of each set with commas between them, as `cell` writes them."""
    names = [cell(name) for name in sets.items]
    codes, offsets = sets.codes.tolist(), sets.offsets.tolist()
    for start, stop in pairwise(offsets):
        yield ", ".join([names[code] for code in codes[start:stop]])


MEASURES = ("lift", "all_confidence", "bond")
SORTS = ("support", "length", "order", *MEASURES)


def show_itemsets(itemsets: Itemsets, limit: int | None, sort: str = "order") -> None:
    """Show the first itemsets in some order."""
    n = rows_shown(len(itemsets), limit)
    shown = ordered(itemsets, sort, n)
    if on_terminal():
        table = _table(shown, n, len(itemsets) - n)
        bars = shown.support / max(shown.support.max(initial=0), 1e-300)
        Page().table(table, bars=bars.tolist() if table.headers[-1] == "itemset" else ())
        return
    measured = {name: shown.measure(name) for name in shown.measures}
    numbers = {"support": shown.support, "lower": shown.lower, "upper": shown.upper, **measured}
    columns = {
        name: [f"{value:.6g}" for value in values.tolist()]
        for name, values in numbers.items()
        if values is not None
    }
    if shown.count is not None:
        columns["count"] = [str(value) for value in shown.count.tolist()]
    write_lines([*columns, "itemset"], zip(*columns.values(), names_of(shown.sets), strict=True))


def show_rules(rules: Rules, limit: int | None) -> None:
    """Show the first rules, with the measure that selected them."""
    from itemix.mining.ruleset import usual_measures

    n = rows_shown(len(rules), limit)
    shown = rules[:n]
    usual = usual_measures(shown)
    extra = [name for name in (rules.metric,) if name is not None and name not in usual]
    if on_terminal():
        _draw_rules(shown, extra, len(rules) - n)
        return
    columns = {name: [f"{value:.6g}" for value in shown.measure(name).tolist()] for name in (*usual, *extra)}
    if shown.count is not None:
        columns["count"] = [str(value) for value in shown.count.tolist()]
    write_lines(
        [*columns, "antecedents", "consequents"],
        zip(*columns.values(), names_of(shown.antecedents), names_of(shown.consequents), strict=True),
    )


def show_table(result: Tabular, limit: int | None) -> None:
    """Show the first rows of any other result: its table on a terminal, all its columns in a pipe."""
    n = rows_shown(len(result), limit)
    if on_terminal():
        Page().table(_table(result, n, len(result) - n, whole=True))
        return
    columns = result.head(n).to_arrow().to_pydict()
    write_rows(list(columns), zip(*columns.values(), strict=True), as_json=False)


def _table(result: Tabular, n: int, n_left_out: int, *, whole: bool = False, beside: int = 0) -> Table:
    """Return the first rows as a table, in the columns of the table that items come from if there is room.

    Sets are written whole if that is asked for. `beside` is how many letters of a line other columns take.
    """
    from itemix.core.display import SET_WIDTH

    width = None if whole else SET_WIDTH
    table = dataclasses.replace(result.table(n, width=width), title="", footer="")
    if Page().width - beside < max(map(len, table.as_text().split("\n"))):
        table = dataclasses.replace(result.table(n, width=width, columns=False), title="")
    return dataclasses.replace(table, footer=more_rows(n_left_out))


def _draw_rules(shown: Rules, extra: list[str], n_left_out: int) -> None:
    from itemix.core.display import format_number

    table = _table(shown, len(shown), n_left_out, beside=sum(len(name) + _PADDING for name in extra))
    cells = [[format_number(value) for value in shown.measure(name)] for name in extra]
    rows = tuple((*(column[r] for column in cells), *row) for r, row in enumerate(table.rows))
    headers = (*extra, *table.headers)
    Page().table(dataclasses.replace(table, headers=headers, rows=rows))


def ordered(itemsets: Itemsets, sort: str, n: int | None) -> Itemsets:
    """Return the first n itemsets in some order, or all."""
    import numpy as np

    n = n or len(itemsets)
    if sort == "support":
        return itemsets.top(n)
    if sort in MEASURES:
        return itemsets.take(np.argsort(-itemsets.measure(sort), kind="stable")[:n])
    if sort == "length":
        return itemsets.take(np.lexsort((-itemsets.support, -itemsets.lengths))[:n])
    return itemsets[:n]


class Stopwatch:
    """Measures time, without the time in which kernels are compiled."""

    def __init__(self) -> None:
        from itemix.kernels import jit

        self._compilations = jit.compilations
        self._began = time.perf_counter() - jit.compilations.seconds

    def seconds(self) -> float:
        """Return the seconds so far that were not spent on compiling."""
        return max(time.perf_counter() - self._began - self._compilations.seconds, 0.0)


@contextmanager
def stopwatch(*, quiet: bool) -> Iterator[Stopwatch]:
    """Yield a stopwatch that starts now; if kernels have to be compiled, one line says so."""
    from itemix.kernels import jit

    if _forgo_matrix_products not in jit.before_loading:
        jit.before_loading.append(_forgo_matrix_products)
    was_quiet = jit.compilations.is_quiet
    jit.compilations.is_quiet = quiet
    try:
        yield Stopwatch()
    finally:
        jit.compilations.is_quiet = was_quiet


def _forgo_matrix_products() -> None:
    """Load what Numba loads for any kernel, but make it believe that there is no BLAS.

    To look for one, it imports all of SciPy's linear algebra, which takes a tenth of a command's time. No
    kernel of ours multiplies matrices.
    """
    blas = "scipy.linalg.cython_blas"
    if blas in sys.modules:
        return
    sys.modules[blas] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[blas]


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
        from rich.console import Console

        self._console = Console(highlight=False)
        self._is_plain = not self._console.is_terminal
        self._draws_bars = not self._is_plain and self._console.encoding.startswith("utf")
        if self._is_plain:
            self._console = Console(highlight=False, width=_WIDTH_IN_PIPES, color_system=None)

    @property
    def width(self) -> int:
        """How many letters a line has room for."""
        return self._console.width

    def heading(self, text: str, aside: str = "") -> None:
        """Begin a section; the aside follows the heading in a quieter tone."""
        from rich.text import Text

        self._print(Text.assemble("\n", (text, f"bold {_ACCENT}"), (f"   {aside}" if aside else "", "dim")))

    def text(self, markup: str) -> None:
        """Write a sentence; it may have rich's markup."""
        from rich.padding import Padding
        from rich.text import Text

        self._print(Padding(Text.from_markup(markup), (0, 0, 0, 1)))

    def command(self, line: str, why: str) -> None:
        """Show a command to try, and what it is for."""
        from rich.text import Text

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
        from rich.text import Text

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
        if not crop and room < min(_LEAST_FOLDED, max(map(len, names))):
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
        from rich.table import Table as RichTable
        from rich.text import Text

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
        from rich.padding import Padding
        from rich.text import Text

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
