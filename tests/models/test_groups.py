"""The model of a group is a mixture like any other, and answers as one."""

import numpy as np
import pytest

import itemix
from itemix import DirichletProcessMixture
from itemix.core.items import Items
from itemix.errors import InvalidInputError, UnknownGroupError
from itemix.models.groups import GroupPrior, Groups
from itemix.models.mixture import Mixture
from tests.inference.test_groups import shoppers


@pytest.fixture(scope="module")
def model():
    """A model of shoppers."""
    data, labels = shoppers()
    return DirichletProcessMixture(4, random_state=0).fit(data, groups=labels)


LOYALTY = np.array([0.4, 0.0, 0.8, 1.0])


def nobody(common):
    """Groups of which one has had no transactions, and one has had two."""
    none, two = np.array([0, 0, 1]), np.array([0, 0, 2])
    return Groups(
        Items(["new", "old"]),
        GroupPrior(),
        LOYALTY,
        n_transactions=[0, 2],
        sizes=(none, [0], [2.0]),
        memory=(two, [0, 2], [1.9, 0.9]),
    )


COMMON = Mixture([0.7, 0.3], [[0.1, 0.5, 0.2, 0.6], [0.8, 0.1, 0.3, 0.4]], "abcd")


def test_group_without_transactions_is_everybody():
    """It answers like everybody; what it may come to is unsure."""
    groups = nobody(COMMON)
    assert groups.mixture(COMMON, "new") == COMMON
    np.testing.assert_allclose(groups.posterior(COMMON, "new").mixture().probs, COMMON.probs)
    np.testing.assert_allclose(groups.posterior(COMMON, "new").mixture().weights, COMMON.weights)


@pytest.mark.parametrize("event", [("a",), ("a", "c"), ("b", "c", "d")])
def test_probabilities_are_enumerated(event):
    """Every probability of a group's mixture is that of all its transactions, enumerated."""
    own = nobody(COMMON).mixture(COMMON, "old")
    r = LOYALTY * 2 / 4.5
    shares = np.array([1, 0, 0.9 / 1.9, 0])
    weights = (10 * COMMON.weights + [2, 0]) / 12
    probs = (1 - r) * COMMON.probs + r * shares
    total = 0.0
    for bits in range(16):
        x = (bits >> np.arange(4)) & 1
        if all(x["abcd".index(name)] for name in event):
            total += (weights * np.where(x, probs, 1 - probs).prod(axis=1)).sum()
    assert own.probability(event) == pytest.approx(total, rel=1e-12)


def test_posterior_has_the_mixture_as_its_mean(model):
    """Intervals are about the probability that the group answers."""
    for label in model.fitted_.groups.labels:
        found = model.group(label)
        assert found.posterior.mixture().probs == pytest.approx(found.value.probs, abs=1e-9)
        assert found.posterior.mixture().weights == pytest.approx(found.value.weights, abs=1e-9)


def test_intervals_narrow_with_the_past(model):
    """A group with a longer past is surer of what it has bought."""
    assert model.interval(["item 1"], group="customer 3").lower >= 0
    groups = model.fitted_.groups
    longest = groups.labels[int(groups.n_transactions.argmax())]
    shortest = groups.labels[int(groups.n_transactions.argmin())]
    widths = [
        np.mean([high - low for _, low, high in (model.interval([i], group=g) for i in model.mixture_.items)])
        for g in (shortest, longest)
    ]
    assert widths[1] < widths[0]


def test_methods_ask_the_group(model):
    """`group=` of a method is the method of the group's model."""
    own = model.group("customer 3")
    items = ["item 1", "item 2"]
    assert (
        model.probability(items, group="customer 3") == own.probability(items) == own.value.probability(items)
    )
    given = {"given": ["item 3"], "given_absent": ["item 4"]}
    assert model.probability(items, **given, group="customer 3") == own.value.probability(items, **given)
    assert model.probabilities([items], group="customer 3")[0] == own.probability(items)
    assert model.interval(items, group="customer 3") == own.interval(items)
    assert model.intervals([items], group="customer 3")[1][0] == own.interval(items).lower
    assert model.recommend([], 3, complete=False, group="customer 3") == own.recommend([], 3, complete=False)
    assert (
        model.recommend_many([["item 1"]], 3, group="customer 3")[0] == own.recommend_many([["item 1"]], 3)[0]
    ).all()
    assert model.explain(["item 1"], group="customer 3").component == own.explain(["item 1"]).component
    assert itemix.mine(model, 0.2, group="customer 3") == itemix.mine(own, 0.2) == itemix.mine(own.value, 0.2)


