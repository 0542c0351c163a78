"""Versions of code: they change with all that a component is made of, and with nothing else."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from hbench.data.code import code_version, folder_version


def load(file: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


FILES = {
    "suite_{n}/__init__.py": "",
    "suite_{n}/steps/__init__.py": "",
    "suite_{n}/steps/trims.py": (
        "from typing import TYPE_CHECKING\n"
        "from ..codes import LABELS\n"
        "from . import shared\n"
        "if TYPE_CHECKING:\n    from suite_{n} import types\n"
        "def step():\n    import suite_{n}.late\n"
    ),
    "suite_{n}/steps/shared.py": "import json",
    "suite_{n}/steps/other.py": "",
    "suite_{n}/codes.py": "from suite_{n}.deep import x\nLABELS = x",
    "suite_{n}/deep.py": "x = 1",
    "suite_{n}/late.py": "",
    "suite_{n}/types.py": "",
    "suite_{n}/apart.py": "",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], str]:
    """Write a package in which one file may differ, and return the version of its step."""
    number = iter(range(100))

    def version(changed: str | None) -> str:
        n = next(number)
        root = tmp_path / str(n)
        for name, text in FILES.items():
            file = root / name.format(n=0)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.format(n=0) + ("\n# changed" if file.name == changed else ""))
        monkeypatch.syspath_prepend(root)
        for name in [name for name in sys.modules if name.partition(".")[0] == "suite_0"]:
            del sys.modules[name]
        return code_version(importlib.import_module("suite_0.steps.trims").step)

    return version


@pytest.mark.parametrize("name", ["trims.py", "shared.py", "codes.py", "deep.py", "late.py"])
def test_what_a_component_is_made_of_counts(package: Callable[[str | None], str], name: str) -> None:
    assert package(None) == package(None) != package(name)


@pytest.mark.parametrize("name", ["other.py", "types.py", "apart.py"])
def test_the_rest_of_the_package_does_not(package: Callable[[str | None], str], name: str) -> None:
    assert package(None) == package(name)


def test_a_loose_script_counts_alone_with_what_it_imports_beside_it(tmp_path: Path) -> None:
    versions = []
    for n, (helper, neighbour) in enumerate([("x = 1", ""), ("x = 1", "changed = 1"), ("x = 2", "")]):
        folder = tmp_path / str(n)
        folder.mkdir()
        (folder / "script.py").write_text("def step():\n    import helper\n")
        (folder / "helper.py").write_text(helper)
        (folder / "neighbour.py").write_text(neighbour)
        (folder / "broken.py").write_text("def")
        versions.append(code_version(load(folder / "script.py", f"loaded_{n}").step))
    assert versions[0] == versions[1] != versions[2]


def test_a_version_of_its_own_counts_instead() -> None:
    class Source:
        version = "3"

    assert code_version(Source()) == "3"
    assert code_version(len) == "unknown"


def test_a_folder_counts_whole(tmp_path: Path) -> None:
    for n, name in enumerate(["a.py", "a.py", "b.py", "sub/a.py"]):
        file = tmp_path / str(n) / name
        file.parent.mkdir(parents=True)
        file.write_text("x = 1")
    versions = [folder_version(tmp_path / str(n)) for n in range(4)]
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3
