"""Damaged files are read, or refused by an error that names them; nothing else comes of them."""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path

import pytest

from .damage import crash, damaged
from .readers import cases

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
    *("journal.sqlite", "scores.json"),
)
INPUTS = int(os.environ.get("HBENCH_FUZZ_INPUTS", "150"))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("honest")


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(name: str, made: Path, tmp_path: Path) -> None:
    case, rng, path = cases(made)[name], random.Random(name), tmp_path / name
    others = [other.whole for other in cases(made).values()]
    path.write_bytes(case.whole)
    case.read(path)
    for number in range(INPUTS):
        data = damaged(case.whole, rng, rng.choice(others))
        path.write_bytes(data)
        wrong = crash(partial(case.read, path), path)
        assert wrong is None, (number, data[:2000], wrong)


def test_all_kinds_are_tried(made: Path) -> None:
    assert set(cases(made)) == set(NAMES)
