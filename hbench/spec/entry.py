"""What the index knows of a task file without reading it in full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hbench.core import HbenchError, SpecError

if TYPE_CHECKING:
    from hbench.spec.task import Task


class TaskEntry(NamedTuple):  # a listing makes thousands, and a tuple takes a fifth of a data class's time
    """One task of the index.

    Attributes
    ----------
    name : str
        ``suite/task``.
    suite, task, topic, mode, survey, title : str
        As the file says; empty where it does not.
    kinds, targets, groups : tuple of str
        Kinds and names of the targets; further names to select by.
    file, folder : str
        The file, and the suite's folder, which its includes cannot leave; also as `path` and `root`.
    distribution, version : str
        The package that brings it; empty for files from a folder that the user names.
    """

    name: str
    suite: str
    task: str
    topic: str
    mode: str
    kinds: tuple[str, ...]
    targets: tuple[str, ...]
    groups: tuple[str, ...]
    survey: str
    title: str
    file: str
    folder: str
    distribution: str = ""
    version: str = ""

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.file)  # made when asked for, since most entries are only listed

    @property
    def root(self) -> Path:
        """The suite's folder."""
        return Path(self.folder)

    @property
    def words(self) -> frozenset[str]:
        """What ``@word`` selects it by."""
        return frozenset({self.suite, self.topic, self.mode, *self.kinds, *self.groups} - {""})

    @property
    def origin(self) -> str:
        """Where it comes from: the distribution, or the folder that the user named."""
        return f"{self.distribution} {self.version}" if self.distribution else self.folder

    @contextmanager
    def located(self) -> Iterator[None]:
        """Let errors about a value in the file name the file and the line."""
        try:
            yield
        except HbenchError as error:
            self.locate(error)
            raise

    def locate(self, error: HbenchError) -> None:
        """Name the file and the line of an error that knows its way in the YAML and no file."""
        from hbench.spec.places import place

        if error.file is None and error.at:
            where = place(self.path, self.root, *error.at)
            error.file, error.line = where["file"], where["line"]

    def load(self) -> Task:
        """Read and check the whole spec. Raises `SpecError` where it is not what it should be."""
        from hbench.spec.load import load_task

        task = load_task(self.path, root=self.root, suite=self.suite)
        if task.name != self.name:
            raise SpecError(f"the index has it as {self.name}, but it is {task.name}", file=self.file, line=1)
        return task


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A file that is no task, under the name that it would have.

    Attributes
    ----------
    name, suite, task : str
        Guessed from the file's name where the file does not tell.
    path : Path
        The file.
    problem, hint : str
        What is wrong, and what to do about it.
    file : str
        Where it is wrong, as in an included file.
    line : int or None
        The line, if known.
    """

    name: str
    suite: str
    task: str
    path: Path
    problem: str
    file: str
    line: int | None = None
    hint: str = ""

    @property
    def words(self) -> frozenset[str]:
        """What ``@word`` selects it by: only the suite is known."""
        return frozenset({self.suite})

    def error(self) -> SpecError:
        """Return it as an exception."""
        return SpecError(self.problem, file=self.file, line=self.line, hint=self.hint or None)
