"""A model against data: the itemsets are those of mining the data, and what the model missed is told."""

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
from itemix.core.transactions import row_blocks
from itemix.mining import partitioned
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


def as_supports(itemsets):
    """Return {items: support}, whatever the order."""
    return dict(zip(map(frozenset, itemsets.sets), itemsets.support.tolist(), strict=True))


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


@settings(max_examples=60)
@given(data(), models(), st.sampled_from(FORMS), st.integers(1, 4), options())
def test_what_the_model_missed(rows, model, form, min_support, chosen):
    """It is what mining the data finds and mining the model does not; refuted is the other way round."""
    tx, given_data = in_form(rows, form)
    min_support = min(min_support, len(tx))
    named = {name: [item for item in chosen[name] if item in model.items] for name in ("include", "exclude")}
    verified = verify(model, given_data, min_support, **chosen)
    assert_same(verified.itemsets, mine(tx, min_support, **chosen))
    proposed = {}
    if named["include"] == chosen["include"]:
        proposed = as_supports(mine(model, min_support / len(tx), **{**chosen, **named}))
    true = as_supports(verified.itemsets)
    assert as_supports(verified.missed) == {own: true[own] for own in true.keys() - proposed.keys()}
    assert as_supports(verified.refuted) == {own: proposed[own] for own in proposed.keys() - true.keys()}
    n_refuted, n_missed = len(verified.refuted), len(verified.missed)
    assert str(verified).startswith(f"the model proposed {len(proposed)} set")
    assert str(verified).endswith(f", {n_refuted} of them not frequent, and missed {n_missed}")


def grocery(n=3000):
    """Data with structure, and a model of half of it."""
    from itemix.data.synthetic import grocery_store

    tx = grocery_store(n, random_state=0)
    return tx, BernoulliMixture(n_components=8, random_state=0).fit(tx.split(random_state=0)[0])


def test_the_data_as_a_model():
    """It misses nothing, and all that it proposes is frequent."""
    tx, _ = grocery()
    verified = verify(Mixture.from_transactions(tx), tx, 0.01)
    assert len(verified.missed) == len(verified.refuted) == 0
    assert len(verified.proposed) == len(mine(tx, 0.01))


def test_what_is_found_in_parts(monkeypatch):
    """Chunks that are not put together are mined one by one, and the result is the same."""
    monkeypatch.setattr(partitioned, "_TOGETHER_BYTES", 0)
    tx, model = grocery()
    opened = []

    def chunks():
        opened.append(len(opened))
        yield from row_blocks(tx, 1000)

    told = []
    assert_same(mine(model, 15, verify=chunks, progress=lambda *done: told.append(done)), mine(tx, 15))
    assert told == [(done, 6) for done in range(1, 7)]
    assert len(opened) == 3  # the first time to find the items


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
    """Where the model's sets do not fit into memory, those of the data are returned, and that is said."""
    tx = Transactions.from_lists([[0, 1], [0], [1, 2], [0, 1]])
    verified = verify(Mixture([1.0], np.ones((1, 60)), range(60)), tx, 0.5)
    assert verified.proposed is None
    assert verified.itemsets == mine(tx, 0.5)
    assert str(verified) == "the model proposed more sets than memory holds"
    with pytest.raises(TooManyItemsetsError, match="expected a model whose itemsets fit into half of the fr"):
        _ = verified.missed


def test_one_line():
    """A verification says in one line what the model proposed and missed."""
    tx, _ = grocery(400)
    wrong = Mixture([1.0], np.zeros((1, 1)), ["nothing"])
    assert str(verify(wrong, tx, 0.05)) == (
        "the model proposed 0 sets, 0 of them not frequent, and missed 82"
    )


@pytest.mark.data("mushroom/mushroom.dat", "retail/retail.dat.gz")
@pytest.mark.parametrize(
    ("path", "min_support"), [("mushroom/mushroom.dat", 0.2), ("retail/retail.dat.gz", 0.001)]
)
def test_real_data(data_folder, path, min_support):
    """On real data, dense and sparse, the result is that of mining it."""
    tx = itemix.read_transactions(data_folder / path)
    model = IndependentModel().fit(tx)
    assert_same(mine(model, min_support, verify=tx), mine(tx, min_support))
