"""Environments into which small packages are really installed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PACKAGES = Path(__file__).parent / "packages"


def build_wheel(project: Path, out: Path) -> Path:
    """Write a wheel of a pure package. A build back end would do the same, but is not there in every environment."""
    about = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    name, version = about["name"].replace("-", "_"), about["version"]
    info = f"{name}-{version}.dist-info"
    files = {
        str(path.relative_to(project)): path.read_bytes()
        for path in sorted(project.rglob("*"))
        if path.is_file() and path.parent != project and "__pycache__" not in path.parts
    }
    entry_points = [
        line
        for group, entries in about["entry-points"].items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    metadata = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {version}"]
    wheel = ["Wheel-Version: 1.0", "Generator: tests", "Root-Is-Purelib: true", "Tag: py3-none-any"]
    for file, lines in (("METADATA", metadata), ("WHEEL", wheel), ("entry_points.txt", entry_points)):
        files[f"{info}/{file}"] = "\n".join([*lines, ""]).encode()
    record = [f"{file},sha256={_digest(content)},{len(content)}" for file, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    path = out / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)
    return path


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


@dataclass
class Environment:
    """A virtual environment on top of the running one."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    def install(self, *packages: str) -> None:
        wheels = [str(build_wheel(PACKAGES / package, self.folder)) for package in packages]
        self._pip("install", "--no-deps", "--no-index", *wheels)

    def uninstall(self, *packages: str) -> None:
        self._pip("uninstall", *packages)

    def run(self, *arguments: str, code: int | None = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `hbench`; `code` is the exit code that is expected."""
        done = subprocess.run(
            [str(self.python), "-m", "hbench.cli.main", *arguments],
            cwd=self.folder,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert code is None or done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return done

    def names(self, what: str = "tasks", *arguments: str) -> list[str]:
        return [row["name"] for row in self.rows("ls", what, *arguments)]

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self.run(*arguments, "--json").stdout)
        return rows

    def plugin(self, name: str) -> dict[str, Any]:
        (found,) = (row for row in self.rows("plugins") if row["name"] == name)
        return found

    def _pip(self, action: str, *arguments: str) -> None:
        if uv := shutil.which("uv"):
            command = [uv, "pip", action, "--quiet", "--python", str(self.python), *arguments]
        else:
            yes = ["--yes"] if action == "uninstall" else []
            command = [sys.executable, "-m", "pip", "--python", str(self.python), action, "--quiet", *yes, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Environment]:
    """Make an environment that sees the running one's packages, editable ones too."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    library = tmp_path / "venv" / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    outer = sysconfig.get_path("purelib")
    # Unlike a bare path, this also follows the path files of the outer environment.
    (library / "outer.pth").write_text(f"import site; site.addsitedir({outer!r})\n")
    yield Environment(tmp_path)
    shutil.rmtree(tmp_path / "venv")
