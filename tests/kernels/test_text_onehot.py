import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import text as naive

from itemix.kernels import text as onehot

words = st.sampled_from([*onehot.TRUE_WORDS, *onehot.FALSE_WORDS, "TRUE", "False", '"1"', " 0 "])


def parse(text, code_of_column, delimiter=","):
    """Return the rows, and the problem with its line and column."""
    array = np.frombuffer(text.encode(), dtype=np.uint8)
    columns = np.array(code_of_column, dtype=np.int32)
    columns.setflags(write=False)
    codes, ends = np.empty(len(array) // 2 + 1, dtype=np.int32), np.empty(len(array), dtype=np.int64)
    n_codes, n_rows, *problem = onehot.parse(array, ord(delimiter), columns, codes, ends)
    rows = [row.tolist() for row in np.split(codes[:n_codes], ends[: max(n_rows - 1, 0)])]
    return (rows if n_rows else []), problem


@st.composite
def tables(draw):
    """Rows of yes and no, empty lines among them, and which columns are items."""
    width = draw(st.integers(1, 6))
    is_item = draw(st.lists(st.booleans(), min_size=width, max_size=width))
    delimiter = draw(st.sampled_from(",;\t|"))
    lines = draw(st.lists(st.lists(words, min_size=width, max_size=width).map(delimiter.join), max_size=8))
    end = draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    codes = np.where(is_item, np.cumsum(is_item) - 1, -1).tolist()
    return "".join(line + end for line in lines) or "\n", codes, delimiter


@given(tables())
def test_cells_are_parsed(table):
    """All spellings of yes and no are understood, quoted or not; other columns may hold anything."""
    text, codes, delimiter = table
    rows, problem = parse(text, codes, delimiter)
    assert problem == [onehot.GOOD, -1, -1]
    assert rows == naive.parse_onehot(text, delimiter, codes)


@pytest.mark.parametrize("cell", ["2", "", "nan", "truely", "-1", "10", "falsefalsefalse", "x" * 100])
def test_other_cells_are_found(cell):
    """The line and the column of the first other cell are told."""
    rows, problem = parse(f"1,0\n\n0,{cell}\n1,1\n", [0, 1])
    assert rows == [[0]]
    assert problem == [onehot.BAD_CELL, 2, 1]


def test_ignored_columns_may_hold_anything():
    """A column of names or numbers that is no item is not looked at."""
    assert parse("17,1\nmilk,0\n", [-1, 0]) == ([[0], []], [onehot.GOOD, -1, -1])


@pytest.mark.parametrize("line", ["1", "1,0,1", "1,0,"])
def test_rows_of_another_length_are_found(line):
    """The line of the first row that is too short or too long is told."""
    _, problem = parse(f"0,0\n{line}\n", [0, 1])
    assert problem[:2] == [onehot.BAD_LENGTH, 1]
