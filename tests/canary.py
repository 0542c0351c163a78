"""A canary: every test runs with made-up keys in the environment, and nothing that it leaves behind may hold one.

Searched are the files that a test wrote (its own folder, the store, the cache, and what tests share), what it printed,
what it logged, and every error that was made. Not searched is what is compressed, and what other processes printed
without this one printing it again.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hbench.core.errors import HbenchError

MARK = "-".join(("hbench", "canary", ""))
"""What is searched for; put together here, so that copies of this file are no find."""
VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN")
"""Where the back ends look for keys; `test_canary` holds this to what they say."""
KEYS = {name: f"{MARK}{name.lower().replace('_', '-')}-5f3c9a17" for name in VARIABLES}
_BLOCK = 2**20


def leaks(folder: Path) -> list[str]:
    """Return the files below a folder that hold a canary."""
    return [
        str(path) for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink() and _holds(path)
    ]


def _holds(path: Path) -> bool:
    mark = MARK.encode()
    if mark in str(path).encode(errors="replace"):
        return True
    try:
        with path.open("rb") as stream:
            before = b""
            while block := stream.read(_BLOCK):
                if mark in before + block:
                    return True
                before = block[-len(mark) :]
    except (FileNotFoundError, PermissionError):  # a test of unreadable files; a file that its process has just removed
        return False
    return False


class _Listener(logging.Handler):
    """Keeps what was said with a key in it."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.hear("a log record", record.getMessage())
        if record.exc_info and record.exc_info[1] is not None:
            self.hear("a logged traceback", "".join(traceback.format_exception(record.exc_info[1])))

    def hear(self, what: str, text: str) -> None:
        if MARK in text:
            at = max(0, text.index(MARK) - 60)
            self.heard.append(f"{what}: ...{text[at : at + 120]!r}")


@pytest.fixture(autouse=True)
def canary(
    request: pytest.FixtureRequest,
    _own_store: Path,
    _shared_folders: set[Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """Set the keys, and fail where one is found afterwards."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    listener = _Listener()
    read, make = pytest.CaptureFixture.readouterr, HbenchError.__init__

    def readouterr(fixture: Any) -> Any:
        captured = read(fixture)
        listener.hear("output", f"{captured.out}{captured.err}")
        return captured

    def made(error: HbenchError, message: str, **about: Any) -> None:
        make(error, message, **about)
        listener.hear("an error", str(error))

    monkeypatch.setattr(pytest.CaptureFixture, "readouterr", readouterr)
    monkeypatch.setattr(HbenchError, "__init__", made)
    ours = logging.getLogger("hbench")
    level = ours.level
    ours.setLevel(logging.DEBUG)
    logging.getLogger().addHandler(listener)
    yield
    logging.getLogger().removeHandler(listener)
    ours.setLevel(level)
    folders = [_own_store, *(path for path in [request.node.funcargs.get("tmp_path")] if path is not None)]
    _shared_folders.update(folders)
    found = listener.heard + [f"a file: {path}" for folder in folders for path in leaks(folder)]
    if found:
        pytest.fail("a key was given away in " + "; ".join(found), pytrace=False)


@pytest.fixture(scope="session")
def _shared_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[set[Path]]:
    """Yield the folders that were searched after their tests; search the others, which tests share, at the end."""
    searched: set[Path] = set()
    yield searched
    rest = [path for path in tmp_path_factory.getbasetemp().iterdir() if path.is_dir() and path not in searched]
    found = [path for folder in rest if not folder.is_symlink() for path in leaks(folder)]
    if found:
        pytest.fail(f"a key was given away in files that tests share: {', '.join(found)}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    """Fail a test whose output, where pytest captured it, holds a key."""
    report = yield
    told = [title for title, text in report.sections if MARK in text]
    if report.when == "teardown" and report.passed and told:
        report.outcome = "failed"
        report.longrepr = f"a key was given away in: {', '.join(told)}"
    return report
