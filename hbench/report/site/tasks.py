"""A task's page: its spec, how its sample came about, example prompts, and what the models made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hbench.core import Record
from hbench.data.funnel import FunnelRow
from hbench.report.analyses import ANALYSES, Row, as_table
from hbench.report.comparison import Part
from hbench.report.leaderboard import summary_rows
from hbench.report.site.content import Content
from hbench.report.site.figures import Figure, figures
from hbench.report.site.records import part_name
from hbench.report.site.scores import ScoreBlock, blocks
from hbench.report.table import Table
from hbench.run.plan import PlannedTask
from hbench.spec.task import FileSource, Task

EXAMPLES = 2
"""Prompts that are shown in full; the record viewer has all."""
DRAWN = ("persistence", "calibration", "confusion", "subgroups")
"""Analyses of single tasks, whose figures stand on the tasks' pages."""
LISTED = ("bias", "majority", "invalid")
"""Analyses of which a task's page has its rows as a table."""


@dataclass(frozen=True)
class FunnelStep:
    """A step, and the share of the first step's rows (of the most there were) that are left."""

    row: FunnelRow
    share: float


@dataclass(frozen=True)
class Sample:
    """Where a task's records come from."""

    kind: str
    fingerprint: str
    splits: dict[str, int]
    evaluated: dict[str, int]
    steps: list[FunnelStep]
    files: dict[str, str]


@dataclass(frozen=True)
class SplitView:
    """One split: its scores, whole and in parts, and where its records are."""

    split: str
    records: str
    count: int
    draws: int
    scores: list[ScoreBlock]
    targets: list[ScoreBlock]
    groups: list[ScoreBlock]


@dataclass(frozen=True)
class TaskPage:
    """What a task's page shows."""

    task: Task
    file: str
    facts: list[tuple[str, str]]
    sample: Sample
    examples: list[Record]
    splits: list[SplitView]
    figures: list[Figure]
    tables: list[Table]
    pairs: list[Row]


def task_page(content: Content, name: str, file: str) -> TaskPage:
    """Gather a task's page.

    Parameters
    ----------
    content : Content
        Everything.
    name, file : str
        The task's qualified name, and its page's file name without ending.
    """
    parts = content.tasks()[name]
    task = parts[0].task
    planned = next(p for run in content.comparison.runs for p in run.plan.tasks if p.name == name)
    found = {analysis: content.of_task(analysis, task.suite, task.task) for analysis in (*DRAWN, *LISTED)}
    tables = [as_table(ANALYSES[n].title, found[n], (*ANALYSES[n].hidden, "suite", "task", "mode")) for n in LISTED]
    pairs = [row for part in parts for row in content.analyses["pairs"] if row["task"] == part.name]
    return TaskPage(
        task=task,
        file=file,
        facts=list(_facts(task, content)),
        sample=_sample(planned, parts),
        examples=list(islice(planned.records_of(parts[0].split), EXAMPLES if content.records else 0)),
        splits=[_split(content, part) for part in parts],
        figures=[figure for n in DRAWN for figure in figures(n, found[n])],
        tables=[table for table in tables if table.rows],
        pairs=pairs,
    )


def _facts(task: Task, content: Content) -> Iterator[tuple[str, str]]:
    """Yield the spec's facts that are not in a table of their own."""
    suite = content.index.suite(task.suite)
    yield "suite", suite.title
    yield "topic", task.topic
    yield "mode", task.mode
    if task.survey:
        yield "survey", task.survey
    source = task.source
    yield "source", source.file if isinstance(source, FileSource) else ", ".join(task.sources)
    yield "record", task.key.id + (f" at {task.key.time}" if task.key.time else "")
    if task.predictors:
        yield "predictors", f"{len(task.predictor_columns)}: {', '.join(task.predictor_columns)}"
    if task.treatment:
        yield "treatment", task.treatment
    for what in ("group", "cluster", "weight"):
        if column := getattr(task, what):
            yield what, column
    if task.split:
        told = ", ".join(f"{key} {value}" for key, value in task.split.params.items())
        yield "split", f"by {task.split.unit}{f' ({told})' if told else ''}"
    answer = task.answer
    yield "answer", f"{answer.parser}, read from {answer.reads.replace('_', ' ')}"
    yield "draws", f"{answer.draws} a record, aggregated by {answer.aggregate}"
    yield "metrics", ", ".join(_use(use) for use in task.metrics)
    for told in filter(None, (task.citation, suite.citation)):
        yield "citation", told


def _use(use: Any) -> str:
    about = [word for word in (use.target, use.level if use.level != "individual" else "", use.invalid) if word]
    return f"{use.metric} ({', '.join(about)})" if about else str(use.metric)


def _sample(planned: PlannedTask, parts: Sequence[Part]) -> Sample:
    data = planned.data
    funnel = list(data.funnel() or ())
    most = max((row.rows for row in funnel), default=0)
    steps = [FunnelStep(row, round(100 * row.rows / most, 2) if most else 0.0) for row in funnel]
    evaluated = {part.split: len(part.records) for part in parts}
    return Sample(data.kind, data.fingerprint, data.splits(), evaluated, steps, dict(data.files))


def _split(content: Content, part: Part) -> SplitView:
    rows = [row for found in content.standings if (found.suite, found.split) == (part.task.suite, part.split)
            for row in found.rows if row["task"] == part.task.task]  # fmt: skip
    whole = [dict(row) for row in summary_rows(rows)]
    several = len(part.task.targets) > 1
    return SplitView(
        split=part.split,
        records=part_name(part) if part.answers and content.records else "",
        count=len(part.records),
        draws=part.draws,
        scores=blocks(whole),
        targets=blocks(row for row in rows if several and row["target"] is not None and row["group"] is None),
        groups=blocks(row for row in rows if row["group"] is not None),
    )
