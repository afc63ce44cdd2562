"""The options that several commands share: declared, completed, and named in help and messages.

A dataclass of options, such as `Reading`, stands for its fields: `grouped` unfolds it for typer.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from itemix._files import is_stream
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from itemix.core.binning import Bins, BinsLike

Click = Any
"""An object of click: typer has a copy of its own, or uses the package, depending on its version."""

# The option for each argument of the library that its messages name.
_OPTION_OF = {
    "antecedents": "--antecedent",
    "consequents": "--consequent",
    "n_components": "--components",
    "n_causes": "--components",
    "n_states": "--components",
    "n_init": "--starts",
    "n_jobs": "--threads",
    "random_state": "--seed",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "about", "absent", "alpha", "beta", "bins", "columns", "counts", "criterion", "data", "delimiter",
            "drop", "drop_missing",
            "encoding", "exclude", "format",
            "gamma", "given", "given_absent", "header", "include", "init", "item", "itemset_len",
            "itemset_support", "level", "max_components",
            "max_antecedent_len", "max_consequent_len", "max_itemsets", "max_iter", "max_len",
            "max_rules", "method", "metric", "missing", "min_antecedent_len", "min_consequent_len", "min_len",
            "edge_cost", "min_support", "min_threshold", "names", "part", "pooling", "smoothing",
            "quantity", "support_only", "target", "thin", "tol", "top_k", "train", "transaction", "upper",
            "where",
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
        if value in ("True", "False"):
            return _OPTION_OF[name] if value == "True" else f"--no-{_OPTION_OF[name][2:]}"
        shown = f"'{value}'" if value is not None and re.search(r"[\s\\;|]", value) else value
        said = _OPTION_OF[name] if shown is None else f"{_OPTION_OF[name]} {shown}"
        return said if other is None else f"{said} or {other}"

    message = _ASSIGNED.sub(option, message).replace("datasets.available() lists", "itemix datasets lists")
    message = _EXPECTED.sub(lambda match: f"expected {_OPTION_OF[match[1]]}", message)
    return _NAMED.sub(lambda match: _OPTION_OF[match[1]], message)


DATASET_PREFIX = "dataset:"


def one_of(choices: Iterable[str]) -> Callable[[], list[str]]:
    """Return a function that offers a few words to complete; typer keeps those that fit."""
    words = list(choices)
    return lambda: words


def dataset_names() -> list[tuple[str, str]]:
    """Offer the names of all data sets, each with what it is."""
    from itemix.data.catalogue import CATALOGUE

    return [(name, entry.description) for name, entry in CATALOGUE.items()]


def data_sources(incomplete: str) -> list[tuple[str, str]]:
    """Offer data sets after ``dataset``, and nothing otherwise: then the shell offers file names."""
    if not incomplete.startswith(DATASET_PREFIX.removesuffix(":")):
        return []
    return [(f"{DATASET_PREFIX}{name}", what) for name, what in dataset_names()]


class SectionedCommand(TyperCommand):
    """A command whose help names its arguments, and has a section for each panel that its options name."""

    def collect_usage_pieces(self, ctx: Click) -> list[str]:
        """Return what the line of usage names: the options, then the arguments in their order."""
        arguments: list[Any] = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return ["[OPTIONS]", *(a.metavar if a.required else f"[{a.metavar}]" for a in arguments)]

    def format_options(self, ctx: Click, formatter: Click) -> None:
        """Write the arguments, and the options section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        parameters: list[Any] = self.get_params(ctx)
        for parameter in parameters:
            if parameter.param_type_name == "argument":
                sections.setdefault("Arguments", []).append((parameter.metavar, parameter.help))
                continue
            record = parameter.get_help_record(ctx)
            if record is not None:
                title = getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command for typer of a function that takes dataclasses of options.

    Typer sees every field as an option of its own; the function gets the dataclass.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if dataclasses.is_dataclass(hints[name]):
            groups[name] = hints[name]
            # An option that two groups share, such as --where, is declared by the first of them.
            declared = {parameter.name for parameter in parameters}
            parameters += [field for field in _fields(hints[name]) if field.name not in declared]
        else:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name]))

    @functools.wraps(command)
    def flat(**values: object) -> None:
        options = {field.name for group in groups.values() for field in dataclasses.fields(group)}
        given = {name: value for name, value in values.items() if name not in options}
        for name, group in groups.items():
            given[name] = group(**{field.name: values[field.name] for field in dataclasses.fields(group)})
        command(**given)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _fields(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(group)
    ]


