"""What reads files that are not ours, each with a whole file to begin from."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hbench.core import AnswerSpec, Message, Record, Request
from hbench.data import read_records, write_records
from hbench.data.filesource import head
from hbench.model.prediction_index import PredictionIndex
from hbench.model.replay import Replay
from hbench.model.sample_logs import find_logs
from hbench.run.journal import Journal
from hbench.run.manifest import choices_of, entrants_of, read_manifest, settings_of
from hbench.run.results import Results
from hbench.spec.task import FileSource, Task

Reader = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """A kind of file.

    Attributes
    ----------
    name : str
        What the file is called.
    whole : bytes
        An honest one.
    read : callable
        Reads all of it.
    """

    name: str
    whole: bytes
    read: Reader


def _records(count: int = 12) -> list[Record]:
    return [
        Record(
            task="s/t",
            id=f"person-{i}",
            time="2020-01",
            release_date="2020-06-01",
            messages=(Message("system", "You are héré."), Message("user", f"You have {i} dollars.\nHow much?")),
            gold=f"[{i}]",
            naive="[1]",
            group="a" if i % 2 else None,
            weight=1.5 if i % 3 else 1.0,
            predictors={"age": 30 + i, "pay": 1.5, "past": [1, 2, None]},
            metadata={"note": "x,y"},
        )
        for i in range(count)
    ]


def _written(suffix: str, folder: Path) -> bytes:
    path = folder / f"made{suffix}"
    write_records(path, _records())
    return path.read_bytes()


def _task(name: str) -> Task:
    return Task.model_validate(
        {"task": "t", "suite": "s", "topic": "x", "source": {"file": name, "missing": [".", "NA"]}, "key": {"id": "id"},
         "targets": [{"name": "y", "kind": "numeric"}], "prompt": {"paragraphs": ["?"]},
         "answer": {"parser": "json_array"}, "metrics": ["mae"]}
    )  # fmt: skip


def _table(path: Path) -> object:
    task = _task(path.name)
    assert isinstance(task.source, FileSource)
    return head(task, task.source, folder=path.parent)


def _parquet_table(folder: Path) -> bytes:
    import polars as pl

    path = folder / "made-table.parquet"
    pl.DataFrame({"id": ["a", "b"] * 20, "y": [1.0, None] * 20, "z": [[1, 2], []] * 20}).write_parquet(path)
    return path.read_bytes()


def _replayed(path: Path) -> object:
    index = PredictionIndex([path], "s/t")
    try:
        return [index.find(record, draw) for record in _records() for draw in (0, 1)]
    finally:
        index.close()


def _asked(path: Path) -> object:
    """Ask whatever `replay:FILE` makes of a file for all records."""
    model: Any = Replay.create(str(path), {}, None)  # type: ignore[arg-type]
    said: list[object] = []

    async def deliver(request: Request, draw: int, outcome: object) -> None:
        said.append(outcome)

    async def ask() -> None:
        try:
            await model.answer(
                (Request(record, record.messages, AnswerSpec(()), draws=(0, 1)) for record in _records()), deliver
            )
        finally:
            await model.aclose()

    _ = (model.identity, model.unsupported("s/t"))
    asyncio.run(ask())
    assert len(said) == 2 * len(_records())
    return getattr(model, "notes", None)


def _logged(path: Path) -> object:
    return [list(log.answers()) for log in find_logs(path)]


def _journal(folder: Path) -> bytes:
    from hbench.core import Completion, Failure

    path = folder / "made.sqlite"
    journal = Journal(path)

    async def fill() -> None:
        for i in range(40):
            await journal.add(bytes([i]) * 20, 0, "m", Completion(f"[{i}]", "hm", 3, 4, 0.5))  # type: ignore[arg-type]
            await journal.add(bytes([i]) * 20, 1, "m", Failure("request", "timeout", "x"))  # type: ignore[arg-type]

    asyncio.run(fill())
    journal.close()
    with sqlite3.connect(path) as closed:
        closed.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    closed.close()
    return path.read_bytes()


def _read_journal(path: Path) -> object:
    for rest in ("-wal", "-shm"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    journal = Journal(path)
    try:
        keys = [bytes([i]) * 20 for i in range(40)]
        return [len(journal), journal.answered(keys), journal.outcomes(keys), journal.spend("m")]  # type: ignore[arg-type]
    finally:
        journal.close()


def _lines(rows: Iterable[object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _inspect() -> dict[str, Any]:
    def sample(i: int) -> dict[str, Any]:
        return {
            "id": f"person-{i}", "epoch": 1, "input": "How much?", "metadata": {"task": "s/t", "id": f"person-{i}"},
            "messages": [{"role": "user", "content": "How much?"}, {"role": "assistant", "content": "[1]"}],
            "output": {"choices": [{"message": {"content": [{"type": "text", "text": f"[{i}]"}]}}],
                       "usage": {"input_tokens": 1, "output_tokens": 2}},
            "attachments": {},
        }  # fmt: skip

    return {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [sample(i) for i in range(6)]}


def _archive() -> bytes:
    log, stream = _inspect(), io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "status": "success"}))
        for number, sample in enumerate(log["samples"]):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    return stream.getvalue()


HONEST = {
    "version": 1,
    "plan": "83",
    "started": "2026-01-01T00:00:00+0000",
    "finished": None,
    "status": "done",
    "command": ["hbench", "eval"],
    "tasks": ["s/t"],
    "left_out": [{"task": "s/u", "reason": "absent"}],
    "models": [
        {
            "label": "m",
            "identity": {"model": "m"},
            "reads": "messages",
            "sampling": {"temperature": 0.5, "stop": ["x"]},
            "unsupported": {"s/u": "no prompts"},
            "slug": "m",
            "key": "2827",
            "spent": {"answers": 1, "tokens_in": 2, "tokens_out": 3, "cost": None},
        }
    ],
    "settings": {"limit": 5, "draws": None, "seed": 1, "sample": "eval", "splits": [], "repairs": [], "policy": None},
    "data": {"s/t": {"kind": "demo", "fingerprint": "0f", "splits": ["test"], "draws": 1}},
    "choices": [{"value": "demo", "suite": None}],
    "include_paths": ["tasks"],
    "versions": {"hbench": "0.1.0", "python": "3.11", "system": "x"},
    "plugins": [{"name": "p", "distribution": "d", "version": "1", "status": "ok"}],
}
"""A run's manifest, as short as it may be."""


