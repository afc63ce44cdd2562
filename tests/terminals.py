"""Programs on a real terminal: a pseudo-terminal that a test reads."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from typing import NamedTuple


class Shown(NamedTuple):
    """What a program has shown on its terminal, and its exit code."""

    code: int
    text: str


def run_on_terminal(command, *, columns=80, env=None, streams=("stdout", "stderr"), **options):
    """Run a program whose streams are a terminal of some width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    environment = {**inherited, "TERM": "xterm-256color", "NO_COLOR": "", **(env or {})}
    chosen = {**options, **dict.fromkeys(streams, theirs)}
    with subprocess.Popen(command, env=environment, **chosen) as process:  # noqa: S603 - our own program
        os.close(theirs)
        shown = b"".join(_blocks(ours)).decode()
    os.close(ours)
    return Shown(process.returncode, shown)


def _blocks(terminal):
    """Read a terminal until the program that writes to it has ended."""
    while True:
        try:
            block = os.read(terminal, 4096)
        except OSError:  # what Linux says when the other side is closed
            return
        if not block:
            return
        yield block
