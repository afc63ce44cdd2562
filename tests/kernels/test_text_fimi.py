import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import text as naive

from itemix.kernels import text as fimi

LIMIT = 1 << 20
small = st.integers(0, LIMIT - 2)
large = st.integers(0, fimi.WIDEST - 1)
blanks = st.sampled_from([" ", "  ", "\t", " \t "])


@st.composite
def texts(draw, labels):
    """Lines of labels with all kinds of blanks before, between and after them."""
    lines = []
    for row in draw(st.lists(st.lists(labels, max_size=8), min_size=1, max_size=12)):
        words = [str(label) for label in row]
        before, after = draw(st.sampled_from(["", " "])), draw(st.sampled_from(["", " ", "\r", " \r"]))
        lines.append(before + draw(blanks).join(words) + after)
    return "\n".join(lines) + "\n"


def padded(text):
    """Put text between blanks, as the kernels take it."""
    array = np.full(fimi.padded_size(len(text)), ord(" "), dtype=np.uint8)
    array[fimi.LEAD : fimi.LEAD + len(text)] = np.frombuffer(text.encode(), dtype=np.uint8)
    return array


def narrow(text, limit=LIMIT):
    """Return the rows, the labels that were seen, whether rows ascend, and whether all went well."""
    size = len(text) + fimi.SLACK
    labels, ends = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int64)
    seen = np.zeros(limit, dtype=np.uint8)
    with np.errstate(over="ignore"):
        n_labels, n_rows, ascending, ok = fimi.parse_narrow(padded(text), len(text), labels, ends, seen)
    rows = [row.tolist() for row in np.split(labels[:n_labels], ends[: max(n_rows - 1, 0)])]
    return (rows if n_rows else []), np.flatnonzero(seen[1:]).tolist(), ascending, ok


def wide(text):
    """Return the rows, and where the first wrong character is."""
    labels, ends = np.empty(len(text) + 1, dtype=np.int64), np.empty(len(text) + 1, dtype=np.int64)
    n_labels, n_rows, wrong = fimi.parse_wide(padded(text), len(text), labels, ends)
    rows = [row.tolist() for row in np.split(labels[:n_labels], ends[: max(n_rows - 1, 0)])]
    return (rows if n_rows else []), wrong


@given(texts(small))
@example("\n")
@example("0\n")
@example("0000001 0001000\n")
@example("12345678 1\n".replace("12345678", str(LIMIT - 2)))
def test_small_labels_are_parsed(text):
    """Labels, rows, the labels that occur and whether rows ascend are those of the plain loop."""
    rows, seen, ascending, ok = narrow(text)
    expected = naive.parse_fimi(text)
    assert ok
    assert rows == expected
    assert seen == sorted({label for row in expected for label in row})
    assert ascending == all(row == sorted(set(row)) for row in expected)


@given(texts(large))
@example(f"{fimi.WIDEST - 1}\n")
def test_large_labels_are_parsed(text):
    """Labels of up to 18 digits need the wide parser, which agrees with the plain loop."""
    rows, wrong = wide(text)
    assert wrong == -1
    assert rows == naive.parse_fimi(text)


@pytest.mark.parametrize("shift", range(12))
def test_numbers_may_lie_across_tiles(shift):
    """A number that begins in one tile and ends in the next is read whole."""
    words = " " * shift + "1234567 " * (3 * fimi.TILE // 8) + "\n"
    rows, seen, _, ok = narrow(words, limit=1 << 21)
    assert ok
    assert rows == naive.parse_fimi(words)
    assert seen == [1234567]


@pytest.mark.parametrize(
    "word", ["-1", "x", "1.5", "1,2", "é", "00000001", "100000001", "9" * 17, str(LIMIT - 1), "\x00"]
)
def test_anything_else_is_left_to_the_wide_parser(word):
    """A character that is no digit or blank, a ninth digit, or a label too large for the table."""
    text = f"1 2\n3 {word} 4\n"
    _, seen, _, ok = narrow(text) if word.isascii() else narrow(text.replace("é", "\x7f"))
    assert not ok
    assert seen == []


@pytest.mark.parametrize(("word", "at"), [("-1", 0), ("x", 0), ("1,2", 1), (str(fimi.WIDEST), 18)])
def test_the_first_wrong_character_is_found(word, at):
    """Where the wide parser stops, something stands that is no label."""
    text = f"1 2\n3 {word} 4\n"
    _, wrong = wide(text)
    assert wrong == fimi.LEAD + len("1 2\n3 ") + at


@given(st.lists(st.integers(0, 9), max_size=20))
def test_codes_are_renamed_in_place(codes):
    """Each code is replaced by its new one."""
    new_code = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], dtype=np.int32)
    renamed = np.array(codes, dtype=np.int32)
    fimi.rename(renamed, new_code)
    assert renamed.tolist() == naive.renamed(codes, new_code.tolist())
