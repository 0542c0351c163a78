"""YAML as data that remembers where it stands.

Every value keeps its file and line through includes and merges, so that an error found much later can name them. Only
plain data is read: scalars, lists and mappings. A tag that would make another object is refused. Words are those of
YAML 1.2: ``yes``, ``no``, dates, ``12:30`` and ``01`` stay text, so that a label ``no`` is no falsehood, and ``1e5`` is
a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml

from hbench.core import SpecError

_STANDARD = "tag:yaml.org,2002:"
_SCALARS = frozenset(_STANDARD + name for name in ("null", "bool", "int", "float", "str"))
_MERGE = _STANDARD + "merge"
_TEXT = _STANDARD + "str"
_PLAIN = "plain"
_CONTAINERS: dict[type[yaml.Node], str] = {yaml.SequenceNode: _STANDARD + "seq", yaml.MappingNode: _STANDARD + "map"}
LIMIT = 200_000
"""Most values that one file may come to, aliases and includes written out. No honest task has as many."""

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(_Base):  # type: ignore[misc]
    """A safe loader with the scalars of YAML 1.2."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}

    # Called for every node, so that they take most of an index's time: what a plain scalar is, is told when it is read.
    def descend_resolver(self, _parent: Any, _index: Any) -> None:
        """Do nothing."""

    def ascend_resolver(self) -> None:
        """Do nothing."""

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        """Return the tag of an untagged node."""
        return (_PLAIN if implicit[0] else _TEXT) if kind is yaml.ScalarNode else _CONTAINERS[kind]

    def plain(self, raw: yaml.ScalarNode) -> str:
        """Return the tag of an unquoted scalar."""
        for tag, pattern in self.yaml_implicit_resolvers.get(raw.value[:1], ()):
            if pattern.match(raw.value):
                return tag
        return _TEXT


for _word, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F]+)", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9_]*)(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    Loader.add_implicit_resolver(_STANDARD + _word, re.compile(f"^(?:{_pattern})$"), list(_first))


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its place; `line` counts from 1 and is the key's line for a value of a mapping."""

    value: Any
    file: str
    line: int

    def plain(self) -> Any:
        """Return the bare data."""
        return _plain(self, [LIMIT])

    def at(self, path: tuple[int | str, ...]) -> Node:
        """Return the deepest node on the way along `path`; steps that do not exist are passed over."""
        node = self
        for step in path:
            inner = node.value
            if isinstance(inner, dict):
                node = inner.get(step, node)
            elif isinstance(inner, list) and isinstance(step, int) and step < len(inner):
                node = inner[step]
        return node


def _plain(node: Node, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise SpecError(f"includes come to more than {LIMIT:,} values", file=node.file, line=node.line)
    if isinstance(node.value, dict):
        return {key: _plain(value, left) for key, value in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(value, left) for value in node.value]
    return node.value


def compose(path: str) -> tuple[yaml.MappingNode, Reader]:
    """Parse a file without building its values yet.

    Raises
    ------
    SpecError
        The file cannot be read, is not UTF-8, is no YAML, or is not one mapping.
    """
    try:
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - a Path's own way costs more, and files are many
            text = stream.read().decode("utf-8-sig")
    except OSError as error:
        raise SpecError(f"the file cannot be read: {error.strerror}", file=path) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SpecError("the file is not UTF-8", file=path, line=line, hint="Save it as UTF-8.") from error
    try:
        loader = Loader(text)
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.problem, error.context) if part)
        raise SpecError(f"broken YAML: {what}", file=path, line=mark.line + 1 if mark else None) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise SpecError(f"broken YAML: {str(error).splitlines()[0]}", file=path) from error
    if root is None:
        raise SpecError("the file is empty", file=path)
    if not isinstance(root, yaml.MappingNode):
        raise SpecError("the file must be a mapping of keys to values", file=path, line=root.start_mark.line + 1)
    return root, Reader(path, loader)


