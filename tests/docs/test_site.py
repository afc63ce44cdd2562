"""The site that `make docs` has built: links lead somewhere, and other hosts are not needed."""

import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parents[2] / "build" / "site"
pytestmark = pytest.mark.site


class Page(HTMLParser):
    """What a page links to, what it loads, and the places that links to it may name."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.places = [], [], {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Take note of one tag."""
        attrs = dict(attrs)
        self.places |= {attrs.get("id"), attrs.get("name")}
        if tag == "a":
            self.links.append(attrs.get("href") or "")
        elif tag == "link":
            self.loaded += [attrs["href"]] if attrs.get("rel") in {"stylesheet", "icon"} else []
        elif tag in {"img", "script"} and attrs.get("src"):
            self.loaded.append(attrs["src"])


@pytest.fixture(scope="module")
def pages():
    """All pages of the site, by their files."""
    found = {path.resolve(): Page(path) for path in SITE.rglob("*.html") if "_static" not in path.parts}
    assert len(found) > 50, f"expected a site in {SITE}; make docs builds it"
    return found


def leads_to(page, address):
    """Return the file and the place that an address in a page names, None for one of another host."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)


def test_every_link_leads_somewhere(pages):
    """A link leads to a file of the site, and to a place in it that is there."""
    broken = []
    for path, page in pages.items():
        for link in page.links:
            target = leads_to(path, link)
            if target and not (
                target[0].is_file() and target[1] in getattr(pages.get(target[0]), "places", target[1])
            ):
                broken.append(f"{path.relative_to(SITE.resolve())}: {link}")
    assert broken == []


def test_everything_a_page_loads_is_there(pages):
    """Styles, scripts and pictures come from the site itself: it works without a network."""
    for path, page in pages.items():
        for address in page.loaded:
            if not address.startswith("data:"):
                target = leads_to(path, address)
                assert target, f"{path} loads {address}"
                assert target[0].is_file(), f"{path} loads {address}"


def test_every_page_is_in_the_sidebar(pages):
    """Each page can be found from the first one, in the list at its side."""
    index = pages[(SITE / "index.html").resolve()]
    listed = {
        leads_to(SITE.resolve() / "index.html", link)[0] for link in index.links if leads_to(SITE, link)
    }
    made = {"genindex.html", "search.html", "py-modindex.html"}
    assert [path.name for path in pages if path not in listed and path.name not in made] == []


def test_pages_fit_phones_and_screens(pages):
    """No page is wider than the window; wide tables and code scroll by themselves."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for width in (390, 1024, 1440):
            page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
            for path in (
                "index",
                "reference",
                "results",
                "api/models",
                "guides/own-table",
                "benchmarks/mining",
            ):
                page.goto((SITE / f"{path}.html").resolve().as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
        browser.close()
