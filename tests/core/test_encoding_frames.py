import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from itemix import InvalidInputError, Transactions
from itemix.core.encoding import number_values
from itemix.core.rows import GrowingRows, RowOptions

ONEHOT = {"milk": [1, 0, 1], "bread": [0, 0, 1], "beer": [1, 0, 0]}
BASKETS = [["milk", "beer"], [], ["milk", "bread"]]
PAIRS = {"order": [7, 3, 7, 3], "sku": ["b", "c", "a", "c"]}

one_hot_frames = [
    pd.DataFrame(ONEHOT),
    pd.DataFrame(ONEHOT).astype(bool),
    pd.DataFrame(ONEHOT).astype(float),
    pd.DataFrame(ONEHOT).astype("Int64"),
    pd.DataFrame(ONEHOT).astype("boolean"),
    pd.DataFrame(ONEHOT).astype(bool).astype(object),
    pd.DataFrame(ONEHOT).astype(pd.SparseDtype(int, 0)),
    pd.DataFrame(ONEHOT).astype(bool).astype(pd.SparseDtype(bool, False)),
    pd.DataFrame(ONEHOT).astype(bool).astype(pd.SparseDtype(bool, True)),
    pd.DataFrame(ONEHOT, index=["x", "y", "z"]),
    pl.DataFrame(ONEHOT),
    pl.DataFrame(ONEHOT).cast(pl.Boolean),
    pa.table(ONEHOT),
]


@pytest.mark.parametrize("frame", one_hot_frames, ids=lambda f: f"{type(f).__module__}-{len(f)}")
def test_one_hot_frames_of_all_kinds_agree(frame):
    """Whatever the library and the type of the columns, and the items keep the order of the columns."""
    transactions = Transactions.from_dataframe(frame)
    assert transactions.to_lists() == BASKETS
    assert list(transactions.items) == list(ONEHOT)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_long_frames_of_all_kinds_agree(make):
    """Transactions come as they first appear, items in ascending order, repeated pairs count once."""
    transactions = Transactions.from_long(make(PAIRS), transaction="order", item="sku")
    assert transactions.to_lists() == [["a", "b"], ["c"]]


def test_categories_are_names():
    """A categorical column is read by its categories, those that do not occur left out."""
    frame = pd.DataFrame({"t": [1, 1, 2], "i": pd.Categorical(["b", "a", "b"], categories=["z", "b", "a"])})
    transactions = Transactions.from_long(frame, "t", "i")
    assert transactions.to_lists() == [["a", "b"], ["b"]]
    assert list(transactions.items) == ["a", "b"]


@pytest.mark.parametrize("make", [lambda view: view, lambda view: view.dictionary_encode()])
def test_string_views_are_names(make):
    """What polars writes to Arrow files: views of strings, plain or as a dictionary, in several chunks."""
    names = pa.chunked_array([make(pa.array(part, pa.string_view())) for part in (["b", "a"], ["b", "c"])])
    frame = pa.table({"t": [1, 1, 2, 2], "i": names})
    assert Transactions.from_long(frame, "t", "i").to_lists() == [["a", "b"], ["b", "c"]]


def test_integer_names_stay_integers():
    """Columns named by numbers, and numbers in an item column, are integer names."""
    onehot = Transactions.from_dataframe(pd.DataFrame(np.eye(2, dtype=bool)))
    long = Transactions.from_long(pd.DataFrame({"t": [1, 1], "i": [20, 3]}), "t", "i")
    assert onehot.to_lists() == [[0], [1]]
    assert long.to_lists() == [[3, 20]]


@given(hnp.arrays(np.bool_, st.tuples(st.integers(1, 8), st.integers(1, 6))))
def test_frames_come_back(matrix):
    """A frame made of transactions gives equal transactions, without being densified on the way."""
    transactions = Transactions.from_matrix(matrix, [f"i{j}" for j in range(matrix.shape[1])])
    frame = transactions.to_dataframe()
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes)
    assert frame.to_numpy().tolist() == matrix.tolist()
    assert Transactions.from_dataframe(frame) == transactions


def test_sparse_frames_are_not_densified():
    """A frame of ten thousand million cells with two ones is read, which a dense one would not be."""
    n_rows = 1_000_000
    places = (np.array([5, 7]), np.array([0, 1]))
    matrix = sparse.csc_array((np.ones(2, dtype=np.int8), places), shape=(n_rows, 10_000))
    frame = pd.DataFrame.sparse.from_spmatrix(matrix, columns=[f"i{j}" for j in range(10_000)])
    transactions = Transactions.from_dataframe(frame)
    assert (transactions.n_rows, transactions.n_items, transactions.n_ones) == (n_rows, 10_000, 2)
    assert transactions.support(["i1"]) == 1e-6


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0, 2], "2"),
        ([0, -1], "-1"),
        ([0.0, 0.5], "0.5"),
        ([1.0, None], "a missing value"),
        (["a", "b"], "'a'"),
        ([[1], [0]], r"\[1\]"),
    ],
)
def test_other_values_are_refused(make, values, shown):
    """The message names the value and the column."""
    frame = make({"milk": [0, 1], "bread": values})
    with pytest.raises(
        InvalidInputError, match=rf"expected only 0 and 1 .* got .*{shown}.* in column 'bread'; try"
    ):
        Transactions.from_dataframe(frame)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", object])
