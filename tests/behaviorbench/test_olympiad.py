from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench_behaviorbench.sources.olympiad import COLUMNS, QUESTIONS, Olympiad

pl = pytest.importorskip("polars", reason="needs hbench[data]")

ROW: dict[str, Any] = {
    "year": 2019, "number": 3, "question": "What is scarce?", "option_a": "Time", "option_b": "Air", "option_c": "Land",
    "option_d": "Dreams", "correct": "ca", "figure": "No",
}  # fmt: skip


def built(tmp_path: Path, rows: list[dict[str, Any]]) -> tuple[Any, BuildReport]:
    path = tmp_path / QUESTIONS
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    report = BuildReport()
    Olympiad().build(tmp_path, tmp_path, report=report)
    return pl.read_parquet(tmp_path / "olympiad.parquet"), report


def test_letters_become_a_sorted_set_and_questions_get_a_name(tmp_path: Path) -> None:
    table, report = built(tmp_path, [ROW, {**ROW, "number": 12, "correct": "D", "figure": "yes"}])
    assert table["question_id"].to_list() == ["ieo-2019-03", "ieo-2019-12"]
    assert table["correct"].to_list() == ["AC", "D"]
    assert dict(report.counts) == {"olympiad.questions": 2, "olympiad.with_figure": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": "E"}, "names no correct option"),
        ({"correct": ""}, "names no correct option"),
        ({"option_b": " "}, "an option without one"),
        ({"figure": "perhaps"}, "neither yes nor no"),
        ({"year": ""}, "no year or number"),
        ({}, "is there twice"),
    ],
)
def test_rows_that_are_no_question_are_refused_with_their_line(tmp_path: Path, change: Any, message: str) -> None:
    other = {**ROW, **({"number": 4} if change else {}), **change}
    with pytest.raises(DataError, match=message) as caught:
        built(tmp_path, [ROW, other])
    assert f"ieo_economics.csv:{3 if change else 2}" in str(caught.value)


def test_the_demo_s_letters_are_right(tmp_path: Path) -> None:
    Olympiad().demo(tmp_path, seed=1, scale=1.0)
    report = BuildReport()
    Olympiad().build(tmp_path, tmp_path, report=report)
    table = pl.read_parquet(tmp_path / "olympiad.parquet")
    assert report.counts["olympiad.with_figure"] == 7
    assert {"A", "B", "C", "D"} <= set(table["correct"])
    rates = [row for row in table.iter_rows(named=True) if row["question"].startswith("The nominal")]
    assert rates
    for row in rates:
        nominal, inflation = map(int, re.findall(r"(\d+)%", row["question"]))
        assert row[f"option_{row['correct'].lower()}"] == f"{nominal - inflation}%"
    options = table.select(pl.concat_list("option_a", "option_b", "option_c", "option_d").list.n_unique())
    assert set(options.to_series()) == {4}


@pytest.mark.shared
def test_the_format_takes_real_multiple_choice_questions(shared_dir: Path, tmp_path: Path) -> None:
    rows = []
    for file in sorted((shared_dir / "data" / "econ_mcq").glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as stream:
            rows += list(csv.reader(stream))
    numbered = [dict(zip(COLUMNS, (2020, number, *row, "no"), strict=True)) for number, row in enumerate(rows, 1)]
    table, report = built(tmp_path, numbered)
    assert report.counts["olympiad.questions"] == len(rows) == 743
    assert table["correct"].str.len_chars().max() == 1
