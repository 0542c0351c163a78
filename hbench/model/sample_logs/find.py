"""Which files of a path are sample logs, and whose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hbench.model.sample_logs.answer import LoggedAnswer
from hbench.model.sample_logs.inspect import read_inspect
from hbench.model.sample_logs.lm_eval import is_lm_eval, read_lm_eval

_HEAD = 2**16
_LINE = 2**24
"""Bytes of a first line that are looked at: a prompt may be long."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A sample log.

    Attributes
    ----------
    path : Path
        The file.
    format : str
        ``lm-eval`` or ``inspect``.
    """

    path: Path
    format: str

    def answers(self) -> Iterator[LoggedAnswer]:
        """Yield the log's answers."""
        return READERS[self.format](self.path)


READERS: dict[str, Callable[[Path], Iterator[LoggedAnswer]]] = {"inspect": read_inspect, "lm-eval": read_lm_eval}


def find_logs(path: Path) -> Sequence[LogFile]:
    """Return the sample logs that a path is or holds, by name; none where it is something else."""
    if path.is_file():
        format = _format(path)
        return [] if format is None else [LogFile(path, format)]
    candidates = sorted({*path.rglob("samples_*.jsonl"), *path.rglob("*.eval"), *path.rglob("*.json")})
    return [LogFile(file, format) for file in candidates if (format := _format(file)) is not None]


def _format(file: Path) -> str | None:
    if file.suffix == ".eval":
        return "inspect"
    with file.open("rb") as stream:
        if file.suffix == ".json":
            # Inspect's own order of keys: the version and the state come first.
            head = stream.read(_HEAD).decode(errors="replace").lstrip()
            return "inspect" if head.startswith("{") and '"status"' in head and '"eval"' in head else None
        if file.suffix != ".jsonl":
            return None
        try:
            row = json.loads(stream.readline(_LINE))
        except ValueError:
            return None
    return "lm-eval" if isinstance(row, dict) and is_lm_eval(row) else None