MISSING = ("skip", "item", "refuse")
TARGETS = ("all", "closed", "maximal", "generators")
FORMATS = ("fimi", "basket", "long", "onehot", "table", "parquet", "arrow", "jsonl")

SETS_AS = ("names", "json", "columns")

_WHICH = "Which itemsets"
_READING = "Reading"
_OUTPUT = "Output"


def option(*names: str, panel: str, **more: Any) -> Any:  # noqa: ANN401 - what typer takes and returns
    """Declare an option in a section of the help; its help says the default where that is of interest."""
    return typer.Option(*names, rich_help_panel=panel, show_default=False, **more)


SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        show_default=False,
        autocompletion=data_sources,
        help="A file of transactions, - for standard input, or dataset:NAME (see itemix datasets).",
    ),
]


ModelOrData = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        show_default=False,
        autocompletion=data_sources,
        help="A model that itemix fit has saved; or transactions: a file, - or dataset:NAME.",
    ),
]
Group = Annotated[
    str | None,
    option(
        "--group",
        panel="Of whom",
        metavar="LABEL",
        help="Ask for one group of a model that itemix fit --groups has made: a customer, a store, a month.",
    ),
]
Quiet = Annotated[
    bool, option("--quiet", "-q", panel=_OUTPUT, help="Say nothing on standard error but errors.")
]


AsJson = Annotated[bool, option("--json", panel=_OUTPUT, help="Write JSON to standard output.")]


