"""What stands behind a set is what the library and the data say, and the ways to get it elsewhere work."""

import shlex

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import itemix
from itemix.cli.app import app as command_line
from itemix.web.app import make_app
from itemix.web.served import Served

SET = ("charcoal", "sausages")


@pytest.fixture(scope="module")
def asking(model, data, unseen, tmp_path_factory):
    """Ask about a model in a file, whose transactions have ids and may be shown."""
    path = tmp_path_factory.mktemp("evidence") / "shop.itemix"
    model.save(path)
    lists = data.to_lists()
    named = itemix.Transactions.from_lists(lists, ids=[f"order {at}" for at in range(len(lists))])
    served = Served.from_file(path, data=named, test=unseen, for_owner=True)
    with TestClient(make_app([served]), base_url="http://127.0.0.1") as client:
        yield client


def test_a_set(asking, model, data, unseen):
    """Probability, interval, counts and segments are the library's; transactions really hold the set."""
    found = asking.get("/evidence", params={"set": SET, "transactions": 5}).json()
    assert found["probability"] == found["support"] == pytest.approx(model.probability(SET))
    interval = model.interval(SET)
    assert (found["lower"], found["upper"]) == pytest.approx((interval.lower, interval.upper))
    for name, held in (("data", data), ("test", unseen)):
        counted = {"count": held.count(SET), "of": held.n_transactions, "share": held.support(SET)}
        assert found[name] == pytest.approx(counted)
    given = model.mixture_.condition(SET).weights
    assert [one["share"] for one in found["segments"]] == pytest.approx(sorted(given, reverse=True))
    weights = sorted(model.mixture_.weights, reverse=True)
    assert all(one["weight"] == pytest.approx(weights[one["number"] - 1]) for one in found["segments"])
    assert found["n_holding"] == data.count(SET)
    lists = data.to_lists()
    for row in found["transactions"]:
        held = lists[int(row["id"].removeprefix("order "))]
        assert {*SET, *row["others"]} == set(held)


def test_neighbours(asking, model):
    """Subsets lack one item, supersets have one more, the most probable first."""
    found = asking.get("/evidence", params={"set": SET}).json()
    assert [(one["items"], one["item"]) for one in found["subsets"]] == [
        (["sausages"], "charcoal"),
        (["charcoal"], "sausages"),
    ]
    every = {name: model.probability((*SET, name)) for name in model.model_.items if name not in SET}
    best = sorted(every.values(), reverse=True)[:10]
    assert [one["probability"] for one in found["supersets"]] == pytest.approx(best)
    one = found["supersets"][0]
    assert one["share"] == pytest.approx(model.probability([one["item"]], given=SET))


def test_a_rule(asking, model, data):
    """A rule is asked for as its right side given its left."""
    found = asking.get("/evidence", params={"set": "charcoal", "then": "sausages"}).json()
    assert found["probability"] == pytest.approx(model.probability(["sausages"], given=["charcoal"]))
    assert found["data"]["of"] == data.count("charcoal")
    assert found["support"] == pytest.approx(model.probability(SET))


@pytest.mark.parametrize("asked", [{"set": SET}, {"set": "charcoal", "then": "sausages"}])
def test_the_ways_elsewhere_give_the_same(asking, asked):
    """Python, the command line and the address answer with the number that is shown."""
    found = asking.get("/evidence", params=asked).json()
    *lines, last = found["ways"]["python"].splitlines()
    scope = {}
    exec("\n".join(lines), scope)  # noqa: S102 - what we have written
    assert eval(last, scope).probability == pytest.approx(found["probability"])  # noqa: S307 - the same
    answer = asking.get(f"/{found['ways']['path']}").json()
    assert answer["probability"] == pytest.approx(found["probability"])
    assert answer["lower"] == pytest.approx(found["lower"])
    program, *arguments = shlex.split(found["ways"]["command_line"])
    assert program == "itemix"
    said = CliRunner().invoke(command_line, arguments)
    assert said.exit_code == 0, said.output
    shown = float(said.stdout.splitlines()[-1].split("\t")[0])
    assert shown == pytest.approx(found["probability"], rel=1e-5)


def test_a_served_model_shows_no_transactions(client):
    """Single transactions are shown only where that was asked for, as itemix explore does."""
    found = client.get("/evidence", params={"set": SET}).json()
    assert found["n_holding"] is None
    assert found["transactions"] == []


def test_no_set_is_refused(client):
    """Nothing has no evidence."""
    answer = client.get("/evidence")
    assert answer.status_code == 400
    assert "expected the items of a set, got none" in answer.json()["error"]["message"]
