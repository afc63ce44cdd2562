"""Many items and many itemsets do not freeze the page."""

import time
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect


def test_half_a_million_itemsets_are_paged(open_page, others):
    """The count and any page come quickly; the page holds only the rows that are seen."""
    page = open_page(f"{others}?view=itemsets&min_support=0.3&min_len=2&offset=400000")
    expect(page.locator("tbody tr")).to_have_count(50)
    n_itemsets = int(page.locator(".count").inner_text().split()[0].replace(",", ""))
    assert n_itemsets > 500_000
    assert page.evaluate("document.querySelectorAll('*').length") < 2000
    began = time.monotonic()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".pager .number")).to_contain_text("400,051 to 400,100")
    assert time.monotonic() - began < 3


def test_a_million_is_the_most(open_page, others):
    """Below the lowest threshold that is possible, the page says so and shows what it can."""
    page = open_page(f"{others}?view=itemsets&min_support=0.0001", expected_errors=["400"])
    expect(page.locator(".notice")).to_contain_text("there are more than 1,000,000 itemsets", timeout=20_000)
    expect(page.locator("tbody tr")).to_have_count(50)
    # The files hold what is shown, and from then on the slider ends there.
    link = page.get_by_role("link", name="Download all as CSV").get_attribute("href")
    assert float(parse_qs(urlsplit(link).query)["min_support"][0]) > 0.01
    expect(page.locator(".ticks")).not_to_contain_text("0.01%")
    expect(page.get_by_role("slider")).to_have_value("0")


def test_thousands_of_items_are_searched_by_the_server(open_page, others):
    """The list under a picker holds a few of 5,000 items."""
    page = open_page(f"{others}?view=ask")
    page.get_by_role("combobox", name="Present").fill("item 49")
    expect(page.locator("[role=option]")).to_have_count(12)
