"""Comparisons: what differs between two sets of transactions, tested by hand, by SciPy and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mining as naive_mining
from naive import rules as naive
from scipy import stats

import itemix
from itemix import (
    Comparison,
    InvalidInputError,
    TooManyItemsetsError,
    Transactions,
    compare,
    compare_components,
)
from itemix.core.sets import Sets
from itemix.mining.comparison import SideCounts, compare_shares, ratio_intervals

baskets = st.lists(st.sets(st.sampled_from("abcd"), min_size=1).map(sorted), min_size=2, max_size=12)


def naive_p(x, y, n_x, n_y, least_x, least_y):
    """Twice the smaller tail of all counts with which a set would have been frequent in one of the two."""
    total = x + y
    possible = [
        k for k in range(max(0, total - n_y), min(total, n_x) + 1) if k >= least_x or total - k >= least_y
    ]
    weight = {k: math.comb(n_x, k) * math.comb(n_y, total - k) for k in possible}
    high = x * n_y >= y * n_x
    tail = sum(w for k, w in weight.items() if (k >= x if high else k <= x))
    return min(1.0, 2 * tail / sum(weight.values()))


@settings(max_examples=60)
@given(baskets, baskets, st.integers(1, 4))
def test_every_set_that_is_frequent_in_one_is_compared(first, second, least):
    """Counts, supports, ratios, p-values and what is new or lost are those of the definition."""
    least = min(least, len(first), len(second))
    found = compare(first, second, min_support=least, adjust="none", level=1 - 1e-12)
    counts = [{frozenset(names): n for names, n in naive_mining.mine(rows, 1)} for rows in (first, second)]
    wanted = {names for count in counts for names, n in count.items() if n >= least}
    expected = {
        names: naive_p(
            counts[0].get(names, 0), counts[1].get(names, 0), len(first), len(second), least, least
        )
        for names in wanted
    }
    assert found.n_tested == len(wanted)
    assert (found.n_a, found.n_b) == (len(first), len(second))
    shown = [frozenset(names) for names in found.sets]
    assert set(shown) == {names for names, p in expected.items() if p < 1 - 1e-9}
    for row, names in zip(found, shown, strict=True):
        a, b = counts[0].get(names, 0), counts[1].get(names, 0)
        assert (row["count_a"], row["count_b"]) == (a, b)
        assert row["support_a"] == a / len(first)
        assert row["p_value"] == pytest.approx(expected[names], rel=1e-6)
        ratio = math.inf if a == 0 else (b / len(second)) / (a / len(first))
        assert row["ratio"] == pytest.approx(ratio)
        assert row["lower"] <= ratio * (1 + 1e-6)
        assert ratio <= row["upper"] * (1 + 1e-6)
        assert row["change"] == ("new" if a == 0 else "lost" if b == 0 else "more" if ratio > 1 else "less")


@given(st.tuples(*[st.integers(0, 30)] * 2), st.tuples(*[st.integers(30, 60)] * 2))
def test_without_a_choice_it_is_fishers_test(counts, sizes):
    """Where every count would have been looked at, the p-value is twice Fisher's one-sided one."""
    (x, y), (n_x, n_y) = counts, sizes
    one = Sets([0, 1], [0], ["a"])
    found = SideCounts(one, np.array([x]), np.array([y]), n_x, n_y, 0, 0).p_values()[0]
    table = [[x, n_x - x], [y, n_y - y]]
    tails = [stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert found == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-6)
    assert naive_p(x, y, n_x, n_y, 0, 0) == pytest.approx(found, rel=1e-6)


