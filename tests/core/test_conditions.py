"""Conditions are read as people write them, and hold for the rows for which they say so."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix import InvalidInputError
from itemix.core.conditions import Condition, parsed

TABLE = pd.DataFrame(
    {
        "Quantity": [6, -1, 3, 0],
        "InvoiceNo": ["536365", "C536366", "536367", None],
        "Unit Price": [2.5, np.nan, 0.0, 1.0],
        "Country": ["France", "United Kingdom", "Germany", " France "],
        "gift": [True, False, None, True],
    }
)
ARROW = pa.Table.from_pandas(TABLE)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Quantity > 0", [1, 0, 1, 0]),
        ("Quantity>=3 and Quantity<6", [0, 0, 1, 0]),
        ("Quantity != 3", [1, 1, 0, 1]),
        ("Quantity in (6, 0)", [1, 0, 0, 1]),
        ("Quantity not in 6, 0", [0, 1, 1, 0]),
        ("InvoiceNo not starts with C", [1, 0, 1, 1]),
        ("InvoiceNo STARTS WITH 'C'", [0, 1, 0, 0]),
        ("InvoiceNo ends with 7", [0, 0, 1, 0]),
        ("InvoiceNo is missing", [0, 0, 0, 1]),
        ("InvoiceNo is not missing", [1, 1, 1, 0]),
        ("InvoiceNo = 536365", [1, 0, 0, 0]),
        ("InvoiceNo <> 536365", [0, 1, 1, 1]),
        ("Unit Price > 0", [1, 0, 0, 1]),
        ("`Unit Price` is missing", [0, 1, 0, 0]),
        ("Unit Price != 1", [1, 1, 1, 0]),
        ("Country = France", [1, 0, 0, 1]),
        ("Country in ('United Kingdom', Germany)", [0, 1, 1, 0]),
        ("Country contains an", [1, 0, 1, 1]),
        ("Country not contains an", [0, 1, 0, 0]),
        ("Country >= G", [0, 1, 1, 0]),
        ("gift = true", [1, 0, 0, 1]),
        ("gift != yes", [0, 1, 1, 0]),
        ("gift is missing", [0, 0, 1, 0]),
    ],
)
def test_conditions_hold(text, held):
    """In typed columns and in text; what is missing is equal to nothing."""
    in_text = {name: pa.array(["" if pd.isna(v) else str(v) for v in TABLE[name]]) for name in TABLE}
    for table in (ARROW, pa.table(in_text)):
        if "gift" in text and table is not ARROW:
            continue  # text has True and False, as people write them
        found = np.logical_and.reduce([c.holds(table[c.column]) for c in parsed(text)])
        assert found.astype(int).tolist() == held


def test_measures_in_arrays():
    """NaN is missing in arrays of numbers."""
    (condition,) = parsed("lift > 3")
    assert condition == Condition("lift", ">", ("3",))
    assert condition.holds(np.array([2.0, 3.5, np.nan])).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("'a and b' = 'x and y' and c is missing", [("a and b", "=", ("x and y",)), ("c", "is missing", ())]),
        ("a in b = 2", [("a", "in", ("b = 2",))]),
        (["a=1", "b = 2"], [("a", "=", ("1",)), ("b", "=", ("2",))]),
        ("brand = '' ", [("brand", "=", ("",))]),
        ("a.b == -1.5e3", [("a.b", "=", ("-1.5e3",))]),
        (None, []),
    ],
)
def test_how_conditions_are_cut(text, conditions):
    """At operators and "and" outside quotes."""
    assert [tuple(condition) for condition in parsed(text)] == conditions


@pytest.mark.parametrize(
    "text", ["", "Quantity", "> 0", "Quantity >", "x is missing 3", "a = 1 and", "in (1)"]
)
def test_other_texts_are_refused(text):
    """In one line with examples."""
    with pytest.raises(
        InvalidInputError, match=r"expected a column, an operator and a value, got .*; try 'Quan"
    ):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Quantity > many", "expected a number to compare column 'Quantity' with, got 'many'"),
        ("Country > 3", "expected numbers in column 'Country', to compare with 3, got 'France'"),
        ("gift > 0", "expected a condition such as 'gift = true'"),
    ],
)
def test_what_cannot_be_compared(text, message):
    """The column and the value are named."""
    (condition,) = parsed(text)
    with pytest.raises(InvalidInputError, match=message):
        condition.holds(ARROW[condition.column])


@given(st.text(max_size=40))
def test_no_text_runs_or_crashes(text):
    """Whatever is written, it is conditions or one line of refusal."""
    with suppress(InvalidInputError):
        assert all(condition.column for condition in parsed(text))
