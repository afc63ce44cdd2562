"""What a release says of itself: one version everywhere, and the same dependencies in every recipe."""

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import itemix

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_one_version():
    """The citation and the recipe for conda name the version of the package, and the changelog knows it."""
    assert f"\nversion: {itemix.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'version: "{itemix.__version__}"' in (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert itemix.__version__ in heads or heads[0] == "Unreleased"


def test_conda_needs_what_pip_needs():
    """The recipe for conda has the dependencies of the package, with the same lowest versions."""
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    named = set(re.findall(r"- (\S+) >=(\S+)", run)) - {("python", "3.11")}
    assert named == {tuple(line.split(">=")) for line in PROJECT["project"]["dependencies"]}


def test_every_dependency_is_used():
    """Nothing is installed that the package does not use."""
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    names = {
        "scikit-learn": "sklearn",
        "prometheus-client": "prometheus_client",
        "dask[dataframe]": "dask",
        "arviz-base": "arviz_base",
    }
    needed = [line for lines in PROJECT["project"]["optional-dependencies"].values() for line in lines]
    for line in [*PROJECT["project"]["dependencies"], *needed]:
        name = re.split(r"[>=;]", line)[0].strip()
        if name not in {"uvloop", "itemix[web]"}:  # uvicorn takes uvloop by itself
            assert names.get(name, name) in source, name


def test_bounds_are_lowest_versions_only():
    """Dependencies have a lowest version, which is tested, and no highest one."""
    lines = [line for line in requires("itemix") or [] if not line.startswith(("uvloop", "itemix["))]
    assert all(re.fullmatch(r"[\w.\[\]-]+>=[\w.]+(; extra == .*)?", line) for line in lines), lines
