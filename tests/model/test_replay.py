from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Failure, ModelError
from hbench.model.replay import Replay


def write(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def replay(path: Path, bench: SimpleNamespace, count: int = 1, **requests: Any) -> Any:
    return bench.answer(Replay.create(str(path), {}, bench.Context()), bench.requests(count, **requests))


@pytest.mark.parametrize("field", ["prediction", "raw_output", "response", "model_output", "assistant"])
def test_each_response_field_is_read(tmp_path: Path, bench: SimpleNamespace, field: str) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "0", "time": "2020-01-01", field: [1, 2]})
    assert replay(file, bench, time="2020-01-01").texts == {("0@2020-01-01", 0): [1, 2]}


def test_the_first_present_field_counts_even_if_null(tmp_path: Path, bench: SimpleNamespace) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "0", "prediction": None, "assistant": "[1]"})
    assert replay(file, bench).texts == {("0", 0): None}


def test_what_is_missing_is_a_named_failure(tmp_path: Path, bench: SimpleNamespace) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "0", "prediction": "a"}, {"id": "1"})
    got = replay(file, bench, 3, draws=(0, 1))
    assert got.texts == {("0", 0): "a"}
    assert got.reasons == ["missing_prediction"] * 4 + ["no_response_field"]


def test_rows_that_nobody_asked_for_are_counted(tmp_path: Path, bench: SimpleNamespace) -> None:
    rows = [{"id": name, "draw": draw, "prediction": "a"} for name in ("0", "zero") for draw in (0, 1)]
    model = Replay.create(str(write(tmp_path / "p.jsonl", *rows)), {}, bench.Context())
    assert model.notes == []
    bench.answer(model, bench.requests(1))
    assert model.notes == ["3 logged answers belong to no question that was asked here"]


def test_draws_and_failures_of_a_run_s_own_rows(tmp_path: Path, bench: SimpleNamespace) -> None:
    file = write(
        tmp_path / "run/predictions/suite/task.jsonl",
        {"id": "0", "draw": 0, "prediction": "a"},
        {"id": "0", "draw": 1, "failure": {"stage": "request", "reason": "http_500", "detail": "x"}},
    )
    got = replay(file.parents[2], bench, draws=(0, 1))
    assert got.outcomes[("0", 1)] == Failure("request", "http_500", "x")
    assert got.texts == {("0", 0): "a"}


LAYOUTS = ["task", "pre_cutoff/task", "suite/task", "suite__task", "predictions/model/suite__task"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(tmp_path: Path, bench: SimpleNamespace, layout: str) -> None:
    write(tmp_path / "f" / f"{layout}.jsonl", {"id": "0", "prediction": "a"})
    assert replay(tmp_path / "f", bench).texts == {("0", 0): "a"}


def test_splits_are_read_together(tmp_path: Path, bench: SimpleNamespace) -> None:
    write(tmp_path / "pre_cutoff/task.jsonl", {"id": "0", "prediction": "a"})
    write(tmp_path / "post_cutoff/task.jsonl", {"id": "1", "prediction": "b"})
    assert replay(tmp_path, bench, 2).texts == {("0", 0): "a", ("1", 0): "b"}


def test_a_folder_without_the_task_is_unsupported(tmp_path: Path, bench: SimpleNamespace) -> None:
    assert "no task.jsonl" in str(Replay.create(str(tmp_path), {}, bench.Context()).unsupported("suite/task"))


def test_a_row_without_time_serves_one_record_only(tmp_path: Path, bench: SimpleNamespace) -> None:
    file = write(tmp_path / "p.jsonl", {"id": "0", "prediction": "a"})
    assert replay(file, bench, time="2020").texts == {("0@2020", 0): "a"}
    requests = [*bench.requests(1, time="2020"), *bench.requests(1, time="2021")]
    with pytest.raises(ModelError, match="no time"):
        bench.answer(Replay.create(str(file), {}, bench.Context()), requests)


@pytest.mark.parametrize(
    ("lines", "words", "line"),
    [
        ('{"id": "0", "prediction": 1}\n{"id": ', "no JSON", 2),
        ("\n[1]\n", "JSON object", 2),
        ('{"prediction": 1}\n', "neither", 1),
        ('{"id": "0", "draw": "x"}\n', "draw", 1),
        ('{"id": "0", "prediction": 1}\n\n{"id": "0", "prediction": 2}\n', "already", 3),
    ],
)
def test_bad_files_are_refused_with_their_line(
    tmp_path: Path, bench: SimpleNamespace, lines: str, words: str, line: int
) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(lines, encoding="utf-8")
    with pytest.raises(ModelError, match=words) as caught:
        replay(file, bench)
    assert caught.value.line == line


def test_rows_of_other_tasks_are_passed_over(tmp_path: Path, bench: SimpleNamespace) -> None:
    file = write(
        tmp_path / "p.jsonl",
        {"id": "0", "task": "other", "prediction": "x"},
        {"id": "0", "task": "suite/task", "prediction": "a"},
    )
    assert replay(file, bench).texts == {("0", 0): "a"}


def test_identity_is_the_content(tmp_path: Path, bench: SimpleNamespace) -> None:
    one = write(tmp_path / "a/task.jsonl", {"id": "0", "prediction": "a"})
    two = write(tmp_path / "b/task.jsonl", {"id": "0", "prediction": "a"})
    three = write(tmp_path / "c/task.jsonl", {"id": "0", "prediction": "b"})
    same, equal, other = (Replay.create(str(p), {}, bench.Context()).identity for p in (one, two.parent, three))
    assert same == equal != other


def test_nothing_to_replay(tmp_path: Path, bench: SimpleNamespace) -> None:
    with pytest.raises(ModelError, match="no predictions"):
        Replay.create(str(tmp_path / "absent"), {}, bench.Context())
