"""Damaged files are read, or refused by an error that names them; nothing else comes of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from .damage import check_damaged, crash
from .readers import HONEST, cases, read_run_manifest

pytest.importorskip("polars")
pytest.importorskip("pyarrow")

NAMES = (
    *(
        "records.jsonl",
        "records.csv",
        "records.parquet",
        "table.csv",
        "table.tsv",
        "table.parquet",
        "predictions.jsonl",
    ),
    *("replayed.jsonl", "samples_t.jsonl", "asked_samples_t.jsonl", "log.json", "log.eval", "asked.eval"),
    *("journal.sqlite", "manifest.json", "scores.json"),
)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("honest")


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(name: str, made: Path, tmp_path: Path) -> None:
    case = cases(made)[name]
    check_damaged(case.whole, case.read, tmp_path / name, [other.whole for other in cases(made).values()])


def test_all_kinds_are_tried(made: Path) -> None:
    assert set(cases(made)) == set(NAMES)


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in steps:
        yield (*way, step)
        yield from _places(value[step], (*way, step))


@pytest.mark.parametrize("odd", ["left out", None, 7, -1.5, "x", True, [], {}, [None], {"x": None}])
def test_every_part_of_a_manifest_may_be_missing_or_odd(odd: Any, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    refused = 0
    for *way, last in _places(HONEST):
        changed = copy.deepcopy(HONEST)
        inner: Any = changed
        for step in way:
            inner = inner[step]
        if odd == "left out":
            del inner[last]
        else:
            inner[last] = odd
        path.write_text(json.dumps(changed))
        told: list[str] = []
        wrong = crash(partial(read_run_manifest, path), path, told=told)
        assert wrong is None, ([*way, last], odd, wrong)
        refused += bool(told)
    assert refused > 20
