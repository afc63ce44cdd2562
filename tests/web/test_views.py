"""Every answer of the API is the library's."""

import pytest
from naive.models import OnlyProbabilities
from starlette.testclient import TestClient

import itemix
from itemix.mining.characteristics import characteristic_items
from itemix.web.app import make_app
from itemix.web.served import Limits, Served


def ask(client, path, **values):
    """Ask, and return what was answered."""
    response = client.get(path, params=values)
    assert response.status_code == 200, response.text
    return response.json()


def test_itemsets_are_those_of_mine(client, model):
    """The number of itemsets, their distribution and the first page are those of the library."""
    answer = ask(client, "/itemsets", min_support=0.05, limit=10)
    mined = itemix.mine(model, 0.05)
    assert answer["n_itemsets"] == len(mined)
    assert sum(bin_["count"] for bin_ in answer["supports"]) == len(mined)
    assert {bin_["length"]: bin_["count"] for bin_ in answer["lengths"]} == {
        length: int((mined.lengths == length).sum()) for length in range(1, int(mined.lengths.max()) + 1)
    }
    best = mined.top(10)
    assert [row["items"] for row in answer["itemsets"]] == [list(names) for names in best.sets]
    assert [row["support"] for row in answer["itemsets"]] == pytest.approx(best.support.tolist())


def test_itemsets_have_intervals_and_exact_supports(client, model, data):
    """Beside each support stand its interval and the support in the data."""
    for row in ask(client, "/itemsets", min_support=0.05, min_len=2, limit=5, level=0.8)["itemsets"]:
        interval = model.interval(row["items"], level=0.8)
        assert (row["lower"], row["upper"]) == pytest.approx((interval.lower, interval.upper))
        assert row["exact"] == pytest.approx(data.support(row["items"]))
        assert row["lift"] == pytest.approx(model.lift(row["items"]))


def test_itemsets_are_filtered(client, model, hostile):
    """Length, items and words choose among the sets."""
    chosen = {"min_len": 2, "max_len": 3, "include": [hostile], "exclude": ["whole milk"], "search": "but e"}
    found = ask(client, "/itemsets", min_support=0.01, limit=1000, **chosen)["itemsets"]
    mined = itemix.mine(model, 0.01).filter(min_len=2, max_len=3, include=[hostile], exclude=["whole milk"])
    expected = {
        frozenset(names)
        for names in mined.sets
        if all(any(word in name.casefold() for name in names) for word in ("but", "e"))
    }
    assert found
    assert {frozenset(row["items"]) for row in found} == expected


@pytest.mark.parametrize("target", ["closed", "maximal"])
def test_itemsets_of_a_target(client, model, target):
    """Closed and maximal sets are those of the library."""
    answer = ask(client, "/itemsets", min_support=0.05, target=target)
    assert answer["n_itemsets"] == len(itemix.mine(model, 0.05, target=target))


@pytest.mark.parametrize("sort", ["support", "length", "lift"])
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_itemsets_are_sorted_and_paged(client, sort, order):
    """Pages fit together, and all of them are in the order that was asked for."""
    asked = {"min_support": 0.05, "sort": sort, "order": order, "limit": 40}
    pages = [ask(client, "/itemsets", **asked, offset=offset)["itemsets"] for offset in (0, 40, 80)]
    rows = [row for page in pages for row in page]
    key = {"support": lambda row: row["support"], "length": lambda row: len(row["items"])}.get(
        sort, lambda row: row["lift"]
    )
    assert [key(row) for row in rows] == sorted(map(key, rows), reverse=order == "descending")
    assert len({frozenset(row["items"]) for row in rows}) == len(rows)


def test_too_low_a_threshold_names_the_lowest(client):
    """The answer to a threshold that is too low is one that is possible."""
    response = client.get("/itemsets", params={"min_support": 1e-6})
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "too_many"
    assert "the lowest that is possible is" in error["message"]
    assert 0 < ask(client, "/itemsets", min_support=error["lowest_min_support"])["n_itemsets"] <= 20_000