def read_run_manifest(path: Path) -> object:
    """Read a manifest, and everything that runs are opened by."""
    manifest = read_manifest(path.parent)
    return settings_of(manifest), choices_of(manifest), [entrant.key for entrant in entrants_of(manifest)]


@lru_cache
def cases(folder: Path) -> dict[str, Case]:
    """Return all kinds of files; honest ones are made in a folder."""
    table = b"id,y,name\n" + b"".join(b'p%d,%d.5,"x, y"\n' % (i, i) for i in range(30)) + b"z,.,NA\n"
    predictions = _lines(
        {"id": f"person-{i}", "time": "2020-01", "draw": draw, "prediction": f"[{i}]", "reasoning": "hm"}
        for i in range(12)
        for draw in (0, 1)
    )
    samples = _lines(
        {"doc_id": i, "doc": {"task": "s/t", "id": f"person-{i}", "time": "2020-01", "messages": "[]"},
         "arguments": {"gen_args_0": {"arg_0": "How much?"}}, "resps": [[f"[{i}]", None]], "filter": "none"}
        for i in range(12)
    )  # fmt: skip
    found = [
        *(
            Case(f"records{suffix}", _written(suffix, folder), lambda path: list(read_records(path, task="s/t")))
            for suffix in (".jsonl", ".csv", ".parquet")
        ),
        Case("table.csv", table, _table),
        Case("table.tsv", table.replace(b",", b"\t"), _table),
        Case("table.parquet", _parquet_table(folder), _table),
        Case("predictions.jsonl", predictions, _replayed),
        Case("replayed.jsonl", predictions, _asked),
        Case("samples_t.jsonl", samples, _logged),
        Case("asked_samples_t.jsonl", samples, _asked),
        Case("log.json", json.dumps(_inspect()).encode(), _logged),
        Case("log.eval", _archive(), _logged),
        Case("asked.eval", _archive(), _asked),
        Case("journal.sqlite", _journal(folder), _read_journal),
        Case("manifest.json", json.dumps(HONEST).encode(), read_run_manifest),
        Case("scores.json", json.dumps({"version": 1, "rows": []}).encode(), lambda path: Results.load(path.parent)),
    ]
    return {case.name: case for case in found}
