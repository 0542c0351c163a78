"""From raw files to a task's folder in the store."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, HbenchError, PluginError, Record
from hbench.core.errors import foreign
from hbench.core.version import __version__
from hbench.data.code import task_code
from hbench.data.context import SLICE, StepContext
from hbench.data.files import sha256_file
from hbench.data.fingerprint import RULES, fingerprint, spec_digest
from hbench.data.folder import DATA, FUNNEL, RECORDS, SPLIT, TABLE, TRAINING
from hbench.data.funnel import Funnel, FunnelRow
from hbench.data.lines import dump_line
from hbench.data.panels import Panels
from hbench.data.parameters import parameter_faults
from hbench.data.parts import split_columns, write_sample
from hbench.data.passing import TableWriter
from hbench.data.records import write_records
from hbench.data.sources import DEMO_SEED, Recipe, all_made, all_tables, joint_report, task_panels, try_source_panels
from hbench.data.splits import COLUMNS, everything
from hbench.data.store import Store
from hbench.data.stored import named
from hbench.data.tables import KEY_COLUMNS, key_columns, rows_at
from hbench.data.taskdata import RecordsOf, TaskData, is_evaluation, with_split
from hbench.data.truth import target_columns, target_values
from hbench.execute import Executor
from hbench.spec.task import FileSource, Task

if TYPE_CHECKING:
    import polars as pl

    from hbench.plugin import Registry

TRAINING_ROWS = 20_000
"""Largest number of training rows whose truth is stored; enough for a marginal distribution."""
_FILES = (TABLE, SPLIT, RECORDS, TRAINING, FUNNEL)


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
    accept_codes: bool = False,
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
    raw, seed, scale, accept_changed, accept_codes
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
    recipe = Recipe(kind, raw, seed, scale, accept_changed, accept_codes)
    _check_parts(task, registry)
    panels = task_panels(task, recipe, store=store, registry=registry, folder=folder)
    return _build(BuildItem(task, records_of, folder), panels, recipe, store, registry)


def build_many(
    items: Sequence[BuildItem], recipe: Recipe, *, store: Store, registry: Registry, executor: Executor
) -> Iterator[tuple[BuildItem, TaskData | HbenchError]]:
    """Build the sources side by side, each once, then the tasks, and yield each with its data or what went wrong.

    They come in order. Every byte is the same for any number of jobs: nothing that is written depends on another task.
    """
    faults = [_fault(item.task, registry) for item in items]
    sound = [item for item, fault in zip(items, faults, strict=True) if fault is None]
    sources = list(dict.fromkeys((item.task.suite, name) for item in sound for name in item.task.sources))
    # What goes wrong with a source is told for every one of its tasks.
    made = dict(zip(sources, executor.map(partial(try_source_panels, recipe, store, registry), sources), strict=True))
    parts = [(item, {name: made[item.task.suite, name] for name in item.task.sources}) for item in sound]
    results = executor.map(partial(_try_build, recipe, store, registry), parts)
    for item, fault in zip(items, faults, strict=True):
        result = fault if fault is not None else next(results)
        if isinstance(result, HbenchError):
            yield item, result
            continue
        found = store.find(item.task.name, result, renderer=partial(item.records_of, item.task))
        yield item, found if found is not None else DataError("the data vanished from the store", task=item.task.name)


def _fault(task: Task, registry: Registry) -> HbenchError | None:
    try:
        _check_parts(task, registry)
    except HbenchError as error:
        return error
    return None


def _try_build(
    recipe: Recipe, store: Store, registry: Registry, part: tuple[BuildItem, dict[str, Panels | HbenchError]]
) -> str | HbenchError:
    item, made = part
    try:
        # A table of the researcher's own belongs to this task alone.
        panels = all_made(made) or task_panels(item.task, recipe, store=store, registry=registry, folder=item.folder)
        return _build(item, panels, recipe, store, registry).kind
    except HbenchError as error:
        return error


def _build(item: BuildItem, panels: Mapping[str, Panels], recipe: Recipe, store: Store, registry: Registry) -> TaskData:
    task = item.task
    kind = "file" if isinstance(task.source, FileSource) else recipe.kind
    spec = spec_digest(task, item.folder)
    marks = {name: one.fingerprint for name, one in panels.items()}
    mark = fingerprint(
        {
            "rules": RULES,
            "task": task.name,
            "kind": kind,
            "spec": spec,
            "panels": marks,
            "code": task_code(task, registry),
        }
    )
    if store.has(task.name, kind, mark):
        store.select(task.name, kind, mark)
    else:
        with store.writer(task.name, kind, mark) as out:
            made = {"seed": recipe.seed, "scale": recipe.scale} if kind == "demo" else {}
            _write(
                item, panels, registry, out, {"kind": kind, "fingerprint": mark, "spec": spec, "panels": marks, **made}
            )
    found = store.find(task.name, kind, renderer=partial(item.records_of, task))
    if found is None:
        raise DataError("the data vanished from the store", task=task.name)
    return found


def _check_parts(task: Task, registry: Registry) -> None:
    """Refuse wrong parameters before hours of building rather than after."""
    for fault in parameter_faults(task, registry):
        raise fault


def _write(item: BuildItem, panels: Mapping[str, Panels], registry: Registry, out: Path, data: dict[str, Any]) -> None:
    task = item.task
    report = joint_report(panels)
    tables = all_tables(panels, task=task.name)
    source = _start(task, tables, next(iter(panels.values())).tables(), registry)
    with tempfile.TemporaryDirectory(dir=out, prefix=".rows-") as folder:
        context = StepContext(task, source, tables, scratch=Path(folder))
        files, funnel = write_sample(task, source, context, resolve=_resolver(task, registry), folder=Path(folder))
        split, dropped = _write_split(task, files, registry, out)
    if dropped:
        funnel = Funnel([*funnel, FunnelRow("cap", "Rows within the export budgets", len(split), dropped)])
    write_records(out / RECORDS, _records(item, out / TABLE, split))
    _write_training(task, out / TABLE, split, out / TRAINING)
    _write_json(out / FUNNEL, funnel.to_json())
    counts = dict(sorted(split["split"].value_counts().iter_rows()))
    sizes = dict(sorted(split.filter("sample")["split"].value_counts().iter_rows()))
    _write_json(
        out / DATA,
        {
            "format": 1,
            "task": task.name,
            **data,
            "versions": {"hbench": __version__, **task_code(task, registry)},
            "splits": counts,
            "sample": sizes,
            "files": report["files"],
            "counts": report["counts"],
            "problems": [*report["problems"], *_nothing_held_out(counts, sizes)],
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


def _start(
    task: Task, tables: dict[str, pl.LazyFrame], first: dict[str, pl.LazyFrame], registry: Registry
) -> pl.LazyFrame:
    """Return the table that the task starts from: one of the sources', or one that a registered function makes."""
    name = task.panel or (task.sources[0] if task.sources else task.task)
    if name in tables:
        return tables[name]
    try:
        make: Callable[..., pl.LazyFrame] = registry.get("table", name, suite=task.suite)
    except PluginError:
        if task.panel is None and len(first) == 1:
            return next(iter(first.values()))
        raise DataError(
            f"the sources have no table {name!r}" if len(task.sources) > 1 else f"the source has no table {name!r}",
            task=task.name,
            hint=f"Tables: {', '.join(tables)}. Name one in `panel`.",
        ) from None
    return make(tables, task)


