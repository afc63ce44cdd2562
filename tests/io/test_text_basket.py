import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix import InvalidInputError, read_transactions
from itemix.core.items import labels_from_text


def read(text, **options):
    """Read text as basket CSV."""
    return read_transactions(io.BytesIO(text.encode()), format="basket", **options)


@pytest.mark.parametrize(
    ("text", "line"),
    [('a,b\n"c,d\n', 2), ('a,b\nc\n"d"e,f\n', 3)],
)
def test_quotes_must_match(text, line):
    """A quote that is not closed would swallow the rest of the file, and is refused."""
    message = rf"expected cells with matching quotes, got .* in line {line} of .*; double the quotes"
    with pytest.raises(InvalidInputError, match=message):
        read(text)


def test_a_quote_inside_a_name_is_a_letter():
    """Only a quote at the beginning of a cell quotes it."""
    assert read('12" pizza,milk\n').to_lists() == [['12" pizza', "milk"]]


def test_quoted_names_may_be_padded():
    """Blanks before a quoted cell do not count."""
    assert read('milk, "bread, dark"\n').to_lists() == [["bread, dark", "milk"]]


def test_other_line_ends():
    """Old line ends, and separators of Unicode inside names."""
    assert read("a,b\rc\r").to_lists() == [["a", "b"], ["c"]]
    assert read("a\u2028x,b\x0by\nc\x85z\n").to_lists() == [["a\u2028x", "b\x0by"], ["c\x85z"]]


def test_many_lines():
    """Ten thousand lines and more, in several blocks of text."""
    rng = np.random.default_rng(0)
    rows = [sorted({f"item {j}" for j in rng.integers(0, 300, size=5)}) for _ in range(10_000)] * 10
    transactions = read("\n".join(",".join(row) for row in rows) + "\n")
    assert transactions.to_lists() == rows


@given(st.lists(st.one_of(st.integers(0, 10**18 - 1).map(str), st.text()), unique=True))
def test_labels_are_integers_only_if_all_are(names):
    """Reading a code and writing it again must give the same text."""
    labels = labels_from_text(names).tolist()
    assert [str(label) for label in labels] == names
    assert len({type(label) for label in labels}) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "milk,bread\n" + "bread,soda\nmilk,soda\n" * 10,
        "a,b\n" + "x,1\ny,x\n" * 10,
        "milk,4\n" + "bread,5\n" * 3,
        "a,b\nc,d\ne,f\n",
    ],
)
def test_baskets_of_one_size_are_baskets(text):
    """Items that are in several columns, a number among words and few rows are no sign of a table."""
    found = read_transactions(io.StringIO(text)).to_lists()
    assert found == [sorted(line.split(",")) for line in text.splitlines()]