def test_queries_are_the_librarys(client, model, data, hostile):
    """A probability with a condition, its interval, independence and the data."""
    event = {"present": ["whole milk"], "absent": ["beer"], "given": [hostile], "given_absent": ["salsa"]}
    answer = ask(client, "/query", **event, level=0.9)
    arguments = {"absent": ["beer"], "given": [hostile], "given_absent": ["salsa"]}
    interval = model.interval(["whole milk"], **arguments)
    assert answer["probability"] == pytest.approx(model.probability(["whole milk"], **arguments))
    assert (answer["lower"], answer["upper"]) == pytest.approx((interval.lower, interval.upper))
    assert answer["unconditional"] == pytest.approx(model.probability(["whole milk"], absent=["beer"]))
    alone = model.probability(["whole milk"]) * (1 - model.probability(["beer"]))
    assert answer["independent"] == pytest.approx(alone)
    rows = [set(row) for row in data if hostile in row and "salsa" not in row]
    meant = [row for row in rows if "whole milk" in row and "beer" not in row]
    assert answer["data"] == {
        "probability": pytest.approx(len(meant) / len(rows)),
        "count": len(meant),
        "of": len(rows),
    }


def test_a_query_may_be_posted(client, model, hostile):
    """JSON in a body asks the same as an address."""
    body = {"present": [hostile, "whole milk"], "level": 0.9}
    posted = client.post("/query", json=body).json()
    assert posted == ask(client, "/query", **body)
    assert posted["probability"] == pytest.approx(model.probability([hostile, "whole milk"]))


def test_a_condition_that_the_data_never_meets(client, data):
    """The model still answers; the data says that it has no such transaction."""
    given = list(data.items)[:25]
    answer = ask(client, "/query", present=["beer"], given=given)
    assert answer["data"] == {"probability": None, "count": 0, "of": 0}
    assert 0 < answer["probability"] <= 1


def test_influences_are_conditional_probabilities(client, model):
    """What raises or lowers an event is said by the event's probability given the item."""
    answer = ask(client, "/influences", present=["salsa"], given=["whole milk"], limit=3)
    now = model.probability(["salsa"], given=["whole milk"])
    assert answer["probability"] == pytest.approx(now)
    for row in answer["raises"] + answer["lowers"]:
        then = model.probability(["salsa"], given=["whole milk", row["item"]])
        assert row["probability"] == pytest.approx(then)
        assert row["change"] == pytest.approx(then - now)
    others = [name for name in model.mixture_.items if name not in ("salsa", "whole milk")]
    then = [model.probability(["salsa"], given=["whole milk", name]) for name in others]
    assert answer["raises"][0]["probability"] == pytest.approx(max(then))
    assert answer["lowers"][0]["probability"] == pytest.approx(min(then))


def test_recommendations_are_the_librarys(client, model):
    """The same items in the same order, with the same numbers."""
    answer = ask(client, "/recommend", basket=["tortillas"], absent=["beer"], limit=4)
    expected = model.recommend(["tortillas"], 4, absent=["beer"])
    assert [row["item"] for row in answer["recommendations"]] == [one.item for one in expected]
    assert [row["lift"] for row in answer["recommendations"]] == pytest.approx([one.lift for one in expected])
    partial = ask(client, "/recommend", basket=["tortillas"], complete=False, limit=1)["recommendations"][0]
    assert partial["probability"] == pytest.approx(
        model.recommend(["tortillas"], 1, complete=False)[0].probability
    )


def test_rules_are_the_librarys(client, model):
    """Rules of the itemsets of the model, by any measure, and the first ones as points."""
    answer = ask(client, "/rules", min_support=0.05, min_threshold=0.3, sort="leverage", limit=5, points=7)
    expected = itemix.rules(itemix.mine(model, 0.05), min_threshold=0.3, max_consequent_len=1)
    best = expected.top(5, by="leverage")
    assert answer["n_rules"] == len(expected)
    assert [row["antecedents"] for row in answer["rules"]] == [list(names) for names in best.antecedents]
    assert [row["leverage"] for row in answer["rules"]] == pytest.approx(best.measure("leverage").tolist())
    assert answer["points"]["lift"] == pytest.approx(expected.top(7, by="leverage").lift.tolist())


