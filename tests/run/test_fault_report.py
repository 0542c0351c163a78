"""What went wrong at a server is told by kind and count: at the end of `eval`, and by every report of the run."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hbench.cli.main import main
from hbench.model import http
from hbench.run.asked import in_words
from hbench.run.journal import Journal
from hbench.testing import MockServer
from tests.canary import MARK

SCHEDULE = [
    "500",
    "429",
    "500",
    "truncated_json",
    "half_close",
    "error_body",
    "hang",
    "400",
    "wrong_content_type",
    "500",
]


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "backoff", lambda *_, **__: 0.01)


def eval_words(toy: Any, server: MockServer, **options: Any) -> list[str]:
    given = {"base_url": server.url, "timeout": 2, "concurrency": 1, "patience": 60, **options}
    model = "openai:m," + ",".join(f"{name}={value}" for name, value in given.items())
    return ["eval", "--tasks", "spend", "--data", str(toy.data), "--include-path", str(toy.tasks), "--out",
            str(toy.root / "run"), "--model", model]  # fmt: skip


def counts_in(text: str) -> dict[str, int]:
    """Read ``3 http_500, 1 timeout``."""
    return {name: int(count) for count, name in re.findall(r"(\d+) ([a-z_0-9]+)", text)}


def test_failures_are_told_by_kind_and_count(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    expected = {
        "http_500": 3, "http_429": 1, "invalid_json": 1, "incomplete_body": 1, "error_body": 1, "timeout": 1,
        "http_400": 1, "wrong_content_type": 1,
    }  # fmt: skip
    with MockServer(answer="[3]", schedule=SCHEDULE) as server:
        assert main(eval_words(toy, server, attempts=1)) == 0
        shown = capsys.readouterr()
        told = re.search(r"^openai:m: 10 requests failed: (.*); the same command", shown.err, re.MULTILINE)
        assert told is not None, shown.err
        assert counts_in(told[1]) == expected
        for words in (["report", "--stored"], ["report", "--draws-bootstrap", "20"]):
            assert main([words[0], str(toy.root / "run"), *words[1:]]) == 0
            lines = capsys.readouterr().out
            assert {
                name: int(count) for count, name in re.findall(r"m: (\d+) invalid, (\w+) \(first", lines)
            } == expected
        assert main(["report", str(toy.root / "run"), "--format", "json", "--stored"]) == 0
        stored = json.loads(capsys.readouterr().out)
        assert {about["reason"]: about["count"] for about in stored["invalid"]} == expected
        assert main(["report", str(toy.root / "run"), "--analysis", "invalid", "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert {row["reason"]: row["count"] for row in rows if row["stage"] == "request"} == expected
        # The same command asks for what failed, and only for that.
        before = server.stats.requests
        assert main(eval_words(toy, server, attempts=1)) == 0
        assert server.stats.requests == before + 10
        assert "failed" not in capsys.readouterr().err
    with_answers = Journal(toy.root / "run" / "journal.sqlite")
    try:
        assert len(with_answers) == 60
    finally:
        with_answers.close()


def test_retries_that_succeeded_are_told_too(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    schedule = [fault for fault in SCHEDULE if fault != "400"]
    with MockServer(answer="[3]", schedule=schedule) as server:
        assert main(eval_words(toy, server, attempts=20)) == 0
        assert server.stats.answered == 60
        assert server.stats.repeated == 0
    shown = capsys.readouterr().err
    told = re.search(r"^openai:m: 9 tries failed and were made again: (.*)\.$", shown, re.MULTILINE)
    assert told is not None, shown
    assert counts_in(told[1]) == {
        "http_500": 3, "http_429": 1, "invalid_json": 1, "incomplete_body": 1, "error_body": 1, "timeout": 1,
        "wrong_content_type": 1,
    }  # fmt: skip
    assert "requests failed" not in shown


def test_a_model_that_gives_up_tells_of_its_failures_as_well(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with MockServer(answer="[3]", schedule=["500", "500", "401"]) as server:
        assert main(eval_words(toy, server, attempts=1)) == 1
    shown = capsys.readouterr().err
    assert "openai:m gave up" in shown
    assert "HTTP 401" in shown
    assert "openai:m: 2 requests failed: 2 http_500;" in shown


def test_counts_are_ordered() -> None:
    assert in_words(Counter(b=2, a=2, c=1000)) == "1,000 c, 2 a, 2 b"
    assert in_words({}) == ""


def test_the_folder_of_the_run_holds_no_key(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server quotes the key in its refusal; what is kept of it shows none."""
    monkeypatch.setenv("OPENAI_API_KEY", f"{MARK}quoted-by-the-server")
    with MockServer(answer="[3]", key="another") as server:
        assert main(eval_words(toy, server)) == 1
    for path in Path(toy.root, "run").rglob("*"):
        assert path.is_dir() or b"canary" not in path.read_bytes(), path
