from __future__ import annotations

import json

import pytest

from hbench.cli.main import main
from hbench.plugin import PluginInfo, Registry, default_registry


def test_what_each_plugin_brings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["hbench"]["components"]["parser"] == len(
        [info for info in default_registry().names("parser") if info.suite == "hbench"]
    )
    assert rows["behaviorbench"]["tasks"] > 0
    assert all(row["status"] == "ok" for row in rows.values())


def test_a_broken_plugin_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    broken = PluginInfo("sad", "hbench-sad", "1.0", "broken", "ImportError: no module named 'x'")
    monkeypatch.setattr("hbench.plugin.default_registry", lambda: Registry([], [broken]))
    for command in (["plugins"], ["ls", "plugins", "sa"]):
        assert main(command) == 0
        assert "sad\thbench-sad\t1.0\tbroken\t0" in capsys.readouterr().out
    assert main(["ls", "plugins", "nobody"]) == 0
    assert capsys.readouterr().out == ""
