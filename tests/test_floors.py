"""No floor reaches up, not even by name at run time, where import-linter does not look."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
FLOORS = [layer for contract in CONTRACTS if contract["id"] == "floors" for layer in contract["layers"]]


def floor(module: str) -> int:
    """Return a module's height, 0 at the ground; the bare package composes all floors."""
    names = [layer for layer in FLOORS if module == layer or module.startswith(f"{layer}.")]
    return len(FLOORS) - FLOORS.index(names[0]) if names else len(FLOORS) + 1


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of every module of hbench that code imports, anywhere and by any means."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            for argument in node.args[:1]:
                # Of a formatted name the fixed beginning.
                head = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
                if isinstance(head, ast.Constant):
                    yield node.lineno, str(head.value).rstrip(".")


def climbs(module: str, tree: ast.AST) -> list[str]:
    return [
        f"{module}, line {line}: {name}"
        for line, name in imported(tree)
        if name.partition(".")[0] == "hbench" and name != "hbench" and floor(name) > floor(module)
    ]


@pytest.mark.parametrize(
    "code",
    [
        "import hbench.report",
        "def f():\n    from hbench.report.table import Table",
        "def f():\n    import_module('hbench.report').render()",
        "def f(name):\n    importlib.import_module(f'hbench.report.{name}')",
        "__import__('hbench.cli.main')",
    ],
)
def test_what_reaches_up_is_found(code: str) -> None:
    assert climbs("hbench.run.evaluate", ast.parse(code))
    assert not climbs("hbench.cli.eval", ast.parse(code))


def test_nothing_reaches_up() -> None:
    files = sorted((ROOT / "hbench").rglob("*.py"))
    assert len(files) > 100
    found = []
    for file in files:
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found += climbs(module, ast.parse(file.read_text(encoding="utf-8")))
    assert not found


def test_every_package_has_its_floor() -> None:
    packages = {f"hbench.{path.parent.name}" for path in (ROOT / "hbench").glob("*/__init__.py")}
    assert packages <= set(FLOORS)
