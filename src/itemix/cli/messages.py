"""Messages of the library and of typer, in the words of the command line."""

import re
from typing import Any

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
            "gamma", "given", "given_absent", "header", "include", "init", "item", "level",
            "max_antecedent_len", "max_consequent_len", "max_itemsets", "max_iter", "max_len",
            "max_rules", "method", "metric", "min_antecedent_len", "min_consequent_len", "min_len",
            "min_support", "min_threshold", "names", "part", "support_only", "target", "thin", "tol",
            "top_k", "train", "transaction",
        )
    },
}  # fmt: skip
_ASSIGNED = re.compile(rf"\b({'|'.join(_OPTION_OF)})=(?:'([^']*)'|([\w.,]*\w))?")
_NAMED = re.compile(rf"(?<![-\w])({'|'.join(name for name in _OPTION_OF if '_' in name)})(?![\w=])")


def in_options(message: str) -> str:
    """Say ``--max-len 3`` for the library's ``max_len=3``, and ``--max-len`` for its ``max_len``."""

    def option(match: re.Match[str]) -> str:
        name, quoted, plain = match.groups()
        value = quoted if quoted is not None else plain
        if value == "True":
            value = None
        shown = f"'{value}'" if value is not None and re.search(r"[\s\\;|]", value) else value
        return _OPTION_OF[name] if shown is None else f"{_OPTION_OF[name]} {shown}"

    message = _ASSIGNED.sub(option, message)
    return _NAMED.sub(lambda match: _OPTION_OF[match[1]], message)


def of_usage_error(error: Any) -> str:  # noqa: ANN401 - of typer's own click
    """Say what typer found wrong with the arguments, on one line, and where the help is."""
    text = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "itemix"
    return f"{text[:1].lower()}{text[1:]}; see {command} --help"
