"""The second half of ``itemix demo``: a model of the data, and questions to it."""

from typing import TYPE_CHECKING

from itemix.cli.show import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix.cli.compiling import Stopwatch
    from itemix.cli.page import Page
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.estimators import DirichletProcessMixture

_N_COMPONENTS = 7
_N_ITEMS = 4
_COMPARED_LENGTHS = (1, 2, 3, 4)
_QUESTIONS: "tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]" = (
    ("beer", ("diapers",), ()),
    ("red wine", ("spaghetti",), ("beer",)),
    ("cat food", ("dog food",), ()),
)
_BASKET = ("tortillas", "ground beef")


def tell_of_model(page: "Page", store: "Transactions", itemsets: "Itemsets", watch: "Stopwatch") -> None:
    """Fit a model, show what it has found, compare it with the data, and ask it."""
    from itemix.estimators import DirichletProcessMixture

    model = DirichletProcessMixture(inference="gibbs", random_state=0)
    began = watch.seconds()
    model.fit(store)
    _show_components(page, model, watch.seconds() - began)
    _compare(page, model, itemsets)
    _ask(page, model)
    _recommend(page, model)


def _show_components(page: "Page", model: "DirichletProcessMixture", seconds: float) -> None:
    from itemix.core.display import Table

    components = model.posterior_.mixture()
    largest = (-components.weights).argsort()[:_N_COMPONENTS].tolist()
    rows = tuple((f"{components.weights[k]:.1%}", in_words(components, k, _N_ITEMS)) for k in largest)
    page.heading(
        "Why people come", f"kinds of baskets that a Dirichlet process mixture has found in {seconds:.1f} s"
    )
    weights = [float(components.weights[k] / components.weights[largest[0]]) for k in largest]
    page.table(Table("", ("of baskets", "with mostly"), rows), bars=weights)


def _compare(page: "Page", model: "DirichletProcessMixture", itemsets: "Itemsets") -> None:
    from itemix.core.display import Table

    shown = [itemsets.filter(min_len=n, max_len=n).top(1)[0] for n in _COMPARED_LENGTHS]
    rows = []
    for itemset in shown:
        found = model.interval(itemset.items)
        interval = f"{found.lower:.1%} to {found.upper:.1%}"
        rows.append((f"{itemset.support:.1%}", f"{found.probability:.1%}", interval, plus(itemset.items)))
    page.heading("One model for all itemsets", "what was counted, and what the model says without the data")
    page.table(Table("", ("data", "model", "90% interval", "itemset"), tuple(rows)))


def _ask(page: "Page", model: "DirichletProcessMixture") -> None:
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


def _recommend(page: "Page", model: "DirichletProcessMixture") -> None:
    from itemix.core.display import Table

    offers = model.recommend(list(_BASKET), 4)
    rows = tuple((f"{offer.probability:.0%}", f"{offer.lift:.1f}", str(offer.item)) for offer in offers)
    page.heading("What to offer next", f"to somebody with {' and '.join(_BASKET)} in the basket")
    page.table(Table("", ("would take", "lift", "item"), rows), bars=[offer.probability for offer in offers])


def plus(names: "Iterable[object]") -> str:
    """Write names with a plus between them."""
    return " + ".join(map(str, names))
