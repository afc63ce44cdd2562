"""Nobody loses the thread: one selection goes through all views, into the address and through the history."""

import re

import pytest
from playwright.sync_api import expect

import itemix


def chips(page):
    """Return what the bar says is selected."""
    return page.locator(".selection .chip > span").all_inner_texts()


def test_the_selection_goes_through_all_views(open_page, address):
    """Items, the threshold and the component stay where the view changes, and so do settings of views."""
    page = open_page(f"{address}?view=itemsets&min_support=0.05&items=whole+milk&sort=lift&component=2")
    assert chips(page) == ["whole milk", "at least 5%", "component 2"]
    page.get_by_role("link", name="Rules").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rules")
    expect(page.locator(".slider .value input")).to_have_value("5")
    assert all("whole milk" in text for text in page.locator("tbody td:first-child").all_inner_texts())
    page.get_by_label("Sort by").select_option("leverage")
    page.get_by_role("link", name="Components").click()
    expect(page.locator(".detail-side")).to_contain_text("Component 2:")
    assert chips(page) == ["whole milk", "at least 5%", "component 2"]
    page.get_by_role("link", name="Itemsets").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Lift")
    page.get_by_role("link", name="Rules").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Leverage")
    again = open_page(page.url)  # the address holds what other views are set to, too
    again.get_by_role("link", name="Itemsets").click()
    expect(again.locator("th[aria-sort]")).to_contain_text("Lift")


def test_moves_of_a_slider_are_one_step_back(open_page, address, model):
    """Eleven moves and a filter are two steps, back and forward."""
    page = open_page(f"{address}?view=itemsets&min_support=0.2")
    before = page.locator(".count").inner_text()
    slider = page.get_by_role("slider", name="Least support")
    for _ in range(11):
        slider.press("ArrowLeft")
    expect(page.locator(".count")).not_to_have_text(before)
    moved = page.url
    page.get_by_role("radio", name="Maximal").check(force=True)
    expect(page.locator(".count")).to_contain_text("maximal")
    page.go_back()
    expect(page).to_have_url(moved)
    expect(page.get_by_role("radio", name="All")).to_be_checked()
    page.go_back()
    expect(page.locator(".count")).to_have_text(before)
    expect(page.locator(".slider .value input")).to_have_value("20")
    page.go_forward()
    expect(page).to_have_url(moved)
    # A drag is one step, however long it takes.
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    page.mouse.down()
    for part in (0.6, 0.7, 0.8):
        page.mouse.move(box["x"] + box["width"] * part, box["y"] + box["height"] / 2)
    page.mouse.up()
    expect(page).not_to_have_url(moved)
    page.go_back()
    expect(page).to_have_url(moved)


def test_back_returns_to_the_place(open_page, address):
    """Whoever follows a set and comes back is where they were on the page."""
    page = open_page(f"{address}?view=itemsets&min_support=0.02", height=500)
    link = page.locator("tbody tr").nth(30).get_by_role("link")
    link.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    link.click()
    expect(page).not_to_have_url(re.compile("view=itemsets&min_support=0.02$"))
    page.go_back()
    expect(page.locator("tbody tr").nth(30)).to_be_visible()
    page.wait_for_function(f"Math.abs(scrollY - {place}) < 2")


def test_reset_and_copy_link(open_page, address, contexts):
    """One button clears all that was chosen, another copies the address."""
    contexts["light"].grant_permissions(["clipboard-read", "clipboard-write"])
    page = open_page(f"{address}?view=itemsets&min_support=0.05&items=whole+milk&target=closed")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".selection")).to_contain_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.get_by_role("button", name="Reset").click()
    expect(page).to_have_url(re.compile(r"\?view=itemsets(&model=shop)?$"))
    expect(page.get_by_role("radio", name="All")).to_be_checked()
    assert chips(page) == []
    page.go_back()
    expect(page.get_by_role("radio", name="Closed")).to_be_checked()


def test_a_search_that_takes_too_long_moves_the_end_of_the_slider(open_page, address, model):
    """The last result stays and is said to be old; what can be had is shown, and the slider ends there."""
    page = open_page(f"{address}?view=itemsets&min_support=0.1", expected_errors=["503"])
    refused = '{"error": {"code": "too_slow", "message": "expected an answer", "lowest_min_support": 0.05}}'
    slow = re.compile(r"/itemsets\?min_support=0\.01&")
    page.route(slow, lambda route: route.fulfill(status=503, content_type="application/json", body=refused))
    field = page.locator(".slider .value input")
    field.fill("1")
    field.press("Enter")
    expect(page.locator(".notice")).to_contain_text(
        "At 1% the search takes too long. Shown is what there is from 5%"
    )
    n = len(itemix.mine(model, 0.05))
    expect(page.locator(".count")).to_have_text(f"{n:,} itemsets")
    expect(field).to_have_value("5")
    expect(page).to_have_url(re.compile("min_support=0.05"))
    expect(page.get_by_role("slider")).to_have_value("0")


@pytest.mark.parametrize("view", ["itemsets", "rules"])
def test_a_failure_keeps_the_last_result(open_page, address, view):
    """What was there stays, is said to be the last result, and a button tries again."""
    page = open_page(f"{address}?view={view}&items=beer", expected_errors=["503"])
    rows = page.locator("tbody tr").all_inner_texts()
    body = '{"error": {"code": "too_slow", "message": "expected an answer within 10 s, got none; wait"}}'
    asked = re.compile(r"/(itemsets|rules)\?")
    page.route(asked, lambda route: route.fulfill(status=503, content_type="application/json", body=body))
    page.get_by_role("button", name="Remove beer").click()
    expect(page.locator(".notice")).to_contain_text("What is below is the last result.")
    assert page.locator("tbody tr").all_inner_texts() == rows
    page.unroute(asked)
    page.get_by_role("button", name="Retry").click()
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.locator(".is-old")).to_have_count(0)


def test_input_that_cannot_be_used_is_said(open_page, address):
    """Thresholds out of range and names of no item are not swallowed; a page past the end is the last one."""
    page = open_page(f"{address}?view=itemsets&min_support=0.05&offset=100000")
    expect(page).not_to_have_url(re.compile("offset=100000"))
    expect(page.locator("tbody tr").first).to_be_visible()
    field = page.locator(".slider .value input")
    for text in ("0", "-3", "250", "lots"):
        field.fill(text)
        field.press("Enter")
        expect(page.locator(".slider .hint")).to_contain_text(f"“{text}” cannot be used")
        expect(field).to_have_value("5")
    picker = page.get_by_role("combobox", name="With", exact=True)
    picker.fill("unicorn")
    expect(page.locator(".hint", has_text="No item has “unicorn” in its name.")).to_be_visible()
    page.get_by_label("Search").fill("unicorn")
    expect(page.locator(".empty")).to_have_text("No itemset from 5% has “unicorn” in its names.")
