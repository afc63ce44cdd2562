"""Where compiled code is kept, for users who may write to neither the package nor a home."""

import stat
import sys

import pytest
from readonly_install import Install

from itemix.kernels import jit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="users and modes are Unix's")

SCRIPT = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
import numpy as np
from itemix.kernels import csr
assert csr.is_canonical(np.array([0, 2]), np.array([1, 3], dtype=np.int32))
print(len(csr.is_canonical.stats.cache_hits), len(csr.is_canonical.stats.cache_misses))
"""


@pytest.fixture
def install(tmp_path):
    """Return an installed copy."""
    copy = Install(tmp_path)
    yield copy
    copy.close()


def compiled_by(install, **environment):
    """Run a kernel; return how often it was found compiled, and was not, and what was said."""
    ran = install.run("-c", SCRIPT, install.temporary, **environment)
    return ran.stdout.split(), ran.stderr


ADVICE = "set NUMBA_CACHE_DIR to a folder that this user may write to\n"
ANEW = "itemix: compiled code is not kept, and every run compiles anew: "


def test_a_private_temporary_folder_is_used(install):
    """What is compiled is kept there, for this user alone, and one line says so."""
    hits, said = compiled_by(install)
    assert hits == ["0", "1"]
    assert said == f"itemix: compiled code is kept in {install.own} for now; {ADVICE}"
    found = install.own.lstat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o700, install.user)
    assert compiled_by(install) == (["1", "0"], said)
    assert [path.name for path in install.temporary.iterdir()] == [install.own.name]


def test_a_folder_that_others_may_write_to_is_not_used(install):
    """Code from there would be run: it is neither read nor written."""
    install.own.mkdir()
    install.own.chmod(0o777)
    _, said = compiled_by(install)
    assert said == f"{ANEW}{install.own} is not a folder of this user alone; {ADVICE}"
    assert list(install.own.iterdir()) == []


def test_a_link_is_not_followed(install):
    """A link may lead to a folder of somebody else's."""
    elsewhere = install.make_folder("elsewhere", 0o777)
    install.own.symlink_to(elsewhere)
    _, said = compiled_by(install)
    assert said.startswith(f"{ANEW}{install.own} is not a folder of this user alone")
    assert list(elsewhere.iterdir()) == []


def test_with_no_folder_at_all_nothing_is_kept(install):
    """On a read-only file system everything works, only slower at the start."""
    install.temporary.chmod(0o555)
    assert compiled_by(install) == (["0", "1"], f"{ANEW}Permission denied; {ADVICE}")


def test_what_was_compiled_before_is_copied(install):
    """Numba uses no folder that it may not write to, so a copy is used: nothing is compiled again."""
    compiled = install.make_folder("compiled", 0o777)
    assert compiled_by(install, NUMBA_CACHE_DIR=str(compiled)) == (["0", "1"], "")
    install.make_readonly(compiled)
    hits, said = compiled_by(install, NUMBA_CACHE_DIR=str(compiled))
    assert hits == ["1", "0"]
    assert said.startswith(f"itemix: compiled code is kept in {install.own} for now;")


@jit.kernel
def _inner_of_this_test(value):
    return value + 1


@jit.kernel
def _outer_of_this_test(value):
    return _inner_of_this_test(value) * 2


def test_one_line_says_how_many_functions_are_compiled(monkeypatch, tmp_path, capsys):
    """Also where it cannot be drawn again; it counts what is not on disk yet."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("ITEMIX_COMPILE", "later")
    monkeypatch.setattr(jit, "_SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(jit, "compilations", jit.Compilations())
    own = jit.compilations
    own.expect(_outer_of_this_test)
    own.begin()
    own.begin()
    own.end(f"{__name__}._inner_of_this_test")
    own.end(f"{__name__}._outer_of_this_test")
    line = "itemix: compiling for this machine, once"
    said = [f"{line} ({n} of 2)" for n in (0, 0, 1, 2)]
    assert capsys.readouterr().err.splitlines() == said
    monkeypatch.setattr(jit, "_SECONDS_BETWEEN_LINES", 5.0)
    own.begin()
    own.end("")
    assert capsys.readouterr().err == ""
