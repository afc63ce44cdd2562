"""Exact itemsets by way of a model: always those of mining the data, whatever the model says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.models import OnlyProbabilities

import itemix
from itemix import (
    BernoulliMixture,
    IndependentModel,
    Mixture,
    TooManyItemsetsError,
    Transactions,
    mine,
)
from itemix.core.itemsets import TARGETS
from itemix.io.chunks import Stream
from itemix.mining.passes import Reader
from itemix.mining.search import SearchOptions
from itemix.mining.verification import Rounds, verify

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
def data(draw):
    """Rows with items that often come together; many empty ones make the data sparse."""
    rows = draw(st.lists(st.lists(st.sampled_from(NAMES), max_size=7), min_size=1, max_size=14))
    together = draw(st.sets(st.sampled_from(NAMES), max_size=4))
    rows = [[*row, *(together if together & set(row) else ())] for row in rows]
    return rows + [[]] * (12 * len(rows) if draw(st.booleans()) else 0)


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


def as_counts(itemsets):
    """Return {items: count}, whatever the order."""
    return {frozenset(names): count for names, _, count in itemsets}


@settings(max_examples=60)
@given(data(), models(), st.sampled_from(FORMS), st.integers(1, 6) | st.floats(0.05, 1), st.integers(1, 2))
def test_what_mining_finds(rows, model, form, min_support, n_jobs):
    """Whatever the model: the sets, supports and order of mining the data, however the data comes."""
    tx, given_data = in_form(rows, form)
    if isinstance(min_support, int):
        min_support = min(min_support, max(len(tx), 1))
    found = mine(model, min_support, verify=given_data, n_jobs=n_jobs)
    assert_same(found, mine(tx, min_support))


@st.composite
def options(draw):
    """Options in any combination that has a meaning."""
    names = st.sets(st.sampled_from(NAMES), max_size=2)
    include, exclude = draw(names), draw(names)
    min_len, more = draw(st.integers(1, 3)), draw(st.none() | st.integers(0, 3))
    target = draw(st.sampled_from(TARGETS))
    return {
        "target": target,
        "min_len": min_len,
        "max_len": None if more is None else min_len + more,
        "include": [] if target == "generators" else sorted(include),
        "exclude": sorted(exclude - include),
        "top_k": draw(st.none() | st.integers(1, 12)),
    }


@settings(max_examples=60)
@given(data(), models(), st.sampled_from(FORMS), st.integers(1, 4), options())
def test_options_mean_what_they_mean_for_data(rows, model, form, min_support, chosen):
    """Targets, lengths, items and the number of sets choose as they do when the data is mined."""
    tx, given_data = in_form(rows, form)
    assert_same(mine(model, min_support, verify=given_data, **chosen), mine(tx, min_support, **chosen))


@settings(max_examples=40)
@given(data(), models(), st.integers(1, 4), st.integers(1, 3), st.floats(0, 0.9))
def test_counts_of_what_was_proposed(rows, model, min_support, max_passes, slack):
    """What is not certified says so: the sets are a part of all, and the rest is among the unchecked."""
    tx = Transactions.from_lists(rows)
    every = mine(tx, min_support)
    whole = verify(model, tx, min_support, slack=slack)
    assert whole.is_certified
    assert whole.n_unchecked == 0
    assert len(every) == whole.n_proposed - whole.n_refuted + whole.n_missed
    part = verify(model, tx, min_support, slack=slack, max_passes=max_passes)
    assert part.n_passes == min(whole.n_passes, max_passes)
    assert part.is_certified == (part.n_unchecked == 0) == (part.n_passes == whole.n_passes)
    assert as_counts(part.itemsets).items() <= as_counts(every).items()
    assert len(part.itemsets) == len(every) or not part.is_certified
    assert part.itemsets.target == ("all" if part.is_certified else None)


def grocery(n=3000):
    """Data with structure, and a model of half of it."""
    from itemix.data.synthetic import grocery_store

    tx = grocery_store(n, random_state=0)
    return tx, BernoulliMixture(n_components=8, random_state=0).fit(tx.split(random_state=0)[0])


def test_a_good_model_needs_one_pass():
    """The model that is the data proposes all frequent sets, and the border is counted with them."""
    tx, _ = grocery()
    verified = verify(Mixture.from_transactions(tx), tx, 0.01, slack=0.0)
    assert verified.n_passes == 1
    assert verified.is_certified
    assert (verified.n_refuted, verified.n_missed) == (0, 0)
    assert verified.n_proposed == len(mine(tx, 0.01))


def test_passes_over_a_stream():
    """The data is read once for each pass, chunk by chunk, and once more where a count needs its number."""
    tx, model = grocery()
    opened = []

    def chunks():
        opened.append(len(opened))
        for start in range(0, 3000, 1000):
            yield Transactions.from_lists(tx.to_lists()[start : start + 1000])

    by_fraction = verify(model, chunks, 0.005)
    assert len(opened) == by_fraction.n_passes
    by_count = verify(model, chunks, 15)
    assert by_count.n_passes == by_fraction.n_passes + 1
    assert by_count.itemsets == by_fraction.itemsets
    assert as_counts(by_count.itemsets) == as_counts(mine(tx, 15))


@pytest.mark.parametrize("sparse", [False, True])
def test_more_rows_than_a_block(sparse):
    """Data that does not fit into one block of rows is counted in several, weighted or not."""
    rng = np.random.default_rng(0)
    n_rows, n_items = (1_100_000, 30) if sparse else (70_000, 8)
    held = rng.random((n_rows, n_items), dtype=np.float32) < (0.02 if sparse else 0.6)
    held[:, 1] |= held[:, 0]
    held[:, 2] |= held[:, 0]
    tx = Transactions.from_matrix(held.view(np.uint8))
    weighted = Transactions(tx.indptr, tx.indices, tx.items, rng.integers(1, 4, n_rows))
    model = IndependentModel().fit(tx)
    for source in (tx, weighted):
        assert_same(mine(model, 0.005, verify=source), mine(source, 0.005))


def test_frames_and_matrices_as_chunks():
    """Chunks may be one-hot data frames or matrices, and a function may return the data as a whole."""
    tx, model = grocery(500)
    expected = as_counts(mine(tx, 0.05))
    halves = tx.split(random_state=1)
    assert as_counts(mine(model, 0.05, verify=[half.to_dataframe() for half in halves])) == expected
    numbered = {frozenset(map(tx.items.code, names)): count for names, count in expected.items()}
    assert as_counts(mine(model, 0.05, verify=[half.to_scipy() for half in halves])) == numbered
    for whole in (tx.to_dataframe(), tx.to_lists(), lambda: tx, tx.to_lists):
        assert as_counts(mine(model, 0.05, verify=whole)) == expected


def test_a_model_that_expects_too_much():
    """A model that would propose more sets than fit proposes none, and the result is that of the data."""
    tx = Transactions.from_lists([[0, 1], [0], [1, 2], [0, 1]])
    model = Mixture([1.0], np.ones((1, 60)), range(60))
    verified = verify(model, tx, 0.5, max_itemsets=10)
    assert verified.n_proposed == 0
    assert verified.itemsets == mine(tx, 0.5)


def test_progress_is_told():
    """A function is told how many transactions are read, of how many."""
    tx, model = grocery(400)
    told = []
    chunks = tx.split(random_state=0)
    verified = verify(model, chunks, 0.05, progress=lambda *done: told.append(done))
    assert told == [(200, 400), (400, 400)] * verified.n_passes
    verify(model, lambda: iter(chunks), 0.05, max_passes=1, progress=lambda *done: told.append(done))
    assert told[-2:] == [(200, 200), (400, 400)]


def test_one_line():
    """A verification says in one line how it went."""
    tx, _ = grocery(400)
    good, wrong = Mixture.from_transactions(tx), Mixture([1.0], np.zeros((1, 1)), ["nothing"])
    assert str(verify(good, tx, 0.05, slack=0.0)) == (
        "complete after 1 pass over the data; "
        "the model proposed 82 sets, 0 of them not frequent, and missed 0"
    )
    assert str(verify(wrong, tx, 0.05)) == (
        "complete after 3 passes over the data; "
        "the model proposed 0 sets, 0 of them not frequent, and missed 82"
    )
    assert str(verify(wrong, tx, 0.05, max_passes=1)) == (
        "not certified after 1 pass over the data, 1,953 sets not counted; "
        "the model proposed 0 sets, 0 of them not frequent, and missed 63"
    )


@pytest.mark.parametrize("min_support", [1.0, 20])
def test_what_every_transaction_holds(min_support):
    """A model is asked for it too, so that one pass is enough."""
    tx = Transactions.from_lists([["a", "b", "c"], ["a", "b"]] * 10)
    verified = verify(Mixture.from_transactions(tx), tx, min_support, slack=0.0)
    assert (verified.n_passes, verified.n_proposed, verified.n_missed) == (1, 3, 0)


@pytest.mark.parametrize(("include", "max_len"), [(["a"], 1), (["a", "b"], 1), (["a", "b"], 2), (["a"], 2)])
def test_nothing_is_missed_where_few_items_are_wanted(include, max_len):
    """The model that is the data has missed no set, though those included are as many as may be, or more."""
    tx = Transactions.from_lists([["a", "b", "c"], ["a", "b"], ["c"]])
    verified = verify(Mixture.from_transactions(tx), tx, 1, include=include, max_len=max_len, slack=0.0)
    assert (verified.n_passes, verified.n_missed, verified.n_refuted) == (1, 0, 0)
    assert verified.itemsets == mine(tx, 1, include=include, max_len=max_len)


def test_memory_is_bounded():
    """Where the border of the frequent sets does not fit, the search stops before it is made."""
    tx, _ = grocery(400)
    options = SearchOptions.checked(
        tx.items,
        target="all",
        min_len=1,
        max_len=None,
        include=None,
        exclude=None,
        top_k=None,
        max_itemsets=None,
    )
    reader = Reader(Stream(tx), [], [], 1, None)
    rounds = Rounds(reader, replace(options, max_bytes=20_000), 0.05, 9)
    message = (
        "expected itemsets that can be counted within half of the free memory, got 2,016 and more; try a "
    )
    rounds.propose(Mixture.from_transactions(tx), lambda _: 0.1)
    with pytest.raises(TooManyItemsetsError, match=message):
        rounds.run()


@pytest.mark.data("mushroom/mushroom.dat", "retail/retail.dat.gz")
@pytest.mark.parametrize(
    ("path", "min_support"), [("mushroom/mushroom.dat", 0.2), ("retail/retail.dat.gz", 0.001)]
)
def test_real_data(data_folder, path, min_support):
    """On real data, dense and sparse, an independent model is made up for."""
    tx = itemix.read_transactions(data_folder / path)
    model = IndependentModel().fit(tx)
    assert_same(mine(model, min_support, verify=tx), mine(tx, min_support))
