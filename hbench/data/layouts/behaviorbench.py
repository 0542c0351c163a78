"""The BehaviorBench bundle: one JSON Lines file a task, without keys, under ``big_five``, ``moblab`` and so on."""

from __future__ import annotations

from pathlib import Path

from hbench.data.files import sha256_file
from hbench.data.layouts.layout import SplitFiles, absent, count_lines, task_data
from hbench.data.taskdata import TaskData
from hbench.spec.task import Task

_BIG_FIVE = (
    "surv_resp_pred",
    "seq_surv_resp",
    "missing_surv_resp",
    "pers_score_pred",
    "acrossdim_pers_score",
    "demo_pred_age",
)
_WORKFLOWS = (
    "idea_generation",
    "method_recommendation",
    "outcome_prediction",
    "impact_prediction",
    "title_prediction",
)


class BehaviorBench:
    """The layout of ``befm/BehaviorBench``; every file is a test set, all of it the evaluation sample."""

    def recognises(self, folder: Path) -> bool:
        """Say whether one of the bundle's folders is there, at the top or under ``data``."""
        return any((root / name).is_dir() for root in _roots(folder) for name in ("big_five", "moblab", "workflows"))

    def tasks(self, folder: Path) -> list[str]:
        """Return the tasks whose files are present."""
        return sorted(name for root in _roots(folder) for file in root.rglob("*.jsonl") if (name := _task(root, file)))

    def open(self, folder: Path, task: Task, *, kind: str = "folder") -> TaskData:
        """Return a task's data. Raises `DataError` where its file is absent."""
        for root in _roots(folder):
            file = root / path_of(task.task)
            if file.is_file():
                reader = SplitFiles(task.name, {"test": file}, {"test": count_lines(file)}, whole=True)
                name = file.relative_to(folder).as_posix()
                return task_data(folder, task, reader, {name: sha256_file(file)}, kind=kind)
        raise absent(folder, task, self.tasks(folder))


def path_of(task: str) -> str:
    """Return a task's file within the bundle."""
    if task in _BIG_FIVE:
        return f"big_five/{task}/test.jsonl"
    for family in ("game_behavior", "multiround_behavior", "acrossgame_behavior", "strategic_gameplay"):
        game = task.removeprefix(f"{family}_")
        if game != task:
            names = {
                "game_behavior": f"{game}_test",
                "multiround_behavior": f"{game}_multiround_test",
                "acrossgame_behavior": f"acrossgame_{game}_test",
                "strategic_gameplay": f"{game}_strategic_gameplay_test",
            }
            return f"moblab/{family}/{names[family]}.jsonl"
    if task in (f"workflow_{subtask}" for subtask in _WORKFLOWS):
        return f"workflows/{task.removeprefix('workflow_')}_test.jsonl"
    return f"economics_contests/{task}.jsonl"


def _task(root: Path, file: Path) -> str | None:
    """Return the task of a file, if it is one's."""
    place, stem = file.relative_to(root), file.stem.removesuffix("_test")
    family = place.parent.name
    candidates = [
        family,
        f"game_behavior_{stem}",
        f"multiround_behavior_{stem.removesuffix('_multiround')}",
        stem.replace("acrossgame_", "acrossgame_behavior_"),
        f"strategic_gameplay_{stem.removesuffix('_strategic_gameplay')}",
        f"workflow_{stem}",
        stem,
    ]
    return next((name for name in candidates if path_of(name) == place.as_posix()), None)


def _roots(folder: Path) -> tuple[Path, ...]:
    return (folder, folder / "data")
