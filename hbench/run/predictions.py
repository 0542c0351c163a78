"""Prediction files: every draw of a model on a task, in the format that scorers of prediction files read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from hbench.core import Completion, Failure, Outcome, Parsed, Record, RunError
from hbench.core.disk import disk_hint
from hbench.data.files import atomic_file
from hbench.data.lines import plain


class PredictionWriter:
    """Writes one line per draw: ``id, time, prediction``, then ``draw, values, repaired, error`` of our own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, record: Record, draw: int, outcome: Outcome, result: Parsed | Failure) -> None:
        """Write one draw; a draw without an answer has the prediction null."""
        line: dict[str, object] = {"id": record.id}
        if record.time is not None:
            line["time"] = record.time
        line["prediction"] = outcome.text if isinstance(outcome, Completion) else None
        line["draw"] = draw
        if isinstance(result, Parsed):
            line["values"] = result.values
            if result.repaired is not None:
                line["repaired"] = result.repaired
        else:
            line["error"] = result.reason
        if isinstance(outcome, Completion) and outcome.reasoning is not None:
            line["reasoning"] = outcome.reasoning
        if isinstance(outcome, Completion) and outcome.probabilities is not None:
            line["probabilities"] = dict(outcome.probabilities)
        self._stream.write(json.dumps(line, default=plain) + "\n")


@contextmanager
def prediction_file(folder: Path, model: str, task: str) -> Iterator[PredictionWriter]:
    """Open ``predictions/<model>/<suite>__<task>.jsonl`` of a run; the file is whole or not there.

    Raises
    ------
    RunError
        When it cannot be written.
    """
    path = folder / "predictions" / model / f"{task.replace('/', '__')}.jsonl"
    try:
        with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
            yield PredictionWriter(stream)
    except OSError as error:
        raise RunError(f"cannot write: {error.strerror or error}", file=path, hint=disk_hint(error)) from error
