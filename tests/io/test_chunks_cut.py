from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from itemix.core.encoding import Encoded
from itemix.core.items import Items
from itemix.io.chunks import chunks_of_rows

rows_in_pieces = st.lists(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=6), max_size=5)


def as_piece(rows):
    """Make a piece of a file of some rows."""
    indptr = np.cumsum([0, *map(len, rows)])
    return Encoded(indptr, np.array([code for row in rows for code in row], dtype=np.int32), Items(range(10)))


def naive_cut(rows, size):
    """Take row after row, and begin a new chunk where one does not fit."""
    chunks, room = [[]], size
    for row in rows:
        taken = 8 + 4 * len(row)
        if chunks[-1] and taken > room:
            chunks.append([])
            room = size
        chunks[-1].append(row)
        room -= taken
    return chunks


@given(rows_in_pieces, st.integers(1, 120))
def test_chunks_are_full(pieces, size):
    """A chunk has as many rows as fit, or one; the rows may come in any pieces."""
    found = [
        [codes[start:stop].tolist() for start, stop in pairwise(indptr)]
        for indptr, codes, _ in chunks_of_rows(map(as_piece, pieces), size)
    ]
    assert found == naive_cut([row for rows in pieces for row in rows], size)
