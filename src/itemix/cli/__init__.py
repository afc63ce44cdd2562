"""The command line: one module for each command, and `main`, which turns errors into one line and a code.

Nothing heavy is imported before a command runs, so that ``itemix --help`` is quick. Hardly anything is
imported before `watch` is called, so that Ctrl-C works from the beginning.
"""

from __future__ import annotations

import gc
import io
import os
import sys

try:
    from itemix.cli.ctrl_c import BAD_INPUT, BROKEN_PIPE, INTERRUPTED, watch
except KeyboardInterrupt:
    os._exit(130)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Imports make objects that stay. Looking for garbage among them again and again takes 5% of a short run.
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
        The exit code: 0, 2 for bad input, 130 after Ctrl-C, 141 if nobody reads the output any more.
    """
    if arguments is None:
        watch()
    gc.set_threshold(_NEW_OBJECTS_PER_COLLECTION)
    _replace_closed_streams()
    _escape_what_cannot_be_written()
    try:
        from itemix.cli.app import run

        code = run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = BROKEN_PIPE
    except OSError as error:  # mostly a full disk: for other trouble the library has its own errors
        code = BAD_INPUT
        _drop_what_nobody_reads()
        where = "standard output" if error.filename is None else repr(error.filename)
        sys.stderr.write(
            f"itemix: expected to write to {where}, got {error.strerror or error}; make room there\n"
        )
    if code == INTERRUPTED:
        sys.stderr.write("itemix: interrupted\n")
    if code == BROKEN_PIPE:
        _drop_what_nobody_reads()
    if arguments is None:
        gc.freeze()  # saves the half second in which Python would look for garbage before it ends
    return code


def _replace_closed_streams() -> None:
    """Discard what is written to a closed stream, as `print` does."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()


def _nowhere() -> io.TextIOWrapper:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - pathlib takes longer to import


def _escape_what_cannot_be_written() -> None:
    """Write names that the encoding of a stream cannot hold as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_what_nobody_reads() -> None:
    """Discard what is still buffered: Python would complain about it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
