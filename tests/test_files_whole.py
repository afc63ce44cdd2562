import os
import re
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import itemix
from itemix import InvalidInputError, _files
from itemix._files import remove_unfinished, replacing
from itemix.errors import OutputError


def test_the_file_appears_when_it_is_complete(tmp_path):
    """Until then the old one is there, and afterwards no temporary file."""
    path = tmp_path / "out.csv.gz"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert temporary.name.endswith(".csv.gz")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_file_stays_when_something_fails(tmp_path):
    """The temporary file is removed, whatever went wrong."""
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text(f"half, {1 / 0}")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_errors_of_itemix_pass_through(tmp_path):
    """What is refused while writing is not taken for a full disk."""
    with pytest.raises(InvalidInputError, match="not this"), replacing(tmp_path / "out"):
        raise InvalidInputError("not this")


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are Unix's")
def test_the_mode_is_that_of_the_old_file_or_the_usual_one(tmp_path):
    """A file that only its owner may read stays so."""
    path = tmp_path / "out"
    old_mask = os.umask(0o022)
    try:
        with replacing(path) as temporary:
            temporary.write_text("x")
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    with replacing(path) as temporary:
        temporary.write_text("y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights on Windows")
def test_a_link_is_followed(tmp_path):
    """The file that a link names is replaced, not the link."""
    path, link = tmp_path / "real", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_bad_targets_are_refused(tmp_path):
    """The folder must be there, and the file must not be a folder."""
    with pytest.raises(
        InvalidInputError, match=r"expected an existing folder to write to, got '.*nope'; create it"
    ):
        replacing(tmp_path / "nope" / "out.csv").__enter__()
    with pytest.raises(
        InvalidInputError, match=r"expected a file to write to, got the folder .*; add a file name"
    ):
        replacing(tmp_path).__enter__()
    with pytest.raises(InvalidInputError, match="expected the name of a file, got 3; try"):
        replacing(3).__enter__()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_an_error():
    """A device is written directly, and stays a device."""
    message = r"expected to write '/dev/full', got No space left on device; nothing was changed"
    with pytest.raises(OutputError, match=message), replacing("/dev/full") as target:
        target.write_text("x" * 100_000)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are Unix's")
def test_a_full_disk_leaves_the_old_file(tmp_path):
    """With no more room, the old file stays, no temporary file stays, and the message says why."""
    path = tmp_path / "out.dat"
    path.write_text("old")
    script = """
        import resource, sys
        from itemix import ItemixError, Transactions, write_transactions
        transactions = Transactions.from_lists([[i, i + 1] for i in range(50_000)])
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            write_transactions(transactions, sys.argv[1])
        except ItemixError as error:
            print(type(error).__name__, error)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own script
    assert result.stdout.startswith(
        f"OutputError expected to write '{path}', got File too large; nothing was"
    )
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """The file is synced, then renamed, then its folder is synced: a power cut leaves the old or the new."""
    path, done = tmp_path / "out", []
    fsync, rename = os.fsync, Path.replace

    def noting_fsync(opened):
        kind = "folder" if stat.S_ISDIR(os.fstat(opened).st_mode) else "file"
        done.append((f"sync {kind}", os.fstat(opened).st_size if kind == "file" else None))
        fsync(opened)

    def noting_rename(self, target):
        done.append(("rename", None))
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(Path, "replace", noting_rename)
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(b"12345")
    assert done[:2] == [("sync file", 5), ("rename", None)]
    assert sys.platform == "win32" or done[2:] == [("sync folder", None)]


KILLED = """
    import os, signal, sys
    from itemix._files import replacing
    with replacing(sys.argv[1]) as temporary:
        temporary.write_text("half")
        print("writing", flush=True)
        if sys.argv[2] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        sys.stdin.read()
"""


def writer(path, then):
    """Start a process that writes half of a file, and dies or goes on when it is told."""
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path), then]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that a kill takes away")
def test_the_next_write_removes_what_a_kill_has_left(tmp_path):
    """What a killed process has left goes; what is being written, and what only looks alike, stays."""
    path = tmp_path / "out.csv.gz"
    others = [
        ".out.csv.gz-0123abc.tmp.csv.gz",
        ".out.csv.gz-0123abcd.tmp.csv",
        ".other.csv.gz-0123abcd.tmp.csv.gz",
    ]
    for name in others:
        (tmp_path / name).write_text("mine")
    with writer(path, "die") as killed:
        killed.communicate()
    assert len(list(tmp_path.iterdir())) == len(others) + 1
    with writer(path, "go on") as alive:
        assert len(list(tmp_path.iterdir())) == len(others) + 1
        with replacing(path) as temporary:
            temporary.write_text("whole")
        assert path.read_text() == "whole"
        alive.communicate("")
    assert alive.returncode == 0
    assert path.read_text() == "half"
    assert {file.name for file in tmp_path.iterdir()} == {path.name, *others}


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that a kill takes away")
def test_many_writers_of_one_name(tmp_path):
    """Processes that write the same name at once never take each other's files for left over ones."""
    script = """
        import sys
        from itemix._files import replacing
        for number in range(150):
            with replacing(sys.argv[1]) as temporary:
                temporary.write_text(sys.argv[2] * 1000)
    """
    path = tmp_path / "out"
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    writers = [subprocess.Popen([*command, letter]) for letter in "abcd"]  # noqa: S603 - our own script
    assert [process.wait(timeout=60) for process in writers] == [0, 0, 0, 0]
    assert len(set(path.read_text())) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_that_ends_removes_what_it_writes(tmp_path):
    """Files that are complete stay."""
    path = tmp_path / "out"
    with replacing(path) as temporary:
        temporary.write_text("done")
    unfinished = replacing(path)
    unfinished.__enter__().write_text("half")
    remove_unfinished()
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OutputError, match="got No such file"):
        unfinished.__exit__(None, None, None)
    assert path.read_text() == "done"


def test_all_files_are_written_by_one_function():
    """No module but this one renames files, and none writes a file without it."""
    source = Path(_files.__file__).parent
    writing = re.compile(
        r"\.write_(text|bytes)\(|\.open\(\"[wax]|os\.replace|(?<!result)\.to_csv\(|savefig\(\w*path"
    )
    for module in source.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        written = [line for line in text.splitlines() if writing.search(line) and ">>>" not in line]
        written = [line for line in written if "os.devnull" not in line]
        assert not written or "replacing" in text, (module, written)


@pytest.mark.parametrize(
    "name", ["a\x00b", "\ud800", "a" * 5000, "x/" * 3000], ids=["zero", "half", "long", "deep"]
)
def test_names_that_no_file_can_have(name):
    """Whatever reads or writes a file says so in one line."""
    model = itemix.Mixture([1.0], [[0.5]], ["a"])
    itemsets = itemix.mine([["a"]], 1)
    calls = [
        lambda: itemix.read_transactions(name),
        lambda: itemix.read_chunks(name),
        lambda: itemix.load(name),
        lambda: itemix.Itemsets.load(name + ".csv"),
        lambda: itemix.Rules.load(name + ".parquet"),
        lambda: itemix.write_transactions([["a"]], name + ".csv"),
        lambda: itemsets.save(name + ".jsonl"),
        lambda: model.save(name),
        lambda: itemix.write_report(model, name),
    ]
    for call in calls:
        with pytest.raises(
            InvalidInputError, match=r"^expected a name that a file can have, got [^\n]*; try [^\n]*$"
        ):
            call()
