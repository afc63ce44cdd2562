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


def test_the_build_compiles_everything():
    """One command does it; what it compiles is tested with that command."""
    assert [step for name, step in instructions() if name == "RUN"][-1] == "itemix warmup"


@pytest.fixture
def install(tmp_path):
    """Return a copy of the package that its user may not write to."""
    copy = Install(tmp_path)
    yield copy
    copy.close()


def test_the_image_starts_without_compiling(install):
    """What the build compiles is enough: another user, on a read-only system, compiles nothing.

    Shown for one command: each takes its own half a minute.
    """
    folder = install.make_folder("home", 0o777)
    (given,) = (step for name, step in instructions() if name == "ENV")
    variable, compiled = given.replace(dict(instructions())["WORKDIR"], str(folder)).split("=")
    mine = ["mine", "dataset:grocery_store", "--min-support", "0.01", "--limit", "1"]
    built = install.run("-m", "itemix", *mine, home=folder, **{variable: compiled})
    install.make_readonly(folder)
    elsewhere = {variable: compiled, "TMPDIR": str(install.temporary)}
    ran = install.run("-m", "itemix", *mine, **elsewhere)
    assert ran.stdout == built.stdout
    assert f"itemix: compiled code is kept in {install.own} for now; set NUMBA_CACHE_DIR" in ran.stderr
    there, copied = Path(compiled), install.own
    names = {path.relative_to(there) for path in there.rglob("*")}
    assert len(names) > 10
    assert names == {path.relative_to(copied) for path in copied.rglob("*")}
