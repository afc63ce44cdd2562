"""The program `itemix`: all its commands, and the one line in which any error ends."""

from __future__ import annotations

import os
import re
import sys
import traceback
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

import itemix
from itemix.cli.ask import query, recommend, show
from itemix.cli.compare import compare, summarise, surprises, unusual
from itemix.cli.ctrl_c import BAD_INPUT, BROKEN_PIPE, INTERRUPTED
from itemix.cli.datasets import app as datasets
from itemix.cli.datasets import demo
from itemix.cli.evaluate import evaluate
from itemix.cli.explore import explore, mcp, report, serve
from itemix.cli.fit import fit
from itemix.cli.mine import mine, rules
from itemix.cli.options import Click, SectionedCommand, grouped, in_options
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
    *(report, explore, serve, mcp, demo, warmup),
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
        return _refuse(_of_usage_error(error, given))
    except typer.Abort:
        return INTERRUPTED
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        if (said := _said_of_memory(error)) is None:
            raise
        return _refuse(said)
    except SystemExit as stop:  # from shell completion, and from typer if nobody reads the output any more
        return BROKEN_PIPE if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)
    return code if isinstance(code, int) else 0


# What other programs call an option.
_CALLED_ELSEWHERE = {
    **dict.fromkeys(("--confidence", "--conf", "--min-confidence", "--min-conf"), "--min-threshold"),
    **dict.fromkeys(("--filter", "--query"), "--where"),
}
_LIKE_AN_OPTION = 0.75


def _of_usage_error(error: Click, arguments: Sequence[str] = ()) -> str:
    """Say what typer found wrong with the arguments, on one line: what was expected, what was got."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "itemix"
    text = " ".join(error.format_message().split()).rstrip(".")
    said, hint = _of_parameter(error, text, arguments) or _of_command(text, command)
    return f"{said}; {hint or f'see {command} --help'}"


def _of_parameter(error: Click, text: str, arguments: Sequence[str]) -> tuple[str, str] | None:
    """Return what was expected of an option and what was got, and what to try if that is known."""
    kind = type(error).__name__
    if kind == "NoSuchOption":
        context = getattr(error, "ctx", None)
        known = [name for parameter in context.command.params for name in parameter.opts] if context else []
        near = _option_like(error.option_name, known)
        return f"expected a known option, got {error.option_name}", f"try {near}" if near else ""
    if kind == "MissingParameter":
        return f"expected {_name_of(error.param)}, got none", ""
    if kind == "BadParameter" and error.param is not None:
        number = "a whole number" if "integer" in text else "a number"
        got = _value_of(error.param.opts, arguments)
        return f"expected {_name_of(error.param)} as {number}, got {got!r}", ""
    return None


def _option_like(name: str, known: Sequence[str]) -> str | None:
    """Return the option that was probably meant: one that begins alike, or is spelt almost so."""
    elsewhere = _CALLED_ELSEWHERE.get(name)
    if elsewhere in known:
        return elsewhere
    begins = [option for option in known if option.startswith(name) or name.startswith(f"{option}-")]
    return next(iter(begins or get_close_matches(name, known, n=1, cutoff=_LIKE_AN_OPTION)), None)


def _of_command(text: str, command: str) -> tuple[str, str]:
    """Return what was expected of the whole command and what was got, and what to try if that is known."""
    if match := re.match(r"No such command '(.*?)'(?:\. Did you mean '(.*?)')?", text):
        near = match[2] or (f"show {match[1]}" if _is_dataset(match[1], command) else "")
        return f"expected a command, got {match[1]!r}", f"try {command} {near}" if near else ""
    if match := re.match(r"Option '(.*?)' requires an argument", text):
        return f"expected a value after {match[1]}, got none", ""
    if match := re.match(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", text):
        return f"expected no more arguments, got {match[1]!r}", "put quotes around names with blanks"
    return f"{text[:1].lower()}{text[1:]}", ""


def _is_dataset(name: str, command: str) -> bool:
    from itemix.data.catalogue import CATALOGUE

    return command == "itemix datasets" and name in CATALOGUE


def _name_of(parameter: Click) -> str:
    """Return what a parameter is called: an argument by the word for it, an option by its long name."""
    return str(parameter.metavar if parameter.param_type_name == "argument" else parameter.opts[0])


def _value_of(names: Sequence[str], arguments: Sequence[str]) -> str:
    """Return what was given for an option, as it was typed."""
    for position, argument in enumerate(arguments):
        for name in names:
            if argument == name:
                return arguments[position + 1] if position + 1 < len(arguments) else ""
            if argument.startswith(f"{name}=") or (not name.startswith("--") and argument.startswith(name)):
                return argument.removeprefix(name).removeprefix("=")
    return ""


# What helps where memory ends, by the folder whose code ran. Searches may be reading, so reading comes first.
_RELIEFS = {
    "io": "try a part of the file, shorter lines, or mine a model with --verify, which reads in chunks",
    "inference": "try a lower --components, or a part of the transactions",
    "mining": "try a higher --min-support, or --max-len",
}
# What the system says where a library, or the stack of a thread, finds no room.
_NO_ROOM = ("failed to map segment", "cannot allocate memory", "can't start new thread")


def _said_of_memory(error: Exception) -> str | None:
    """Say what would help if memory has ended; None if an error says something else."""
    if isinstance(error, MemoryError):
        return f"expected enough memory, got none left; {_relief(error)}{_or_raise_the_limit()}"
    if _is_lack_of_room(error):
        need = "expected enough memory to load the libraries, got too little"
        return f"{need}; close other programs{_or_raise_the_limit()}"
    return None


def _relief(error: MemoryError) -> str:
    """Say what would take less memory."""
    frames = traceback.extract_tb(error.__traceback__)
    files = " ".join(frame.filename.replace(os.sep, "/") for frame in frames)
    helping = (advice for folder, advice in _RELIEFS.items() if f"/itemix/{folder}/" in files)
    return next(helping, "try a part of the transactions, or leave out rare items")


def _is_lack_of_room(error: BaseException | None) -> bool:
    """Return whether an error, or one that led to it, says that a library or a thread had no room."""
    while error is not None:
        if any(words in str(error).lower() for words in _NO_ROOM):
            return True
        error = error.__cause__ or error.__context__
    return False


def _or_raise_the_limit() -> str:
    """Name the limit of addresses, if this process has one."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return ""
    is_limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return ", or raise the limit of this process (ulimit -v)" if is_limited else ""


def _refuse(message: str) -> int:
    sys.stdout.flush()
    sys.stderr.write(f"itemix: {' '.join(message.split())}\n")
    return BAD_INPUT