def test_sets_at_the_threshold_are_not_finds():
    """A set that is there because chance put it on one side has a p-value of 1, though Fisher's is small."""
    one = Sets([0, 1], [0], ["a"])
    counts = SideCounts(one, np.array([20]), np.array([0]), 1000, 1000, 20, 20)
    assert naive.fisher(20, 1000, 20, 2000) < 1e-5
    assert counts.p_values()[0] == pytest.approx(1.0)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_parts_of_one_data_set_hardly_differ(share):
    """Of two random parts of one data set, few divisions have any find."""
    rng = np.random.default_rng(0)
    hidden = rng.random((2000, 6)) < 0.1
    tx = Transactions.from_matrix((hidden @ (rng.random((6, 20)) < 0.4)) | (rng.random((2000, 20)) < 0.03))
    n_with_finds = sum(
        len(compare(*tx.split(share, random_state=seed), min_support=0.02)) > 0 for seed in range(40)
    )
    assert n_with_finds <= 6  # at a level of 5%, more of 40 have a probability of 0.3%


def test_a_planted_difference_is_found_and_explains_its_supersets():
    """The pair that is more frequent comes first; what only holds it is explained by it."""
    rng = np.random.default_rng(1)
    columns = rng.random((2, 3000, 8)) < 0.3
    together = rng.random(3000) < 0.15
    columns[1, together, 0] = columns[1, together, 1] = True
    first, second = (Transactions.from_matrix(part, items=list("abcdefgh")) for part in columns)
    found = compare(first, second, min_support=0.01)
    own = {frozenset(names) for names in found.own().sets}
    assert frozenset("ab") in own
    assert np.mean([not set(names) & set("ab") for names in found.sets]) < 0.1
    causes = dict(zip(map(frozenset, found.sets), map(frozenset, found.explained_by), strict=True))
    assert causes[frozenset("abc")] == frozenset("ab")
    assert all(cause < names for names, cause in causes.items())
    assert len(own) < len(found) / 2
    is_own = found.explained_by.lengths == 0
    assert (np.diff(is_own.astype(int)) <= 0).all()
    assert (np.diff(found.own().p_value) >= 0).all()
    assert len(found.more()) + len(found.less()) == len(found)


def test_intervals_hold_their_level():
    """Ninety-five of a hundred intervals hold the true ratio, also for small counts; a pole is infinite."""
    rng = np.random.default_rng(2)
    for p, ratio in ((0.01, 1.0), (0.02, 3.0), (0.3, 1.5)):
        x, y = rng.binomial(400, p, 4000), rng.binomial(900, ratio * p, 4000)
        lower, upper = ratio_intervals(x, y, 400, 900)
        assert 0.935 < np.mean((lower <= ratio) & (ratio <= upper)) < 0.985
    lower, upper = ratio_intervals(np.array([0, 5, 0]), np.array([5, 0, 0]), 100, 100)
    assert lower.tolist()[1:] == [0.0, 0.0]
    assert lower[0] > 1
    assert np.isinf(upper[[0, 2]]).all()
    large = ratio_intervals(np.array([4000]), np.array([6000]), 100_000, 100_000)
    katz = stats.contingency.relative_risk(6000, 100_000, 4000, 100_000).confidence_interval(0.95)
    assert [float(end[0]) for end in large] == pytest.approx(list(katz), rel=1e-3)


def test_other_items_and_multiplicities():
    """Items are matched by name; what only one has is new or lost; merged rows count as often as they are."""
    first = Transactions.from_lists([["tea", "cake"]] * 40 + [["tea"]] * 60)
    second = Transactions.from_lists([["ice", "tea"]] * 40 + [["tea"]] * 60)
    found = compare(first, second, min_support=0.1)
    change = dict(zip(found.sets, found.change, strict=True))
    assert change == {("cake",): "lost", ("ice",): "new", ("tea", "cake"): "lost", ("tea", "ice"): "new"}
    assert compare(first.merge_identical(), second.merge_identical(), min_support=0.1) == found
    assert Comparison.from_arrow(found.to_arrow()) == found
    frame = found.to_pandas()
    assert list(frame.columns[:3]) == ["itemsets", "count_a", "count_b"]
    assert frame["ratio"].max() == math.inf
    assert repr(found).startswith(
        "Comparison: 4 itemsets of 5 differ, 2 not by a part of them, q <= 5%, a: 100 t"
    )


