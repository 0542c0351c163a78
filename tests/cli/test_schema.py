from __future__ import annotations

import json
from pathlib import Path

from .conftest import Hbench


def test_the_schema(hbench: Hbench, tmp_path: Path) -> None:
    schema = json.loads(hbench("schema").out)
    assert schema["title"] == "hbench task"
    assert {"task", "targets", "include"} <= set(schema["properties"])
    path = tmp_path / "task.schema.json"
    assert hbench("schema", "-o", str(path)).code == 0
    assert json.loads(path.read_text()) == schema
    done = hbench("schema", "-o", str(tmp_path / "no" / "where.json"))
    assert done.code == 2
    assert "cannot be written" in done.err
