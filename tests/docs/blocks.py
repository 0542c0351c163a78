"""Runs a guide: its shell blocks are executed, its titled blocks are the files that they name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Stands in for pip: what a guide installs is here already, or is a folder that needs nothing from elsewhere.
PIP = """#!{python}
import pathlib, shutil, subprocess, sys, sysconfig
*given, what = sys.argv[2:]
if sys.argv[1] == "uninstall":
    command = [{outer!r}, "-m", "pip", "--python", sys.executable, "uninstall", "--quiet", "--yes", what]
    sys.exit(subprocess.run(command).returncode)
if not pathlib.Path(what).is_dir():
    assert what.startswith(("hbench[", "'hbench[")), f"not here: {{what}}"
    sys.exit(0)
options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall"]
folder = str(pathlib.Path(what).resolve())
subprocess.run([{outer!r}, "-m", "pip", "--python", sys.executable, "install", *options, folder], check=True)
if "-e" in given:  # an editable install needs a package more; links do as well
    for package in pathlib.Path(what).glob("*/__init__.py"):
        installed = pathlib.Path(sysconfig.get_path("purelib"), package.parent.name)
        shutil.rmtree(installed)
        installed.symlink_to(package.parent.resolve())
"""


@dataclass(frozen=True)
class Block:
    """A fenced block: shell commands, or the content of the file `title`."""

    language: str
    title: str | None
    text: str
    line: int


def blocks(guide: Path) -> Iterator[Block]:
    """Yield the blocks of a guide."""
    text = guide.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        yield Block(found[1], found[2], found[3], text.count("\n", 0, found.start()) + 1)


class Shell:
    """A folder and an environment that sees the packages of the running one, so that a guide can install its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        self.bin = folder / "venv" / "bin"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        outer = sysconfig.get_path("purelib")
        # Unlike a bare path, this also follows the path files of the outer environment.
        (folder / "venv" / "lib" / version / "site-packages" / "outer.pth").write_text(
            f"import site; site.addsitedir({outer!r})\n"
        )
        python = self.bin / "python"
        self._script("pip", PIP.format(python=python, outer=sys.executable))
        self._script("hbench", f"#!{python}\nimport sys\nfrom hbench.cli.main import main\nsys.exit(main())\n")

    def run(self, block: Block) -> str:
        """Write a file, or run commands, and return what they say. Fails with the block's line in the guide."""
        if block.title is not None:
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            return ""
        assert block.language == "bash", f"line {block.line}: a block of {block.language} without a title"
        shell = shutil.which("bash") or "sh"
        done = subprocess.run(
            [shell, "-e", "-c", block.text],
            cwd=self.folder,
            env={**os.environ, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"line {block.line}:\n{block.text}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def install(self, what: Path) -> None:
        """Install a folder or a wheel, without what it needs."""
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall"]
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install"]
        subprocess.run([*pip, *options, str(what)], check=True)

    def _script(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
