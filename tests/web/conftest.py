"""What the tests of the explorer share: a small model with hostile names, and clients that ask it."""

import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from starlette.testclient import TestClient

import itemix
from itemix.data.synthetic import grocery_store
from itemix.web.app import make_app
from itemix.web.served import Limits, Served
from itemix.web.server import bound_socket, make_server

HOSTILE = "<img src=x onerror=\"window.hacked = 'yes'\">"
QUOTES = "'\"&amp;</script><script>window.hacked = 1</script>"
BACKWARDS = "\u202egnp.exe"
INVISIBLE = "\u200b "
LONG = "a name that goes on " * 20
RENAMED = {
    "bread": HOSTILE,
    "bananas": QUOTES,
    "newspaper": BACKWARDS,
    "light bulbs": INVISIBLE,
    "shampoo": LONG,
}


@pytest.fixture(scope="session")
def hostile():
    """The name of a frequent item that would run if it became markup."""
    return HOSTILE


@pytest.fixture(scope="session")
def odd_names():
    """Names that turn what follows, that cannot be seen, and that do not end."""
    return [BACKWARDS, INVISIBLE, LONG]


@pytest.fixture(scope="session")
def data():
    """Baskets of the built-in store; some items have names that look like code, or are hard to show."""
    store = itemix.datasets.load("grocery_store").sample(1500, random_state=0)
    return store.rename_items([RENAMED.get(name, name) for name in store.items])


@pytest.fixture(scope="session")
def unseen(data):
    """Other baskets of the store; two items come together that the model takes to be strangers."""
    store = grocery_store(1500, random_state=1)
    lists = [[RENAMED.get(name, name) for name in row] for row in store]
    return itemix.Transactions.from_lists([*lists, *[[HOSTILE, QUOTES, "beer"]] * 60])


@pytest.fixture(scope="session")
def model(data):
    """A Bayesian mixture of them."""
    return itemix.BayesianMixture(n_components=6, random_state=0, n_jobs=1).fit(data)


@pytest.fixture(scope="session")
def plain_model():
    """A mixture of numbered items without a posterior."""
    rng = np.random.default_rng(0)
    return itemix.Mixture([0.6, 0.4], rng.random((2, 5)), [10, 20, 30, 40, 50])


@pytest.fixture
def served(model, data, unseen):
    """The model with its data and with other data, nothing remembered yet."""
    limits = Limits(max_itemsets=20_000, max_rules=2_000)
    return Served("shop", model, data=data, test=unseen, limits=limits)


@pytest.fixture
def app(served, plain_model):
    """An application with three models."""
    certain = itemix.Mixture([0.5, 0.5], [[1, 1, 0.9], [0, 0, 0.9]], ["left", "right", "any"])
    return make_app([served, Served("plain", plain_model), Served("certain", certain)])


@pytest.fixture
def client(app):
    """Ask the application without a network."""
    with TestClient(app, base_url="http://127.0.0.1") as asking:
        yield asking


@contextmanager
def listening(app, limits=None):
    """Serve an application at a real address, in a thread, and yield the address."""
    with bound_socket("127.0.0.1", 0) as taken:
        server = make_server(app, limits=limits)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield taken.getsockname()
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def serve():
    """Start a server: `with serve(app, limits) as address`."""
    return listening