def test_groups_against_the_rest():
    """Each group is compared with all others; of two the second with the first; all tests are one family."""
    rows = [["a"]] * 50 + [["b"]] * 50 + [["a", "b"]] * 50
    tx = Transactions.from_lists(rows)
    by = ["x"] * 50 + ["y"] * 50 + ["z"] * 50
    found = compare(tx, by=by, min_support=0.1)
    alone = [compare(tx[np.array(by) != name], tx[np.array(by) == name], min_support=0.1) for name in "xyz"]
    assert found.n_tested == sum(part.n_tested for part in alone)
    assert set(found.group) == {"x", "y", "z"}
    assert (found.n_a, found.n_b) == (None, None)
    of_x = found[np.array(found.group) == "x"]
    assert sorted(of_x.p_value) == sorted(alone[0].p_value)
    two = compare(tx[:100], by=by[:100], min_support=0.1)
    assert set(two.group) == {"y"}
    assert two.support_b.tolist() == compare(tx[:50], tx[50:100], min_support=0.1).support_b.tolist()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([[["a"]]], {}, "expected two sets of transactions to compare, got one; pass b, or by="),
        ([[["a"]], []], {}, "expected transactions to compare, got none in b; check what was read"),
        ([[["a"]], [["b"]]], {"by": ["x"]}, "expected b or by, got both; leave out one"),
        ([[["a"]] * 3], {"by": ["x", "y"]}, "a value in by for each of the 3 transactions, got 2; pass them"),
        ([[["a"]] * 3], {"by": ["x"] * 3}, "expected 2 to 100 groups in by, got 1; pass b to compare with"),
        ([[["a"]] * 200], {"by": range(200)}, "2 to 100 groups in by, got 200; put values together, such as"),
        ([[["a"]], [[1]]], {}, "expected one kind of item names in both, got 'a' in a and 1 in b; make all"),
        ([[["a"]], [["a"]]], {"level": 2}, "expected a level between 0 and 1, got 2; try 0.05"),
        (
            [[["a"]], [["a"]]],
            {"adjust": "x"},
            "expected adjust to be one of 'bh', 'by', 'holm', 'bonferroni'",
        ),
        ([[["a"]], [["a"]]], {"min_support": 0}, "expected min_support as a fraction in"),
    ],
)
def test_what_cannot_be_compared(arguments, options, message):
    """The messages say what was expected and what to try."""
    with pytest.raises(InvalidInputError, match=message):
        compare(*arguments, **{"min_support": 0.5, **options})


def test_small_groups_do_no_harm():
    """Of a group with few transactions not everything is frequent; one below five has no sets of its own."""
    rows = [["a", "b"]] * 30 + [["a"]] * 30 + [list("cdefghijklmnopqrstuvwxyz")] * 4
    tx = Transactions.from_lists(rows)
    found = compare(tx, by=["x"] * 30 + ["y"] * 30 + ["z"] * 4, min_support=0.01)
    assert found.n_tested == 3 * 3
    assert {("b",), ("a", "b")} <= set(found.sets)
    with pytest.raises(InvalidInputError, match="a count of at most 34, the number of transactions, got 40"):
        compare(tx[:30], tx[30:], min_support=40)


def test_too_many_sets():
    """The message says where they are, and what a comparison can do about it."""
    with pytest.raises(
        TooManyItemsetsError, match=r"got 2 transactions with .* and more; try max_len=2, or a"
    ):
        compare([list("abcdefghij")] * 2, [["a"]], min_support=1, max_itemsets=10)


def test_nothing_differs():
    """No find is a table without rows."""
    found = compare([["a"]] * 5, [["a"]] * 5)
    assert len(found) == 0
    assert len(found.to_pandas()) == 0
    assert repr(found) == "Comparison: 0 itemsets of 1 differ, q <= 5%, a: 5 transactions, b: 5"
    assert itemix.Comparison.from_arrow(found.to_arrow()) == found


