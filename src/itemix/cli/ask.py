"""``itemix show``, ``query`` and ``recommend``: what a model has found, how probable items are, what to add.

They ask transactions, itemsets and rules too, where these have an answer.
"""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from itemix._files import is_regular, is_stream, refuse_repeated
from itemix.cli import sources
from itemix.cli.options import AsJson, Group, ModelOrData, Quiet, Reading, option
from itemix.cli.output import cell, in_a_line, note, on_terminal, write_object, write_rows
from itemix.cli.sources import (
    Opened,
    of_group,
    opened,
    read_model,
    read_model_or_data,
    read_result,
    read_source,
)
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.core.items import Label
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.fitted import FittedModel
    from itemix.mining.recommend import Recommendations
    from itemix.mining.rules import Rules
    from itemix.models.causes import AnyComponents
    from itemix.models.mixture import Mixture

_ROWS = 20
# How many letters the numbers of components take.
_BESIDE = 32
# Less mutual information than this, in bits, is only rounding.
_ROUNDING = 1e-12


def show(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", show_default=False, help="A model, or itemsets or rules in a file."),
    ],
    limit: Annotated[
        int,
        option(
            "--limit",
            "-n",
            panel="Output",
            metavar="N",
            help="The most rows to show, 0 for all; 20 by default.",
        ),
    ] = _ROWS,
    items: Annotated[
        int,
        option(
            "--items", panel="Output", metavar="N", help="Items to name for each component; 6 by default."
        ),
    ] = 6,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what a model has found.

    The components come largest first, each with the number of items that its transactions have on average,
    and the items that set it apart from the others: how probable they are in it, and how many times as
    probable as overall. The components of a sampled model are averages over the samples. A model without
    components shows the pairs of items that depend most on each other, or single items if none do. A file of
    itemsets or rules shows its first rows.
    """
    if limit < 0:
        raise InvalidInputError(f"expected --limit as a number of rows, got {limit}; try 0 for all")
    with opened(file, quiet=quiet) as found:
        result = read_result(found)
        if result is not None:
            if json:
                sys.stdout.write(result.head(limit or len(result)).to_json())
            else:
                _show_result(file, result, limit, quiet)
            return
        model = _read_model(found)
    note(sources.model_summary(file, model), quiet=quiet)
    if model.training is not None and model.training.prior is not None:
        note(f"prior: {model.training.prior.in_words()}", quiet=quiet)
    components = model.components
    if components is None or (components.n_components == 1 and not model.n_components_of_samples):
        _show_pairs(model, limit, as_json=json, quiet=quiet)
        return
    order = (-components.weights).argsort(kind="stable")
    shown = order[: len(order) if limit == 0 else limit].tolist()
    if on_terminal() and not json:
        _draw_components(components, shown, items, len(order) - len(shown))
        return
    headers = ["component", "weight", "item", "probability", "lift"]
    write_rows(headers, _lines(components, shown, items), as_json=json)


def _lines(components: "AnyComponents", shown: list[int], n_items: int) -> "Iterator[list[object]]":
    """Yield a line for each typical item of each component, and one without an item if it has none."""
    from itemix.mining.characteristics import characteristic_items

    for number, k in enumerate(shown, start=1):
        own = [number, float(components.weights[k])]
        typical = characteristic_items(components, k, n_items)
        for name, probability, lift in typical:
            yield [*own, name, float(probability), float(lift)]
        if not typical:
            yield [*own, None, None, None]


def _show_pairs(model: "FittedModel", limit: int, *, as_json: bool, quiet: bool) -> None:
    """Show the pairs of items that depend most on each other."""
    from itemix.core.display import Table, format_name, format_number
    from itemix.mining.query import dependencies

    n_items = model.value.n_items
    n_pairs = n_items * (n_items - 1) // 2
    pairs = [pair for pair in dependencies(model.model, limit or n_pairs) if pair.information > _ROUNDING]
    if not pairs:
        note("no two items depend on each other in it", quiet=quiet)
        _show_items(model, limit, as_json=as_json)
        return
    if as_json or not on_terminal():
        numbers = ["probability", "lift", "information"]
        rows = ([pair.item, pair.other, *(float(getattr(pair, name)) for name in numbers)] for pair in pairs)
        write_rows(["item", "other", *numbers], rows, as_json=as_json)
        return
    from itemix.cli.output import Page

    cells = tuple(
        (
            format_number(pair.probability),
            format_number(pair.lift),
            f"{format_name(pair.item)}, {format_name(pair.other)}",
        )
        for pair in pairs
    )
    Page().table(Table("", ("probability", "lift", "depend on each other"), cells))


def _show_items(model: "FittedModel", limit: int, *, as_json: bool) -> None:
    """Show the most probable items."""
    from itemix.cli.output import Page
    from itemix.core.display import Table, format_name, format_number

    probability, items = model.model.item_probabilities, model.model.items
    shown = (-probability).argsort(kind="stable")[: limit or None].tolist()
    if as_json or not on_terminal():
        rows = ([items[code], float(probability[code])] for code in shown)
        write_rows(["item", "probability"], rows, as_json=as_json)
        return
    cells = tuple((format_number(float(probability[code])), format_name(items[code])) for code in shown)
    n_left_out = len(items) - len(shown)
    more = f"... {n_left_out:,} more: --limit 0 shows all" if n_left_out else ""
    Page().table(Table("", ("probability", "item"), cells, more))


def _show_result(file: str, result: "Itemsets | Rules", limit: int, quiet: bool) -> None:
    from itemix.cli.output import show_itemsets, show_rules
    from itemix.core.itemsets import Itemsets

    note(f"{file}: {result.table(0).title.partition(': ')[2]}", quiet=quiet)
    if isinstance(result, Itemsets):
        show_itemsets(result, limit)
    else:
        show_rules(result, limit)


def _read_model(source: Opened) -> "FittedModel":
    if source.kind is None and (is_regular(source.name) or is_stream(source.name)):
        raise InvalidInputError(
            f"expected a model, itemsets or rules, got {source.name!r}, which is something else; for "
            "transactions try itemix mine"
        )
    return read_model(source)


def _draw_components(components: "AnyComponents", shown: list[int], n_items: int, n_left_out: int) -> None:
    from itemix.cli.output import Page
    from itemix.core.display import Table
    from itemix.fitted import ComponentsTable
    from itemix.mining.characteristics import in_words

    more = f"... {n_left_out:,} more: --limit 0 shows all" if n_left_out else ""
    if components.items.bins is not None:  # of a table, which has columns
        found = ComponentsTable.of(components, None, n_items).table(len(shown), width=Page().width - _BESIDE)
        if found.headers[-1] != "mostly":
            Page().table(replace(found, title="", footer=more))
            return
    rows = tuple(
        (f"{components.probs[k].sum():.1f}", f"{components.weights[k]:.1%}", in_words(components, k, n_items))
        for k in shown
    )
    largest = components.weights[shown[0]]
    Page().table(
        Table(
            "",
            ("items", "weight", "mostly"),
            rows,
            more,
        ),
        bars=[float(components.weights[k] / largest) for k in shown],
    )


_EVENT = "The question"

EventNames = dict[str, list[str]]


def query(
    *,
    source: ModelOrData,
    items: Annotated[
        list[str] | None,
        typer.Argument(metavar="ITEM...", show_default=False, help="Items that are present together."),
    ] = None,
    absent: Annotated[
        list[str] | None,
        option("--absent", panel=_EVENT, metavar="ITEM", help="An item that is absent; may be repeated."),
    ] = None,
    given: Annotated[
        list[str] | None,
        option("--given", panel=_EVENT, metavar="ITEM", help="An item known to be present; may be repeated."),
    ] = None,
    given_absent: Annotated[
        list[str] | None,
        option(
            "--given-absent",
            panel=_EVENT,
            metavar="ITEM",
            help="An item known to be absent; may be repeated.",
        ),
    ] = None,
    level: Annotated[
        float,
        option(
            "--level",
            panel=_EVENT,
            metavar="X",
            help="The probability inside the credible interval of a Bayesian model; 0.9 by default.",
        ),
    ] = 0.9,
    group: Group = None,
    reading: Reading,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Ask for the probability of items.

    SOURCE is a model that itemix fit has saved, or transactions, in which the answer is counted: the
    probability that the items are present together (and others absent), given the items that are known. With
    a condition, the probability without it is shown too, and the lift, which is their ratio.
    """
    event: EventNames = {"itemset": items or [], "absent": absent or []}
    condition: EventNames = {"given": given or [], "given_absent": given_absent or []}
    if not any(event.values()):
        raise InvalidInputError(
            "expected items to ask for, got none; try itemix query SOURCE milk --given bread"
        )
    refuse_repeated(source, reading.names)
    with opened(source, quiet=quiet) as found:
        asked = of_group(read_model_or_data(found, reading, quiet=quiet), group)
    row = _answer(asked, event, condition, level)
    if json:
        write_object(row)
    elif on_terminal():
        _draw(
            row,
            _words(event["itemset"], event["absent"]),
            _words(condition["given"], condition["given_absent"]),
        )
    else:
        write_rows(list(row), [list(row.values())], as_json=False)


