"""`hbench data`: make, fetch, inspect and hand on data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.executor import EXECUTOR, make_executor
from hbench.cli.options import INCLUDE_PATHS
from hbench.cli.terminal import say, say_json

if TYPE_CHECKING:
    from hbench.core import HbenchError
    from hbench.data.sources import Recipe
    from hbench.data.status import SourceStatus, StoredStatus, TaskStatus
    from hbench.data.taskdata import RecordsOf
    from hbench.plugin import Registry
    from hbench.spec import Task, TaskEntry, TaskIndex

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FUNNEL = "Show the rows after every step."
_JOBS = click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")


@click.group("data")
def command() -> None:
    """Make, fetch, inspect and hand on data."""


@command.command("status")
@click.argument("tasks", nargs=-1)
@click.option("--raw", type=FOLDER, help="Folder that holds the raw files.")
@click.option("--check", is_flag=True, help="Also compare the raw files' checksums, which reads them whole.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@INCLUDE_PATHS
def status(tasks: Sequence[str], raw: Path | None, check: bool, as_json: bool, include_paths: Sequence[Path]) -> None:
    """Show what the store has of TASKS, and the raw files that more would need."""
    from hbench.data import Store
    from hbench.data.status import task_status
    from hbench.plugin import default_registry

    store, registry = Store(), default_registry()
    found = [
        task_status(entry.load(), store=store, registry=registry, folder=entry.path.parent, raw=raw, check=check)
        for entry in _select(tasks or ("*",), include_paths)[1]
    ]
    if as_json:
        from dataclasses import asdict

        say_json([asdict(one) for one in found])
        return
    say(f"Store: {store.root}")
    shown: dict[tuple[str, ...], str] = {}
    for one in found:
        _show_status(one, shown)


@command.command("build")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--raw", type=FOLDER, help="Folder that holds the provider folders.")
@click.option("--kind", type=click.Choice(["build", "package"]), default="build", show_default=True)
@click.option("--accept-changed", is_flag=True, help="Take raw files that differ from those the suite was written for.")
@click.option("--accept-codes", is_flag=True, help="Take codes that the files' descriptions do not know for no answer.")
@click.option("--extractor", metavar="MODEL", help="Model that reads texts for the sources whose raw files need it.")
@click.option("--funnel/--no-funnel", default=True, show_default=True, help=_FUNNEL)
@_JOBS
@EXECUTOR
@INCLUDE_PATHS
@click.pass_context
def build(
    context: click.Context,
    tasks: Sequence[str],
    raw: Path | None,
    kind: str,
    accept_changed: bool,
    accept_codes: bool,
    extractor: str | None,
    funnel: bool,
    jobs: int,
    executor: str,
    include_paths: Sequence[Path],
) -> None:
    """Build TASKS from raw files, from data that a package carries, or from the tables that their YAML names."""
    from hbench.data.sources import Recipe

    if extractor is not None:
        _extract(tasks, raw, extractor, include_paths)
    recipe = Recipe(kind, raw, accept_changed=accept_changed, accept_codes=accept_codes)
    context.exit(_build_all(tasks, recipe, jobs, executor, include_paths, funnel))


@command.command("demo")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--seed", type=int, default=42, show_default=True, help="Seed of the synthetic files.")
@click.option(
    "--scale", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True, help="Their size."
)
@click.option("--funnel/--no-funnel", default=False, show_default=True, help=_FUNNEL)
@_JOBS
@EXECUTOR
@INCLUDE_PATHS
@click.pass_context
def demo(
    context: click.Context,
    tasks: Sequence[str],
    seed: int,
    scale: float,
    funnel: bool,
    jobs: int,
    executor: str,
    include_paths: Sequence[Path],
) -> None:
    """Make synthetic raw files in the providers' layouts and build TASKS from them."""
    from hbench.data.export import SYNTHETIC
    from hbench.data.sources import Recipe

    code = _build_all(tasks, Recipe("demo", seed=seed, scale=scale), jobs, executor, include_paths, funnel)
    say(SYNTHETIC, err=True)
    context.exit(code)


