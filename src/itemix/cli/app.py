"""The program `itemix`: all its commands, and the one line in which any error ends."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING, Annotated, Any

import typer

import itemix
from itemix.cli.compare import compare, summarise, surprises, unusual
from itemix.cli.ctrl_c import BAD_INPUT, BROKEN_PIPE, INTERRUPTED
from itemix.cli.datasets import app as datasets
from itemix.cli.demo import demo
from itemix.cli.evaluate import evaluate
from itemix.cli.explore import explore, report, serve
from itemix.cli.fit import fit
from itemix.cli.mine import mine
from itemix.cli.options import SectionedCommand, grouped, in_options, of_usage_error
from itemix.cli.query import query
from itemix.cli.recommend import recommend
from itemix.cli.rules import rules
from itemix.cli.show import show
from itemix.cli.warmup import warmup
from itemix.errors import ItemixError

if TYPE_CHECKING:
    from collections.abc import Sequence

# The base class of usage errors: in the copy of click inside typer, or in click for earlier versions.
_UsageProblem: type[Any] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="itemix",
    rich_markup_mode=None,  # plain help: rich would double the time it takes, and draw boxes into pipes
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = (
    *(mine, rules, compare, fit, show, query, recommend, evaluate, surprises, summarise, unusual),
    *(report, explore, serve, demo, warmup),
)
for _command in _COMMANDS:
    app.command(cls=SectionedCommand)(grouped(_command))
app.add_typer(datasets, name="datasets")


@app.callback(invoke_without_command=True, epilog="itemix COMMAND --help says more about each command.")
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Itemsets, rules and mixture models of transactions."""
    if version:
        typer.echo(f"itemix {itemix.__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; of bad input it says in one line what is wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=given, prog_name="itemix", standalone_mode=False)
    except ItemixError as error:
        return _refuse(in_options(str(error)))
    except _UsageProblem as error:
        return _refuse(of_usage_error(error, given))
    except typer.Abort:
        return INTERRUPTED
    except MemoryError as memory:
        return _refuse(f"expected enough memory, got none left; {_relief(memory)}")
    except SystemExit as stop:  # from shell completion, and from typer if nobody reads the output any more
        return BROKEN_PIPE if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)
    return code if isinstance(code, int) else 0


def _relief(error: MemoryError) -> str:
    """Say what would take less memory."""
    frames = traceback.extract_tb(error.__traceback__)
    if any("/itemix/io/" in frame.filename.replace(os.sep, "/") for frame in frames):
        return "try a part of the file, or mine a model with --verify, which reads in chunks"
    return "try a higher --min-support, or --max-len"


def _refuse(message: str) -> int:
    sys.stdout.flush()
    sys.stderr.write(f"itemix: {' '.join(message.split())}\n")
    return BAD_INPUT
