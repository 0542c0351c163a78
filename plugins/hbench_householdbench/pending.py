"""Sources and sample steps that tasks name and that are not built yet.

Released data need none of them. Each name stands for a component that says so when it is used, so that a task with a
misspelt step is still an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from hbench.core import DataError


def pending(name: str) -> Callable[..., NoReturn]:
    """Return a component that raises a `DataError` naming itself, however it is called."""

    def unavailable(*_args: object, **_params: object) -> NoReturn:
        raise DataError(
            f"{name!r} is not built yet, so the task's data cannot be made from raw files",
            hint="Use released data: --data hub, or a folder in the released layout.",
        )

    unavailable.__name__ = unavailable.__qualname__ = name
    return unavailable


def __getattr__(name: str) -> Callable[..., NoReturn]:
    if name.startswith("__"):
        raise AttributeError(name)
    return pending(name)