def test_components_whose_shares_moved():
    """Two kinds of baskets are found, with their shares of both sides, and Fisher's p-values."""
    kinds = [["tea", "cake"], ["beer", "chips"]]
    sides = [[kinds[0]] * 60 + [kinds[1]] * 40, [kinds[0]] * 20 + [kinds[1]] * 80]
    found = compare_components(*sides, n_components=2)
    shares = {
        frozenset(names): (a, b)
        for names, a, b in zip(found.typical, found.share_a, found.share_b, strict=True)
    }
    assert shares == {frozenset(kinds[0]): (0.6, 0.2), frozenset(kinds[1]): (0.4, 0.8)}
    one_sided = stats.fisher_exact([[60, 20], [40, 80]], alternative="greater").pvalue
    assert found.p_value == pytest.approx(2 * one_sided)
    assert found.q_value == pytest.approx(2 * one_sided)
    assert ((found.lower < found.ratio) & (found.ratio < found.upper)).all()
    groups = ["b"] * 100 + ["c"] * 100
    by = compare_components(sides[0] + sides[1], by=groups, n_components=2)
    assert by.group == ["c", "c"]
    assert by.p_value.tolist() == found.p_value.tolist()
    assert "a: 100 transactions, b: 100" in repr(found)
    assert "2 of 2 differ" in repr(by)


def test_components_of_parts_of_one_source_do_not_move():
    """Of random divisions, few have any find: at most 5%, within three standard errors."""
    truth = itemix.Mixture([0.5, 0.3, 0.2], np.random.default_rng(0).beta(1, 2, (3, 8)), list("abcdefgh"))
    data = truth.sample(200, random_state=0)
    n_finds = [
        len(compare_components(*data.split(0.4, random_state=seed), n_components=4, random_state=seed))
        for seed in range(40)
    ]
    assert np.count_nonzero(n_finds) <= 40 * 0.05 + 3 * (40 * 0.05 * 0.95) ** 0.5


def test_labels_are_compared_as_by_scipy():
    """Counts of labels, one at a time against all others; a label without transactions is not tested."""
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 1, 3], 300)
    is_b = (rng.random(300) < 0.4) | (labels == 3)
    typical = Sets.from_names([["a"], ["b"], ["c"], []], itemix.Items("abc"))
    found = compare_shares(labels, [(None, is_b)], typical, ["a", "b", "c", "-"], level=1.0, adjust="none")
    assert sorted(found.component.tolist()) == [0, 1, 3]
    for k, p in zip(found.component, found.p_value, strict=True):
        table = [[((labels == k) & side).sum(), ((labels != k) & side).sum()] for side in (is_b, ~is_b)]
        tails = [stats.fisher_exact(table, alternative=way).pvalue for way in ("less", "greater")]
        assert p == pytest.approx(min(1.0, 2 * min(tails)))
    assert np.isinf(found.ratio[found.component == 3]).all()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([["a"]],), {}, "expected two sets of transactions to compare, got one"),
        (([["a"]], [["b"]]), {"by": ["x"]}, "expected b or by, got both"),
        (([["a"]], []), {}, "expected transactions to compare, got none in b"),
        (([["a"], ["b"]],), {"by": ["x"]}, "expected a value in by for each of the 2 transactions, got 1"),
        (([["a"], ["b"]],), {"by": ["x", "x"]}, "expected 2 to 100 groups in by, got 1"),
        (([["a"]], [["b"]]), {"level": 2}, "level"),
        (([["a"]], [["b"]]), {"n_components": 0}, "n_components"),
        (([["a"]], [["b"]]), {"adjust": "fdr"}, "adjust"),
    ],
)
def test_components_of_bad_input(arguments, options, message):
    """One line each."""
    with pytest.raises(InvalidInputError, match=message):
        compare_components(*arguments, **options)
