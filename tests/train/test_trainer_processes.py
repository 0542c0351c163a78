"""Trainings as processes: killed and gone on with, and divided over several."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

for package in ("trl", "peft", "tensorboard"):
    pytest.importorskip(package)

from hbench.train.config import read_config  # noqa: E402
from hbench.train.trainer import train  # noqa: E402
from tests.train import tiny  # noqa: E402

pytestmark = pytest.mark.slow


def _command(base: Path, data: Path, out: Path, given: dict[str, Any]) -> list[str]:
    words = ["sft", "train", "--model", str(base), "--data", str(data), "--out", str(out), "--loss", "ntl"]
    settings = [word for name, value in (tiny.FAST | given).items() for word in ("--set", f"{name}={value}")]
    return ["-m", "hbench", *words, *settings, "--include-path", str(data / "tasks")]


def _start(words: list[str]) -> subprocess.Popen[str]:
    # One thread, as in the other tests; a launcher of several processes looks for the package from its folder.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "ACCELERATE_USE_CPU": "true"}
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _finished(words: list[str]) -> str:
    process = _start(words)
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 0, said
    return said


def _manifest(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "manifest.json").read_text())
    return found


def test_a_training_that_was_killed_goes_on_by_the_same_command(tmp_path: Path) -> None:
    base, data = tiny.base(tmp_path / "base"), tiny.examples(tmp_path / "data")
    given = {"max_steps": 60, "eval_every": 5, "eval_records": 2, "lora_dropout": 0.1, "patience": 0}
    command = [sys.executable, *_command(base, data, tmp_path / "killed", given)]
    killed = _start(command)
    checkpoints = tmp_path / "killed" / "checkpoints"
    deadline = time.monotonic() + 600
    while not list(checkpoints.glob("*/trainer_state.json")) and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    killed.kill()
    said, _ = killed.communicate()
    assert list(checkpoints.glob("*/trainer_state.json")), said
    assert _manifest(tmp_path / "killed")["status"] == "running"
    assert "going on from checkpoint-" in _finished(command)
    _finished([sys.executable, *_command(base, data, tmp_path / "whole", given)])
    again, whole = _manifest(tmp_path / "killed"), _manifest(tmp_path / "whole")
    assert [one["step"] for one in again["losses"]] == list(range(1, 61))
    for name in ("loss", "cross_entropy", "number_token_loss"):
        assert [one[name] for one in again["losses"]] == pytest.approx([one[name] for one in whole["losses"]], rel=1e-6)
    assert again["adapter"] == whole["adapter"]


def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    base, data = tiny.base(tmp_path / "base"), tiny.examples(tmp_path / "data", validation=5)
    # What `accelerate launch` starts on several devices.
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    given = {"max_steps": 4, "eval_every": 2}
    _finished([*launch, *_command(base, data, tmp_path / "two", given)])
    config = read_config(model=str(base), loss="ntl", **(tiny.FAST | given))
    train(config, data, tmp_path / "one", include_paths=[data / "tasks"])
    one, two = _manifest(tmp_path / "one"), _manifest(tmp_path / "two")
    assert (one["device"]["processes"], two["device"]["processes"]) == (1, 2)
    for name in ("loss", "cross_entropy", "number_token_loss"):
        assert [a[name] for a in two["losses"]] == pytest.approx([b[name] for b in one["losses"]], abs=1e-4)
    # Every record is answered once, by one process or the other.
    assert two["before"]["scores"] == one["before"]["scores"]
