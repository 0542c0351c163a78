from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbench.testing import MockServer

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


def lines(hbench: Hbench, *words: str) -> dict[str, dict[str, str]]:
    return {row["what"]: row for row in json.loads(hbench("doctor", "--json", *words).out)}


def test_back_ends_tell_of_packages_and_keys(hbench: Hbench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret0123456789")
    monkeypatch.setattr(
        "hbench.cli.doctor_models.PACKAGES",
        {"nowhere": ("nowhere", ("no-such-package",)), "core": ("core", ("click",))},
    )
    found = lines(hbench)
    assert found["model nowhere"] == {
        "status": "note",
        "what": "model nowhere",
        "text": "no-such-package missing (pip install 'hbench[nowhere]')",
    }
    assert found["model core"]["status"] == "ok"
    assert (found["model openai"]["status"], "not set" in found["model openai"]["text"]) == ("note", True)
    assert (found["model anthropic"]["status"], "--network" in found["model anthropic"]["text"]) == ("ok", True)


def test_servers_are_asked_only_with_network(hbench: Hbench, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-secret0123456789"
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    with MockServer(key=secret) as server:
        monkeypatch.setattr("hbench.model.openai.OpenAI.official", server.url)
        good = ("--model", f"openai:mock,base_url={server.url}")
        assert lines(hbench, *good)["openai:mock"]["text"] == "can be made (--network asks the server)"
        assert server.stats.connections == 0
        found = lines(hbench, "--network", *good)
        assert (found["openai:mock"]["status"], "answers in" in found["openai:mock"]["text"]) == ("ok", True)
        assert found["model openai"]["status"] == "ok"
        other = lines(hbench, "--network", "--model", f"openai:other,base_url={server.url}")["openai:other"]
        assert (other["status"], "lists no model other" in other["text"]) == ("bad", True)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong0123456789")
        done = hbench("doctor", "--network", *good)
        assert done.code == 1
        assert "refuses the key" in done.out
        assert "sk-wrong" not in done.out + done.err
        assert server.stats.requests == 0, "the model itself is never asked"
    gone = lines(hbench, "--network", *good)["openai:mock"]
    assert (gone["status"], "does not answer" in gone["text"]) == ("bad", True)


def test_a_model_that_cannot_be_made_is_bad(hbench: Hbench) -> None:
    assert lines(hbench, "--model", "openai:m,base_url=http://127.0.0.1:1/v1,speed=9")["openai:m"]["status"] == "bad"
