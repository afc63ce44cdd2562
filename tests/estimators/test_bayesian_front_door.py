"""`itemix.fit`: the recommended model in one line, the same on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from inference.planted import planted_mixture
from sklearn.exceptions import ConvergenceWarning

import itemix
from itemix.errors import InvalidInputError
from itemix.estimators import bayesian


@pytest.fixture(scope="module")
def store():
    """Return baskets of the built-in store."""
    return itemix.datasets.load("grocery_store").sample(300, random_state=0)


@pytest.fixture(scope="module")
def model(store):
    """Return what the front door makes of them."""
    return itemix.fit(store, progress=False)


def test_everything_is_chosen(store, model):
    """It is sampled, its prior is learned, it is corrected, it recommends, and knows how sure it is."""
    assert (model.inference, model.beta) == ("gibbs", "learn-by-frequency")
    assert model.corrected_.transactions.n_transactions == len(store)
    assert model.correction_choice_.best == model.corrected_.worth
    assert model.fitted_.affinity is not None
    found = model.interval(["salsa"], given=["tortillas"])
    assert found.lower < found.probability < found.upper
    assert len(itemix.mine(model, 0.05)) > 5


def test_the_same_seed_gives_the_same_model(store, model, tmp_path):
    """By default too, and however many threads there are."""
    again = itemix.fit(store, random_state=0, n_jobs=1, progress=False)
    assert again.corrected_ == model.corrected_
    assert again.recommend(["salsa"]) == model.recommend(["salsa"])
    model.save(tmp_path / "m.itemix")
    assert itemix.load(tmp_path / "m.itemix").recommend(["salsa"]) == model.recommend(["salsa"])


@pytest.mark.parametrize("kind", ["file", "frame"])
def test_data_comes_in_any_form(kind, store, model, tmp_path):
    """The name of a file will do."""
    path = tmp_path / "store.jsonl"
    itemix.write_transactions(store, path)
    source = {"file": path, "frame": store.to_dataframe()}[kind]
    found = itemix.fit(source, progress=False)
    assert found.corrected_.transactions.n_transactions == len(store)
    if kind == "frame":
        assert found.corrected_ == model.corrected_


def test_it_says_what_it_chose_and_why(store, capsys):
    """On standard error, and nothing if that is not wanted."""
    itemix.fit(store)
    assert capsys.readouterr().err.startswith(
        "itemix.fit: a Dirichlet process mixture by Gibbs sampling, its prior learned, corrected by the "
        f"transactions; 300 transactions of {store.n_items} items, sampled by four chains"
    )
    itemix.fit(store[np.arange(20)], progress=False)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(InvalidInputError, match="progress"):
        itemix.fit(store, progress="much")


def test_large_data_is_sampled_in_part_first(store, monkeypatch, capsys):
    """All of it goes on from there, and is all corrected by; the start is not kept."""
    monkeypatch.setattr(bayesian, "_MOST_SAMPLED", 100)
    monkeypatch.setattr(bayesian, "_FIRST_SAMPLED", 100)
    found = itemix.fit(store)
    assert "too many to sample at once: 100 are sampled first" in capsys.readouterr().err
    assert found.fitted_.n_transactions == found.corrected_.transactions.n_transactions == 300
    assert found.init is None
    assert found.fitted_.affinity is not None


def test_an_interrupted_recommender_is_left_out(store, monkeypatch):
    """Ctrl-C while it learns to recommend keeps the model, and says so."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bayesian, "learn_recommender", interrupted)
    with pytest.warns(ConvergenceWarning, match="learning to recommend was interrupted; the model is kept"):
        found = itemix.fit(store, progress=False)
    assert found.corrected_ is not None
    assert found.fitted_.affinity is None


@pytest.mark.parametrize(
    ("data", "message"), [([], "got none"), ([[], []], "got"), (3, "got int"), ("no/such.csv", "no/such.csv")]
)
def test_what_is_no_data_is_refused(data, message):
    """In one line."""
    with pytest.raises((InvalidInputError, itemix.MissingFileError), match=message):
        itemix.fit(data, progress=False)