@dataclass(frozen=True)
class Reading:
    """How the file of transactions is to be read."""

    format: Annotated[
        str | None,
        option(
            "--format",
            "-f",
            panel=_READING,
            metavar="|".join(FORMATS),
            autocompletion=one_of(FORMATS),
            help="The format of the file; recognised by default.",
        ),
    ] = None
    encoding: Annotated[
        str,
        option(
            "--encoding",
            panel=_READING,
            metavar="NAME",
            help="The encoding of text files; utf-8 by default.",
        ),
    ] = "utf-8"
    delimiter: Annotated[
        str | None,
        option(
            "--delimiter",
            "-d",
            panel=_READING,
            metavar="CHARACTER",
            help="The character between the cells of CSV (\\t for a tab); recognised by default.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        option(
            "--header/--no-header",
            panel=_READING,
            help="Whether the first line of CSV names the columns; recognised by default.",
        ),
    ] = None
    transaction: Annotated[
        list[str] | None,
        option(
            "--transaction",
            panel=_READING,
            metavar="COLUMN",
            help="Transactions of a long table; repeated for several columns that tell them apart together.",
        ),
    ] = None
    item: Annotated[
        str | None,
        option(
            "--item", panel=_READING, metavar="COLUMN", help="Items of a long table, or of a list column."
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        option(
            "--where",
            panel=_READING,
            metavar="CONDITION",
            help="Rows of a table that remain, such as 'Quantity > 0' or 'InvoiceNo not starts with C'; with "
            "itemix mine and rules also a condition on what is found, such as 'lift > 3'. May be repeated.",
        ),
    ] = None
    drop_missing: Annotated[
        bool,
        option("--drop-missing", panel=_READING, help="Leave out rows without a transaction or an item."),
    ] = False
    upper: Annotated[
        bool, option("--upper", panel=_READING, help="Put the names of items in upper case.")
    ] = False
    strip: Annotated[
        bool,
        option(
            "--strip/--no-strip", panel=_READING, help="Leave out blanks around names (the default), or not."
        ),
    ] = True
    counts: Annotated[
        str | None,
        option(
            "--counts",
            panel=_READING,
            metavar="COLUMN",
            help="The column of a table that says how many transactions each one stands for.",
        ),
    ] = None
    quantity: Annotated[
        str | None,
        option(
            "--quantity",
            panel=_READING,
            metavar="COLUMN",
            help="A column whose sum over a transaction is how often it counts.",
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        option(
            "--columns",
            panel=_READING,
            metavar="NAMES",
            help="Columns of a table that become items, with commas between them; may be repeated.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        option("--drop", panel=_READING, metavar="NAMES", help="Columns of a table to leave out."),
    ] = None
    bins: Annotated[
        list[str] | None,
        option(
            "--bins",
            panel=_READING,
            metavar="BINS",
            help="How numbers of a table are cut: quantile:5, width:5, step:10, value, or where bins begin "
            "(18,65); of one column age=18,65. May be repeated.",
        ),
    ] = None
    missing: Annotated[
        str,
        option(
            "--missing",
            panel=_READING,
            metavar="|".join(MISSING),
            autocompletion=one_of(MISSING),
            help="What a missing cell of a table is: no item (the default), an item, or an error.",
        ),
    ] = "skip"
    names: Annotated[
        str | None,
        option(
            "--names", panel=_READING, metavar="FILE", help="CSV with the codes of items and their names."
        ),
    ] = None

    def __post_init__(self) -> None:
        check_choice("--format", self.format, FORMATS)
        check_choice("--missing", self.missing, MISSING)

    def without_results(self, columns: Sequence[str]) -> tuple[Reading, list[str]]:
        """Divide the conditions: return options with those on rows, and those on columns of a result.

        Raises
        ------
        InvalidInputError
            If a condition cannot be read.
        """
        from itemix._checks import nearest
        from itemix.core.conditions import parsed
        from itemix.core.results import named_among

        is_table = self.transaction or self.item or self.format is not None
        rows: list[str] = []
        results: list[str] = []
        for text in self.where or ():
            named = [condition.column for condition in parsed(text)]
            of_result = [name for name in named if name.strip().replace(" ", "_") in columns]
            (results if of_result else rows).append(text)
            for name in named:
                if of_result or (not is_table and nearest(name, columns)):
                    named_among(name, columns)
        return dataclasses.replace(self, where=rows or None), results

    @property
    def learned(self) -> Bins | None:
        """The bins of what this is read beside, if it is a table and no option says how to cut it."""
        return self.__dict__.get("_learned")

    def cut_like(self, other: object) -> Reading:
        """Return options that cut the columns of a table as those of other data, or of a model, were."""
        value = getattr(other, "value", other)  # of a FittedModel
        items = getattr(value, "items", None)
        bins = getattr(getattr(value, "itemsets", None) if items is None else items, "bins", None)
        if bins is None or self.bins is not None or self.format != "table":
            return self
        same = dataclasses.replace(self)
        same.__dict__["_learned"] = bins
        return same

    def as_arguments(self) -> dict[str, Any]:
        """Return the arguments of `itemix.read_transactions`."""
        return {
            "format": self.format,
            "encoding": self.encoding,
            "delimiter": "\t" if self.delimiter in ("\\t", "tab") else self.delimiter,
            "header": self.header,
            "transaction": self.transaction or None,
            "item": self.item,
            "where": self.where or None,
            "drop_missing": self.drop_missing,
            "upper": self.upper,
            "strip": self.strip,
            "counts": self.counts,
            "quantity": self.quantity,
            "columns": listed(self.columns),
            "drop": listed(self.drop),
            "bins": as_bins(self.bins) if self.learned is None else self.learned,
            "missing": self.missing,
            "names": self._names,
        }

    @cached_property
    def _names(self) -> str | dict[str, str] | None:
        """The file of names; of a stream the names themselves, because several sources may need them."""
        if self.names is None or not is_stream(self.names):
            return self.names
        from itemix.io.read import read_names

        return read_names(self.names, self.encoding)


@dataclass(frozen=True)
class Searching:
    """Which itemsets are to be found."""

    min_support: Annotated[
        str | None,
        option(
            "--min-support",
            "-s",
            panel=_WHICH,
            metavar="SUPPORT",
            help="The least support: a fraction (0.01), a percentage (1%) or a whole number of transactions "
            "(20). Several with commas (1%,2%,5%): how many sets there are at each. Not needed with --top-k.",
        ),
    ] = None
    target: Annotated[
        str,
        option(
            "--target",
            "-t",
            panel=_WHICH,
            metavar="|".join(TARGETS),
            autocompletion=one_of(TARGETS),
            help="All frequent itemsets (the default), those without a superset of the same support, "
            "those without a frequent superset, or those without a subset of the same support.",
        ),
    ] = "all"
    min_len: Annotated[
        int, option("--min-len", panel=_WHICH, metavar="N", help="The fewest items of a set.")
    ] = 1
    max_len: Annotated[
        int | None, option("--max-len", panel=_WHICH, metavar="N", help="The most items of a set.")
    ] = None
    include: Annotated[
        list[str] | None,
        option(
            "--include",
            panel=_WHICH,
            metavar="ITEM",
            help="An item that every set must hold; may be repeated.",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        option(
            "--exclude",
            panel=_WHICH,
            metavar="ITEM",
            help="An item to leave out of the data; may be repeated.",
        ),
    ] = None
    top_k: Annotated[
        int | None,
        option("--top-k", "-k", panel=_WHICH, metavar="N", help="Only the N sets of the highest support."),
    ] = None
    max_itemsets: Annotated[
        int | None,
        option(
            "--max-itemsets",
            panel=_WHICH,
            metavar="N",
            help="Stop with an error at more sets than these; by default at as many as half of the free "
            "memory holds.",
        ),
    ] = None
    threads: Annotated[
        int,
        option(
            "--threads", "-j", panel=_WHICH, metavar="N", help="Threads to use; by default all processors."
        ),
    ] = -1

    def __post_init__(self) -> None:
        check_choice("--target", self.target, TARGETS)
        for support in self.supports:
            as_support(support)
        if len({(text.endswith("%"), as_support(text).__class__) for text in self.supports}) > 1:
            raise InvalidInputError(
                f"expected supports of one kind, got {self.min_support!r}; try 1%,2%,5% (a decimal: 0.5)"
            )

    @property
    def supports(self) -> list[str]:
        """The supports that were asked for, each as it was typed."""
        return [] if self.min_support is None else self.min_support.split(",")

    @property
    def several_supports(self) -> bool:
        """Whether more than one was asked for."""
        return len(self.supports) > 1

    def check(self) -> None:
        """Check what can be checked before anything is read.

        Raises
        ------
        InvalidInputError
            If an option has no meaning, or none says how many sets are wanted.
        """
        if self.min_support is None and self.top_k is None:
            raise InvalidInputError("expected min_support or top_k, got neither; try min_support=0.01")
        from itemix._runtime import count_threads
        from itemix.core.items import Items
        from itemix.mining.search import SearchOptions, check_support

        if self.min_support is not None:
            check_support(as_support(self.min_support))
        count_threads(self.threads)
        SearchOptions.checked(
            Items(()),
            target=self.target,
            min_len=self.min_len,
            max_len=self.max_len,
            include=None,
            exclude=None,
            top_k=self.top_k,
            max_itemsets=self.max_itemsets,
        )

    def as_arguments(self) -> dict[str, Any]:
        """Return the arguments of `itemix.mine`."""
        return {
            "min_support": as_support(self.min_support),
            "target": self.target,
            "min_len": self.min_len,
            "max_len": self.max_len,
            "include": self.include or None,
            "exclude": self.exclude or None,
            "top_k": self.top_k,
            "max_itemsets": self.max_itemsets,
            "n_jobs": self.threads,
        }


@dataclass(frozen=True)
class Output:
    """Where a result goes, and how much of it."""

    output: Annotated[
        str | None,
        option(
            "--output",
            "-o",
            panel=_OUTPUT,
            metavar="FILE",
            help="Write all of the result to a .parquet, .csv, .json, .jsonl or .xlsx file (CSV and JSON "
            "also with .gz); - is standard output, in CSV.",
        ),
    ] = None
    json: Annotated[
        bool,
        option("--json", panel=_OUTPUT, help="Write JSON to standard output, or to the file of -o."),
    ] = False
    sets: Annotated[
        str,
        option(
            "--sets",
            panel=_OUTPUT,
            metavar="|".join(SETS_AS),
            autocompletion=one_of(SETS_AS),
            help="How CSV or Excel holds a set: milk, bread (the default), JSON, or columns of a table.",
        ),
    ] = "names"
    metadata: Annotated[
        bool,
        option(
            "--metadata",
            panel=_OUTPUT,
            help="Begin CSV with a comment that has all that Parquet has, for itemix to read back.",
        ),
    ] = False
    limit: Annotated[
        int | None,
        option(
            "--limit",
            "-n",
            panel=_OUTPUT,
            metavar="N",
            help="The most rows to show, 0 for all; by default 20 on a terminal and all in a pipe.",
        ),
    ] = None
    quiet: Quiet = False

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise InvalidInputError(f"expected --limit as a number of rows, got {self.limit}; try 0 for all")
        check_choice("--sets", self.sets, SETS_AS)
        name = self.output
        if self.json and name not in (None, "-") and not name.lower().endswith((".json", ".json.gz")):
            raise InvalidInputError(
                f"expected --json with a file that ends in .json, got {name!r}; leave out one of them"
            )

    @property
    def is_stream(self) -> bool:
        """Whether the result goes to standard output as a file would."""
        return self.output == "-" or (self.json and self.output is None)


def listed(values: Sequence[str] | None) -> list[str] | None:
    """Return the names in options that may be repeated, each of which may have several with commas."""
    if not values:
        return None
    return [name for value in values for cell in value.split(",") if (name := cell.strip())]


def as_bins(values: Sequence[str] | None) -> BinsLike | None:
    """Return how numbers are to be cut: one way for all columns, or ways for columns by name.

    Raises
    ------
    InvalidInputError
        If there are two ways for all columns.
    """
    found: dict[str, Any] = {}
    general: list[str] = []
    for value in values or ():
        column, mark, way = value.rpartition("=")
        if mark:
            found[column] = _way(way)
        else:
            general.append(value)
    if len(general) > 1:
        raise InvalidInputError(
            f"expected one --bins for all columns, got {general[0]!r} and {general[1]!r}; name the column: "
            f"--bins age={general[1]}"
        )
    if not general:
        return found or "quantile"
    return {"*": _way(general[0]), **found} if found else _way(general[0])


def _way(text: str) -> str | int | list[float]:
    """Return edges as numbers, a number of bins as one, and leave words as they are."""
    if text.isdigit():
        return int(text)
    try:
        return [float(cell) for cell in text.split(",")]
    except ValueError:
        return text


def as_support(text: str | None, name: str = "--min-support") -> float | int | None:
    """Return a support as `itemix.mine` takes it; see `itemix._checks.as_support`."""
    if text is None:
        return None
    from itemix._checks import as_support as support_of_text

    return support_of_text(text, name)


def check_choice(option: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Check that an option has one of a few values, before anything is read.

    Raises
    ------
    InvalidInputError
        If it has another one.
    """
    if value is not None and value not in choices:
        raise InvalidInputError(
            f"expected {option} to be one of {', '.join(choices)}, got {value!r}; "
            f"try {option} {(get_close_matches(value, choices, n=1, cutoff=0.5) or choices)[0]}"
        )
