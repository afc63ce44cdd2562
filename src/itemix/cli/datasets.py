"""``itemix datasets``: the data sets that are known by name."""

from typing import TYPE_CHECKING, Annotated

import typer

from itemix.cli.options import (
    DATASET_PREFIX,
    FORMATS,
    SectionedCommand,
    check_choice,
    dataset_names,
    one_of,
    option,
)
from itemix.cli.output import on_terminal, write_lines
from itemix.cli.sources import load_dataset, source_summary, where_is

if TYPE_CHECKING:
    from itemix.data.catalogue import DatasetInfo

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", show_default=False, autocompletion=dataset_names, help="One of itemix datasets."
    ),
]


@app.callback()
def datasets(context: typer.Context) -> None:
    """List, show and fetch known data sets.

    Any command takes dataset:NAME as its SOURCE (dataset:NAME:PART for one part, such as test). The folder
    that the environment variable ITEMIX_DATA names is looked at first; what is not there is downloaded from
    its official source, checked, and kept.
    """
    if context.invoked_subcommand is not None:
        return
    from itemix.data.catalogue import CATALOGUE

    entries = list(CATALOGUE.values())
    if on_terminal():
        _draw(entries)
        return
    write_lines(
        ["name", "transactions", "items", "here", "licence", "citation", "description"],
        (
            [
                entry.name,
                str(entry.n_transactions),
                str(entry.n_items),
                where_is(entry),
                entry.licence,
                entry.citation,
                entry.description,
            ]
            for entry in entries
        ),
    )


@app.command(cls=SectionedCommand)
def show(name: Name) -> None:
    """Show what is known about a data set.

    That is its size, its parts, whom to cite, its licence, and where it comes from.
    """
    from itemix.data import datasets as library

    entry = library.info(name)
    typer.echo(str(entry))
    typer.echo(f"here      {where_is(entry)}")


@app.command(cls=SectionedCommand)
def fetch(
    name: Name,
    part: Annotated[
        str | None,
        option("--part", panel="Options", metavar="PART", help="Only one part, such as train or test."),
    ] = None,
    output: Annotated[
        str | None,
        option(
            "--output",
            "-o",
            panel="Options",
            metavar="FILE",
            help="Write the transactions to a file: .dat, .csv, .jsonl, .parquet, .arrow, also with .gz.",
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - the word that users know
        str | None,
        option(
            "--format",
            "-f",
            panel="Options",
            metavar="|".join(FORMATS),
            autocompletion=one_of(FORMATS),
            help="The format of the file; by default that of its ending.",
        ),
    ] = None,
) -> None:
    """Get a data set, and write it to a file.

    It is downloaded from its official source if it is not here yet. Without -o, it is only made available.
    """
    from itemix.data import datasets as library
    from itemix.io.write import check_path, write_transactions

    check_choice("--format", format, FORMATS)
    if output is not None:
        check_path(output, format)
    transactions = load_dataset(name, part)
    typer.echo(source_summary(transactions), err=True)
    if output is None:
        source = f"{DATASET_PREFIX}{name}{f':{part}' if part else ''}"
        typer.echo(f"it is here now: try itemix mine {source} --top-k 20", err=True)
        return
    write_transactions(transactions, output, format=format)
    typer.echo(f"wrote {output}; cite {library.info(name).citation}", err=True)


def _draw(entries: "list[DatasetInfo]") -> None:
    from itemix.cli.output import Page
    from itemix.core.display import Table

    rows = tuple(
        (entry.name, f"{entry.n_transactions:,}", f"{entry.n_items:,}", where_is(entry), entry.description)
        for entry in entries
    )
    headers = ("name", "transactions", "items", "here", "what it is")
    page = Page()
    page.table(Table("", headers, rows, words=frozenset(("name", "here"))), crop=True)
    page.text("itemix datasets show NAME: citation, licence, source; itemix mine dataset:NAME: use it")
