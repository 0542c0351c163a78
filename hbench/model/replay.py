"""Answers that somebody already has: a prediction file or folder in place of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from hbench.core import Completion, Deliver, Failure, JsonValue, ModelContext, ModelError, Outcome, Request
from hbench.model.delivery import Answer, deliver_all
from hbench.model.options import Options
from hbench.model.prediction_index import PredictionIndex
from hbench.model.sample_logs import SampleLogs, find_logs

FIELDS = ("prediction", "raw_output", "response", "model_output", "assistant")
"""Where a row may hold its answer; the first that is present counts, even if it is null."""


class Replay:
    """`replay:FILE_OR_FOLDER`: predictions in the format of the reference scorers.

    A row has an ``id``, a ``time`` where the task's records have one, perhaps a ``draw``, and the answer in one of
    `FIELDS`. A folder is laid out as ``<task>.jsonl``, ``<split>/<task>.jsonl`` or ``<suite>/<task>.jsonl``; a run's
    own folder will do if it has one model, else the folder of one of its models, ``RUN/predictions/MODEL``. Only the
    places of rows are kept in memory. Logs of lm-eval and Inspect are read too (`hbench.model.sample_logs`).

    Parameters
    ----------
    path : Path
        File or folder.
    field : str or None
        Where the answer is, instead of `FIELDS`.
    """

    generative = False
    reads: Literal["messages", "record"] = "record"

    def __init__(self, path: Path, *, field: str | None = None) -> None:
        self.path = path
        self._field = field
        self._indexes: dict[str, PredictionIndex] = {}
        self._unused = 0

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Replay | SampleLogs:
        """Make the model; the option ``field`` names the answer's field."""
        if not argument:
            raise ModelError("model replay: of what? Write replay:FILE or replay:FOLDER")
        read = Options("replay", options)
        field = read.text("field")
        read.finish()
        path = Path(argument).expanduser()
        if not path.exists():
            raise ModelError("there are no predictions to replay", file=path)
        logs = [] if field else find_logs(path)
        return SampleLogs(path, logs) if logs else cls(path, field=field)

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """Hash of the content: a file that changed is another model."""
        digest = hashlib.sha256()
        for file in self._all_files():
            digest.update(f"{file.stat().st_size} ".encode())
            with file.open("rb") as stream:
                while block := stream.read(2**20):
                    digest.update(block)
        return {"model": "replay", "content": digest.hexdigest(), **({"field": self._field} if self._field else {})}

    def unsupported(self, task: str) -> str | None:
        """Say so where the folder lacks the task's file."""
        if self.path.is_file() or self._files(task):
            return None
        return f"{self.path} holds no {task.rpartition('/')[2]}.jsonl"

    @property
    def notes(self) -> Sequence[str]:
        """Say how many predictions were of no use: a record's name may be misspelt."""
        if not self._unused:
            return []
        return [f"{self._unused:,} logged answers belong to no question that was asked here"]

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Look every draw up."""
        await deliver_all(self._answers(requests), deliver)

    async def aclose(self) -> None:
        """Close the prediction files, and count the rows that nobody asked for."""
        for index in self._indexes.values():
            self._unused += index.unused()
            index.close()
        self._indexes.clear()

    def _answers(self, requests: Iterable[Request]) -> Iterator[Answer]:
        for request in requests:
            task = request.record.task
            if task not in self._indexes:
                self._indexes[task] = PredictionIndex(self._files(task), task)
            for draw in request.draws:
                yield request, draw, self._outcome(self._indexes[task], request, draw)

    def _outcome(self, index: PredictionIndex, request: Request, draw: int) -> Outcome:
        row = index.find(request.record, draw)
        if row is None:
            about = "" if draw == 0 else f", draw {draw}"
            return Failure("request", "missing_prediction", f"no row for {request.record.key}{about}")
        failure = row.get("failure")
        if isinstance(failure, dict):
            return Failure("request", str(failure.get("reason", "failure")), str(failure.get("detail", "")))
        fields = (self._field,) if self._field else FIELDS
        for name in fields:
            if name in row:
                reasoning = row.get("reasoning")
                return Completion(row[name], reasoning if isinstance(reasoning, str) else None)
        return Failure("request", "no_response_field", f"the row has none of {', '.join(fields)}")

    def _files(self, task: str) -> Sequence[Path]:
        if self.path.is_file():
            return [self.path]
        suite, _, name = task.rpartition("/")
        root = self.path / "predictions" if (self.path / "predictions").is_dir() else self.path
        # A run writes SUITE__TASK.jsonl, in a folder for each model.
        names = (f"{suite}/{name}.jsonl", f"{suite}__{name}.jsonl", f"{name}.jsonl")
        for pattern in (*names, *(f"*/{name}" for name in names)):
            if files := sorted(root.glob(pattern)):
                return files
        return []

    def _all_files(self) -> Sequence[Path]:
        return [self.path] if self.path.is_file() else sorted(self.path.rglob("*.jsonl"))