def _answer(
    asked: "FittedModel | Transactions", event: EventNames, condition: EventNames, level: float
) -> dict[str, float]:
    """Return the numbers to show, by the headers of their columns."""
    from itemix.fitted import FittedModel
    from itemix.mining.intervals import interval

    error_source = asked.error_source if isinstance(asked, FittedModel) else None
    model = asked.model if isinstance(asked, FittedModel) else _counted(asked, event, condition)
    row = {"probability": model.probability(**event, **condition)}
    if error_source:
        found = interval(
            error_source,
            event["itemset"],
            absent=event["absent"],
            given=condition["given"],
            given_absent=condition["given_absent"],
            level=level,
        )
        row |= {"lower": found.lower, "upper": found.upper}
    if any(condition.values()):
        row["unconditional"] = model.probability(**event)
        row["lift"] = row["probability"] / row["unconditional"] if row["unconditional"] else float("nan")
    return row


def _counted(transactions: "Transactions", event: EventNames, condition: EventNames) -> "Mixture":
    """Return the data as a mixture of its different transactions: few, with only the items asked for."""
    from itemix.models.mixture import Mixture

    named = [name for names in (*event.values(), *condition.values()) for name in names]
    counted = Mixture.from_transactions(transactions.select_items(named).merge_identical())
    if counted.probability(condition["given"], absent=condition["given_absent"]) == 0:
        raise InvalidInputError(
            f"expected transactions with {_words(condition['given'], condition['given_absent'])}, got none; "
            "leave out one of these items, or fit a model"
        )
    return counted


