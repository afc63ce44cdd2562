"""The layout stays one that people find their way in: how many modules, their names, how they import."""

import ast
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
        path.read_text(encoding="utf-8")
    )
    for path in sorted((SOURCE / "itemix").rglob("*.py"))
}


def imports(tree):
    """The modules of ours that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "itemix":
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module


def for_types_only(tree):
    """The statements under ``if TYPE_CHECKING``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from node.body


def test_rooms():
    """At most 157 modules, ten of them in the root, and few that only one other module asks for."""
    # Groups are a family of their own: a kernel, a model and an inference beside every mixture.
    # Assistants need what no other module may import: the SDK of their protocol.
    # The front door stands before all families, and so in no file of one of them.
    # Segments are asked for by fitted models and by the explorer, which has views of them.
    assert len(MODULES) <= 157
    assert len(list((SOURCE / "itemix").glob("*.py"))) <= 10
    asked_by = defaultdict(set)
    for name, tree in MODULES.items():
        for other in imports(tree):
            asked_by[other].add(name)
    assert sum(len(names - {name}) == 1 for name, names in asked_by.items()) <= 40


def test_layers():
    """The import contract has at most twelve layers and no exceptions."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    assert len(contract["layers"]) <= 12
    assert "ignore_imports" not in contract


def test_no_cycles():
    """No module imports itself by way of others, local imports counted; saving is named, not imported."""
    asks = {}
    for name, tree in MODULES.items():
        needed = Counter(imports(tree))
        for statement in for_types_only(tree):
            needed.subtract(imports(statement))
        asks[name] = {other for other, n in needed.items() if n > 0} - {name, "itemix"}
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            path.append(name)
            for other in sorted(asks[name]):
                visit(other)
            done.add(path.pop())

    for name in MODULES:
        visit(name)


def test_one_name_one_thing():
    """No class or alias of a type has the name of another one."""
    homes = defaultdict(set)
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].add(module)
        for node in [*tree.body, *for_types_only(tree)]:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
                target = node.targets[0]
                if isinstance(target, ast.Name) and target.id[0].isupper() and not target.id.isupper():
                    homes[target.id].add(module)
    assert {name: sorted(modules) for name, modules in homes.items() if len(modules) > 1} == {}
