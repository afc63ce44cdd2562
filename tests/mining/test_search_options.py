"""The options of `mine`: what has no meaning is refused, in one line that says what to try."""

from decimal import Decimal
from fractions import Fraction
from math import ceil, inf, nan, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itemix
from itemix import InvalidInputError, TooManyItemsetsError, UnknownItemError
from itemix.mining.search import min_count

ROWS = [["bread", "milk"], ["milk", "butter"], ["butter milk"]]

IN_RANGE = "expected min_support as a fraction in (0, 1] or a whole number of transactions, got "
BAD_OPTIONS = [
    ({}, "expected min_support or top_k, got neither; try min_support=0.01"),
    (
        {"min_support": 0},
        "expected min_support as a fraction in (0, 1] or a count of at least 1, got 0; try 1",
    ),
    (
        {"min_support": -1},
        "expected min_support as a fraction in (0, 1] or a count of at least 1, got -1; try 1",
    ),
    ({"min_support": 0.0}, IN_RANGE + "0.0; try 0.01"),
    ({"min_support": -0.5}, IN_RANGE + "-0.5; try 0.01"),
    ({"min_support": 1.5}, IN_RANGE + "1.5; try 0.01"),
    ({"min_support": 20.0}, IN_RANGE + "20.0; for a count write 20"),
    ({"min_support": nan}, IN_RANGE + "nan; try 0.01"),
    ({"min_support": inf}, IN_RANGE + "inf; try 0.01"),
    (
        {"min_support": "a"},
        (
            "expected min_support as a fraction (0.01), a percentage (1%) or a whole number of transactions "
            "(20), got 'a'; try 0.01"
        ),
    ),
    ({"min_support": True}, IN_RANGE + "True (bool); try 0.01"),
    ({"min_support": [0.5]}, IN_RANGE + "[0.5] (list); try 0.01"),
    ({"min_support": Decimal("0.5")}, IN_RANGE + "Decimal('0.5') (Decimal); try 0.01"),
    ({"progress": "x"}, "expected progress as True or False, got 'x'; try True"),
    (
        {"target": "most"},
        "expected target to be one of 'all', 'closed', 'maximal', 'generators', got 'most'; try 'all'",
    ),
    (
        {"target": None},
        "expected target to be one of 'all', 'closed', 'maximal', 'generators', got None; try 'all'",
    ),
    ({"min_len": 0}, "expected min_len as a whole number of at least 1, got 0; try 1"),
    ({"min_len": 1.5}, "expected min_len as a whole number of at least 1, got 1.5; try 1"),
    ({"max_len": -2}, "expected max_len as a whole number of at least 1, got -2; try 1"),
    ({"max_len": "2"}, "expected max_len as a whole number of at least 1, got '2'; try 1"),
    ({"min_len": 3, "max_len": 2}, "expected min_len <= max_len, got 3 and 2; lower min_len"),
    ({"top_k": 0}, "expected top_k as a whole number of at least 1, got 0; try 1"),
    ({"top_k": True}, "expected top_k as a whole number of at least 1, got True; try 1"),
    ({"max_itemsets": 0}, "expected max_itemsets as a whole number of at least 1, got 0; try 1"),
    ({"max_itemsets": 1e6}, "expected max_itemsets as a whole number of at least 1, got 1000000.0; try 1"),
    ({"top_k": 9, "max_itemsets": 8}, "expected top_k <= max_itemsets, got 9 and 8; lower top_k"),
    (
        {"include": ["milk"], "exclude": ["bread", "milk"]},
        "expected different items in include and exclude, got 'milk' in both; leave it out of one",
    ),
    ({"include": 1.5}, "expected item names in a list, got float; try ['milk', 'bread']"),
    ({"n_jobs": 0}, "expected n_jobs as a number of threads, got 0; try -1 for all processors"),
    ({"n_jobs": 1.5}, "expected n_jobs as a number of threads, got 1.5; try -1 for all processors"),
    ({"n_jobs": "all"}, "expected n_jobs as a number of threads, got 'all'; try -1 for all processors"),
]


@pytest.mark.parametrize(
    ("options", "message"), BAD_OPTIONS, ids=[str(options) for options, _ in BAD_OPTIONS]
)
def test_bad_options(options, message):
    """Each option without a meaning has its own message."""
    needs_no_threshold = not options or "min_support" in options
    with pytest.raises(InvalidInputError) as caught:
        itemix.mine(ROWS, **options if needs_no_threshold else {"min_support": 0.5, **options})
    assert str(caught.value) == message


