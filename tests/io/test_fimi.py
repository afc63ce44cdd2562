import gzip
import io
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix import InvalidInputError, read_transactions
from itemix.io import source
from itemix.io.fimi import read_fimi

labels = st.one_of(st.integers(0, 300), st.integers(0, 10**18 - 1))


class Trickle(io.RawIOBase):
    """A stream that hands out a few bytes at a time, as a slow pipe does."""

    def __init__(self, data, size):
        super().__init__()
        self._data, self._size = io.BytesIO(data), size

    def readable(self):
        """Say that this can be read."""
        return True

    def readinto(self, buffer):
        """Fill as much of the buffer as there is."""
        data = self._data.read(min(len(buffer), self._size))
        buffer[: len(data)] = data
        return len(data)


class Broken(Trickle):
    """A stream that breaks off after some bytes."""

    def readinto(self, buffer):
        """Fill the buffer, or fail."""
        n = super().readinto(buffer)
        if self._data.tell() > 3 * source.BLOCK_SIZE:
            raise ConnectionResetError("gone")
        return n


def read(text, **options):
    """Read text as FIMI."""
    return read_transactions(io.BytesIO(text.encode()), format="fimi", **options)


@given(st.lists(st.lists(labels, max_size=6), min_size=1, max_size=10).filter(any))
def test_rows_are_sets_of_integers(rows):
    """Items of any size come out ascending and once in each row, numbered in ascending order."""
    transactions = read("\n".join(" ".join(map(str, row)) for row in rows) + "\n")
    assert transactions.to_lists() == [sorted(set(row)) for row in rows]
    assert list(transactions.items) == sorted({label for row in rows for label in row})
    assert transactions.items.are_integers


def random_text(n_bytes, largest, seed=0):
    """Write random rows, some empty, some unsorted, some repeating an item, again and again."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, largest, size=n).tolist() for n in rng.integers(0, 12, size=1000)]
    text = "\n".join(" ".join(map(str, row)) for row in rows) + "\n"
    repeats = n_bytes // len(text) + 1
    return text * repeats, [sorted(set(row)) for row in rows] * repeats


@pytest.mark.parametrize("largest", [50, 10**6, 10**12])
def test_files_of_many_blocks_are_read_whole(tmp_path, largest):
    """Blocks end in the middle of numbers and lines, and are parsed by several threads: nothing is lost."""
    text, rows = random_text(5 * source.BLOCK_SIZE // 2, largest)
    path = tmp_path / "many.dat"
    path.write_text(text)
    assert read_transactions(path).to_lists() == rows
    compressed = tmp_path / "many.dat.gz"
    compressed.write_bytes(gzip.compress(text.encode(), 1))
    assert read_transactions(compressed) == read_transactions(path)


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_slow_streams_are_read_whole(size):
    """A stream may hand out fewer bytes than were asked for."""
    text, rows = random_text(20_000, 10**4)
    assert read_transactions(Trickle(text.encode(), size)).to_lists() == rows


def test_a_stream_that_breaks_off_is_an_error():
    """Whichever thread was reading, the error comes out, and no thread is left behind."""
    before = threading.active_count()
    with pytest.raises(ConnectionResetError, match="gone"):
        read_transactions(Broken(b"1 2 3\n" * source.BLOCK_SIZE, 1 << 16))
    assert threading.active_count() == before


def test_a_line_may_be_longer_than_a_block(tmp_path):
    """A transaction of a million items is read like any other."""
    n = source.BLOCK_SIZE // 4
    path = tmp_path / "long.dat"
    path.write_text("7 8\n" + " ".join(map(str, range(n))) + "\n9\n")
    transactions = read_transactions(path)
    assert transactions.lengths().tolist() == [2, n, 1]
    assert transactions.count([7, 8]) == 2


def test_large_labels_cost_no_table():
    """An item 4000000000000 works beside small ones, in one block or another."""
    text = "1 2\n" * 200_000 + "4000000000000 2\n" * 200_000 + "3 1\n"
    transactions = read(text)
    assert list(transactions.items) == [1, 2, 3, 4000000000000]
    assert transactions.item_counts().tolist() == [200_001, 400_000, 1, 200_000]


def test_labels_at_the_edge_of_the_table():
    """The largest label of the table, the next one, and the largest of eight and nine digits."""
    row = [0, 2**21 - 2, 2**21 - 1, 2**21, 99_999_999, 100_000_000, 10**18 - 1]
    assert read(" ".join(map(str, row)) + "\n").to_lists() == [row]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (
            "-3",
            r"expected item codes of 0 or more, got -3 in line {line} of a file object; renumber the items",
        ),
        (
            "milk",
            r"expected whole numbers separated by blanks \(FIMI\), got 'milk' in line {line} of .*; if the",
        ),
        ("1,2", r"got '1,2' in line {line} of .* try format='basket'"),
        ("1.5", r"got '1.5' in line {line}"),
        ("-", r"got '-' in line {line}"),
        ("9" * 19, r"expected item codes of at most 18 digits, got 9999999999999999999 in line {line}"),
        ("x" * 50, r"got 'x{{30}}\.\.\.' in line {line}"),
    ],
)
@pytest.mark.parametrize("lines_before", [0, 2, 700_000])
def test_other_words_are_refused_with_their_line(word, message, lines_before):
    """Also in a later block, which another thread parses."""
    with pytest.raises(InvalidInputError, match=message.format(line=f"{lines_before + 1:,}")):
        read("1 2 3\n" * lines_before + f"4 {word} 5\n6\n-7\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-32-le"])
def test_other_encodings(encoding):
    """A byte order mark, and letters of several bytes, are no obstacle."""
    text = ("\ufeff" if encoding == "utf-8" else "") + "1 22\n333\n"
    assert read_transactions(io.BytesIO(text.encode(encoding)), encoding=encoding).to_lists() == [
        [1, 22],
        [333],
    ]


def test_the_result_does_not_depend_on_the_way_in(tmp_path):
    """A path, a stream and a gzipped file give equal values."""
    text, _ = random_text(50_000, 500, seed=1)
    path = tmp_path / "a.dat"
    path.write_text(text)
    with source.open_source(path) as opened:
        indptr, indices, items, *_ = read_fimi(opened)
    transactions = read_transactions(path)
    assert np.array_equal(transactions.indptr, indptr)
    assert np.array_equal(transactions.indices, indices)
    assert transactions.items == items
    assert read_transactions(io.BytesIO(text.encode())) == transactions
