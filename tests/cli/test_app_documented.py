"""The guide to the command line has every command and every option, and no others."""

import re
from pathlib import Path

import pytest
import typer.main

from itemix.cli.app import app

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "command-line.md"
EVERYWHERE = {"--help", "-h"}


def commands_of(command, path):
    """Yield every command of the program with its options, by what is typed for it."""
    yield (
        path,
        {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)},
    )
    for name, child in getattr(command, "commands", {}).items():
        yield from commands_of(child, f"{path} {name}")


COMMANDS = dict(commands_of(typer.main.get_command(app), "itemix"))


def sections():
    """Return the text under each heading of the guide."""
    parts = re.split(r"^#+ (.+)$", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def options_in(text):
    """Return the options that the tables of a text describe in their first column."""
    cells = re.findall(r"^\| (`-.*?) \|", text, flags=re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(--?[\w-]+)`", cell)}


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_and_option_is_documented(path):
    """A command has a section; its options are there, or in a shared section that it names."""
    guide = sections()
    title = "What all commands share" if path == "itemix" else path
    assert title in guide, f"no section '{title}' in {GUIDE.name}"
    documented = options_in(guide[title])
    for shared in re.findall(r"\[([^][]+)\]\(#", guide[title]) if path != "itemix" else ():
        assert shared in guide, f"a link in '{title}' must have the title of a section, not '{shared}'"
        documented |= options_in(guide[shared])
    real = {name for name in COMMANDS[path] if name.startswith("-")} - EVERYWHERE
    assert documented - EVERYWHERE == real


def test_the_guide_describes_commands_that_exist():
    """A section on a command that was removed must go too."""
    assert {title for title in sections() if title.startswith("itemix ")} == COMMANDS.keys() - {"itemix"}
