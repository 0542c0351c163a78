"""How far a run is: on a terminal as bars, elsewhere as a line per model."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol, TextIO

from hbench.core import Completion, Outcome
from hbench.core.legible import legible, visible
from hbench.run.plan import Plan

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from hbench.run.asked import Asked
    from hbench.run.entrant import Entrant


STOPPING = "Stopping: the model finishes what it has begun, so that it need not be asked again."


class Progress(Protocol):
    """Is told what happens."""

    def start(self, entrant: Entrant, plan: Plan) -> None:
        """Begin a model's turn."""
        ...

    def count(self, outcome: Outcome) -> None:
        """Note one draw."""
        ...

    def finish(self, asked: Asked) -> None:
        """End a model's turn."""
        ...

    def stopping(self) -> None:
        """Note that the run was asked to stop, and that the model is still busy with what it has begun."""
        ...


class Silent:
    """Shows nothing."""

    def start(self, entrant: Entrant, plan: Plan) -> None:
        """Begin a model's turn."""

    def count(self, outcome: Outcome) -> None:
        """Note one draw."""

    def finish(self, asked: Asked) -> None:
        """End a model's turn."""

    def stopping(self) -> None:
        """Note that the run was asked to stop."""


class Lines:
    """A line when a model is done, for logs and pipes."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._label = ""
        self._cost: float | None = None
        self._begun = 0.0

    def start(self, entrant: Entrant, plan: Plan) -> None:
        """Begin a model's turn."""
        self._label, self._cost, self._begun = entrant.label, None, time.monotonic()

    def count(self, outcome: Outcome) -> None:
        """Note one draw."""
        self._cost = _add_cost(self._cost, outcome)

    def finish(self, asked: Asked) -> None:
        """Say what the model's turn was."""
        seconds = time.monotonic() - self._begun
        parts = [f"{self._label}: {asked.answered:,} new answers in {seconds:.1f} s"]
        if asked.failed:
            parts.append(f"{asked.failed:,} failed requests")
        if self._cost is not None:
            parts.append(f"${self._cost:,.4f}")
        if asked.error is not None:
            parts.append(f"gave up: {asked.error.message}")
        print(legible(", ".join(parts)), file=self._stream)

    def stopping(self) -> None:
        """Say what the stop waits for."""
        print(STOPPING, file=self._stream)


class Bars:
    """A bar per model with rate, time left, failures and spend."""

    def __init__(self) -> None:
        self._bars: RichProgress | None = None
        self._bar: TaskID | None = None
        self._done = self._failed = 0
        self._cost: float | None = None
        self._shown = 0.0

    def start(self, entrant: Entrant, plan: Plan) -> None:
        """Begin a model's turn."""
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[notes]}"),
            console=Console(stderr=True),
            refresh_per_second=4,
        )
        total = sum(requests_of(planned) for planned in plan.asked_of(entrant))
        self._done = self._failed = 0
        self._cost = None
        self._begun = time.monotonic()
        self._bar = self._bars.add_task(escape(visible(entrant.label)), total=total, rate="", notes="")
        self._bars.start()

    def count(self, outcome: Outcome) -> None:
        """Note one draw."""
        self._done += 1
        if not isinstance(outcome, Completion):
            self._failed += 1
        self._cost = _add_cost(self._cost, outcome)
        # Drawing costs more than counting.
        if time.monotonic() - self._shown > 0.2:
            self._show()

    def _show(self) -> None:
        if self._bars is None or self._bar is None:
            return
        self._shown = time.monotonic()
        rate = self._done / max(self._shown - self._begun, 1e-9)
        notes = [f"{self._failed:,} failed"] if self._failed else []
        if self._cost is not None:
            notes.append(f"${self._cost:,.2f}")
        self._bars.update(self._bar, completed=self._done, rate=f"{rate:,.0f}/s", notes=", ".join(notes))

    def finish(self, asked: Asked) -> None:
        """End a model's turn."""
        if self._bars is not None and self._bar is not None:
            # What the journal held already was never in the queue.
            self._bars.update(self._bar, total=max(asked.requested, self._done))
            self._show()
            self._bars.stop()

    def stopping(self) -> None:
        """Say what the stop waits for, above the bar."""
        if self._bars is not None:
            self._bars.console.print(STOPPING)


def requests_of(planned: object) -> int:
    """Return the number of draws that a task's whole plan asks for."""
    from hbench.run.plan import PlannedTask

    assert isinstance(planned, PlannedTask)  # noqa: S101
    return planned.draws * sum(question.asked for _, question in planned.questions())


def progress_for(stream: TextIO, *, plain: bool) -> Progress:
    """Return bars on a terminal, else lines."""
    return Bars() if stream.isatty() and not plain else Lines(stream)


def _add_cost(cost: float | None, outcome: Outcome) -> float | None:
    if isinstance(outcome, Completion) and outcome.cost is not None:
        return (cost or 0.0) + outcome.cost
    return cost
