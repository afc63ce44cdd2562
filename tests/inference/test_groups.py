"""Groups are learned from their past, in its order; the kernel does what the obvious twin does."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import itemix
from itemix import DirichletProcessMixture, Transactions
from itemix._runtime import Workers
from itemix.core.items import Items
from itemix.errors import InvalidInputError, UnknownGroupError
from itemix.inference import groups as inference
from itemix.inference.groups import GroupCodes, group_codes, learn_groups, log_likelihood
from itemix.models.groups import GroupPrior
from itemix.models.mixture import Mixture
from tests.naive import groups as naive

PRIORS = [GroupPrior(), GroupPrior(2.0, 0.9, 0.3, 0.5), GroupPrior(50.0, 0.0, 3.0, 1.0)]


def drawn(seed=0, K=3, D=8, n=40, G=6):
    """A mixture, transactions, and their groups."""
    rng = np.random.default_rng(seed)
    mixture = Mixture(rng.dirichlet(np.ones(K)), rng.beta(0.5, 1.0, (K, D)).clip(1e-6, 1 - 1e-6), range(D))
    data = mixture.sample(n, random_state=rng)
    return mixture, data, rng.integers(G, size=n)


def shoppers(seed=0, n_groups=40, n_items=15):
    """Groups that each have three favourites."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for g in range(n_groups):
        probs = np.full(n_items, 0.05)
        probs[rng.choice(n_items, 3, replace=False)] = 0.6
        for _ in range(rng.integers(1, 9)):
            rows.append([f"item {i}" for i in np.flatnonzero(rng.random(n_items) < probs)])
            labels.append(f"customer {g}")
    order = rng.permutation(len(rows))
    return Transactions.from_lists([rows[t] for t in order]), [labels[t] for t in order]


@pytest.fixture(scope="module")
def fitted():
    """A model of shoppers, and what it was fitted to."""
    data, labels = shoppers()
    return DirichletProcessMixture(4, random_state=0).fit(data, groups=labels), data, labels


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_walk_is_its_twin(prior, seed):
    """The log-probability of each transaction, given those before it, is that of the obvious twin."""
    mixture, data, codes = drawn(seed)
    rows = [data.indices[a:b] for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)]
    loyalty = [None, np.linspace(0, 1, 8)][seed % 2]
    expected = [value for _, value, _, _ in naive.walk(mixture, rows, codes.tolist(), prior, loyalty)]
    found = log_likelihood(mixture, data, codes, prior, loyalty=loyalty, workers=Workers(1))
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_walk_is_exact_where_the_curve_is():
    """Without memory there is nothing to interpolate: the twins agree to rounding."""
    mixture, data, codes = drawn(4)
    rows = [data.indices[a:b] for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)]
    prior = GroupPrior(3.0, 0.0, 1.0, 0.7)
    expected = [value for _, value, _, _ in naive.walk(mixture, rows, codes.tolist(), prior)]
    found = log_likelihood(mixture, data, codes, prior, workers=Workers(1))
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_probabilities_of_next_transaction_sum_to_one():
    """Whatever the past: the log-probabilities that the walk gives to all next transactions sum to 1."""
    mixture, past, _ = drawn(1, D=5, n=4)
    total = 0.0
    for bits in product([0, 1], repeat=5):
        row = Transactions.from_matrix(np.array([bits]), items=range(5))
        data = Transactions.concatenate([past, row])
        total += np.exp(log_likelihood(mixture, data, np.zeros(5, int), PRIORS[1], workers=Workers(1))[-1])
    assert total == pytest.approx(1, abs=1e-5)


