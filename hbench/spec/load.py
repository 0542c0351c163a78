"""From a YAML file to a task or a suite's page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from hbench.core import SpecError
from hbench.spec.faults import combine, translate
from hbench.spec.includes import Library
from hbench.spec.nodes import Node
from hbench.spec.task import FileSource, Suite, Task

if TYPE_CHECKING:
    from hbench.spec.index import TaskIndex

SUITE_PAGE = "_suite.yaml"


def load_task(path: Path, *, root: Path | None = None, suite: str | None = None) -> Task:
    """Read one task.

    Parameters
    ----------
    path : Path
        The YAML file.
    root : Path or None
        The suite's folder, which includes, templates and tables cannot leave (default: the nearest folder above that
        has a ``_suite.yaml``, else the file's own).
    suite : str or None
        The suite of a file that names none (default: that of the page in `root`).

    Raises
    ------
    SpecError
        Names file and line of every mistake, and the nearest valid word.
    """
    task, faults = read_task(path, root=root, suite=suite)
    if task is None:
        raise combine(faults)
    return task


def read_task(path: Path, *, root: Path | None = None, suite: str | None = None) -> tuple[Task | None, list[SpecError]]:
    """Read one task, or return all that is wrong with it."""
    folder, path = Path(path).absolute().parent, Path(path).resolve()
    root = suite_root(path) if root is None else Path(root).resolve()
    try:
        document, _ = Library(root).document(path)
        raw = document.plain()
        if "suite" not in raw:
            page = root / SUITE_PAGE
            raw |= {"suite": suite} if suite else {"suite": read_page(page).suite} if page.is_file() else {}
    except SpecError as error:
        return None, [error]
    name = raw.get("task")
    try:
        task = Task.model_validate(raw)
    except ValidationError as error:
        return None, translate(error, Task, document, task=name if isinstance(name, str) else None)
    outside = _outside(task, folder, root, document)
    return (task, []) if outside is None else (None, [outside])


def _outside(task: Task, folder: Path, root: Path, document: Node) -> SpecError | None:
    """Refuse a table from elsewhere: a task file from the internet must not hand any file of the machine to a model."""
    if not isinstance(task.source, FileSource) or (folder / task.source.file).resolve().is_relative_to(root):
        return None
    node = document.at(("source", "file"))
    return SpecError(
        f"the table {task.source.file!r} leaves the suite's folder",
        file=node.file,
        line=node.line,
        task=task.name,
        hint=f"Tables lie below {root}: move it there, or name a folder above both, as --include-path or in validate.",
    )


def load_suite(where: TaskIndex | Path, suite: str) -> Suite:
    """Read a suite's page; a suite without one gets a plain page.

    Parameters
    ----------
    where : TaskIndex or Path
        The index, or the suite's folder.
    suite : str
        The suite.
    """
    if isinstance(where, Path):
        folders = [where]
    else:
        folders = list(dict.fromkeys(entry.root for entry in where.entries if entry.suite == suite))
    pages = (read_page(folder / SUITE_PAGE) for folder in folders if (folder / SUITE_PAGE).is_file())
    return next((page for page in pages if page.suite == suite), Suite(suite=suite, title=suite))


def read_page(path: Path) -> Suite:
    """Read a suite's page. Raises `SpecError` with all that is wrong with it."""
    path = path.resolve()
    document, _ = Library(path.parent).document(path)
    try:
        return Suite.model_validate(document.plain())
    except ValidationError as error:
        raise combine(translate(error, Suite, document, task=None)) from None


def suite_root(path: Path, *, named: Path | None = None) -> Path:
    """Return the nearest folder above a file that has a suite's page, else the folder that was named, else its own."""
    own = path.parent if named is None else named
    return next((folder for folder in path.parents if (folder / SUITE_PAGE).is_file()), own)
