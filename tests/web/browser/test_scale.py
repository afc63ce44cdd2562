"""Many items and many itemsets do not freeze the page."""

import time

import numpy as np
import pytest
from playwright.sync_api import expect

import itemix


@pytest.fixture(scope="module")
def large(tmp_path_factory, start_server):
    """A model of 5,000 items, in which a million itemsets are probable."""
    rng = np.random.default_rng(0)
    probs = rng.uniform(0.0, 0.02, (4, 5000))
    probs[:, :19] = rng.uniform(0.9, 0.99, (4, 19))
    names = [f"item {number}" for number in range(5000)]
    path = tmp_path_factory.mktemp("large") / "large.itemix"
    itemix.Mixture(np.full(4, 0.25), probs, names).save(path)
    with start_server("explore", path, "--no-browser") as address:
        yield address


def test_half_a_million_itemsets_are_paged(open_page, large):
    """The count and any page come quickly; the page holds only the rows that are seen."""
    page = open_page(f"{large}?view=itemsets&min_support=0.3&min_len=2&offset=400000")
    expect(page.locator("tbody tr")).to_have_count(50)
    n_itemsets = int(page.locator(".count").inner_text().split()[0].replace(",", ""))
    assert n_itemsets > 500_000
    assert page.evaluate("document.querySelectorAll('*').length") < 2000
    began = time.monotonic()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".pager .number")).to_contain_text("400,051 to 400,100")
    assert time.monotonic() - began < 3


def test_a_million_is_the_most(open_page, large):
    """Below the lowest threshold that is possible, the page says so and shows what it can."""
    page = open_page(f"{large}?view=itemsets&min_support=0.0001", expected_errors=["400"])
    expect(page.locator(".notice")).to_contain_text("there are more than 1,000,000 itemsets", timeout=20_000)
    expect(page.locator("tbody tr")).to_have_count(50)


def test_thousands_of_items_are_searched_by_the_server(open_page, large):
    """The list under a picker holds a few of 5,000 items."""
    page = open_page(f"{large}?view=ask")
    page.get_by_role("combobox", name="Present").fill("item 49")
    expect(page.get_by_role("option")).to_have_count(12)