def test_group_is_what_the_walk_expects_next(monkeypatch):
    """A group's mixture has the weights and item probabilities that the twin has after its past."""
    monkeypatch.setattr(inference, "_NEGLIGIBLE", 0.0)
    mixture, data, codes = drawn(2)
    labels = Items([f"g{g}" for g in range(6)])
    learned = learn_groups(mixture, data, GroupCodes(codes, labels), Workers(1))
    for g in range(6):
        rows = [data.indices[data.indptr[t] : data.indptr[t + 1]] for t in np.flatnonzero(codes == g)]
        weights, probs = naive.group_mixture(mixture, rows, learned.prior, learned.loyalty)
        own = learned.mixture(mixture, f"g{g}")
        np.testing.assert_allclose(own.weights, weights, atol=1e-4)
        np.testing.assert_allclose(own.probs, probs, rtol=1e-12)


@pytest.mark.parametrize("prior", PRIORS[:2])
def test_items_that_come_back_are_counted(prior):
    """How often remembered items came back, and how often they should, are those of the twin."""
    mixture, data, codes = drawn(6, n=60, G=4)
    rows = [data.indices[a:b] for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)]
    grouped = inference._grouped(data, codes, np.arange(4))
    seen, expected = inference._Walker(mixture, Workers(1)).counted(grouped, prior)
    wanted = naive.counted(mixture, rows, codes.tolist(), prior)
    np.testing.assert_array_equal(seen, wanted[0])
    np.testing.assert_allclose(expected, wanted[1], rtol=1e-3, atol=1e-3)


def test_items_have_loyalties_of_their_own():
    """Items that each group always buys again are told from those that it never buys twice."""
    rng = np.random.default_rng(0)
    rows, labels = [], []
    for g in range(150):
        staple = rng.integers(5)
        novelties = rng.permutation(np.arange(5, 15))
        for t in range(6):
            rows.append([staple, novelties[t]])
            labels.append(g)
    data = Transactions.from_lists([[f"{i:02}" for i in row] for row in rows])
    model = DirichletProcessMixture(2, random_state=0).fit(data, groups=labels)
    loyalty = model.fitted_.groups.loyalty
    assert loyalty[:5].min() > 3 * loyalty[5:].max()
    assert loyalty.max() <= 0.99


def test_small_sizes_may_be_left_out_only():
    """What is left out of the sizes of groups changes no answer by more than a few thousandths."""
    mixture, data, codes = drawn(2)
    labels = Items(range(6))
    learned = learn_groups(mixture, data, GroupCodes(codes, labels), Workers(1))
    for g in range(6):
        rows = [data.indices[data.indptr[t] : data.indptr[t + 1]] for t in np.flatnonzero(codes == g)]
        weights, _ = naive.group_mixture(mixture, rows, learned.prior, learned.loyalty)
        np.testing.assert_allclose(learned.mixture(mixture, g).weights, weights, atol=5e-3)


def test_one_group_is_the_process(fitted):
    """With one group, the group is everybody: the same mixture, and the same as without groups."""
    _, data, labels = fitted
    model = DirichletProcessMixture(4, random_state=0)
    without = model.fit(data).mixture_
    one = DirichletProcessMixture(4, random_state=0).fit(data, groups=["all"] * len(labels))
    assert one.mixture_ == without == one.group("all").value
    assert one.probability(["item 1"], group="all") == one.probability(["item 1"])
    assert one.interval(["item 1"], group="all") == one.interval(["item 1"])


def test_groups_of_one_transaction_are_like_everybody(fitted):
    """Where no group comes back, nothing says that groups differ."""
    _, data, _ = fitted
    model = DirichletProcessMixture(4, random_state=0).fit(data, groups=range(len(data)))
    assert model.group(7).value == model.mixture_


def test_groups_change_nothing_common(fitted):
    """The common mixture is the one that is fitted without groups."""
    model, data, _ = fitted
    assert model.mixture_ == DirichletProcessMixture(4, random_state=0).fit(data).mixture_


def test_relabelled_groups_change_nothing(fitted):
    """Names of groups are only names, whatever their order in the alphabet, and whatever their type."""
    model, data, labels = fitted
    renamed = {label: len(labels) - k for k, label in enumerate(dict.fromkeys(labels))}
    other = DirichletProcessMixture(4, random_state=0).fit(data, groups=[renamed[name] for name in labels])
    for label, name in renamed.items():
        assert model.group(label).value == other.group(name).value
    assert model.fitted_.groups.prior == other.fitted_.groups.prior


