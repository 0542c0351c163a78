"""Exported tasks under lm-eval's own engine: the same answers, the same scores."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hbench
from hbench.cli.main import main
from hbench.core import DataError
from hbench.interop.exported import ExportedSplit
from tests.interop.kinds import INVALID, TASKS, Kinds, answer

lm_eval = pytest.importorskip("lm_eval")
datasets = pytest.importorskip("datasets")

from lm_eval.api.model import LM  # noqa: E402 - after the check that it is installed
from lm_eval.tasks import TaskManager  # noqa: E402


class Told(LM):  # type: ignore[misc]
    """Gives the told answers, and keeps what it was asked."""

    tokenizer_name = "told"

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []
        self.settings: list[dict[str, Any]] = []

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        seen: Counter[int] = Counter()
        texts = []
        for request in requests:
            prompt, settings = request.args
            self.prompts.append(prompt)
            self.settings.append(settings)
            texts.append(answer(request.doc["task"].partition("/")[2], request.doc["id"], seen[id(request)]))
            seen[id(request)] += 1
        return texts

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return "".join(f"<{turn['role']}>{turn['content']}" for turn in chat_history) + "<assistant>"

    def loglikelihood(self, requests: list[Any]) -> Any:
        raise AssertionError("nothing is asked for likelihoods")

    loglikelihood_rolling = loglikelihood


def export(kinds: Kinds, out: Path, *words: str, tasks: str = "@kinds") -> int:
    where = ["--tasks", tasks, "--include-path", str(kinds.tasks), "--data", str(kinds.data)]
    return main(["export", "lm-eval", str(out), *where, *words])


def run(out: Path, names: list[str], model: Any = None, **options: Any) -> dict[str, Any]:
    manager = TaskManager(include_path=str(out), include_defaults=False)
    result: dict[str, Any] = lm_eval.simple_evaluate(
        model or Told(), tasks=names, task_manager=manager, bootstrap_iters=0, **options
    )
    return result


def scores_here(kinds: Kinds, tmp_path: Path, **options: Any) -> dict[tuple[str, str, str], dict[str, Any]]:
    told = kinds.told(tmp_path / "told")
    result = hbench.evaluate(
        "@kinds", f"replay:{told}", data=kinds.data, include_paths=[kinds.tasks], out=tmp_path / "run", **options
    )
    return {
        (row["task"], row["metric"], row["level"]): row
        for row in result.scores
        if row["target"] is None and row["group"] is None
    }


def test_every_kind_of_task_has_the_same_scores_there_as_here(kinds: Kinds, tmp_path: Path) -> None:
    assert export(kinds, tmp_path / "out") == 0
    there = run(tmp_path / "out", ["kinds"])["results"]
    here = scores_here(kinds, tmp_path)
    assert set(there) == {*TASKS, "kinds"}
    assert {task for task, _, _ in here} == set(TASKS)
    assert len(here) == 10
    for (task, metric, _), row in here.items():
        found = there[task]
        assert found[f"{metric},none"] == row["value"], (task, metric)
        strict = found[f"{metric}_strict,none"]
        assert math.isnan(strict) if row["strict_value"] is None else strict == row["strict_value"], (task, metric)
        assert found["valid,none"] == row["valid"] / row["n"]
        assert row["invalid"] > 0


def test_scores_by_hand(kinds: Kinds, tmp_path: Path) -> None:
    """Accuracy with invalid answers as wrong: of 18 people, those whom the told letters fit."""
    export(kinds, tmp_path / "out", tasks="quiz")
    found = run(tmp_path / "out", ["quiz"])["results"]["quiz"]
    truths = ["ABCD"[i % 4] + ("D" if i % 4 == 1 else "") for i in range(18)]
    answers = [answer("quiz", f"p{i}", 0) for i in range(18)]
    assert found["accuracy,none"] == sum(map(str.__eq__, truths, answers)) / 18
    assert found["valid,none"] == (18 - answers.count(INVALID)) / 18


def test_prompts_and_settings_are_those_of_a_run(kinds: Kinds, tmp_path: Path) -> None:
    export(kinds, tmp_path / "out", "--sampling", "temperature=0.5,top_p=0.9,max_tokens=40,stop=END", tasks="spend")
    plain, chat = Told(), Told()
    run(tmp_path / "out", ["spend"], plain, limit=2)
    run(tmp_path / "out", ["spend"], chat, limit=2, apply_chat_template=True)
    assert plain.prompts == [f"You are a person.\n\nCase {i}?" for i in (0, 0, 0, 1, 1, 1)]
    assert chat.prompts[0] == "<system>You are a person.<user>Case 0?<assistant>"
    assert plain.settings[0] == {
        "until": ["END"], "max_gen_toks": 40, "do_sample": True, "temperature": 0.5, "top_p": 0.9,
    }  # fmt: skip


def test_people_who_share_a_prompt_are_asked_once_for_all(kinds: Kinds, tmp_path: Path) -> None:
    export(kinds, tmp_path / "out", "--draws", "9", tasks="play")
    model = Told()
    samples = run(tmp_path / "out", ["play"], model, log_samples=True)["samples"]["play"]
    assert [sample["doc"]["id"] for sample in samples] == ["p0", "p1"]
    assert len(model.prompts) == 18
    split = ExportedSplit.open(tmp_path / "out", "kinds/play", "test")
    one = split.read(0, [f"[{5 * i}]" for i in range(0, 18, 2)])
    two = split.read(1, [f"[{5 * i}]" for i in range(1, 18, 2)])
    # Both populations answered as they did: no distance between the distributions.
    assert split.scores([two, one])["wasserstein"].value == 0.0


def test_splits_are_tasks_of_a_group(kinds: Kinds, tmp_path: Path) -> None:
    rows = (kinds.data / "move.jsonl").read_text().splitlines(keepends=True)
    (kinds.data / "move.jsonl").unlink()
    (kinds.data / "move").mkdir()
    (kinds.data / "move/early.jsonl").write_text("".join(rows[:10]))
    (kinds.data / "move/late.jsonl").write_text("".join(rows[10:]))
    export(kinds, tmp_path / "out", tasks="move")
    result = run(tmp_path / "out", ["move"])
    assert {name: count["effective"] for name, count in result["n-samples"].items()} == {
        "move_early": 10,
        "move_late": 8,
    }
    here = hbench.evaluate(
        "move", f"replay:{kinds.told(tmp_path / 'told')}", data=kinds.data, include_paths=[kinds.tasks],
        out=tmp_path / "run",
    )  # fmt: skip
    values = {row["split"]: row["value"] for row in here.scores if row["metric"] == "accuracy" and not row["target"]}
    assert {split: result["results"][f"move_{split}"]["accuracy,none"] for split in values} == values


def test_the_folder_can_be_moved_and_is_checked(kinds: Kinds, tmp_path: Path) -> None:
    export(kinds, tmp_path / "out", tasks="quiz")
    moved = (tmp_path / "out").rename(tmp_path / "moved")
    assert run(moved, ["quiz"])["results"]["quiz"]["valid,none"] > 0.5
    file = moved / "records/kinds/quiz/test.jsonl"
    file.write_text(file.read_text().replace('"assistant": "A"', '"assistant": "B"', 1))
    with pytest.raises(DataError, match="quiz"):
        ExportedSplit.open(moved, "kinds/quiz", "test")


def test_an_answer_that_is_no_text_is_invalid(kinds: Kinds, tmp_path: Path) -> None:
    export(kinds, tmp_path / "out", tasks="quiz")
    split = ExportedSplit.open(tmp_path / "out", "kinds/quiz", "test")
    item = split.read(0, [None])
    assert item["values"] is None
    assert item["failure"][1] == "no_answer"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--sampling", "temperature"], "--sampling 'temperature' cannot be read"),
        (["--sampling", "seed=3"], "no seed"),
        (["--sampling", "reasoning_effort=high"], "no reasoning_effort"),
        (["--sampling", "temperature=0"], "all the same at temperature 0"),
        (["--sampling", "dtype=auto"], "dtype is no generation setting"),
    ],
)
def test_what_lm_eval_cannot_say_is_refused(
    kinds: Kinds, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert export(kinds, tmp_path / "out", *words, tasks="spend") == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_records_without_prompts_and_full_folders_are_refused(
    kinds: Kinds, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (kinds.data / "quiz.jsonl").write_text('{"id": "a", "predictors": {"x": 1}, "assistant": "A"}\n')
    assert export(kinds, tmp_path / "out", tasks="quiz") == 2
    assert "no prompts, only predictors" in capsys.readouterr().err
    assert export(kinds, kinds.root, tasks="move") == 2
    assert "not empty" in capsys.readouterr().err


def test_examples_are_refused(kinds: Kinds, tmp_path: Path) -> None:
    export(kinds, tmp_path / "out", tasks="quiz")
    model = Told()
    run(tmp_path / "out", ["quiz"], model, num_fewshot=3, limit=1)
    # lm-eval leaves tasks alone that say how many examples they have: none.
    assert model.prompts == ["You are a person.\n\nCase 0?"]


@pytest.mark.lm
@pytest.mark.slow
def test_the_command_line_with_a_real_model(kinds: Kinds, tmp_path: Path) -> None:
    """lm_eval runs the folder, and what its log holds scores the same here."""
    model = os.environ.get("HBENCH_TEST_LM")
    if not model:
        pytest.skip("HBENCH_TEST_LM names no model")
    export(kinds, tmp_path / "out", "--draws", "1", "--sampling", "temperature=0,max_tokens=12", tasks="move,quiz")
    done = subprocess.run(
        [
            sys.executable, "-m", "lm_eval", "run", "--include_path", str(tmp_path / "out"), "--tasks", "kinds",
            "--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu",
            "--batch_size", "2", "--limit", "2", "--apply_chat_template", "--log_samples",
            "--output_path", str(tmp_path / "logs"),
        ],
        check=False, capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    (results,) = (tmp_path / "logs").rglob("results_*.json")
    there = json.loads(results.read_text())["results"]
    here = hbench.evaluate(
        "move,quiz", f"replay:{results.parent}", data=kinds.data, include_paths=[kinds.tasks],
        out=tmp_path / "run", limit=2, draws=1,
    )  # fmt: skip
    for row in here.scores:
        if row["target"] is None and row["value"] is not None:
            assert there[row["task"]][f"{row['metric']},none"] == row["value"]
    assert {row["task"] for row in here.scores} == {"move", "quiz"}
