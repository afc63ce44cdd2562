"""Every kind of model is served: each view answers, or says what this kind does not have."""

from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

import itemix
from itemix.files.container import FORMAT
from itemix.web.app import make_app
from itemix.web.served import Served
from itemix.web.server import warm_up

GOLDEN = Path(__file__).parents[1] / "golden" / f"format-{FORMAT}"
KINDS = sorted(path.stem for path in GOLDEN.glob("*.itemix"))


def asking(name, fitted):
    """Return a client that asks one model."""
    return TestClient(make_app([Served(name, fitted)]), base_url="http://127.0.0.1")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_answers_every_view(kind):
    """Files of all kinds of models; what a kind does not have is refused, with a line that says why."""
    served = Served.from_file(GOLDEN / f"{kind}.itemix")
    served.test = served.model.sample(300, random_state=0)
    warm_up(served)
    item = str(served.model.items[0])
    views = {
        "/model": {},
        "/items": {},
        "/itemsets": {"min_support": 0.1},
        "/rules": {"min_support": 0.1, "points": 10},
        "/dependencies": {},
        "/query": {"present": item, "level": 0.9},
        "/influences": {"present": item},
        "/recommend": {"basket": item},
    }
    with TestClient(make_app([served]), base_url="http://127.0.0.1") as client:
        for path, values in views.items():
            response = client.get(path, params=values)
            assert response.status_code == 200, (path, response.text)
        found = client.get("/components")
        if served.components is None:
            assert found.status_code == 400
            assert "which has no components; try /dependencies" in found.json()["error"]["message"]
        else:
            assert found.json()["n_components"] == served.components.n_components
            assert client.get("/components/1").status_code == 200
        tested = client.get("/surprises", params={"min_support": 0.1, "level": 1})
        if tested.status_code == 200:
            assert served.has_intervals
            assert tested.json()["n_surprises"] == tested.json()["n_tested"]
        else:
            # Who is very unsure takes data from the middle of what may be for training data.
            reason = (
                "closer than chance allows" if served.has_intervals else "expected a model with a posterior"
            )
            assert reason in tested.json()["error"]["message"]


def test_independent_items_have_no_dependencies():
    """Rounding is no dependence, and nothing raises or lowers a probability."""
    data = itemix.datasets.load("grocery_store").sample(300, random_state=0)
    with asking("apart", itemix.IndependentModel().fit(data)) as client:
        assert client.get("/dependencies").json()["pairs"] == []
        answer = client.get("/influences", params={"present": "salsa"}).json()
    assert answer["raises"] == answer["lowers"] == []


def test_a_correction_has_intervals_whatever_it_corrects():
    """EM has no posterior, but a correction knows how sure it is: the explorer shows what `interval` says."""
    data = itemix.datasets.load("grocery_store").sample(300, random_state=0)
    model = itemix.BernoulliMixture(2, random_state=0, correction=2).fit(data)
    expected = model.interval(["salsa"], level=0.8)
    with asking("corrected", model) as client:
        assert client.get("/model").json()["has_intervals"] is True
        answer = client.get("/query", params={"present": "salsa", "level": 0.8}).json()
    assert (answer["lower"], answer["upper"]) == pytest.approx((expected.lower, expected.upper))


def test_trees_have_components_of_their_own():
    """A mixture of trees shows its components; baskets are drawn from the tree of the component."""
    parents = [[-1, 0, -1], [-1, -1, 1]]
    probs = [[[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.5, 0.5], [0.0, 1.0]]]
    trees = itemix.TreeMixture([0.75, 0.25], parents, probs, ["left", "middle", "right"])
    with asking("trees", trees) as client:
        answer = client.get("/components").json()
        baskets = client.get("/components/1", params={"baskets": 50}).json()["baskets"]
    assert [entry["weight"] for entry in answer["components"]] == [0.75, 0.25]
    # In the first component the two come together or not at all.
    assert {frozenset(basket) for basket in baskets} == {frozenset(), frozenset({"left", "middle"})}


def test_many_items_are_compared_as_far_as_it_is_quick():
    """Pairs of a mixture are found among all items; of other models, among the most frequent ones."""
    n = 1_200
    names = [f"item {i}" for i in range(n)]
    chance = np.linspace(0.3, 0.001, n)
    chain = np.stack([chance, np.minimum(2 * chance, 1)], axis=1)[None]
    chain[0, 0] = chance[0]
    parents = [[-1, *range(n - 1)]]
    tree = itemix.TreeMixture([1.0], parents, chain, names)
    with asking("tree", tree) as client:
        answer = client.get("/dependencies").json()
        rare = client.get("/dependencies", params={"items": "item 1199"}).json()
    assert answer["n_items"] == 1_000
    assert answer["pairs"]
    assert rare["n_items"] == n
    assert "item 1198" in {pair["other"] for pair in rare["pairs"]}
    rng = np.random.default_rng(0)
    mixture = itemix.Mixture([0.5, 0.5], rng.random((2, n)) * 0.1, names)
    with asking("mixture", mixture) as client:
        assert client.get("/dependencies").json()["n_items"] == n


def test_a_corrected_model_answers_as_corrected():
    """Itemsets, queries and dependencies are those of the corrected model; components are the mixture's."""
    data = itemix.datasets.load("grocery_store").sample(600, random_state=0)
    fitted = itemix.BayesianMixture(n_components=3, random_state=0, correction=2).fit(data)
    with asking("corrected", fitted) as client:
        query = client.get("/query", params={"present": ["salsa", "tortillas"], "level": 0.9}).json()
        sets = client.get("/itemsets", params={"min_support": 0.05, "limit": 20}).json()["itemsets"]
        pair = client.get("/dependencies").json()["pairs"][0]
        assert client.get("/components").json()["n_components"] == 3
    expected = fitted.corrected_.probability(["salsa", "tortillas"])
    assert query["probability"] == pytest.approx(expected)
    assert query["probability"] != pytest.approx(
        fitted.mixture_.probability(["salsa", "tortillas"]), rel=1e-3
    )
    assert query["lower"] <= expected <= query["upper"]
    assert [row["support"] for row in sets] == pytest.approx(
        fitted.corrected_.probabilities([s["items"] for s in sets])
    )
    assert pair["probability"] == pytest.approx(fitted.corrected_.probability([pair["item"], pair["other"]]))
