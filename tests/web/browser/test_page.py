"""The page in a real browser: what it shows is what the library says."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

import itemix

VIEWS_WITH_A_NAME = {
    "itemsets": {},
    "components": {},
    "dependencies": {"items": "NAME"},
    "rules": {"left": "NAME"},
    "surprises": {"items": "NAME"},
    "compare": {},
    "ask": {"items": "NAME"},
    "whatif": {"items": "NAME"},
}


def written(n):
    """Write a number as the page does."""
    return f"{n:,}"


def percentages(page, column):
    """Return a column of percentages of the first table, as fractions."""
    cells = page.locator(f"tbody tr td:nth-child({column})").all_inner_texts()
    return [float(cell.removesuffix("%")) / 100 for cell in cells]


def test_the_slider_changes_the_table(open_page, address, model):
    """Moving the threshold gives the itemsets of `mine` at the new one, and the address says it."""
    page = open_page(f"{address}?view=itemsets&min_support=0.05")
    count = page.locator(".count")
    expect(count).to_have_text(f"{written(len(itemix.mine(model, 0.05)))} itemsets")
    slider = page.get_by_role("slider", name="Least support")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page).not_to_have_url(re.compile("min_support=0.05(&|$)"))
    threshold = float(re.search(r"min_support=([\d.e-]+)", page.url)[1])
    assert threshold < 0.05
    mined = itemix.mine(model, threshold)
    expect(count).to_have_text(f"{written(len(mined))} itemsets")
    best = mined.top(50)
    rows = page.locator("tbody tr td:first-child").all_inner_texts()
    assert rows == [", ".join(names) for names in best.sets]
    assert percentages(page, 3) == pytest.approx(best.support.tolist(), abs=1e-4)
    assert slider.get_attribute("aria-valuetext") == f"{threshold * 100:.3g} %"


def test_a_link_reproduces_the_view(open_page, address):
    """The address holds everything that was chosen; going back undoes a change of view."""
    page = open_page(
        f"{address}?view=itemsets&min_support=0.05&target=maximal&min_len=2&search=milk&sort=length"
    )
    expect(page.get_by_role("radio", name="Maximal")).to_be_checked()
    expect(page.get_by_label("Search")).to_have_value("milk")
    expect(page.get_by_role("spinbutton", name="Items in a set, least")).to_have_value("2")
    expect(page.locator("th[aria-sort]")).to_have_text(re.compile("Items"))
    before = page.locator("tbody").inner_text()
    again = open_page(page.url)
    assert again.locator("tbody").inner_text() == before
    page.get_by_role("link", name="Rules").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rules")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Itemsets")
    expect(page.get_by_label("Search")).to_have_value("milk")


def test_filters_choose(open_page, address, model, hostile):
    """Items are picked from a list with the keyboard; lengths, words and pages choose too."""
    page = open_page(f"{address}?view=itemsets&min_support=0.02")
    field = page.get_by_role("combobox", name="With", exact=True)
    field.fill("<img")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    mined = itemix.mine(model, 0.02).filter(include=[hostile])
    expect(page.locator(".count")).to_have_text(f"{written(len(mined))} itemsets")
    page.get_by_role("spinbutton", name="Items in a set, most").fill("2")
    short = mined.filter(max_len=2)
    expect(page.locator(".count")).to_have_text(f"{written(len(short))} itemsets")
    page.get_by_role("button", name=f"Remove {hostile}").click()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".pager .number")).to_have_text(re.compile("^51 to 100 of"))
    expect(page).to_have_url(re.compile("offset=50"))


def test_a_query_gives_the_librarys_number(open_page, address, model, data):
    """Items that are picked are asked for; the answer is the library's, and the data's beside it."""
    page = open_page(f"{address}?view=ask")
    for label, name in (("Present", "salsa"), ("Given that there is", "tortillas")):
        page.get_by_role("combobox", name=label, exact=True).fill(name)
        page.get_by_role("option", name=re.compile(f"^{name} \\d")).click()
    probability = model.probability(["salsa"], given=["tortillas"])
    expect(page.locator(".figure")).to_have_text(f"{100 * probability:#.3g}%")
    interval = model.interval(["salsa"], given=["tortillas"])
    expect(page.locator(".answer")).to_contain_text(f"between {100 * interval.lower:.3g}%")
    rows = [row for row in data if "tortillas" in row]
    both = sum("salsa" in row for row in rows)
    expect(page.locator(".answer")).to_contain_text(f"In the training data ({both} of {len(rows)})")
    best = model.recommend(["salsa", "tortillas"], 1, complete=False)[0].item
    page.get_by_role("button", name=f"Add {best}").click()
    expect(page).to_have_url(re.compile("items=salsa&items="))
    more = model.probability(["salsa", best], given=["tortillas"])
    expect(page.locator(".figure")).to_have_text(f"{100 * more:#.3g}%")


@pytest.mark.parametrize(("name", "extension"), [("CSV", "csv"), ("Parquet", "parquet")])
def test_the_download_holds_what_the_table_shows(open_page, address, tmp_path, name, extension):
    """The file has the rows of the table, in its order, and all the others."""
    page = open_page(f"{address}?view=itemsets&min_support=0.05&min_len=2&sort=lift")
    with page.expect_download() as started:
        page.get_by_role("link", name=f"Download all as {name}").click()
    path = tmp_path / f"found.{extension}"
    started.value.save_as(path)
    loaded = itemix.Itemsets.load(path)
    shown = page.locator("tbody tr td:first-child").all_inner_texts()
    assert [", ".join(names) for names in loaded.sets][: len(shown)] == shown
    assert page.locator(".count").inner_text() == f"{written(len(loaded))} itemsets"
    assert percentages(page, 3) == pytest.approx(loaded.support[: len(shown)].tolist(), abs=1e-4)


@pytest.mark.parametrize("view", VIEWS_WITH_A_NAME)
def test_hostile_names_do_not_run(open_page, address, view, hostile):
    """A name that looks like code is shown as it is, in every view."""
    chosen = dict.fromkeys(VIEWS_WITH_A_NAME[view], hostile)
    page = open_page(f"{address}?{urlencode({'view': view, **chosen})}")
    expect(page.locator("main").get_by_text(hostile).first).to_be_attached()
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0


def test_odd_names_are_readable(open_page, address, odd_names):
    """Each name stands alone: one turns nothing beside it, one is seen as numbers, one is cut."""
    asked = urlencode({"view": "ask", "present": odd_names, "given": "salsa"}, doseq=True)
    page = open_page(f"{address}?{asked}")
    names = page.locator(".answer h2 bdi")
    backwards, invisible, long = (names.nth(at) for at in range(3))
    assert page.locator(".answer h2").evaluate("it => it.childNodes[2].textContent") == ", "
    assert backwards.evaluate("it => getComputedStyle(it).unicodeBidi") == "isolate"
    expect(invisible).to_have_text("U+200B U+0020")
    assert len(long.inner_text()) <= 80
    expect(long).to_have_attribute("title", odd_names[2])
    after, before = names.nth(3).bounding_box(), backwards.bounding_box()
    assert (after["y"], after["x"]) > (before["y"], before["x"])


def test_a_model_without_components_says_so(open_page, others):
    """A tree has no components: the page says what it has instead, and its other views work."""
    page = open_page(f"{others}?view=components&model=chow-liu")
    expect(page.locator(".intro")).to_contain_text("has no components: it is one tree of items.")
    page.get_by_role("link", name="Dependencies").last.click()
    expect(page.locator(".count")).to_contain_text("pair")
    expect(page.get_by_role("link", name="Components")).to_have_count(0)
    page.get_by_label("Model").select_option("independent")
    expect(page.locator(".notice")).to_contain_text("The model takes all items to be independent")


def test_components_are_shown_and_chosen(open_page, address, model):
    """The largest first; a click shows its items and baskets."""
    page = open_page(f"{address}?view=components")
    weights = sorted(model.mixture_.weights, reverse=True)
    shares = page.locator(".segment-row .share").all_inner_texts()
    assert shares == [f"{100 * weight:.1f}%" for weight in weights]
    page.locator(".segment-row").nth(2).click()
    detail = page.get_by_role("region", name="The chosen component")
    expect(detail).to_contain_text("Component 3:")
    expect(page.locator(".baskets li")).to_have_count(8)
    page.get_by_role("button", name=re.compile("^Component 2,")).press("Enter")
    expect(detail).to_contain_text("Component 2:")
    expect(page).to_have_url(re.compile("component=2"))


def test_dependencies_are_shown_and_chosen(open_page, address, model):
    """The slider changes how many pairs there are; an item shows its neighbours."""
    page = open_page(f"{address}?view=dependencies")
    expect(page.locator(".count")).to_have_text(re.compile("^40 pairs of"))
    assert page.locator(".network .edge").count() == 40
    page.get_by_role("slider").press("ArrowRight")
    page.get_by_role("slider").press("End")
    expect(page.locator(".count")).to_have_text("1 pair of 2 items")
    page.get_by_role("slider").press("Home")
    expect(page.locator(".count")).to_have_text(re.compile("^300 pairs of"))
    page.get_by_role("button", name=re.compile("^charcoal,")).press("Enter")
    expect(page.get_by_role("heading", name="Neighbours of charcoal")).to_be_visible()
    strongest = model.dependencies(1, items=["charcoal"])[0]
    other = strongest.other if strongest.item == "charcoal" else strongest.item
    expect(page.get_by_role("region", name="Neighbours").locator("tbody td").first).to_have_text(other)
    page.get_by_role("radio", name="Matrix").check(force=True)
    expect(page.locator(".matrix rect").first).to_be_visible()


def test_rules_are_sorted_by_any_measure(open_page, address, model):
    """The table is that of the library, whatever it is sorted by; the points are the same rules."""
    page = open_page(f"{address}?view=rules&min_support=0.05")
    page.get_by_label("Sort by").select_option("leverage")
    expect(page.locator("th[aria-sort=descending]")).to_have_text(re.compile("Leverage"))
    rules = itemix.rules(itemix.mine(model, 0.05), min_threshold=0.2, max_consequent_len=1)
    best = rules.top(50, by="leverage")
    texts = page.locator("tbody tr td:first-child").all_inner_texts()
    sides = zip(best.antecedents, best.consequents, strict=True)
    assert texts == [f"{', '.join(left)} → {', '.join(right)}" for left, right in sides]
    assert page.locator(".scatter .finds circle").count() == min(len(rules), 1000)
    page.get_by_role("columnheader", name="Confidence").get_by_role("button").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text(re.compile("Confidence"))
    assert percentages(page, 3) == pytest.approx(rules.top(50, by="confidence").confidence.tolist(), abs=1e-3)


def test_surprises_are_shown_and_chosen(open_page, address, model, unseen):
    """The table has the finds of the library; the picture all tested sets, above the line or below it."""
    page = open_page(f"{address}?view=surprises&min_support=0.05")
    found = itemix.surprises(model, unseen, min_support=0.05)
    expect(page.locator(".count")).to_have_text(f"{len(found)} surprises")
    texts = page.locator("tbody tr td:first-child").all_inner_texts()
    assert texts == [", ".join(names) for names in found.sets][:50]
    assert percentages(page, 2) == pytest.approx(found.support[:50].tolist(), abs=1e-3)
    assert page.locator(".contrast .finds [role=button]").count() == len(found)
    assert page.locator(".contrast .others circle").count() == found.n_tested - len(found)
    page.get_by_text("More often", exact=True).click()
    more = itemix.surprises(model, unseen, min_support=0.05, side="more")
    expect(page.locator(".count")).to_have_text(f"{len(more)} surprises")
    page.get_by_role("button", name="Ratio").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text(re.compile("Ratio"))


def test_surprises_of_training_data_are_refused(open_page, start_server, files):
    """The page says why, and how to get there; without any data there is no such view."""
    data = ("--data", files / "shop.parquet")
    with start_server("explore", files / "shop.itemix", *data, "--no-browser") as address:
        page = open_page(f"{address}?view=surprises", expected_errors=["400"])
        expect(page.locator(".notice")).to_contain_text("got its 1,500 training transactions")
        expect(page.locator(".notice")).to_contain_text("start itemix explore with --test")
        expect(page.locator(".contrast").first).to_be_hidden()


def test_what_is_refused_is_said(open_page, address):
    """An address with a mistake gives a line that says what it is."""
    page = open_page(f"{address}?view=ask&present=nothing", expected_errors=["400"])
    expect(page.locator(".notice")).to_contain_text("Expected one of 92 known items, got 'nothing'")


def test_a_token_is_taken_from_the_address(open_page, start_server, files, tmp_path):
    """Where a token is needed, the page takes it after the #, hides it, and downloads with it too.

    A server that has ended is told apart from a refusal.
    """
    with start_server("serve", files / "shop.itemix", "--token", "sesame") as address:
        refused = open_page(address, expected_errors=["401"], is_refused=True)
        expect(refused.locator(".notice")).to_contain_text("expected a header 'Authorization: Bearer TOKEN'")
        page = open_page(
            f"{address}?view=itemsets&min_support=0.05#token=sesame", expected_errors=["ERR_CONNECTION"]
        )
        expect(page.locator("tbody tr").first).to_be_visible()
        assert "sesame" not in page.url
        with page.expect_download() as started:
            page.get_by_role("link", name="Download all as Parquet").click()
        started.value.save_as(tmp_path / "found.parquet")
    shown = page.locator(".count").inner_text()
    assert shown == f"{written(len(itemix.Itemsets.load(tmp_path / 'found.parquet')))} itemsets"
    page.get_by_role("button", name="Lift").click()
    expect(page.locator(".notice")).to_contain_text("The server does not answer")


def test_training_data_is_called_so(open_page, address, data, unseen):
    """What the model was fitted to is no witness: the page names it, and has the test data beside it."""
    page = open_page(f"{address}?view=itemsets&min_support=0.1", width=1440)
    heads = page.locator("thead th").all_inner_texts()
    for name, held in (("Training data", data), ("Test data", unseen)):
        first = page.locator("tbody tr").first.locator("td")
        itemset = first.first.inner_text().split(", ")
        shown = first.nth(heads.index(name)).inner_text()
        assert float(shown.removesuffix("%")) / 100 == pytest.approx(held.support(itemset), abs=1e-3)
    page.get_by_role("link", name="Rules").click()
    expect(page.locator("thead")).to_contain_text("In test data")
    page.get_by_role("link", name="Dependencies").click()
    expect(page.locator("thead").last).to_contain_text("Training data")


def test_two_baskets_stand_side_by_side(open_page, address, model):
    """Each has the posterior of the mixture, says which item moves it, and takes what may come next."""
    page = open_page(
        f"{address}?view=whatif&items=charcoal&items=milk&other=beer".replace("milk", "whole+milk")
    )
    left, right = (page.get_by_role("region", name=f"Basket {side}") for side in "AB")
    for place, basket in ((left, ["charcoal", "whole milk"]), (right, ["beer"])):
        most = model.mixture_.condition(basket).weights.max()
        expect(place.locator(".segment-list .number").first).to_have_text(f"{100 * most:.1f}%")
    expect(left.locator(".moves li").first).to_contain_text("charcoal raises")
    best = model.recommend(["beer"], 1, complete=False)[0].item
    right.get_by_role("button", name=f"Add {best}", exact=True).click()
    expect(page).to_have_url(re.compile("other=beer&other="))
    page.get_by_role("button", name="Copy A to B").click()
    expect(right.locator(".moves li")).to_have_count(2)
