"""No function takes more than eight positional parameters: what belongs together travels as one value."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import itemix

MOST = 8
ROOT = Path(itemix.__file__).parent


def _positional(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> int:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, _positional(node)
        elif isinstance(node, ast.Lambda):
            yield f"lambda in line {node.lineno}", _positional(node)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_function_takes_more_than_eight(path):
    """A function or kernel has at most eight positional parameters, self and cls not counted."""
    over = {name: count for name, count in _functions(path) if count > MOST}
    assert not over
