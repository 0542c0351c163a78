"""The manifest of a training: what was trained on what, with what, and what came of it."""

from __future__ import annotations

import importlib.metadata
import math
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hbench.core import JsonValue
from hbench.core.version import __version__
from hbench.model.weights import folder_fingerprint
from hbench.train.config import TrainConfig
from hbench.train.tokens import TokenCounts
from hbench.train.training_folder import FORMAT, VERSION
from hbench.train.validation import TaskScore

_PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets", "tokenizers")


def begin(config: TrainConfig, *, base: Mapping[str, JsonValue], data: str, notice: str | None) -> dict[str, Any]:
    """Return the manifest of a training that begins now.

    Parameters
    ----------
    config : TrainConfig
        Its settings.
    base : mapping
        What the base model is.
    data : str
        Fingerprint of the set.
    notice : str or None
        What must be said wherever something made of these data is shown.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "status": "running",
        **({"notice": notice} if notice else {}),
        "started": _now(),
        "finished": None,
        "config": config.model_dump(mode="json"),
        "base": dict(base),
        "data": data,
        "versions": versions(),
    }


def finish(
    manifest: Mapping[str, JsonValue],
    *,
    adapter: Path,
    history: Sequence[Mapping[str, Any]],
    best_step: int | None,
    steps: int,
    planned: int,
    seconds: float,
) -> dict[str, Any]:
    """Return the manifest of a training that is done.

    Parameters
    ----------
    manifest : mapping
        As it was begun.
    adapter : Path
        The adapter's folder.
    history : sequence of mapping
        Transformers' log.
    best_step : int or None
        The step whose adapter was kept; None: the last.
    steps, planned : int
        Steps that were made, and that were to be made.
    seconds : float
        Time of the last stretch, since the training was last gone on with.
    """
    losses = [_rounded(entry, ("step", "loss", "cross_entropy", "number_token_loss", "learning_rate", "grad_norm"))
              for entry in history if "loss" in entry]  # fmt: skip
    validations = [
        {"step": entry["step"], **{name.removeprefix("eval_"): _plain(value) for name, value in entry.items()
                                   if name.startswith("eval_") and not name.endswith(_UNTOLD)}}
        for entry in history if "eval_loss" in entry and entry["step"]
    ]  # fmt: skip
    return {
        **manifest,
        "status": "finished",
        "finished": _now(),
        "adapter": f"sha256:{folder_fingerprint(adapter)}",
        "steps": steps,
        "planned_steps": planned,
        "stopped_early": steps < planned,
        "best_step": best_step,
        "seconds": round(seconds, 1),
        "losses": losses,
        "validations": validations,
    }


def dump_counts(counts: Mapping[str, TokenCounts]) -> dict[str, JsonValue]:
    """Return counts as plain JSON."""
    return {task: asdict(count) for task, count in counts.items()}


def dump_scores(scores: Mapping[str, TaskScore]) -> list[JsonValue]:
    """Return scores as plain JSON."""
    return [score.dump() for score in scores.values()]


def versions() -> dict[str, JsonValue]:
    """Return the versions of all that a training's numbers hang on."""
    found: dict[str, JsonValue] = {"hbench": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        found[package] = importlib.metadata.version(package)
    return {**found, "system": platform.platform()}


_UNTOLD = ("_runtime", "_per_second", "_time", "_selection")


def _rounded(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, JsonValue]:
    return {name: _plain(entry[name]) for name in names if name in entry}


def _plain(value: Any) -> JsonValue:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
