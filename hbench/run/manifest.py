"""The manifest: what was run, on what, with what."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import JsonValue, RunError
from hbench.core.version import __version__
from hbench.data.choice import DataChoice
from hbench.run.entrant import Entrant
from hbench.run.folder import read_json
from hbench.run.manifest_form import faults
from hbench.run.plan import Plan, Settings
from hbench.run.scrub import scrub, scrub_all

if TYPE_CHECKING:
    from hbench.plugin import Registry

VERSION = 1
MANIFEST = "manifest.json"


def now() -> str:
    """Return the time as ISO 8601 with its offset."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def make_manifest(
    plan: Plan,
    entrants: Sequence[Entrant],
    specs: Sequence[str],
    choices: Sequence[DataChoice],
    *,
    registry: Registry,
    include_paths: Sequence[Path],
    notices: Mapping[str, Sequence[str]],
    command: Sequence[str],
) -> dict[str, JsonValue]:
    """Return the manifest of a run that begins now; no secret is part of it."""
    settings = plan.settings
    return {
        "format": "hbench run",
        "version": VERSION,
        "plan": plan.digest(entrants),
        "started": now(),
        "finished": None,
        "status": "running",
        "command": scrub_all(list(command)),
        "tasks": [planned.name for planned in plan.tasks],
        "left_out": [asdict(one) for one in plan.left_out],
        "models": [
            {**scrub_all(entrant.dump()), "key": entrant.digest, "spec": scrub(spec)}
            for entrant, spec in zip(entrants, specs, strict=True)
        ],
        "settings": {
            "limit": settings.limit,
            "draws": settings.draws,
            "seed": settings.seed,
            "sample": settings.sample,
            "splits": list(settings.splits),
            "repairs": sorted(settings.repairs),
            "policy": settings.policy,
            "without": list(settings.without),
            "answer_mode": settings.answer_mode,
        },
        "data": {
            planned.name: {
                "kind": planned.data.kind,
                "fingerprint": planned.data.fingerprint,
                "path": str(planned.data.path),
                "splits": list(planned.splits),
                "draws": planned.draws,
                "files": dict(planned.data.files),
            }
            for planned in plan.tasks
        },
        "specs": {planned.name: planned.spec_fingerprint for planned in plan.tasks},
        # Absolute, so that the run can be scored again from any folder.
        "choices": [{"value": str(choice.folder or choice.value), "suite": choice.suite} for choice in choices],
        "include_paths": [str(path.absolute()) for path in include_paths],
        "notices": {suite: list(texts) for suite, texts in notices.items() if texts},
        "versions": {"hbench": __version__, "python": platform.python_version(), "system": platform.platform()},
        "plugins": [
            {
                "name": plugin.name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "status": plugin.status,
            }
            for plugin in registry.plugins
        ],
    }


def read_manifest(folder: Path) -> dict[str, JsonValue]:
    """Read a run's manifest.

    Raises
    ------
    RunError
        When the folder is no run, one of another version, or its manifest is damaged.
    """
    manifest = read_json(folder, MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("version") != VERSION:
        raise RunError(f"the manifest does not have version {VERSION}", file=folder / MANIFEST)
    if wrong := faults(manifest):
        raise RunError(
            f"the manifest is damaged: {'; '.join(wrong)}",
            file=folder / MANIFEST,
            hint="Restore it, or move it away: the run's command writes it anew, and the journal keeps the answers.",
        )
    try:
        entrants_of(manifest)
    except TypeError as error:
        raise RunError(f"the manifest is damaged: generation settings: {error}", file=folder / MANIFEST) from error
    return manifest


def check_same_plan(manifest: Mapping[str, JsonValue], stored: Mapping[str, JsonValue], folder: Path) -> None:
    """Refuse to mix two plans in one folder.

    Raises
    ------
    RunError
        Naming what differs.
    """
    if manifest["plan"] == stored["plan"]:
        return
    differs = [name for name in ("tasks", "models", "data", "settings") if _told(manifest, name) != _told(stored, name)]
    raise RunError(
        f"the folder holds another run: {', '.join(differs) or 'the plan'} differ",
        file=folder,
        hint="Give another folder with --out DIR, or leave --out away: every plan has a folder of its own.",
    )


def _told(manifest: Mapping[str, JsonValue], name: str) -> JsonValue:
    value = manifest[name]
    if name == "tasks":
        return sorted(value)
    if name == "models":
        return sorted((about["label"], about["key"]) for about in value)
    if name == "data":
        return {task: (about["fingerprint"], about["splits"]) for task, about in value.items()}
    return {key: value[key] for key in ("seed", "sample")} | {"without": value.get("without", [])}


def settings_of(manifest: Mapping[str, JsonValue]) -> Settings:
    """Return the settings that a manifest tells."""
    stored = manifest["settings"]
    return Settings(
        limit=stored["limit"],
        draws=stored["draws"],
        seed=stored["seed"],
        sample=stored["sample"],
        splits=tuple(stored["splits"]),
        repairs=frozenset(stored["repairs"]),
        policy=stored["policy"],
        without=tuple(stored.get("without", ())),
        answer_mode=stored.get("answer_mode", "text"),
    )


def choices_of(manifest: Mapping[str, JsonValue]) -> list[DataChoice]:
    """Return the data choices that a manifest tells."""
    return [DataChoice(about["value"], about["suite"]) for about in manifest["choices"]]


def entrants_of(manifest: Mapping[str, JsonValue]) -> list[Entrant]:
    """Return the models that a manifest tells."""
    return [Entrant.load(about) for about in manifest["models"]]
