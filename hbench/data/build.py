"""From raw files to a task's folder in the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, HbenchError, PluginError, Record, SpecError
from hbench.core.version import __version__
from hbench.data.code import task_code
from hbench.data.context import StepContext
from hbench.data.files import sha256_file
from hbench.data.filesource import file_panels
from hbench.data.fingerprint import RULES, fingerprint, spec_digest
from hbench.data.funnel import Funnel, FunnelRow
from hbench.data.lines import dump_line
from hbench.data.opening import RecordsOf
from hbench.data.panels import Panels, build_panels, demo_panels, packaged_panels
from hbench.data.records import write_records
from hbench.data.sample import check_parameters, run_steps
from hbench.data.splits import COLUMNS, everything
from hbench.data.store import Store
from hbench.data.stored import DATA, FUNNEL, RECORDS, SPLIT, TABLE, TRAINING, named
from hbench.data.tables import KEY_COLUMNS, key_columns
from hbench.data.taskdata import TaskData, is_evaluation, with_split
from hbench.data.truth import target_values
from hbench.execute import Executor
from hbench.spec.task import FileSource, Task

if TYPE_CHECKING:
    import polars as pl

    from hbench.plugin import Registry

TRAINING_ROWS = 20_000
"""Largest number of training rows whose truth is stored; enough for a marginal distribution."""
DEMO_SEED = 42
_FILES = (TABLE, SPLIT, RECORDS, TRAINING, FUNNEL)


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
        Of the synthetic raw files (``demo``).
    accept_changed : bool
        Whether raw files may differ from the expected ones.
    """

    kind: str
    raw: Path | None = None
    seed: int = DEMO_SEED
    scale: float = 1.0
    accept_changed: bool = False


@dataclass(frozen=True)
class BuildItem:
    """One task to build. For several processes, `records_of` must be a function of a module or a partial of one."""

    task: Task
    records_of: RecordsOf
    folder: Path | None = None


def build_task(
    task: Task,
    *,
    kind: str,
    store: Store,
    registry: Registry,
    records_of: RecordsOf,
    folder: Path | None = None,
    raw: Path | None = None,
    seed: int = DEMO_SEED,
    scale: float = 1.0,
    accept_changed: bool = False,
) -> TaskData:
    """Build one task's data, or find them in the store.

    Parameters
    ----------
    task : Task
        The spec.
    kind : str
        ``build`` (from raw files), ``demo``, ``package``, or ``file`` (a table that the YAML names).
    store, registry : Store and Registry
        Where data are kept; where sources, steps and split rules are found.
    records_of : callable
        Makes the records of rows.
    folder : Path or None
        Folder of the task's YAML file.
    raw, seed, scale, accept_changed
        As in `Recipe`.

    Returns
    -------
    TaskData
        From the store.

    Raises
    ------
    HbenchError
        Raw files are missing or changed, or a step, the split or a prompt does not suit the rows.
    """
    recipe = Recipe(kind, raw, seed, scale, accept_changed)
    return _build(BuildItem(task, records_of, folder), recipe, store, registry)


def build_many(
    items: Sequence[BuildItem], recipe: Recipe, *, store: Store, registry: Registry, executor: Executor
) -> Iterator[tuple[BuildItem, TaskData | HbenchError]]:
    """Build tasks side by side, sources first, and yield each with its data or what went wrong, in order.

    Every byte is the same for any number of jobs: nothing that is written depends on another task.
    """
    sources = {item.task.source: item for item in items if isinstance(item.task.source, str)}
    for _ in executor.map(partial(_try_panels, recipe, store, registry), list(sources.values())):
        # What goes wrong with a source is told for every one of its tasks.
        pass
    results = executor.map(partial(_try_build, recipe, store, registry), items)
    for item, result in zip(items, results, strict=True):
        if isinstance(result, HbenchError):
            yield item, result
            continue
        found = store.find(item.task.name, result, renderer=partial(item.records_of, item.task))
        yield item, found if found is not None else DataError("the data vanished from the store", task=item.task.name)


