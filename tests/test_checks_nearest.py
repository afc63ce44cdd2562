"""Names that are offered where somebody has mistyped one."""

import time

import numpy as np
import pytest

from itemix._checks import did_you_mean, nearest

NAMES = ["bottled beer", "canned beer", "beef", "UHT-milk", "whole milk", "butter milk", "yogurt", "soda"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("yoghurt", ["yogurt"]),
        ("WHOLE MILK", ["whole milk"]),
        ("mlk", ["UHT-milk", "whole milk", "butter milk"]),
        ("beer", ["canned beer", "bottled beer"]),
        ("hole", ["whole milk"]),
        ("xyzzy", []),
        ("", []),
        ("  ", []),
    ],
)
def test_near_names_are_found(wanted, expected):
    """By the whole name, by one of its words or by a part of it; the most alike come first."""
    assert nearest(wanted, NAMES) == expected


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("bb", ["b", "bc", "ba"]),
        ("age", ["sausage", "storage"]),
        ("cola", ["chocolate", "specialty chocolate"]),
        ("phone", ["honey"]),
    ],
)
def test_far_fetched_names_are_not_offered(wanted, names):
    """A part of a word is no name, and a typo rarely changes both the first and the last letter."""
    assert nearest(wanted, names) == []


def test_words_begin_in_the_middle_of_names_of_columns():
    """As in InvoiceDate, or in unit_price."""
    assert nearest("date", ["InvoiceNo", "InvoiceDate", "candidates"]) == ["InvoiceDate"]
    assert nearest("cost", ["unit_cost", "UnitCost", "accost"]) == ["UnitCost", "unit_cost"]


def test_names_may_be_numbers():
    """Items that are numbers are compared as they are written."""
    assert nearest(1001, range(1000, 1010), n=1) == ["1001"]
    assert nearest("70x", [70, 700, 8]) == ["70", "700"]


def test_only_so_many_names_are_searched():
    """The hint of a message must not take longer than the work."""
    assert nearest("milk", [*("x" for _ in range(20_000)), "milk"]) == []


def test_the_end_of_a_message():
    """Either the names to choose from, or something else to try."""
    assert did_you_mean(["a", "b"], "try c") == "did you mean 'a', 'b'?"
    assert did_you_mean([], "try c") == "try c"


def test_a_typo_among_many_long_names_is_found_quickly():
    """All names are alike here, and only a few hundred are compared letter by letter."""
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("0123456789x "), 40)) for _ in range(20_000)]
    wrong = f"{names[7][:11]}y{names[7][12:]}"
    began = time.thread_time()
    assert nearest(wrong, names)[0] == names[7]
    assert time.thread_time() - began < 0.5
