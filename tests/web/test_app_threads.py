"""No question keeps others waiting, and no work goes on that nobody waits for."""

import json
import socket
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from urllib.parse import urlencode

import numpy as np
import pytest
from starlette.testclient import TestClient

import itemix
from itemix._runtime import deadline, still_wanted
from itemix.core.items import Items
from itemix.models.base import Model
from itemix.web.app import make_app
from itemix.web.served import Limits, Served
from itemix.web.views import ask, model, patterns


@pytest.fixture(scope="module")
def corrected():
    """A corrected mixture."""
    data = itemix.datasets.load("grocery_store").sample(3000, random_state=0)
    return itemix.BayesianMixture(n_components=20, random_state=0, correction=3).fit(data)


class Endless(Model):
    """A model that never ends to think, unless it is told that nobody wants to know."""

    items = Items(["a", "b"])
    n_parameters = 0
    item_probabilities = np.array([0.5, 0.5])

    def probabilities_of_codes(self, offsets, codes, absent_offsets=None, absent_codes=None):
        """Think, in small steps."""
        while True:
            still_wanted()
            time.sleep(0.001)

    log_likelihood = sample = probabilities_of_codes


HEAVY = "/recommend?basket=a&complete=false"


def get(address, path):
    """Ask a server over the network; return the status, the answer and how long it took."""
    began = time.perf_counter()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{address[1]}{path}", timeout=30) as response:
            status, answer = response.status, json.load(response)
    except urllib.error.HTTPError as refused:
        status, answer = refused.code, json.load(refused)
    return status, answer, time.perf_counter() - began


def is_idle(app, seconds=1.5):
    """Whether all threads of an application have nothing to do, or soon have not."""
    waiting = [app.state.pool.submit(time.sleep, 0.05) for _ in range(4)]
    until = time.monotonic() + seconds
    while time.monotonic() < until and not all(job.done() for job in waiting):
        time.sleep(0.01)
    return all(job.done() for job in waiting)


def test_a_heavy_question_keeps_nobody_waiting_and_ends_in_time(serve):
    """Others are answered meanwhile; when the time is over it is refused, and no thread works on."""
    app = make_app([Served("store", Endless(), limits=Limits(seconds=0.5))])
    with serve(app) as address, ThreadPoolExecutor() as asking:
        heavy = asking.submit(get, address, HEAVY)
        time.sleep(0.1)
        assert max(get(address, "/health")[2] for _ in range(5)) < 0.3
        status, answer, seconds = heavy.result()
        assert (status, answer["error"]["code"]) == (503, "too_slow")
        assert seconds < 1.5
        assert is_idle(app)


