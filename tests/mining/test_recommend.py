import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import lattice as naive_lattice
from naive import rules as naive
from scipy import sparse

from itemix import InvalidInputError, Itemsets, Transactions
from itemix.mining.rules import rules

BASKETS = [["milk", "bread"], ["milk", "bread", "beer"], ["milk", "bread"], ["beer"], ["milk"]]
baskets = st.lists(st.sets(st.sampled_from("abcde")).map(sorted), min_size=1, max_size=10).filter(any)


@pytest.fixture
def found():
    """All rules of five baskets."""
    return rules(naive_lattice.as_itemsets(BASKETS, 1), metric="support", min_threshold=0.0)


@settings(max_examples=50)
@given(baskets, baskets, st.sampled_from(["confidence", "lift", "leverage", "p_value"]), st.integers(1, 4))
def test_best_rules_first(training, new, metric, n):
    """For every basket: the best rule of each distinct consequent, as going through all rules gives it."""
    found = rules(naive_lattice.as_itemsets(training, 1), min_threshold=0.3)
    scores = found.measure(metric)
    sign = -1 if metric == "p_value" else 1
    scored = [
        (frozenset(rule.antecedents), frozenset(rule.consequents), sign * score)
        for rule, score in zip(found, scores, strict=True)
    ]
    result = found.recommend(new, n=n, metric=metric)
    assert len(result) == len(new)
    for basket, listed in zip(new, result, strict=True):
        positions = [r.rule for r in listed]
        assert positions == naive.recommend(scored, frozenset(basket), n)
        assert [r.items for r in listed] == [found[p].consequents for p in positions]
        assert [r.because for r in listed] == [found[p].antecedents for p in positions]
        assert [r.score for r in listed] == scores[positions].tolist()


def test_baskets_in_a_frame(found):
    """A one-hot data frame is one basket a row."""
    tx = Transactions.from_lists(BASKETS)
    assert found.recommend(tx.to_dataframe()).to_pandas().equals(found.recommend(tx).to_pandas())


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_baskets_in_a_matrix(found, make):
    """The columns of a matrix are the items of the rules, and as many as these."""
    tx = Transactions.from_lists(BASKETS).align_items(found.items)
    assert found.recommend(make(tx.to_numpy())).to_pandas().equals(found.recommend(tx).to_pandas())
    with pytest.raises(InvalidInputError, match="expected a name for each of the 2 columns, got 3 names"):
        found.recommend(make(tx.to_numpy()[:, :2]))


def test_baskets_in_a_column(found):
    """A column of lists, as groupby gives it, is one basket a row; one of names is one basket."""
    assert list(found.recommend(pd.Series(BASKETS))) == list(found.recommend(BASKETS))
    assert found.recommend(pd.Series(["milk", "bread"])) == found.recommend(["milk", "bread"])


def test_digits_find_integers():
    """Names that were typed or read as text find the numbers that they are, as everywhere."""
    found = rules(naive_lattice.as_itemsets([[1, 2], [1, 2], [3]], 1), min_threshold=0.1)
    assert found.recommend(["1"]) == found.recommend([1]) != []
    named = Transactions.from_lists([["1", "milk"]])
    assert list(found.recommend(named)) == list(found.recommend([[1]]))


def test_one_basket(found):
    """A single basket gives a plain list; a set, a tuple or one name is a basket too."""
    first = found.recommend(["milk"])[0]
    assert first == (("bread",), pytest.approx(0.75), ("milk",), 1)
    assert found.recommend({"milk"}) == found.recommend(("milk",)) == found.recommend("milk")
    assert [r.items for r in found.recommend("milk")] == [("bread",), ("beer",), ("bread", "beer")]
    assert len(found.recommend(["milk"], n=1)) == 1
    assert found.recommend([]) == []
    assert found.recommend(["milk", "bread", "beer"]) == []


def test_unknown_items_are_passed_over(found):
    """New baskets may hold what the rules never saw."""
    assert found.recommend(["caviar", "milk"]) == found.recommend(["milk"])
    assert found.recommend([["caviar"], ["milk"]])[0] == []


def test_transactions(found):
    """Transactions give what their lists give, whatever their codes, one row for each transaction."""
    lists = [["zebra", "milk"], ["beer"], ["aloe"], ["beer"]]
    tx = Transactions.from_lists(lists)
    expected = list(found.recommend(lists))
    assert list(found.recommend(tx)) == expected
    merged = tx.merge_identical()
    assert list(found.recommend(merged)) == [expected[0], expected[1], expected[1], expected[2]]


def test_table(found):
    """As a data frame: a row for each recommendation, with the rule that gave it."""
    result = found.recommend([["milk"], ["caviar"], ["bread"]], n=2)
    frame = result.to_pandas()
    assert list(frame.columns) == ["basket", "rank", "consequents", "score", "antecedents", "rule"]
    assert frame["basket"].tolist() == [0, 0, 2, 2]
    assert frame["rank"].tolist() == [1, 2, 1, 2]
    assert frame["consequents"].tolist()[:2] == [{"bread"}, {"beer"}]
    assert frame["antecedents"].tolist()[:2] == [{"milk"}, {"milk"}]
    assert frame["score"].tolist() == found.confidence[frame["rule"]].tolist()
    assert repr(result) == "Recommendations(4 recommendations by confidence for 3 baskets)"


def test_rules_without_a_score_are_left_out():
    """Rules of a model have no p-value, so that nothing can be ranked by it; no rules recommend nothing."""
    found = rules(Itemsets([0, 1, 2, 4], [0, 1, 0, 1], [0.5, 0.4, 0.4], ["a", "b"]))
    assert found.recommend(["a"], metric="p_value") == []
    assert found.recommend(["a"])[0].items == ("b",)
    assert found[:0].recommend(["a"]) == []
    assert [len(listed) for listed in found[:0].recommend([["a"], ["b"]])] == [0, 0]


def test_many_baskets():
    """Bulk is what one at a time gives, for thousands of baskets and of rules."""
    rng = np.random.default_rng(0)
    training = [sorted(rng.choice(12, 5, replace=False).tolist()) for _ in range(60)]
    found = rules(naive_lattice.as_itemsets(training, 2, max_len=4), min_threshold=0.1)
    assert len(found) > 1000
    new = [sorted(rng.choice(12, 3, replace=False).tolist()) for _ in range(3000)]
    result = found.recommend(new)
    assert [result[b] for b in range(0, 3000, 250)] == [found.recommend(new[b]) for b in range(0, 3000, 250)]


@pytest.mark.parametrize(
    ("baskets", "options", "message"),
    [
        (["milk"], {"n": 0}, "expected n as a whole number of 1 or more, got 0; try 5"),
        (["milk"], {"n": 2.5}, "expected n as a whole number of 1 or more, got 2.5"),
        (["milk"], {"metric": "fun"}, "expected a measure, got 'fun'"),
        (2.5, {}, "expected baskets as Transactions or lists of names, got float; try"),
        (
            [["milk"], "bread"],
            {},
            "expected every basket to be a list of names, got 'bread' at position 1; try",
        ),
        (
            [["milk", ["bread"]]],
            {},
            r"expected names of items in every basket, got \['milk', \['bread'\]\] at",
        ),
        ([["milk"], 2.5], {}, r"expected every basket to be a list of names, got 2\.5 at position 1"),
    ],
)
def test_wrong_arguments(found, baskets, options, message):
    """The messages say what was expected and what to try."""
    with pytest.raises(InvalidInputError, match=message):
        found.recommend(baskets, **options)
