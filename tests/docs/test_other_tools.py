"""The page on other tools: its commands work, and its samples are found again."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.docs.blocks import Shell, blocks

for package in ("hatchling", "polars", "lm_eval", "tensorboard"):
    pytest.importorskip(package)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "other-tools.md"


@pytest.mark.slow
def test_the_page(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (shell.bin / "lm_eval").write_text(
        f"#!{shell.bin / 'python'}\nfrom lm_eval.__main__ import cli_evaluate\ncli_evaluate()\n"
    )
    (shell.bin / "lm_eval").chmod(0o755)
    said = [shell.run(block) for block in blocks(PAGE) if block.language == "bash"]
    assert len(said) == 3
    assert "Logged: tensorboard --logdir board" in said[2]
    # lm-eval's dummy answers "lol" to everything, there as here.
    (results,) = (shell.folder / "logs").rglob("results_*.json")
    there = json.loads(results.read_text())["results"]
    rows = json.loads((shell.folder / "runs/from-lm-eval/scores.json").read_text())["rows"]
    assert {row["task"] for row in rows} == {"surv_resp_pred", "strategic_gameplay_guessing"}
    for row in rows:
        assert row["valid"] == 0
        if row["target"] is None and row["group"] is None and row["value"] is not None:
            assert there[row["task"]][f"{row['metric']},none"] == row["value"]
    assert "belong to no question" not in said[1]


def test_the_samples_for_inspect_name_their_records() -> None:
    (block,) = (block for block in blocks(PAGE) if block.language == "python")
    made: dict[str, Any] = {}
    stand_in = {
        "inspect_ai.dataset": SimpleNamespace(
            Sample=lambda **fields: fields,
            json_dataset=lambda file, sample: sample({"id": "p1", "system": "S", "user": "U", "assistant": "[1]"}),
        ),
        "inspect_ai.model": SimpleNamespace(
            ChatMessageSystem=lambda content: ("system", content), ChatMessageUser=lambda content: ("user", content)
        ),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, module in stand_in.items():
            patch.setitem(__import__("sys").modules, name, module)
        exec(compile(block.text, str(PAGE), "exec"), made)
    assert made["dataset"]["metadata"] == {"task": "behaviorbench/surv_resp_pred", "id": "p1", "time": None}
    assert made["dataset"]["input"] == [("system", "S"), ("user", "U")]
