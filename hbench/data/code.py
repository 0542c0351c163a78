"""Versions of the code that shapes data: what a change of it must make anew."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import PluginError
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry


def task_code(task: Task, registry: Registry) -> dict[str, str]:
    """Return the versions of all code that shapes the task's rows and prompts, by ``kind name``."""
    parts = {("step", step.name) for step in task.sample} | {("parser", task.answer.parser)}
    if task.split is not None:
        parts.add(("split", task.split.unit))
    if task.prompt.adapter is not None:
        parts.add(("adapter", task.prompt.adapter))
    parts |= {("source", name) for name in task.sources}
    code = {f"{kind} {name}": code_version(registry.get(kind, name, suite=task.suite)) for kind, name in sorted(parts)}
    # The prompts' own package, whatever function the caller reaches it by.
    return {**code, "prompt": folder_version(Path(__file__).parents[1] / "prompt")}


def changed_code(versions: Mapping[str, Any], task: Task, registry: Registry) -> tuple[str, ...]:
    """Return the parts of a task's code that are no longer what stored data were made by.

    Parameters
    ----------
    versions : mapping
        As `task_code` returned them when the data were made.
    task, registry : Task and Registry
        The task, and the code as it is now. Where a part cannot be imported, stored data stay as good as they were.
    """
    try:
        now = task_code(task, registry)
    except PluginError:
        return ()
    return tuple(sorted(part for part, version in now.items() if versions.get(part) != version))


def code_version(component: object) -> str:
    """Return the version of a component's code: its own ``version``, else a digest of the modules that it is made of.

    These are the module that defines it and all that this imports, directly or not, from the same package. A script
    in no package counts with the modules beside it that it imports.
    """
    version = getattr(component, "version", None)
    if isinstance(version, str):
        return version
    kind = component if inspect.isclass(component) or inspect.isroutine(component) else type(component)
    try:
        file = Path(inspect.getfile(kind))
    except (TypeError, OSError):
        return "unknown"
    return _modules_version(kind.__module__, file)


# Both are kept, since a process runs the code that it has imported, whatever happens to the files later.
@lru_cache(maxsize=4096)
def _modules_version(name: str, file: Path) -> str:
    digest = hashlib.sha256()
    for one, path in sorted(_modules(name, file).items()):
        digest.update(one.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=64)
def folder_version(folder: Path) -> str:
    """Return a digest of all Python files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _modules(name: str, file: Path) -> dict[str, Path]:
    """Return the files of a module and of all that it imports from its own package, by the modules' names."""
    depth = name.count(".") + (file.name == "__init__.py")
    root = file.parents[depth] if depth < len(file.parents) else file.parent
    package = name.partition(".")[0]
    if depth == 0 or _file(root, name) != file:
        # A script, or a module that was loaded under another name: what lies beside it is its package.
        name, root, package = file.stem, file.parent, ""
    found: dict[str, Path] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        path = file if one == name else _file(root, one)
        if path is None or one in found or (package and one.partition(".")[0] != package):
            continue
        found[one] = path
        waiting += _imports(path, one)
    return found


def _file(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


@lru_cache(maxsize=4096)
def _imports(path: Path, name: str) -> tuple[str, ...]:
    """Return the names of modules that a module imports anywhere, and of what may be modules."""
    parent = name if path.name == "__init__.py" else name.rpartition(".")[0]
    out = []
    for node in _running(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            out += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = parent.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(part for part in (above, node.module) if part)
            out += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(part for part in out if part)


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those that only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _running(node)
