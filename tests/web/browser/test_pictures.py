"""Pictures answer: they name what is pointed at, filter the table, can be zoomed, and are saved as files."""

import re
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

import itemix


def drag_a_box(page, picture):
    """Draw a box over the middle of a picture."""
    box = picture.bounding_box()
    x, y, width, height = (box[name] for name in ("x", "y", "width", "height"))
    page.mouse.move(x + 0.15 * width, y + 0.1 * height)
    page.mouse.down()
    page.mouse.move(x + 0.5 * width, y + 0.4 * height)
    page.mouse.move(x + 0.6 * width, y + 0.7 * height)
    page.mouse.up()


def test_a_box_filters_the_table(open_page, address, model):
    """What is drawn with the mouse can be typed, is in the address, and is taken away again."""
    page = open_page(f"{address}?view=rules&min_support=0.05", width=1440)
    every = page.locator(".count").inner_text()
    drag_a_box(page, page.locator(".scatter svg.plot"))
    expect(page.locator(".count")).not_to_have_text(every)
    box = [float(text) for text in re.findall(r"box=([-\d.e]+)", page.url)]
    rules = itemix.rules(itemix.mine(model, 0.05), min_threshold=0.2, max_consequent_len=1)
    inside = (rules.support >= box[0]) & (rules.support <= box[1])
    inside &= (rules.confidence >= box[2]) & (rules.confidence <= box[3])
    expect(page.locator(".count")).to_have_text(f"{inside.sum()} rules")
    assert page.locator(".scatter .finds circle").count() == len(rules)  # the picture shows what is around it
    page.get_by_text("Box in numbers").click()
    page.get_by_role("spinbutton", name="confidence, from").fill("0")
    page.keyboard.press("Tab")
    expect(page).to_have_url(re.compile("box=0(&|$)"))
    page.get_by_role("button", name="Remove the box").click()
    expect(page.locator(".count")).to_have_text(every)
    page.go_back()
    expect(page).to_have_url(re.compile("box="))


def test_a_point_is_named_and_opens_its_evidence(open_page, address):
    """The pointer shows a tooltip with the rule; a click opens the drawer."""
    page = open_page(f"{address}?view=rules&min_support=0.05", width=1440)
    point = page.locator(".scatter .finds circle").first
    named = point.get_attribute("aria-label").split("\n")[0]
    point.hover()
    expect(page.locator(".plot [data-mark=tip]")).to_contain_text(named)
    point.click()
    expect(page.locator("#drawer h2")).to_contain_text("→")


def test_zoom_and_files(open_page, address, tmp_path):
    """Zooming shows fewer points, and the whole again; the files stand alone, without styles and scripts."""
    page = open_page(f"{address}?view=rules&min_support=0.03", width=1440)
    points = page.locator(".scatter .finds circle")
    expect(points.first).to_be_visible()
    every = points.count()
    page.get_by_role("button", name="Zoom in").click()
    expect(points).not_to_have_count(every)
    page.get_by_role("button", name="Whole picture").click()
    expect(points).to_have_count(every)
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as started:
            page.get_by_role("button", name=f"Save the picture as {kind}").click()
        path = tmp_path / f"picture.{kind}"
        started.value.save_as(path)
        assert path.read_bytes().startswith(start)
    root = ET.parse(tmp_path / "picture.SVG").getroot()  # noqa: S314 - our own
    assert len([one for one in root.iter() if one.tag.endswith("circle")]) == every
    assert "var(" not in (tmp_path / "picture.SVG").read_text()


def test_agreement_names_the_worst_misses(open_page, address, model, unseen):
    """Every itemset is a point, counted in the test data; the furthest from the line are named."""
    page = open_page(f"{address}?view=itemsets&min_support=0.05&show=agreement", width=1440)
    found = itemix.mine(model, 0.05)
    expect(page.locator(".plot .finds circle")).to_have_count(len(found))
    support = found.support
    counted = [unseen.support(one.items) for one in found]
    errors = abs(support - counted) / (support * (1 - support) / unseen.n_transactions) ** 0.5
    worst = found[int(errors.argmax())].items
    expect(page.get_by_role("region", name="The worst misses").locator("tbody td").first).to_have_text(
        ", ".join(worst)
    )
    expect(page.locator(".plot .labels text")).to_have_count(4)


@pytest.mark.parametrize("view", ["rules&picture=graph&min_support=0.05"])
def test_rules_are_a_graph(open_page, address, view):
    """Arrows lead from the left side to the right; an item is selected by a click."""
    page = open_page(f"{address}?view={view}", width=1440)
    expect(page.locator(".network .edge[marker-end]").first).to_be_attached()
    page.locator(".network .node").first.press("Enter")
    expect(page.locator(".selection .chip")).to_have_count(2)
