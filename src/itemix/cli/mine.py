"""``itemix mine`` and ``itemix rules``: itemsets of transactions or of a model, and rules made of them."""

import dataclasses
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from itemix._files import refuse_repeated
from itemix.cli.options import (
    Group,
    ModelOrData,
    Output,
    Reading,
    Searching,
    as_support,
    check_choice,
    data_sources,
    one_of,
    option,
)
from itemix.cli.output import (
    MEASURES,
    SORTS,
    Stopwatch,
    check_output,
    note,
    ordered,
    save,
    show_itemsets,
    show_rules,
    show_table,
    stopwatch,
)
from itemix.cli.sources import of_group, opened, read_for_passes, read_model_or_data, read_result, read_source
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.fitted import FittedModel
    from itemix.io.chunks import Chunks
    from itemix.models.base import Model

_COLUMNS = ("support", "count", "length", "lower", "upper", *MEASURES, "itemsets")

RULE_MEASURES = (
    "confidence", "lift", "support", "leverage", "conviction", "zhangs_metric", "jaccard", "certainty",
    "kulczynski", "cosine", "odds_ratio", "imbalance_ratio", "phi", "mutual_information",
    "difference_of_confidence", "representativity", "antecedent_support", "consequent_support", "chi_squared",
    "p_value", "q_value",
)  # fmt: skip

METRICS = tuple(name for name in RULE_MEASURES if name not in ("imbalance_ratio", "p_value", "q_value"))
TESTS = ("fisher", "chi2")
ADJUSTMENTS = ("bh", "by", "holm", "bonferroni", "none")

_WHICH_RULES = "Which rules"
_COLUMNS_OF_RULES = (*RULE_MEASURES, "count", "antecedents", "consequents")


def mine(
    *,
    source: ModelOrData,
    search: Searching,
    level: Annotated[
        float | None,
        option(
            "--level",
            panel="Which itemsets",
            metavar="X",
            help="Of a Bayesian or corrected model: give supports intervals of this probability, as 0.9.",
        ),
    ] = None,
    verify: Annotated[
        str | None,
        option(
            "--verify",
            panel="Which itemsets",
            metavar="SOURCE",
            autocompletion=data_sources,
            help="Of a model: return the itemsets of these transactions, exactly, and say what the model has "
            "missed.",
        ),
    ] = None,
    group: Group = None,
    measure: Annotated[
        list[str] | None,
        option(
            "--measure",
            panel="Output",
            metavar="|".join(MEASURES),
            autocompletion=one_of(MEASURES),
            help="A measure of each itemset as one more column; may be repeated. The first one sorts, unless "
            "--sort says otherwise.",
        ),
    ] = None,
    reading: Reading,
    output: Output,
    sort: Annotated[
        str | None,
        option(
            "--sort",
            panel="Output",
            metavar="|".join(SORTS),
            autocompletion=one_of(SORTS),
            help="What is shown first: the highest support (the default) or measure, the longest sets, or "
            "the order of mining, which files always have.",
        ),
    ] = None,
) -> None:
    """Find frequent itemsets, of data or of a model.

    Of transactions the result is exact; of a model that itemix fit has saved, it is what the model expects,
    unless it is verified. On a terminal it is a table; in a pipe, lines with tabs between the columns; with
    -o, a file.
    """
    check_choice("--sort", sort, SORTS)
    measures, sort = _measures(measure, sort, search)
    reading, where = reading.without_results(_COLUMNS)
    if search.several_supports:
        _mine_at_several(source, search, where, verify, level, group=group, reading=reading, output=output)
        return
    search.check()
    check_output(output)
    refuse_repeated(source, verify, reading.names)
    if verify is not None:
        _check_verifying(level)
    with stopwatch(quiet=output.quiet) as watch:
        with opened(source, quiet=output.quiet) as asked:
            own = reading if verify is None else replace(reading, where=None)
            found = of_group(read_model_or_data(asked, own, quiet=output.quiet), group)
        sure = None if level is None else _with_error(found)
        if verify is None:
            itemsets = mined(found, search, output, watch)
        else:
            model = _model(found)
            data = read_for_passes(verify, reading, quiet=output.quiet, beside=model)
            itemsets = _verified(model, data, search, output, watch)
    if level is not None and sure is not None:
        itemsets = sure.with_intervals(itemsets, level=level)
    itemsets = itemsets.with_measures(*measures, data=_data_of(found))
    if where:
        from itemix.core.display import plural

        itemsets = itemsets.where(*where)
        note(f"{plural(len(itemsets), 'itemset')} where {' and '.join(where)}", quiet=output.quiet)
    if output.is_stream:
        itemsets = ordered(itemsets, sort, output.limit)
    if not save(itemsets, "itemset", output):
        show_itemsets(itemsets, output.limit, sort)