def test_order_across_groups_changes_nothing():
    """Only the order within a group counts: rows may come sorted by group, or as they came."""
    mixture, data, codes = drawn(5)
    order = np.argsort(codes, kind="stable")
    one = log_likelihood(mixture, data, codes, PRIORS[1], workers=Workers(1))
    np.testing.assert_array_equal(
        one, log_likelihood(mixture, data.of_rows(order), codes[order], PRIORS[1], workers=Workers(1))
    )


def test_threads_change_nothing(fitted, monkeypatch):
    """Any number of threads gives the same groups, to the last bit."""
    model, data, labels = fitted
    monkeypatch.setattr(inference, "_TRANSACTIONS_IN_A_BLOCK", 20)
    grouped = group_codes(labels, data)
    with Workers(3) as workers:
        many = learn_groups(model.mixture_, data, grouped, workers)
    assert many == learn_groups(model.mixture_, data, grouped, Workers(1))
    assert many == model.fitted_.groups


def test_merged_rows_stand_for_several():
    """A row with a multiplicity counts as so many transactions, one after the other."""
    mixture, data, codes = drawn(3, n=12, G=2)
    repeats = np.arange(12) % 3 + 1
    spread = data.of_rows(np.repeat(np.arange(12), repeats))
    merged = Transactions(data.indptr, data.indices, data.items, repeats)
    one = log_likelihood(mixture, merged, codes, PRIORS[1], workers=Workers(1))
    np.testing.assert_array_equal(
        one, log_likelihood(mixture, spread, np.repeat(codes, repeats), PRIORS[1], workers=Workers(1))
    )


def test_groups_are_learned_anew(fitted):
    """`fit_groups` learns what `fit` learns, of the same mixture, and takes in what has come since."""
    model, data, labels = fitted
    other = DirichletProcessMixture(4, random_state=0).fit(data)
    assert other.fit_groups(data, labels).fitted_.groups == model.fitted_.groups
    assert other.mixture_ == model.mixture_
    more = Transactions.concatenate([data, Transactions.from_lists([["item 7"]]).align_items(data.items)])
    before = other.probability(["item 7"], group="customer 3")
    other.fit_groups(more, [*labels, "customer 3"])
    assert other.probability(["item 7"], group="customer 3") > before + 0.05
    assert other.fitted_.groups.n_transactions.sum() == len(data) + 1
    with pytest.raises(InvalidInputError, match="expected a model without a correction"):
        DirichletProcessMixture(4, correction=5.0, random_state=0).fit(data).fit_groups(data, labels)


def test_only_the_last_transactions_of_large_groups_count(monkeypatch):
    """Of a group with more transactions than are looked at, it is as if the last ones were all."""
    mixture, data, codes = drawn(7, n=60, G=3)
    kept = np.sort(np.concatenate([np.flatnonzero(codes == g)[-9:] for g in range(3)]))
    monkeypatch.setattr(inference, "_best_prior", lambda *_: PRIORS[1])
    few = learn_groups(mixture, data.of_rows(kept), GroupCodes(codes[kept], Items(range(3))), Workers(1))
    monkeypatch.setattr(inference, "_MOST_OF_A_GROUP", 9)
    assert learn_groups(mixture, data, GroupCodes(codes, Items(range(3))), Workers(1)) == few
    assert few.n_transactions.tolist() == [9, 9, 9]


def test_prior_is_learned():
    """The past of customers with favourites predicts them; it does not where all are alike."""
    data, labels = shoppers(1)
    model = DirichletProcessMixture(4, random_state=0).fit(data, groups=labels)
    alike = [f"customer {g}" for g in np.random.default_rng(0).integers(40, size=len(data))]
    other = DirichletProcessMixture(4, random_state=0).fit(data, groups=alike)
    strong, weak = model.fitted_.groups.prior, other.fitted_.groups.prior
    assert strong.loyalty * strong.progress(4) > 0.3
    assert weak.loyalty * weak.progress(4) < 0.1


