from __future__ import annotations

import statistics
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import click
import pytest

from hbench.cli import main as module
from hbench.cli.main import COMMANDS, main
from hbench.core import SpecError

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
    "jinja2",
    "rich",
}


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "hbench.cli.main", *args], capture_output=True, text=True, check=False)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom hbench.cli.main import main\nassert main(['--help']) == 0\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & HEAVY
    assert not [name for name in loaded if name.startswith("hbench_")], "help loads no plugin"
    for name, summary in COMMANDS.items():
        assert name in done.stdout
        assert summary.split(maxsplit=1)[0] in done.stdout


@pytest.mark.slow
def test_help_takes_a_quarter_of_a_second() -> None:
    def seconds(*command: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], capture_output=True, check=True)
        return time.perf_counter() - start

    # What a bare interpreter takes here and now tells how busy the machine is.
    bare = statistics.median(seconds("-c", "pass") for _ in range(7))
    help_ = statistics.median(seconds("-m", "hbench.cli.main", "--help") for _ in range(7))
    assert help_ < max(0.25, 8 * bare)


def test_the_users_mistake_is_one_message(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "surv_resp_prd"]) == 2
    told = capsys.readouterr().err
    assert "there is no task 'surv_resp_prd'" in told
    assert "surv_resp_pred" in told
    assert "Traceback" not in told


def test_a_fault_of_the_program_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbench.spec.discover", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["ls", "tasks"])


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            SpecError("it is wrong", file="a.yaml", line=3, hint="Mend it."),
            2,
            "hbench: a.yaml:3: it is wrong\n  Mend it.",
        ),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, message: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("hbench.spec.discover", fail)
    assert main(["ls", "tasks"]) == code
    assert message in capsys.readouterr().err


def test_unknown_command_names_the_nearest() -> None:
    done = run("evl")
    assert done.returncode == 2
    assert "Did you mean 'eval'?" in done.stderr


def test_a_reader_that_leaves_early_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m hbench.cli.main schema | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def plugin(name: str, hook: Any) -> tuple[Any, Any]:
    return SimpleNamespace(name=name, distribution=f"dist-{name}"), SimpleNamespace(hbench_commands=hook)


def adds(*names: str) -> Any:
    def hook(group: click.Group) -> None:
        for name in names:
            group.add_command(click.Command(name, callback=partial(click.echo, f"this is {name}")))

    return hook


def test_plugins_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def crash(group: click.Group) -> None:
        raise RuntimeError("no good")

    found = [plugin("one", adds("first", "both")), plugin("two", crash), plugin("three", adds("third", "both", "eval"))]
    monkeypatch.setattr("hbench.plugin.plugin_modules", lambda *_: found)
    assert main(["first"]) == 0
    assert main(["third"]) == 0
    told = capsys.readouterr()
    assert told.out == "this is first\nthis is third\n"
    assert "the commands of two (dist-two) fail: RuntimeError('no good')" in told.err
    assert main(["both"]) == 2
    assert "several plugins bring the command 'both': one (dist-one), three (dist-three)" in capsys.readouterr().err
    assert module.cli.get_command(click.Context(module.cli), "eval").callback is not None  # type: ignore[union-attr,attr-defined]


def test_the_choice_of_plugins_reaches_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setattr(os, "environ", dict(os.environ))
    assert main(["--no-plugin", "behaviorbench", "--strict-plugins", "schema"]) == 0
    assert os.environ["HBENCH_NO_PLUGINS"] == "behaviorbench"
    assert os.environ["HBENCH_STRICT_PLUGINS"] == "1"
