"""The documentation is true: its examples run, its links resolve, and it names every public thing."""

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import itemix

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(itemix.__path__, "itemix.")
    if not module.name.endswith("__main__") and ".kernels." not in module.name
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def page_name(path):
    """Name a page by its path in the repository."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_examples_of_pages_run(page, tmp_path, monkeypatch):
    """Every >>> example of a page gives what the page shows."""
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert result.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name, tmp_path, monkeypatch):
    """Every >>> example of a docstring gives what the docstring shows."""
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert result.failed == 0


def anchors_of(page):
    """Return the anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_resolve(page):
    """Every link to a file of the repository leads to one, and to a heading that it has."""
    for target, anchor in re.findall(
        r"\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)", page.read_text(encoding="utf-8")
    ):
        if not target.startswith(("http://", "https://", "mailto:")):
            other = page.parent / target if target else page
            assert other.exists(), f"{page_name(page)} links to {target}"
            assert not anchor or anchor in anchors_of(other), f"{page_name(page)} links to {target}#{anchor}"


def test_every_public_name_is_documented():
    """The reference has a line for each name that `import itemix` offers."""
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    missing = [name for name in itemix.__all__ if f"`{name}`" not in reference]
    assert not missing


def test_every_public_attribute_is_documented():
    """The page of members has every public attribute of every public class, each with a line of its own."""
    written = runpy.run_path(str(ROOT / "docs" / "write_members.py"))
    for cls in written["public_classes"]():
        members = written["members_of"](cls)
        assert members, cls
        assert all(members.values()), {cls: [name for name, line in members.items() if not line]}
    page = (ROOT / "docs" / "members.md").read_text(encoding="utf-8")
    assert page == written["page"](), "run python docs/write_members.py"


def test_every_public_name_can_be_imported():
    """The names that are imported when first used are there, and are all of them."""
    assert all(hasattr(itemix, name) for name in itemix.__all__)
    assert {*itemix._HOME, *itemix._MODULES} == set(itemix.__all__)


def test_public_things_have_docstrings():
    """Every public name says what it is."""
    for name in itemix.__all__:
        assert getattr(itemix, name).__doc__, name
