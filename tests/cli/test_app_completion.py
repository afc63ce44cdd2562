"""Shell completion: the scripts, and what they are offered."""

import os
import shutil
import subprocess
import sys

import pytest

from itemix.data.catalogue import CATALOGUE


def offered(run, monkeypatch, *words):
    """Return what bash is offered for the last of the words."""
    monkeypatch.setenv("_ITEMIX_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["itemix", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    result = run()
    assert (result.code, result.err) == (0, "")
    return result.out.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["mi"], ["mine"]),
        (["mine", "--target", ""], ["all", "closed", "maximal", "generators"]),
        (["mine", "--target", "c"], ["closed"]),
        (["mine", "a.csv", "--min-"], ["--min-support", "--min-len"]),
        (["mine", "--sort", "l"], ["length", "lift"]),
        (["mine", "-f", "on"], ["onehot"]),
        (["rules", "--metric", "le"], ["leverage"]),
        (["datasets", "show", "mush"], ["mushroom"]),
        (["datasets", "f"], ["fetch"]),
    ],
)
def test_words_are_offered(run, monkeypatch, words, expected):
    """Commands, options, choices and the names of data sets are completed."""
    assert offered(run, monkeypatch, *words) == expected


def test_files_are_left_to_the_shell(run, monkeypatch):
    """Where a file is expected nothing is offered, and the shell offers its own."""
    assert offered(run, monkeypatch, "mine", "gro") == []
    assert offered(run, monkeypatch, "mine", "a.csv", "-o", "") == []


def test_data_sets_are_offered_as_sources(run, monkeypatch):
    """After `dataset` come all data sets."""
    assert offered(run, monkeypatch, "mine", "dataset") == [f"dataset:{name}" for name in CATALOGUE]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_with_the_script(tmp_path):
    """The script for bash works in bash: it offers choices, and leaves file names to bash."""
    program = tmp_path / "itemix"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m itemix "$@"\n')
    program.chmod(0o755)
    script = """
        eval "$(_ITEMIX_COMPLETE=source_bash itemix)"
        COMP_WORDS=(itemix mine --target ma); COMP_CWORD=3; _itemix_completion itemix; echo "${COMPREPLY[@]}"
        complete -p itemix
    """
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603 - our own script
        ["bash", "--norc", "-c", script],  # noqa: S607 - the bash of this machine
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout == "maximal\ncomplete -o default -F _itemix_completion itemix\n"
