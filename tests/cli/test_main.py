from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from hbench.cli.main import COMMANDS
from hbench.core import SpecError

from .conftest import Hbench

HEAVY = {
    "numpy",
    "pydantic",
    "pandas",
    "polars",
    "pyarrow",
    "torch",
    "xgboost",
    "datasets",
    "lm_eval",
    "rich",
    "jinja2",
}


def loaded(*words: str) -> set[str]:
    """Return the modules that a command imports, in a process of its own."""
    code = f"import sys; from hbench.cli.main import main; code = main({words!r}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_help_imports_next_to_nothing() -> None:
    modules = loaded("--help")
    assert not modules & (HEAVY | {"yaml", "pluggy"})
    assert not any(name.startswith(("hbench.cli.", "hbench.spec", "hbench_")) for name in modules - {"hbench.cli.main"})


@pytest.mark.parametrize(
    "words", [("ls", "tasks"), ("ls", "tasks", "@policy", "--json"), ("ls", "metrics"), ("plugins",)]
)
def test_listing_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not loaded(*words) & HEAVY


def test_every_command_has_help(hbench: Hbench) -> None:
    listed = hbench("--help").out
    for command, summary in COMMANDS.items():
        assert command in listed
        assert summary.split()[0] in listed


def test_a_mistyped_command(hbench: Hbench) -> None:
    done = hbench("shwo")
    assert done.code == 2
    assert "Did you mean 'show'?" in done.err


@pytest.mark.parametrize("words", [("ls",), ("ls", "nothing"), ("ls", "tasks", "--jso"), ("show",), ("--no-such",)])
def test_usage_errors_exit_with_2(hbench: Hbench, words: tuple[str, ...]) -> None:
    assert hbench(*words).code == 2


def test_a_mistake_is_one_message_and_a_fault_keeps_its_traceback(
    hbench: Hbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistake(*_: object) -> None:
        raise SpecError("it is wrong", file="a.yaml", line=3, hint="Mend it.")

    monkeypatch.setattr("hbench.spec.discover", mistake)
    done = hbench("ls", "tasks")
    assert (done.code, done.err) == (2, "hbench: a.yaml:3: it is wrong\n  Mend it.\n")

    def fault(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("hbench.spec.discover", fault)
    with pytest.raises(ZeroDivisionError):
        hbench("ls", "tasks")


def test_a_disk_that_refuses_is_told_of_with_what_to_do(hbench: Hbench, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/data/x.parquet")

    monkeypatch.setattr("hbench.spec.discover", refuse)
    done = hbench("ls", "tasks")
    told = "hbench: /data/x.parquet: No space left on device\n  Free some space and run the same command again.\n"
    assert (done.code, done.err) == (2, told)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_in_good_order(
    hbench: Hbench, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    cleared: list[bool] = []

    def work(*_: object) -> None:
        try:
            os.kill(os.getpid(), number)
            time.sleep(60)
        finally:
            cleared.append(True)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("hbench.spec.discover", work)
    done = hbench("ls", "tasks")
    assert (done.code, done.err.lstrip()) == (code, "hbench: interrupted; the same command begins or goes on again\n")
    assert cleared == [True]
    assert signal.getsignal(signal.SIGTERM) is before
