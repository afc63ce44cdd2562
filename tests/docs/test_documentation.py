"""The documentation is true: its examples run, its links resolve, and it names every public thing."""

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import itemix
from itemix.estimators.answers import Learned

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


def thing_at(path):
    """Return what a dotted path names: a module, and attributes of it."""
    module = path
    while module not in sys.modules:
        try:
            importlib.import_module(module)
        except ImportError:
            module = module.rpartition(".")[0]
    found = sys.modules[module]
    for part in path.removeprefix(module).split(".")[1:]:
        found = getattr(found, part)
    return found


IN_API = re.findall(
    r"^\.\. auto\w+:: (\S+)",
    "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md")),
    re.MULTILINE,
)


def test_every_public_name_is_in_the_pages_of_docstrings():
    """The site shows the docstring of each name that `import itemix` offers, and of its modules."""
    names = [f"itemix.{name}" for name in itemix.__all__ if name not in itemix._MODULES]
    names += [
        f"itemix.{module}.{name}" for module in itemix._MODULES for name in getattr(itemix, module).__all__
    ]
    shown = [thing_at(path) for path in IN_API]
    assert len(shown) == len(set(IN_API))
    assert [name for name in names if not any(thing_at(name) is thing for thing in shown)] == []


def docstring_of(member):
    """Return the docstring of a method or a property itself: other members have that of their class."""
    function = getattr(member, "__func__", getattr(member, "fn", member))
    has_own = callable(function) or isinstance(member, property) or hasattr(member, "attrname")
    return inspect.getdoc(function) if has_own else None


@pytest.mark.parametrize("path", [path for path in IN_API if inspect.isclass(thing_at(path))])
def test_every_public_attribute_has_a_docstring(path):
    """Methods and properties have their own; fields, and what is learned, have an entry in the class."""
    owners = [base for base in thing_at(path).__mro__ if base.__module__.startswith("itemix")]
    described = {
        name
        for base in owners
        for names in re.findall(r"^ *(\w+(?:, \w+)*) : ", base.__doc__ or "", re.MULTILINE)
        for name in names.split(", ")
    }
    members = {
        name: member
        for base in reversed(owners)
        for name, member in vars(base).items()
        # Not what a class might learn, but does not, nor what scikit-learn makes.
        if not name.startswith("_") and not isinstance(member, Learned) and not name.endswith("_request")
    }
    for base in owners:
        if dataclasses.is_dataclass(base):
            members |= {field.name: None for field in dataclasses.fields(base) if field.name[0] != "_"}
    assert [
        name for name, member in members.items() if name not in described and not docstring_of(member)
    ] == []


def test_every_public_name_can_be_imported():
    """The names that are imported when first used are there, and are all of them."""
    assert all(hasattr(itemix, name) for name in itemix.__all__)
    assert {*itemix._HOME, *itemix._MODULES} == set(itemix.__all__)


def test_public_things_have_docstrings():
    """Every public name says what it is."""
    for name in itemix.__all__:
        assert getattr(itemix, name).__doc__, name