def _resolver(task: Task, registry: Registry) -> Callable[[str], Callable[..., Any]]:
    def resolve(name: str) -> Callable[..., Any]:
        step: Callable[..., Any] = registry.get("step", name, suite=task.suite)
        return step

    return resolve


def _write_split(task: Task, files: list[Path], registry: Registry, out: Path) -> tuple[pl.DataFrame, int]:
    """Split the rows; write the split, and the rows with a place in it. Return it and the number of the others."""
    import polars as pl

    table = pl.scan_parquet(files)
    wanted = split_columns(task)
    some = table.select(name for name in table.collect_schema().names() if name in wanted).collect().rechunk()
    keys = key_columns(task, some)
    split = _split(task, some, keys, registry)
    kept = split["split_position"].is_not_null()
    if len(files) == 1 and kept.all():
        files[0].rename(out / TABLE)
    else:
        _write_kept(table, kept, out / TABLE)
    split = keys.filter(kept).hstack(split.filter(kept))
    split.write_parquet(out / SPLIT)
    return split, len(kept) - len(split)


def _write_kept(table: pl.LazyFrame, kept: pl.Series, path: Path) -> None:
    writer = TableWriter(path)
    for start in range(0, max(len(kept), 1), SLICE):
        writer.add(table.slice(start, SLICE).collect().filter(kept[start : start + SLICE]))
    writer.close()


def _split(task: Task, table: pl.DataFrame, keys: pl.DataFrame, registry: Registry) -> pl.DataFrame:
    rows = table.drop(KEY_COLUMNS, strict=False).hstack(keys)
    if task.split is None:
        return everything(rows)
    rule = registry.get("split", task.split.unit, suite=task.suite)
    try:
        with foreign(f"the split {task.split.unit!r}", DataError):
            split: pl.DataFrame = rule(rows, task=task.task, **task.split.params)
    except HbenchError as error:
        error.task, error.at = error.task or task.name, error.at or ("split",)
        raise
    if tuple(split.columns) != COLUMNS or len(split) != len(rows):
        raise DataError(
            f"the split {task.split.unit!r} did not return {', '.join(COLUMNS)} for every row", task=task.name
        )
    return split


def _records(item: BuildItem, table: Path, split: pl.DataFrame) -> Iterator[Record]:
    places = split["sample"].arg_true()
    rendered = item.records_of(item.task, rows_at(table, places))
    sampled = split[places]
    names = sampled.select(KEY_COLUMNS).iter_rows()
    for record, name in zip(named(rendered, names, task=item.task.name), sampled["split"], strict=True):
        yield with_split(record, name)


def _write_training(task: Task, table: Path, split: pl.DataFrame, path: Path) -> None:
    places = ((split["split"] == "train") & (split["split_position"] <= TRAINING_ROWS)).arg_true()
    columns = {*target_columns(task), *(() if task.group is None else (task.group,))}
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for row in rows_at(table, places, columns):
            line: dict[str, Any] = {"values": target_values(task, row)}
            if task.group is not None:
                line["group"] = str(row[task.group])
            stream.write(dump_line(line))


def _write_json(path: Path, content: dict[str, Any] | Iterable[Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