def _try_panels(recipe: Recipe, store: Store, registry: Registry, item: BuildItem) -> None:
    try:
        _panels(item, recipe, store, registry)
    except HbenchError:
        return


def _try_build(recipe: Recipe, store: Store, registry: Registry, item: BuildItem) -> str | HbenchError:
    try:
        return _build(item, recipe, store, registry).kind
    except HbenchError as error:
        return error


def _panels(item: BuildItem, recipe: Recipe, store: Store, registry: Registry) -> Panels:
    task = item.task
    if isinstance(task.source, FileSource):
        return file_panels(task, task.source, folder=item.folder, store=store)
    source = registry.get("source", task.source, suite=task.suite)()
    if recipe.kind == "demo":
        return demo_panels(task.source, source, suite=task.suite, store=store, seed=recipe.seed, scale=recipe.scale)
    if recipe.kind == "package":
        return packaged_panels(task.source, source, suite=task.suite, store=store)
    if recipe.raw is None:
        raise DataError("building from raw files needs their folder", task=task.name, hint="Name it with --raw FOLDER.")
    return build_panels(
        task.source,
        source,
        suite=task.suite,
        kind=recipe.kind,
        raw=recipe.raw,
        store=store,
        accept_changed=recipe.accept_changed,
    )


def _build(item: BuildItem, recipe: Recipe, store: Store, registry: Registry) -> TaskData:
    task = item.task
    kind = "file" if isinstance(task.source, FileSource) else recipe.kind
    _check_parts(task, registry)
    panels = _panels(item, recipe, store, registry)
    spec = spec_digest(task, item.folder)
    mark = fingerprint(
        {
            "rules": RULES,
            "task": task.name,
            "kind": kind,
            "spec": spec,
            "panels": panels.fingerprint,
            "code": task_code(task, registry),
        }
    )
    if store.has(task.name, kind, mark):
        store.select(task.name, kind, mark)
    else:
        with store.writer(task.name, kind, mark) as out:
            made = {"seed": recipe.seed, "scale": recipe.scale} if kind == "demo" else {}
            _write(item, panels, registry, out, {"kind": kind, "fingerprint": mark, "spec": spec, **made})
    found = store.find(task.name, kind, renderer=partial(item.records_of, task))
    if found is None:
        raise DataError("the data vanished from the store", task=task.name)
    return found


def _check_parts(task: Task, registry: Registry) -> None:
    """Refuse wrong parameters before hours of building rather than after."""
    for step in task.sample:
        check_parameters(registry.get("step", step.name, suite=task.suite), step, task=task.name)
    if task.split is not None:
        check_parameters(registry.get("split", task.split.unit, suite=task.suite), task.split, task=task.name)


def _write(item: BuildItem, panels: Panels, registry: Registry, out: Path, data: dict[str, Any]) -> None:
    task = item.task
    tables = panels.tables()
    source = _start(task, tables, registry)
    context = StepContext(task, source, tables)
    table, funnel = run_steps(source, task.sample, context, resolve=_resolver(task, registry))
    keys = key_columns(task, table)
    split = _split(task, table, keys, registry)
    kept = split["split_position"].is_not_null()
    if not kept.all():
        after = int(kept.sum())
        last = FunnelRow("cap", "Rows within the export budgets", after, len(table) - after)
        funnel = Funnel([*funnel, last])
        table, keys, split = table.filter(kept), keys.filter(kept), split.filter(kept)
    table.write_parquet(out / TABLE)
    keys.hstack(split).write_parquet(out / SPLIT)
    sampled = split["sample"]
    write_records(out / RECORDS, _records(item, table.filter(sampled), keys.filter(sampled), split.filter(sampled)))
    _write_training(task, table, split, out / TRAINING)
    _write_json(out / FUNNEL, funnel.to_json())
    counts = dict(sorted(split["split"].value_counts().iter_rows()))
    sizes = dict(sorted(split.filter(sampled)["split"].value_counts().iter_rows()))
    _write_json(
        out / DATA,
        {
            "format": 1,
            "task": task.name,
            **data,
            "source": task.source if isinstance(task.source, str) else task.source.file,
            "panels": panels.fingerprint,
            "versions": {"hbench": __version__, **task_code(task, registry)},
            "splits": counts,
            "sample": sizes,
            "files": panels.report["files"],
            "counts": panels.report["counts"],
            "problems": [*panels.report["problems"], *_nothing_held_out(counts, sizes)],
            "outputs": {name: sha256_file(out / name) for name in _FILES},
        },
    )


