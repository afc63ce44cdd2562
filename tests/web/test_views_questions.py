"""Questions are read strictly: what is not meant is refused with one clear line."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from itemix.errors import InvalidInputError
from itemix.web import views
from itemix.web.views import MAX_NAMES, ItemNames, Text, read_question


class Question(views.Question):
    """A field of each kind."""

    limit: int = Field(default=50, ge=0, le=1000)
    share: float = Field(default=0.5, gt=0, le=1)
    kind: Literal["all", "closed"] = "all"
    search: Text = ""
    items: ItemNames = ()
    level: float | None = Field(default=None, ge=0.5, le=0.999)


def test_defaults_hold_where_nothing_is_given():
    """An empty request asks for the defaults."""
    assert read_question(Question, {}, is_text=True) == Question()


def test_addresses_and_json_mean_the_same():
    """Texts of an address and values of JSON give the same question."""
    from_address = read_question(
        Question, {"limit": ["7"], "share": ["1e-3"], "items": ["a", "b"], "kind": ["closed"]}, is_text=True
    )
    from_json = read_question(
        Question, {"limit": 7, "share": 0.001, "items": ["a", "b"], "kind": "closed"}, is_text=False
    )
    assert from_address == from_json == Question(limit=7, share=0.001, kind="closed", items=("a", "b"))


@given(st.integers(-(10**30), 10**30))
def test_whole_numbers_are_read_back_or_refused(value):
    """A whole number within the bounds is read as it was written; every other one is refused."""
    if 0 <= value <= 1000:
        assert read_question(Question, {"limit": [str(value)]}, is_text=True).limit == value
    else:
        with pytest.raises(InvalidInputError, match="expected limit as a whole number from 0 to 1,000, got"):
            read_question(Question, {"limit": [str(value)]}, is_text=True)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_numbers_are_read_back_or_refused(value):
    """A number within the bounds is read exactly; NaN, infinity and others are refused."""
    for given_value, is_text in (([repr(value)], True), (value, False)):
        if 0 < value <= 1:
            assert read_question(Question, {"share": given_value}, is_text=is_text).share == value
        else:
            with pytest.raises(InvalidInputError, match="expected share as a number above 0 to 1, got"):
                read_question(Question, {"share": given_value}, is_text=is_text)


@pytest.mark.parametrize(
    ("given_values", "message"),
    [
        ({"limit": "7"}, "expected limit as a whole number .*, got '7'"),
        ({"limit": 10**6}, "expected limit as a whole number .*, got 1000000; try limit=[1-9]"),
        ({"share": 2}, "expected share as a number .*, got 2; try share=1$"),
        ({"share": -2}, "expected share as a number .*, got -2; try share=0.1$"),
        ({"limit": True}, "expected limit as a whole number .*, got True"),
        ({"limit": 7.0}, "expected limit as a whole number .*, got 7.0"),
        ({"share": "0.5"}, "expected share as a number .*, got '0.5'"),
        ({"share": False}, "expected share as a number .*, got False"),
        ({"kind": "close"}, "expected kind to be one of all, closed, got 'close'; try kind=closed"),
        ({"kind": ["all"]}, "expected kind to be one of all, closed"),
        ({"search": "x" * 201}, "expected search as a text of at most 200 characters"),
        ({"search": 3}, "expected search as a text"),
        ({"items": [["a"]]}, "expected items as a list of item names"),
        ({"items": {"a": 1}}, "expected items as a list of item names"),
        ({"items": [None]}, "expected items as a list of item names, got None"),
        ({"items": ["a"] * (MAX_NAMES + 1)}, f"expected at most {MAX_NAMES} items in items"),
        ({"wrong": 1}, "expected only the parameters limit, .*, model, got 'wrong'; leave it out"),
    ],
)
def test_wrong_json_is_refused(given_values, message):
    """JSON is taken at its types: no guessing."""
    with pytest.raises(InvalidInputError, match=message) as refused:
        read_question(Question, given_values, is_text=False)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_parameter_comes_once():
    """Only names of items are repeated in an address."""
    with pytest.raises(InvalidInputError, match="expected limit once, got it 2 times"):
        read_question(Question, {"limit": ["1", "2"]}, is_text=True)


def test_null_is_nothing():
    """In JSON, null stands for a field that may be left out, and for no other."""
    assert read_question(Question, {"level": None}, is_text=False).level is None
    with pytest.raises(InvalidInputError, match="expected limit as a whole number"):
        read_question(Question, {"limit": None}, is_text=False)
