"""``itemix rules``: association rules of transactions, of a model, or of itemsets that were saved."""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

from itemix._files import refuse_repeated
from itemix.cli.mine import mined
from itemix.cli.options import (
    ModelOrData,
    Output,
    Reading,
    Searching,
    as_support,
    check_choice,
    one_of,
    option,
)
from itemix.cli.output import check_output, note, save, show_rules, stopwatch
from itemix.cli.sources import opened, read_model_or_data, read_result, read_source
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions

MEASURES = (
    "confidence", "lift", "support", "leverage", "conviction", "zhangs_metric", "jaccard", "certainty",
    "kulczynski", "cosine", "odds_ratio", "imbalance_ratio", "phi", "mutual_information",
    "difference_of_confidence", "representativity", "antecedent_support", "consequent_support", "chi_squared",
    "p_value", "q_value",
)  # fmt: skip

METRICS = tuple(name for name in MEASURES if name not in ("imbalance_ratio", "p_value", "q_value"))
TESTS = ("fisher", "chi2")
ADJUSTMENTS = ("bh", "by", "holm", "bonferroni", "none")

_PANEL = "Which rules"
_COLUMNS = (*MEASURES, "count", "antecedents", "consequents")


@dataclasses.dataclass(frozen=True)
class Splitting:
    """Which rules are to be made of the itemsets."""

    metric: Annotated[
        str,
        option(
            "--metric",
            "-m",
            panel=_PANEL,
            metavar="MEASURE",
            autocompletion=one_of(METRICS),
            help="The measure that selects: confidence (the default), lift, leverage, conviction, ...",
        ),
    ] = "confidence"
    min_threshold: Annotated[
        float,
        option("--min-threshold", panel=_PANEL, metavar="X", help="The least value of it; 0.8 by default."),
    ] = 0.8
    antecedent: Annotated[
        list[str] | None,
        option(
            "--antecedent",
            panel=_PANEL,
            metavar="ITEM",
            help="An item that may stand on the left; others may not. May be repeated.",
        ),
    ] = None
    consequent: Annotated[
        list[str] | None,
        option(
            "--consequent",
            panel=_PANEL,
            metavar="ITEM",
            help="An item that may stand on the right; others may not. May be repeated.",
        ),
    ] = None
    about: Annotated[
        list[str] | None,
        option(
            "--about",
            panel=_PANEL,
            metavar="NAME",
            help="An item, or a column of a table, to explain: only it stands on the right. May be repeated.",
        ),
    ] = None
    min_antecedent_len: Annotated[
        int, option("--min-antecedent-len", panel=_PANEL, metavar="N", help="The fewest items on the left.")
    ] = 1
    max_antecedent_len: Annotated[
        int | None,
        option("--max-antecedent-len", panel=_PANEL, metavar="N", help="The most items on the left."),
    ] = None
    min_consequent_len: Annotated[
        int, option("--min-consequent-len", panel=_PANEL, metavar="N", help="The fewest items on the right.")
    ] = 1
    max_consequent_len: Annotated[
        int | None,
        option("--max-consequent-len", panel=_PANEL, metavar="N", help="The most items on the right."),
    ] = None
    redundant: Annotated[
        bool,
        option(
            "--redundant/--no-redundant",
            panel=_PANEL,
            help="Whether to keep rules that are no better than a more general one; kept by default.",
        ),
    ] = True
    productive: Annotated[
        bool,
        option(
            "--productive",
            panel=_PANEL,
            help="Only rules that are better than every more general one, by Fisher's exact test.",
        ),
    ] = False
    significance: Annotated[
        str | None,
        option(
            "--significance",
            panel=_PANEL,
            metavar="|".join(TESTS),
            autocompletion=one_of(TESTS),
            help="Only rules whose sides depend on each other, by this test.",
        ),
    ] = None
    level: Annotated[
        float,
        option("--level", panel=_PANEL, metavar="X", help="The most that an adjusted p-value may be; 0.05."),
    ] = 0.05
    adjust: Annotated[
        str,
        option(
            "--adjust",
            panel=_PANEL,
            metavar="METHOD",
            autocompletion=one_of(ADJUSTMENTS),
            help="How p-values are adjusted for many tests: bh (the default), by, holm, bonferroni, none.",
        ),
    ] = "bh"
    support_only: Annotated[
        bool,
        option(
            "--support-only",
            panel=_PANEL,
            help="Select by support alone, so that no support of a part is needed; measures are left out.",
        ),
    ] = False
    max_rules: Annotated[
        int,
        option("--max-rules", panel=_PANEL, metavar="N", help="Stop with an error at more rules than these."),
    ] = 10_000_000

    def __post_init__(self) -> None:
        if self.significance is not None:
            check_choice("--significance", self.significance, TESTS)
        check_choice("--adjust", self.adjust, ADJUSTMENTS)
        if self.metric in MEASURES and self.metric not in METRICS:
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
            panel=_PANEL,
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
            autocompletion=one_of(MEASURES),
            help="The measure whose best rules come first; lift by default.",
        ),
    ] = "lift",
) -> None:
    """Make association rules.

    SOURCE is transactions, a model that itemix fit has saved, or itemsets that itemix mine -o has written.
    On a terminal the result is a table; in a pipe, lines with tabs between the columns; with -o, a file.
    """
    check_choice("--sort", sort, MEASURES)
    check_output(output)
    split.check()
    reading, where = reading.without_results(_COLUMNS)
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
        named_among(reading.where[0], _COLUMNS)
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