@command.command("fetch")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--set", "name", metavar="NAME", help="Which of the suite's released sets (default: the first).")
@click.option("--revision", help="Branch, tag or commit of the data set; the commit is pinned.")
@INCLUDE_PATHS
def fetch(tasks: Sequence[str], name: str | None, revision: str | None, include_paths: Sequence[Path]) -> None:
    """Download the released data of the suites of TASKS."""
    from hbench.core import DataError
    from hbench.data import Store, hub

    index, entries = _select(tasks, include_paths)
    for suite in sorted({entry.suite for entry in entries}):
        sets = index.suite(suite).hub
        if not sets:
            raise DataError(
                f"the suite {suite} has no released data on the hub", hint="Its page names them under `hub`."
            )
        if name is not None and name not in sets:
            raise DataError(f"the suite {suite} has no released set {name!r}", hint=f"Sets: {', '.join(sets)}.")
        repository = sets[name] if name is not None else next(iter(sets.values()))
        if (terms := index.suite(suite).released) is not None:
            say(terms)
        folder = hub.fetch(Store(), suite, repository, revision=revision)
        say(f"{suite}: {repository} at {folder.name} in {folder}")
        for notice in index.suite(suite).notices:
            say(f"  {notice.text}")


@command.command("export")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="A new folder.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["hf", "parquet", "jsonl", "predictions"]),
    default="hf",
    show_default=True,
    help="hf: Parquet with a data card, for `datasets`. predictions: the published predictions of a released folder, "
    "for `replay:`.",
)
@click.option("--data", "choices", multiple=True, metavar="[SUITE=]KIND", help="Which data, as in `hbench eval`.")
@click.option("--sample", type=click.Choice(["eval", "all"]), default="eval", show_default=True)
@INCLUDE_PATHS
def export(
    tasks: Sequence[str],
    out: Path,
    form: Any,
    choices: Sequence[str],
    sample: Any,
    include_paths: Sequence[Path],
) -> None:
    """Write the records of TASKS to a folder that `datasets` and `--data FOLDER` read."""
    from hbench.data import DataChoice, Store, open_data
    from hbench.data.export import export as write
    from hbench.plugin import default_registry

    index, entries = _select(tasks, include_paths)
    chosen = [DataChoice.parse(text) for text in choices]
    if form == "predictions":
        _export_predictions(entries, chosen, out)
        return
    store, registry = Store(), default_registry()
    data = (
        open_data(
            entry.load(),
            chosen,
            store=store,
            registry=registry,
            suite=index.suite(entry.suite),
            records_of=records_of(entry, registry),
            folder=entry.path.parent,
        )
        for entry in entries
    )
    specs: dict[str, list[Task]] = {}
    for entry in sorted(entries, key=lambda entry: entry.suite):
        specs.setdefault(entry.suite, []).append(entry.load())
    notices = [text for suite, some in specs.items() for text in index.suite(suite).notices_of(some)]
    files = write(data, out, format=form, sample=sample, notices=notices)
    say(f"{len(files)} files in {out}")


def records_of(entry: TaskEntry, registry: Registry) -> RecordsOf:
    """Return what makes the records of a task's rows; it can be sent to other processes."""
    from hbench.prompt import table_records

    return partial(table_records, registry=registry, root=entry.root, file=entry.path)


def _select(tasks: Sequence[str], include_paths: Sequence[Path]) -> tuple[TaskIndex, list[TaskEntry]]:
    from hbench.spec import discover

    index = discover(include_paths)
    return index, index.select(list(tasks))


def _extract(tasks: Sequence[str], raw: Path | None, model: str, include_paths: Sequence[Path]) -> None:
    """Have a model write the raw files that are its reading of others."""
    from hbench.core import Extracting, SelectionError
    from hbench.plugin import default_registry
    from hbench.run.extract import extract

    if raw is None:
        raise SelectionError("an extraction needs the folder of the texts", hint="Name it with --raw FOLDER.")
    registry = default_registry()
    _, entries = _select(tasks, include_paths)
    names = dict.fromkeys((name, entry.suite) for entry in entries for name in entry.load().sources)
    sources = {name: registry.get("source", name, suite=suite)() for name, suite in names}
    wanted = {name: source for name, source in sources.items() if isinstance(source, Extracting)}
    if not wanted:
        raise SelectionError(f"no source of {', '.join(tasks)} has anything to extract", hint="Leave --extractor out.")
    for name, source in wanted.items():
        done = extract(source, name, raw, model, registry=registry)
        invalid = "".join(f"; {count:,} {reason}" for reason, count in done.reasons.items())
        say(f"{name}: {done.valid:,} of {done.questions:,} texts read, {done.asked:,} newly asked{invalid}")


