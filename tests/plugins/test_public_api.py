"""Third-party suites need nothing but the public API, and the template shows no other."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    [
        *(path for suite in ("randhie", "wagepanel") for path in (ROOT / f"plugins/hbench-{suite}").rglob("*.py")),
        *(ROOT / "hbench" / "cli" / "templates").rglob("*.py.tmpl"),
    ]
)


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_public_names_are_imported(file: Path) -> None:
    tree = ast.parse(file.read_text().replace("<<package>>", "the_package"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not [name.name for name in node.names if name.name.partition(".")[0] == "hbench"]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "hbench":
            for name in node.names:
                assert name.name in importlib.import_module(str(node.module)).__all__, f"{node.module}.{name.name}"
