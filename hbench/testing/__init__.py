"""Help for testing suites and back ends: a mock model server that misbehaves on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbench.testing.mock_server import MockServer

__all__ = ["MockServer"]


def __getattr__(name: str) -> Any:
    # Late, so that `python -m hbench.testing.mock_server` does not find itself imported already.
    if name == "MockServer":
        from hbench.testing.mock_server import MockServer

        return MockServer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
