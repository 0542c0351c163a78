from __future__ import annotations

import json

import pytest

from hbench.cli.main import main
from hbench.spec import task_schema


def test_it_is_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == task_schema()