def test_groups_predict_better():
    """The next transactions of customers are more probable with their groups than without."""
    data, labels = shoppers(2, n_groups=60)
    last = {label: t for t, label in enumerate(labels)}
    test = sorted(t for label, t in last.items() if labels.count(label) > 2)
    train = [t for t in range(len(labels)) if t not in test]
    model = DirichletProcessMixture(4, random_state=0).fit(data[train], groups=[labels[t] for t in train])
    gains = [
        model.group(labels[t]).value.log_likelihood(data[[t]])[0]
        - model.mixture_.log_likelihood(data[[t]])[0]
        for t in test
    ]
    assert np.mean(gains) > 1


def test_group_none_and_missing_labels():
    """A missing label is no group: such transactions are fitted, and remembered by nobody."""
    data, labels = shoppers(3)
    some = [None if label == "customer 5" else label for label in labels]
    model = DirichletProcessMixture(4, random_state=0).fit(data, groups=some)
    assert model.fitted_.groups.n_groups == 39
    assert model.fitted_.groups.n_transactions.sum() == len(data) - labels.count("customer 5")
    assert model.group(None) is model.fitted_
    kept = [t for t, label in enumerate(some) if label is not None]
    grouped = group_codes([some[t] for t in kept], data[kept])
    assert learn_groups(model.mixture_, data[kept], grouped, Workers(1)) == model.fitted_.groups
    with pytest.raises(UnknownGroupError, match="expected one of 39 known groups, got 'customer 5'; did you"):
        model.probability(["item 1"], group="customer 5")


def test_labels():
    """Whole numbers stay numbers, also as floats with gaps; a column of ids is found by its name."""
    data = Transactions.from_lists([["a"], ["b"], ["a"]])
    codes, labels = group_codes([17850.0, np.nan, 12.0], data)
    assert codes.tolist() == [0, -1, 1]
    assert labels == Items([17850, 12])
    assert labels.find("17850") == 0
    assert group_codes(np.array(["2024-01", "2024-02", "2024-01"]), data).labels == Items(
        ["2024-01", "2024-02"]
    )
    ids = pa.array(
        [{"order": 1, "customer": "x"}, {"order": 2, "customer": "y"}, {"order": 3, "customer": "x"}]
    )
    named = Transactions(data.indptr, data.indices, data.items, ids=ids)
    assert group_codes("customer", named).codes.tolist() == [0, 1, 0]
    with pytest.raises(
        InvalidInputError, match=r"expected 'shop' as a column of the ids .* 'order', 'customer'"
    ):
        group_codes("shop", named)
    with pytest.raises(InvalidInputError, match="got none that have names"):
        group_codes("customer", data)
    with pytest.raises(InvalidInputError, match="expected a label for each of the 3 rows"):
        group_codes(["x", "y"], data)
    with pytest.raises(InvalidInputError, match="only missing ones"):
        group_codes([None, None, None], data)


def test_not_with_everything(fitted):
    """Groups go with transactions in memory, without weights, corrections and batches: in one line."""
    model, data, labels = fitted
    chunks = itemix.partitions([data])
    for fit, words in (
        (lambda: DirichletProcessMixture(4).fit(chunks, groups=labels), "expected transactions in memory"),
        (
            lambda: DirichletProcessMixture(4).fit(data, groups=labels, sample_weight=[1] * len(data)),
            "expected sample_weight=None",
        ),
        (lambda: DirichletProcessMixture(4, correction=5.0).fit(data, groups=labels), "correction=None"),
        (lambda: model.partial_fit(data), "expected a model without groups"),
        (
            lambda: itemix.IndependentModel().fit(data).group("x"),
            "expected a model that was fitted with groups",
        ),
        (lambda: itemix.mine(data, 0.1, group="x"), "expected a model that was fitted with groups"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            fit()
