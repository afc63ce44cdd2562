"""The drawer: any set opens it, it says what stands behind the set, and Back closes it."""

import re

from playwright.sync_api import expect


def test_any_set_opens_the_drawer(open_page, address, model, data, violations):
    """From a row with the keyboard; it has the library's number and real transactions; Escape closes it."""
    page = open_page(f"{address}?view=itemsets&min_support=0.05&min_len=2", width=1440)
    link = page.locator("tbody a").first
    names = link.inner_text().split(", ")
    link.press("Enter")
    drawer = page.get_by_role("complementary", name="Evidence")
    expect(drawer.get_by_role("heading", level=2)).to_be_focused()
    expect(drawer.locator(".figure")).to_have_text(f"{100 * model.probability(names):#.3g}%")
    expect(drawer).to_contain_text(f"Training data: {data.count(names)} of 1,500")
    expect(drawer.locator(".baskets li")).to_have_count(20)
    assert violations(page) == []
    drawer.get_by_role("link", name=re.compile("^.+$")).filter(has_text=names[1]).last.click()
    page.go_back()
    expect(drawer.get_by_role("heading", level=2)).to_have_text(", ".join(names))
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    page.go_back()
    expect(drawer).to_be_visible()


def test_the_drawer_leads_on(open_page, address):
    """A component is looked at, the items are selected, or asked about; what is behind it stays."""
    page = open_page(f"{address}?view=rules&min_support=0.05&set=charcoal&then=sausages")
    drawer = page.get_by_role("complementary", name="Evidence")
    expect(drawer.get_by_role("heading", level=2)).to_have_text("charcoal → sausages")
    expect(drawer.locator("pre").first).to_contain_text("model.interval(['sausages'], given=['charcoal'])")
    drawer.locator(".segment-list a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Components")
    expect(drawer).to_be_hidden()
    page.go_back()
    drawer.get_by_role("button", name="Select these items").click()
    assert page.locator(".selection .chip > span").all_inner_texts()[:2] == ["charcoal", "sausages"]


def test_the_drawer_covers_a_phone(open_page, address, violations):
    """Nothing is wider than the phone, nothing behind it can be reached, and axe has nothing to say."""
    page = open_page(f"{address}?view=itemsets&set=charcoal&set=sausages", width=390, theme="dark")
    expect(page.locator("#drawer .figure")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.getElementById('main').inert")
    assert violations(page) == []
    page.get_by_role("button", name="Close the evidence").click()
    assert not page.evaluate("document.getElementById('main').inert")
