"""Reading a fine-tuning set: chat examples, validation records, and the set's fingerprint."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from hbench.core import Message, Record, TrainingError
from hbench.data.files import sha256_file
from hbench.data.records import read_records, read_rows

Split = Literal["train", "validation"]
RECORDS = "records"
"""Folder of the validation records, ``records/SUITE/TASK/validation.jsonl``, as `hbench.train.export` writes it."""
_SUFFIXES = (".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class ChatExample:
    """A conversation that ends with the answer to be learned.

    Attributes
    ----------
    messages : tuple of Message
        Turns, the last one the assistant's.
    task : str
        Qualified task.
    id : str
        Names the record within its task; several examples may come from one record.
    """

    messages: tuple[Message, ...]
    task: str
    id: str


def split_file(folder: Path, split: Split) -> Path | None:
    """Return the file of a split, or None.

    Raises
    ------
    TrainingError
        There are two.
    """
    found = [path for suffix in _SUFFIXES if (path := folder / f"{split}{suffix}").is_file()]
    if len(found) > 1:
        raise TrainingError(f"there are two files of examples: {found[0].name} and {found[1].name}", file=folder)
    return found[0] if found else None


def splits_of(folder: Path) -> list[Split]:
    """Return the splits that a set has examples of."""
    known: tuple[Split, ...] = ("train", "validation")
    return [split for split in known if split_file(folder, split) is not None]


def set_notice(folder: Path) -> str | None:
    """Return what must be said of a set and of all that is made from it, as that its data are synthetic."""
    try:
        notice = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("notice")
    except (OSError, ValueError, AttributeError):
        # A set without a manifest was not made by hbench, and says nothing of its origin.
        return None
    return notice if isinstance(notice, str) else None


def read_examples(folder: Path, split: Split, *, per_task: int | None = None) -> Iterator[ChatExample]:
    """Yield a split's examples in their order, of each task at most so many; nothing where there is no such file.

    Raises
    ------
    DataError, TrainingError
        For what is wrong with the file or a row, with file and line.
    """
    path = split_file(folder, split)
    if path is None:
        return
    counts: Counter[str] = Counter()
    for line, row in read_rows(path):
        example = _example(row, path, line)
        counts[example.task] += 1
        if per_task is None or counts[example.task] <= per_task:
            yield example


def validation_records(folder: Path, per_task: int) -> dict[str, list[Record]]:
    """Return the validation records of each task, at most so many.

    They are those beside the examples, which know no-change answers and groups; of a set that has none, what the
    validation examples tell: prompt and true answer.
    """
    files = sorted((folder / RECORDS).rglob("validation.jsonl"))
    records: dict[str, list[Record]] = {}
    for file in files:
        task = file.parent.relative_to(folder / RECORDS).as_posix()
        for record in read_records(file, task=task):
            if len(records.setdefault(task, [])) == per_task:
                break
            records[task].append(record)
    if not files:
        for example in read_examples(folder, "validation", per_task=per_task):
            *prompt, answer = example.messages
            record = Record(example.task, example.id, messages=tuple(prompt), gold=answer.content)
            records.setdefault(example.task, []).append(record)
    return {task: some for task, some in records.items() if some}


def set_fingerprint(folder: Path) -> str:
    """Return the SHA-256 over names and contents of all that a training reads.

    Raises
    ------
    TrainingError
        There are no training examples.
    """
    train = split_file(folder, "train")
    if train is None:
        raise TrainingError(
            "there are no training examples (train.jsonl or train.parquet)",
            file=folder,
            hint="Make them with `hbench sft export --tasks TASKS --out FOLDER`.",
        )
    files = [train, split_file(folder, "validation"), *sorted((folder / RECORDS).rglob("validation.jsonl"))]
    lines = (f"{file.relative_to(folder).as_posix()}\0{sha256_file(file)}\n" for file in files if file is not None)
    return sha256("".join(lines).encode()).hexdigest()


def _example(row: dict[str, Any], path: Path, line: int) -> ChatExample:
    messages, task, name = (row.get(key) for key in ("messages", "task", "id"))
    if not isinstance(task, str) or not isinstance(name, str):
        raise TrainingError("an example needs the texts 'task' and 'id'", file=path, line=line)
    try:
        turns = tuple(Message(turn["role"], turn["content"]) for turn in messages or ())
    except (TypeError, KeyError) as error:
        raise TrainingError(
            "'messages' is no list of turns with 'role' and 'content'", file=path, line=line, task=task, record=name
        ) from error
    if not all(isinstance(part, str) for turn in turns for part in turn):
        raise TrainingError("a turn holds something else than text", file=path, line=line, task=task, record=name)
    if not turns or turns[-1].role != "assistant":
        raise TrainingError(
            "the example does not end with an answer of the assistant", file=path, line=line, task=task, record=name
        )
    return ChatExample(turns, task, name)
