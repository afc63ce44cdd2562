"""A report in a real browser: nothing is asked for, nothing runs, and everybody can read it."""

import pytest
from axe_playwright_python.sync_playwright import Axe

import itemix

HOSTILE = '"><script>document.title = "owned"</script><img src=x onerror="document.title = 1">'


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report on items one of which has a name made to run."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    data = [["bread", "milk", HOSTILE], ["bread", "milk"], ["beer", HOSTILE], ["beer"], ["milk"]] * 20
    model = itemix.BayesianMixture(n_components=2, random_state=0).fit(data)
    itemix.write_report(model, path, data=data, title=f"Baskets {HOSTILE}")
    return path


@pytest.mark.parametrize("width", [1200, 390])
def test_report(browser, report, width):
    """In both themes and widths: no requests, no complaints, no overflow, nothing that axe objects to."""
    said = []
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url))
    page.goto(report.as_uri())
    assert said == [report.as_uri()]
    assert page.title() == f"Baskets {HOSTILE}"
    assert page.locator("script, img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    is_cut = "[...document.querySelectorAll('.scroll')].some(part => part.scrollWidth > part.clientWidth)"
    assert not page.evaluate(is_cut)
    values = (
        "[...document.querySelectorAll('dl.facts dd')].map(dd => dd.offsetWidth / dd.parentNode.offsetWidth)"
    )
    assert min(page.evaluate(values)) > 0.5
    wide, narrow = page.locator("svg.wide").first, page.locator("svg.narrow").first
    assert (wide.is_visible(), narrow.is_visible()) == ((True, False) if width > 640 else (False, True))
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        violations = Axe().run(page).response["violations"]
        assert [rule["id"] for rule in violations] == []
    context.close()
