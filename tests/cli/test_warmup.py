"""``itemix warmup``, and the process in the background that small jobs start."""

import os
import subprocess
import sys
import time

import pytest

from itemix.cli import warmup
from itemix.kernels import jit


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Return the commands of processes that would have been started; compiled code would go to `tmp_path`."""
    monkeypatch.delenv("ITEMIX_COMPILE")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    found = []

    class Started:
        def __init__(self, command, **options):
            assert options["env"]["ITEMIX_COMPILE"] == "background"
            assert {options[name] for name in ("stdin", "stdout", "stderr")} == {subprocess.DEVNULL}
            found.append(command[1:])

    monkeypatch.setattr(subprocess, "Popen", Started)
    jit.compile_in_background.cache_clear()
    yield found
    jit.compile_in_background.cache_clear()


def ask(part="mining"):
    """Ask for a part in the background, as another process would."""
    jit.compile_in_background.cache_clear()
    jit.compile_in_background(part)


def test_one_process_at_a_time(started):
    """A part is compiled by one process, another part when that one is done, and none is compiled twice."""
    ask()
    assert started == [["-m", "itemix", "warmup", "mining"]]
    ask()
    ask("models")
    assert len(started) == 1
    jit.mark_of("mining").write_bytes(b"1")
    ask()
    assert len(started) == 1
    ask("models")
    assert started[1][-1] == "models"


def test_what_fails_is_tried_again_later(started):
    """A process that has come to nothing is not started again at once, but after an hour."""
    ask()
    mark = jit.mark_of("mining")
    for hours, n in ((0.5, 1), (1.1, 2)):
        then = time.time() - 3600 * hours
        os.utime(mark, (then, then))
        ask()
        assert len(started) == n


@pytest.mark.parametrize("value", ["now", "later"])
def test_nothing_is_started_where_it_is_not_wanted(started, monkeypatch, value):
    """The variable turns it off, as for all these tests."""
    monkeypatch.setenv("ITEMIX_COMPILE", value)
    ask()
    assert not started


def test_nothing_is_started_where_nothing_can_be_kept(started, monkeypatch, tmp_path):
    """A folder that is none is no reason for an error."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    ask()
    assert not started


def test_every_path_is_done(monkeypatch, capsys, run):
    """Each path is counted, by one process or by several; a part that there is not is refused."""
    done = []
    paths = {"mining": {"itemsets": lambda: done.append("itemsets"), "rules": lambda: done.append("rules")}}
    monkeypatch.setattr(warmup, "PATHS", paths)
    monkeypatch.setattr(warmup, "_cores", lambda: [0])
    monkeypatch.setattr(jit, "mark_of", lambda _part: None)
    ran = run("warmup", "mining").err
    assert done == ["itemsets", "rules"]
    assert "compiling for this machine, once (1 of 2): itemsets\n" in ran
    assert "compiling for this machine, once (2 of 2): rules\n" in ran
    assert "kept in " in ran
    assert run("warmup", "everything").err.startswith("itemix: expected PART")


def test_linear_kernels_are_compiled(monkeypatch, tmp_path):
    """After the path of reading, a process of its own finds the kernels that reading needs compiled."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    script = (
        "from itemix.cli.warmup import compile_path\n"
        "from itemix.kernels import csr\n"
        "compile_path(('mining', 'reading')) if {compile} else None\n"
        "print(csr.item_counts.is_compiled(), csr.is_canonical.is_compiled(), csr.add_seed.is_compiled())"
    )
    for compiles in (True, False):
        command = [sys.executable, "-c", script.format(compile=compiles)]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
        assert ran.stdout == "True True False\n"
