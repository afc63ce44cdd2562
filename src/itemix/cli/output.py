"""How results leave: to a file, as a table on a terminal, as lines in a pipe; notes on standard error."""

from __future__ import annotations

import os
import sys
from itertools import islice, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from itemix.cli.options import Output
    from itemix.core.itemsets import Itemsets
    from itemix.core.sets import Sets
    from itemix.mining.rules import Rules

ROWS_ON_TERMINAL = 20
_LINES_AT_ONCE = 1000


def note(message: str, *, quiet: bool) -> None:
    """Say something on standard error, unless it should be quiet."""
    if not quiet:
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()


def on_terminal() -> bool:
    """Whether people read the output, rather than a program or a file (FORCE_COLOR says that they do)."""
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def check_output(output: Output) -> None:
    """Check that the file that was asked for can be written, before long work is done for it."""
    if output.output is not None:
        from itemix.core.tables import check_path

        check_path(output.output)


def save(result: Itemsets | Rules, noun: str, output: Output) -> bool:
    """Write a result to the file that was asked for, if one was, and say so."""
    if output.output is None:
        return False
    from itemix.core.display import plural

    result.save(output.output)
    note(f"wrote {plural(len(result), noun)} to {output.output}", quiet=output.quiet)
    return True


def rows_shown(n_rows: int, limit: int | None) -> int:
    """Return how many of the rows are to be shown, of which `limit` is the most: 0 is all, None as usual."""
    if limit is None:
        limit = ROWS_ON_TERMINAL if on_terminal() else n_rows
    return n_rows if limit == 0 else min(limit, n_rows)


def more_rows(n_left_out: int) -> str:
    """Say how many rows a table leaves out, and how to get them; nothing if it has all."""
    return f"... {n_left_out:,} more: --limit 0 shows all, -o FILE writes them" if n_left_out else ""


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
