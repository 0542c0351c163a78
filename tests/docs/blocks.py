"""Runs a guide: its shell and Python blocks are executed, its titled blocks are the files that they name.

What a block says is compared with the ``text`` block that follows it: its lines must come in this order, and a line
``...`` stands for any others. A block that cannot run here has a comment before it, ``<!-- not run: REASON -->``.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"^```(?P<language>\w*)(?: title=\"?(?P<title>[^\s\"]+)\"?)?\n(?P<text>.*?)^```$"
    r"(?:\n+```text\n(?P<shown>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)

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
    """A fenced block: shell commands, Python, or the content of the file `title`."""

    language: str
    title: str | None
    text: str
    line: int
    reason: str | None = None
    """Why it is not run."""
    shown: str | None = None
    """What the page says that it prints."""


def all_blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page, those without a language and those that are not run among them."""
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield Block(found["language"], found["title"], found["text"], line, found["reason"], found["shown"])


def blocks(guide: Path) -> Iterator[Block]:
    """Yield the blocks of a guide that are run."""
    for block in all_blocks(guide):
        if block.language and block.reason is None:
            yield block


def missing_lines(shown: str, said: str) -> Iterator[str]:
    """Yield the shown lines that were not said after the one before; ``...`` stands for a line's rest."""
    lines = iter([line.rstrip() for line in said.splitlines()])
    for wanted in (line.rstrip() for line in shown.splitlines()):
        if wanted in ("", "..."):
            continue
        start, cut, _ = wanted.partition("...")
        if not any(line.startswith(start) if cut else line == wanted for line in lines):
            yield wanted


class Shell:
    """A folder and an environment that sees the packages of the running one, so that a guide can install its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self._groups: list[int] = []
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
        if block.language == "python":
            command = [str(self.bin / "python"), "-c", block.text]
        else:
            assert block.language == "bash", f"line {block.line}: a block of {block.language} without a title"
            command = [shutil.which("bash") or "sh", "-e", "-c", block.text]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**os.environ, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that what runs on behind it can be ended
        )
        self._groups.append(process.pid)
        out, err = process.communicate()
        assert process.returncode == 0, f"line {block.line}:\n{block.text}\n{out}\n{err}"
        if block.shown is not None:
            missing = next(missing_lines(block.shown, out + err), None)
            assert missing is None, f"line {block.line}: it does not say {missing!r}, but\n{out}\n{err}"
        return out + err

    def stop(self) -> None:
        """End what blocks have left running."""
        for group in self._groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)

    def install(self, what: Path) -> None:
        """Install a folder or a wheel, without what it needs."""
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall"]
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install"]
        subprocess.run([*pip, *options, str(what)], check=True)

    def _script(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
