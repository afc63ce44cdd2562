"""``itemix datasets``: the data sets that are known by name; and ``itemix demo``, a tour of one of them."""

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
from itemix.cli.output import Page, Stopwatch, on_terminal, stopwatch, write_lines
from itemix.cli.sources import load_dataset, source_summary, where_is

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.data.catalogue import DatasetInfo
    from itemix.estimators import DirichletProcessMixture
    from itemix.mining.rules import Rule, Rules

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


_MIN_SUPPORT = 0.01
_MIN_CONFIDENCE = 0.5
_ROWS_BY_LENGTH = {1: 3, 2: 3, 3: 2, 4: 2}
_N_RULES = 6
_N_COMPONENTS = 7
_N_ITEMS = 4
_COMPARED_LENGTHS = (1, 2, 3, 4)
_QUESTIONS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("beer", ("diapers",), ()),
    ("red wine", ("spaghetti",), ("beer",)),
    ("cat food", ("dog food",), ()),
)
_BASKET = ("tortillas", "ground beef")


def demo() -> None:
    """Show what itemix does, on built-in data.

    The data is a grocery store that is made on the spot; nothing is downloaded.
    """
    from itemix.data.synthetic import grocery_store
    from itemix.kernels.jit import use_compiled_code

    page = Page()
    use_compiled_code()
    with stopwatch(quiet=False) as watch:
        store = grocery_store()
        _describe(page, store)
        itemsets = _mine(page, store, watch)
        _make_rules(page, itemsets)
        _tell_of_model(page, store, itemsets, watch)
    _go_on(page)


def _describe(page: Page, store: "Transactions") -> None:
    about = store.describe()
    top = ", ".join(f"{name} ({support:.0%})" for name, support in list(about.top_items.items())[:3])
    page.heading("A grocery store", f"{store.n_transactions:,} baskets of {store.n_items} items, all made up")
    page.text(
        f"A basket holds {about.length_min} to {about.length_max} items, {about.length_mean:.1f} on average. "
        f"Bought most: {top}."
    )


def _mine(page: Page, store: "Transactions", watch: Stopwatch) -> "Itemsets":
    from itemix.core.display import Table
    from itemix.mining.mine import mine

    mine(store, _MIN_SUPPORT)  # loads the kernels, so that what is timed is the search
    began = watch.seconds()
    itemsets = mine(store, _MIN_SUPPORT)
    milliseconds = 1000 * (watch.seconds() - began)
    shown = [
        itemset
        for length, n in _ROWS_BY_LENGTH.items()
        for itemset in itemsets.filter(min_len=length, max_len=length).top(n)
    ]
    rows = tuple((f"{itemset.support:.1%}", _plus(itemset.items)) for itemset in shown)
    page.heading(
        "What is bought together",
        f"all {len(itemsets):,} itemsets in 1% of the baskets, exactly, in {milliseconds:.0f} ms",
    )
    page.table(
        Table("", ("support", "itemset"), rows),
        bars=[itemset.support / shown[0].support for itemset in shown],
    )
    page.text(
        f"{len(itemsets.maximal()):,} of them are maximal (no larger set is frequent), "
        f"{len(itemsets.closed()):,} closed (no larger set is as frequent)."
    )
    return itemsets


def _make_rules(page: Page, itemsets: "Itemsets") -> None:
    from itemix.core.display import Table
    from itemix.mining.rules import rules as split

    rules = split(itemsets, min_threshold=_MIN_CONFIDENCE, max_consequent_len=1)
    strongest = _one_of_each_kind(rules.filter(max_antecedent_len=2).sort_by("lift"))
    rows = tuple(
        (f"{rule.lift:.1f}", f"{rule.confidence:.0%}", f"{_plus(rule.antecedents)} -> {rule.consequents[0]}")
        for rule in strongest
    )
    page.heading("What goes with what", f"the strongest of {len(rules):,} rules with confidence >= 50%")
    page.table(Table("", ("lift", "confidence", "rule"), rows), bars=[rule.confidence for rule in strongest])
    first = strongest[0]
    page.text(
        f"{first.confidence:.0%} of the baskets with {' and '.join(map(str, first.antecedents))} have "
        f"{first.consequents[0]} too, {first.lift:.0f} times as many as of all baskets."
    )


