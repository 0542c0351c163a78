"""Records, true answers and splits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hbench.core import AnswerSpec, Completion, Failure, JsonValue, Record, Value
from hbench.data import read_records, write_records
from hbench.data.taskdata import is_evaluation
from hbench.parse import parse_gold
from hbench.testing.subject import TaskUnderTest
from hbench.testing.unchecked import UncheckedError


def data(task: TaskUnderTest) -> Iterator[str]:
    """Make the task's data; without raw files nothing may stand in the way."""
    if task.must_have_data:
        made = task.make_data()
        if not any(is_evaluation(split) for split in made.splits()):
            yield "no row is for evaluation: every split is for training"
        for problem in made.info.get("problems", ()):
            if not problem["what"]:
                yield "the source notes a problem without saying which"
        return
    # Absent raw files are no fault of the suite.
    _ = task.data


def records(task: TaskUnderTest) -> Iterator[str]:
    """Yield records that are malformed, or named as another one is."""
    found = task.records
    repeated = {key: times for key, times in Counter(record.key for record in found).items() if times > 1}
    for key, times in repeated.items():
        yield f"{times} records are called {key!r}: `key` must name a row (id, and time for panels)"
    columns = set(task.spec.predictor_columns)
    for record in found:
        for fault in _malformed(record, task.name, columns):
            yield f"record {record.key}: {fault}"
    if repeated:
        return
    with TemporaryDirectory(prefix="hbench-check-") as folder:
        path = Path(folder) / "records.jsonl"
        write_records(path, found)
        for one, back in zip(found, read_records(path, task=task.name), strict=True):
            if one != back:
                yield f"record {one.key} is not the same after it was written and read"
                return


def answers(task: TaskUnderTest) -> Iterator[str]:
    """Yield true and no-change answers that the task's own parser cannot read, or that it writes back differently."""
    answer: AnswerSpec = task.spec.answer_spec()
    expects_naive = all(target.no_change is not None for target in task.spec.targets)
    without = 0
    for record in task.records:
        yield from _read(task, answer, "true", record, record.gold)
        if record.naive is not None:
            yield from _read(task, answer, "no-change", record, record.naive)
        else:
            without += 1
    if expects_naive and without:
        yield f"{without} of {len(task.records)} records have no no-change answer: require its column in `sample`"


def splits(task: TaskUnderTest) -> Iterator[str]:
    """Yield rows that stand in two splits, and evaluation records that models may learn from."""
    made = task.data
    file = made.path / "split.parquet"
    if not file.is_file():
        trained = {record.key for record in made.training_records()}
        both = sorted(trained & {record.key for record in task.records})
        if both:
            yield f"{len(both)} evaluation records are training records too, among them {both[0]}"
        return
    import polars as pl

    split = pl.read_parquet(file)
    sample = split.filter("sample")["split"].unique().to_list()
    for name in sorted(name for name in sample if not is_evaluation(name)):
        yield f"the evaluation sample holds rows of the split {name!r}"
    keys = [name for name in ("id", "time") if name in split.columns]
    repeated = split.group_by(keys).agg(pl.col("split").n_unique()).filter(pl.col("split") > 1)
    if len(repeated):
        yield f"{len(repeated)} records stand in several splits, among them {repeated.row(0)[:-1]}"
    if split["split"].null_count():
        yield f"{split['split'].null_count()} rows are in no split"


def treatment(task: TaskUnderTest) -> Iterator[str]:
    """Yield treatments that do not change the prompt."""
    column = task.spec.treatment
    if column is None:
        raise UncheckedError("the task has no treatment")
    values = sorted({row[column] for row in task.rows if row.get(column) is not None}, key=str)
    if len(values) < 2:
        yield f"the treatment {column!r} takes fewer than two values"
        return
    arms = task.renderer.render_arms(task.rows[0], column, values)
    if len(set(arms)) < len(values):
        yield f"the prompt is the same for several values of the treatment {column!r}"


def _malformed(record: Record, task: str, columns: set[str]) -> Iterator[str]:
    if record.task != task:
        yield f"it says that it belongs to {record.task!r}"
    if not record.messages or any(not message.content.strip() for message in record.messages):
        yield "its prompt is empty"
    if record.gold is None:
        yield "it has no true answer"
    if not (math.isfinite(record.weight) and record.weight > 0):
        yield f"its weight is {record.weight}"
    if record.predictors and set(record.predictors) != columns:
        yield f"its predictors are not the spec's: {', '.join(sorted(set(record.predictors) ^ columns))}"
    if record.release_date is not None and not _is_day(record.release_date):
        yield f"its release date {record.release_date!r} is not YYYY-MM-DD"
    yield from _not_json(record.predictors, "predictor")
    yield from _not_json(record.metadata, "metadata")


def _not_json(values: Mapping[str, JsonValue], what: str) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            yield f"its {what} {name} is {value}; what is missing is None"


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _read(task: TaskUnderTest, answer: AnswerSpec, what: str, record: Record, raw: JsonValue) -> Iterator[str]:
    parsed: Any = task.parser(Completion(raw), answer)
    if isinstance(parsed, Failure):
        yield f"the {what} answer {raw!r} of record {record.key} cannot be read: {parsed.reason} {parsed.detail}"
        return
    if what == "true":
        parse_gold(task.parser, raw, answer)
    again: Any = task.parser(Completion(task.parser.render(parsed.values, answer)), answer)
    if isinstance(again, Failure) or not all(map(_same, again.values, parsed.values)):
        yield f"the {what} answer {raw!r} of record {record.key} does not survive render and parse"


def _same(a: Value, b: Value) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(math.isclose(x, y, abs_tol=1e-6) for x, y in zip(a, b, strict=True))
    return a == b
