"""What can go wrong through input. Each error says where, and what to do about it.

An `HbenchError` is a mistake in the input, the set-up or the command: the command line prints it as one message without
a traceback and exits with 2. Anything else that is raised is a fault of the program and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from traceback import extract_tb

from hbench.core.disk import disk_hint


class HbenchError(Exception):
    """A mistake that the user can mend.

    Parameters
    ----------
    message : str
        What is wrong, in one sentence.
    file, line : path and int, optional
        Where it stands (lines count from 1).
    task, record : str, optional
        Which task and which record it concerns.
    hint : str, optional
        What to do about it.
    at : sequence of int and str
        The way to the value in the task's YAML, for whoever knows the file.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
        task: str | None = None,
        record: str | None = None,
        hint: str | None = None,
        at: Sequence[int | str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.task = task
        self.record = record
        self.hint = hint
        self.at = tuple(at)

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        about = ", ".join(
            f"{word} {value}" for word, value in (("task", self.task), ("record", self.record)) if value is not None
        )
        head = ": ".join(part for part in (place, about, self.message) if part)
        return f"{head}\n  {self.hint}" if self.hint else head

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword arguments are lost by the default, and errors cross process borders.
        return (_rebuild, (type(self), self.message, self.__dict__.copy()))


@contextmanager
def foreign(what: str, kind: type[HbenchError], *, hint: str = "", task: str | None = None) -> Iterator[None]:
    """Turn whatever a component raises into one message that names it and the place in its code.

    Components are anybody's code. An `HbenchError` is what they raise on purpose, and passes.
    """
    try:
        yield
    except HbenchError:
        raise
    except Exception as error:
        where = extract_tb(error.__traceback__)[-1]
        place = f"{where.filename}, line {where.lineno}"
        # A full disk is no fault of the component's.
        parts = (disk_hint(error), hint, "HBENCH_TRACEBACK=1 shows how it came to that.")
        raise kind(
            f"{what} raised {type(error).__name__} in {place}: {error}",
            task=task,
            hint=" ".join(part for part in parts if part),
        ) from error


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message, not too long."""
    return next(iter(str(error).strip().splitlines()), "no message")[:300]


def _rebuild(kind: type[HbenchError], message: str, state: dict[str, object]) -> HbenchError:
    error = kind(message)
    error.__dict__.update(state)
    return error


class SpecError(HbenchError):
    """A task's YAML is not what it should be."""


class SelectionError(HbenchError):
    """A pattern selects nothing, or not one thing."""


class PluginError(HbenchError):
    """A plugin or one of its components cannot be used."""


class DataError(HbenchError):
    """A raw file, a table or a record is missing or malformed."""


class AbsentError(DataError):
    """A task's data are not there: not made, not fetched, or not part of a folder.

    Attributes
    ----------
    kind : str or None
        The kind of data that can be made or fetched by a command.
    """

    kind: str | None = None


class ModelError(HbenchError):
    """A model cannot be made or cannot answer at all."""


class ScoreError(HbenchError):
    """Predictions and records cannot be scored together."""


class RunError(HbenchError):
    """A run folder cannot be used."""


class TrainingError(HbenchError):
    """A fine-tuning cannot be begun or gone on with."""
