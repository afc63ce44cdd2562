import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from itemix import InvalidInputError, Transactions
from itemix.core.encoding import encode_lists, encode_matrix

baskets = st.lists(st.lists(st.text(max_size=4), max_size=6), max_size=8)
matrices = hnp.arrays(np.bool_, st.tuples(st.integers(0, 8), st.integers(0, 6)))


def rows_of(encoded):
    """Return the transactions as lists."""
    return Transactions(*encoded).to_lists()


@given(baskets)
def test_lists_keep_their_items(lists):
    """Every transaction has its items, once and in ascending order; the items are those that occur."""
    encoded = encode_lists(lists)
    assert rows_of(encoded) == [sorted(set(row)) for row in lists]
    assert list(encoded.items) == sorted({name for row in lists for name in row})


@pytest.mark.parametrize("odd", [True, 1.0])
def test_what_equals_an_integer_is_none(odd):
    """True and 1.0 are refused also where they come after the 1 that they are equal to."""
    message = rf"expected item names that are strings or integers, got {odd!r} \({type(odd).__name__}\) in"
    for lists in ([[1], [odd]], [[1, odd]], [[odd]], iter([(1,), iter([odd])])):
        with pytest.raises(InvalidInputError, match=message):
            encode_lists(lists)


def test_lists_may_be_any_iterables():
    """Generators, tuples, sets, and NumPy's own strings and integers are fine."""
    assert rows_of(encode_lists(iter([("b", "a"), {"a"}, iter(["c"])]))) == [["a", "b"], ["a"], ["c"]]
    assert rows_of(encode_lists(np.array([["b", "a"], ["a", "a"]]))) == [["a", "b"], ["a"]]
    assert rows_of(encode_lists([np.array([3, 1]), [2]])) == [[1, 3], [2]]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (
            ["milk"],
            r"expected every transaction to be a list of item names, got 'milk' \(str\) at position 0",
        ),
        (5, r"expected a list of transactions, got 5; try \[\['milk', 'bread'\], \['milk'\]\]"),
        ([["a"], 5], r"got 5 \(int\) at position 1; try \[\['milk', 'bread'\], \['milk'\]\]"),
        ([["a"], ["b", None]], r"expected item names that are strings or integers, got None \(NoneType\) in"),
        ([["a"], [float("nan")]], r"got nan \(float\) in transaction 1; leave missing values out"),
        ([["a", ["b"]]], r"got unhashable type: 'list' in transaction 0; .* flatten nested lists"),
        ([["a"], [1]], r"expected item names that are all strings or all integers, got 1 \(int\) among them"),
    ],
)
def test_bad_lists_are_refused(lists, message):
    """The message names the transaction."""
    with pytest.raises(InvalidInputError, match=message):
        encode_lists(lists)


@given(matrices, st.sampled_from([bool, np.uint8, np.int64, np.float32, object]))
def test_matrices_of_all_types_agree(matrix, dtype):
    """Dense and sparse matrices of any type have the same ones, and all columns are items."""
    expected = [np.flatnonzero(row).tolist() for row in matrix]
    assert rows_of(encode_matrix(matrix.astype(dtype))) == expected
    if dtype is not object:
        for make in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
            assert rows_of(encode_matrix(make(matrix.astype(dtype)))) == expected
    assert list(encode_matrix(matrix).items) == list(range(matrix.shape[1]))


def test_stored_zeros_are_zeros():
    """A zero that a sparse matrix stores is not an item."""
    matrix = sparse.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert rows_of(encode_matrix(matrix, ["a", "b"])) == [["b"]]


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.coo_array])
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2, r"2(\.0)?; try Transactions.from_table, .*age=18-30"),
        (-1, r"-1(\.0)?; try Transactions.from_table"),
        (0.5, r"0.5; try Transactions.from_table"),
        (np.nan, "a missing value; try 0 in its place, if the item was absent"),
    ],
)
def test_other_values_are_refused(make, value, shown):
    """Counts, negative numbers, fractions and NaN are not items."""
    message = rf"expected only 0 and 1 \(or False and True\), got {shown}"
    with pytest.raises(InvalidInputError, match=message):
        encode_matrix(make([[1, 0], [0, value]]))


def test_a_place_stored_twice_is_two():
    """SciPy adds entries for the same place, so that they make 2, which is refused."""
    matrix = sparse.coo_array((np.array([1, 1]), (np.array([0, 0]), np.array([1, 1]))), shape=(1, 2))
    with pytest.raises(InvalidInputError, match="got 2"):
        encode_matrix(matrix)
    assert matrix.nnz == 2


@pytest.mark.parametrize(
    ("matrix", "items", "message"),
    [
        (np.array([1, 0]), None, r"expected a matrix with a row for each transaction, got 1 dimension\(s\)"),
        (np.eye(2), ["a"], r"expected a name for each of the 2 columns, got 1 names; pass as many"),
        (np.array([["yes"]]), None, r"expected only 0 and 1 .* got 'yes'; try Transactions.from_table"),
        (np.array([[1j]]), None, r"got 1j"),
        (np.ma.array([[1, 0]], mask=[[False, True]]), None, r"got a missing value"),
        ([[1, 0], [1]], None, r"expected a matrix whose rows have the same length, got rows of different"),
        (np.array([["1"]], dtype=object), None, r"got '1'"),
        (np.array([[None]], dtype=object), None, r"got a missing value"),
    ],
)
def test_bad_matrices_are_refused(matrix, items, message):
    """A matrix has two dimensions, and a name for each column."""
    with pytest.raises(InvalidInputError, match=message):
        encode_matrix(matrix, items)