def _measures(measure: list[str] | None, sort: str | None, search: Searching) -> tuple[list[str], str]:
    """Return the measures that are wanted as columns, and what sorts the itemsets."""
    for name in measure or ():
        check_choice("--measure", name, MEASURES)
    wanted = list(dict.fromkeys([*(measure or ()), *(name for name in MEASURES if name == sort)]))
    if wanted and search.several_supports:
        raise InvalidInputError("expected one --min-support with --measure, got several; leave it out")
    return wanted, sort or (wanted[0] if wanted else "support")


def _data_of(source: "FittedModel | Transactions") -> "Transactions | None":
    """Return the transactions that were mined, if it was not a model."""
    from itemix.core.transactions import Transactions

    return source if isinstance(source, Transactions) else None


def _mine_at_several(
    source: str,
    search: Searching,
    where: list[str] | None,
    verify: str | None,
    level: float | None,
    *,
    group: str | None,
    reading: Reading,
    output: Output,
) -> None:
    """Show how many itemsets of each length there are at several supports."""
    from itemix.core.itemsets import LengthCounts

    for name, value in (("--verify", verify), ("--level", level), ("--top-k", search.top_k)):
        if value is not None:
            raise InvalidInputError(
                f"expected one support with {name}, got {search.min_support!r}; try -s {search.supports[0]}"
            )
    searches = [dataclasses.replace(search, min_support=support) for support in search.supports]
    for one in searches:
        one.check()
    check_output(output)
    refuse_repeated(source, reading.names)
    with stopwatch(quiet=output.quiet) as watch, opened(source, quiet=output.quiet) as asked:
        found = of_group(read_model_or_data(asked, reading, quiet=output.quiet), group)
        families = [mined(found, one, output, watch) for one in searches]
    if where:
        families = [itemsets.where(*where) for itemsets in families]
    counts = LengthCounts.of(families)
    if not save(counts, "support", output):
        show_table(counts, output.limit)


def mined(
    source: "FittedModel | Transactions", search: Searching, output: Output, watch: Stopwatch
) -> "Itemsets":
    """Mine transactions or a model, and say on standard error how many itemsets there are."""
    from itemix.core.transactions import Transactions
    from itemix.mining.mine import mine as find

    began = watch.seconds()
    data = source if isinstance(source, Transactions) else source.model
    itemsets = find(data, **search.as_arguments(), progress=not output.quiet)
    seconds = watch.seconds() - began
    note(f"{_summary(itemsets, search)}, mined in {seconds:.2f} s", quiet=output.quiet)
    if len(itemsets) == 0:
        note(_why_none(data), quiet=output.quiet)
    return itemsets


def _why_none(data: "Model | Transactions") -> str:
    """Say how frequent items are where no set is frequent enough."""
    from itemix.core.display import format_percent
    from itemix.core.transactions import Transactions

    if isinstance(data, Transactions):
        most = data.item_counts().max(initial=0) / max(data.n_transactions, 1)
    else:
        most = data.item_probabilities.max(initial=0.0)
    return f"the most frequent item is in {format_percent(round(float(most), 4))}: try a lower --min-support"


def _check_verifying(level: float | None) -> None:
    """Check that --verify has no option that makes no sense beside it."""
    if level is not None:
        raise InvalidInputError(
            "expected --level or --verify, got both; what was counted has no interval: leave out --level"
        )


def _model(source: "FittedModel | Transactions") -> "FittedModel":
    from itemix.fitted import FittedModel

    if isinstance(source, FittedModel):
        return source
    raise InvalidInputError(
        "expected a model for --verify, got transactions, whose itemsets are exact; leave out --verify"
    )


def _verified(
    model: "FittedModel", data: "Transactions | Chunks", search: Searching, output: Output, watch: Stopwatch
) -> "Itemsets":
    """Find the itemsets of the data, and say what a model has missed of them."""
    from itemix.mining.verification import verify

    began = watch.seconds()
    verification = verify(model.model, data, **search.as_arguments(), progress=not output.quiet)
    itemsets, seconds = verification.itemsets, watch.seconds() - began
    note(f"{_summary(itemsets, search)}, verified in {seconds:.2f} s", quiet=output.quiet)
    note(str(verification), quiet=output.quiet)
    return itemsets


def _summary(itemsets: "Itemsets", search: Searching) -> str:
    from itemix.core.display import plural

    kind = "" if search.target == "all" else f"{search.target} "
    return plural(len(itemsets), f"{kind}itemset") + _threshold(itemsets, search)


def _threshold(itemsets: "Itemsets", search: Searching) -> str:
    least, n = itemsets.min_support, itemsets.n_transactions
    if search.min_support is None or least is None:
        return ""
    if n is None:
        return f" of probability >= {least:.3%}"
    from itemix.mining.search import min_count

    count = min_count(as_support(search.min_support), n)
    return f" in at least {count:,} of {n:,} transactions ({least:.3%})"


