"""The output of commands: files, tables on a terminal, lines in a pipe; and notes on standard error."""

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

    from itemix.cli.options import Output
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
        from itemix.core.tables import check_path

        check_path(output.output)


def save(result: Tabular, noun: str, output: Output) -> bool:
    """Write a result to the file that was asked for, if one was, and say so; - is standard output."""
    if output.output is None and not output.is_stream:
        return False
    from itemix.core.display import plural

    path = output.output or ""
    if output.is_stream:
        text = result.to_json() if output.json else result.to_csv(sets=output.sets, metadata=output.metadata)
        sys.stdout.write(text)
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
        from itemix.cli.page import Page

        table = dataclasses.replace(shown.table(n), title="", footer=more_rows(len(itemsets) - n))
        Page().table(table, bars=(shown.support / max(shown.support.max(initial=0), 1e-300)).tolist())
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
        from itemix.cli.page import Page

        footer = more_rows(len(result) - n)
        Page().table(dataclasses.replace(result.table(n, width=None), title="", footer=footer))
        return
    columns = result.head(n).to_arrow().to_pydict()
    write_rows(list(columns), zip(*columns.values(), strict=True), as_json=False)


def _draw_rules(shown: Rules, extra: list[str], n_left_out: int) -> None:
    from itemix.cli.page import Page
    from itemix.core.display import format_number

    table = shown.table(len(shown))
    cells = [[format_number(value) for value in shown.measure(name)] for name in extra]
    rows = tuple((*(column[r] for column in cells), *row) for r, row in enumerate(table.rows))
    headers = (*extra, *table.headers)
    Page().table(
        dataclasses.replace(table, title="", headers=headers, rows=rows, footer=more_rows(n_left_out))
    )


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
