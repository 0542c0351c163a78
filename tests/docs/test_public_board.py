"""The board's page: its commands work, and so do the steps of its workflow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import Block, Shell, blocks

pytest.importorskip("hatchling")
pytest.importorskip("polars")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "public-board.md"


@pytest.mark.slow
def test_the_page_and_its_workflow(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    said = "\n".join(shell.run(block) for block in blocks(PAGE))
    assert "Accepted: 1 run, " in said
    board = json.loads((shell.folder / "board/board.json").read_text())
    assert {model["name"] for model in board["models"]} == {"Uniform guesses", "marginal"}
    assert board["synthetic"] is True
    workflow = yaml.safe_load((shell.folder / ".github/workflows/board.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    steps = {step["name"]: step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step}
    for name in ("check", "join", "site"):
        shell.run(Block("bash", None, steps[name], 0))
    assert (shell.folder / "board/site/index.html").is_file()
    predictions = next((shell.folder / "submissions/example/run/predictions").rglob("*.jsonl"))
    predictions.write_text("".join(predictions.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(AssertionError, match="missing_answers"):
        shell.run(Block("bash", None, steps["check"], 0))


def test_every_code_is_on_the_page() -> None:
    from typing import get_args

    from hbench.submit.refusal import Code

    text = PAGE.read_text(encoding="utf-8")
    assert [code for code in get_args(Code) if f"`{code}`" not in text] == []
