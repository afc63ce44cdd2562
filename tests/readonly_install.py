"""A package that its user may not write to, as in a container, or where root has installed it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import itemix

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
        self.make_readonly(folder / "install")
        self.temporary = self.make_folder("temporary", 0o1777)
        self.own = self.temporary / f"itemix-{self.user}"

    def make_folder(self, name, mode):
        """Make a folder with a mode."""
        path = self.folder / name
        path.mkdir()
        path.chmod(mode)
        return path

    def run(self, *arguments, home="/nonexistent", **environment):
        """Run Python with some arguments as that user, who has no home; return what it has written."""
        kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
        kept |= {"PYTHONPATH": str(self.folder / "install"), "HOME": str(home), **environment}
        command = [*self.prefix, sys.executable, *map(str, arguments)]
        where = {"env": kept, "cwd": self.temporary}
        ran = subprocess.run(command, **where, capture_output=True, text=True, check=False)  # noqa: S603
        assert ran.returncode == 0, ran.stderr
        return ran

    def make_readonly(self, folder):
        """Let nobody write to a folder, and let it belong to somebody else where that is possible."""
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
            if self.prefix:
                os.chown(path, 0, 0)

    def close(self):
        """Let the copy be removed."""
        for path in (self.folder, *self.folder.rglob("*/")):
            path.chmod(0o755)
