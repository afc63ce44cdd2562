import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import lattice as naive_lattice
from naive import rules as naive

import itemix
from itemix import InvalidInputError, Itemsets, TooManyItemsetsError, Transactions, UnknownItemError
from itemix.mining.measures import MLXTEND
from itemix.mining.rules import METRICS, rules

BASKETS = [["milk", "bread"], ["milk", "bread", "beer"], ["milk", "bread"], ["beer"], ["milk"]]
baskets = st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=12).filter(any)


def pairs(found):
    """Take the rules as pairs of sets."""
    return [(frozenset(rule.antecedents), frozenset(rule.consequents)) for rule in found]


def by_names(found):
    """Sort the rows of a frame of rules by their names."""
    keys = [
        (tuple(sorted(map(str, a))), tuple(sorted(map(str, c))))
        for a, c in zip(found["antecedents"], found["consequents"], strict=True)
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return found.iloc[order].reset_index(drop=True)


def same_as_mlxtend(ours, frame, **options):
    """Whether all of mlxtend's columns are equal to the last bit."""
    from mlxtend.frequent_patterns import association_rules

    with np.errstate(invalid="ignore"):
        theirs = by_names(association_rules(frame, **options))
    mine = by_names(ours.to_pandas())[list(theirs.columns)]
    pd.testing.assert_frame_equal(mine, theirs, check_exact=True)


@pytest.fixture
def itemsets():
    """All itemsets of five baskets."""
    return naive_lattice.as_itemsets(BASKETS, 1)


@given(baskets, st.sampled_from(METRICS), st.floats(-0.5, 2))
def test_rules_are_all_that_reach_the_threshold(transactions, metric, threshold):
    """For every metric, the rules are those of the definition, with the supports of their sides."""
    itemsets = naive_lattice.as_itemsets(transactions, 1)
    supports = {frozenset(i.items): i.support for i in itemsets}
    found = rules(itemsets, metric=metric, min_threshold=threshold)
    expected = naive.rules(supports, metric, threshold, len(transactions))
    assert naive.in_order(pairs(found)) == naive.in_order(expected)
    assert found.support.tolist() == [supports[a | c] for a, c in pairs(found)]
    assert found.measure("antecedent support").tolist() == [supports[a] for a, _ in pairs(found)]
    assert found.measure("consequent support").tolist() == [supports[c] for _, c in pairs(found)]
    assert found.count.tolist() == [round(supports[a | c] * len(transactions)) for a, c in pairs(found)]


def test_thresholds_that_are_met_exactly():
    """A confidence of 4/5 reaches 0.8, whatever the rounding of the supports."""
    for n in range(5, 200):
        transactions = [["a", "b"]] * 4 + [["a"]] + [["c"]] * (n - 5)
        found = rules(naive_lattice.as_itemsets(transactions, 1, max_len=2), min_threshold=0.8)
        assert ({"a"}, {"b"}) in pairs(found), n


@given(baskets)
def test_equal_to_mlxtend(transactions):
    """Every column of mlxtend is there, in its order, equal to the last bit."""
    frame = naive_lattice.as_itemsets(transactions, 1).to_pandas()
    found = rules(frame, metric="support", min_threshold=0.0)
    assert list(found.to_pandas().columns[:14]) == ["antecedents", "consequents", *MLXTEND]
    if len(found):
        same_as_mlxtend(found, frame, metric="support", min_threshold=0.0)


@pytest.mark.data("mushroom/mushroom.dat")
def test_mushroom(data_folder):
    """Mushroom at 30% and confidence 0.8 has 43,558 rules, equal to mlxtend's; closed sets suffice."""
    tx = itemix.read_transactions(data_folder / "mushroom" / "mushroom.dat")
    itemsets = itemix.mine(tx, 0.3)
    found = itemix.rules(itemsets, metric="confidence", min_threshold=0.8)
    assert len(found) == 43_558
    same_as_mlxtend(found, itemsets.to_pandas(), metric="confidence", min_threshold=0.8)
    closed = itemix.mine(tx, 0.3, target="closed")
    of_closed = itemix.rules(closed)
    assert of_closed == itemix.rules(closed.take(np.arange(len(closed))), data=tx)
    assert set(pairs(of_closed)) <= set(pairs(found))
    maximal = itemix.mine(tx, 0.3, target="maximal")
    assert set(pairs(itemix.rules(maximal, data=tx))) <= set(pairs(found))


def counts_of(transactions):
    """Count every set that occurs, and the empty one."""
    found = {frozenset(i.items): i.count for i in naive_lattice.as_itemsets(transactions, 1)}
    return {**found, frozenset(): len(transactions)}


@given(baskets, st.sampled_from(["all", "closed", "long"]), st.floats(0, 1))
def test_redundant_rules(transactions, kind, threshold):
    """Without redundant rules: those that no more general one equals, also where supports are missing."""
    itemsets = naive_lattice.as_itemsets(transactions, 1)
    tx = Transactions.from_lists([*map(sorted, transactions)])
    some = {"all": itemsets, "closed": itemsets.closed(), "long": itemsets.filter(min_len=3)}[kind]
    data = tx if kind == "long" else None
    counts = counts_of(transactions)
    found = rules(some, min_threshold=threshold, redundant=False, data=data)
    every = pairs(rules(some, min_threshold=threshold, data=data))
    assert pairs(found) == [(a, c) for a, c in every if not naive.is_redundant(counts, a, c)]


@given(
    baskets, st.sampled_from(["bh", "by", "holm", "bonferroni", "none"]), st.sampled_from([0.05, 0.5, 0.99])
)
def test_productive_rules(transactions, adjust, level):
    """Productive rules beat every more general one by Fisher's test, adjusted for all that were looked at."""
    transactions = transactions * 4
    counts = counts_of(transactions)
    every = pairs(rules(naive_lattice.as_itemsets(transactions, 1), min_threshold=0.3))
    found = rules(
        naive_lattice.as_itemsets(transactions, 1),
        min_threshold=0.3,
        productive=True,
        adjust=adjust,
        level=level,
    )
    p_values = {(a, c): naive.productive_p(counts, a, c) for a, c in every}
    factor = {"none": 1, "by": sum(1 / k for k in range(1, len(every) + 1))}.get(adjust, len(every))
    assert found.n_tests == len(every)
    assert found.significance == "fisher"
    for rule, p, q in zip(pairs(found), found.measure("p_value"), found.measure("q_value"), strict=True):
        assert p == pytest.approx(p_values[rule], rel=1e-9)
        assert p <= q <= level
        assert not naive.is_redundant(counts, *rule)
    if adjust in ("none", "bonferroni"):
        passed = {rule for rule, p in p_values.items() if p * factor <= level * (1 - 1e-9)}
        assert {rule for rule in passed if not naive.is_redundant(counts, *rule)} <= set(pairs(found))


def test_what_a_partner_adds_by_chance_is_no_rule():
    """A third item that is thrown in at random makes no productive rule; a real pair of causes does."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.random((3, 2000)) < 0.4
    c = rng.random(2000) < np.where(a & b, 0.9, np.where(a | b, 0.4, 0.1))
    tx = Transactions.from_matrix(np.stack([a, b, noise, c], axis=1), items=["a", "b", "noise", "c"])
    found = rules(itemix.mine(tx, 0.01), min_threshold=0.2, consequents="c", productive=True)
    assert ({"a", "b"}, {"c"}) in pairs(found)
    assert not any("noise" in antecedents for antecedents, _ in pairs(found))
    plain = rules(itemix.mine(tx, 0.01), min_threshold=0.2, consequents="c", significance="fisher")
    assert any("noise" in antecedents for antecedents, _ in pairs(plain))


def test_rules_found_in_one_part_are_tested_in_the_other():
    """With a holdout, supports and p-values are those of the holdout, and what was chance does not pass."""
    rng = np.random.default_rng(1)
    columns = rng.random((400, 12)) < 0.3
    columns[:, 1] |= columns[:, 0]
    tx = Transactions.from_matrix(columns, items=[f"i{i}" for i in range(12)])
    first, second = tx.split(0.5, random_state=0)
    itemsets = itemix.mine(first, 0.01)
    found = rules(itemsets, min_threshold=0.3, holdout=second, redundant=False)
    assert ({"i0"}, {"i1"}) in pairs(found)
    assert found.n_transactions == second.n_transactions
    for rule, count, p in zip(pairs(found), found.count, found.measure("p_value"), strict=True):
        a, c = (set(side) for side in rule)
        assert {"i0", "i1"} <= a | c
        assert count == second.count(a | c)
        counts = count, *(second.count(side) for side in (a, c)), second.n_transactions
        assert p == pytest.approx(naive.fisher(*map(int, counts)))
    assert found.n_tests < len(rules(itemsets, min_threshold=0.3))
    productive, tested = (
        set(pairs(rules(itemsets, min_threshold=0.3, holdout=second, adjust="none", productive=wanted)))
        for wanted in (True, False)
    )
    assert (frozenset(["i0"]), frozenset(["i1"])) in productive
    assert productive < tested
    fewer_items = Transactions.from_lists([["i0", "i1"], ["i1"]] * 20 + [["i3"]] * 20)
    assert ({"i0"}, {"i1"}) in pairs(rules(itemsets, min_threshold=0.3, holdout=fewer_items))
    with pytest.raises(InvalidInputError, match=r"expected holdout= with other .* the same supports; try tx"):
        rules(itemsets, holdout=first)


def test_rules_of_a_model_are_tested_in_data():
    """What has no counts cannot be tested, which is one clear error, unless there is data to test it in."""
    itemsets = Itemsets([0, 1, 2, 4], [0, 1, 0, 1], [0.5, 0.4, 0.4], ["a", "b"])
    for options, name in (
        ({"productive": True}, "productive=True"),
        ({"significance": "chi2"}, "sig.*='chi2'"),
    ):
        with pytest.raises(
            InvalidInputError, match=rf"a number of transactions for {name}, got .* without; .*or holdout="
        ):
            rules(itemsets, **options)
    assert pairs(rules(itemsets, redundant=False)) == [({"b"}, {"a"}), ({"a"}, {"b"})]
    data = [["a", "b"]] * 20 + [["a"]] * 5 + [["c"]] * 25
    tested = rules(itemsets, productive=True, holdout=data)
    assert pairs(tested) == [({"b"}, {"a"}), ({"a"}, {"b"})]
    assert tested.confidence.tolist() == [1.0, 0.8]


@pytest.mark.parametrize("significance", ["fisher", "chi2"])
def test_rules_that_are_significant(significance):
    """Rules that pass have an adjusted p-value up to the level; files keep what was tested."""
    baskets = [["a", "b"]] * 12 + [["a", "c"]] * 4 + [["b", "c"]] * 4 + [["c"]] * 12
    itemsets = itemix.mine(baskets + [[*basket, "x"] for basket in baskets], 0.1)
    found = rules(itemsets, metric="support", min_threshold=0, significance=significance)
    every = rules(itemsets, metric="support", min_threshold=0)
    assert 0 < len(found) < len(every) == found.n_tests
    assert (found.measure("q_value") <= 0.05).all()
    if significance == "chi2":
        q = every.measure("q_value")
        assert found.measure("q_value").tolist() == q[q <= 0.05].tolist()
    back = itemix.Rules.from_arrow(found.to_arrow())
    assert (back.significance, back.n_tests) == (significance, len(every))
    assert back == found.take(np.arange(len(found)))
    assert repr(found).startswith(f"Rules: {len(found)} rules, of {len(every)} tested, support >= 0")


def test_order(itemsets):
    """Rules come in the order of the itemsets, then by the positions of the consequent's items."""
    found = rules(itemsets, metric="support", min_threshold=0)
    assert [f"{','.join(a)}>{','.join(c)}" for a, c, *_ in found] == [
        "bread>milk",
        "milk>bread",
        "beer>milk",
        "milk>beer",
        "beer>bread",
        "bread>beer",
        "bread,beer>milk",
        "beer>milk,bread",
        "bread>milk,beer",
        "milk,beer>bread",
        "milk>bread,beer",
        "milk,bread>beer",
    ]


@given(baskets, st.data())
def test_constraints(transactions, data):
    """Constraints leave the rules that meet them, as a filter afterwards would."""
    itemsets = naive_lattice.as_itemsets(transactions, 1, items="abcde")
    some = st.none() | st.sampled_from([["a", "b"], ["b", "c", "d"], ["c", "d", "e"]])
    antecedents, consequents = data.draw(some), data.draw(some)
    sizes = [(1, None), (2, None), (1, 1), (1, 2), (2, 2), (2, 3)]
    (least_a, most_a), (least_c, most_c) = (data.draw(st.sampled_from(sizes)) for _ in range(2))
    found = rules(
        itemsets,
        min_threshold=0.3,
        antecedents=antecedents,
        consequents=consequents,
        min_antecedent_len=least_a,
        max_antecedent_len=most_a,
        min_consequent_len=least_c,
        max_consequent_len=most_c,
    )
    expected = [
        (a, c)
        for a, c in pairs(rules(itemsets, min_threshold=0.3))
        if (antecedents is None or a <= set(antecedents))
        and (consequents is None or c <= set(consequents))
        and least_a <= len(a) <= (most_a or 9)
        and least_c <= len(c) <= (most_c or 9)
    ]
    assert naive.in_order(pairs(found)) == naive.in_order(expected)


@given(baskets, st.sampled_from(["closed", "maximal", "long"]), st.sampled_from(METRICS), st.floats(0, 1.2))
def test_missing_supports_are_counted(transactions, kind, metric, threshold):
    """From closed, maximal or truncated itemsets and the data: their rules among all rules."""
    itemsets = naive_lattice.as_itemsets(transactions, 1)
    some = {
        "closed": itemsets.closed,
        "maximal": itemsets.maximal,
        "long": lambda: itemsets.filter(min_len=2),
    }[kind]()
    tx = Transactions.from_lists([*map(sorted, transactions)])
    found = rules(some, metric=metric, min_threshold=threshold, data=tx.merge_identical())
    every = rules(itemsets, metric=metric, min_threshold=threshold)
    held = {frozenset(i.items) for i in some}
    rows = [r for r, (a, c) in enumerate(pairs(every)) if a | c in held]
    assert found == family_of_its_own(every, rows)
    if kind == "closed":
        assert rules(some, metric=metric, min_threshold=threshold) == found


@given(baskets, st.randoms(use_true_random=False))
def test_closed_sets_in_any_order(transactions, random):
    """What follows from closed sets does not depend on their order."""
    closed = naive_lattice.as_itemsets(transactions, 1).closed()
    order = list(range(len(closed)))
    random.shuffle(order)
    mixed = closed.take(order)
    mixed = Itemsets(mixed.offsets, mixed.codes, mixed.support, mixed.items, target="closed")
    expected = rules(closed, min_threshold=0.1)
    found = rules(mixed, min_threshold=0.1)
    assert dict(zip(pairs(found), found.confidence, strict=True)) == dict(
        zip(pairs(expected), expected.confidence, strict=True)
    )


def family_of_its_own(found, rows):
    """Take the rules at some positions, with q-values of their own."""
    part = found.take(rows)
    return itemix.Rules(
        part.antecedents,
        part.consequents,
        part.measure("antecedent support"),
        part.measure("consequent support"),
        part.support,
        count=part.count,
        n_transactions=part.n_transactions,
    )


def test_data_with_other_codes(itemsets):
    """Items of the data are matched by name, and data completes what a frame does not say."""
    tx = Transactions.from_lists([*BASKETS]).rename_items(["beer", "bread", "milk"])
    shuffled = Transactions.from_lists([[f"x{name}" for name in basket] for basket in BASKETS])
    shuffled = shuffled.rename_items(["beer", "bread", "milk"])
    frame = itemsets.filter(min_len=2).to_pandas()[["support", "itemsets"]]
    found = rules(frame, data=tx)
    assert found.n_transactions == 5
    assert found == rules(frame, data=shuffled)
    assert not np.isnan(found.measure("p_value")).any()


def test_what_is_missing_is_said(itemsets):
    """Without data, the message says how many supports are missing, names one, and what to try."""
    with pytest.raises(
        InvalidInputError,
        match=r"got itemsets that lack at least 3 of them, such as \{bread\}; pass data= to count them, mine",
    ):
        rules(itemsets.filter(min_len=2), min_threshold=0)
    with pytest.raises(InvalidInputError, match="expected the supports of all parts of the itemsets"):
        rules(itemsets.maximal())
    with pytest.raises(InvalidInputError, match="expected the supports of all parts of the itemsets"):
        rules(itemsets.closed().filter(min_len=2))


def test_other_data_is_refused(itemsets):
    """Supports of two data sets are never mixed."""
    with pytest.raises(
        InvalidInputError, match=r"expected the 5 transactions that the .* mined from, got 1; pass"
    ):
        rules(itemsets, data=Transactions.from_lists([["milk"]]))
    other = Transactions.from_lists([*BASKETS[:4], ["milk", "beer"]])
    with pytest.raises(
        InvalidInputError, match=r"data in which \{beer\} has support 0.6 instead of 0.4; pass the"
    ):
        rules(itemsets, data=other)
    with pytest.raises(UnknownItemError, match="got 'bread'"):
        rules(itemsets, data=Transactions.from_lists([["milk", "beer"]] * 5))


def test_support_only(itemsets):
    """Selecting by support needs only the itemsets themselves; other measures are NaN."""
    found = rules(itemsets.maximal(), min_threshold=0.2, support_only=True)
    assert len(found) == 6
    assert found.metric == "support"
    assert found.support.tolist() == [0.2] * 6
    for name in ("confidence", "lift", "conviction", "antecedent support", "p_value", "q_value"):
        assert np.isnan(found.measure(name)).all()


def test_data_in_any_form():
    """Missing supports are counted in whatever transactions can be made of."""
    tx = Transactions.from_lists(BASKETS)
    longest = itemix.mine(tx, 2, target="maximal")
    expected = rules(longest, data=tx, min_threshold=0.5)
    assert rules(longest, data=BASKETS, min_threshold=0.5) == expected
    assert rules(longest, data=tx.to_dataframe(), min_threshold=0.5) == expected
    with pytest.raises(InvalidInputError, match=r"expected a file to read, got no such file 'baskets.csv'"):
        rules(longest, data="baskets.csv")


def test_rules_of_a_model():
    """Without a number of transactions there is no significance, and asking for it says so."""
    itemsets = Itemsets([0, 1, 2, 4], [0, 1, 0, 1], [0.5, 0.4, 0.4], ["a", "b"])
    found = rules(itemsets)
    assert pairs(found) == [({"b"}, {"a"}), ({"a"}, {"b"})]
    assert found.count is None
    assert found.confidence.tolist() == [1.0, 0.8]
    for name in ("chi_squared", "p_value", "q_value"):
        assert np.isnan(found.measure(name)).all()
    with pytest.raises(
        InvalidInputError, match=r"number of transactions for metric='chi_squared', got .* without;"
    ):
        rules(itemsets, metric="chi_squared", min_threshold=4)


def test_too_many_rules():
    """Rules are counted before they fill the memory, also where only the missing supports are many."""
    n = 16
    family = [[c for c in range(n) if mask >> c & 1] for mask in range(1, 2**n)]
    complete = Itemsets(*naive_lattice.as_arrays(family), np.full(2**n - 1, 0.5), np.arange(n))
    with pytest.raises(
        TooManyItemsetsError, match=r"at most 100,000 rules, got 1\d\d,\d\d\d before all 65,535 item"
    ):
        rules(complete, max_rules=100_000)
    tx = Transactions.from_lists([range(40)] * 2)
    whole = Itemsets([0, 40], np.arange(40), [1.0], np.arange(40))
    with pytest.raises(
        TooManyItemsetsError,
        match=r"raise min_threshold above 0\.8, set max_consequent_len=1, or pass a larger",
    ):
        rules(whole, data=tx, max_rules=10_000)
    assert len(rules(whole, data=tx, max_consequent_len=1)) == 40


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (
            {"max_consequent_len": 1},
            "mine with a higher min_support, raise min_threshold above 0.8, or pass a",
        ),
        (
            {"max_consequent_len": 1, "min_threshold": 1},
            "mine with a higher min_support, or pass a larger max",
        ),
        (
            {"min_consequent_len": 2, "min_threshold": 1},
            "mine with a higher min_support, or pass a larger max",
        ),
        (
            {"metric": "lift", "min_threshold": 1},
            "mine with a higher min_support, raise min_threshold above 1,",
        ),
    ],
)
def test_advice_is_what_was_not_tried(options, advice):
    """What was asked for already, or cannot be, is not offered against too many rules."""
    n = 8
    family = [[c for c in range(n) if mask >> c & 1] for mask in range(1, 2**n)]
    complete = Itemsets(*naive_lattice.as_arrays(family), np.ones(2**n - 1), np.arange(n))
    with pytest.raises(TooManyItemsetsError) as caught:
        rules(complete, max_rules=100, **options)
    assert str(caught.value).partition("; ")[2].startswith(advice)


