"""What a model's predicted treatment effects are worth, in tasks that have a treatment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hbench.core import HbenchError, Record, SpecError
from hbench.ess.counterfactual import ARM, OWN, PERSON, Contrast, word_of
from hbench.ess.curve import Curve
from hbench.ess.effects import effect_sample_size, potential_outcome_sample_size
from hbench.ess.findings import Findings, LeftOut, Worth
from hbench.ess.tasks import ALIASES, SYNTHETIC
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
                        name = f"outcome under {word_of(value)}"
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
