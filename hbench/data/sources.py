"""A task's sources: the panels of each, made or found, and all their tables together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, HbenchError
from hbench.core.errors import foreign
from hbench.data.filesource import file_panels
from hbench.data.panels import Panels, build_panels, demo_panels, packaged_panels
from hbench.data.store import Store
from hbench.spec.task import FileSource, Task

if TYPE_CHECKING:
    import polars as pl

    from hbench.plugin import Registry

DEMO_SEED = 42


@dataclass(frozen=True)
class Recipe:
    """How data are made, apart from the task.

    Attributes
    ----------
    kind : str
        ``build``, ``demo``, ``package`` or ``file``.
    raw : Path or None
        Folder of the raw files (``build``).
    seed, scale : int and float
        Of the synthetic raw files (``demo``), the same for every source.
    accept_changed : bool
        Whether raw files may differ from the expected ones.
    accept_codes : bool
        Whether codes that the files' descriptions do not know count as no answer.
    """

    kind: str
    raw: Path | None = None
    seed: int = DEMO_SEED
    scale: float = 1.0
    accept_changed: bool = False
    accept_codes: bool = False


def task_panels(
    task: Task, recipe: Recipe, *, store: Store, registry: Registry, folder: Path | None = None
) -> dict[str, Panels]:
    """Return the panels of a task's sources by the sources' names, in the task's order."""
    if isinstance(task.source, FileSource):
        return {task.source.file: file_panels(task, task.source, folder=folder, store=store)}
    make = partial(try_source_panels, recipe, store, registry)
    return all_made({name: make((task.suite, name)) for name in task.sources})


def all_made(made: Mapping[str, Panels | HbenchError]) -> dict[str, Panels]:
    """Return panels by their sources; what went wrong with any of them is raised as one error."""
    faults = [one for one in made.values() if isinstance(one, HbenchError)]
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise DataError(f"{len(faults)} sources cannot be made", hint="\n".join(map(str, faults)))
    return {name: one for name, one in made.items() if isinstance(one, Panels)}


def try_source_panels(
    recipe: Recipe, store: Store, registry: Registry, source: tuple[str, str]
) -> Panels | HbenchError:
    """Return the panels of a source (suite and name), or what goes wrong with them."""
    suite, name = source
    try:
        with foreign(f"the source {name!r}", DataError):
            return source_panels(name, recipe, suite=suite, store=store, registry=registry)
    except HbenchError as error:
        return error


def source_panels(name: str, recipe: Recipe, *, suite: str, store: Store, registry: Registry) -> Panels:
    """Return the panels of one registered source.

    Raises
    ------
    DataError
        Raw files are needed and their folder is not named, or they are missing or changed, or hold unknown codes.
    """
    source = registry.get("source", name, suite=suite)()
    if recipe.kind == "demo":
        return demo_panels(name, source, suite=suite, store=store, seed=recipe.seed, scale=recipe.scale)
    if recipe.kind == "package":
        return packaged_panels(name, source, suite=suite, store=store)
    if recipe.raw is None:
        raise DataError("building from raw files needs their folder", hint="Name it with --raw FOLDER.")
    return build_panels(
        name,
        source,
        suite=suite,
        kind=recipe.kind,
        raw=recipe.raw,
        store=store,
        accept_changed=recipe.accept_changed,
        accept_codes=recipe.accept_codes,
    )


def all_tables(panels: Mapping[str, Panels], *, task: str) -> dict[str, pl.LazyFrame]:
    """Return the tables of all sources by name.

    Raises
    ------
    DataError
        Two sources have a table of the same name.
    """
    tables: dict[str, pl.LazyFrame] = {}
    owner: dict[str, str] = {}
    for source, one in panels.items():
        for name, table in one.tables().items():
            if name in owner:
                raise DataError(f"the sources {owner[name]!r} and {source!r} both have a table {name!r}", task=task)
            owner[name], tables[name] = source, table
    return tables


def joint_report(panels: Mapping[str, Panels]) -> dict[str, Any]:
    """Return what all sources read, counted and found odd, as of one."""
    counts: Counter[str] = Counter()
    for one in panels.values():
        counts.update(one.report["counts"])
    return {
        "files": {name: digest for one in panels.values() for name, digest in one.report["files"].items()},
        "counts": dict(counts),
        "problems": [problem for one in panels.values() for problem in one.report["problems"]],
    }
