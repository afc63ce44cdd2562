"""The Dockerfile of the guide: its steps run as a user does, and nothing is compiled afterwards."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from readonly_install import Install

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/guides/containers.md"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="users and modes are Unix's")


def instructions():
    """Return the instructions of the Dockerfile, each as its name and what comes after."""
    (text,) = re.findall(r"^```dockerfile\n(.*?)^```", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [tuple(line.split(" ", 1)) for line in text.replace("\\\n", " ").splitlines()]


def test_the_dockerfile_installs_what_there_is():
    """The package and its extra are those of the project, and Python is one that it runs on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    steps = instructions()
    (installed,) = (shlex.split(step)[-1] for name, step in steps if step.startswith("pip install"))
    package, extra = re.fullmatch(r"(\w+)\[(\w+)\]", installed).groups()
    assert package == project["name"]
    assert extra in project["optional-dependencies"]
    python = re.fullmatch(r"python:(3\.\d+)-slim", dict(steps)["FROM"])[1]
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
    names = [name for name, _ in steps]
    assert names.index("USER") < names.index("ENV"), "root must not own what is compiled"
    assert dict(steps)["ENTRYPOINT"] == '["itemix"]'


def test_the_image_starts_without_compiling(tmp_path):
    """What the build compiles is enough: another user, on a read-only system, compiles nothing."""
    install = Install(tmp_path)
    steps = instructions()
    home = dict(steps)["WORKDIR"]
    folder = install.make_folder("home", 0o777)
    environment = dict(step.replace(home, str(folder)).split("=") for name, step in steps if name == "ENV")
    runs = [shlex.split(step) for name, step in steps if name == "RUN" and step.startswith("itemix ")]
    assert len(runs) > 2
    for _, *arguments in runs:
        placed = [str(folder / word) if word.endswith(".itemix") else word for word in arguments]
        assert install.run("-m", "itemix", *placed, home=folder, **environment).stderr == ""
    install.make_readonly(folder)
    try:
        for _, *arguments in runs[1:]:
            placed = [str(folder / word) if word.endswith(".itemix") else word for word in arguments]
            ran = install.run("-m", "itemix", *placed, TMPDIR=str(install.temporary), **environment)
            assert ran.stderr.count("\n") == 1
            assert f"compiled code is kept in {install.own} for now" in ran.stderr
        built, copied = Path(environment["NUMBA_CACHE_DIR"]), install.own
        assert {path.relative_to(built) for path in built.rglob("*")} == {
            path.relative_to(copied) for path in copied.rglob("*")
        }
    finally:
        install.close()
