"""Several runs side by side: the same records, answered by all models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hbench.core import RunError, ScoreError
from hbench.core.record import Record
from hbench.data.store import Store
from hbench.metric import ScoredRow, StrictFill, TaskStatistics, row_statistics
from hbench.run.context import parser_of
from hbench.run.results import Results
from hbench.run.scoring import strict_fill
from hbench.run.stored import Answered, SplitAnswers, StoredRun
from hbench.spec.task import Task
from hbench.stat import Resampling

if TYPE_CHECKING:
    from hbench.plugin import Registry

RowChoice = Literal["own", "common", "strict"]
"""Which rows count where a model gave no valid answer: each model's own valid rows, those that are valid for all models
compared, or all rows with the stand-ins of the strict score."""
_SPLITS = ("validation", "test", "pre_cutoff_test", "post_cutoff_test")
"""Order in which splits are shown."""
RARE = 5
"""A class with fewer rows makes intervals of macro-F1 unreliable (see ``benchmarks/coverage.py``)."""


@dataclass(frozen=True, slots=True)
class View:
    """How a comparison is made.

    Attributes
    ----------
    rows : {"own", "common", "strict"}
        Which rows count.
    weights : bool
        Whether rows bear their survey weights.
    resampling : Resampling
        The bootstrap.
    """

    rows: RowChoice = "own"
    weights: bool = False
    resampling: Resampling = field(default_factory=Resampling)

    def described(self) -> str:
        """Say it in words, for the notes of a table."""
        how = self.resampling
        rows = {
            "own": "each model's own valid rows",
            "common": "rows that are valid for all models shown",
            "strict": "all rows, invalid answers by the strict rule",
        }[self.rows]
        unit = "clusters" if how.clusters else "rows"
        weights = "survey weights" if self.weights else "no survey weights"
        return f"{rows}; {how.level:.0%} {how.kind} intervals from {how.draws:,} paired resamples of {unit}; {weights}"

    def exceptions(self, analysis: str | None = None) -> list[str]:
        """Say which numbers have another interval than was asked for."""
        if self.resampling.kind != "studentised":
            return []
        if analysis is None or analysis in ("leaderboard", "pairs", "cost"):
            return ["ranks, rates, differences, targets and groups have no standard error in each resample: theirs are "
                    "basic intervals"]  # fmt: skip
        return ["numbers of this analysis have no standard error in each resample: theirs are basic intervals"]


@dataclass(frozen=True, eq=False)
class Part:
    """One split of one task with the answers of all models that can do it.

    Attributes
    ----------
    records : list of Record
        In the plan's order, without prompts.
    answers : dict of list of Answered
        By model, in the same order.
    fill : mapping or None
        The training set's best constants, for the strict score.
    """

    task: Task
    split: str
    sample: str
    draws: int
    data_kind: str
    fingerprint: str
    records: list[Record]
    answers: dict[str, list[Answered]]
    fill: StrictFill | None

    @property
    def name(self) -> str:
        """Names the part and its stream of resamples."""
        return f"{self.task.name} {self.split}"

    @property
    def population(self) -> bool:
        """Whether draws of one prompt are compared with many people."""
        return self.task.answer.aggregate == "population"

    def rows(self, model: str) -> list[ScoredRow]:
        """Return a model's rows."""
        return [answered.row for answered in self.answers[model]]

    @cached_property
    def common(self) -> list[int]:
        """Rows that are valid for all models; all of them where a population is compared."""
        every = range(len(self.records))
        if self.population:
            return list(every)
        return [i for i in every if all(mine[i].row.prediction is not None for mine in self.answers.values())]

    def chosen(self, model: str, view: View) -> list[ScoredRow]:
        """Return the rows that a view counts."""
        rows = self.rows(model)
        return [rows[i] for i in self.common] if view.rows == "common" else rows

    def subset(self, keep: Sequence[int]) -> Part:
        """Return some of the rows, for all models."""
        return replace(
            self,
            records=[self.records[i] for i in keep],
            answers={model: [mine[i] for i in keep] for model, mine in self.answers.items()},
        )

    def rare(self) -> dict[str, int]:
        """Return the classes of a categorical target that fewer than `RARE` true answers have, with their number."""
        out: dict[str, int] = {}
        if not self.answers:
            return out
        rows = self.rows(next(iter(self.answers)))
        for index, target in enumerate(self.task.targets):
            if target.kind == "categorical":
                counts = Counter(str(row.gold[index]) for row in rows)
                out |= {label: counts[label] for label in target.labels if counts[label] < RARE}
        return out


