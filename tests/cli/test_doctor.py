from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Hbench


def findings(hbench: Hbench) -> dict[str, dict[str, str]]:
    return {row["what"]: row for row in json.loads(hbench("doctor", "--json").out)}


def test_an_installation_in_order(hbench: Hbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = findings(hbench)
    assert found["store"]["status"] == found["cache"]["status"] == found["runs"]["status"] == "ok"
    assert "suites" in found["tasks"]["text"]
    assert hbench("doctor").code == 0


def test_keys_are_never_printed(hbench: Hbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    done = hbench("doctor")
    assert "very-secret" not in done.out + done.err
    assert findings(hbench)["OPENAI_API_KEY"]["text"] == "set"


def test_what_is_missing_has_a_command(hbench: Hbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbench.cli.doctor.EXTRAS", {"nowhere": ("no-such-package",)})
    found = findings(hbench)["extra nowhere"]
    assert (found["status"], "pip install 'hbench[nowhere]'" in found["text"]) == ("note", True)


def test_what_is_wrong_is_bad(hbench: Hbench, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tiny / "bad.yaml").write_text("task: [\n")
    monkeypatch.setenv("HBENCH_TASK_PATH", str(tiny))
    monkeypatch.setenv("HBENCH_DATA", "/dev/null/store")
    assert hbench("doctor").code == 1
    found = findings(hbench)
    assert found["store"]["status"] == "bad"
    assert "broken YAML" in found["task tiny/bad"]["text"]