def test_rules_and_pairs_are_counted_in_both_data_sets(client, data, unseen):
    """What a rule claims is counted in the data and in the test data, and so are pairs."""
    row = ask(client, "/rules", min_support=0.05, min_threshold=0.3, limit=1)["rules"][0]
    left, both = row["antecedents"], [*row["antecedents"], *row["consequents"]]
    for name, held in (("exact", data), ("tested", unseen)):
        assert row[name] == pytest.approx(held.support(both))
        assert row[f"{name}_confidence"] == pytest.approx(held.support(both) / held.support(left))
    pair = ask(client, "/dependencies", limit=1)["pairs"][0]
    assert pair["tested"] == pytest.approx(unseen.support([pair["item"], pair["other"]]))


def test_rules_are_filtered_by_side(client):
    """An item on the left, another on the right."""
    answer = ask(client, "/rules", min_support=0.02, min_threshold=0.1, left=["charcoal"], right=["sausages"])
    assert answer["n_rules"] > 0
    for row in answer["rules"]:
        assert "charcoal" in row["antecedents"]
        assert row["consequents"] == ["sausages"]


def test_rules_are_filtered_by_the_selection(client):
    """Items on either side, and items on none."""
    asked = {"min_support": 0.02, "min_threshold": 0.1}
    every = ask(client, "/rules", **asked, limit=1000)["rules"]
    sides = [{*row["antecedents"], *row["consequents"]} for row in every]
    answer = ask(client, "/rules", **asked, items=["charcoal", "sausages"], without=["beer"])
    assert 0 < answer["n_rules"] < len(every)
    wanted = [side for side in sides if {"charcoal", "sausages"} <= side and "beer" not in side]
    assert answer["n_rules"] == len(wanted)


def test_an_infinite_measure_is_null(client):
    """JSON has no infinity."""
    row = ask(client, "/rules", model="certain", min_support=0.5, min_threshold=1)["rules"][0]
    assert row["confidence"] == 1
    assert row["conviction"] is None


def test_components_are_those_of_the_mixture(client, model):
    """The largest first, each with its characteristic items; one in detail with baskets of its own."""
    answer = ask(client, "/components", items=3, heat_items=10)
    mixture = model.mixture_
    order = (-mixture.weights).argsort(kind="stable")
    assert [one["weight"] for one in answer["components"]] == mixture.weights[order].tolist()
    for one, k in zip(answer["components"], order, strict=True):
        assert [row["item"] for row in one["items"]] == [
            entry.item for entry in characteristic_items(mixture, int(k), 3)
        ]
    heat = answer["heat"]
    assert len(heat["items"]) == 10
    codes = [mixture.items.code(name) for name in heat["items"]]
    assert heat["probabilities"][0] == mixture.probs[order[0], codes].tolist()
    detail = ask(client, "/components/2", baskets=4)
    assert detail["weight"] == mixture.weights[order[1]]
    assert len(detail["baskets"]) == 4
    assert detail == ask(client, "/components/2", baskets=4)
    assert detail == client.post("/components/2", json={"baskets": 4}).json()


def test_dependencies_are_the_librarys(client, model):
    """All pairs, those of a sign, those of an item, those of a strength."""
    for asked in ({}, {"sign": "negative"}, {"items": ["salsa"]}):
        found = ask(client, "/dependencies", limit=6, **asked)["pairs"]
        expected = model.dependencies(6, sign=asked.get("sign", "both"), items=asked.get("items"))
        assert [(row["item"], row["other"]) for row in found] == [(one.item, one.other) for one in expected]
    strong = ask(client, "/dependencies", min_information=expected[2].information, items=["salsa"])
    assert len(strong["pairs"]) == 3
    assert {row["item"] for row in strong["items"]} >= {"salsa"}


