"""What the benchmarks that write a page share: their command line, and where the page goes."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def page_parser(description: str) -> argparse.ArgumentParser:
    """Return a command line with the folder of the data sets and the file of the page."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ITEMIX_DATA"), help="folder of the data sets"
    )
    parser.add_argument("--output", type=Path, help="write the page to this Markdown file")
    return parser


def parse(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, Path]:
    """Return what was asked for, and the folder of the data sets; without one, say so and end."""
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("expected the folder of the data sets: --data FOLDER, or set ITEMIX_DATA")
    return arguments, Path(arguments.data)


def publish(page: str, output: Path | None) -> None:
    """Print a page, and write it where that was asked for."""
    print(page)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page)
