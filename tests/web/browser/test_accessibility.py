"""The page is usable without a mouse, on a phone, in the dark, and by a screen reader."""

import re

import pytest
from playwright.sync_api import expect

VIEWS = {
    "overview": "overview",
    "itemsets": "itemsets&include=whole+milk&min_support=0.05",
    "components": "components&kinds=4&component=2",
    "dependencies": "dependencies&item=charcoal",
    "rules": "rules&min_support=0.05",
    "surprises": "surprises&min_support=0.02",
    "compare": "compare&min_support=0.01",
    "whatif": "whatif&items=salsa&other=beer",
    "ask": "ask&present=whole+milk&given=salsa",
}


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(open_page, address, view, violations):
    """Names, roles, contrast and structure of every view, in both themes and on a phone."""
    page = open_page(f"{address}?view={VIEWS[view]}")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    page.set_viewport_size({"width": 375, "height": 700})
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 375  # nothing is wider than a phone


def test_an_open_list_of_items_is_accessible(open_page, address, violations):
    """The list under a picker is announced, and Escape closes it."""
    page = open_page(f"{address}?view=ask")
    field = page.get_by_role("combobox", name="Present")
    field.fill("milk")
    expect(page.get_by_role("option")).to_have_count(2)
    expect(field).to_have_attribute("aria-expanded", "true")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    expect(field).to_have_attribute("aria-expanded", "false")


def test_the_keyboard_reaches_everything(open_page, address):
    """From the top: skip to the content, or go through the views; focus is never lost on the way."""
    page = open_page(address)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Components")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Components")
    expect(page.locator("main")).to_be_focused()
    page.goto(f"{address}?view=itemsets&min_support=0.05")
    button = page.get_by_role("button", name="Lift")
    button.press("Enter")
    expect(page.locator("th[aria-sort]")).to_contain_text("Lift")
    expect(button).to_be_focused()


@pytest.mark.parametrize("view", VIEWS)
def test_the_tab_key_never_loses_the_focus(open_page, address, view):
    """From the first stop to the last there is always something that has the focus, and shows it."""
    page = open_page(f"{address}?view={VIEWS[view]}")
    stops = []
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        stops.append(page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent"))
    # The last stop is at the end of the page.
    last = page.evaluate(
        """[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
        .filter((it) => it.checkVisibility() && !it.disabled)
        .map((it) => it.ariaLabel ?? it.textContent).at(-1)"""
    )
    assert stops[-1] == last


def test_pictures_are_one_stop(open_page, address):
    """The arrow keys move inside a picture; what is chosen there keeps the focus."""
    page = open_page(f"{address}?view=components")
    page.locator(".heat [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("component=2"))
    expect(page.locator(".heat .column[aria-pressed=true]")).to_be_focused()
    assert page.locator(".heat [tabindex='0']").count() == 1


def test_surprises_are_chosen_with_the_keyboard(open_page, address):
    """The arrow keys go from the most significant point to the next; Enter opens its evidence."""
    page = open_page(f"{address}?view=surprises&min_support=0.02")
    page.locator(".contrast [tabindex='0']").focus()
    first, second = page.locator("tbody tr td:first-child").all_inner_texts()[:2]
    label = re.compile(f"^{re.escape(first)}\n")
    expect(page.locator(".contrast [tabindex='0']")).to_have_attribute("aria-label", label)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer h2")).to_have_text(second)
    assert page.locator(".contrast [role=button][tabindex='0']").count() == 1


def test_changes_are_announced(open_page, address):
    """A screen reader hears how many itemsets there are now."""
    page = open_page(f"{address}?view=itemsets&min_support=0.3")
    expect(page.locator("#announcer")).to_contain_text("with a support of at least 30.0%")


def test_the_theme_follows_the_system_until_it_is_chosen(open_page, address):
    """Dark where the system is dark; the button's choice is kept."""
    page = open_page(address, theme="dark")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Switch to the light theme").click()
    light = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == light
