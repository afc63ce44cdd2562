"""Long tables in chunks: as they come where transactions stand together, else put together on disk."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itemix
from itemix import InvalidInputError, read_chunks, read_transactions
from itemix.io import arrow, long, text

NAMES = ["milk", "bread", "7", "12", " beer "]


@pytest.fixture(scope="module", autouse=True)
def _small_steps():
    """Few rows in a batch, in a flush of the buckets, and in a window."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK_SIZE", 64)
        patch.setattr(arrow, "_MOST_ROWS", 3)
        patch.setattr(long, "_ROWS_AT_ONCE", 5)
        patch.setattr(long, "_ROWS_IN_A_WINDOW", 4)
        patch.setattr(long, "_N_BUCKETS", 3)
        yield


def write(path, rows, kind):
    """Write pairs of a transaction and an item, in their order."""
    orders, names = zip(*rows, strict=True)
    if kind == "csv":
        path.write_text("order_id,product\n" + "".join(f"{order},{name}\n" for order, name in rows))
    elif kind == "two keys":
        days = [order // 3 for order in orders]
        pq.write_table(pa.table({"member": [o % 3 for o in orders], "day": days, "item": names}), path)
    else:
        orders = [f"no {order}" for order in orders] if kind == "texts" else orders
        pq.write_table(pa.table({"order_id": orders, "product": names}), path)


def joined(chunks):
    """Put chunks together."""
    return itemix.Transactions.concatenate(list(chunks))


rows_in_any_order = st.lists(st.tuples(st.integers(0, 8), st.sampled_from(NAMES)), min_size=1, max_size=40)
kinds = st.sampled_from(["csv", "numbers", "texts", "two keys"])


@given(rows_in_any_order, kinds, st.sampled_from([1, 40, 1 << 26]))
def test_rows_that_stand_together_come_as_they_are_read(tmp_path_factory, rows, kind, size):
    """The chunks are what is read at once: the same transactions in the same order, whatever the batches."""
    path = tmp_path_factory.getbasetemp() / "together"
    firsts = list(dict.fromkeys(order for order, _ in rows))
    write(path, sorted(rows, key=lambda row: firsts.index(row[0])), kind)
    whole = read_transactions(path, format="long")
    chunks = read_chunks(path, format="long", chunk_bytes=size)
    for _ in range(2):
        assert joined(chunks) == whole
    assert (chunks.n_transactions, chunks.source) == (whole.n_transactions, whole.source)


@given(rows_in_any_order, kinds, st.sampled_from([1, 40, 1 << 26]))
def test_rows_in_any_order_are_put_together_on_disk(tmp_path_factory, rows, kind, size):
    """With a cache the order of rows does not matter; without one, a transaction that comes back is named."""
    path = tmp_path_factory.getbasetemp() / "spread"
    write(path, rows, kind)
    whole = read_transactions(path, format="long")
    chunks = read_chunks(path, format="long", chunk_bytes=size, cache=True)
    for _ in range(2):
        assert joined(chunks) == whole
    changes = 1 + sum(a != b for (a, _), (b, _) in pairwise(rows))
    if changes == len({order for order, _ in rows}):
        assert joined(read_chunks(path, format="long")) == whole
    else:
        with pytest.raises(InvalidInputError, match=r"the rows of each transaction together, .* try cache"):
            read_chunks(path, format="long")


def test_the_transaction_that_comes_back_is_named(tmp_path):
    """In the same batch and in a later one; so is the file, and what to try."""
    near, far = tmp_path / "near.csv", tmp_path / "far.csv"
    near.write_text("order_id,product\n1,milk\nA7,milk\n1,bread\n")
    far.write_text("order_id,product\n" + "".join(f"{n % 50},milk\n" for n in range(51)))
    for path, name in ((near, "1"), (far, "0")):
        message = f"to read {path.name} in chunks, got {name} in column 'order_id' again after others; try"
        with pytest.raises(InvalidInputError, match=message):
            read_chunks(path)


def test_a_column_is_chosen_as_when_it_is_read_at_once(tmp_path):
    """The same columns, and the same words about them."""
    path = tmp_path / "sales.csv"
    path.write_text("order_id,product,price\n1,milk,2\n1,bread,3\n2,milk,2\n")
    chunks = read_chunks(path)
    assert chunks.source == read_transactions(path).source
    assert [chunk.to_lists() for chunk in chunks] == [[["bread", "milk"], ["milk"]]]


lines_of_invoices = st.lists(
    st.tuples(
        st.sampled_from(["7", "8", "C9", "", "10"]),
        st.sampled_from(["tea", " Tea ", "milk", ""]),
        st.sampled_from([-1, 0, 1, 5]),
    ),
    min_size=1,
    max_size=25,
)


@given(lines_of_invoices, st.booleans(), st.booleans(), st.sampled_from(["csv", "parquet"]))
def test_rows_are_left_out_as_when_all_is_read_at_once(tmp_path_factory, lines, upper, strip, kind):
    """Conditions, gaps and cleaning give the same transactions, and the same words about what went."""
    path = tmp_path_factory.getbasetemp() / f"lines.{kind}"
    frame = pd.DataFrame(lines, columns=["invoice", "item", "quantity"])
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(frame.replace("", None), preserve_index=False), path)
    options = {
        "format": "long",
        "where": "quantity > 0 and invoice not starts with C",
        "drop_missing": True,
        "upper": upper,
        "strip": strip,
    }
    whole = read_transactions(path, **options)
    chunks = read_chunks(path, cache=True, chunk_bytes=40, **options)
    assert joined(chunks) == whole
    assert chunks.source == whole.source