def _nothing_held_out(counts: dict[str, int], sizes: dict[str, int]) -> list[dict[str, Any]]:
    """Say that there is nothing to evaluate on, in the form of a source's problems."""
    if sizes:
        return []
    rows = sum(counts.values())
    if not rows:
        what = "no row passes the sample's steps (see the funnel)"
    elif not any(is_evaluation(name) for name in counts):
        what = "all rows are training data: with fewer than three quarters, none is held out"
    else:
        what = "no row of the evaluation splits is in the sample"
    return [{"file": "sample", "what": f"there are no evaluation records; {what}", "rows": rows, "example": ""}]


def _start(task: Task, tables: dict[str, pl.LazyFrame], registry: Registry) -> pl.LazyFrame:
    """Return the table that the task starts from: one of the source's, or one that a registered function makes."""
    name = task.panel or (task.source if isinstance(task.source, str) else task.task)
    if name in tables:
        return tables[name]
    try:
        make: Callable[..., pl.LazyFrame] = registry.get("table", name, suite=task.suite)
    except PluginError:
        if task.panel is None and len(tables) == 1:
            return next(iter(tables.values()))
        raise DataError(
            f"the source has no table {name!r}",
            task=task.name,
            hint=f"Tables: {', '.join(tables)}. Name one in `panel`.",
        ) from None
    return make(tables, task)


def _resolver(task: Task, registry: Registry) -> Callable[[str], Callable[..., Any]]:
    def resolve(name: str) -> Callable[..., Any]:
        step: Callable[..., Any] = registry.get("step", name, suite=task.suite)
        return step

    return resolve


def _split(task: Task, table: pl.DataFrame, keys: pl.DataFrame, registry: Registry) -> pl.DataFrame:
    rows = table.drop(KEY_COLUMNS, strict=False).hstack(keys)
    if task.split is None:
        return everything(rows)
    rule = registry.get("split", task.split.unit, suite=task.suite)
    try:
        split: pl.DataFrame = rule(rows, task=task.task, **task.split.params)
    except TypeError as error:
        raise SpecError(
            f"the parameters of the split {task.split.unit!r} do not fit: {error}", task=task.name
        ) from error
    except (DataError, SpecError) as error:
        error.task = error.task or task.name
        raise
    if tuple(split.columns) != COLUMNS or len(split) != len(rows):
        raise DataError(
            f"the split {task.split.unit!r} did not return {', '.join(COLUMNS)} for every row", task=task.name
        )
    return split


def _records(item: BuildItem, table: pl.DataFrame, keys: pl.DataFrame, split: pl.DataFrame) -> Iterator[Record]:
    rendered = item.records_of(item.task, table.iter_rows(named=True))
    names = keys.select(KEY_COLUMNS).iter_rows()
    for record, name in zip(named(rendered, names, task=item.task.name), split["split"], strict=True):
        yield with_split(record, name)


def _write_training(task: Task, table: pl.DataFrame, split: pl.DataFrame, path: Path) -> None:
    rows = table.filter((split["split"] == "train") & (split["split_position"] <= TRAINING_ROWS))
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for row in rows.iter_rows(named=True):
            line: dict[str, Any] = {"values": target_values(task, row)}
            if task.group is not None:
                line["group"] = str(row[task.group])
            stream.write(dump_line(line))


def _write_json(path: Path, content: dict[str, Any] | Iterable[Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
