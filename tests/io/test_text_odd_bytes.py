"""Odd white space and control bytes in text files: read as Python has them, or refused in one line."""

import io
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import text as naive

from itemix import InvalidInputError, read_transactions
from itemix.io.read import FORMATS

BLANKS = " \t\v\f\r"
blanks = st.text(BLANKS, max_size=3)
some_blanks = st.text(BLANKS, min_size=1, max_size=3)


def read(text, **options):
    """Read text as a file."""
    return read_transactions(io.BytesIO(text.encode()), **options)


@st.composite
def padded_lines(draw, cells, between):
    """Lines of cells with odd blanks around them."""
    lines = draw(st.lists(st.lists(cells, max_size=4), min_size=1, max_size=6).filter(any))
    return "".join(
        draw(blanks) + between(draw).join(cell + draw(blanks) for cell in row) + "\n" for row in lines
    )


@given(padded_lines(st.integers(0, 10**9).map(str), lambda draw: draw(some_blanks)))
@example("1 2 \x0b\n")
@example("\x0c1\x0b2\n\x0c\n3")
def test_fimi(text):
    """Form feeds and vertical tabs separate numbers, as in bytes.split()."""
    found = read(text, format="fimi").to_lists()
    assert found == [sorted(set(row)) for row in naive.parse_fimi(text)]


@given(padded_lines(st.sampled_from(["a", "b c", "x\vy"]), lambda _: ","))
@example("a\v,\fb\n\f\n")
def test_baskets(text):
    """Blanks of all kinds around names are left out, those inside belong to them."""
    lines = io.StringIO(text, newline="")
    expected = [sorted({cell.strip() for cell in line.split(",")} - {""}) for line in lines]
    assert read(text, format="basket", delimiter=",").to_lists() == expected


@given(
    st.lists(st.lists(st.tuples(blanks, st.sampled_from("01"), blanks), min_size=2, max_size=2), max_size=5)
)
def test_onehot(rows):
    """Blanks of all kinds may stand around cells."""
    cells = ["".join(cell).replace("\r", " ") for row in rows for cell in row]
    body = "".join(f"{a},{b}\n" for a, b in zip(cells[::2], cells[1::2], strict=True))
    found = read("x,y\n" + (body or "0,0\n"), format="onehot", header=True).to_lists()
    expected = naive.parse_onehot(body or "0,0\n", ",", [0, 1])
    assert found == [["xy"[code] for code in row] for row in expected]


@pytest.mark.parametrize("word", ["t rue", "1 0", "0\v1", 'tr"ue'])
def test_words_with_blanks_inside_are_no_words(word):
    """Only blanks around a cell are left out."""
    with pytest.raises(InvalidInputError, match="expected only 0 and 1"):
        read(f"x,y\n{word},1\n", format="onehot", header=True)


@pytest.mark.parametrize("kind", [None, *FORMATS])
@given(text=st.text("01a,;|\t\v\f\r\n\x00\x1a\x1c\x1f\x7f\x85\xa0\u2028 \"'[]{}-", min_size=1, max_size=30))
@example(text="1 2 \x0b\n")
@example(text="\x0b")
@example(text="1\n\x1c\n")
@example(text="1 \x85\n")
def test_anything_is_read_or_refused(kind, text):
    """No text ends in anything but transactions or one line that says what is wrong."""
    with suppress(InvalidInputError):
        read(text, format=kind)