def _draw(row: dict[str, float], event: str, condition: str) -> None:
    from itemix.cli.output import Page
    from itemix.core.display import Table, format_number

    question = f"P({event} | {condition})" if condition else f"P({event})"
    cells = (*(format_number(value) for value in row.values()), question)
    Page().table(Table("", (*row, ""), (cells,)))


def _words(present: list[str], absent: list[str]) -> str:
    return ", ".join([*present, *(f"no {name}" for name in absent)])


_WHAT = "What to recommend"


class Offer(NamedTuple):
    """An item for a basket, or several: its probability given the basket, and that over the overall one."""

    probability: float
    lift: float
    item: "Label | tuple[Label, ...]"


def recommend(
    *,
    source: ModelOrData,
    items: Annotated[
        list[str] | None,
        typer.Argument(metavar="ITEM...", show_default=False, help="Items that the basket holds."),
    ] = None,
    absent: Annotated[
        list[str] | None,
        option("--absent", panel=_WHAT, metavar="ITEM", help="An item that is not wanted; may be repeated."),
    ] = None,
    number: Annotated[
        int,
        option("--number", "-n", panel=_WHAT, metavar="N", help="The most items to recommend; 5 by default."),
    ] = 5,
    baskets: Annotated[
        str | None,
        option(
            "--baskets",
            panel=_WHAT,
            metavar="SOURCE",
            help="Transactions to recommend items for, instead of one basket; from a model or rules.",
        ),
    ] = None,
    partial: Annotated[
        bool,
        option("--partial", panel=_WHAT, help="Items that are not named may be in the basket, too."),
    ] = False,
    group: Group = None,
    reading: Reading,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Recommend items for a basket.

    SOURCE is a model that itemix fit has saved, rules that itemix rules -o has written, or transactions, in
    which the answer is counted. The items with the highest probability given the basket come first. A model
    takes the basket as complete, unless --partial says that it may hold more than was named.
    """
    if number < 1:
        raise InvalidInputError(f"expected --number of at least 1, got {number}; try 5")
    basket, unwanted = items or [], absent or []
    refuse_repeated(source, baskets, reading.names)
    asked = of_group(_read_recommender_or_data(source, reading, quiet=quiet), group)
    if baskets is not None:
        if basket or unwanted:
            raise InvalidInputError("expected either items or --baskets, got both; leave out one of them")
        recommender = _recommender(asked)
        known = _with_known_items(
            recommender, read_source(baskets, reading, quiet=quiet, beside=recommender), quiet=quiet
        )
        rows = _for_many(recommender, known, number, complete=not partial)
        write_rows(["basket", "rank", "probability", "item"], rows, as_json=json)
        return
    offers = _for_one(asked, basket, unwanted, number, complete=not partial)
    if on_terminal() and not json:
        _draw_offers(offers)
    else:
        write_rows(Offer._fields, offers, as_json=json)


def _read_recommender_or_data(
    source: str, reading: Reading, *, quiet: bool
) -> "FittedModel | Rules | Transactions":
    from itemix.core.itemsets import Itemsets

    with opened(source, quiet=quiet) as found:
        saved = read_result(found)
        if saved is None:
            return read_model_or_data(found, reading, quiet=quiet)
    if isinstance(saved, Itemsets):
        raise InvalidInputError(
            f"expected a model, rules or transactions, got {source!r}, which holds itemsets; make rules of "
            "them with itemix rules -o"
        )
    note(f"{source}: {len(saved):,} rules", quiet=quiet)
    return saved


def _for_one(
    asked: "FittedModel | Rules | Transactions",
    basket: list[str],
    absent: list[str],
    n: int,
    *,
    complete: bool,
) -> list[Offer]:
    from itemix.fitted import FittedModel
    from itemix.mining.rules import Rules

    if isinstance(asked, FittedModel):
        found = asked.recommend(basket, n, absent=absent, complete=complete)
        return [Offer(offer.probability, offer.lift, offer.item) for offer in found]
    if isinstance(asked, Rules):
        known = asked.items.names(asked.items.codes(basket))
        rules = asked.filter(exclude=absent) if absent else asked
        lift = rules.lift
        return [
            Offer(offer.score, float(lift[offer.rule]), _alone(offer.items))
            for offer in _applied(rules, [known], n)[0]
        ]
    return _offers_counted(asked, basket, absent, n)


def _offers_counted(
    transactions: "Transactions", basket: list[str], absent: list[str], n: int
) -> list[Offer]:
    """Count what else is in the transactions that hold the basket and nothing unwanted."""
    import numpy as np

    known = np.union1d(transactions.items.codes(basket), transactions.items.codes(absent))
    like_it = transactions.holding(basket).to_scipy()
    like_it = like_it[like_it[:, transactions.items.codes(absent)].sum(axis=1) == 0]
    if like_it.shape[0] == 0:
        raise InvalidInputError(
            f"expected transactions with {', '.join(basket)}, got none; try fewer items, or fit a model"
        )
    share = like_it.sum(axis=0, dtype=np.int64) / like_it.shape[0]
    overall = transactions.item_counts() / transactions.n_transactions
    share[known] = -1.0
    best = np.argsort(-share, kind="stable")[: min(n, transactions.n_items - len(known))]
    return [
        Offer(float(share[i]), float(share[i] / overall[i]), transactions.items[int(i)])
        for i in best
        if share[i] > 0
    ]


def _recommender(asked: "FittedModel | Rules | Transactions") -> "FittedModel | Rules":
    """Return the model or the rules that recommend for many baskets."""
    from itemix.core.transactions import Transactions

    if not isinstance(asked, Transactions):
        return asked
    raise InvalidInputError(
        "expected a model or rules to recommend for many baskets, got transactions; fit a model first: "
        "itemix fit"
    )


def _with_known_items(
    recommender: "FittedModel | Rules", baskets: "Transactions", *, quiet: bool
) -> "Transactions":
    """Leave items out of the baskets that the model or the rules do not know, and say so."""
    from itemix.core.display import plural
    from itemix.mining.rules import Rules

    known = recommender.items if isinstance(recommender, Rules) else recommender.value.items
    new = [name for name in baskets.items if name not in known]
    if not new:
        return baskets.align_items(known)
    if len(new) == baskets.n_items:
        raise InvalidInputError(
            f"expected baskets with some of {len(known):,} known items, got none of them, such as "
            f"{cell(new[0])}; give both the same item names"
        )
    note(f"{plural(len(new), 'unknown item')} left out, such as {cell(new[0])}", quiet=quiet)
    return baskets.select_items([name for name in baskets.items if name in known]).align_items(known)


def _for_many(
    recommender: "FittedModel | Rules", baskets: "Transactions", n: int, *, complete: bool
) -> "Iterator[list[object]]":
    """Yield a row for each recommendation: the id of the basket, or its number from 1, the rank, the item."""
    from itemix.mining.rules import Rules

    name_of = _names_of(baskets)
    if isinstance(recommender, Rules):
        for b, offers in enumerate(_applied(recommender, baskets, n)):
            for rank, offer in enumerate(offers):
                yield [name_of[b], rank + 1, float(offer.score), _alone(offer.items)]
        return
    codes, chances = recommender.recommend_many(baskets, n, complete=complete)
    for b, row in enumerate(codes.tolist()):
        for rank, code in enumerate(row):
            if code >= 0:
                yield [name_of[b], rank + 1, float(chances[b, rank]), recommender.model.items[code]]


def _names_of(baskets: "Transactions") -> "list[Any]":
    """Return what each basket is called: by its ids, or else by its number."""
    columns = [ids for ids in baskets.id_columns().values() if ids is not None]
    if not columns:
        return list(range(1, baskets.n_transactions + 1))
    if len(columns) == 1:
        names: list[Any] = columns[0].tolist()
        return names
    return [" ".join(map(str, parts)) for parts in zip(*columns, strict=True)]


def _applied(rules: "Rules", baskets: "Transactions | list[list[Label]]", n: int) -> "Recommendations":
    """Apply rules to a list of baskets."""
    return cast("Recommendations", rules.recommend(baskets, n))


def _alone(names: "tuple[Label, ...]") -> "Label | tuple[Label, ...]":
    """Return the only name, or all if there are several."""
    return names[0] if len(names) == 1 else names


def _draw_offers(offers: list[Offer]) -> None:
    from itemix.cli.output import Page
    from itemix.core.display import Table, format_number

    rows = tuple((format_number(p), format_number(lift), in_a_line(item)) for p, lift, item in offers)
    Page().table(Table("", Offer._fields, rows), bars=[offer.probability for offer in offers])
