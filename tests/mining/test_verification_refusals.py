"""What `mine` says where it cannot verify what was asked."""

import pytest

from itemix import (
    BernoulliMixture,
    InvalidInputError,
    Mixture,
    TooManyItemsetsError,
    Transactions,
    UnknownItemError,
    mine,
)

MODEL = Mixture([1.0], [[0.5, 0.5]], ["a", "b"])
BASKETS = [["a", "b"], ["a"]]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"verify": iter([])},
            InvalidInputError,
            "expected data that can be read more than once, got list_iterator; pass a list of chunks, or a f",
        ),
        ({"verify": 5}, InvalidInputError, "expected transactions, a data frame, a matrix .* got int"),
        (
            {"verify": "a.dat"},
            InvalidInputError,
            "expected transactions, got the name 'a.dat'; read the file",
        ),
        ({"verify": lambda: None}, InvalidInputError, "expected transactions, .* got NoneType"),
        (
            {"verify": [Transactions.from_lists([["a"]]), Transactions.from_lists([[1]])]},
            InvalidInputError,
            "expected names that are all strings or all integers, got parts with both",
        ),
        ({"min_support": None}, InvalidInputError, "expected min_support or top_k, got neither"),
        (
            {"min_support": 1.5},
            InvalidInputError,
            r"expected min_support as a fraction in \(0, 1\] or a whole",
        ),
        ({"target": "some"}, InvalidInputError, "expected target to be one of 'all', 'closed', 'maximal'"),
        ({"min_len": 0}, InvalidInputError, "expected min_len as a whole number of at least 1, got 0"),
        ({"include": 1.5}, InvalidInputError, "expected item names in a list, got float; try"),
        (
            {"include": "a", "exclude": ["a"]},
            InvalidInputError,
            "expected different items .* got 'a' in both",
        ),
        ({"include": "bb"}, UnknownItemError, "expected one of 2 known items, got 'bb'; the first are"),
        ({"exclude": ["c"]}, UnknownItemError, "expected one of 2 known items, got 'c'"),
        (
            {"max_itemsets": 1},
            TooManyItemsetsError,
            "expected at most max_itemsets=1 itemsets, got 2 and more",
        ),
        ({"n_jobs": 0}, InvalidInputError, "expected n_jobs as a number of threads, got 0"),
    ],
)
def test_bad_input(options, error, message):
    """Bad input is refused with a message that says what was expected and what was got."""
    with pytest.raises(error, match=message):
        mine(MODEL, **{"min_support": 0.5, "verify": BASKETS, **options})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            Transactions.from_lists(BASKETS),
            "expected a model whose itemsets are to be verified, got Transactions; mine data without verify=",
        ),
        (BernoulliMixture(), "expected a model whose .* got BernoulliMixture; fit it first"),
    ],
)
def test_only_models_are_verified(source, message):
    """Data is exact already; an estimator must be fitted."""
    with pytest.raises(InvalidInputError, match=message):
        mine(source, 0.5, verify=BASKETS)


def test_data_that_changes():
    """A source that gives other data, or none, when it is read again is noticed."""
    once = iter([Transactions.from_lists(200 * [["c", "d"]])])
    with pytest.raises(
        InvalidInputError, match="expected 1 parts in every pass, as before, got 0; wait until"
    ):
        mine(MODEL, 0.05, verify=lambda: once)
