"""The command line: one module for each command, and `main`, which turns errors into one line and a code.

Nothing heavy is imported before a command runs, so that ``itemix --help`` is quick.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

# Imports make objects that stay: looking for garbage among them again and again takes 5% of a short run.
_NEW_OBJECTS_PER_COLLECTION = 50_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What comes after the name of the program; by default what it was started with.

    Returns
    -------
    int
        The exit code: 0, 2 for bad input, 130 after Ctrl-C, 141 where nobody reads the output any more.
    """
    gc.set_threshold(_NEW_OBJECTS_PER_COLLECTION)
    try:
        from itemix.cli.app import run

        code = run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = BROKEN_PIPE
    if code == INTERRUPTED:
        sys.stderr.write("itemix: interrupted\n")
    if code == BROKEN_PIPE:
        _drop_what_nobody_reads()
    return code


def _drop_what_nobody_reads() -> None:
    """Let what is still buffered go nowhere: Python would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
