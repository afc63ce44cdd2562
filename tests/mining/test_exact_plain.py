"""The search in plain Python is the twin of the kernels: the same sets and counts, in the same order."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix import Transactions, mine
from itemix.errors import TooManyItemsetsError
from itemix.kernels import jit
from itemix.mining import exact

MINE_PLAINLY = exact.mine_plainly
TARGETS = ("all", "closed", "maximal")


@st.composite
def drawn(draw):
    """Return transactions, dense or sparse, with multiplicities or without."""
    n_items = draw(st.integers(1, 8))
    rows = draw(st.lists(st.sets(st.integers(0, n_items - 1)), min_size=1, max_size=40))
    tx = Transactions.from_lists([sorted(row) for row in [*rows, range(n_items)]])
    return tx.merge_identical() if draw(st.booleans()) else tx


@pytest.fixture
def plainly(monkeypatch):
    """Return a function that mines in plain Python, and fails if a kernel took over."""

    def find(*arguments, **options):

        def searched(*given):
            found = MINE_PLAINLY(*given)
            assert found is not None
            return found

        with monkeypatch.context() as patched:
            patched.setattr(jit, "spare_seconds", lambda _kernel: 60.0)
            patched.setattr("itemix.mining.exact.mine_plainly", searched)
            return mine(*arguments, **options)

    return find


def same(found, expected):
    """Check that all columns are equal, their types too."""
    assert found == expected
    for name in ("offsets", "codes", "count", "support"):
        one, other = getattr(found, name), getattr(expected, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


@pytest.mark.parametrize("target", TARGETS)
def test_as_the_kernels(plainly, target):
    """Whatever the data, the lengths and the threshold."""

    @given(drawn(), st.integers(1, 6), st.integers(1, 3), st.integers(3, 8))
    def check(tx, threshold, min_len, max_len):
        if threshold > tx.n_transactions:
            return
        options = {"target": target, "min_len": min_len, "max_len": max_len}
        same(plainly(tx, threshold, **options), mine(tx, threshold, **options))
        same(plainly(tx, threshold, target=target), mine(tx, threshold, target=target))

    check()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "options",
    [{"top_k": 7}, {"include": [1]}, {"exclude": [0, 2]}, {"include": [2], "exclude": [1], "top_k": 3}],
)
def test_options(plainly, target, options):
    """Items to include and exclude, and the most frequent sets."""
    rng = np.random.default_rng(3)
    tx = Transactions.from_matrix(rng.random((60, 6)) < [0.9, 0.7, 0.5, 0.4, 0.3, 0.2])
    same(plainly(tx, 3, target=target, **options), mine(tx, 3, target=target, **options))


def test_too_many():
    """The limit of the number of sets holds, with the same words."""
    tx = Transactions.from_lists([range(10)] * 3)
    messages = []
    for mode in ("plain", "compiled"):
        with pytest.MonkeyPatch.context() as patched:
            if mode == "plain":
                patched.setattr(jit, "spare_seconds", lambda _kernel: 60.0)
            with pytest.raises(TooManyItemsetsError, match="at most max_itemsets=20 itemsets") as caught:
                mine(tx, 2, max_itemsets=20)
        messages.append(str(caught.value).partition("; ")[2])
    assert messages[0] == messages[1]


def test_it_gives_up_in_time(monkeypatch):
    """Work that is too long for plain Python is left to the kernels, before it begins or on the way."""
    tx = Transactions.from_matrix(np.ones((50, 18), dtype=bool))
    monkeypatch.setattr(jit, "spare_seconds", lambda _kernel: 0.02)
    tried = []

    def searched(*given):
        tried.append(MINE_PLAINLY(*given))
        return tried[-1]

    monkeypatch.setattr("itemix.mining.exact.mine_plainly", searched)
    assert len(mine(tx, 50)) == 2**18 - 1
    assert tried == [None]


EVERYTHING = """
import json, sys
import itemix
from itemix.mining.measures import MEASURES
tx = itemix.datasets.grocery_store()
found = itemix.mine(tx, 0.02)
rules = itemix.rules(found, min_threshold=0.1)
measures = {name: rules.measure(name).tolist() for name in MEASURES}
counts = [tx.count(names) for names in [itemset.items for itemset in found[:5]]]
print(json.dumps([repr(rules[:50]), measures, found.count.tolist(), counts, "numba" in sys.modules]))
"""


def test_rules_and_counts(tmp_path):
    """Kernels that run as Python give the same rules and counts, and measures but for rounding."""
    answers = []
    for mode in ("later", "now"):
        environment = os.environ | {"ITEMIX_COMPILE": mode}
        if mode == "later":
            environment["NUMBA_CACHE_DIR"] = str(tmp_path)
        command = [sys.executable, "-c", EVERYTHING]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
        *answer, has_numba = json.loads(ran.stdout)
        assert has_numba == (mode == "now"), ran.stderr
        answers.append(answer)
    measures, compiled = (answer.pop(1) for answer in answers)
    assert answers[0] == answers[1]
    for name, values in measures.items():
        np.testing.assert_allclose(values, compiled[name], rtol=1e-12, err_msg=name)
