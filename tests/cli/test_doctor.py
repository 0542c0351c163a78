from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbench.cli.main import main
from hbench.plugin import PluginInfo, Registry

Rows = dict[str, dict[str, str]]


def examine(capsys: pytest.CaptureFixture[str]) -> tuple[int, Rows]:
    code = main(["doctor", "--json"])
    return code, {row["what"]: row for row in json.loads(capsys.readouterr().out)}


def test_a_sound_installation(capsys: pytest.CaptureFixture[str]) -> None:
    code, rows = examine(capsys)
    assert code == 0
    assert {row["status"] for row in rows.values()} <= {"ok", "note"}
    assert {"python", "extra data", "extra vllm", "store", "cache", "tasks", "plugin hbench"} <= set(rows)


def test_keys_are_never_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert main(["doctor"]) == 0
    told = capsys.readouterr()
    assert "sk-very-secret" not in told.out + told.err
    _, rows = examine(capsys)
    assert (rows["OPENAI_API_KEY"]["text"], rows["ANTHROPIC_API_KEY"]["text"]) == ("set", "not set")


def test_what_is_wrong_is_bad(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.yaml").write_text("task: [")
    monkeypatch.setenv("HBENCH_TASK_PATH", str(tmp_path))
    monkeypatch.setenv("HBENCH_DATA", "/proc/nowhere")
    broken = PluginInfo("sad", "hbench-sad", "1.0", "broken", "ImportError: no module named 'x'")
    monkeypatch.setattr("hbench.plugin.default_registry", lambda: Registry([], [broken]))
    code, rows = examine(capsys)
    assert code == 1
    bad = {what for what, row in rows.items() if row["status"] == "bad"}
    assert "plugin sad" in bad
    assert any(what.endswith("/bad") for what in bad)


def test_missing_extras_say_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("hbench.cli.doctor.EXTRAS", {"data": ("no-such-package-at-all",)})
    code, rows = examine(capsys)
    assert code == 0
    assert rows["extra data"]["status"] == "note"
    assert "pip install 'hbench[data]'" in rows["extra data"]["text"]
