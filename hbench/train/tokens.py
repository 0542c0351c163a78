"""Encoded examples on disk: what fits is written, what does not is counted and named."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from hbench.core import TrainingError
from hbench.data.files import atomic_file
from hbench.train.chat import ChatEncoder, Encoded
from hbench.train.dataset import ChatExample
from hbench.train.digits import DigitTokens

_BATCH = 1000
_NAMED = 5


@dataclass
class TokenCounts:
    """What became of a task's examples.

    Attributes
    ----------
    examples : int
        Examples that are trained on.
    tokens, learned : int
        Their tokens, and those of them that belong to answers.
    longest_answer : int
        Tokens of the longest answer, its end token included.
    too_long : int
        Examples left out.
    too_long_ids : list of str
        The first of them.
    """

    examples: int = 0
    tokens: int = 0
    learned: int = 0
    longest_answer: int = 0
    too_long: int = 0
    too_long_ids: list[str] = field(default_factory=list)

    def add(self, encoded: Encoded) -> None:
        """Count an example that is trained on."""
        answer = len(encoded.answer)
        self.examples += 1
        self.tokens += len(encoded.input_ids)
        self.learned += answer
        self.longest_answer = max(self.longest_answer, answer)


@dataclass(frozen=True)
class Limits:
    """What an example must keep to.

    Attributes
    ----------
    length : int
        Tokens of prompt and answer together.
    refuse : bool
        Whether a longer example is an error instead of being left out.
    digits : DigitTokens or None
        Where given, every number of an answer must be written in these tokens.
    """

    length: int
    refuse: bool = False
    digits: DigitTokens | None = None


def write_tokens(
    path: Path, examples: Iterable[ChatExample], encoder: ChatEncoder, limits: Limits
) -> dict[str, TokenCounts]:
    """Write examples as an Arrow stream with the columns ``input_ids`` and ``labels``; memory does not grow.

    Returns
    -------
    dict
        Counts by task; they are written beside the file too (``.json``).

    Raises
    ------
    TrainingError
        As `ChatEncoder.encode`, and for what `limits` refuses, with the example.
    """
    import pyarrow as pa

    counts: dict[str, TokenCounts] = {}
    schema = pa.schema([("input_ids", pa.list_(pa.int32())), ("labels", pa.list_(pa.int32()))])
    with (
        atomic_file(path) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_stream(sink, schema) as out,
    ):
        kept = _kept(examples, encoder, limits, counts)
        while batch := [{"input_ids": one.input_ids, "labels": one.labels} for one in islice(kept, _BATCH)]:
            out.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))
    with atomic_file(path.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps({task: asdict(count) for task, count in counts.items()}, indent=1) + "\n")
    return counts


def written(path: Path) -> bool:
    """Say whether examples are written already, counts and all."""
    return path.is_file() and path.with_suffix(".json").is_file()


def read_tokens(path: Path) -> Any:
    """Return written examples as a `datasets.Dataset` that is read from disk as needed."""
    from datasets import Dataset

    return Dataset.from_file(str(path))


def read_counts(path: Path) -> dict[str, TokenCounts]:
    """Return the counts of written examples."""
    stored = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return {task: TokenCounts(**count) for task, count in stored.items()}


def _kept(
    examples: Iterable[ChatExample], encoder: ChatEncoder, limits: Limits, counts: dict[str, TokenCounts]
) -> Iterator[Encoded]:
    walk = iter(examples)
    while batch := list(islice(walk, _BATCH)):
        try:
            encoded = list(encoder.encode(example.messages for example in batch))
        except TrainingError as error:
            if error.record is not None:
                example = batch[int(error.record)]
                error.task, error.record = example.task, example.id
            raise
        yield from _fitting(zip(batch, encoded, strict=True), limits, counts)


def _fitting(
    examples: Iterable[tuple[ChatExample, Encoded]], limits: Limits, counts: dict[str, TokenCounts]
) -> Iterator[Encoded]:
    for example, one in examples:
        count = counts.setdefault(example.task, TokenCounts())
        if len(one.input_ids) > limits.length:
            if limits.refuse:
                raise TrainingError(
                    f"the example has {len(one.input_ids):,} tokens, and max_length is {limits.length:,}",
                    task=example.task,
                    record=example.id,
                    hint="Raise max_length, or leave such examples out with --set too_long=leave_out.",
                )
            count.too_long += 1
            count.too_long_ids += [example.id] if len(count.too_long_ids) < _NAMED else []
            continue
        unseen = None if limits.digits is None else limits.digits.unseen(one.answer)
        if unseen is not None:
            raise TrainingError(
                f"the answer is written with the token {unseen!r}, in which the number-token loss sees no digit",
                task=example.task,
                record=example.id,
                hint="Train this model with cross-entropy alone: --loss ce.",
            )
        count.add(one)
        yield one
