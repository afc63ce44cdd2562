"""No view holds the event loop for more than fifty milliseconds, whatever is asked and of whatever model."""

import asyncio
import gc
import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

import itemix
from itemix.web.app import VIEWS, make_app
from itemix.web.served import Limits, Served
from itemix.web.server import warm_up
from itemix.web.views import MAX_BODY

MOST_SECONDS = 0.05
IN_LOOP = 1_000_000
N_NAMES = 80


def mixture(n_components, n_items):
    """Return a mixture of drawn numbers."""
    rng = np.random.default_rng(0)
    names = [f"item {i}" for i in range(n_items)]
    return itemix.Mixture(rng.dirichlet(np.ones(n_components)), rng.random((n_components, n_items)), names)


@pytest.fixture(autouse=True)
def _frozen():
    """What is loaded is no garbage: the server says so too."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def baskets():
    """Baskets of the built-in store."""
    return itemix.datasets.load("grocery_store").sample(500, random_state=0)


MODELS = {
    "many items": lambda data: mixture(1, 90_000),
    "many components": lambda data: mixture(5_000, 100),
    "some of both": lambda data: mixture(30, 5_000),
    "corrected": lambda data: itemix.BayesianMixture(5, correction=3, random_state=0).fit(data),
    "sampled": lambda data: itemix.BayesianMixture(5, inference="gibbs", random_state=0).fit(data),
    "trees": lambda data: itemix.ChowLiuMixture(2, random_state=0).fit(data),
    "maximum entropy": lambda data: itemix.MaxEntropyModel(min_support=0.1).fit(data),
}


def heaviest(served):
    """Return the questions of each view that take most steps, of those that are answered in the loop."""
    names = list(served.model.items[:N_NAMES])
    for view in VIEWS:
        is_basket = "basket" in view.question.model_fields
        found = []
        for n_present in (1, 2, 5, 20, 60):
            for n_absent in (0, 1, 3, 6, 10, 16):
                absent = names[n_present : n_present + n_absent]
                asked = {"basket" if is_basket else "present": names[:n_present], "absent": absent}
                asked |= {"limit": 1000} if is_basket else {"given": names[-1:], "level": 0.9}
                asked = {name: value for name, value in asked.items() if name in view.question.model_fields}
                if "min_support" in view.question.model_fields:
                    asked["min_support"] = 0.3
                if "set" in view.question.model_fields:
                    asked["set"] = names[:1]
                steps = view.steps(served, view.question(**asked))
                if steps <= IN_LOOP or not found:
                    found.append((steps if steps <= IN_LOOP else -1, json.dumps(asked)))
        yield view.path.replace("{number:int}", "1"), max(found)[1]


async def ask(app, path, body):
    """Ask an application without a network, and return the status of its answer."""
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}
    host = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    messages = [{"type": "http.request", "body": body.encode()}]
    said = []

    async def receive():
        if not messages:
            await asyncio.Event().wait()
        return messages.pop()

    async def send(message):
        said.append(message)

    await app({**scope, "headers": host}, receive, send)
    return said[0]["status"]


def in_a_loop_of_its_own(task, *arguments):
    """Run a task in another thread: that of the tests may have a loop of the browser already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(task(*arguments))).result()


async def seconds_held(app, path, body):
    """Return the status of an answer, and the most that the loop's thread worked between two of its turns."""
    longest = 0.0

    async def tick():
        nonlocal longest
        while True:
            began = time.thread_time()
            await asyncio.sleep(0.001)
            longest = max(longest, time.thread_time() - began)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)  # it begins
    status = await ask(app, path, body)
    await asyncio.sleep(0.01)  # it sees what came last
    ticking.cancel()
    with suppress(asyncio.CancelledError):
        await ticking
    return status, longest


@pytest.mark.parametrize("kind", MODELS)
def test_no_view_holds_the_loop(kind, baskets):
    """The heaviest question that is still answered in the loop, or any if all go to threads."""
    served = Served(kind, MODELS[kind](baskets), limits=Limits(seconds=1.0))
    app = make_app([served])
    warm_up(served)
    for path, body in heaviest(served):
        status, seconds = in_a_loop_of_its_own(seconds_held, app, path, body)
        assert status in (200, 400, 404, 503), (path, body)
        assert seconds < MOST_SECONDS, (path, body)


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({f"a{i}": 0 for i in range(20_000)}),
        json.dumps({"present": [[]] * 30_000}),
        '{"present": [' + ",".join(["1e308"] * 30_000) + "]}",
    ],
    ids=["unknown fields", "lists for names", "numbers for names"],
)
def test_a_body_full_of_mistakes_is_refused_at_once(body):
    """Not every mistake is looked at: the first is enough."""
    assert len(body) <= MAX_BODY
    app = make_app([Served("small", mixture(2, 5))])
    status, seconds = in_a_loop_of_its_own(seconds_held, app, "/query", body)
    assert status == 400
    assert seconds < MOST_SECONDS