@pytest.mark.parametrize("option", ["include", "exclude"])
def test_unknown_items(option):
    """An item that is not in the data is named, and the nearest names are offered."""
    with pytest.raises(UnknownItemError) as caught:
        itemix.mine(ROWS, 0.5, **{option: ["bred"]})
    assert str(caught.value) == "expected one of 4 known items, got 'bred'; did you mean 'bread'?"
    with pytest.raises(UnknownItemError, match="did you mean 'butter', 'butter milk'"):
        itemix.mine(ROWS, 0.5, **{option: "buter"})


def test_bad_sources():
    """What is no transactions is refused, and the name of a file is told from its content."""
    with pytest.raises(InvalidInputError, match=r"expected a file to read, got no such file 'groceries.csv'"):
        itemix.mine("groceries.csv", 0.1)
    with pytest.raises(InvalidInputError, match=r"expected transactions, a data frame, a matrix"):
        itemix.mine(5, 0.1)


@pytest.mark.parametrize(
    ("fraction", "n", "count"),
    [
        (0.28, 25, 7),
        (0.07, 100, 7),
        (0.29, 100, 29),
        (0.1 + 0.2, 10, 3),
        (1.1 - 1.0, 1000, 100),
        (1 / 3, 3, 1),
        (1 / 49, 49, 1),
        (0.281, 25, 8),
        (1.0, 12345, 12345),
        (1e-9, 100, 1),
        (nextafter(0, 1), 10, 1),
        (0.5, 0, 1),
        (0.3, 10**10 + 1, 3 * 10**9 + 1),
        (0.001, 88162, 89),
        (0.005, 32711, 164),
        (0.3, 17009, 5103),
        (np.float64(0.28), 25, 7),
        (Fraction(7, 25), 25, 7),
        (7, 25, 7),
        (np.int32(7), 25, 7),
        (25, 25, 25),
        (1, 0, 1),
    ],
)
def test_count_of_a_threshold(fraction, n, count):
    """A fraction is rounded up to a count, but not because of how computers store fractions."""
    assert min_count(fraction, n) == count
    assert isinstance(min_count(fraction, n), int)


MANY = "expected min_support as a fraction or a count of at most 3, the number of transactions, got "


@pytest.mark.parametrize(
    ("count", "hint"),
    [(60, "for 60% write 0.6"), (np.int64(4), "for 4% write 0.04"), (10**30, "for a fraction write 0.01")],
)
def test_counts_above_the_number_of_transactions(count, hint):
    """Whatever takes a support says that a whole number is a count, and how a percentage is written."""
    model = itemix.IndependentModel().fit(ROWS)
    exact = itemix.mine(ROWS, 1)
    calls = [
        lambda: itemix.mine(ROWS, count),
        lambda: itemix.mine(ROWS, count, top_k=2),
        lambda: itemix.mine(model, count, verify=ROWS),
        lambda: itemix.mine(model, count, verify=lambda: iter([ROWS])),
        lambda: itemix.evaluate(model, ROWS, count),
        lambda: itemix.evaluate(exact, ROWS, count),
        lambda: itemix.MaxEntropyModel(min_support=count).fit(ROWS),
        lambda: exact.filter(min_support=count),
    ]
    for call in calls:
        with pytest.raises(InvalidInputError) as caught:
            call()
        assert str(caught.value) == f"{MANY}{count}, which is a count; {hint}"
    with pytest.raises(
        InvalidInputError, match=f"expected max_support .* of at most 3, .* got {count}, which"
    ):
        exact.filter(max_support=count)


def test_all_transactions_are_no_count_too_many():
    """A count may be that of all transactions; without transactions nothing is frequent."""
    assert len(itemix.mine([["a"]] * 3, 3)) == 1
    assert len(itemix.mine([["a"]] * 3, 3).filter(min_support=3, max_support=3)) == 1
    assert len(itemix.mine([], 1)) == 0
    assert len(itemix.mine([], top_k=1)) == 0


@pytest.mark.parametrize(
    "support", [1.5, -0.5, nan, inf, True, np.True_, "half", None, Decimal("0.5"), [0.5]]
)
def test_what_is_no_support_for_anything(support, tmp_path):
    """Models, evaluations, reports, filters and estimators refuse what mining refuses."""
    model = itemix.IndependentModel().fit(ROWS)
    exact = itemix.mine(ROWS, 1)
    calls = [
        lambda: itemix.mine(ROWS, support),
        lambda: itemix.mine(model, support),
        lambda: itemix.mine(model, support, verify=ROWS),
        lambda: itemix.evaluate(model, ROWS, support),
        lambda: itemix.MaxEntropyModel(min_support=support).fit(ROWS),
    ]
    if support is not None:
        calls += [
            lambda: exact.filter(min_support=support),
            lambda: exact.filter(max_support=support),
            lambda: itemix.write_report(model, tmp_path / "r.html", min_support=support),
        ]
    for call in calls:
        with pytest.raises(InvalidInputError, match=r"expected (min|max)_support (as|or|to)[^\n]*; "):
            call()