def _with_error(source: "FittedModel | Transactions") -> "FittedModel":
    """Return the model if it knows how sure it is."""
    from itemix.fitted import FittedModel

    if isinstance(source, FittedModel) and source.knows_error:
        return source
    raise InvalidInputError(
        "expected a Bayesian model for --level, got a source without a posterior; fit one with itemix fit"
    )


@dataclasses.dataclass(frozen=True)
class Splitting:
    """Which rules are to be made of the itemsets."""

    metric: Annotated[
        str,
        option(
            "--metric",
            "-m",
            panel=_WHICH_RULES,
            metavar="MEASURE",
            autocompletion=one_of(METRICS),
            help="The measure that selects: confidence (the default), lift, leverage, conviction, ...",
        ),
    ] = "confidence"
    min_threshold: Annotated[
        float,
        option(
            "--min-threshold", panel=_WHICH_RULES, metavar="X", help="The least value of it; 0.8 by default."
        ),
    ] = 0.8
    antecedent: Annotated[
        list[str] | None,
        option(
            "--antecedent",
            panel=_WHICH_RULES,
            metavar="ITEM",
            help="An item that may stand on the left; others may not. May be repeated.",
        ),
    ] = None
    consequent: Annotated[
        list[str] | None,
        option(
            "--consequent",
            panel=_WHICH_RULES,
            metavar="ITEM",
            help="An item that may stand on the right; others may not. May be repeated.",
        ),
    ] = None
    about: Annotated[
        list[str] | None,
        option(
            "--about",
            panel=_WHICH_RULES,
            metavar="NAME",
            help="An item, or a column of a table, to explain: only it stands on the right. May be repeated.",
        ),
    ] = None
    min_antecedent_len: Annotated[
        int,
        option("--min-antecedent-len", panel=_WHICH_RULES, metavar="N", help="The fewest items on the left."),
    ] = 1
    max_antecedent_len: Annotated[
        int | None,
        option("--max-antecedent-len", panel=_WHICH_RULES, metavar="N", help="The most items on the left."),
    ] = None
    min_consequent_len: Annotated[
        int,
        option(
            "--min-consequent-len", panel=_WHICH_RULES, metavar="N", help="The fewest items on the right."
        ),
    ] = 1
    max_consequent_len: Annotated[
        int | None,
        option("--max-consequent-len", panel=_WHICH_RULES, metavar="N", help="The most items on the right."),
    ] = None
    redundant: Annotated[
        bool,
        option(
            "--redundant/--no-redundant",
            panel=_WHICH_RULES,
            help="Whether to keep rules that are no better than a more general one; kept by default.",
        ),
    ] = True
    productive: Annotated[
        bool,
        option(
            "--productive",
            panel=_WHICH_RULES,
            help="Only rules that are better than every more general one, by Fisher's exact test.",
        ),
    ] = False
    significance: Annotated[
        str | None,
        option(
            "--significance",
            panel=_WHICH_RULES,
            metavar="|".join(TESTS),
            autocompletion=one_of(TESTS),
            help="Only rules whose sides depend on each other, by this test.",
        ),
    ] = None
    level: Annotated[
        float,
        option(
            "--level", panel=_WHICH_RULES, metavar="X", help="The most that an adjusted p-value may be; 0.05."
        ),
    ] = 0.05
    adjust: Annotated[
        str,
        option(
            "--adjust",
            panel=_WHICH_RULES,
            metavar="METHOD",
            autocompletion=one_of(ADJUSTMENTS),
            help="How p-values are adjusted for many tests: bh (the default), by, holm, bonferroni, none.",
        ),
    ] = "bh"
    support_only: Annotated[
        bool,
        option(
            "--support-only",
            panel=_WHICH_RULES,
            help="Select by support alone, so that no support of a part is needed; measures are left out.",
        ),
    ] = False
    max_rules: Annotated[
        int,
        option(
            "--max-rules",
            panel=_WHICH_RULES,
            metavar="N",
            help="Stop with an error at more rules than these.",
        ),
    ] = 10_000_000

    def __post_init__(self) -> None:
        if self.significance is not None:
            check_choice("--significance", self.significance, TESTS)
        check_choice("--adjust", self.adjust, ADJUSTMENTS)
        if self.metric in RULE_MEASURES and self.metric not in METRICS:
            raise InvalidInputError(
                f"expected --metric of which more is better, got {self.metric!r}; try --where "
                f"'{self.metric}<=0.05'"
            )
        check_choice("--metric", self.metric, METRICS)

    def check(self) -> None:
        """Check what can be checked before anything is read.

        Raises
        ------
        InvalidInputError
            If an option has no meaning.
        """
        from itemix.mining.rules import RuleOptions

        RuleOptions.checked(**self._options())

    def as_arguments(self) -> dict[str, Any]:
        """Return the arguments of `itemix.rules`."""
        sides = {"antecedents": self.antecedent or None, "consequents": self.consequent or None}
        return {**self._options(), **sides, "about": self.about or None}

    def _options(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "min_threshold": self.min_threshold,
            "min_antecedent_len": self.min_antecedent_len,
            "max_antecedent_len": self.max_antecedent_len,
            "min_consequent_len": self.min_consequent_len,
            "max_consequent_len": self.max_consequent_len,
            "redundant": self.redundant,
            "productive": self.productive,
            "significance": self.significance,
            "level": self.level,
            "adjust": self.adjust,
            "support_only": self.support_only,
            "max_rules": self.max_rules,
        }


