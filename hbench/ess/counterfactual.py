"""What a model predicts for a person under each arm of a treatment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, HbenchError, Record, RunError, SpecError
from hbench.data.choice import DataChoice
from hbench.data.records import write_records
from hbench.data.taskdata import TaskData, is_evaluation
from hbench.run.evaluate import evaluate
from hbench.run.opening import open_plan
from hbench.run.plan import Settings
from hbench.run.stored import StoredRun
from hbench.spec import TaskEntry, discover
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry

PERSON, ARM, OWN = "counterfactual_of", "counterfactual_arm", "counterfactual_own"
"""Metadata of a counterfactual record: key of the record that it was made of, arm it is rendered under, own arm."""


@dataclass(frozen=True)
class Contrast:
    """Two values of the treatment, as a table holds them."""

    control: Any
    treated: Any

    @property
    def arms(self) -> tuple[Any, Any]:
        """Control, then treated."""
        return self.control, self.treated

    def __str__(self) -> str:
        return f"effect of {word_of(self.treated)} against {word_of(self.control)}"


def counterfactual_records(
    task: Task, entry: TaskEntry, data: TaskData, contrast: Contrast, registry: Registry, *, limit: int | None = None
) -> Iterator[Record]:
    """Yield each evaluated person of the two arms twice, rendered under either arm and all else equal.

    The true answer stays that of the arm that the person was in, so that scores of such records mean nothing.

    Raises
    ------
    SpecError, DataError
        The task has no treatment, or the table that prompts were made of is not there.
    """
    from hbench.data.folder import TABLE
    from hbench.data.tables import named_rows
    from hbench.prompt import PromptRenderer

    treatment = _treatment(task)
    if not (data.path / TABLE).is_file():
        raise DataError(
            f"prompts of {data.kind} data cannot be rendered anew: the table that they were made of is not there",
            file=data.path,
            task=task.name,
            hint="Counterfactual prompts need data that were built here: --data build, demo or package.",
        )
    renderer = PromptRenderer(task, registry=registry, folder=entry.path.parent, root=entry.root)
    for split in filter(is_evaluation, data.splits()):
        people = [r for r in data.records(split) if r.predictors.get(treatment) in contrast.arms][:limit]
        rows = dict(named_rows(data.path, {(record.id, record.time) for record in people}))
        for record in people:
            turns = renderer.render_arms(rows[record.id, record.time], treatment, contrast.arms)
            for arm, messages in zip(contrast.arms, turns, strict=True):
                yield replace(
                    record,
                    id=f"{record.id} under {word_of(arm)}",
                    messages=messages,
                    predictors={**record.predictors, treatment: arm},
                    metadata={
                        **record.metadata,
                        PERSON: record.key,
                        ARM: arm,
                        OWN: record.predictors[treatment],
                    },
                )


def ask_counterfactuals(
    tasks: Sequence[str],
    models: Sequence[str],
    contrast: tuple[str, str],
    out: Path,
    *,
    data: Sequence[str] = (),
    include_paths: Sequence[str | PathLike[str]] = (),
    limit: int | None = None,
    **options: Any,
) -> tuple[StoredRun, dict[str, Contrast]]:
    """Write counterfactual records below a folder, and ask models; the same call goes on where it ended.

    Returns
    -------
    StoredRun and dict of Contrast
        The run, and the two arms of each task.
    """
    from hbench.plugin import default_registry

    registry = default_registry()
    paths = [Path(path) for path in include_paths]
    plan, _ = open_plan(list(tasks), [DataChoice.parse(one) for one in data], Settings(), registry=registry,
                        include_paths=paths)  # fmt: skip
    entries = {entry.name: entry for entry in discover(paths).select(list(tasks))}
    contrasts: dict[str, Contrast] = {}
    for planned in plan.tasks:
        task = planned.task
        treatment, contrasts[task.name] = _treatment(task), _contrast(task, contrast)
        records = counterfactual_records(
            task, entries[task.name], planned.data, contrasts[task.name], registry, limit=limit
        )
        by_split: dict[str, list[Record]] = {}
        for record in records:
            by_split.setdefault(str(record.metadata["split"]), []).append(record)
        own = {record.metadata[OWN] for some in by_split.values() for record in some}
        taught = list(planned.data.training_records())
        for arm in contrasts[task.name].arms:
            if arm not in own:
                seen = sorted({word_of(record.predictors[treatment]) for record in taught} | set(map(word_of, own)))
                raise DataError(
                    f"nobody is in the arm {word_of(arm)}", task=task.name, hint=f"Arms: {', '.join(seen)}."
                )
        for record in taught:
            by_split.setdefault(str(record.metadata["split"]), []).append(record)
        for split, some in by_split.items():
            write_records(out / "records" / task.suite / task.task / f"{split}.jsonl", some)
    result = evaluate([planned.name for planned in plan.tasks], list(models), data=[out / "records"],
                      include_paths=paths, out=out / "run", registry=registry, sample="all", **options)  # fmt: skip
    return StoredRun.open(result.path), contrasts


def stored_contrasts(run: StoredRun, contrast: tuple[str, str], *, tasks: Sequence[str] = ()) -> dict[str, Contrast]:
    """Return the two arms of each task of a run whose records `ask_counterfactuals` has written.

    Raises
    ------
    SpecError, RunError
        A task has no treatment, or nobody was asked under one of the arms.
    """
    contrasts: dict[str, Contrast] = {}
    for planned in run.plan.tasks:
        if tasks and planned.name not in tasks:
            continue
        contrasts[planned.name] = found = _contrast(planned.task, contrast)
        asked = {question.record.metadata.get(ARM) for _, question in planned.questions()} - {None}
        for arm in found.arms:
            if arm in asked:
                continue
            told = f"only under {', '.join(sorted(map(word_of, asked)))}" if asked else "under their own arm only"
            raise RunError(
                f"nobody was asked under {word_of(arm)}: people were asked {told}",
                file=run.path,
                task=planned.name,
                hint=f"Ask them anew: hbench ess --tasks {planned.name} --model SPEC --effect {','.join(contrast)} "
                "--out DIR; the run is then DIR/run.",
            )
    return contrasts


def _contrast(task: Task, words: tuple[str, str]) -> Contrast:
    """Read the arms as the predictor's kind says."""
    treatment = _treatment(task)
    kind = next(part.kind for part in task.predictors if treatment in part.columns)
    if kind == "categorical":
        return Contrast(*words)
    try:
        return Contrast(*map(float, words))
    except ValueError:
        raise HbenchError(f"the arms {words[0]!r} and {words[1]!r} are no numbers", task=task.name) from None


def _treatment(task: Task) -> str:
    if task.treatment is None:
        raise SpecError("the task has no `treatment`", task=task.name, hint="Name tasks that have one.")
    return task.treatment


def word_of(arm: Any) -> str:
    """Write an arm: 95.0 as 95."""
    return f"{arm:g}" if isinstance(arm, float) else str(arm)
