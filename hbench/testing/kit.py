"""Checks, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hbench.core import HbenchError
from hbench.testing.unchecked import UncheckedError

if TYPE_CHECKING:
    from hbench.testing.subject import SuiteUnderTest, TaskUnderTest

SHOWN = 5
"""Faults of one subject that are told; a broken template breaks every row."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found.

    Attributes
    ----------
    check : Check
        The check.
    faults : tuple of str
        What is wrong, each with its task or component in front.
    gaps : tuple of str
        What could not be checked, and why.
    checked : int
        How many subjects (tasks, or the suite as one) were checked.
    """

    check: Check
    faults: tuple[str, ...]
    gaps: tuple[str, ...]
    checked: int

    @property
    def status(self) -> Literal["passed", "failed", "skipped"]:
        """Failed with any fault; skipped where nothing at all could be checked."""
        if self.faults:
            return "failed"
        return "passed" if self.checked else "skipped"

    def __str__(self) -> str:
        lines = [f"{self.check.name}: {self.check.demand}", *(f"  {fault}" for fault in self.faults)]
        return "\n".join([*lines, *(f"  not checked: {gap}" for gap in self.gaps)])


@dataclass(frozen=True, slots=True)
class Check:
    """One demand on suites.

    Attributes
    ----------
    name : str
        As in ``hbench check suite NAME --only``.
    demand : str
        What a suite must fulfil, as a sentence.
    function : callable
        Yields faults; raises `UncheckedError` where it cannot tell.
    of : {"suite", "task"}
        Whether it takes the whole suite or one task at a time.
    """

    name: str
    demand: str
    function: Callable[[Any], Iterable[str]]
    of: Literal["suite", "task"] = "task"

    def __call__(self, suite: SuiteUnderTest) -> Verdict:
        """Check a suite."""
        subjects: Iterable[SuiteUnderTest | TaskUnderTest] = [suite] if self.of == "suite" else suite.tasks
        faults: list[str] = []
        gaps: list[str] = []
        checked = 0
        for subject in subjects:
            try:
                found = list(_first(self._faults(subject)))
            except UncheckedError as reason:
                gaps.append(f"{subject.name}: {reason}")
                continue
            checked += 1
            faults += [f"{subject.name}: {fault}" for fault in found]
        return Verdict(self, tuple(faults), tuple(gaps), checked)

    def _faults(self, subject: SuiteUnderTest | TaskUnderTest) -> Iterator[str]:
        """Yield faults; what the suite's own code raises is one."""
        try:
            yield from self.function(subject)
        except UncheckedError:
            raise
        except HbenchError as error:
            yield str(error)
        except Exception as error:  # noqa: BLE001 - a suite's components are foreign code
            yield f"raises {type(error).__name__}: {error}"


def _first(faults: Iterable[str]) -> Iterator[str]:
    """Yield the first faults, and how many more there are."""
    more = 0
    for number, fault in enumerate(faults):
        if number < SHOWN:
            yield fault
        else:
            more += 1
    if more:
        yield f"and {more} more"
