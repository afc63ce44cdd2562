"""``itemix demo``: the main job on built-in data, told in small sections."""

from typing import TYPE_CHECKING

from itemix.cli.compiling import Stopwatch, stopwatch
from itemix.cli.demo_model import plus, tell_of_model

if TYPE_CHECKING:
    from itemix.cli.page import Page
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.mining.rules import Rule, Rules

_MIN_SUPPORT = 0.01
_MIN_CONFIDENCE = 0.5
_ROWS_BY_LENGTH = {1: 3, 2: 3, 3: 2, 4: 2}
_N_RULES = 6


def demo() -> None:
    """Show what itemix does, on built-in data.

    The data is a grocery store that is made on the spot; nothing is downloaded.
    """
    from itemix.cli.page import Page
    from itemix.data.synthetic import grocery_store

    page = Page()
    with stopwatch(quiet=False) as watch:
        store = grocery_store()
        _describe(page, store)
        itemsets = _mine(page, store, watch)
        _make_rules(page, itemsets)
        tell_of_model(page, store, itemsets, watch)
    _go_on(page)


def _describe(page: "Page", store: "Transactions") -> None:
    about = store.describe()
    top = ", ".join(f"{name} ({support:.0%})" for name, support in list(about.top_items.items())[:3])
    page.heading("A grocery store", f"{store.n_transactions:,} baskets of {store.n_items} items, all made up")
    page.text(
        f"A basket holds {about.length_min} to {about.length_max} items, {about.length_mean:.1f} on average. "
        f"Bought most: {top}."
    )


def _mine(page: "Page", store: "Transactions", watch: Stopwatch) -> "Itemsets":
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
    rows = tuple((f"{itemset.support:.1%}", plus(itemset.items)) for itemset in shown)
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


def _make_rules(page: "Page", itemsets: "Itemsets") -> None:
    from itemix.core.display import Table
    from itemix.mining.rules import rules as split

    rules = split(itemsets, min_threshold=_MIN_CONFIDENCE, max_consequent_len=1)
    strongest = _one_of_each_kind(rules.filter(max_antecedent_len=2).sort_by("lift"))
    rows = tuple(
        (f"{rule.lift:.1f}", f"{rule.confidence:.0%}", f"{plus(rule.antecedents)} -> {rule.consequents[0]}")
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


def _go_on(page: "Page") -> None:
    page.heading("Now with your own data")
    page.command("itemix mine baskets.csv --min-support 0.01", "CSV, Parquet, JSON lines, FIMI: recognised")
    page.command(
        "itemix fit baskets.csv -o model.itemix", "learn it once, then ask: itemix query, itemix show"
    )
    page.command("itemix recommend model.itemix milk bread", "what goes with these two")