def test_who_goes_away_stops_the_work(serve):
    """A client that closes its connection leaves no thread behind that works for it."""
    app = make_app([Served("store", Endless(), limits=Limits(seconds=60.0))])
    with serve(app) as address:
        for _ in range(6):
            with socket.create_connection(address) as client:
                client.sendall(f"GET {HEAVY} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
                time.sleep(0.1)
        assert is_idle(app)
        with urllib.request.urlopen(f"http://127.0.0.1:{address[1]}/metrics") as response:
            assert b'itemix_requests_total{path="/recommend",status="499"} 6' in response.read()


def test_a_typo_among_many_names_keeps_nobody_waiting(serve):
    """To say which of 20,000 names was meant takes a second, and others do not wait for that."""
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefgh "), 40)) + str(i) for i in range(20_000)]
    mixture = itemix.Mixture([1.0], np.full((1, len(names)), 0.1), names)
    app = make_app([Served("names", mixture, limits=Limits(seconds=0.5))])
    with serve(app) as address:
        asking = Thread(target=get, args=(address, f"/query?{urlencode({'present': names[0][:38]})}"))
        asking.start()
        time.sleep(0.1)
        assert max(get(address, "/health")[2] for _ in range(5)) < 0.3
        asking.join()
        assert is_idle(app)


def chain_of_pairs(n):
    """Return a model of maximum entropy in which n items hang together."""
    items = itemix.core.items.Items(range(n))
    pairs = itemix.core.sets.Sets.from_names([[i, i + 1] for i in range(n - 1)], items)
    return itemix.MaxEntropy(np.full(n, 0.5), pairs, np.full(n - 1, 0.3))


LOOPS = {
    "recommend": lambda served, names: ask.recommend(
        served, ask.RecommendQuestion(basket=names[:3], absent=names[3:6], complete=False)
    ),
    "influences": lambda served, names: ask.influences(served, ask.InfluencesQuestion(present=names[:2])),
    "itemsets": lambda served, names: patterns.itemsets(served, patterns.ItemsetsQuestion(min_support=0.05)),
    "rules": lambda served, names: patterns.rules(served, patterns.RulesQuestion(min_support=0.05)),
    "dependencies": lambda served, names: model.dependencies(served, model.DependenciesQuestion()),
}


@pytest.mark.parametrize("kind", ["mixture", "corrected", "maxent"])
@pytest.mark.parametrize("loop", LOOPS)
def test_long_loops_can_be_called_off(corrected, kind, loop):
    """Whatever may take long asks whether it is still wanted."""
    model = {"mixture": corrected.mixture_, "corrected": corrected, "maxent": chain_of_pairs(10)}[kind]
    if kind != "maxent" and loop in ("recommend", "influences"):
        pytest.skip("takes a step for each item and component, whatever is asked")
    served = Served("x", model)

    def called_off():
        raise TimeoutError

    with pytest.raises(TimeoutError), deadline(called_off):
        LOOPS[loop](served, tuple(served.model.items))


@pytest.mark.parametrize(
    ("question", "is_quick"),
    [
        ({"present": ["salsa"]}, True),
        ({"present": ["salsa", "tortillas"], "given": ["beer"], "absent": ["bread"], "level": 0.9}, True),
        ({key: ["salsa"] * 200 for key in ("present", "absent", "given")}, False),
        ({"present": ["salza"]}, False),
    ],
)
def test_only_questions_of_few_steps_are_answered_in_the_loop(corrected, question, is_quick):
    """What is quick is decided by what is asked, not by the address."""
    asked = {key: tuple(value) if isinstance(value, list) else value for key, value in question.items()}
    steps = ask.query_steps(Served("store", corrected), ask.QueryQuestion(**asked))
    assert (steps <= 1_000_000) is is_quick


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interval_takes_steps_for_every_sample(data):
    """A model of several samples takes as many times the steps of an interval as it has samples."""
    sampler = itemix.BayesianMixture(2, inference="gibbs", max_iter=5, tol=0, thin=1, random_state=0)
    question = {"present": ("salsa",), "given": ("beer",)}

    def steps_of_interval(n_samples):
        served = Served("store", sampler.set_params(n_samples=n_samples).fit(data))
        both = [ask.query_steps(served, ask.QueryQuestion(**question, level=x)) for x in (0.9, None)]
        return both[0] - both[1]

    assert steps_of_interval(4) == 4 * steps_of_interval(1)


def test_models_of_unknown_cost_are_asked_in_threads(corrected, data):
    """Models of other kinds, and answers that go through the data, may take any time."""
    question = ask.QueryQuestion(present=(1,))
    assert ask.query_steps(Served("pairs", chain_of_pairs(10)), question) == np.inf
    beside = Served("store", corrected, data=data)
    assert ask.query_steps(beside, ask.QueryQuestion(present=("salsa",))) == np.inf


def test_the_same_is_made_once(served):
    """Requests that want the same wait for the first of them."""
    made = []

    def make():
        time.sleep(0.2)
        made.append(None)
        return "made"

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: served.remember("key", make), range(8))) == {"made"}
    assert len(made) == 1


def test_a_file_that_nobody_waits_for_is_gone(model, tmp_path, monkeypatch):
    """A download that takes too long leaves nothing behind."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    app = make_app([Served("slow", model, limits=Limits(download_seconds=1e-4))])
    with TestClient(app, base_url="http://127.0.0.1") as asking:
        assert asking.get("/itemsets.csv?min_support=0.01").status_code == 503
    assert is_idle(app)
    assert list(tmp_path.iterdir()) == []
