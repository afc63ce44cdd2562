"""A real browser, and the explorer started as its users start it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

import itemix

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser():
    """Chromium of the distribution; without one these tests are skipped, but never where CI is true."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        message = f"needs a browser to drive: one of {', '.join(NAMES)}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        driven = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield driven
        driven.close()


@contextmanager
def running(command, *arguments):
    """Start the program, yield the address that it prints, and end it as Ctrl-C would."""
    call = [sys.executable, "-m", "itemix", command, "--port", "0", *map(str, arguments)]
    process = subprocess.Popen(call, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own program
    try:
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"at (http://127\.0\.0\.1:\d+/)", line):
                yield found[1]
                break
        else:
            pytest.fail(f"the server did not start: {said}")
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        process.stderr.close()


@pytest.fixture(scope="session")
def start_server(browser):
    """Start the program for other models."""
    return running


@pytest.fixture(scope="session")
def files(model, data, unseen, tmp_path_factory):
    """The model, its data and other data in files."""
    folder = tmp_path_factory.mktemp("explored")
    model.save(folder / "shop.itemix")
    itemix.write_transactions(data, folder / "shop.parquet")
    itemix.write_transactions(unseen, folder / "unseen.parquet")
    return folder


@pytest.fixture(scope="session")
def address(browser, files):
    """Where the small model is explored, with its data and with other data."""
    data = ("--data", files / "shop.parquet", "--test", files / "unseen.parquet")
    with running("explore", files / "shop.itemix", *data, "--no-browser") as found:
        yield found


@pytest.fixture(scope="session")
def others(browser, tmp_path_factory):
    """Where other models are served: one of 5,000 items with a million probable itemsets, and other kinds."""
    rng = np.random.default_rng(0)
    probs = rng.uniform(0.0, 0.02, (4, 5000))
    probs[:, :19] = rng.uniform(0.9, 0.99, (4, 19))
    names = [f"item {number}" for number in range(5000)]
    path = tmp_path_factory.mktemp("large") / "large.itemix"
    itemix.Mixture(np.full(4, 0.25), probs, names).save(path)
    golden = Path(__file__).parents[2] / "golden" / "format-1"
    with running("serve", path, golden / "chow-liu.itemix", golden / "independent.itemix") as found:
        yield found


@pytest.fixture(scope="session")
def contexts(browser):
    """A profile of the browser for each theme, so that files are loaded once."""
    made = {theme: browser.new_context(color_scheme=theme) for theme in ("light", "dark")}
    yield made
    for context in made.values():
        context.close()


@pytest.fixture
def open_page(contexts):
    """Open pages; at the end none of them has complained, or asked anybody else."""
    pages, complaints, requests = [], [], []

    def opened(address, *, width=1280, height=900, theme="light", expected_errors=(), is_refused=False):
        page = contexts[theme].new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: (
                complaints.append(message.text)
                if message.type in ("error", "warning")
                and not any(expected in message.text for expected in expected_errors)
                else None
            ),
        )
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        if is_refused:
            return page
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator("[aria-busy]")).to_have_count(0, timeout=20_000)
        return page

    yield opened
    for page in pages:
        page.close()
    assert complaints == []
    assert all(re.match(r"(http://127\.0\.0\.1:\d+/|data:|blob:)", url) for url in requests)


@pytest.fixture
def violations():
    """Ask axe what it objects to in a page."""

    def found(page):
        objections = Axe().run(page).response["violations"]
        return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}" for one in objections]

    return found