MANY_SETS = itemix.Transactions.from_lists([range(13)] * 3)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"min_support": 2}, "try a higher min_support than 2 transactions, max_len=, target='closed' or "),
        ({"min_support": 3}, "try max_len=, target='closed' or 'maximal', or top_k="),
        (
            {"min_support": 3, "max_len": 20},
            "try a smaller max_len than 20, target='closed' or 'maximal', or ",
        ),
        ({"min_support": 3, "min_len": 3, "max_len": 3}, "try target='closed' or 'maximal', or top_k="),
    ],
)
def test_advice_is_what_was_not_tried(options, advice):
    """A search that finds too much offers only what was not asked for already."""
    with pytest.raises(TooManyItemsetsError) as caught:
        itemix.mine(MANY_SETS, max_itemsets=100, **options)
    assert str(caught.value).partition("; ")[2].startswith(advice)
    if "min_len" not in options:
        model = itemix.IndependentModel().fit(MANY_SETS)
        with pytest.raises(TooManyItemsetsError) as caught:
            itemix.mine(model, verify=MANY_SETS, max_itemsets=100, **options)
        assert str(caught.value).partition("; ")[2].startswith(advice)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"min_support": 0.9}, "try a higher min_support than 0.9, max_len=, or top_k="),
        ({"min_support": 1.0}, "try max_len=, or top_k="),
        ({"min_support": 1.0, "max_len": 9}, "try a smaller max_len than 9, or top_k="),
        ({"min_support": 1.0, "max_len": 9, "target": "closed"}, "try top_k="),
        ({"min_support": 1.0, "max_len": 9, "target": "maximal", "top_k": 9}, "try exclude="),
    ],
)
def test_advice_for_models(options, advice):
    """Of a model, closed and maximal sets are chosen among all: a length and a target do not help there."""
    model = itemix.Mixture([1.0], [[1.0] * 13], range(13))
    with pytest.raises(TooManyItemsetsError) as caught:
        itemix.mine(model, max_itemsets=100, **options)
    assert str(caught.value).partition("; ")[2] == advice


@given(st.integers(1, 10**7), st.data())
def test_a_support_is_its_own_threshold(n, data):
    """The support of a set as threshold finds the set; what is clearly more does not."""
    count = data.draw(st.integers(1, n))
    assert min_count(count / n, n) == count
    assert min_count(nextafter(count / n, 0), n) == count
    if count < n:
        assert min_count((count + 0.001) / n, n) == count + 1
        assert min_count((count + 0.999) / n, n) == count + 1


@given(st.integers(1, 10_000), st.integers(1, 10**6))
def test_decimal_thresholds(hundredths_of_a_percent, n):
    """What is written with a few decimals means just that."""
    expected = ceil(Fraction(hundredths_of_a_percent, 10_000) * n)
    assert min_count(hundredths_of_a_percent / 10_000, n) == expected
    assert min_count(float(f"{hundredths_of_a_percent / 100:.2f}e-2"), n) == expected


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_thresholds_of_any_width(kind):
    """A narrow 0.4 means 0.4, in mining, in filters, in models, in rules and in what results say of it."""
    rows = [["a", "c"]] * 4 + [["b"]] * 6
    found = itemix.mine(rows, kind(0.4))
    assert len(found) == 4
    assert found.min_support == 0.4
    assert len(found.filter(min_support=kind(0.4))) == 4
    assert len(found.filter(max_support=kind(0.4))) == 3
    model = itemix.IndependentModel().fit(rows)
    assert len(itemix.mine(model, kind(0.4))) == 3
    assert itemix.mine(model, kind(0.35), verify=rows).min_support == 0.35
    assert itemix.evaluate(model, rows, kind(0.35)).min_support == 0.35
    halves = itemix.mine([["a"]] * 3 + [["a", "b"]] * 2, 0.1)
    assert len(itemix.rules(halves, min_threshold=kind(0.4))) == 2


def test_exactly_met():
    """Seven of 25 transactions are 28% of them, six are not."""
    rows = [["seven", "six"]] * 6 + [["seven"]] + [[]] * 18
    assert [itemset.items for itemset in itemix.mine(rows, 0.28)] == [("seven",)]
    assert [itemset.items for itemset in itemix.mine(rows, 6 / 25)] == [
        ("seven",),
        ("six",),
        ("seven", "six"),
    ]
