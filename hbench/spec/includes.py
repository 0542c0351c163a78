"""One document from a file and what it includes.

``include: [a.yaml, b.yaml]`` at the top lays those files below the file's own keys: mappings are merged, everything
else is replaced, a later file wins over an earlier one. ``- include: "a.yaml#key"`` in a list puts the list that stands
under that key there in its place. Paths are relative to the including file and stay below the suite's root.
"""

from __future__ import annotations

import os.path
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from hbench.core import SpecError
from hbench.spec.files import is_there
from hbench.spec.nearest import suggestion
from hbench.spec.nodes import LIMIT, Node, Reader, compose

Keys = dict[Any, tuple[int, yaml.Node]]
"""Top-level keys of a file: line and unread value."""


class Library:
    """Files below one root, each parsed once.

    Parameters
    ----------
    root : Path
        Folder that includes cannot leave.
    only : collection of str or None
        Top-level keys to read; None for all. The index needs only a few, and the rest costs most of the time.
    """

    def __init__(self, root: Path, *, only: Collection[str] | None = None) -> None:
        self.root = root.resolve()
        self._only = None if only is None else frozenset({*only, "include"})
        # Only included files are kept: there are few of them, and they are read again and again.
        self._files: dict[str, tuple[Keys, Reader]] = {}
        self._documents: dict[str, tuple[Node, frozenset[str]]] = {}
        self._lists: dict[tuple[str, str], tuple[list[Node], frozenset[str]]] = {}
        self._places: dict[tuple[str, str], str] = {}
        self._open: list[tuple[str, str]] = []

    def document(self, path: str | Path) -> tuple[Node, frozenset[str]]:
        """Return a file's content with its includes, and the files that were included (all levels).

        Raises
        ------
        SpecError
            For broken YAML, a missing file, a circle, or a path that leaves the root.
        """
        # Texts, not paths, since a listing reads thousands of files.
        return self._document(str(path), *_parsed(str(path)))

    def _shared(self, path: str) -> tuple[Node, frozenset[str]]:
        if path not in self._documents:
            self._documents[path] = self._document(path, *self._keys(path))
        return self._documents[path]

    def _document(self, path: str, keys: Keys, reader: Reader) -> tuple[Node, frozenset[str]]:
        self._enter(path, "")
        try:
            used: set[str] = set()
            below: dict[Any, Node] = {}
            for file in self._included(keys, reader):
                node, deeper = self._shared(file)
                used |= {file, *deeper}
                below = _merge(below, node.value)
            own = {
                key: self._spliced(reader.node(raw, line), used)
                for key, (line, raw) in keys.items()
                if key != "include" and (self._only is None or key in self._only)
            }
            return Node(_merge(below, own), path, 1), frozenset(used)
        finally:
            self._open.pop()

    def _keys(self, path: str) -> tuple[Keys, Reader]:
        if path not in self._files:
            self._files[path] = _parsed(path)
        return self._files[path]

    def _enter(self, path: str, key: str) -> None:
        here = (path, key)
        if here in self._open:
            circle = [*self._open[self._open.index(here) :], here]
            names = " -> ".join(Path(file).name + ("#" + key if key else "") for file, key in circle)
            raise SpecError(f"includes go in a circle: {names}", file=path)
        self._open.append(here)

    def _included(self, keys: Keys, reader: Reader) -> list[str]:
        if "include" not in keys:
            return []
        line, raw = keys["include"]
        node = reader.node(raw, line)
        names = node.value if isinstance(node.value, list) else [node]
        return [self._located(name, name.value) for name in names]

    def _located(self, name: Node, text: object) -> str:
        if not isinstance(text, str) or not text:
            raise SpecError("`include` takes file names", file=name.file, line=name.line)
        here = (os.path.dirname(name.file), text)  # noqa: PTH120
        if here not in self._places:
            self._places[here] = str(self._resolved(name, text))
        return self._places[here]

    def _resolved(self, name: Node, text: str) -> Path:
        file = (Path(name.file).parent / text).resolve()
        if not file.is_relative_to(self.root):
            raise SpecError(
                f"the include {text!r} leaves the suite's folder",
                file=name.file,
                line=name.line,
                hint=f"Included files lie below {self.root}.",
            )
        if not is_there(file):
            others = [other.name for other in file.parent.glob("_*.yaml")] if file.parent.is_dir() else []
            hint = suggestion(file.name, others, label="files to include")
            raise SpecError(f"there is no file {text!r} to include", file=name.file, line=name.line, hint=hint)
        return file

    def _spliced(self, node: Node, used: set[str]) -> Node:
        """Replace every ``{include: "file#key"}`` in a list by the list that it names."""
        if isinstance(node.value, dict):
            return Node({key: self._spliced(item, used) for key, item in node.value.items()}, node.file, node.line)
        if not isinstance(node.value, list):
            return node
        items: list[Node] = []
        for item in node.value:
            if isinstance(item.value, dict) and set(item.value) == {"include"}:
                items += self._list(item.value["include"], used)
            else:
                items.append(self._spliced(item, used))
            if len(items) > LIMIT:
                raise SpecError(f"includes come to more than {LIMIT:,} values", file=node.file, line=node.line)
        return Node(items, node.file, node.line)

    def _list(self, name: Node, used: set[str]) -> list[Node]:
        text, _, key = name.value.partition("#") if isinstance(name.value, str) else ("", "", "")
        if not text or not key:
            raise SpecError('an include in a list reads "file.yaml#key"', file=name.file, line=name.line)
        path = self._located(name, text)
        if (path, key) not in self._lists:
            self._lists[path, key] = self._read_list(path, key, name)
        items, deeper = self._lists[path, key]
        used |= {path, *deeper}
        return items

    def _read_list(self, path: str, key: str, name: Node) -> tuple[list[Node], frozenset[str]]:
        self._enter(path, key)
        try:
            keys, reader = self._keys(path)
            if key not in keys:
                hint = suggestion(key, (str(known) for known in keys), label="its keys")
                raise SpecError(f"{Path(path).name} has no key {key!r}", file=name.file, line=name.line, hint=hint)
            line, raw = keys[key]
            used: set[str] = set()
            found = self._spliced(reader.node(raw, line), used)
        finally:
            self._open.pop()
        if not isinstance(found.value, list):
            raise SpecError(f"{name.value!r} is not a list", file=name.file, line=name.line)
        return found.value, frozenset(used)


def _parsed(path: str) -> tuple[Keys, Reader]:
    root, reader = compose(path)
    return {key: (line, raw) for key, line, raw in reader.pairs(root)}, reader


def _merge(below: dict[Any, Node], above: dict[Any, Node]) -> dict[Any, Node]:
    merged = dict(below)
    for key, node in above.items():
        old = merged.get(key)
        if old is not None and isinstance(old.value, dict) and isinstance(node.value, dict):
            node = Node(_merge(old.value, node.value), node.file, node.line)
        merged[key] = node
    return merged