def test_surprises_are_the_librarys(client, model, unseen):
    """The finds of the library in unseen data, by significance, and the first tested sets as points."""
    answer = ask(client, "/surprises", min_support=0.02, level=0.01, limit=10, points=40)
    found = itemix.surprises(model, unseen, min_support=0.02, level=0.01)
    tested = itemix.surprises(model, unseen, min_support=0.02, level=1.0)
    assert (answer["n_tested"], answer["n_surprises"]) == (len(tested), len(found))
    assert (answer["n_transactions"], answer["n_fitted"]) == (1560, 1500)
    assert [row["items"] for row in answer["surprises"]] == [list(names) for names in found.sets][:10]
    for name in ("count", "support", "expected", "lower", "upper", "ratio", "p_value", "q_value"):
        assert [row[name] for row in answer["surprises"]] == pytest.approx(getattr(found, name)[:10].tolist())
    assert [row["sentence"] for row in answer["surprises"]] == found.sentences()[:10]
    assert len(tested) > 40
    assert answer["points"]["q_value"] == pytest.approx(tested.q_value[:40].tolist())
    assert answer["points"]["itemsets"] == [list(names) for names in tested.sets][:40]


def test_surprises_are_chosen_and_sorted(client, model, unseen, hostile):
    """A side, an item, a number of items, another correction; any column sorts, either way."""
    asked = {"min_support": 0.02, "side": "more", "max_len": 2, "adjust": "by", "include": [hostile]}
    found = itemix.surprises(model, unseen, min_support=0.02, side="more", max_len=2, adjust="by")
    expected = {frozenset(names) for names in found.sets if hostile in names}
    assert expected
    for sort, order in (
        ("ratio", None),
        ("q_value", "descending"),
        ("count", "ascending"),
        ("expected", None),
    ):
        given = asked | {"sort": sort} | ({"order": order} if order else {})
        rows = ask(client, "/surprises", **given)["surprises"]
        values = [row[sort] for row in rows]
        assert values == sorted(values, reverse=order != "ascending")
        assert {frozenset(row["items"]) for row in rows} == expected


def test_surprises_need_other_data(client, model, data):
    """Without data, with the training data and without a posterior there is one line that says why."""
    asked = {"min_support": 0.05}
    nothing = client.get("/surprises", params={**asked, "model": "plain"})
    with TestClient(make_app([Served("seen", model, data=data)]), base_url="http://127.0.0.1") as asking:
        seen = asking.get("/surprises", params=asked)
    certain = itemix.BernoulliMixture(2, random_state=0, correction=None).fit(data)
    with TestClient(make_app([Served("em", certain, data=data)]), base_url="http://127.0.0.1") as asking:
        unsure = asking.get("/surprises", params=asked)
    lines = [response.json()["error"]["message"] for response in (nothing, seen, unsure)]
    assert [response.status_code for response in (nothing, seen, unsure)] == [400] * 3
    assert "got none; start itemix explore, serve or mcp with --test" in lines[0]
    assert "got its 1,500 training transactions" in lines[1]
    assert "posterior" in lines[2]


def test_comparisons_are_the_librarys(model, data):
    """What differs between the data and the test data, with or without sets that a part of them explains.

    New items are news, too, but nothing can be asked of them. With one data set there is a line that says so.
    """
    new = itemix.Transactions.from_lists([*list(data)[:700], *[["caviar", "beer"]] * 150])
    found = itemix.compare(data, new, min_support=0.02)
    models = [Served("two", model, data=data, test=new), Served("one", model, data=data)]
    with TestClient(make_app(models), base_url="http://127.0.0.1") as asking:
        answer = ask(asking, "/compare", min_support=0.02, explained=True, limit=1000)
        own = ask(asking, "/compare", min_support=0.02, side="more", sort="support_b")["differences"]
        refused = asking.get("/compare", params={"min_support": 0.02, "model": "one"})
        shifts = ask(asking, "/shifts")
    moved = itemix.compare_components(data, new)
    assert [row["typical"] for row in shifts["shifts"]] == [list(names) for names in moved.typical]
    assert [row["share_b"] for row in shifts["shifts"]] == moved.share_b.tolist()
    assert (answer["n_a"], answer["n_b"], answer["n_tested"]) == (1500, 850, found.n_tested)
    rows = {tuple(row["items"]): row for row in answer["differences"]}
    assert len(rows) == len(found) > len(found.own()) > 0
    for at, names in enumerate(found.sets):
        row = rows[names]
        assert (row["count_a"], row["count_b"]) == (found.count_a[at], found.count_b[at])
        assert (row["q_value"], row["change"]) == (found.q_value[at], found.change[at])
        assert tuple(row["explained_by"]) == found.explained_by[at]
        assert row["is_known"] == ("caviar" not in names)
    assert rows["caviar",]["ratio"] is None
    assert {tuple(row["items"]) for row in own} == set(found.own().more().sets)
    assert [row["support_b"] for row in own] == sorted((row["support_b"] for row in own), reverse=True)
    assert refused.status_code == 400
    assert "start itemix explore, serve or mcp with --data and --test" in refused.json()["error"]["message"]