class Reader:
    """Builds the values of one parsed file."""

    def __init__(self, file: str, loader: Any) -> None:
        self.file = file
        self._loader = loader
        self._open: set[int] = set()
        self._left = LIMIT

    def node(self, raw: yaml.Node, line: int | None = None) -> Node:
        """Turn a parsed node into data with places."""
        line = raw.start_mark.line + 1 if line is None else line
        self._left -= 1
        if self._left < 0:
            raise self._too_much(line)
        if isinstance(raw, yaml.ScalarNode):
            return Node(self._scalar(raw), self.file, line)
        if id(raw) in self._open:
            raise SpecError("an alias contains itself", file=self.file, line=line)
        self._open.add(id(raw))
        try:
            if isinstance(raw, yaml.SequenceNode) and raw.tag == _CONTAINERS[yaml.SequenceNode]:
                return Node([self.node(item) for item in raw.value], self.file, line)
            if isinstance(raw, yaml.MappingNode) and raw.tag == _CONTAINERS[yaml.MappingNode]:
                return Node({key: self.node(item, at) for key, at, item in self.pairs(raw)}, self.file, line)
        finally:
            self._open.discard(id(raw))
        raise self._refused(raw)

    def pairs(self, raw: yaml.MappingNode) -> list[tuple[Any, int, yaml.Node]]:
        """Return key, line and value of a mapping; merged keys (``<<``) yield to its own."""
        own: dict[Any, tuple[int, yaml.Node]] = {}
        merged: dict[Any, tuple[int, yaml.Node]] = {}
        for key_node, item in raw.value:
            at = key_node.start_mark.line + 1
            if key_node.tag in (_PLAIN, _MERGE) and key_node.value == "<<":
                for key, line, value in self._merged(item, at):
                    merged.setdefault(key, (line, value))
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise SpecError("a key must be a single word or number", file=self.file, line=at)
            key = self._scalar(key_node)
            if key in own:
                first = own[key][0]
                raise SpecError(f"the key {key!r} is given twice (first in line {first})", file=self.file, line=at)
            own[key] = (at, item)
        return [(key, at, item) for key, (at, item) in {**merged, **own}.items()]

    def _merged(self, item: yaml.Node, at: int) -> list[tuple[Any, int, yaml.Node]]:
        sources = item.value if isinstance(item, yaml.SequenceNode) else [item]
        if id(item) in self._open:
            raise SpecError("an alias contains itself", file=self.file, line=at)
        self._open.add(id(item))
        try:
            found = []
            for source in sources:
                self._left -= 1
                if self._left < 0:
                    raise self._too_much(at)
                if not isinstance(source, yaml.MappingNode):
                    raise SpecError("`<<` merges mappings only", file=self.file, line=at)
                found += self.pairs(source)
            return found
        finally:
            self._open.discard(id(item))

    def _scalar(self, raw: yaml.ScalarNode) -> Any:
        if raw.tag == _PLAIN:
            raw.tag = self._loader.plain(raw)
        if raw.tag == _TEXT:
            if "\0" in raw.value:
                # No file, no terminal and no prompt can hold it, and programs take it for a text's end.
                raise SpecError("a text holds the character NUL", file=self.file, line=raw.start_mark.line + 1)
            return raw.value
        if raw.tag not in _SCALARS:
            raise self._refused(raw)
        try:
            value = self._loader.construct_object(raw)
            if isinstance(value, int):
                str(value)  # hexadecimal digits have no limit of Python's, and what cannot be written breaks messages
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            line = raw.start_mark.line + 1
            shown = repr(raw.value if len(raw.value) <= 60 else f"{raw.value[:60]}...")
            raise SpecError(f"{shown} is no {raw.tag.rpartition(':')[2]}", file=self.file, line=line) from error
        return value

    def _too_much(self, line: int) -> SpecError:
        return SpecError(
            f"the file comes to more than {LIMIT:,} values, aliases written out", file=self.file, line=line
        )

    def _refused(self, raw: yaml.Node) -> SpecError:
        tag = raw.tag.replace(_STANDARD, "!!")
        return SpecError(
            f"the tag {tag} is not allowed",
            file=self.file,
            line=raw.start_mark.line + 1,
            hint="A task is plain data: text, numbers, lists and mappings.",
        )
