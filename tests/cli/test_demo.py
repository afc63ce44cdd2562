"""`itemix demo`: the whole story on built-in data."""

import re

HEADINGS = (
    "A grocery store",
    "What is bought together",
    "What goes with what",
    "Why people come",
    "One model for all itemsets",
    "Any other question",
    "What to offer next",
    "Now with your own data",
)


def test_the_story_in_a_pipe(run):
    """Plain text: every section, real numbers, no colours, no bars, no blanks at line ends."""
    result = run("demo")
    assert result.code == 0
    lines = result.out.splitlines()
    begun = [heading for heading in HEADINGS if any(line.startswith(heading) for line in lines)]
    assert begun == list(HEADINGS)
    assert "\x1b" not in result.out
    assert "━" not in result.out
    assert all(line == line.rstrip() for line in lines)
    assert "   38.2%  whole milk" in lines
    assert any(line.startswith(" 869 of them are maximal") and "2,061 closed" in line for line in lines)
    assert " 18.4         98%  sausages + lighter fluid -> charcoal" in lines
    assert re.search(r"^ +[45]\d% +\d\.\d  salsa$", result.out, flags=re.MULTILINE)
    assert re.search(r"^ +\d+\.\d%  tortillas \d\d%, salsa \d\d%", result.out, flags=re.MULTILINE)
    assert re.search(
        r"^ +\d+\.\d% +\d+\.\d% to \d+\.\d% +12\.\d%  beer, given diapers$", result.out, flags=re.MULTILINE
    )
    assert re.search(r"all 2,075 itemsets in 1% of the baskets, exactly, in \d+ ms", result.out)


def test_three_commands_to_go_on_with(run):
    """It ends with commands that exist, with options that exist."""
    commands = re.findall(r"^  \$ itemix (.+)$", run("demo").out, flags=re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        name, _source, *rest = command.split()
        documented = run(name, "--help").out
        assert all(option in documented for option in rest if option.startswith("-"))


def test_the_story_on_a_terminal(run, monkeypatch):
    """With colours and bars, in lines that fit."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "72")
    out = run("demo").out
    assert "\x1b[1;36mA grocery store" in out
    assert "━━━━━━" in out
    assert all(len(re.sub(r"\x1b\[[\d;]*m", "", line)) <= 72 for line in out.splitlines())