def test_no_rules():
    """Single items, no items and high thresholds give no rules, which is no error."""
    empty = Itemsets([0], [], [], ["a"])
    assert len(rules(empty)) == 0
    assert repr(rules(empty)) == "Rules: 0 rules, confidence >= 0.8"
    assert len(rules(Itemsets([0, 1], [0], [0.5], ["a"]))) == 0
    assert len(rules(naive_lattice.as_itemsets(BASKETS, 1), metric="lift", min_threshold=100)) == 0
    assert len(rules(empty).to_pandas()) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"metric": "confidense"},
            r"expected a measure, got 'confidense'; try one of .*confidence.*chi_squared$",
        ),
        (
            {"metric": "p_value"},
            r"expected a measure for which more is better, got 'p_value'; .*try filter\(max_p_value=0.05\)",
        ),
        ({"metric": None}, "expected a measure, got None"),
        ({"min_threshold": "high"}, "expected min_threshold as a finite number, got 'high'; try 0.8"),
        ({"min_threshold": math.nan}, "expected min_threshold as a finite number, got nan"),
        ({"min_threshold": 10**400}, "expected min_threshold as a finite number, got 1000"),
        ({"min_threshold": True}, "expected min_threshold as a finite number, got True"),
        ({"max_consequent_len": 0}, "expected max_consequent_len as a whole number of at least 1, got 0"),
        ({"min_antecedent_len": 1.5}, "expected min_antecedent_len as a whole number of at least 1, got 1.5"),
        (
            {"min_antecedent_len": 3, "max_antecedent_len": 2},
            "expected min_antecedent_len <= max_antecedent_len, got 3 and 2; lower min_antecedent_len",
        ),
        ({"min_consequent_len": 3, "max_consequent_len": 2}, "expected min_consequent_len <= max_conseq"),
        ({"significance": "t"}, "expected significance to be one of 'fisher', 'chi2', got 't'; try 'fisher'"),
        (
            {"adjust": "fdr"},
            "expected adjust to be one of 'bh', 'by', 'holm', 'bonferroni', 'none', got 'fdr'",
        ),
        ({"level": 5, "productive": True}, "expected a level between 0 and 1, got 5; try 0.05"),
        ({"productive": "yes"}, "expected productive as True or False, got 'yes'; try True"),
        (
            {"productive": True, "significance": "chi2"},
            "expected significance='fisher' with productive=True, got 'chi2'; leave significance out",
        ),
        (
            {"redundant": False, "support_only": True},
            "expected support_only=True without redundant=False, .* got both; leave support_only out",
        ),
        ({"max_rules": -1}, "expected max_rules as a whole number of at least 1, got -1"),
    ],
)
def test_wrong_arguments(itemsets, options, message):
    """The messages say what was expected and what to try."""
    with pytest.raises(InvalidInputError, match=message):
        rules(itemsets, **options)


def test_unknown_items(itemsets):
    """Names in constraints are checked."""
    with pytest.raises(UnknownItemError, match="got 'mlik'; did you mean 'milk'"):
        rules(itemsets, consequents=["mlik"])
