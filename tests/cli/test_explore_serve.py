"""`itemix serve`: several models, limits, and a token where others can ask."""

import json
import re
import signal
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

import itemix


@pytest.fixture
def model_files(tmp_path):
    """Two models in files."""
    for name, share in (("first", 0.25), ("second", 0.75)):
        itemix.Mixture([1.0], [[share, 0.5]], ["bread", "milk"]).save(tmp_path / f"{name}.itemix")
    return tmp_path / "first.itemix", tmp_path / "second.itemix"


@contextmanager
def running(start, *arguments, lines=1, env=None):
    """Start the server, yield what it says, and end it."""
    process = start("serve", *arguments, "--port", "0", stderr=subprocess.PIPE, env=env or {})
    try:
        yield "".join(process.stderr.readline() for _ in range(lines))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def get(said, path, token=None):
    """Ask the server."""
    port = re.search(r":(\d+)/", said)[1]
    headers = {"authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    with urllib.request.urlopen(request) as response:  # noqa: S310 - of this machine
        return json.load(response)


def test_several_models_are_served(start, model_files):
    """Each answers by its name."""
    with running(start, *model_files) as said:
        assert "serving 2 models at http://127.0.0.1:" in said
        assert get(said, "/models") == {"models": ["first", "second"]}
        assert get(said, "/query?present=bread")["probability"] == 0.25
        assert get(said, "/query?present=bread&model=second")["probability"] == 0.75


def test_data_beside_a_model(start, run, tmp_path):
    """With data and test data, the service has surprises and comparisons."""
    truth = itemix.Mixture([0.5, 0.5], [[0.9, 0.8], [0.1, 0.2]], ["bread", "milk"])
    model, data, test = (tmp_path / name for name in ("m.itemix", "may.csv", "june.csv"))
    itemix.BayesianMixture(2, random_state=0).fit(truth.sample(200, random_state=0)).save(model)
    data.write_text("bread\n" * 30 + "milk\n" * 30)
    test.write_text("bread,milk\n" * 60)
    with running(start, model, "--data", data, "--test", test, lines=3) as said:
        assert "may.csv" in said
        answer = get(said, "/surprises?min_support=0.1")
        assert [(row["items"], row["count"]) for row in answer["surprises"]] == [(["bread", "milk"], 60)]
        answer = get(said, "/compare?min_support=0.1")
        assert ["bread", "milk"] in [row["items"] for row in answer["differences"]]
    refused = run("serve", model, model, "--test", test)
    assert refused.code == 2
    assert refused.err == (
        "itemix: expected one model with --data or --test, got 2; serve the others by themselves\n"
    )


def test_a_token_is_made_up_where_others_can_ask(start, model_files):
    """Bound to all addresses, nothing is answered without the token that is printed."""
    with running(start, model_files[0], "--host", "0.0.0.0", lines=2) as said:  # noqa: S104 - that is the test
        token = re.search(r"the token is (\S+);", said)[1]
        assert get(said, "/health")["status"] == "ok"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(said, "/models")
        assert get(said, "/models", token) == {"models": ["first"]}
        assert len(token) >= 32


def test_a_token_may_be_given(start, model_files):
    """By the environment, where a list of processes does not show it."""
    with running(start, model_files[0], env={"ITEMIX_TOKEN": "sesame"}) as said:
        assert "sesame" not in said
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(said, "/models")
        assert get(said, "/models", "sesame") == {"models": ["first"]}


def test_limits_are_set(start, model_files):
    """What one answer may cost is the host's to say."""
    with running(start, model_files[0], "--max-itemsets", "2") as said:
        assert get(said, "/model")["max_itemsets"] == 2
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(said, "/itemsets?min_support=0.1")
        error = json.load(refused.value)["error"]
        assert (error["code"], error["lowest_min_support"]) == ("too_many", pytest.approx(0.125, rel=0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--seconds", "0"), "expected --seconds of 0.1 or more, got 0.0"),
        (("--max-itemsets", "0"), "expected --max-itemsets of 1 or more, got 0"),
        (("--host", "256.0.0.1"), "expected a free port of this machine, got 256.0.0.1"),
    ],
)
def test_bad_options_are_refused(run, model_files, options, message):
    """One line, before anything is served."""
    result = run("serve", model_files[0], "--port", "0", *options)
    assert result.code == 2
    assert message in result.err


def test_files_that_are_no_models_are_refused(run, baskets, model_files):
    """Transactions are fitted by itemix explore, not here; a name may come once."""
    result = run("serve", baskets, "--port", "0")
    assert result.code == 2
    assert "expected" in result.err
    twice = run("serve", model_files[0], model_files[0], "--port", "0")
    assert "expected models of different names, got ['first', 'first']" in twice.err


def test_assistants_are_served_files(run, model_files):
    """Questions come on standard input, so no model can; and all that serve refuses is refused."""
    done = run("mcp", "-")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("itemix: expected files to serve, got standard input, where questions")
    done = run("mcp", model_files[0], "--seconds", "0")
    assert done.err.startswith("itemix: expected --seconds of 0.1 or more, got 0.0")
