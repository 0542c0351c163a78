"""What a well-formed task names and what is not there: components, templates, metrics that cannot score its targets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import HbenchError, PluginError, SpecError, Target
from hbench.core.target import MetricUse
from hbench.data.parameters import check_parameters
from hbench.data.sample import sample_columns
from hbench.spec.places import place
from hbench.spec.task import FileSource, Split, Step, Suite, Task

if TYPE_CHECKING:
    from hbench.plugin import Registry

Steps = tuple[int | str, ...]
"""The way to a value in the YAML."""


def task_faults(task: Task, *, file: Path, root: Path, registry: Registry) -> list[HbenchError]:
    """Return what stands in the way of using a task.

    Parameters
    ----------
    task : Task
        A task that `hbench.spec.load_task` accepts.
    file, root : Path
        Its YAML file, and the suite's folder.
    registry : Registry
        All installed components.

    Returns
    -------
    list of HbenchError
        With file and line, in the order of the checks; empty for a sound task.
    """
    faults = []
    for fault, steps in _Check(task, registry).faults(file, root):
        if fault.file is None:
            where = place(file, root, *steps)
            fault.file, fault.line = where["file"], where["line"]
        fault.task = fault.task or task.name
        faults.append(fault)
    return faults


def suite_faults(suite: Suite, *, registry: Registry) -> list[HbenchError]:
    """Return the components that a suite's page names and that are not there."""
    named = (("layout", suite.layout), ("leaderboard", suite.leaderboard))
    faults = (_absent(registry, kind, name, suite.suite) for kind, name in named if name is not None)
    return [fault for fault in faults if fault is not None]


class _Check:
    """Finds the faults of one task, each with the way to its place."""

    def __init__(self, task: Task, registry: Registry) -> None:
        self.task = task
        self.registry = registry
        self.missing: set[tuple[str, str | None]] = set()

    def faults(self, file: Path, root: Path) -> Iterator[tuple[HbenchError, Steps]]:
        for kind, name, steps in _named(self.task):
            fault = _absent(self.registry, kind, name, self.task.suite)
            if fault is not None:
                self.missing.add((kind, name))
                yield fault, steps
        for number, step in enumerate(self.task.sample):
            yield from self._parameters("step", step.name, step, ("sample", number))
        if self.task.split is not None:
            yield from self._parameters("split", self.task.split.unit, self.task.split, ("split",))
        for number, use in enumerate(self.task.metrics):
            yield from self._metric(number, use)
        found = list(self._templates(file, root))
        yield from found
        if isinstance(self.task.source, FileSource) and not found and not self.missing:
            yield from self._columns(self.task.source, file, root)

    def _parameters(
        self, kind: str, name: str, part: Step | Split, steps: Steps
    ) -> Iterator[tuple[HbenchError, Steps]]:
        try:
            function = self._imported(kind, name)
            if function is not None:
                check_parameters(function, part, task=self.task.name)
        except (PluginError, SpecError) as error:
            yield error, (*steps, *error.at)

    def _columns(self, source: FileSource, file: Path, root: Path) -> Iterator[tuple[HbenchError, Steps]]:
        """Look for the columns that the task names in its own table, after the steps that may add some."""
        from hbench.data.filesource import head
        from hbench.prompt import check_columns

        try:
            columns = sample_columns(self.task, head(self.task, source, folder=file.parent), self.registry)
            if columns is not None:
                check_columns(self.task, columns, registry=self.registry, folder=file.parent, root=root, file=file)
        except HbenchError as error:
            yield error, error.at or ("source", "file")

    def _metric(self, number: int, use: MetricUse) -> Iterator[tuple[HbenchError, Steps]]:
        steps = ("metrics", number)
        try:
            factory = self._imported("metric", use.metric)
        except PluginError as error:
            yield error, steps
            return
        if factory is None:
            return
        metric = factory()
        for target in self.task.targets:
            if use.target not in (None, target.name):
                continue
            if not _fits(metric, target):
                hint = f"It scores: {', '.join(sorted(metric.kinds))}. Name another target with `target:`."
                fault = f"the metric {use.metric!r} cannot score {target.name!r}, which is {target.kind}"
                yield SpecError(fault, hint=hint), steps
            elif getattr(metric, "needs_naive", False) and target.no_change is None:
                fault = f"the metric {use.metric!r} compares with no change, and {target.name!r} has no `no_change`"
                yield SpecError(fault), steps

    def _templates(self, file: Path, root: Path) -> Iterator[tuple[HbenchError, Steps]]:
        from hbench.prompt import PromptRenderer

        if ("adapter", self.task.prompt.adapter) in self.missing:
            return
        try:
            PromptRenderer(self.task, registry=self.registry, folder=file.parent, root=root, file=file)
        except HbenchError as error:
            yield error, ("prompt",)

    def _imported(self, kind: str, name: str) -> Any:
        """Return a component; None where it is missing, or where what it needs is: that is no fault of the task."""
        if (kind, name) in self.missing:
            return None
        try:
            return self.registry.get(kind, name, suite=self.task.suite)
        except PluginError as error:
            if isinstance(error.__cause__, ModuleNotFoundError):
                return None
            raise


def _named(task: Task) -> Iterator[tuple[str, str, Steps]]:
    """Yield kind, name and place of every component that a task names."""
    for number, name in enumerate(task.sources):
        yield "source", name, ("source",) if len(task.sources) == 1 else ("source", number)
    for number, step in enumerate(task.sample):
        yield "step", step.name, ("sample", number)
    if task.split is not None:
        yield "split", task.split.unit, ("split", "unit")
    if task.prompt.adapter is not None:
        yield "adapter", task.prompt.adapter, ("prompt", "adapter")
    yield "parser", task.answer.parser, ("answer", "parser")
    yield "aggregator", task.answer.aggregate, ("answer", "aggregate")
    for number, use in enumerate(task.metrics):
        yield "metric", use.metric, ("metrics", number, "metric")
    if task.sft.expand is not None:
        yield "expansion", task.sft.expand, ("sft", "expand")


def _absent(registry: Registry, kind: str, name: str, suite: str) -> HbenchError | None:
    try:
        registry.find(kind, name, suite=suite)
    except PluginError as error:
        return error
    return None


def _fits(metric: Any, target: Target) -> bool:
    """Two classes are a number, and a number equals another or not: as in `hbench.metric`."""
    two = target.kind == "categorical" and len(target.labels) == 2 and "numeric" in metric.kinds
    same = getattr(metric, "coded", False) and target.kind in ("numeric", "text")
    return target.kind in metric.kinds or two or same