def test_few_transactions_are_no_problem():
    """A handful of baskets has its counts, and no more."""
    found = itemix.fit([["a", "b"], ["a"], ["b", "c"], ["a", "b"]], progress=False)
    assert found.probability(["a"]) == pytest.approx(0.75, abs=0.15)
    assert np.isfinite(found.score([["a"]]))


def odd(kind):
    """Return data that a generator of baskets does not draw."""
    rng = np.random.default_rng(0)
    if kind == "one basket":
        return [[f"i{i}" for i in range(18)]] * 300
    if kind == "tiny":
        return [np.flatnonzero(row).tolist() for row in rng.random((30, 8)) < 0.4]
    if kind == "wide and few":
        return [np.flatnonzero(row).tolist() for row in rng.random((60, 2000)) < 0.02]
    if kind == "items in all of them":
        return [[8, 9, 10, *np.flatnonzero(row).tolist()] for row in rng.random((250, 8)) < 0.2]
    lengths = np.minimum(np.exp(rng.normal(0.5, 1.6, 400)).astype(int) + 1, 100)
    return [rng.choice(150, length, replace=False).tolist() for length in lengths]


@pytest.mark.filterwarnings("ignore:one of .* components holds")  # as it may
@pytest.mark.parametrize(
    "kind", ["one basket", "tiny", "wide and few", "items in all of them", "very unequal lengths"]
)
def test_any_shape_of_data_will_do(kind):
    """Fitted, mined, asked and judged; never far above counting."""
    data = itemix.Transactions.from_lists(odd(kind))
    train, test = data.split(0.5, random_state=0)
    model = itemix.fit(train, progress=False)
    assert len(itemix.mine(model, 0.04, max_len=2)) > 0
    assert 0 < len(model.recommend([data.items[0]], n=3)) <= 3
    judged = itemix.evaluate_recommendations(model, test, train=train)
    assert 0 <= judged.ndcg <= judged.hit_rate <= 1
    sets = itemix.mine(test, 0.04, max_len=2)
    said, counted = model.probabilities(sets), np.array([train.support(found.items) for found in sets])
    errors = [np.abs(answer - sets.support).mean() for answer in (said, counted)]
    assert errors[0] <= 1.05 * errors[1] + 1e-3


@pytest.fixture
def blocks():
    """Return transactions in which a latent variable or a few kinds say nearly all."""
    return planted_mixture().sample(400, random_state=0)


def test_the_best_density_is_chosen(blocks, capsys):
    """All families are tried, the held-out transactions decide, and the best is fitted to all."""
    found = itemix.fit(blocks, method="density")
    said = capsys.readouterr().err
    for name in ("latent tree of 16 states", "mixture of 10 trees", "mixture of 100 components", "8 causes"):
        assert name in said
    assert found.fitted_.n_transactions == 400
    test = planted_mixture().sample(500, random_state=1)
    assert found.score(test) > itemix.IndependentModel().fit(blocks).score(test)
    again = itemix.fit(blocks, method="density", n_jobs=1, progress=False)
    assert again.fitted_.value == found.fitted_.value


def test_transactions_of_ones_own_decide(blocks):
    """They are not learned; the best of what was tried is returned as it is."""
    learned, judges = blocks.split(0.8, random_state=1)
    found = itemix.fit(learned, method="density", validation=judges, progress=False)
    assert found.fitted_.n_transactions == learned.n_transactions
    alone = itemix.LatentTreeModel(16, random_state=0).fit(learned, validation=judges)
    assert found.score(judges) >= alone.score(judges) - 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "densest"}, "expected method to be one of|expected method as"),
        ({"validation": [["a"]]}, "expected validation only with method='density'"),
        ({"method": "density", "groups": [0, 1] * 10}, "expected groups=None with method='density'"),
        ({"method": "density"}, "expected at least 50 transactions to choose a family"),
    ],
)
def test_what_a_density_needs(options, message):
    """One line says it."""
    with pytest.raises(InvalidInputError, match=message):
        itemix.fit([["a"], ["b"]] * 10, progress=False, **options)
