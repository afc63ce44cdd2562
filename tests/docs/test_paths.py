"""Paths that the documentation names are there: imports, files of the source, and tests."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
TEXT = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
# Imports that were documented once go on working, also where the thing has moved or has a new name.
PROMISED = (
    "itemix.correction.correct",
    "itemix.data.catalogue.DatasetInfo",
    "itemix.data.grocery",
    "itemix.data.synthetic.from_mixture",
    "itemix.data.synthetic.grocery_store",
    "itemix.data.synthetic.market_baskets",
    "itemix.data.synthetic.paper_data",
    "itemix.data.synthetic.paper_mixture",
    "itemix.data.synthetic.quest",
    "itemix.data.synthetic.random_mixture",
    "itemix.data.synthetic.BuyerType",
    "itemix.data.synthetic.PlantedRule",
    "itemix.inference.chains.Chains",
    "itemix.inference.priors.Prior",
    "itemix.inference.selection.Selection",
    "itemix.mining.characteristics.characteristic_items",
    "itemix.mining.intervals.Interval",
    "itemix.mining.intervals.interval",
    "itemix.mining.intervals.intervals",
    "itemix.mining.query.Contribution",
    "itemix.mining.query.Dependency",
    "itemix.mining.query.Explanation",
    "itemix.mining.query.Recommendation",
    "itemix.mining.query.dependencies",
    "itemix.mining.query.explain",
    "itemix.mining.query.lift",
    "itemix.mining.query.recommend",
    "itemix.mining.query.recommend_many",
    "itemix.mining.query.rule_measures",
    "itemix.mining.recommend.Recommendation",
    "itemix.mining.recommend.Recommendations",
    "itemix.mining.ruleset.Rule",
    "itemix.mining.verification.Verification",
    "itemix.mining.verification.verify",
    "itemix.plot.evaluation_by_length",
    "itemix.plot.length_distribution",
    "itemix.plot.support_distribution",
    "itemix.plot.top_itemsets",
)


def found(path):
    """Follow a dotted path, through modules as far as there are any, and through attributes."""
    first, *rest = path.split(".")
    thing, name = importlib.import_module(first), first
    for part in rest:
        name = f"{name}.{part}"
        try:
            thing = getattr(thing, part)
        except AttributeError:
            thing = importlib.import_module(name)
    return thing


def imports_shown():
    """The dotted paths in all pages: in sentences, in examples, and those that examples import from."""
    shown = set()
    for text in TEXT.values():
        shown |= set(re.findall(r"(?<![\w./\"-])itemix(?:\.[A-Za-z_]+)+(?![\w/])", text))
        for module, names in re.findall(r"from (itemix[.\w]*) import ([\w, ]+)", text):
            shown |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return {path for path in shown if not path.endswith((".md", ".py", ".svg", ".png"))}


@pytest.mark.parametrize("path", sorted({*PROMISED, *imports_shown()}))
def test_documented_imports_work(path):
    """What a page imports or names can be imported, and what pages named before, too."""
    assert found(path) is not None


def test_equations_are_where_the_page_says():
    """The page of equations names functions by their paths in the package."""
    named = re.findall(r"`([a-z_]+(?:\.\w+)+)`", TEXT["docs/equations.md"])
    assert len(named) > 20
    for path in sorted(set(named)):
        assert found(f"itemix.{path}") is not None


@pytest.mark.parametrize("page", TEXT)
def test_files_are_there(page):
    """Files of the source are where a page says: by their path in it, or in the repository."""
    named = set(re.findall(r"`((?:[\w.]+/)*\w+\.py)`", TEXT[page]))
    places = (ROOT / "src" / "itemix", ROOT, ROOT / "src" / "itemix" / "kernels", ROOT / "docs")
    missing = sorted(name for name in named if not any((place / name).exists() for place in places))
    assert not missing


@pytest.mark.parametrize("page", TEXT)
def test_tests_are_there(page):
    """A test that a page names is in the file that it names."""
    last = ""
    for file, name in re.findall(r"`(tests/[\w/]+\.py)?(?:::(\w+))?`", TEXT[page]):
        last = file or last
        if last and (file or name):
            code = (ROOT / last).read_text(encoding="utf-8")
            assert f"def {name}(" in code or not name, f"{last}::{name}"
