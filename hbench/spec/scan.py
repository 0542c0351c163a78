"""Reads of a task file what the index shows, and no more; whoever uses the task reads and checks it all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hbench.core import SpecError
from hbench.spec.entry import BrokenFile, TaskEntry
from hbench.spec.includes import Library
from hbench.spec.locate import Root
from hbench.spec.nodes import Node

SUITE_PAGE = "_suite.yaml"
_KEYS = frozenset({"task", "suite", "topic", "mode", "groups", "survey", "title", "targets"})
_TEXTS = ("suite", "task", "topic", "mode", "survey", "title")


class Home:
    """A suite's folder: the nearest one that has a suite's page, else the one that was named.

    Parameters
    ----------
    folder : str
        The folder, which includes cannot leave.
    suite : str
        The suite of files that name none, where there is no page.
    """

    def __init__(self, folder: str, suite: str) -> None:
        self.folder = folder
        self.library = Library(Path(folder), only=_KEYS)
        self.suite = self._page() or suite

    def _page(self) -> str:
        page = Path(self.folder, SUITE_PAGE)
        if not page.is_file():
            return ""
        try:
            document, _ = self.library.document(page)
        except SpecError:
            # The page's own fault shows when the page is used; it must not hide the tasks.
            return ""
        return _text(document.value["suite"]) if "suite" in document.value else ""


class Scan:
    """Reads the files below one folder.

    Parameters
    ----------
    root : Root
        The folder, and who brings it.
    """

    def __init__(self, root: Root) -> None:
        self.root = root
        self._homes: dict[str, Home] = {}

    def row(self, path: str) -> tuple[list[Any], list[str]]:
        """Return what the index keeps of a file (JSON values), and the files that it depends on.

        Raises
        ------
        SpecError
            The file is no task.
        """
        document, included = self._home(path).library.document(path)
        found: dict[str, Node] = document.value
        texts = {key: _text(found[key]) if key in found else "" for key in _TEXTS}
        missing = [key for key in ("task", "topic") if not texts[key]]
        missing += [] if "targets" in found else ["targets"]
        if missing:
            raise SpecError(
                f"it is no task: the key {missing[0]!r} is missing",
                file=path,
                hint="Files that are no tasks start with an underscore.",
            )
        texts["mode"] = texts["mode"] or "baseline"
        targets = [target.value for target in _items(found["targets"]) if isinstance(target.value, dict)]
        kinds = list(dict.fromkeys(_text(target["kind"]) for target in targets if "kind" in target))
        names = [_text(target["name"]) for target in targets if "name" in target]
        groups = [_text(group) for group in _items(found["groups"])] if "groups" in found else []
        return [*texts.values(), kinds, names, groups], list(included)

    def entry(self, path: str, row: list[Any]) -> TaskEntry:
        """Make an entry of a row."""
        suite, task, topic, mode, survey, title, kinds, targets, groups = row
        home = self._home(path)
        suite = suite or home.suite
        return TaskEntry(
            f"{suite}/{task}",
            suite,
            task,
            topic,
            mode,
            tuple(kinds),
            tuple(targets),
            tuple(groups),
            survey,
            title,
            path,
            home.folder,
            self.root.distribution,
            self.root.version,
        )

    def broken(self, path: str, error: SpecError) -> BrokenFile:
        """Make a broken file of an error."""
        task = Path(path).stem
        suite = self._home(path).suite
        name = f"{suite}/{task}"
        return BrokenFile(
            name, suite, task, Path(path), error.message, error.file or path, error.line, error.hint or ""
        )

    def _home(self, path: str) -> Home:
        # As texts, since a listing asks for thousands of files.
        return self._homes.get(path.rpartition(os.sep)[0]) or self._find(Path(path).parent)

    def _find(self, folder: Path) -> Home:
        """Return the home of a folder's files, known from now on."""
        name = str(folder)
        if name not in self._homes:
            top = folder == self.root.folder
            if top and not self.root.distribution:
                # The user may have named a part of a suite.
                folder = next((above for above in (folder, *folder.parents) if _has_page(above)), folder)
            own = top or _has_page(folder)
            self._homes[name] = Home(str(folder), self.root.suite) if own else self._find(folder.parent)
        return self._homes[name]


def _has_page(folder: Path) -> bool:
    return (folder / SUITE_PAGE).is_file()


def _text(node: Node) -> str:
    if isinstance(node.value, dict | list):
        raise SpecError("expected text", file=node.file, line=node.line)
    return "" if node.value is None else str(node.value)


def _items(node: Node) -> list[Node]:
    if not isinstance(node.value, list):
        raise SpecError("expected a list", file=node.file, line=node.line)
    return node.value
