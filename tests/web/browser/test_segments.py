"""Kinds of transactions on a map: a slider joins them, another ranks items, and they keep their names."""

import json
import re

import numpy as np
from playwright.sync_api import expect

import itemix
from itemix.files import read_fitted


def test_the_map_joins_and_names(open_page, start_server, model, data, tmp_path, violations):
    """Six kinds become three; items go from telling to frequent; a name is kept beside the model."""
    model.save(tmp_path / "shop.itemix")
    itemix.write_transactions(data, tmp_path / "shop.parquet")
    shop = ("explore", tmp_path / "shop.itemix", "--data", tmp_path / "shop.parquet", "--no-browser")
    with start_server(*shop) as address:
        page = open_page(f"{address}?view=components", width=1440)
        expect(page.locator(".segment-map .finds circle")).to_have_count(6)
        kinds = page.get_by_role("slider", name="Kinds")
        for _ in range(3):
            kinds.press("ArrowLeft")
        expect(page.locator(".segment-map .finds circle")).to_have_count(3)
        expect(page.locator(".segment-row")).to_have_count(3)
        expect(page).to_have_url(re.compile("kinds=3"))
        page.go_back()
        expect(page.locator(".segment-row")).to_have_count(6)
        relevance = page.get_by_role("slider", name="Items: from telling to frequent")
        relevance.press("End")
        here = page.locator(".detail-side tbody td:nth-child(2)")
        expect(page).to_have_url(re.compile("relevance=1"))
        shown = [float(text.removesuffix("%")) for text in here.all_inner_texts()]
        assert shown == sorted(shown, reverse=True)
        page.locator(".segment-map .finds [role=button]").nth(2).press("Enter")
        page.get_by_label("Your name for it").fill("Barbecue")
        page.keyboard.press("Enter")
        expect(page.locator(".naming")).to_contain_text("Kept beside the model.")
        expect(page.locator(".segment-row", has_text="Barbecue")).to_have_count(1)
        assert violations(page) == []
        with page.expect_download() as started:
            page.get_by_role("link", name="Download all as CSV").click()
        started.value.save_as(tmp_path / "who.csv")
    lines = (tmp_path / "who.csv").read_text().splitlines()
    assert len(lines) == 1 + data.n_transactions
    assert any("Barbecue" in line for line in lines)
    fitted = read_fitted(tmp_path / "shop.itemix")
    assert list(fitted.names.values()) == ["Barbecue"]
    assert "Barbecue" in str(fitted.components_table())
    labels = model.predict(data)
    k = next(iter(fitted.names))
    assert sum("Barbecue" in line for line in lines) == int(np.sum(labels == k))
    told = json.loads((tmp_path / "shop.itemix.names.json").read_text())
    assert told["names"] == {str(k): "Barbecue"}


def test_labels_do_not_cover_each_other(open_page, address):
    """On a small map some kinds have no label, but never the one that is chosen."""
    page = open_page(f"{address}?view=components", width=390, height=800)
    chosen = page.locator(".segment-row").nth(2)
    chosen.click()
    labels = page.locator(".segment-map .labels text")
    expect(labels.first).to_have_text(re.compile(re.escape(chosen.locator(".name").inner_text()[:5])))
    boxes = labels.evaluate_all("all => all.map((one) => one.getBoundingClientRect().toJSON())")
    room = page.locator(".segment-map .picture").evaluate("one => one.getBoundingClientRect().toJSON()")
    for at, one in enumerate(boxes):
        assert room["left"] - 1 <= one["left"] < one["right"] <= room["right"] + 1
        for other in boxes[:at]:
            beside = one["x"] >= other["x"] + other["width"] or other["x"] >= one["x"] + one["width"]
            assert (
                beside or one["y"] >= other["y"] + other["height"] or other["y"] >= one["y"] + one["height"]
            )


def test_what_is_chosen_is_in_sight(open_page, address):
    """On a phone the details come into sight below the head; beside the map they are always there."""
    for width in (1440, 1024, 390):
        page = open_page(f"{address}?view=components", width=width, height=800)
        page.locator(".segment-row").nth(2).click()
        detail = page.get_by_role("region", name="The chosen component")
        expect(detail).to_contain_text("Component 3:")
        heading = detail.get_by_role("heading", level=2)
        page.wait_for_function("scrollY >= 0")
        expect(heading).to_be_in_viewport()
        head = page.locator("header.top").bounding_box()
        assert heading.bounding_box()["y"] >= head["y"] + head["height"]
        page.close()


def test_rows_are_above_the_fold(open_page, address):
    """At 1440 x 900, eleven rows or more are seen without scrolling, though some names take two lines."""
    page = open_page(f"{address}?view=itemsets&min_support=0.02", width=1440)
    rows = "[...document.querySelectorAll('tbody tr')]"
    bottoms = page.evaluate(f"{rows}.map(it => it.getBoundingClientRect().bottom)")
    assert sum(bottom <= 900 for bottom in bottoms) >= 11
