"""Scoring a stored run again: its answers by the rules of today."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import InvalidPolicy, RunError
from hbench.data.store import Store
from hbench.run.evaluate import JOURNAL, Result, has_journal
from hbench.run.folder import RunFolder
from hbench.run.journal import Journal
from hbench.run.manifest import choices_of, entrants_of, read_manifest, settings_of
from hbench.run.opening import open_plan
from hbench.run.plan import LeftOut, Plan
from hbench.run.results import Results, score_run

if TYPE_CHECKING:
    from hbench.plugin import Registry


def rescore(
    path: Path, *, registry: Registry | None = None, store: Store | None = None, policy: InvalidPolicy | None = None
) -> Result:
    """Recompute predictions and scores from a run's journal; nothing is asked.

    Parameters
    ----------
    path : Path
        The run's folder.
    registry : Registry or None
        Components (default: those of all installed plugins).
    store : Store or None
        Where data is (default: the user's).
    policy : str or None
        Score invalid answers by this policy instead of the one the run was scored by.

    Raises
    ------
    RunError
        When the folder is no run, is in use, or its data have changed since.
    """
    plan, notices, registry = reopen(path, registry=registry, store=store, policy=policy)
    manifest = read_manifest(path)
    entrants = entrants_of(manifest)
    try:
        gave_up = {about["model"]: about["error"] for about in Results.load(path).gave_up}
    except RunError:
        # A run that was stopped before it was scored.
        gave_up = {}
    if not has_journal(path):
        raise RunError("the run has no journal", file=path)
    with RunFolder(path) as folder:
        journal = Journal(path / JOURNAL)
        try:
            results = score_run(plan, entrants, journal, folder, registry=registry, gave_up=gave_up, notices=notices)
        finally:
            journal.close()
    return Result(path, results, {})


def reopen(
    path: Path, *, registry: Registry | None = None, store: Store | None = None, policy: InvalidPolicy | None = None
) -> tuple[Plan, dict[str, tuple[str, ...]], Registry]:
    """Open the tasks and data of a stored run.

    Raises
    ------
    RunError
        When the data are not those of the run any longer.
    """
    from hbench.plugin import default_registry

    registry = registry or default_registry()
    manifest = read_manifest(path)
    settings = settings_of(manifest)
    plan, notices = open_plan(
        manifest["tasks"],
        choices_of(manifest),
        settings if policy is None else replace(settings, policy=policy),
        registry=registry,
        include_paths=[Path(folder) for folder in manifest["include_paths"]],
        store=store,
    )
    left_out = tuple(LeftOut(about["task"], about["reason"]) for about in manifest.get("left_out", ()))
    plan = replace(plan, left_out=left_out)
    for planned in plan.tasks:
        told = manifest["data"][planned.name]["fingerprint"]
        if told != planned.data.fingerprint:
            raise RunError(
                f"the {planned.data.kind} data have changed since the run ({told[:12]} is now "
                f"{planned.data.fingerprint[:12]})",
                file=path,
                task=planned.name,
                hint="Run `hbench eval` again for the new data; the old scores stay as they are.",
            )
    return plan, notices, registry