def _one_of_each_kind(rules: "Rules") -> "list[Rule]":
    """Take the best rules, but none whose conclusion is already in one that was taken."""
    taken: list[Rule] = []
    named: set[object] = set()
    for rule in rules:
        if named.isdisjoint(rule.consequents):
            taken.append(rule)
            named.update(rule.antecedents, rule.consequents)
        if len(taken) == _N_RULES:
            break
    return taken


def _tell_of_model(page: Page, store: "Transactions", itemsets: "Itemsets", watch: Stopwatch) -> None:
    """Fit a model, show what it has found, compare it with the data, and ask it."""
    from itemix.estimators import DirichletProcessMixture

    model = DirichletProcessMixture(inference="gibbs", random_state=0)
    began = watch.seconds()
    model.fit(store)
    _show_components(page, model, watch.seconds() - began)
    _compare(page, model, itemsets)
    _ask(page, model)
    _recommend(page, model)


def _show_components(page: Page, model: "DirichletProcessMixture", seconds: float) -> None:
    from itemix.core.display import Table
    from itemix.mining.characteristics import in_words

    components = model.components_
    largest = (-components.weights).argsort()[:_N_COMPONENTS].tolist()
    rows = tuple((f"{components.weights[k]:.1%}", in_words(components, k, _N_ITEMS)) for k in largest)
    page.heading(
        "Why people come", f"kinds of baskets that a Dirichlet process mixture has found in {seconds:.1f} s"
    )
    weights = [float(components.weights[k] / components.weights[largest[0]]) for k in largest]
    page.table(Table("", ("of baskets", "with mostly"), rows), bars=weights)


def _compare(page: Page, model: "DirichletProcessMixture", itemsets: "Itemsets") -> None:
    from itemix.core.display import Table

    shown = [itemsets.filter(min_len=n, max_len=n).top(1)[0] for n in _COMPARED_LENGTHS]
    rows = []
    for itemset in shown:
        found = model.interval(itemset.items)
        interval = f"{found.lower:.1%} to {found.upper:.1%}"
        rows.append((f"{itemset.support:.1%}", f"{found.probability:.1%}", interval, _plus(itemset.items)))
    page.heading("One model for all itemsets", "what was counted, and what the model says without the data")
    page.table(Table("", ("data", "model", "90% interval", "itemset"), tuple(rows)))


def _ask(page: Page, model: "DirichletProcessMixture") -> None:
    from itemix.core.display import Table

    rows = []
    for item, given, given_absent in _QUESTIONS:
        found = model.interval(item, given=given, given_absent=given_absent)
        interval = f"{found.lower:.1%} to {found.upper:.1%}"
        overall = f"{model.probability(item):.1%}"
        condition = ", ".join([*given, *(f"no {name}" for name in given_absent)])
        rows.append((f"{found.probability:.1%}", interval, overall, f"{item}, given {condition}"))
    page.heading("Any other question", "items present or absent, under any condition")
    page.table(Table("", ("probability", "90% interval", "overall", "of"), tuple(rows)))


def _recommend(page: Page, model: "DirichletProcessMixture") -> None:
    from itemix.core.display import Table

    offers = model.recommend(list(_BASKET), 4)
    rows = tuple((f"{offer.probability:.0%}", f"{offer.lift:.1f}", str(offer.item)) for offer in offers)
    page.heading("What to offer next", f"to somebody with {' and '.join(_BASKET)} in the basket")
    page.table(Table("", ("would take", "lift", "item"), rows), bars=[offer.probability for offer in offers])


def _go_on(page: Page) -> None:
    page.heading("Now with your own data")
    page.command("itemix mine baskets.csv --min-support 0.01", "CSV, Parquet, JSON lines, FIMI: recognised")
    page.command(
        "itemix fit baskets.csv -o model.itemix", "learn it once, then ask: itemix query, itemix show"
    )
    page.command("itemix recommend model.itemix milk bread", "what goes with these two")


def _plus(names: "Iterable[object]") -> str:
    """Write names with a plus between them."""
    return " + ".join(map(str, names))
