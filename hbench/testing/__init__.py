"""Help for testing suites and back ends: the conformance kit, and a mock model server that misbehaves on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbench.testing.conformance import CHECKS, check_suite
    from hbench.testing.kit import Check, Verdict
    from hbench.testing.mock_server import MockServer
    from hbench.testing.subject import SuiteUnderTest, TaskUnderTest
    from hbench.testing.unchecked import UncheckedError

__all__ = [
    "CHECKS",
    "Check",
    "MockServer",
    "SuiteUnderTest",
    "TaskUnderTest",
    "UncheckedError",
    "Verdict",
    "check_suite",
]

_HOME = {
    "CHECKS": "conformance",
    "Check": "kit",
    "MockServer": "mock_server",
    "SuiteUnderTest": "subject",
    "TaskUnderTest": "subject",
    "UncheckedError": "unchecked",
    "Verdict": "kit",
    "check_suite": "conformance",
}


def __getattr__(name: str) -> Any:
    # Late: every pytest session imports this package, and `python -m hbench.testing.mock_server` must not find itself
    # imported already.
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f"hbench.testing.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
