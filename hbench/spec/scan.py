"""Reads of a task file what the index shows, and no more; whoever uses the task reads and checks it all."""

from __future__ import annotations

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


class Scan:
    """Reads the files of one folder.

    Parameters
    ----------
    root : Root
        The folder, and who brings it.
    """

    def __init__(self, root: Root) -> None:
        self.root = root
        self._library = Library(root.folder, only=_KEYS)
        self._page: str | None = None

    def row(self, path: str) -> tuple[list[Any], list[str]]:
        """Return what the index keeps of a file (JSON values), and the files that it depends on.

        Raises
        ------
        SpecError
            The file is no task.
        """
        document, included = self._library.document(Path(path))
        found: dict[str, Node] = document.value
        used = [str(file) for file in included]
        texts = {key: _text(found[key]) if key in found else "" for key in _TEXTS}
        if not texts["suite"]:
            page = self.root.folder / SUITE_PAGE
            texts["suite"] = self.suite
            used.append(str(page))
        missing = [key for key in ("task", "suite", "topic") if not texts[key]]
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
        return [*texts.values(), kinds, names, groups], used

    def entry(self, path: str, row: list[Any]) -> TaskEntry:
        """Make an entry of a row."""
        suite, task, topic, mode, survey, title, kinds, targets, groups = row
        root = self.root
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
            Path(path),
            root.folder,
            root.distribution,
            root.version,
        )

    def broken(self, path: str, error: SpecError) -> BrokenFile:
        """Make a broken file of an error."""
        task = Path(path).stem
        name = f"{self.suite}/{task}"
        return BrokenFile(
            name, self.suite, task, Path(path), error.message, error.file or path, error.line, error.hint or ""
        )

    @property
    def suite(self) -> str:
        """The suite of files that name none: that of the folder's page, else of the entry point."""
        if self._page is None:
            self._page = self.root.suite
            page = self.root.folder / SUITE_PAGE
            if page.is_file():
                try:
                    document, _ = self._library.document(page)
                except SpecError:
                    # The page's own fault shows when the page is used; it must not hide the tasks.
                    return self._page
                if "suite" in document.value:
                    self._page = _text(document.value["suite"])
        return self._page


def _text(node: Node) -> str:
    if isinstance(node.value, dict | list):
        raise SpecError("expected text", file=node.file, line=node.line)
    return "" if node.value is None else str(node.value)


def _items(node: Node) -> list[Node]:
    if not isinstance(node.value, list):
        raise SpecError("expected a list", file=node.file, line=node.line)
    return node.value
