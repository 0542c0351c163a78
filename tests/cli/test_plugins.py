from __future__ import annotations

import json

from .conftest import Hbench


def test_plugins(hbench: Hbench) -> None:
    rows = {row["name"]: row for row in json.loads(hbench("plugins", "--json").out)}
    assert {"hbench", "householdbench", "behaviorbench"} <= set(rows)
    for name in ("hbench", "householdbench", "behaviorbench"):
        row = rows[name]
        assert (row["distribution"], row["status"], row["error"]) == ("hbench", "ok", "")
        assert row["hooks"] == ["hbench_register"]
        assert sum(row["components"].values()) > 0
        assert row["seconds"] > 0
    assert rows["householdbench"]["tasks"] == 32
    assert "householdbench" in hbench("plugins").out
