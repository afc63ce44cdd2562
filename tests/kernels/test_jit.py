"""Where compiled code is kept, for users who may write to neither the package nor a home."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import itemix

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="users and modes are Unix's")

SCRIPT = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
import numpy as np
from itemix.kernels import csr
assert csr.is_canonical(np.array([0, 2]), np.array([1, 3], dtype=np.int32))
print(len(csr.is_canonical.stats.cache_hits), len(csr.is_canonical.stats.cache_misses))
"""
# A user without any rights but to read: root may write everywhere.
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", "--clear-groups", "--inh-caps=-all,+dac_read_search"]
AS_NOBODY += ["--ambient-caps=-all,+dac_read_search", "--bounding-set=-all,+dac_read_search"]


def as_ordinary_user():
    """Return what to put before a command so that root's rights do not help it, and the user's number."""
    if os.getuid() != 0:
        return [], os.getuid()
    if shutil.which("setpriv") is None or subprocess.run([*AS_NOBODY, "true"], check=False).returncode:  # noqa: S603
        pytest.skip("NOT TESTED: root needs setpriv to become a user who may not write everywhere")
    return AS_NOBODY, NOBODY


class Install:
    """A copy of the package that can only be read, and a user who runs it without a home."""

    def __init__(self, folder):
        self.prefix, self.user = as_ordinary_user()
        self.folder = folder
        shutil.copytree(
            Path(itemix.__file__).parent,
            folder / "install/itemix",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        for path in (folder / "install", *(folder / "install").rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        self.temporary = self.make_folder("temporary", 0o1777)
        self.own = self.temporary / f"itemix-{self.user}"

    def make_folder(self, name, mode):
        """Make a folder with a mode."""
        path = self.folder / name
        path.mkdir()
        path.chmod(mode)
        return path

    def run(self, **environment):
        """Run a kernel, and return what it found in the cache, and what was said."""
        kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
        kept |= {"PYTHONPATH": str(self.folder / "install"), "HOME": "/nonexistent", **environment}
        command = [*self.prefix, sys.executable, "-c", SCRIPT, str(self.temporary)]
        ran = subprocess.run(command, env=kept, capture_output=True, text=True, check=False, cwd="/")  # noqa: S603
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.split(), ran.stderr

    def close(self):
        """Let the copy be removed."""
        for path in (self.folder, *self.folder.rglob("*/")):
            path.chmod(0o755)


@pytest.fixture
def install(tmp_path):
    """Return an installed copy."""
    copy = Install(tmp_path)
    yield copy
    copy.close()


ADVICE = "set NUMBA_CACHE_DIR to a folder that this user may write to\n"
ANEW = "itemix: compiled code is not kept, and every run compiles anew: "


def test_a_private_temporary_folder_is_used(install):
    """What is compiled is kept there, for this user alone, and one line says so."""
    hits, said = install.run()
    assert hits == ["0", "1"]
    assert said == f"itemix: compiled code is kept in {install.own} for now; {ADVICE}"
    found = install.own.lstat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o700, install.user)
    assert install.run() == (["1", "0"], said)
    assert [path.name for path in install.temporary.iterdir()] == [install.own.name]


def test_a_folder_that_others_may_write_to_is_not_used(install):
    """Code from there would be run: it is neither read nor written."""
    install.own.mkdir()
    install.own.chmod(0o777)
    _, said = install.run()
    assert said == f"{ANEW}{install.own} is not a folder of this user alone; {ADVICE}"
    assert list(install.own.iterdir()) == []


def test_a_link_is_not_followed(install):
    """A link may lead to a folder of somebody else's."""
    elsewhere = install.make_folder("elsewhere", 0o777)
    install.own.symlink_to(elsewhere)
    _, said = install.run()
    assert said.startswith(f"{ANEW}{install.own} is not a folder of this user alone")
    assert list(elsewhere.iterdir()) == []


def test_with_no_folder_at_all_nothing_is_kept(install):
    """On a read-only file system everything works, only slower at the start."""
    install.temporary.chmod(0o555)
    assert install.run() == (["0", "1"], f"{ANEW}Permission denied; {ADVICE}")


def test_what_was_compiled_before_is_copied(install):
    """Numba uses no folder that it may not write to, so a copy is used: nothing is compiled again."""
    compiled = install.make_folder("compiled", 0o777)
    assert install.run(NUMBA_CACHE_DIR=str(compiled)) == (["0", "1"], "")
    for path in (compiled, *compiled.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if install.prefix:
        for path in (compiled, *compiled.rglob("*")):
            os.chown(path, 0, 0)
    hits, said = install.run(NUMBA_CACHE_DIR=str(compiled))
    assert hits == ["1", "0"]
    assert said.startswith(f"itemix: compiled code is kept in {install.own} for now;")
