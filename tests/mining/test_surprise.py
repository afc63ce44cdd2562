"""Surprises: tails against naive sums, q values against their definition, and what the test promises."""

import numpy as np
import pytest
from scipy.special import betaln, logsumexp
from scipy.stats import binom, false_discovery_control

import itemix
from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError
from itemix.mining.counts import count
from itemix.mining.intervals import moments
from itemix.mining.surprise import SetsToTest, candidates, q_values, tails
from itemix.models.mixture import Mixture

ITEMS = Items([f"i{i}" for i in range(12)])


def naive_tails(k, n, a, b):
    """Sum all terms."""
    every = np.arange(n + 1.0)
    logs = betaln(every + a, n - every + b) - betaln(a, b) - betaln(every + 1, n - every + 1) - np.log1p(n)
    return np.exp(logsumexp(logs[: k + 1])), np.exp(logsumexp(logs[k:]))


@pytest.mark.parametrize("n", [1, 7, 300, 40_000])
def test_tails_are_those_of_a_beta_binomial(n):
    """Each tail is the sum of its terms, near and far, whether there are few of them or thousands."""
    rng = np.random.default_rng(n)
    mean = 10 ** rng.uniform(-3, -0.1, 60)
    spread = np.minimum(10 ** rng.uniform(-5, -0.5, 60), 0.3 * (1 - mean) / mean)
    strength = (1 - mean) / mean / spread - 1
    a, b = mean * strength, (1 - mean) * strength
    counts = rng.binomial(n, np.minimum(rng.beta(a, b) * rng.choice([0.3, 1, 1, 3], 60), 1))
    expected = np.array([naive_tails(*row) for row in zip(counts, [n] * 60, a, b, strict=True)]).T
    found = tails(counts, n, mean, spread)
    assert np.allclose(found.lower, expected[0], rtol=1e-4, atol=1e-10)
    assert np.allclose(found.upper, expected[1], rtol=1e-4, atol=1e-10)


def test_tails_of_a_model_that_is_certain_are_binomial():
    """Without variance, and with one that rounding made negative, only chance is left."""
    counts, mean = np.array([0, 3, 20, 100]), np.array([0.01, 0.02, 0.3, 1.0])
    for spread in (0.0, -1e-18):
        found = tails(counts, 100, mean, np.full(4, spread))
        assert np.allclose(found.upper, binom.sf(counts - 1, 100, mean), rtol=1e-3)
        assert np.allclose(found.lower, binom.cdf(counts, 100, mean), rtol=1e-3)


def all_expected(n, reach=()):
    """Return n sets that are expected to be frequent, and others with some reach."""
    sets = Sets.from_lengths(np.ones(1, np.int64), np.zeros(1, np.int32), ITEMS)
    return SetsToTest(sets, np.zeros(1), np.zeros(1), np.zeros(1), n, np.array(reach, dtype=np.float64))


@pytest.mark.parametrize("adjust", ["bh", "by"])
def test_q_values_are_those_of_scipy(adjust):
    """If all sets are tested whatever the data says, q values are the usual ones."""
    p = np.random.default_rng(0).random(50) ** 2
    assert np.allclose(q_values(p, all_expected(50), adjust), false_discovery_control(p, method=adjust))


def test_sets_that_could_have_been_tested_count():
    """Each counts as far as it could have become a find, which is at most its chance to be tested."""
    p, reach = np.array([0.001, 0.02]), [0.5, 0.01, 0.0001]
    found = q_values(p, all_expected(2, reach), "bh")
    sums = [2 * t + sum(min(t, r) for r in reach) for t in p]
    second = sums[1] / 2
    assert np.allclose(found, [min(sums[0], second), second])


def drawn(seed=0, n=4000):
    """Return a mixture, and transactions drawn from it."""
    rng = np.random.default_rng(seed)
    truth = Mixture([0.6, 0.4], rng.uniform(0.05, 0.5, (2, 12)), ITEMS)
    return truth, truth.sample(n, random_state=rng)


@pytest.fixture(scope="module")
def fitted():
    """Return a model of one half of the data, and both halves."""
    _, data = drawn()
    train, test = data.split(0.5, random_state=0)
    return itemix.BayesianMixture(2, random_state=0).fit(train), train, test


