"""Scores in experiment trackers: what is written, and that answers are not."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hbench.cli.main import main
from hbench.core import Completion, SelectionError
from hbench.interop.logged_run import LoggedRun, logged_run
from hbench.interop.loggers import make_logger
from hbench.plugin import Registry, default_registry
from hbench.plugin.scope import ComponentInfo
from hbench.run.evaluate import prepare, run
from hbench.run.plan import Settings
from tests.interop.kinds import INVALID, Kinds


class Told:
    """A model with costs."""

    identity: Mapping[str, Any] = {"model": "told", "revision": "7"}
    reads = "messages"
    name = "told model"

    def unsupported(self, task: str) -> str | None:
        return "no play" if task == "kinds/play" else None

    async def answer(self, requests: Any, deliver: Any) -> None:
        for request in requests:
            for draw in request.draws:
                number = int(request.record.id[1:])
                text = "no letter" if number == 3 else '["yes"]'
                await deliver(request, draw, Completion(text, None, 100, 2, 0.25))

    async def aclose(self) -> None:
        pass


def told_run(kinds: Kinds, out: Path, tasks: str = "move,play") -> LoggedRun:
    job = prepare(tasks, [Told(), "uniform"], data=kinds.data, include_paths=[kinds.tasks], out=out)  # type: ignore[list-item]
    return logged_run(job, run(job))


def test_what_is_logged_of_a_run(kinds: Kinds, tmp_path: Path) -> None:
    logged = told_run(kinds, tmp_path / "run")
    model, baseline = logged.models
    assert (logged.name, model.label) == ("run", "told model")
    # All but one are said to move, that one has no valid draw and did not; twelve did.
    assert model.scalars["kinds/move/accuracy"] == 12 / 17
    assert model.scalars["kinds/move/valid"] == 17 / 18
    assert model.scalars["kinds/move/cost"] == 18 * 3 * 0.25
    assert model.scalars["kinds/move/tokens_in"] == 18 * 3 * 100
    assert model.scalars["total/tokens_out"] == 18 * 3 * 2
    assert model.config["identity"] == {"model": "told", "revision": "7"}
    assert model.config["unsupported"] == {"kinds/play": "no play"}
    assert not any(name.startswith("kinds/play") for name in model.scalars)
    assert not any("cost" in name for name in baseline.scalars)
    assert logged.config["tasks"]["kinds/move"]["draws"] == 3
    assert logged.config["synthetic"] is False
    told = json.dumps([logged.config, *(one.config for one in logged.models)])
    assert str(tmp_path) not in told
    assert "no letter" not in told


def test_cost_counts_the_draws_of_the_run_only(kinds: Kinds, tmp_path: Path) -> None:
    """A journal may hold more draws than a later call of the run takes."""
    told_run(kinds, tmp_path / "run", "move")
    settings = Settings(draws=1, limit=5)
    job = prepare(
        "move", [Told(), "uniform"], data=kinds.data, include_paths=[kinds.tasks], out=tmp_path / "run",
        settings=settings,
    )  # type: ignore[list-item]  # fmt: skip
    assert logged_run(job, run(job)).models[0].scalars["kinds/move/cost"] == 5 * 0.25


def test_tensorboard_reads_back_what_was_written(kinds: Kinds, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    logged = told_run(kinds, tmp_path / "run")
    logger = make_logger(f"tensorboard:{tmp_path / 'board'},step=300", default_registry())
    assert logger.log(logged) == f"tensorboard --logdir {tmp_path / 'board'}"
    for model in logged.models:
        events = EventAccumulator(str(tmp_path / "board/run" / model.slug))
        events.Reload()
        found = {tag: events.Scalars(tag) for tag in events.Tags()["scalars"]}
        assert set(found) == set(model.scalars)
        for tag, (event,) in found.items():
            assert event.step == 300
            assert event.value == pytest.approx(model.scalars[tag], rel=1e-6)
        (text,) = events.Tensors("configuration")
        content = text.tensor_proto.string_val[0].decode()
        assert json.loads(content)["model"] == model.label


def test_the_command_line(kinds: Kinds, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorboard")
    words = ["eval", "--tasks", "move", "--model", "uniform", "--data", str(kinds.data), "--include-path"]
    words += [str(kinds.tasks), "--out", str(tmp_path / "run"), "--log", f"tensorboard:{tmp_path / 'board'}"]
    assert main(words) == 0
    assert f"Logged: tensorboard --logdir {tmp_path / 'board'}" in capsys.readouterr().out
    assert len(list((tmp_path / "board/run/uniform").glob("events.out.tfevents.*"))) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("tensorboard", "where to"),
        ("tensorboard:DIR,stpe=3", "did you mean 'step'"),
        ("tensorboard:DIR,temperature=1", "mean nothing"),
        ("wandb", "which project"),
        ("wandb:project=x,api_key=abcdef", "keys come from the environment"),
        ("tensorboard DIR", "--log"),
    ],
)
def test_words_that_are_wrong_are_told_before_anything_is_asked(
    kinds: Kinds, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str, told: str
) -> None:
    command = ["eval", "--tasks", "move", "--model", "uniform", "--data", str(kinds.data), "--include-path"]
    assert main([*command, str(kinds.tasks), "--out", str(tmp_path / "run"), "--log", words]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_file_is_no_folder_for_events(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    (tmp_path / "board").write_text("x")
    with pytest.raises(SelectionError, match="board is no folder"):
        make_logger(f"tensorboard:{tmp_path / 'board'}", default_registry())


def test_wandb_wants_a_key_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.delenv("WANDB_MODE", raising=False)
    with pytest.raises(SelectionError, match="there is no key"):
        make_logger("wandb:project=x", default_registry())


class Collected:
    """A plugin's logger."""

    runs: list[LoggedRun] = []  # noqa: RUF012 - the test's own

    @classmethod
    def create(cls, argument: str, options: Mapping[str, Any]) -> Collected:
        assert (argument, dict(options)) == ("there", {"loud": True})
        return cls()

    def log(self, run: LoggedRun) -> str:
        self.runs.append(run)
        return "here"


