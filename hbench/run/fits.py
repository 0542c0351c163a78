"""What models that fit something tell of their fits, kept with the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hbench.core import JsonValue, Model, Reporting
from hbench.run.entrant import Entrant
from hbench.run.folder import RunFolder, read_json

_FOLDER = "fits"


def write_reports(folder: RunFolder, models: Iterable[tuple[Entrant, Model]]) -> None:
    """Write ``fits/MODEL.json``; what an earlier call told of other tasks stays."""
    for entrant, model in models:
        if isinstance(model, Reporting) and model.reports:
            (folder.path / _FOLDER).mkdir(exist_ok=True)
            folder.write(f"{_FOLDER}/{entrant.slug}.json", {**read_reports(folder.path, entrant), **model.reports})


def read_reports(path: Path, entrant: Entrant) -> Mapping[str, JsonValue]:
    """Return what a run's model told, by task; empty if it told nothing.

    Raises
    ------
    RunError
        The file is damaged.
    """
    name = f"{_FOLDER}/{entrant.slug}.json"
    if not (path / name).is_file():
        return {}
    reports: dict[str, Any] = read_json(path, name)
    return reports