def test_favourites_come_first(model):
    """What a customer had at almost every visit is what is recommended."""
    data, labels = shoppers()
    groups = model.fitted_.groups
    label = groups.labels[int(groups.n_transactions.argmax())]
    own = data[[t for t, name in enumerate(labels) if name == label]]
    favourite = own.items[int(own.item_counts().argmax())]
    best = [offer.item for offer in model.recommend([], 3, complete=False, group=label)]
    assert favourite in best


def test_next_items_of_many_groups(model):
    """All groups at once have the items that each has on its own, also in another order, and in a frame."""
    labels = ["customer 7", "customer 3", "customer 7"]
    offers = model.recommend_groups(4, labels=labels)
    for row, label in enumerate(labels):
        own = model.group(label).value.item_probabilities
        assert offers[1][row] == pytest.approx(np.sort(own)[::-1][:4], rel=1e-9)
        assert own[offers[0][row]] == pytest.approx(offers[1][row], rel=1e-9)
    frame = model.recommend_groups(2).to_pandas()
    assert list(frame["group"].unique()) == list(model.fitted_.groups.labels)
    with pytest.raises(UnknownGroupError, match="got 'customer 99'"):
        model.recommend_groups(labels=["customer 99"])


def test_similar_groups_are_the_cosine(model):
    """Similarity is the cosine between what item probabilities have beyond the common ones."""
    groups, common = model.fitted_.groups, model.mixture_.item_probabilities
    d = {label: model.group(label).value.item_probabilities - common for label in groups.labels}
    own = d["customer 3"]
    expected = {label: d[label] @ own / np.linalg.norm(d[label]) / np.linalg.norm(own) for label in d}
    del expected["customer 3"]
    found = model.similar_groups("customer 3", n=100)
    assert [entry.group for entry in found] == sorted(expected, key=expected.get, reverse=True)
    assert [entry.similarity for entry in found] == pytest.approx(sorted(expected.values(), reverse=True))


def test_table(model):
    """A row for each group, those with the longest past first."""
    data, labels = shoppers()
    frame = model.groups_table().to_pandas().set_index("group")
    assert len(frame) == 40
    assert frame.transactions.is_monotonic_decreasing
    assert frame.transactions["customer 3"] == labels.count("customer 3")
    own = data[[t for t, name in enumerate(labels) if name == "customer 3"]]
    assert frame["items"]["customer 3"] == (own.item_counts() > 0).sum()
    assert model.group("customer 3").n_transactions == labels.count("customer 3")


def test_saved_and_read(model, tmp_path):
    """A file keeps the groups, with names of either kind."""
    model.save(tmp_path / "m.itemix")
    again = itemix.load(tmp_path / "m.itemix")
    assert again.fitted_.groups == model.fitted_.groups
    assert again.group("customer 3").value == model.group("customer 3").value
    assert again.interval(["item 1"], group="customer 3") == model.interval(["item 1"], group="customer 3")
    data, labels = shoppers()
    numbered = [int(label.split()[1]) for label in labels]
    DirichletProcessMixture(4, random_state=0).fit(data, groups=numbered).save(tmp_path / "n.itemix")
    assert itemix.load(tmp_path / "n.itemix").probability(["item 1"], group=3) == again.probability(
        ["item 1"], group="customer 3"
    )


@pytest.mark.filterwarnings("ignore:DirichletProcessMixture did not converge")
def test_other_mixtures_have_groups():
    """Sampled mixtures and those of maximum likelihood have groups, too; the latter without intervals."""
    data, labels = shoppers()
    sampled = DirichletProcessMixture(inference="gibbs", random_state=0, max_iter=30).fit(data, groups=labels)
    assert sampled.group("customer 3").n_components == sampled.n_components_
    assert sampled.interval(["item 1"], group="customer 3").upper < 1
    plain = itemix.BernoulliMixture(3, random_state=0).fit(data, groups=labels)
    assert 0 < plain.probability(["item 1"], group="customer 3") < 1
    with pytest.raises(InvalidInputError, match="expected a model with a posterior"):
        plain.interval(["item 1"], group="customer 3")


def test_bad_values():
    """A value says what is wrong with it."""
    groups = nobody(COMMON)
    with pytest.raises(
        UnknownGroupError,
        match=r"expected one of 2 known groups, got 'x'; the first are 'new', 'old'\. Or leave",
    ):
        groups.mixture(COMMON, "x")
    own = {"n_transactions": [0, 2], "sizes": groups.sizes, "memory": groups.memory}
    for changes, words in (
        ({"prior": GroupPrior(loyalty=2.0)}, "expected a positive concentration"),
        ({"loyalty": [0.1, 2.0]}, "expected the loyalty of each item"),
        ({"memory": (*groups.sizes[:2], np.array([-1.0]))}, "expected memory as compressed rows"),
        ({"n_transactions": [0]}, "expected a number of transactions"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            Groups(**{"labels": groups.labels, "prior": GroupPrior(), "loyalty": LOYALTY, **own, **changes})