def test_a_plugin_s_logger(kinds: Kinds, tmp_path: Path) -> None:
    registry = Registry([ComponentInfo("logger", "collected", "mine", f"{__name__}:Collected.create")])
    logger = make_logger("collected:there,loud=true", registry)
    logged = told_run(kinds, tmp_path / "run")
    assert logger.log(logged) == "here"
    answers = [row for row in logged.answers() if row["model"] == "told model"]
    assert len(answers) == 54
    assert answers[0] == {
        "task": "kinds/move", "model": "told model", "id": "p0", "prediction": '["yes"]', "draw": 0, "values": ["yes"],
    }  # fmt: skip


def log_records(content: bytes) -> Iterator[bytes]:
    """Yield the records of LevelDB's log format, in a file that is one block: checksum, length, kind (1: whole)."""
    assert len(content) < 2**15
    place = 7
    while place < len(content):
        _, length, kind = struct.unpack("<IHB", content[place : place + 7])
        assert kind == 1
        yield content[place + 7 : place + 7 + length]
        place += 7 + length


@pytest.mark.slow
@pytest.mark.parametrize("answers", [False, True])
def test_wandb_offline(kinds: Kinds, tmp_path: Path, answers: bool) -> None:
    """What would be sent is read back from the run's file: scores and configuration; answers where asked for."""
    pytest.importorskip("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    (tmp_path / "w").mkdir()
    # A process of its own, since wandb keeps the settings of its first run.
    done = subprocess.run(
        [
            sys.executable, "-m", "hbench", "eval", "--tasks", "move", "--data", kinds.data,
            "--include-path", kinds.tasks, "--model", "uniform",
            "--model", f"replay:{kinds.told(tmp_path / 'told')},label=told",
            "--out", tmp_path / "run", "--log", f"wandb:project=trial,step=5,answers={str(answers).lower()}",
        ],
        check=False, capture_output=True, text=True,
        env=os.environ | {"WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path / "w"), "A_TOKEN": "hush-hush-0123"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "w").rglob("*.wandb"))
    assert len(files) == 2
    kept = b"".join(file.read_bytes() for file in (tmp_path / "w").rglob("*") if file.is_file())
    assert (INVALID.encode() in kept) == answers
    assert b"hush-hush" not in kept
    values: dict[str, set[str]] = {}
    for file in files:
        for data in log_records(file.read_bytes()):
            record = Record()
            record.ParseFromString(data)
            for item in record.history.item:
                values.setdefault(item.key or "/".join(item.nested_key), set()).add(item.value_json)
    scores = json.loads((tmp_path / "run/scores.json").read_text())["rows"]
    for metric in ("accuracy", "macro_f1"):
        told = {float(value) for value in values[f"kinds/move/{metric}"]}
        assert told == {row["value"] for row in scores if row["metric"] == metric and row["target"] is None}