def rules(
    *,
    source: ModelOrData,
    split: Splitting,
    search: Searching,
    reading: Reading,
    output: Output,
    data: Annotated[
        str | None,
        option(
            "--data",
            panel="Reading",
            metavar="SOURCE",
            help="Where SOURCE is a file of itemsets: the transactions, to count supports that it lacks.",
        ),
    ] = None,
    holdout: Annotated[
        str | None,
        option(
            "--holdout",
            panel=_WHICH_RULES,
            metavar="FILE",
            help="Other transactions, in which the rules that were found are tested and measured.",
        ),
    ] = None,
    sort: Annotated[
        str,
        option(
            "--sort",
            panel="Output",
            metavar="MEASURE",
            autocompletion=one_of(RULE_MEASURES),
            help="The measure whose best rules come first; lift by default.",
        ),
    ] = "lift",
) -> None:
    """Make association rules.

    SOURCE is transactions, a model that itemix fit has saved, or itemsets that itemix mine -o has written.
    On a terminal the result is a table; in a pipe, lines with tabs between the columns; with -o, a file.
    """
    check_choice("--sort", sort, RULE_MEASURES)
    check_output(output)
    split.check()
    reading, where = reading.without_results(_COLUMNS_OF_RULES)
    refuse_repeated(source, data, holdout, reading.names)
    itemsets, transactions = _itemsets(source, data, search, reading, output)
    from itemix.core.display import plural
    from itemix.mining.rules import rules as split_itemsets

    tested_in = None if holdout is None else read_source(holdout, reading, quiet=output.quiet)
    found = split_itemsets(
        itemsets,
        data=transactions,
        holdout=tested_in,
        **split.as_arguments(),
        progress=not output.quiet,
    )
    if where:
        found = found.where(*where)
    hint = "" if len(found) else "; try a lower --min-threshold or --min-support"
    tested = "" if found.n_tests is None else f" of {found.n_tests:,} tested"
    counted = f"{plural(len(found), 'rule')}{tested} with {found.metric} >= {split.min_threshold:g}"
    note(counted + hint, quiet=output.quiet)
    found = found.sort_by(sort)
    if not save(found, "rule", output):
        show_rules(found, output.limit)


def _itemsets(
    source: str, data: str | None, search: Searching, reading: Reading, output: Output
) -> "tuple[Itemsets, Transactions | None]":
    """Return the itemsets of a source, mined if need be, and the transactions if there are any."""
    from itemix.core.itemsets import Itemsets
    from itemix.core.results import named_among
    from itemix.core.transactions import Transactions

    with opened(source, quiet=output.quiet) as asked:
        saved = read_result(asked)
        if saved is None:
            if data is not None:
                raise InvalidInputError(
                    f"expected --data only with a file of itemsets, got it with {source!r}; leave it out"
                )
            search.check()
            with stopwatch(quiet=output.quiet) as watch:
                found = read_model_or_data(asked, reading, quiet=output.quiet)
                itemsets = mined(found, search, output, watch)
            return itemsets, found if isinstance(found, Transactions) else None
    if reading.where:
        named_among(reading.where[0], _COLUMNS_OF_RULES)
    if not isinstance(saved, Itemsets):
        raise InvalidInputError(
            f"expected transactions, a model or itemsets, got {source!r}, which holds rules; try itemix show"
        )
    note(f"{source}: {len(saved):,} itemsets", quiet=output.quiet)
    usable = Searching(min_support=search.min_support, max_len=search.max_len, threads=search.threads)
    if search.as_arguments() != usable.as_arguments():
        raise InvalidInputError(
            f"expected only --min-support and --max-len to choose from the file of itemsets {source!r}, got "
            "other options; leave them out, or name the transactions"
        )
    if search.min_support is not None or search.max_len is not None:
        saved = saved.filter(min_support=as_support(search.min_support), max_len=search.max_len)
    return saved, None if data is None else read_source(data, reading, quiet=output.quiet)