def test_too_many_sets_to_test_are_refused(model, data, unseen):
    """Neither the model nor the data may hold more sets than an answer may cost."""
    same = itemix.Transactions.from_lists([list(data.items)[:12]] * 9)
    for test, limit in ((unseen, 100), (same, 4000)):
        served = Served("few", model, test=test, limits=Limits(max_itemsets=limit))
        with TestClient(make_app([served]), base_url="http://127.0.0.1") as asking:
            response = asking.get("/surprises", params={"min_support": 0.02})
        assert (response.status_code, response.json()["error"]["code"]) == (400, "too_many")


def test_items_are_found_by_a_part_of_their_name(client, model):
    """The most probable first."""
    answer = ask(client, "/items", search="MILK")
    assert answer["n_items"] == 2
    assert [row["item"] for row in answer["items"]] == ["whole milk", "oat milk"]
    assert answer["items"][0]["probability"] == pytest.approx(model.probability(["whole milk"]))


def test_models_are_told_apart(client, plain_model):
    """Each request may name its model; numbered items are numbers."""
    assert ask(client, "/models")["models"] == ["shop", "plain", "certain"]
    assert ask(client, "/model")["name"] == "shop"
    about = ask(client, "/model", model="plain")
    assert (about["n_items"], about["has_intervals"]) == (5, False)
    assert (about["n_transactions"], about["n_test"]) == (None, None)
    assert ask(client, "/model")["n_test"] == 1560
    answer = ask(client, "/query", model="plain", present=["10", "20"], level=0.9)
    assert answer["probability"] == pytest.approx(plain_model.probability([10, 20]))
    assert "lower" not in answer
    posted = client.post("/query", json={"model": "plain", "present": [10, 20]}).json()
    assert posted["probability"] == answer["probability"]


def test_the_first_threshold_gives_some_hundred_sets(client):
    """The page opens with neither nothing nor everything."""
    first = ask(client, "/model")["first_min_support"]
    assert 100 < ask(client, "/itemsets", min_support=first)["n_itemsets"] <= 500


def test_the_first_threshold_is_at_least_one_transaction():
    """Of few transactions no set is shown that is expected in a hundredth of one."""
    few = itemix.datasets.load("grocery_store").sample(40, random_state=0)
    served = Served("few", itemix.BayesianMixture(2, random_state=0).fit(few))
    assert served.first_threshold == 1 / 40


def test_a_model_that_is_no_mixture_answers_all_but_components(model):
    """Views ask only what every model can answer; components are refused with a line that says why."""
    hidden = OnlyProbabilities(model.mixture_)
    with TestClient(make_app([Served("tree", hidden)]), base_url="http://127.0.0.1") as asking:
        assert ask(asking, "/model")["n_components"] is None
        assert ask(asking, "/itemsets", min_support=0.2)["n_itemsets"] == len(itemix.mine(model, 0.2))
        for path in ("/query", "/influences"):
            assert ask(asking, path, present=["salsa"])["probability"] == pytest.approx(
                model.probability(["salsa"])
            )
        assert len(ask(asking, "/recommend", basket=["salsa"], limit=3)["recommendations"]) == 3
        assert len(ask(asking, "/dependencies", limit=3)["pairs"]) == 3
        refused = asking.get("/components").json()["error"]
    assert refused["message"] == (
        "expected a mixture, got 'tree', which has no components; try /dependencies"
    )
