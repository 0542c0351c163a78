"""The fits of one task's targets, and where they are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hbench.core import JsonValue
from hbench.data import fingerprint
from hbench.data.code import folder_version
from hbench.data.files import atomic_folder
from hbench.learn import FeatureEncoder, Fitted
from hbench.learn.stored import can_be_saved, load_encoder, load_fit, save_encoder, save_fit
from hbench.spec import Task
from hbench.spec.cache import cache_folder

_MOST = 20
"""Features whose importance a report shows."""


@dataclass(frozen=True)
class TaskFit:
    """A task's fitted targets.

    Attributes
    ----------
    encoder : FeatureEncoder
        Fitted on the training rows.
    fitted : list of Fitted
        One for each target.
    """

    encoder: FeatureEncoder
    fitted: list[Fitted]

    def save(self, folder: Path) -> None:
        """Write the fits below `folder`."""
        save_encoder(self.encoder, folder)
        for place, fitted in enumerate(self.fitted):
            save_fit(fitted, folder, f"target-{place}")

    @classmethod
    def load(cls, folder: Path, targets: int) -> TaskFit:
        """Read the fits of so many targets."""
        return cls(load_encoder(folder), [load_fit(folder, f"target-{place}") for place in range(targets)])


def report_of(fitted: Fitted) -> dict[str, JsonValue]:
    """Return how a fit went, as JSON values."""
    report = asdict(fitted.report)
    report["importance"] = dict(list(report["importance"].items())[:_MOST])
    return report


class FitCache:
    """Fits kept under everything that determined them: data, spec, settings, library and our own code.

    Only fits with a safe file format are kept (boosters and constants); the others are made again.

    Parameters
    ----------
    model : str
        The model's name.
    settings : mapping
        Its settings.
    """

    def __init__(self, model: str, settings: Mapping[str, JsonValue]) -> None:
        self._model, self._settings = model, dict(settings)

    def folder(self, task: Task, data: str) -> Path:
        """Return where the fits of a task are kept; `data` is the fingerprint of its data."""
        key = {
            "settings": self._settings,
            "data": data,
            "targets": [target.model_dump(mode="json") for target in task.targets],
            "predictors": [part.model_dump(mode="json") for part in task.predictors],
            "learn": task.learn.model_dump(mode="json"),
            "xgboost": _xgboost_version(),
            "code": folder_version(Path(__file__).parents[1] / "learn"),
        }
        return cache_folder(os.environ) / "fits" / self._model / task.suite / task.task / fingerprint(key)[:24]

    def find(self, task: Task, data: str) -> TaskFit | None:
        """Return the kept fits, or None."""
        folder = self.folder(task, data)
        return TaskFit.load(folder, len(task.targets)) if folder.is_dir() else None

    def keep(self, task: Task, data: str, fit: TaskFit) -> None:
        """Keep fits, if all of them can be."""
        if all(can_be_saved(fitted) for fitted in fit.fitted):
            folder = self.folder(task, data)
            folder.parent.mkdir(parents=True, exist_ok=True)
            with atomic_folder(folder) as made:
                fit.save(made)


def _xgboost_version() -> str | None:
    for name in ("xgboost", "xgboost-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None
