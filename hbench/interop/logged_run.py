"""A finished run as experiment trackers get it: scores, validity, cost and configuration, and no answers."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from hbench.core import Completion, JsonValue
from hbench.run.entrant import Entrant
from hbench.run.evaluate import JOURNAL
from hbench.run.journal import Journal
from hbench.run.manifest import MANIFEST
from hbench.run.plan import PlannedTask

if TYPE_CHECKING:
    from hbench.run import Job, Result

_BATCH = 500


@dataclass(frozen=True)
class LoggedModel:
    """One model of a run.

    Attributes
    ----------
    label, slug : str
        Its name in tables, and as a file name.
    config : dict
        Identity, sampling, and the tasks that it cannot do; no addresses and no secrets.
    scalars : dict of float
        ``SUITE/TASK[/SPLIT][/TARGET]/METRIC``, the same with ``_strict``, ``SUITE/TASK[/SPLIT]/valid`` (share of valid
        answers), ``SUITE/TASK/cost``, ``.../tokens_in`` and ``.../tokens_out``, and ``total/...`` of all tasks. What is
        not defined, or not told by the back end, is absent.
    undefined : dict of str
        Why scores are absent, by the scalar's name.
    """

    label: str
    slug: str
    config: dict[str, JsonValue]
    scalars: dict[str, float]
    undefined: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LoggedRun:
    """A run that has been scored.

    Attributes
    ----------
    name : str
        The run folder's name.
    config : dict
        Settings, versions, and of every task the kind and fingerprint of its data.
    models : tuple of LoggedModel
        In the order of the command.
    answers : callable
        Yields the lines of the prediction files with their ``task`` and ``model``. Loggers call it only where the user
        asked for answers to be logged: they may be personal, licensed or long.
    """

    name: str
    config: dict[str, JsonValue]
    models: tuple[LoggedModel, ...]
    answers: Callable[[], Iterator[dict[str, JsonValue]]]


class RunLogger(Protocol):
    """What a plugin registers under kind ``logger``: a factory ``(argument, options) -> RunLogger``.

    The factory refuses whatever cannot work before any model is asked.
    """

    def log(self, run: LoggedRun) -> str:
        """Write a run, and say where it is."""
        ...


def logged_run(job: Job, result: Result) -> LoggedRun:
    """Return what may be logged of a run."""
    manifest = json.loads((job.path / MANIFEST).read_text(encoding="utf-8"))
    journal = Journal(job.path / JOURNAL)
    try:
        models = tuple(_model(entrant, job, result, journal) for entrant in job.entrants)
    finally:
        journal.close()
    config = {
        "settings": manifest["settings"],
        "versions": manifest["versions"],
        "plan": manifest["plan"],
        "tasks": {
            name: {key: about[key] for key in ("kind", "fingerprint", "splits", "draws")}
            for name, about in manifest["data"].items()
        },
        "synthetic": any(about["kind"] == "demo" for about in manifest["data"].values()),
    }
    return LoggedRun(job.path.name, config, models, lambda: _answers(job))


def _model(entrant: Entrant, job: Job, result: Result, journal: Journal) -> LoggedModel:
    rows = [row for row in result.scores if row["model"] == entrant.label and row["group"] is None]
    scalars: dict[str, float] = {}
    undefined: dict[str, str] = {}
    several = {planned.name for planned in job.plan.tasks if len(planned.splits) > 1}
    for row in rows:
        task = f"{row['suite']}/{row['task']}"
        place = f"{task}/{row['split']}" if task in several else task
        own = f"{place}/{row['target']}" if row["target"] else place
        name = f"{own}/{_metric(row, rows)}"
        for key, value in ((name, row["value"]), (f"{name}_strict", row["strict_value"])):
            if value is None:
                undefined[key] = row["reason"]
            else:
                scalars[key] = float(value)
        if not row["target"] and row["n"]:
            scalars[f"{place}/valid"] = row["valid"] / row["n"]
    scalars |= _spending(entrant, job, journal)
    about = entrant.dump()
    config = {key: about[key] for key in ("identity", "sampling", "unsupported")}
    return LoggedModel(entrant.label, entrant.slug, {**config, "key": entrant.digest}, scalars, undefined)


def _metric(row: Mapping[str, JsonValue], rows: Sequence[Mapping[str, JsonValue]]) -> str:
    """Return a metric's name, with its level where the task uses it at two."""
    levels = {
        other["level"]
        for other in rows
        if all(other[key] == row[key] for key in ("suite", "task", "target", "split", "metric"))
    }
    return f"{row['metric']}_{row['level']}" if len(levels) > 1 else str(row["metric"])


def _spending(entrant: Entrant, job: Job, journal: Journal) -> dict[str, float]:
    """Return what a model's answers took, task by task and together, as far as the back end tells."""
    spent = journal.spend(entrant.label)
    if spent.cost is None and not spent.tokens_in and not spent.tokens_out:
        return {}
    out: dict[str, float] = {}
    total: dict[str, list[float]] = defaultdict(list)
    for planned in job.plan.asked_of(entrant):
        for name, values in _told(planned, entrant, journal).items():
            out[f"{planned.name}/{name}"] = math.fsum(values)
            total[name] += values
    return out | {f"total/{name}": math.fsum(values) for name, values in total.items()}


def _told(planned: PlannedTask, entrant: Entrant, journal: Journal) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    questions = (question for _, question in planned.questions() if question.asked)
    while batch := [planned.request(question, entrant.sampling, ()) for question in islice(questions, _BATCH)]:
        for draws in journal.outcomes(map(entrant.key, batch)).values():
            for draw, outcome in draws.items():
                if draw < planned.draws and isinstance(outcome, Completion):
                    for name in ("cost", "tokens_in", "tokens_out"):
                        value = getattr(outcome, name)
                        if value is not None:
                            found[name].append(float(value))
    return found


def _answers(job: Job) -> Iterator[dict[str, JsonValue]]:
    from hbench.data.lines import read_jsonl

    for entrant in job.entrants:
        for planned in job.plan.asked_of(entrant):
            file = job.path / "predictions" / entrant.slug / f"{planned.name.replace('/', '__')}.jsonl"
            for _, row in read_jsonl(file, nan=True):
                yield {"task": planned.name, "model": entrant.label, **row}