def test_missing_values_of_all_types_are_refused(dtype):
    """Also where pandas keeps them apart from the values."""
    frame = pd.DataFrame({"milk": pd.Series([1, None], dtype=dtype)})
    with pytest.raises(InvalidInputError, match=r"got a missing value in column 'milk'"):
        Transactions.from_dataframe(frame)


def test_sparse_frames_are_checked():
    """A count that a sparse column stores is refused too."""
    frame = pd.DataFrame({"milk": [0, 3]}).astype(pd.SparseDtype(int, 0))
    with pytest.raises(InvalidInputError, match=r"got 3 in column 'milk'"):
        Transactions.from_dataframe(frame)


def test_columns_must_be_distinct():
    """Two columns of one name cannot be told apart."""
    message = r"expected distinct column names, got 'a' more than once; rename one of them"
    with pytest.raises(InvalidInputError, match=message):
        Transactions.from_dataframe(pd.DataFrame([[0, 1]], columns=["a", "a"]))
    with pytest.raises(InvalidInputError, match=message):
        Transactions.from_dataframe(pa.table([[0], [1]], names=["a", "a"]))


@pytest.mark.parametrize("what", [[["a"]], np.eye(2), {"a": [1]}, None])
def test_other_things_are_no_frames(what):
    """Lists and arrays have their own constructors."""
    with pytest.raises(
        InvalidInputError, match=r"expected a pandas, polars or pyarrow data frame, got \w+; for lists"
    ):
        Transactions.from_dataframe(what)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_without_rows(make):
    """No pairs are no transactions, also where the columns have no type."""
    assert Transactions.from_long(make({"t": [], "i": []}), "t", "i").to_lists() == []


def test_one_column_cannot_be_both():
    """Transactions and items come from different columns."""
    message = r"expected different columns of transactions and items, got 'sku' for both; name another one"
    with pytest.raises(InvalidInputError, match=message):
        Transactions.from_long(pd.DataFrame(PAIRS), "sku", "sku")


def test_names_of_several_types_are_refused():
    """A column of pandas may hold anything; the message names it."""
    frame = pd.DataFrame({"t": [1, 1], "i": ["a", 5]})
    with pytest.raises(InvalidInputError, match=r"expected values of one type in column 'i', got several \("):
        Transactions.from_long(frame, "t", "i")


def test_columns_named_by_numbers():
    """A file that pandas read without a header has columns 0 and 1, and they can be named."""
    frame = pd.DataFrame([[1, "milk"], [1, "bread"], [2, "milk"]])
    assert Transactions.from_long(frame, transaction=0, item=1).to_lists() == [["bread", "milk"], ["milk"]]


def test_ids_that_are_lists_are_refused():
    """Ids are plain values; items may be lists."""
    frame = pd.DataFrame({"order": [(1, 2), (3, 4)], "sku": ["a", "b"]})
    with pytest.raises(InvalidInputError, match=r"expected strings or numbers in every column, got list<.*"):
        Transactions.from_long(frame, "order", "sku")


def test_missing_columns_are_named():
    """The message says which columns there are, and which argument names them."""
    frame = pd.DataFrame(PAIRS)
    with pytest.raises(
        InvalidInputError, match=r"expected a column 'basket', got columns 'order', 'sku'; name the"
    ):
        Transactions.from_long(frame, "basket", "sku")
    with pytest.raises(InvalidInputError, match=r"name the right one with item="):
        Transactions.from_long(frame, "order", "product")
    wide = pd.DataFrame({f"c{j}": [1] for j in range(20)})
    with pytest.raises(InvalidInputError, match=r"'c7', \.\.\.; name"):
        Transactions.from_long(wide, "basket", "sku")


@pytest.mark.parametrize(
    ("transaction", "item", "role"), [([1, None], ["a", "b"], "transaction"), ([1, 2], ["a", None], "item")]
)
def test_missing_values_in_pairs_are_refused(transaction, item, role):
    """A pair without its transaction or its item says nothing."""
    frame = pd.DataFrame({"t": transaction, "i": item})
    message = rf"expected a value in every row of the {role} column .*, got 1 missing; fill them in"
    with pytest.raises(InvalidInputError, match=message):
        Transactions.from_long(frame, "t", "i")


def test_missing_names_in_lists_are_refused():
    """A list with a hole in it says nothing."""
    with pytest.raises(InvalidInputError, match="expected item names in every list, got 1 missing values"):
        GrowingRows().add_lists(np.array([2]), pa.array(["a", None]), RowOptions())


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=4))
def test_values_of_chunks_are_numbered_as_they_appear(chunks):
    """Chunks with other dictionaries make one numbering."""
    values = [value for chunk in chunks for value in chunk]
    for encode in (lambda array: array, lambda array: array.dictionary_encode()):
        column = pa.chunked_array([encode(pa.array(chunk, type=pa.string())) for chunk in chunks])
        numbers, names = number_values(column)
        assert names.to_pylist() == list(dict.fromkeys(values))
        assert [names[int(k)].as_py() for k in numbers] == values
