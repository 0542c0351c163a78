"""The command line, called in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hbench.cli.main import main


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Hbench = Callable[..., Done]

TASK = """\
task: {name}
suite: tiny
topic: money
source: {{file: people.csv}}
key: {{id: person, time: month}}
targets:
  - {{name: spending, kind: numeric}}
predictors:
  - {{name: income}}
split: {{unit: row}}
prompt:
  paragraphs:
    - You earn {{{{ income | dollars }}}}.
    - "How much do you spend? [v_1]"
answer: {{parser: json_array}}
metrics: [mae]
"""


@pytest.fixture
def hbench(capsys: pytest.CaptureFixture[str]) -> Hbench:
    """Call `hbench` with some words."""

    def call(*words: str) -> Done:
        code = main(words)
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with a suite of two tasks on one table, as a researcher would have it."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "_suite.yaml").write_text("suite: tiny\ntitle: A tiny suite\n")
    for name in ("spend", "spend_more"):
        (folder / f"{name}.yaml").write_text(TASK.format(name=name))
    rows = [f"p{i},2024-{1 + i % 12:02}-01,{1000 + i},{i % 7}" for i in range(240)]
    (folder / "people.csv").write_text("\n".join(["person,month,income,spending", *rows, ""]))
    return folder
