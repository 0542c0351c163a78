"""The folder of a training: what it was begun with, where it stands, and what came of it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hbench.core import JsonValue, TrainingError
from hbench.core.leftovers import PREFIX
from hbench.data.files import atomic_file, make_folder
from hbench.run.lock import FolderLock

FORMAT, VERSION = "hbench training", 1
FREE = frozenset({"device_batch_size", "eval_batch_size", "keep_checkpoints", "log_every", "tensorboard"})
"""Settings that may change when a training goes on: they decide how it is computed and told, not what is learned."""


class TrainingFolder:
    """The folder of one training.

    Attributes
    ----------
    adapter : Path
        The trained adapter, in peft's format; there when the training is finished.
    checkpoints, tensorboard : Path
        Where transformers writes its own.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.adapter = path / "adapter"
        self.checkpoints = path / "checkpoints"
        self.tensorboard = path / "tensorboard"
        self._manifest = path / "manifest.json"

    @contextmanager
    def locked(self, wanted: bool = True) -> Iterator[None]:
        """Hold the folder for this process; one process of a training on several devices does so for all.

        Raises
        ------
        RunError
            When another training holds it.
        """
        make_folder(self.path)
        lock = FolderLock(self.path) if wanted else None
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def tokens(self, split: str) -> Path:
        """Return the file of a split's encoded examples."""
        return self.path / "tokens" / f"{split}.arrow"

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest, None where nothing was begun.

        Raises
        ------
        TrainingError
            The folder holds something else.
        """
        if not self._manifest.exists():
            inside = (path.name for path in self.path.iterdir())
            strange = [name for name in inside if name != "run.lock" and not name.startswith(PREFIX)]
            if strange:
                raise TrainingError(
                    f"the folder holds something else than a training: {', '.join(sorted(strange)[:3])}",
                    file=self.path,
                    hint="Name a new folder with --out.",
                )
            return None
        try:
            manifest = json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise TrainingError(f"the manifest cannot be read: {error}", file=self._manifest) from error
        if not isinstance(manifest, dict) or (manifest.get("format"), manifest.get("version")) != (FORMAT, VERSION):
            raise TrainingError(f"the folder holds no training of version {VERSION}", file=self._manifest)
        return manifest

    def write(self, manifest: Mapping[str, JsonValue]) -> None:
        """Write the manifest."""
        with atomic_file(self._manifest) as path:
            path.write_text(json.dumps(manifest, indent=1, allow_nan=False) + "\n", encoding="utf-8")

    def check_same(self, begun: Mapping[str, JsonValue], manifest: Mapping[str, JsonValue]) -> None:
        """Refuse to go on with something else than was begun.

        Raises
        ------
        TrainingError
            Naming what differs.
        """
        before, now = begun["config"], manifest["config"]
        differing = [name for name in now if name not in FREE and now[name] != before.get(name)]
        differing += [name for name in ("base", "data") if begun[name] != manifest[name]]
        if differing:
            raise TrainingError(
                f"the folder holds another training: {', '.join(differing)} differ",
                file=self.path,
                hint="Name a new folder with --out, or repeat the command that began this one.",
            )

    def begin_anew(self) -> None:
        """Remove what was prepared for a training that has not learned anything."""
        for path in (self.path / "tokens", self.checkpoints, self.tensorboard):
            if path.exists():
                shutil.rmtree(path)

    def last_checkpoint(self) -> Path | None:
        """Return the latest whole checkpoint.

        The trainer's state is written last, so that a checkpoint that was being written when the training was killed
        has none, or half of one.
        """
        found = [(int(match[1]), path) for path in self.checkpoints.glob("checkpoint-*")
                 if (match := re.fullmatch(r"checkpoint-(\d+)", path.name))]  # fmt: skip
        for _, path in sorted(found, reverse=True):
            try:
                json.loads((path / "trainer_state.json").read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            return path
        return None
