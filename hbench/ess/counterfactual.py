"""What a model predicts for a person under each arm of a treatment, and what these predictions are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, HbenchError, Record, SpecError
from hbench.data.choice import DataChoice
from hbench.data.records import write_records
from hbench.data.taskdata import TaskData, is_evaluation
from hbench.ess.curve import Curve
from hbench.ess.effects import effect_sample_size, potential_outcome_sample_size
from hbench.ess.findings import Findings, LeftOut, Worth
from hbench.ess.tasks import ALIASES, SYNTHETIC
from hbench.learn import Cells, Feature, read_cells
from hbench.model.task_sample import features_of, inputs_of
from hbench.parse import parse_gold
from hbench.run.context import PlanContext
from hbench.run.evaluate import evaluate
from hbench.run.opening import open_plan
from hbench.run.plan import PlannedTask, Settings
from hbench.run.stored import Answered, StoredRun
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
        return f"effect of {_word(self.treated)} against {_word(self.control)}"


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
    from hbench.data.stored import TABLE
    from hbench.data.tables import named_rows
    from hbench.prompt import PromptRenderer

    if task.treatment is None:
        raise SpecError("the task has no `treatment`", task=task.name)
    if not (data.path / TABLE).is_file():
        raise DataError(
            f"prompts of {data.kind} data cannot be rendered anew: the table that they were made of is not there",
            file=data.path,
            task=task.name,
            hint="Counterfactual prompts need data that were built here: --data build, demo or package.",
        )
    renderer = PromptRenderer(task, registry=registry, folder=entry.path.parent, root=entry.root)
    for split in filter(is_evaluation, data.splits()):
        people = [r for r in data.records(split) if r.predictors.get(task.treatment) in contrast.arms][:limit]
        rows = dict(named_rows(data.path, {(record.id, record.time) for record in people}))
        for record in people:
            turns = renderer.render_arms(rows[record.id, record.time], task.treatment, contrast.arms)
            for arm, messages in zip(contrast.arms, turns, strict=True):
                yield replace(
                    record,
                    id=f"{record.id} under {_word(arm)}",
                    messages=messages,
                    predictors={**record.predictors, task.treatment: arm},
                    metadata={
                        **record.metadata,
                        PERSON: record.key,
                        ARM: arm,
                        OWN: record.predictors[task.treatment],
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
        if task.treatment is None:
            raise SpecError("the task has no `treatment`", task=task.name, hint="Name tasks that have one.")
        contrasts[task.name] = _contrast(task, contrast)
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
                seen = sorted({_word(record.predictors[task.treatment]) for record in taught} | set(map(_word, own)))
                raise DataError(f"nobody is in the arm {_word(arm)}", task=task.name, hint=f"Arms: {', '.join(seen)}.")
        for record in taught:
            by_split.setdefault(str(record.metadata["split"]), []).append(record)
        for split, some in by_split.items():
            write_records(out / "records" / task.suite / task.task / f"{split}.jsonl", some)
    result = evaluate([planned.name for planned in plan.tasks], list(models), data=[out / "records"],
                      include_paths=paths, out=out / "run", registry=registry, sample="all", **options)  # fmt: skip
    return StoredRun.open(result.path), contrasts


def worth_of_effects(
    run: StoredRun,
    contrasts: dict[str, Contrast],
    algorithms: Sequence[str],
    *,
    propensity: str | float = "logit",
    splits: Sequence[str] = (),
    **options: Any,
) -> Findings:
    """Estimate what a model's predicted effects, and its predictions under either arm, are worth.

    Parameters
    ----------
    run, contrasts
        From `ask_counterfactuals`.
    algorithms : sequence of str
        Names of `hbench.learn.estimator.ALGORITHMS`, or ``rf``.
    propensity : "logit", "share" or float
        See `effect_sample_size`.
    splits : sequence of str
        Some splits only.
    **options
        See `Options`.
    """
    found, context = Findings(), PlanContext(run.plan, run.registry)
    for planned in run.plan.tasks:
        try:
            _effects(run, planned, contrasts[planned.name], context, algorithms, propensity, splits, options, found)
        except HbenchError as error:
            found.left_out.append(LeftOut(planned.name, None, None, error.message))
        if planned.data.kind == "demo":
            found.notes.append(SYNTHETIC)
    found.notes.append("errors of effects are those for the transformed outcome: they rank rules, and are no more")
    return found


def _effects(
    run: StoredRun,
    planned: PlannedTask,
    contrast: Contrast,
    context: PlanContext,
    algorithms: Sequence[str],
    propensity: str | float,
    splits: Sequence[str],
    options: dict[str, Any],
    found: Findings,
) -> None:
    task, treatment = planned.task, planned.task.treatment
    if treatment is None:
        raise SpecError("the task has no `treatment`", task=task.name)
    if len(task.targets) != 1 or task.targets[0].kind not in ("numeric", "ordinal"):
        raise HbenchError("effects need one numeric target")
    features = [feature for feature in features_of(task) if feature.name != treatment]
    parser, answer = context.parser(task.name), task.answer_spec()
    taught = [
        record
        for record in context.training_records(task.name)
        if record.metadata.get("split", "train") == "train" and record.predictors[treatment] in contrast.arms
    ]
    training = (
        _cells(taught, task, features),
        [parse_gold(parser, record.gold, answer)[0] for record in taught],
        [int(record.predictors[treatment] == contrast.treated) for record in taught],
    )
    for part in run.answers(planned):
        if splits and part.split not in splits:
            continue
        for model, answers in part.answers.items():
            people = _people(part.records, answers, contrast)
            cells = _cells([record for record, *_ in people], task, features)
            y = [one.row.gold[0] for _, one, _, _ in people]
            arms = [int(record.metadata[OWN] == contrast.treated) for record, *_ in people]
            told = [(_value(control), _value(treated)) for _, _, control, treated in people]
            effects = [_difference(*pair) for pair in told]
            for algorithm in (ALIASES.get(name, name) for name in algorithms):
                shared: dict[str, Any] = {"propensity": propensity, "features": features, "algorithm": algorithm,
                                          "training": training if taught else None, **options}  # fmt: skip
                curves: dict[str, Curve] = {}
                try:
                    curves[str(contrast)] = effect_sample_size(cells, y, arms, effects, **shared)
                    for arm, value in enumerate(contrast.arms):
                        predictions = [pair[arm] for pair in told]
                        name = f"outcome under {_word(value)}"
                        curves[name] = potential_outcome_sample_size(cells, y, arms, predictions, arm, **shared)
                except HbenchError as error:
                    found.left_out.append(LeftOut(task.name, model, algorithm, error.message))
                for name, curve in curves.items():
                    found.worths.append(
                        Worth(
                            task.name,
                            part.split,
                            model,
                            algorithm,
                            name,
                            planned.data.kind,
                            planned.data.fingerprint,
                            curve,
                        )
                    )


Person = tuple[Record, Answered, Any, Any]


def _people(records: Sequence[Record], answers: Sequence[Answered], contrast: Contrast) -> list[Person]:
    """Return each person once, with the answers under control and treated."""
    under: dict[str, dict[Any, tuple[Record, Answered]]] = {}
    for record, one in zip(records, answers, strict=True):
        under.setdefault(str(record.metadata[PERSON]), {})[record.metadata[ARM]] = (record, one)
    people = []
    for arms in under.values():
        record, one = arms[contrast.control]
        people.append((record, one, one, arms[contrast.treated][1]))
    return people


def _value(answered: Answered) -> float | None:
    values = answered.row.prediction
    return None if values is None else float(values[0])  # type: ignore[arg-type]


def _difference(control: float | None, treated: float | None) -> float | None:
    return None if control is None or treated is None else treated - control


def _cells(records: Sequence[Record], task: Task, features: Sequence[Feature]) -> Cells:
    numeric = [feature.name for feature in features if feature.kind == "numeric"]
    categorical = [feature.name for feature in features if feature.kind == "categorical"]
    return read_cells([inputs_of(record, task) for record in records], numeric=numeric, categorical=categorical)


def _contrast(task: Task, words: tuple[str, str]) -> Contrast:
    """Read the arms as the predictor's kind says."""
    kind = next(part.kind for part in task.predictors if task.treatment in part.columns)
    if kind == "categorical":
        return Contrast(*words)
    try:
        return Contrast(*map(float, words))
    except ValueError:
        raise HbenchError(f"the arms {words[0]!r} and {words[1]!r} are no numbers", task=task.name) from None


def _word(arm: Any) -> str:
    return f"{arm:g}" if isinstance(arm, float) else str(arm)