def test_what_chunks_cannot_have_is_refused(tmp_path):
    """Weights of rows, and conditions on what has no columns."""
    path, other = tmp_path / "sales.csv", tmp_path / "other.csv"
    path.write_text("order_id,product,price\n1,milk,2\n1,bread,3\n2,milk,2\n")
    other.write_text("tea,milk\nmilk\n")
    with pytest.raises(InvalidInputError, match="expected no counts and no quantity, to read in chunks"):
        read_chunks(path, quantity="price")
    with pytest.raises(InvalidInputError, match="expected a long table, or format='table', with where="):
        read_chunks(other, where="price > 2")
    pq.write_table(pa.table({"items": [["a", "b"], ["a"]]}), tmp_path / "lists.parquet")
    with pytest.raises(InvalidInputError, match="expected a long table, or format='table', for conditions"):
        read_chunks(tmp_path / "lists.parquet", where="price > 2")
    upper = read_chunks(tmp_path / "lists.parquet", upper=True)
    assert [chunk.to_lists() for chunk in upper] == [[["A", "B"], ["A"]]]


def test_what_is_wrong_in_a_batch(tmp_path):
    """A missing name, a row that is too long and lists in cells are told with the file's name."""
    missing, uneven, lists = (tmp_path / f"{name}.csv" for name in ("missing", "uneven", "lists"))
    missing.write_text("order_id,product\n" + "1,milk\n" * 40 + "1,\n")
    uneven.write_text("order_id,product\n" + "1,milk\n" * 40 + "1,milk,bread\n")
    lists.write_text("order_id,product\n" + "".join(f'{n},"milk,bread"\n' for n in range(40)))
    cases = (
        (missing, "missing.csv: expected a value in every row of the item column 'product', got 1 missing"),
        (uneven, "expected 2 cells in every row, got 3 in row 42 of uneven.csv"),
        (lists, "expected an item in each row of lists.csv, .* got lists in the cells of 'product'; read it"),
    )
    for path, message in cases:
        with pytest.raises(InvalidInputError, match=message):
            read_chunks(path)
    assert read_chunks(lists, format="long").n_items == 1


@given(st.lists(st.lists(st.integers(0, 60), unique=True, max_size=9), max_size=9))
def test_ids_that_were_seen(batches):
    """One that was there before is found, whichever batch it was in."""
    seen, before = long.SeenIds(), set()
    for batch in batches:
        place = seen.add(np.array(batch, dtype=np.uint64))
        again = [number in before for number in batch]
        assert (place >= 0) == any(again)
        if place >= 0:
            assert again[place]
            break
        before.update(batch)
