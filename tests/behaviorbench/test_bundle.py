"""The released layout, with rows of our own making."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hbench.core import DataError
from hbench.data import Store, open_data
from hbench.data.choice import DataChoice
from hbench.plugin import default_registry
from hbench.run.opening import open_plan
from hbench.run.plan import Settings
from hbench.spec import load_suite, load_task

TASKS = Path(__file__).parents[2] / "task_yamls" / "behaviorbench"
ITEM = (
    "The following item was rated on a five-point scale where 1=Disagree, 2=Partially Disagree, 3=Neutral, "
    "4=Partially Agree, 5=Agree. Please select how this statement describes you and highlight your answer in [](such "
    "as [1],[2],[3],[4],or [5]): I seldom feel blue. Only output your answer in brackets."
)


def write(folder: Path, path: str, rows: list[dict[str, Any]]) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def opened(folder: Path, task: str) -> list[tuple[str | None, str | None, Any]]:
    registry = default_registry()
    suite = load_suite(TASKS, "behaviorbench")
    spec = load_task(TASKS / f"{task}.yaml")
    data = open_data(spec, [DataChoice.parse(str(folder))], store=Store(), registry=registry, suite=suite)
    return [(record.group, record.cluster, record.gold) for record in data.records()]


def test_units_come_from_prompt_or_metadata(tmp_path: Path) -> None:
    row = {"system": "You are a 20-year-old.", "user": ITEM, "assistant": "[2]"}
    write(tmp_path, "big_five/surv_resp_pred/test.jsonl", [row])
    assert opened(tmp_path, "surv_resp_pred") == [("N4", None, "[2]")]
    told = {"subject_idx": 17, "history_length": 1, "target_item": "A1", "target_position": 2}
    write(tmp_path, "big_five/seq_surv_resp/test.jsonl", [row | {"user": "...", "metadata": told}])
    assert opened(tmp_path, "seq_surv_resp") == [("A1", "17", "[2]")]
    asked = "* Openness: 30\n\nplease predict this person's score in the *Extraversion* dimension."
    write(tmp_path, "big_five/acrossdim_pers_score/test.jsonl", [row | {"user": asked, "assistant": "[30]"}])
    assert opened(tmp_path, "acrossdim_pers_score") == [("Extraversion", None, "[30]")]


def test_games_have_people_but_no_groups(tmp_path: Path) -> None:
    row = {"system": "You play.", "user": "Divide.", "assistant": "[50]", "metadata": {"user_id": "123456"}}
    write(tmp_path, "moblab/game_behavior/dictator_test.jsonl", [row])
    assert opened(tmp_path, "game_behavior_dictator") == [(None, "123456", "[50]")]


def test_workflows_have_journals_and_the_olympiad_letters(tmp_path: Path) -> None:
    rows = [
        {"system": "s", "user": f"Given {i}", "assistant": "An idea.", "journal": journal}
        for i, journal in enumerate(["aer", "nhb", "aer"])
    ]
    write(tmp_path, "workflows/idea_generation_test.jsonl", rows)
    assert [group for group, _, _ in opened(tmp_path, "workflow_idea_generation")] == ["aer", "nhb", "aer"]
    asked = {"system": "s", "user": "Which?\n\nA. x\nB. y\nC. z\nD. w", "assistant": "BC"}
    write(tmp_path, "economics_contests/ieo_economics.jsonl", [asked])
    assert opened(tmp_path, "ieo_economics") == [(None, None, "BC")]


def test_the_bundle_s_licence_is_told_wherever_it_is_used(tmp_path: Path) -> None:
    row = {"system": "You play.", "user": "Divide.", "assistant": "[50]", "metadata": {"user_id": "123456"}}
    write(tmp_path, "moblab/game_behavior/dictator_test.jsonl", [row])
    choices = (DataChoice.parse(str(tmp_path)),)
    _, notices = open_plan("game_behavior_dictator", choices, Settings(), registry=default_registry())
    assert ["CC BY-NC-ND 4.0" in text for text in notices["behaviorbench"]] == [False, True]
    assert "MobLab" in notices["behaviorbench"][0]


def test_a_prompt_without_an_item_is_named(tmp_path: Path) -> None:
    rows = [{"system": "", "user": ITEM.replace("seldom", "never"), "assistant": "[2]"}]
    write(tmp_path, "big_five/surv_resp_pred/test.jsonl", rows)
    with pytest.raises(DataError, match=r"test\.jsonl:1"):
        opened(tmp_path, "surv_resp_pred")