def with_more(data, names, n):
    """Return data with a set put into n transactions that hold none of it."""
    rows = data.to_numpy().copy()
    codes = data.items.codes(names)
    rows[np.flatnonzero(~rows[:, codes].any(axis=1))[:n, None], codes] = True
    return itemix.Transactions.from_matrix(rows, items=data.items)


def test_nothing_surprises_a_model_that_is_right(fitted):
    """Data of the same kind has no finds here; level=1 returns all that was tested."""
    model, _, test = fitted
    assert len(itemix.surprises(model, test, min_support=0.05)) == 0
    every = itemix.surprises(model, test, min_support=0.05, level=1.0)
    assert len(every) == every.n_tested > 50
    assert (np.diff(every.p_value) >= 0).all()


def test_what_was_put_into_the_data_is_found(fitted):
    """A set that occurs more often comes first, with its numbers; less often is the other side."""
    model, train, test = fitted
    found = itemix.surprises(model, with_more(test, ["i1", "i2"], 150), min_support=0.05)
    assert set(found.sets[0]) == {"i1", "i2"}
    assert found.ratio[0] > 1
    assert found.count[0] == round(found.support[0] * found.n_transactions)
    assert found.lower[0] < found.expected[0] < found.upper[0] < found.support[0]
    assert np.allclose(found.ratio, found.support / found.expected)
    assert (found.q_value <= 0.05).all()
    assert (found.q_value >= found.p_value).all()
    assert found.n_fitted == train.n_transactions
    assert found.sentences()[0].startswith(("i1 and i2: ", "i2 and i1: "))
    assert set(found.to_pandas()) == {
        *("itemsets", "count", "support", "expected", "lower", "upper", "ratio", "p_value", "q_value"),
        "sentence",
    }
    often = itemix.mine(model, 0.05, min_len=2, max_len=2).top(1)
    rare = test[np.flatnonzero(~test.to_numpy()[:, often.codes].all(axis=1))]
    found = itemix.surprises(model, rare, min_support=0.05, side="less")
    assert set(often.sets[0]) in [set(names) for names in found.sets]
    assert (found.ratio < 1).all()
    assert len(found.more()) == 0
    assert len(found.less()) == len(found)


def test_candidates_are_frequent_or_expected_to_be(fitted):
    """All sets that the data or the model has at the threshold are tested, and no others."""
    model, _, test = fitted
    found = candidates(model.mixture_, model.posteriors_, test, 100, "both", min_len=2, max_len=3, n_jobs=1)
    sources = (test, 100), (model, 0.05)
    mined = [itemix.mine(*source, min_len=2, max_len=3) for source in sources]
    both = {frozenset(names) for itemsets in mined for names in itemsets.sets}
    assert {frozenset(names) for names in found.sets} == both
    assert len(found.sets) == len(both)
    assert (found.counts == count(found.sets, test)).all()
    assert found.n_expected == len(mined[1])
    assert ((found.reach >= 0) & (found.reach <= 1)).all()
    mean, _ = moments(model.posteriors_, [*found.sets])
    assert np.allclose(found.mean, mean)


def test_items_that_the_model_does_not_know_are_left_out(fitted):
    """What is known is tested as if new items were not there, and the title says so."""
    model, _, test = fitted
    rows = [[*row, "new"] if i % 3 == 0 else row for i, row in enumerate(test.to_lists())]
    rows[0].append("newer")
    options = {"min_support": 0.05, "level": 1.0}
    found, without = itemix.surprises(model, rows, **options), itemix.surprises(model, test, **options)
    assert found.to_pandas().equals(without.to_pandas())
    assert found.table(0).title.endswith(", without 2 items that the model does not know")
    assert "without" not in without.table(0).title
    summary = itemix.summarise(rows, model=model, min_support=0.05)
    assert summary.table(0).title.endswith(", without 2 items that the model does not know")
    odd = model.unusual(rows)
    assert (odd.p_value == model.unusual(test).p_value).all()
    assert odd.table(0).title.endswith(", without 2 items that the model does not know")


def test_no_models_are_refused():
    """An empty list is no transactions, either."""
    with pytest.raises(itemix.errors.InvalidInputError, match="one fitted model or more, got an empty list"):
        itemix.surprises([], [["a"], ["b"]])


