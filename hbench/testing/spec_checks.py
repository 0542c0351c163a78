"""Specs and components: what can be checked without any data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hbench.core import AnswerSpec, Completion, Failure, HbenchError, Metric, Parsed, Parser, SampleMetric
from hbench.core.direction import IN_WORDS
from hbench.model.families import Family
from hbench.spec.load import SUITE_PAGE, read_page, read_task
from hbench.testing.subject import SuiteUnderTest, TaskUnderTest
from hbench.testing.task_faults import suite_faults, task_faults

HOSTILE = (
    "",
    " ",
    "[",
    "[[[[[[",
    "]",
    "[]",
    "[null]",
    "[NaN]",
    "[1e999]",
    "[" + "9" * 400 + "]",
    '{"a": 1}',
    '"',
    "I would rather not say.",
    "12, or perhaps 15",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9]",
    "\x00",
    "é" * 1000,
    None,
    3,
    ["x"],
)
"""Answers that models give, and worse: a parser refuses them by name, or reads them; it never raises."""
_METHODS = {"source": ("build", "demo"), "layout": ("recognises", "open")}


def specs(suite: SuiteUnderTest) -> Iterator[str]:
    """Yield what is wrong with the YAML files."""
    for file in suite.broken:
        yield str(file.error())
    for name in {entry.name for entry in suite.entries} & set(suite.index.clashes):
        yield f"several files claim the task {name!r}: {', '.join(e.file for e in suite.index.clashes[name])}"
    for entry in suite.entries:
        task, found = read_task(entry.path, root=entry.root, suite=entry.suite)
        yield from map(str, found)
        if task is not None:
            yield from map(str, task_faults(task, file=entry.path, root=entry.root, registry=suite.registry))
    for page in {entry.root / SUITE_PAGE for entry in suite.entries}:
        if page.is_file():
            yield from map(str, suite_faults(read_page(page), registry=suite.registry))


def components(suite: SuiteUnderTest) -> Iterator[str]:
    """Yield components of the suite's plugin that cannot be imported, or are not what their kind demands."""
    for plugin in suite.registry.plugins:
        if plugin.name == suite.name and plugin.status == "broken":
            yield f"the plugin is broken: {plugin.error}"
    for info in suite.registry.names():
        if info.suite != suite.name:
            continue
        try:
            component = suite.registry.get(info.kind, info.qualified)
        except HbenchError as error:
            yield str(error)
            continue
        fault = misfit(info.kind, component)
        if fault:
            yield f"the {info.kind} {info.name!r} ({info.target}) {fault}"


def parsers(task: TaskUnderTest) -> Iterator[str]:
    """Yield answers on which the task's parser raises or returns something else than a prediction or a failure."""
    answer: AnswerSpec = task.spec.answer_spec()
    for text in HOSTILE:
        try:
            outcome: object = task.parser(Completion(text), answer)
        except Exception as error:  # noqa: BLE001 - the parser is foreign code
            yield f"the parser {task.spec.answer.parser!r} raises {type(error).__name__} on {_short(text)}: {error}"
            continue
        if not isinstance(outcome, Parsed | Failure):
            yield f"the parser {task.spec.answer.parser!r} returns {type(outcome).__name__} for {_short(text)}"
        elif isinstance(outcome, Parsed) and len(outcome.values) != len(task.spec.targets):
            yield (
                f"the parser {task.spec.answer.parser!r} reads {len(outcome.values)} values from {_short(text)}, "
                f"and the task has {len(task.spec.targets)} targets"
            )
        elif isinstance(outcome, Failure) and not outcome.reason:
            yield f"the parser {task.spec.answer.parser!r} gives no reason for refusing {_short(text)}"


def misfit(kind: str, component: Any) -> str | None:
    """Return what a component lacks, or None."""
    if kind == "family":
        return None if isinstance(component, Family) else "is no hbench.model.Family"
    if not callable(component):
        return "cannot be called"
    if kind in ("parser", "metric"):
        made = component()
        if kind == "parser" and not isinstance(made, Parser):
            return "lacks a method of hbench.core.Parser: __call__(completion, answer) and render(values, answer)"
        if kind == "metric" and not isinstance(made, Metric | SampleMetric):
            return "is neither a hbench.core.Metric (rows, reduce) nor a SampleMetric (prepare, reduce)"
        if kind == "metric" and made.better not in IN_WORDS:
            return f"says better={made.better!r}, which is none of {', '.join(IN_WORDS)}"
        return None
    if kind in _METHODS:
        made = component()
        lacking = [name for name in _METHODS[kind] if not callable(getattr(made, name, None))]
        if kind == "source" and not hasattr(made, "files"):
            lacking.append("files")
        return f"lacks {', '.join(lacking)}" if lacking else None
    return None


def _short(text: object) -> str:
    shown = repr(text)
    return shown if len(shown) <= 40 else shown[:39] + "…"