def _build_all(
    tasks: Sequence[str], recipe: Recipe, jobs: int, executor: str, include_paths: Sequence[Path], show: bool
) -> int:
    """Build tasks and show each with its funnel, or the ends of it; return the exit code."""
    from hbench.core import HbenchError
    from hbench.data import Store
    from hbench.data.build import BuildItem, build_many
    from hbench.plugin import default_registry

    _, entries = _select(tasks, include_paths)
    registry = default_registry()
    items = [BuildItem(entry.load(), records_of(entry, registry), entry.path.parent) for entry in entries]
    failed = 0
    results = build_many(
        items, recipe, store=Store(), registry=registry, executor=make_executor(executor, registry, jobs=jobs)
    )
    for entry, (item, result) in zip(entries, results, strict=True):
        if isinstance(result, HbenchError):
            entry.locate(result)
            failed += 1
            _show_failure(item.task.name, result)
            continue
        funnel = result.funnel()
        rows = " -> ".join(f"{row.rows:,}" for row in (funnel.rows[0], funnel.rows[-1])) if funnel else ""
        splits = ", ".join(f"{name} {count:,}" for name, count in result.splits().items())
        say(f"{result.task}: {rows} rows ({splits}); {result.kind} {result.fingerprint[:12]}")
        if show and funnel:
            say(funnel.table())
        _show_problems(result.info.get("problems", ()))
    return 2 if failed else 0


def _show_problems(problems: Sequence[Mapping[str, Any]]) -> None:
    """Show what was odd in the raw files; what several of them have in common takes one line."""
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for problem in problems:
        by_kind.setdefault(problem["what"], []).append(problem)
    for what, alike in by_kind.items():
        files = list(dict.fromkeys(problem["file"] for problem in alike))
        where = files[0] if len(files) == 1 else f"{len(files)} files, the first {files[0]}"
        rows = sum(problem["rows"] for problem in alike)
        example = next((f", e.g. {problem['example']}" for problem in alike if problem["example"]), "")
        say(f"  {where}: {what}: {rows:,} row{'' if rows == 1 else 's'}{example}")


def _show_failure(task: str, error: HbenchError) -> None:
    text = str(error)
    say(f"{'' if task in text else task + ': '}{text}", err=True)


def _show_status(one: TaskStatus, shown: dict[tuple[str, ...], str]) -> None:
    """Show a task; raw files that an earlier one of `shown` needs as well are not listed again."""
    kinds = ", ".join(f"{stored.kind} ({', '.join(_about(stored))})" for stored in one.stored)
    say(f"{one.task}: {kinds or 'nothing in the store'}")
    listed: set[str] = set()
    for source in one.sources:
        _show_source(source, one.task, shown, listed)


def _about(stored: StoredStatus) -> Iterator[str]:
    yield f"{stored.rows:,} rows"
    if not stored.current:
        yield "of an older spec"
    if stored.older_code:
        yield f"of older code: {', '.join(stored.older_code)}"


def _show_source(one: SourceStatus, task: str, shown: dict[tuple[str, ...], str], listed: set[str]) -> None:
    """Show a source's raw files but those of `listed`, which another source of the task reads as well."""
    if one.problem:
        say(f"  source {one.source}: {one.problem}")
    files = tuple(file.path for file in one.raw)
    if files and (first := shown.setdefault(files, task)) != task:
        say(f"  raw files of {one.source}: as for {first}")
        return
    for file in one.raw:
        if file.path in listed:
            continue
        listed.add(file.path)
        mark = {True: "present", False: "missing", None: "needed"}[file.present]
        if not file.required and not file.present:
            mark = "optional"
        if file.changed:
            mark = "changed"
        digest = f"; sha256 {file.sha256}" if file.sha256 else ""
        ways = " or ".join((file.path, *file.alternatives))
        say(f"  {mark:<8} {ways}  from {file.origin}; {file.terms}{digest}")


def _export_predictions(entries: Sequence[TaskEntry], choices: Sequence[Any], out: Path) -> None:
    from hbench.core import DataError
    from hbench.data.layouts.householdbench_full import write_published_predictions

    folder = next((choice.folder for choice in reversed(choices) if choice.folder is not None), None)
    if folder is None:
        raise DataError("published predictions are read from a released folder", hint="Name it with --data FOLDER.")
    for entry in entries:
        count = write_published_predictions(folder, entry.task, out / f"{entry.task}.jsonl")
        say(f"{entry.name}: {count:,} predictions")
    say(f"Use them as the model replay:{out}")
