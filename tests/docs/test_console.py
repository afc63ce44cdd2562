"""Sessions in a shell are true: commands that the documentation shows with their output give that output."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from itemix.cli import main

ROOT = Path(__file__).parents[2]
SECONDS = re.compile(r"\d+\.\d+ s\b")


def sessions():
    """Yield each command of itemix that is shown with output, the output, and the page."""
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for sample in re.split(r"^\$ ", block, flags=re.MULTILINE):
                command, _, output = sample.partition("\n")
                if command.startswith("itemix ") and output:
                    yield pytest.param(command, output, id=f"{page.name}: {command}")


@pytest.mark.data("groceries/groceries.csv")
@pytest.mark.parametrize(("command", "output"), list(sessions()))
def test_sessions_show_what_is_printed(command, output, data_folder, tmp_path, monkeypatch, capfd):
    """What standard error and standard output get is what the page shows, up to the time that it took."""
    shutil.copy(data_folder / "groceries/groceries.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) == 0
    printed = capfd.readouterr()
    assert SECONDS.sub("0 s", printed.err + printed.out) == SECONDS.sub("0 s", output)
