"""The fits of one task's targets, and where they are kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hbench.core import JsonValue
from hbench.data import fingerprint
from hbench.data.code import folder_version
from hbench.data.files import atomic_folder, sha256_file
from hbench.learn import FeatureEncoder, Fitted
from hbench.learn.stored import can_be_saved, load_encoder, load_fit, save_encoder, save_fit
from hbench.model.task_sample import features_of
from hbench.spec import Task
from hbench.spec.cache import cache_folder

_MOST = 20
"""Features whose importance a report shows."""
_SUMS = "SHA256SUMS"
"""File with the digests of the others beside it."""


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


def report_of(fitted: Fitted, encoder: FeatureEncoder) -> dict[str, JsonValue]:
    """Return how a fit went, and what was odd about its predictors, as JSON values."""
    report = asdict(fitted.report)
    report["importance"] = dict(list(report["importance"].items())[:_MOST])
    report["empty"] = encoder.empty
    report["unseen"] = {name: rows for name, rows in encoder.unseen.items() if rows}
    return report


class FitCache:
    """Fits kept under everything that determined them: data, spec, settings, library and our own code.

    Only fits with a safe file format are kept (boosters and constants); the others are made again. A cache that is
    damaged or cannot be read or written only makes an evaluation slower.

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
            "features": [asdict(feature) for feature in features_of(task)],
            "learn": task.learn.model_dump(mode="json"),
            "xgboost": _xgboost_version(),
            "code": folder_version(Path(__file__).parents[1] / "learn"),
        }
        return cache_folder(os.environ) / "fits" / self._model / task.suite / task.task / fingerprint(key)[:24]

    def find(self, task: Task, data: str) -> TaskFit | None:
        """Return the kept fits, or None; those with a file that is not as it was written are removed."""
        folder = self.folder(task, data)
        # Sums that fit tell of no damage; whoever wrote them may have written anything.
        with suppress(OSError, ValueError, KeyError, TypeError):
            if (folder / _SUMS).read_bytes() == _sums(folder):
                return TaskFit.load(folder, len(task.targets))
        shutil.rmtree(folder, ignore_errors=True)
        return None

    def keep(self, task: Task, data: str, fit: TaskFit) -> None:
        """Keep fits, if all of them can be and the cache can be written."""
        if all(can_be_saved(fitted) for fitted in fit.fitted):
            with suppress(OSError), atomic_folder(self.folder(task, data)) as made:
                fit.save(made)
                (made / _SUMS).write_bytes(_sums(made))


def _sums(folder: Path) -> bytes:
    """Return the digests of a folder's files, as ``sha256sum`` writes them."""
    files = sorted(file for file in folder.iterdir() if file.name != _SUMS)
    return "".join(f"{sha256_file(file)}  {file.name}\n" for file in files).encode()


def _xgboost_version() -> str | None:
    for name in ("xgboost", "xgboost-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None
