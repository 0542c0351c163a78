"""The Big Five source."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from hbench.core import BuildReport, DataError
from hbench_behaviorbench.sources.bigfive import ANSWERS, KEYS, STATEMENTS, BigFive

from .conftest import Built

pl = pytest.importorskip("polars")
STABILITY = "-+-+------"


@pytest.fixture
def raw(synthetic: Built, tmp_path: Path) -> Path:
    """Return a copy of the synthetic raw folder that a test may spoil."""
    (tmp_path / "bigfive").mkdir()
    for path in (ANSWERS, KEYS, STATEMENTS):
        (tmp_path / path).write_bytes((synthetic.raw / path).read_bytes())
    return tmp_path


def respondents(raw: Path) -> list[dict[str, str]]:
    with (raw / ANSWERS).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def spoil(file: Path, line: int, column: str, value: str) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    fields = lines[line - 1].split("\t")
    fields[lines[0].split("\t").index(column)] = value
    lines[line - 1] = "\t".join(fields)
    file.write_text("\n".join(lines), encoding="utf-8")


def build(raw: Path, out: Path) -> BuildReport:
    report = BuildReport()
    BigFive().build(raw, out, report=report)
    return report


@pytest.mark.shared
def test_the_papers_counts_come_out(real: Built) -> None:
    counts = real.report.counts
    assert counts["bigfive.respondents"] == 19_719
    assert counts["bigfive.blank"] == 1
    assert counts["bigfive.implausible_age"] == 88
    assert counts["bigfive.kept"] == 19_630
    assert counts["bigfive.countries"] == 158
    panel = pl.read_parquet(real.panels / "bigfive.parquet")
    assert len(panel) == 19_630
    assert panel["age"].median() == 22
    assert 19_064 not in panel["subject_idx"]
    labels = dict(panel["race"].value_counts().iter_rows())
    assert labels["Caucasian (European)"] == pytest.approx(10_537, abs=60)


@pytest.mark.shared
def test_every_real_file_read_is_named_with_its_digest(real: Built) -> None:
    assert {ANSWERS, KEYS, STATEMENTS} <= set(real.report.files)
    assert all(len(digest) == 64 for digest in real.report.files.values())


@pytest.mark.parametrize("which", [pytest.param("real", marks=pytest.mark.shared), "synthetic"])
def test_scores_follow_the_keys(which: str, request: pytest.FixtureRequest) -> None:
    built: Built = request.getfixturevalue(which)
    rows = respondents(built.raw)
    panel = pl.read_parquet(built.panels / "bigfive.parquet")
    for subject in panel.sample(200, seed=1).iter_rows(named=True):
        row = rows[subject["subject_idx"]]
        answers = {letter: np.array([int(row[f"{letter}{k}"]) for k in range(1, 11)]) for letter in "ENACO"}
        keyed = {
            letter: int(sum(x if sign == "+" else 6 - x for x, sign in zip(answers[letter], signs, strict=True)))
            for letter, signs in {"E": "+-+-+-+-+-", "A": "-+-+-+-+++", "C": "+-+-+-+-++", "O": "+-+-+-++++"}.items()
        }
        stability = int(sum(x if sign == "+" else 6 - x for x, sign in zip(answers["N"], STABILITY, strict=True)))
        assert subject["Extraversion"] == keyed["E"]
        assert subject["Agreeableness"] == keyed["A"]
        assert subject["Conscientiousness"] == keyed["C"]
        assert subject["Openness"] == keyed["O"]
        assert subject["Neuroticism"] == 60 - stability


def test_what_is_dropped_is_reported(synthetic: Built) -> None:
    said = {problem.what: problem for problem in synthetic.report.problems}
    assert said["all fifty items are blank"].rows == 1
    assert said["reported age is 80 or more"].rows == synthetic.report.counts["bigfive.implausible_age"] > 0


def test_codes_become_labels_and_missing_codes_null(synthetic: Built) -> None:
    panel = pl.read_parquet(synthetic.panels / "bigfive.parquet")
    rows = respondents(synthetic.raw)
    unknown = {index for index, row in enumerate(rows) if row["country"] in ("", "(nu")}
    null = set(panel.filter(pl.col("country").is_null())["subject_idx"])
    assert null
    assert null <= unknown
    assert set(panel["hand"].drop_nulls()) == {"Right", "Left", "Both"}
    assert set(panel["language"].drop_nulls()) == {"English", "not English"}
    assert set(panel["gender"].drop_nulls()) <= {"male", "female", "other"}


def test_two_builds_are_the_same(raw: Path, tmp_path: Path) -> None:
    build(raw, tmp_path / "one")
    build(raw, tmp_path / "two")
    first, second = (pl.read_parquet(tmp_path / name / "bigfive.parquet") for name in ("one", "two"))
    assert first.equals(second)


def test_item_files_may_be_absent(raw: Path, tmp_path: Path) -> None:
    (raw / KEYS).unlink()
    (raw / STATEMENTS).unlink()
    assert set(build(raw, tmp_path / "out").files) == {ANSWERS}


@pytest.mark.parametrize(("path", "line"), [(KEYS, 4), (STATEMENTS, 12)])
def test_another_instrument_is_refused(raw: Path, tmp_path: Path, path: str, line: int) -> None:
    lines = (raw / path).read_text(encoding="utf-8").split("\n")
    lines[line - 1] = lines[line - 1].replace("stressed", "relaxed").replace("(4-)", "(4+)")
    (raw / path).write_text("\n".join(lines), encoding="utf-8")
    if path == STATEMENTS:
        lines[line - 1] = "N2\tI am never relaxed."
        (raw / path).write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        build(raw, tmp_path / "out")
    assert caught.value.line == line
    assert str(raw / path) in str(caught.value)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("E4", "6", "E4 is 6"),
        ("O10", "x", "O10 is 'x', not a whole number"),
        ("age", "2.5", "age is '2.5', not a whole number"),
        ("age", "", "the age is missing"),
    ],
)
def test_a_broken_cell_is_named(raw: Path, tmp_path: Path, column: str, value: str, message: str) -> None:
    spoil(raw / ANSWERS, 7, column, value)
    with pytest.raises(DataError) as caught:
        build(raw, tmp_path / "out")
    assert message in str(caught.value)
    assert caught.value.line == 7


def test_a_partly_blank_respondent_is_an_error(raw: Path, tmp_path: Path) -> None:
    # The first respondent who is kept, so that the blank is not hidden by another rule.
    kept = int(pl.read_parquet(_built(raw, tmp_path / "before"))["subject_idx"][0])
    spoil(raw / ANSWERS, kept + 2, "C7", "0")
    with pytest.raises(DataError, match="some but not all items blank") as caught:
        build(raw, tmp_path / "out")
    assert caught.value.line == kept + 2


def test_a_missing_column_is_named(raw: Path, tmp_path: Path) -> None:
    text = (raw / ANSWERS).read_text(encoding="utf-8")
    (raw / ANSWERS).write_text(text.replace("engnat", "english", 1), encoding="utf-8")
    with pytest.raises(DataError, match="columns are missing: engnat"):
        build(raw, tmp_path / "out")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"bigfive_data\.csv") as caught:
        build(tmp_path, tmp_path / "out")
    assert "--raw" in str(caught.value)


def _built(raw: Path, out: Path) -> Path:
    build(raw, out)
    return out / "bigfive.parquet"