def test_several_models_are_unsure_where_they_differ(fitted):
    """They expect what they do on average, with the variance of all; one alone is surprised by more."""
    model, train, test = fitted
    blind = itemix.BayesianMixture(1, random_state=0).fit(train)
    options = {"min_support": 0.05, "max_len": 3}
    alone = itemix.surprises(blind, test, **options)
    both = itemix.surprises([blind, model.fitted_], test, **options)
    assert len(both) < len(alone)
    every = itemix.surprises([blind, model], test, **options, level=1.0)
    means = [moments(one.posteriors_, [*every.sets]) for one in (blind, model)]
    mean = np.mean([p for p, _ in means], axis=0)
    square = np.mean([p**2 * (1 + spread) for p, spread in means], axis=0)
    assert np.allclose(every.expected, mean)
    n, (k, p) = test.n_transactions, (every.count, mean)
    spread = square / mean**2 - 1
    assert np.allclose(every.p_value, np.minimum(2 * np.min(tails(k, n, p, spread), axis=0), 1))
    assert itemix.surprises([model], test, **options) == itemix.surprises(model, test, **options)


def test_one_argument_divides_fits_and_tests():
    """With data alone, one half is fitted and the other one tested, and the title says so."""
    _, data = drawn(n=600)
    found = itemix.surprises(data, min_support=0.05)
    assert (found.n_fitted, found.n_transactions) == (300, 300)
    assert "by a model of the other 300" in repr(found)
    assert found == itemix.surprises(data, min_support=0.05)


def test_bad_input_gets_one_line(fitted):
    """What cannot be tested says why, and what to do."""
    model, train, test = fitted
    whole = itemix.Transactions.concatenate([train, test])
    other_items = itemix.BayesianMixture(1).fit([["x"], ["y"]])
    refused = [
        ((model, train), "expected data that the model was not fitted to, got its 2,000 training trans"),
        ((model, train[::-1]), "got its 2,000 training"),
        (([model, model], train), "got its 2,000 training"),
        (([model, model],), "expected transactions to test the model on, got none"),
        (([model, itemix.ChowLiuTree().fit(train)], test), "expected a model with a posterior, got one of"),
        (([model, other_items], test), "expected the model's 12 items, got others, such as"),
        ((model, [["x"], ["y"]]), "expected the model's 12 items, got others, such as"),
        ((model, test[:1]), "expected at least 2 transactions to test, got 1; pass more"),
        ((test[:3],), "expected at least 4 transactions to test, got 3"),
        ((model,), "expected transactions to test the model on, got none; try itemix.surprises"),
        ((itemix.BernoulliMixture(2, random_state=0).fit(train), test), "expected a model with a posterior"),
        ((model.mixture_, test), "expected a model with a posterior"),
    ]
    for arguments, message in refused:
        with pytest.raises(InvalidInputError, match=message):
            itemix.surprises(*arguments, min_support=0.1)
    for option, message in [
        ({"level": 0}, "expected a level above 0"),
        ({"side": "up"}, "both"),
        ({"adjust": "bonferroni"}, "bh"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            itemix.surprises(model, test, min_support=0.1, **option)
    assert whole.n_transactions == 4000


def test_data_that_holds_the_training_data_is_refused():
    """Half new, half known data is recognised by items that are closer to the model than chance allows."""
    rng = np.random.default_rng(0)
    items = Items([f"i{i}" for i in range(60)])
    truth = Mixture([0.5, 0.5], rng.uniform(0.01, 0.3, (2, 60)), items)
    train, test = truth.sample(4000, random_state=1).split(0.5, random_state=0)
    model = itemix.BayesianMixture(2, random_state=0).fit(train)
    for known in (itemix.Transactions.concatenate([train, test]), train[:1200]):
        with pytest.raises(InvalidInputError, match="closer than chance allows"):
            itemix.surprises(model, known, min_support=0.1)
    itemix.surprises(model, test, min_support=0.1)


def test_a_corrected_model_is_tested_by_its_mixture(fitted):
    """A correction knows its training data by heart, so the mixture is asked; EM has only the former."""
    model, train, test = fitted
    corrected = itemix.BayesianMixture(2, random_state=0, correction=100.0).fit(train)
    assert itemix.surprises(corrected, test, min_support=0.05, level=1.0) == itemix.surprises(
        model, test, min_support=0.05, level=1.0
    )
    em = itemix.BernoulliMixture(2, random_state=0, correction=100.0).fit(train)
    assert len(itemix.surprises(em, test, min_support=0.05)) == 0
