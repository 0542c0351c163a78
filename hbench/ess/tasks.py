"""The models of a stored run against learning algorithms, task by task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hbench.core import HbenchError, Target, Value, Values
from hbench.ess.curve import Curve, Point
from hbench.ess.estimate import MEAN, Progress, equivalent_sample_sizes
from hbench.ess.findings import Findings, LeftOut, Worth
from hbench.ess.options import Options
from hbench.ess.sizes import Sizes
from hbench.ess.study import Fits
from hbench.learn import Cells, Feature, Kind, read_cells
from hbench.model.task_sample import KINDS, features_of, inputs_of
from hbench.parse import parse_gold
from hbench.run.context import PlanContext
from hbench.run.plan import PlannedTask
from hbench.run.stored import Answered, StoredRun
from hbench.spec.task import Task

ROWS = 50_000
"""Training rows that are read of a task, by their position in the split."""
ALIASES = {"rf": "random_forest"}
SYNTHETIC = "synthetic data: says nothing about households"

Told = Callable[[str, Point, float], None]
"""Is given what is compared, each point when it is there, and the share of the work done."""


@dataclass(frozen=True)
class Scope:
    """Which part of a run is looked at.

    Attributes
    ----------
    tasks, models, splits, targets : collections of str
        Empty: all.
    within : bool
        Whether blocks are taken from the answered rows even where there are training rows.
    rows : int
        At most so many training rows.
    """

    tasks: Sequence[str] = ()
    models: Sequence[str] = ()
    splits: Sequence[str] = ()
    targets: Sequence[str] = ()
    within: bool = False
    rows: int = ROWS


def worth_of_run(
    run: StoredRun,
    algorithms: Sequence[str],
    scope: Scope = Scope(),
    *,
    progress: Told | None = None,
    **options: Any,
) -> Findings:
    """Estimate what each model of a run is worth in each of its tasks.

    The test sample are the evaluated records that the model answered. Blocks are taken from the task's training split;
    where there is none, from the test sample itself.

    Parameters
    ----------
    run : StoredRun
        A run that has been scored.
    algorithms : sequence of str
        Names of `hbench.learn.estimator.ALGORITHMS`, or ``rf``.
    scope : Scope
        Which part of the run.
    progress : callable or None
        See `Told`.
    **options
        See `Options`.

    Returns
    -------
    Findings
        With the reason for whatever could not be compared.

    Raises
    ------
    HbenchError
        The scope names what the run does not have, or an option is wrong.
    """
    names = [ALIASES.get(name, name) for name in algorithms]
    _check(run, scope, names, options)
    found = Findings()
    context = PlanContext(run.plan, run.registry)
    for planned in run.plan.tasks:
        if scope.tasks and planned.name not in scope.tasks:
            continue
        try:
            _compare(run, planned, context, names, scope, options, found, progress)
        except HbenchError as error:
            found.left_out.append(LeftOut(planned.name, None, None, error.message))
    if any(worth.data_kind == "demo" for worth in found.worths):
        found.notes.append(SYNTHETIC)
    found.notes += run.notices()
    return found


def _compare(
    run: StoredRun,
    planned: PlannedTask,
    context: PlanContext,
    algorithms: Sequence[str],
    scope: Scope,
    options: Mapping[str, Any],
    found: Findings,
    progress: Told | None,
) -> None:
    task = planned.task
    features = features_of(task)
    training = None if scope.within else _training(planned, context, features, scope.rows)
    if training is None and not scope.within:
        found.notes.append(f"{task.name}: there are no training rows, so blocks are taken from the answered rows")
    for part in run.answers(planned):
        if scope.splits and part.split not in scope.splits:
            continue
        cells = _cells((inputs_of(record, task) for record in part.records), features)
        # Models that answered the same records share an algorithm's fits.
        fits: dict[tuple[str, Kind], Fits] = {}
        for model, answers in part.answers.items():
            if scope.models and model not in scope.models:
                continue
            for algorithm in algorithms:
                where = f"{task.name} ({part.split}), {model}, {algorithm}"
                told = None if progress is None else partial(progress, where)
                groups = _alike(task.targets, scope.targets, found, task.name)
                for kind, targets in groups.items():
                    try:
                        curves = _curves(cells, answers, kind, targets, training, features, algorithm, options, told,
                                         fits.setdefault((algorithm, kind), {}))  # fmt: skip
                    except HbenchError as error:
                        found.left_out.append(LeftOut(task.name, model, algorithm, error.message))
                        continue
                    for name, curve in curves.items():
                        target = _target(task, name, kind, several=len(groups) > 1)
                        found.worths.append(
                            Worth(
                                task.name,
                                part.split,
                                model,
                                algorithm,
                                target,
                                planned.data.kind,
                                planned.data.fingerprint,
                                curve,
                            )
                        )


def _target(task: Task, name: str, kind: Kind, *, several: bool) -> str | None:
    """Return the target that a curve is of, None for the whole task."""
    if name == MEAN:
        return f"{MEAN} ({kind})" if several else None
    return None if len(task.targets) == 1 else name


def _curves(
    cells: Cells,
    answers: Sequence[Answered],
    kind: Kind,
    targets: Sequence[tuple[int, Target]],
    training: tuple[Cells, list[Values]] | None,
    features: Sequence[Feature],
    algorithm: str,
    options: Mapping[str, Any],
    progress: Progress | None,
    fits: Fits,
) -> dict[str, Curve]:
    golds: list[Values | None] = [one.row.gold for one in answers]
    told = [one.row.prediction for one in answers]
    rows = len(training[1]) if training is not None else sum(one is not None for one in told) // 2
    sizes = _possible(options.get("sizes", "auto"), rows)
    curves = equivalent_sample_sizes(
        cells,
        _columns(golds, targets),
        _columns(told, targets),
        training=None if training is None else (training[0], _columns(training[1], targets)),
        features=features,
        outcome=kind,
        progress=progress,
        fits=fits,
        **{**options, "algorithm": algorithm, "sizes": sizes},
    )
    absent = [f"{size:,}" for size in options.get("sizes", ()) if size not in sizes] if sizes != "auto" else []
    note = f"too few rows for the sizes {', '.join(absent)}"
    return {name: replace(curve, notes=(*curve.notes, note)) for name, curve in curves.items()} if absent else curves


def _possible(sizes: Sizes, rows: int) -> Sizes:
    """Leave out sizes that this task has too few rows for, as long as there are others: tasks differ in rows."""
    if isinstance(sizes, str):
        return sizes
    return [size for size in sizes if size <= rows] or sizes


def _columns(values: Sequence[Values | None], targets: Sequence[tuple[int, Target]]) -> dict[str, list[Value | None]]:
    return {target.name: [None if one is None else one[i] for one in values] for i, target in targets}


def _training(
    planned: PlannedTask, context: PlanContext, features: Sequence[Feature], rows: int
) -> tuple[Cells, list[Values]] | None:
    """Return predictors and true answers of the training split, None where there are none."""
    task, golds = planned.task, list[Values]()
    parser, answer = context.parser(task.name), task.answer_spec()

    def inputs() -> Iterator[dict[str, Any]]:
        for record in context.training_records(task.name, limit=rows):
            if record.metadata.get("split", "train") == "train":
                golds.append(parse_gold(parser, record.gold, answer))
                yield inputs_of(record, task)

    cells = _cells(inputs(), features)
    return (cells, golds) if golds else None


def _cells(rows: Iterator[dict[str, Any]], features: Sequence[Feature]) -> Cells:
    numeric = [feature.name for feature in features if feature.kind == "numeric"]
    return read_cells(rows, numeric=numeric, categorical=[f.name for f in features if f.kind == "categorical"])


def _alike(
    targets: Sequence[Target], wanted: Sequence[str], found: Findings, task: str
) -> dict[Kind, list[tuple[int, Target]]]:
    """Group targets by how they are learned, so that those of one group can be averaged."""
    groups: dict[Kind, list[tuple[int, Target]]] = {}
    for place, target in enumerate(targets):
        if wanted and target.name not in wanted:
            continue
        if target.kind not in KINDS:
            reason = LeftOut(task, None, None, f"{target.name}: a {target.kind} target cannot be learned")
            if reason not in found.left_out:
                found.left_out.append(reason)
            continue
        groups.setdefault(KINDS[target.kind], []).append((place, target))
    return groups


def _check(run: StoredRun, scope: Scope, algorithms: Sequence[str], options: Mapping[str, Any]) -> None:
    from hbench.learn.estimator import ALGORITHMS

    Options(**options)
    known = {
        "task": ([planned.name for planned in run.plan.tasks], scope.tasks),
        "model": ([entrant.label for entrant in run.entrants], scope.models),
        "target": ([t.name for planned in run.plan.tasks for t in planned.task.targets], scope.targets),
        "split": ([split for planned in run.plan.tasks for split in planned.splits], scope.splits),
        "learner": (list(ALGORITHMS), algorithms),
    }
    for word, (names, wanted) in known.items():
        for name in wanted:
            if name not in names:
                raise HbenchError(f"there is no {word} {name!r}", hint=f"There are: {', '.join(dict.fromkeys(names))}.")