@dataclass(frozen=True, eq=False)
class Comparison:
    """All that reports and analyses start from."""

    parts: list[Part]
    models: tuple[str, ...]
    runs: tuple[StoredRun, ...]
    registry: Registry
    notes: list[str] = field(default_factory=list)
    ablated: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Models that were asked without some sections of the prompt: (the model's own name, the sections)."""
    origins: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """Where each model comes from: numbers of runs, and its label there."""

    @classmethod
    def load(cls, paths: Sequence[Path], *, registry: Registry | None = None, store: Store | None = None) -> Comparison:
        """Open runs and lay their answers side by side.

        Raises
        ------
        RunError
            When two runs scored a task on other data, other records or with another number of draws.
        """
        from hbench.plugin import default_registry

        registry = registry or default_registry()
        runs = tuple(StoredRun.open(Path(path), registry=registry, store=store) for path in paths)
        labels, notes = _labels(runs)
        parts: dict[tuple[str, str], Part] = {}
        for number, run in enumerate(runs):
            for planned in run.plan.tasks:
                notes += _other_metrics(run, planned.task)
                for found in run.answers(planned):
                    part = _part(found, {own: labels[number, own] for own in found.answers}, registry)
                    known = parts.get((planned.name, found.split))
                    parts[planned.name, found.split] = part if known is None else _merged(known, part, run.path, notes)
        models = tuple(dict.fromkeys(labels[number, entrant.label] for number, run in enumerate(runs)
                                     for entrant in run.entrants))  # fmt: skip
        ablated = {
            labels[number, entrant.label]: (entrant.label, left_out)
            for number, run in enumerate(runs)
            for entrant in run.entrants
            if (left_out := ", ".join(run.plan.settings.without)) and labels[number, entrant.label] != entrant.label
        }
        origins: dict[str, list[tuple[int, str]]] = {}
        for origin, label in labels.items():
            origins.setdefault(label, []).append(origin)
        return cls(list(parts.values()), models, runs, registry, list(dict.fromkeys(notes)), ablated, origins)

    @property
    def results(self) -> list[Results]:
        """The runs' stored results, for what stands in notes."""
        return [run.results for run in self.runs]

    def boards(self) -> dict[tuple[str, str], list[Part]]:
        """Return the parts by suite and split: what is ranked together."""
        out: dict[tuple[str, str], list[Part]] = {}
        for part in self.parts:
            if part.answers:
                out.setdefault((part.task.suite, part.split), []).append(part)
        return dict(sorted(out.items(), key=lambda item: (item[0][0], _SPLITS.index(item[0][1])
                                                          if item[0][1] in _SPLITS else len(_SPLITS))))  # fmt: skip

    def statistics(self, part: Part, view: View) -> dict[str, TaskStatistics]:
        """Return every model's statistics of one part under a view.

        Raises
        ------
        ScoreError
            When no row is left.
        """
        if view.rows == "common" and not part.common:
            raise ScoreError(
                "no row is valid for all models shown", task=part.task.name, hint="Show fewer models, or --rows own."
            )
        return {model: self.of_rows(part, part.chosen(model, view), view) for model in part.answers}

    def of_rows(self, part: Part, rows: Sequence[ScoredRow], view: View) -> TaskStatistics:
        """Return the statistics of some rows."""
        return row_statistics(
            part.task,
            rows,
            registry=self.registry,
            policy="strict" if view.rows == "strict" else None,
            strict_fill=part.fill,
            weights=view.weights,
            breakdown=True,
        )


def _labels(runs: Sequence[StoredRun]) -> tuple[dict[tuple[int, str], str], list[str]]:
    """Give models that share a label but are not the same one the name of their run's folder."""
    digests: dict[str, set[str]] = {}
    own: dict[tuple[int, str], str] = {}
    for number, run in enumerate(runs):
        left_out = ", ".join(run.plan.settings.without)
        for entrant in run.entrants:
            # What reads records, not prompts, answers alike with and without a section.
            ablated = bool(left_out) and entrant.reads == "messages"
            own[number, entrant.label] = name = f"{entrant.label} without {left_out}" if ablated else entrant.label
            digests.setdefault(name, set()).add(entrant.digest)
    out, notes = {}, []
    for number, run in enumerate(runs):
        for entrant in run.entrants:
            label = own[number, entrant.label]
            if len(digests[label]) > 1:
                label = f"{label} [{run.path.resolve().name}]"
                notes.append(f"the runs hold different models called {entrant.label}; the run stands beside the name")
            out[number, entrant.label] = label
    return out, notes


def _other_metrics(run: StoredRun, task: Task) -> list[str]:
    """Say where a task is measured otherwise today than when the run was scored."""
    then = list(dict.fromkeys(row["metric"] for row in run.results.rows
                              if (row["suite"], row["task"]) == (task.suite, task.task)))  # fmt: skip
    now = list(dict.fromkeys(use.metric for use in task.metrics))
    if not then or sorted(then) == sorted(now):
        return []
    return [f"{task.name}: the metrics have changed since the run was scored ({', '.join(then)} then, {', '.join(now)} "
            "now, which is what is shown); the scores as they were stored: --stored"]  # fmt: skip


def _part(found: SplitAnswers, labels: dict[str, str], registry: Registry) -> Part:
    planned = found.planned
    return Part(
        task=planned.task,
        split=found.split,
        sample=planned.settings.sample,
        draws=planned.draws,
        data_kind=planned.data.kind,
        fingerprint=planned.data.fingerprint,
        records=found.records,
        answers={labels[own]: rows for own, rows in found.answers.items()},
        fill=strict_fill(planned, parser_of(planned.task, registry)),
    )


def _merged(known: Part, part: Part, path: Path, notes: list[str]) -> Part:
    _same(known, part, path)
    twice = sorted(known.answers.keys() & part.answers.keys())
    notes.extend(f"{model} answered {part.task.name} in more than one run; the first one is shown" for model in twice)
    return replace(known, answers={**part.answers, **known.answers})


def _same(known: Part, part: Part, path: Path) -> None:
    def differ(what: str, ours: object, theirs: object) -> RunError:
        return RunError(
            f"the runs cannot be compared: {what} differ ({_short(ours)} and {_short(theirs)})",
            file=path,
            task=part.task.name,
            hint="Report the runs one by one, or evaluate the models on the same data.",
        )

    if known.fingerprint != part.fingerprint:
        raise differ("the data", known.fingerprint, part.fingerprint)
    keys, others = [r.key for r in known.records], [r.key for r in part.records]
    if keys != others:
        first = next((i for i, pair in enumerate(zip(keys, others, strict=False)) if pair[0] != pair[1]), None)
        if first is None:
            raise differ("the numbers of records", len(keys), len(others))
        raise differ("the records", keys[first], others[first])
    if known.task.metrics != part.task.metrics:
        raise differ("the metrics", _uses(known.task), _uses(part.task))


def _uses(task: Task) -> str:
    return ", ".join(f"{use.metric} {use.invalid or ''}".strip() for use in task.metrics)


def _short(value: object) -> str:
    return str(value)[:60]


def models_of(parts: Iterable[Part]) -> tuple[str, ...]:
    """Return the models that answered any of some parts."""
    return tuple(dict.fromkeys(model for part in parts for model in part.answers))
