"""Runs that die: by kill -9 at random points, by Ctrl-C, by SIGTERM."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.run.evaluate import evaluate
from hbench.run.execute import Stopped, run_until_stopped
from hbench.run.journal import Journal
from hbench.run.manifest import read_manifest
from hbench.testing.mock_server import MockServer, Question

RECORDS = 300
SLOTS = 16


def answer(question: Question) -> str:
    return f"[{sum(question.prompt.encode()) % 60}]"


def start(toy: Any, model: str, out: Path) -> subprocess.Popen[str]:
    words = [
        "eval",
        "--tasks",
        "spend",
        "--model",
        model,
        "--data",
        toy.data,
        "--include-path",
        toy.tasks,
        "--out",
        out,
    ]
    return subprocess.Popen(
        [sys.executable, "-c", "import sys; from hbench.cli.main import main; sys.exit(main())", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )


def wait_for(server: MockServer, answered: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while server.stats.answered < answered and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)


def durable(out: Path) -> int:
    if not (out / "journal.sqlite").exists():
        return 0
    journal = Journal(out / "journal.sqlite")
    try:
        return len(journal)
    finally:
        journal.close()


def die_and_resume(toy: Any, points: list[int]) -> None:
    with MockServer(answer=answer) as server:
        model = f"openai:m,base_url={server.url},concurrency={SLOTS}"
        whole = evaluate("spend", model, data=toy.data, include_paths=[toy.tasks], out=toy.root / "whole")
    for number, point in enumerate(points):
        out = toy.root / f"run{number}"
        with MockServer(answer=answer, latency=0.005) as server:
            model = f"openai:m,base_url={server.url},concurrency={SLOTS}"
            process = start(toy, model, out)
            wait_for(server, point, process)
            process.kill()
            process.communicate()
            time.sleep(0.05)
            answered, kept = server.stats.answered, durable(out)
            assert answered - kept <= SLOTS, "more than what was in flight is lost"
            before = server.stats.requests
            result = evaluate("spend", model, data=toy.data, include_paths=[toy.tasks], out=out)
            assert server.stats.requests - before == RECORDS - kept, "an answer that is durable was asked again"
            assert server.stats.repeated <= SLOTS
        assert result.scores == whole.scores
        files = [path.read_bytes() for path in sorted((out / "predictions").rglob("*.jsonl"))]
        assert files == [path.read_bytes() for path in sorted((whole.path / "predictions").rglob("*.jsonl"))]


def test_a_killed_run_goes_on(make_toy: Callable[[int], Any]) -> None:
    die_and_resume(make_toy(RECORDS), [90])


@pytest.mark.slow
def test_runs_killed_at_twenty_points_go_on(make_toy: Callable[[int], Any]) -> None:
    generator = random.Random(20)
    die_and_resume(make_toy(RECORDS), [generator.randrange(RECORDS) for _ in range(20)])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_says_how_to_go_on(make_toy: Callable[[int], Any], number: int, code: int) -> None:
    toy = make_toy(RECORDS)
    out = toy.root / "run"
    with MockServer(answer=answer, latency=0.02) as server:
        model = f"openai:m,base_url={server.url},concurrency={SLOTS}"
        process = start(toy, model, out)
        wait_for(server, 60, process)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == code
        assert "the same command goes on" in errors
        assert "Traceback" not in errors
        assert read_manifest(out)["status"] == "stopped"
        kept = durable(out)
        assert 0 < kept < RECORDS
        before = server.stats.requests
        evaluate("spend", model, data=toy.data, include_paths=[toy.tasks], out=out)
        assert server.stats.requests - before == RECORDS - kept


def test_a_stop_that_takes_its_time_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbench.run.execute._PATIENCE", 0.01)
    told: list[str] = []
    done: list[str] = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.2)
            done.append("chunk")

    with pytest.raises(Stopped):
        run_until_stopped(work, waiting=lambda: told.append("waiting"))
    assert told == ["waiting"]
    assert done == ["chunk"]


def test_a_lock_left_by_a_dead_process_is_no_hindrance(make_toy: Callable[[int], Any]) -> None:
    toy = make_toy(RECORDS)
    out = toy.root / "run"
    with MockServer(answer=answer, latency=1.5) as server:
        model = f"openai:m,base_url={server.url},concurrency={SLOTS}"
        first = start(toy, model, out)
        wait_for(server, 1, first)
        second = start(toy, model, out)
        _, errors = second.communicate(timeout=60)
        assert second.returncode == 2
        assert f"pid {first.pid} on {socket.gethostname()}, since 20" in errors
        first.kill()
        first.communicate()
    with MockServer(answer=answer) as server:
        model = f"openai:m,base_url={server.url},concurrency={SLOTS}"
        evaluate("spend", model, data=toy.data, include_paths=[toy.tasks], out=out)
