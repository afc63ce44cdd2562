"""Messages of the library and of typer, in the words of the command line."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTION_OF = {
    "antecedents": "--antecedent",
    "consequents": "--consequent",
    "n_components": "--components",
    "n_init": "--starts",
    "n_jobs": "--threads",
    "random_state": "--seed",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "absent", "alpha", "beta", "criterion", "data", "delimiter", "encoding", "exclude", "format",
            "gamma", "given", "given_absent", "header", "include", "init", "item", "itemset_len",
            "itemset_support", "level",
            "max_antecedent_len", "max_consequent_len", "max_itemsets", "max_iter", "max_len",
            "max_rules", "method", "metric", "min_antecedent_len", "min_consequent_len", "min_len",
            "edge_cost", "min_support", "min_threshold", "names", "part", "pooling", "smoothing",
            "support_only", "target", "thin", "tol", "top_k", "train", "transaction",
        )
    },
}  # fmt: skip
_ASSIGNED = re.compile(rf"\b({'|'.join(_OPTION_OF)})=(?:'([^']*)'(?: or '([^']*)')?|([\w.,]*\w))?")
_NAMED = re.compile(rf"(?<![-\w])({'|'.join(name for name in _OPTION_OF if '_' in name)})(?![\w=])")
# A plain word is the name of an argument only where a message begins with it: "expected alpha above 0".
_EXPECTED = re.compile(
    rf"^expected ({'|'.join(name for name in _OPTION_OF if '_' not in name)})(?= (?:above|of|as|to) )"
)


def in_options(message: str) -> str:
    """Say ``--max-len 3`` for the library's ``max_len=3``, and ``--max-len`` for its ``max_len``."""

    def option(match: re.Match[str]) -> str:
        name, quoted, other, plain = match.groups()
        value = quoted if quoted is not None else plain
        if value == "True":
            value = None
        shown = f"'{value}'" if value is not None and re.search(r"[\s\\;|]", value) else value
        said = _OPTION_OF[name] if shown is None else f"{_OPTION_OF[name]} {shown}"
        return said if other is None else f"{said} or {other}"

    message = _ASSIGNED.sub(option, message).replace("datasets.available() lists", "itemix datasets lists")
    message = _EXPECTED.sub(lambda match: f"expected {_OPTION_OF[match[1]]}", message)
    return _NAMED.sub(lambda match: _OPTION_OF[match[1]], message)


def of_usage_error(error: Any, arguments: Sequence[str] = ()) -> str:  # noqa: ANN401 - of typer's own click
    """Say what typer found wrong with the arguments, on one line: what was expected, what was got."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "itemix"
    text = " ".join(error.format_message().split()).rstrip(".")
    said, hint = _of_parameter(error, text, arguments) or _of_command(text, command)
    return f"{said}; {hint or f'see {command} --help'}"


def _of_parameter(error: Any, text: str, arguments: Sequence[str]) -> tuple[str, str] | None:  # noqa: ANN401
    """Return what was expected of an option and what was got, and what to try if that is known."""
    kind = type(error).__name__
    if kind == "NoSuchOption":
        near = get_close_matches(error.option_name, error.possibilities or (), n=1)
        return f"expected a known option, got {error.option_name}", f"try {near[0]}" if near else ""
    if kind == "MissingParameter":
        return f"expected {_name_of(error.param)}, got none", ""
    if kind == "BadParameter" and error.param is not None:
        number = "a whole number" if "integer" in text else "a number"
        got = _value_of(error.param.opts, arguments)
        return f"expected {_name_of(error.param)} as {number}, got {got!r}", ""
    return None


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


def _name_of(parameter: Any) -> str:  # noqa: ANN401 - as above
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
