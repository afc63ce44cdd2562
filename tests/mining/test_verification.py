"""Exact itemsets by way of a model: always those of mining the data, whatever the model says."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.models import OnlyProbabilities

import itemix
from itemix import (
    BernoulliMixture,
    IndependentModel,
    InvalidInputError,
    Mixture,
    TooManyItemsetsError,
    Transactions,
    UnknownItemError,
    mine,
)
from itemix.mining.verification import verify

NAMES = "abcdefgh"
FORMS = ("rows", "merged", "list of chunks", "function", "chunks again and again")


class Again:
    """Chunks that can be gone through more than once, and know no number."""

    def __init__(self, chunks):
        self.chunks = chunks

    def __iter__(self):
        """Start anew."""
        return iter(self.chunks)


@st.composite
def data(draw, sparse=st.booleans()):
    """Rows with items that often come together; many empty ones make the data sparse."""
    rows = draw(st.lists(st.lists(st.sampled_from(NAMES), max_size=7), min_size=1, max_size=14))
    together = draw(st.sets(st.sampled_from(NAMES), max_size=4))
    rows = [[*row, *(together if together & set(row) else ())] for row in rows]
    return rows + [[]] * (12 * len(rows) if draw(sparse) else 0)


@st.composite
def models(draw):
    """A mixture of any items, those of the data or not, with any probabilities; it need not be a Mixture."""
    names = draw(st.lists(st.sampled_from([*NAMES, "y", "z"]), unique=True, max_size=8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 3))
    mixture = Mixture(rng.dirichlet(np.ones(n)), rng.beta(0.5, 0.5, (n, len(names))), names)
    return OnlyProbabilities(mixture) if draw(st.booleans()) and names else mixture


def in_form(rows, form):
    """Return data as it is, and as `verify` may get it."""
    tx = Transactions.from_lists([list(NAMES), *rows])
    if form in ("rows", "merged"):
        return tx, tx if form == "rows" else tx.merge_identical()
    cut = len(rows) // 2
    parts = [Transactions.from_lists(part) for part in ([list(NAMES)], rows[:cut], rows[cut:])]
    chunks = [*parts[:2], parts[2].merge_identical()]
    return tx, {"list of chunks": chunks, "function": lambda: iter(chunks)}.get(form, Again(chunks))


def assert_same(found, expected):
    """The same sets, order, counts and facts."""
    assert found == expected
    assert (found.min_support, found.target) == (expected.min_support, expected.target)


@settings(max_examples=150)
@given(data(), models(), st.sampled_from(FORMS), st.integers(1, 6) | st.floats(0.05, 1), st.integers(1, 2))
def test_what_mining_finds(rows, model, form, min_support, n_jobs):
    """Whatever the model: the sets, supports and order of mining the data, however the data comes."""
    tx, given_data = in_form(rows, form)
    found = mine(model, min_support, verify=given_data, n_jobs=n_jobs)
    assert_same(found, mine(tx, min_support))
