"""What a model's predicted treatment effects are worth, in tasks that have a treatment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from hbench.core import HbenchError, Record, SpecError
from hbench.ess.counterfactual import ARM, OWN, PERSON, Contrast, word_of
from hbench.ess.curve import Curve
from hbench.ess.effects import effect_sample_size, potential_outcome_sample_size
from hbench.ess.estimate import Progress
from hbench.ess.findings import Findings, LeftOut, Worth
from hbench.ess.tasks import ALIASES, ROWS, SYNTHETIC, Told
from hbench.learn import Cells, Feature, read_cells
from hbench.model.task_sample import features_of, inputs_of
from hbench.parse import parse_gold
from hbench.run.context import PlanContext
from hbench.run.plan import PlannedTask
from hbench.run.stored import Answered, StoredRun
from hbench.spec.task import Task


def worth_of_effects(
    run: StoredRun,
    contrasts: dict[str, Contrast],
    algorithms: Sequence[str],
    *,
    propensity: str | float = "logit",
    splits: Sequence[str] = (),
    rows: int = ROWS,
    progress: Told | None = None,
    **options: Any,
) -> Findings:
    """Estimate what a model's predicted effects, and its predictions under either arm, are worth.

    Parameters
    ----------
    run, contrasts
        From `ask_counterfactuals`, or an earlier run and its `stored_contrasts`. Tasks without a contrast are left out.
    algorithms : sequence of str
        Names of `hbench.learn.estimator.ALGORITHMS`, or ``rf``.
    propensity : "logit", "share" or float
        See `effect_sample_size`.
    splits : sequence of str
        Some splits only.
    rows : int
        At most so many training rows.
    progress : callable or None
        See `Told`.
    **options
        See `Options`.
    """
    found, context = Findings(), PlanContext(run.plan, run.registry)
    for planned in run.plan.tasks:
        if planned.name not in contrasts:
            continue
        try:
            _effects(run, planned, contrasts[planned.name], context, algorithms, propensity, splits, rows, progress,
                     options, found)  # fmt: skip
        except HbenchError as error:
            found.left_out.append(LeftOut(planned.name, None, None, error.message))
        if planned.data.kind == "demo":
            found.notes.append(SYNTHETIC)
    found.notes += run.notices()
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
    rows: int,
    progress: Told | None,
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
        for record in context.training_records(task.name, limit=rows)
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
        pairs, alone = _pairs(part.records, contrast)
        if alone:
            found.notes.append(f"{task.name} ({part.split}): {alone:,} people were asked under one arm only, left out")
        if not pairs:
            found.left_out.append(LeftOut(task.name, None, None, f"{part.split}: nobody was asked under both arms"))
            continue
        people = [part.records[control] for control, _ in pairs]
        cells = _cells(people, task, features)
        arms = [int(record.metadata[OWN] == contrast.treated) for record in people]
        for model, answers in part.answers.items():
            y = [answers[control].row.gold[0] for control, _ in pairs]
            told = [(_value(answers[control]), _value(answers[treated])) for control, treated in pairs]
            effects = [_difference(*pair) for pair in told]
            for algorithm in (ALIASES.get(name, name) for name in algorithms):
                shared: dict[str, Any] = {"propensity": propensity, "features": features, "algorithm": algorithm,
                                          "training": training if taught else None, **options}  # fmt: skip
                where = f"{task.name} ({part.split}), {model}, {algorithm}"
                curves: dict[str, Curve] = {}
                try:
                    name = str(contrast)
                    curves[name] = effect_sample_size(
                        cells, y, arms, effects, progress=_progress(progress, f"{where}, {name}"), **shared
                    )
                    for arm, value in enumerate(contrast.arms):
                        name = f"outcome under {word_of(value)}"
                        curves[name] = potential_outcome_sample_size(
                            cells, y, arms, [pair[arm] for pair in told], arm,
                            progress=_progress(progress, f"{where}, {name}"), **shared,
                        )  # fmt: skip
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


def _pairs(records: Sequence[Record], contrast: Contrast) -> tuple[list[tuple[int, int]], int]:
    """Return each person's places under control and treated, and the number of people who lack one of them."""
    places: dict[str, dict[Any, int]] = {}
    for place, record in enumerate(records):
        places.setdefault(str(record.metadata[PERSON]), {})[record.metadata[ARM]] = place
    pairs = [
        (arms[contrast.control], arms[contrast.treated])
        for arms in places.values()
        if contrast.control in arms and contrast.treated in arms
    ]
    return pairs, len(places) - len(pairs)


def _progress(told: Told | None, where: str) -> Progress | None:
    return None if told is None else partial(told, where)


def _value(answered: Answered) -> float | None:
    values = answered.row.prediction
    return None if values is None else float(values[0])  # type: ignore[arg-type]


def _difference(control: float | None, treated: float | None) -> float | None:
    return None if control is None or treated is None else treated - control


def _cells(records: Sequence[Record], task: Task, features: Sequence[Feature]) -> Cells:
    numeric = [feature.name for feature in features if feature.kind == "numeric"]
    categorical = [feature.name for feature in features if feature.kind == "categorical"]
    return read_cells([inputs_of(record, task) for record in records], numeric=numeric, categorical=categorical)
