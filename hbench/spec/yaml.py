"""YAML as data: safe, with the line of every value, and with includes that stay inside the suite.

Only plain data are read. ``yes``, ``no`` and dates stay texts (YAML 1.2), so that a label ``no`` is no falsehood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from hbench.core import SpecError

try:
    _Base: Any = yaml.CSafeLoader
except AttributeError:  # PyYAML without libyaml: slower, the same language
    _Base = yaml.SafeLoader

MAX_NODES = 200_000
"""A spec with more values than this (after aliases are followed) is an attack or a mistake."""
MAX_INCLUDES = 20
"""Deepest chain of includes."""


class Loader(_Base):  # type: ignore[misc]
    """A safe loader that knows only the words true, false and null besides numbers and texts."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.rpartition(":")[2] in ("int", "float", "null")]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|false|False)$"), list("tTfF"))

_SCALAR_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}


@dataclass(slots=True)
class Located:
    """A value with the place where it stands; containers hold `Located` values."""

    value: Any
    file: Path
    line: int


Place: TypeAlias = tuple[Path, int]
Places: TypeAlias = dict[tuple[str | int, ...], Place]


def read(file: Path, *, root: Path) -> tuple[Any, Places]:
    """Read a YAML file, its includes followed.

    Parameters
    ----------
    file : Path
        The file.
    root : Path
        The suite's folder; includes must lie below it.

    Returns
    -------
    value : Any
        Plain data.
    places : dict
        Path of keys and indices to (file, line).

    Raises
    ------
    SpecError
        Not YAML, more than plain data, a repeated key, or an include that is missing, circular or outside.
    """
    tree = _follow(_parse(file), root.resolve(), (file.resolve(),))
    places: Places = {}
    return _plain(tree, (), places), places


def _parse(file: Path) -> Located:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise SpecError(f"cannot be read: {error.strerror or error}", file=file) from error
    except UnicodeDecodeError as error:
        raise SpecError(f"is not UTF-8 text (byte {error.start})", file=file) from error
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        budget = iter(range(MAX_NODES))
        return Located(None, file, 1) if node is None else _construct(node, loader, file, budget, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise SpecError(
            f"is not YAML: {error.problem or error.context}", file=file, line=mark.line + 1 if mark else None
        ) from error
    except yaml.YAMLError as error:
        raise SpecError(f"is not YAML: {error}", file=file) from error
    except RecursionError as error:
        raise SpecError("is nested too deeply", file=file) from error
    finally:
        loader.dispose()


def _construct(
    node: yaml.Node, loader: Any, file: Path, budget: Iterator[int], above: tuple[yaml.Node, ...]
) -> Located:
    line = node.start_mark.line + 1
    if next(budget, None) is None:
        raise SpecError(f"holds more than {MAX_NODES:,} values once its aliases are followed", file=file, line=line)
    if any(node is other for other in above):
        raise SpecError("an alias refers to what contains it", file=file, line=line)
    inside = (*above, node)
    if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
        mapping: dict[str, Located] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            key_line = key_node.start_mark.line + 1
            if key_node.tag not in _SCALAR_TAGS or not isinstance(key, str | int | float | bool):
                raise SpecError("a key is a text or a number", file=file, line=key_line)
            name = key if isinstance(key, str) else key_node.value
            if name in mapping:
                raise SpecError(
                    f"the key {name!r} stands twice (first in line {mapping[name].line})", file=file, line=key_line
                )
            mapping[name] = _construct(value_node, loader, file, budget, inside)
            mapping[name].line = key_line
        return Located(mapping, file, line)
    if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
        return Located([_construct(item, loader, file, budget, inside) for item in node.value], file, line)
    if isinstance(node, yaml.ScalarNode) and node.tag in _SCALAR_TAGS:
        return Located(loader.construct_object(node), file, line)
    raise SpecError(f"the tag {node.tag!r} is not plain data", file=file, line=line)


def _follow(tree: Located, root: Path, chain: tuple[Path, ...]) -> Located:
    """Replace includes by what they name."""
    if isinstance(tree.value, list):
        items: list[Located] = []
        for item in tree.value:
            if isinstance(item.value, dict) and set(item.value) == {"include"}:
                found = _included(item.value["include"], root, chain)
                items += found.value if isinstance(found.value, list) else [found]
            else:
                items.append(_follow(item, root, chain))
        return Located(items, tree.file, tree.line)
    if isinstance(tree.value, dict):
        own = {key: _follow(value, root, chain) for key, value in tree.value.items() if key != "include"}
        result = Located(own, tree.file, tree.line)
        if "include" in tree.value:
            wanted = tree.value["include"]
            parts = wanted.value if isinstance(wanted.value, list) else [wanted]
            for part in reversed(parts):
                result = _merge(result, _included(part, root, chain))
        return result
    return tree


def _merge(own: Located, below: Located) -> Located:
    """Lay a mapping over another one; lists and scalars replace."""
    if not isinstance(below.value, dict):
        raise SpecError("an include under a key must name a mapping", file=own.file, line=own.line)
    merged = dict(below.value)
    for key, value in own.value.items():
        both = key in merged and isinstance(value.value, dict) and isinstance(merged[key].value, dict)
        merged[key] = _merge(value, merged[key]) if both else value
    return Located(merged, own.file, own.line)


def _included(wanted: Located, root: Path, chain: tuple[Path, ...]) -> Located:
    def refuse(message: str) -> SpecError:
        return SpecError(message, file=wanted.file, line=wanted.line)

    if not isinstance(wanted.value, str):
        raise refuse("an include is a file name, as in `_shared.yaml` or `_shared.yaml#key`")
    name, _, key = wanted.value.partition("#")
    file = (wanted.file.parent / name).resolve()
    if not file.is_relative_to(root):
        raise refuse(f"the include {name!r} lies outside the suite's folder")
    if not file.is_file():
        raise refuse(f"the included file {name!r} does not exist")
    if file in chain or len(chain) > MAX_INCLUDES:
        raise refuse(
            f"the include {name!r} leads back to itself" if file in chain else "includes are nested too deeply"
        )
    found = _follow(_parse(file), root, (*chain, file))
    for part in filter(None, key.split(".")):
        if not isinstance(found.value, dict) or part not in found.value:
            raise refuse(f"{name!r} has no key {key!r}")
        found = found.value[part]
    return found


def _plain(tree: Located, path: tuple[str | int, ...], places: Places) -> Any:
    places[path] = (tree.file, tree.line)
    if isinstance(tree.value, dict):
        return {key: _plain(value, (*path, key), places) for key, value in tree.value.items()}
    if isinstance(tree.value, list):
        return [_plain(value, (*path, i), places) for i, value in enumerate(tree.value)]
    return tree.value
