"""From a YAML file to a task or a suite's page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from hbench.core import Frozen, SpecError
from hbench.spec.faults import combine, translate
from hbench.spec.includes import Library
from hbench.spec.nodes import Node
from hbench.spec.task import Suite, Task

if TYPE_CHECKING:
    from hbench.spec.index import TaskIndex

SUITE_PAGE = "_suite.yaml"
_Page = TypeVar("_Page", bound=Frozen)


def load_task(path: Path, *, root: Path | None = None) -> Task:
    """Read one task.

    Parameters
    ----------
    path : Path
        The YAML file.
    root : Path or None
        The suite's folder, which includes and templates cannot leave (default: the nearest folder above that has a
        ``_suite.yaml``, else the file's own).

    Raises
    ------
    SpecError
        Names file and line of every mistake, and the nearest valid word.
    """
    task, faults = read_task(path, root=root)
    if task is None:
        raise combine(faults)
    return task


def read_task(path: Path, *, root: Path | None = None) -> tuple[Task | None, list[SpecError]]:
    """Read one task, or return all that is wrong with it."""
    path = Path(path).resolve()
    root = suite_root(path) if root is None else Path(root).resolve()
    try:
        document, _ = Library(root).document(path)
        raw = document.plain()
        if "suite" not in raw and (page := _page(root, None)) is not None:
            raw["suite"] = page.suite
    except SpecError as error:
        return None, [error]
    name = raw.get("task")
    try:
        task = Task.model_validate(raw)
    except ValidationError as error:
        return None, translate(error, Task, document, task=name if isinstance(name, str) else None)
    return task, []


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
        return _page(where, suite) or Suite(suite=suite, title=suite)
    folders = dict.fromkeys(entry.root for entry in where.entries if entry.suite == suite)
    pages = (_page(folder, suite) for folder in folders)
    return next((page for page in pages if page is not None), Suite(suite=suite, title=suite))


def _page(root: Path, suite: str | None) -> Suite | None:
    """Return the page in a folder, unless it is another suite's."""
    path = root.resolve() / SUITE_PAGE
    if not path.is_file():
        return None
    document, _ = Library(root).document(path)
    page = _validated(Suite, document)
    return page if suite in (None, page.suite) else None


def suite_root(path: Path) -> Path:
    """Return the nearest folder above a file that has a suite's page, else the file's own folder."""
    return next((folder for folder in path.parents if (folder / SUITE_PAGE).is_file()), path.parent)


def _validated(model: type[_Page], document: Node) -> _Page:
    try:
        return model.model_validate(document.plain())
    except ValidationError as error:
        raise combine(translate(error, model, document, task=None)) from None
