"""Game logs and the four-level filter."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbench.core import BuildReport, DataError
from hbench_behaviorbench.sources.moblab import MobLab, MobLabBySubject

from .conftest import Built

pl = pytest.importorskip("polars")

LOG = """\
UserID,Role,Round,Total,move,gameType
ann,first,1,100,50.0,dictator
ann,first,2,100,,dictator
ann,first,3,100,40.0,dictator
ann,first,1,100,30.0,dictator
ann,first,2,100,20.0,dictator
bob,second,1,100,,dictator
bob,first,1,10,5.0,dictator
cid,first,1,100,10.0,dictator
cid,first,2,100,120.0,dictator
cid,first,3,100,10.0,dictator
dan,first,2,100,10.0,dictator
dan,first,1,100,15.0,dictator
dan,first,3,100,25.0,dictator
"""


def build(tmp_path: Path, source: MobLab, log: str = LOG) -> tuple[BuildReport, list[tuple[str, int, int, float]]]:
    (tmp_path / "moblab").mkdir()
    (tmp_path / "moblab" / "dictator.csv").write_text(log, encoding="utf-8")
    report = BuildReport()
    source.build(tmp_path, tmp_path / "out", report=report)
    return report, list(pl.read_parquet(tmp_path / "out" / "dictator.parquet").iter_rows())


def test_the_four_levels(tmp_path: Path) -> None:
    report, rows = build(tmp_path, MobLab())
    assert [report.counts[f"dictator.{name}"] for name in ("raw", "decisions", "L1", "L2", "L3", "L4")] == [
        13,  # all rows
        12,  # without the receiver's
        10,  # ann's second round of the first play is void, and so is the third
        9,  # cid gave more than there was
        8,  # bob divided $10
        5,  # cid's third and dan's first (numbered 2) and third rounds follow a gap
    ]
    assert rows == [
        ("ann", 1, 1, 50.0),
        ("ann", 2, 1, 30.0),
        ("ann", 2, 2, 20.0),
        ("cid", 1, 1, 10.0),
        ("dan", 1, 1, 15.0),
    ]


def test_the_papers_wording_drops_later_plays_too(tmp_path: Path) -> None:
    report, rows = build(tmp_path, MobLabBySubject())
    assert report.counts["dictator.L1.play"] == 10
    assert report.counts["dictator.L1.subject"] == report.counts["dictator.L1"] == 8
    assert [row for row in rows if row[0] == "ann"] == [("ann", 1, 1, 50.0)]


def test_what_is_dropped_is_reported(tmp_path: Path) -> None:
    report, _ = build(tmp_path, MobLab())
    assert {problem.what: problem.rows for problem in report.problems} == {
        "rows of a role other than 'first', which decides nothing": 1,
        "invalid placeholder in a decision or result": 1,
    }


def test_a_broken_number_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="move is '5O', not a number") as caught:
        build(tmp_path, MobLab(), LOG.replace("50.0", "5O"))
    assert caught.value.line == 2


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of the games"):
        MobLab().build(tmp_path, tmp_path / "out", report=BuildReport())


@pytest.mark.shared
def test_the_dictators_counts_come_out(real: Built) -> None:
    counts = real.report.counts
    names = ("raw", "decisions", "L1", "L2", "L3", "L4", "users", "plays", "first_rounds")
    expected = [45_625, 28_906, 28_906, 28_824, 25_247, 24_823, 10_335, 13_232, 13_232]
    assert [counts[f"dictator.{name}"] for name in names] == expected
    panel = pl.read_parquet(real.panels / "dictator.parquet")
    assert panel.filter(pl.col("round") == 1)["move"].mean() == pytest.approx(25.86, abs=0.005)
    assert len(panel.filter(pl.col("round") >= 2)) == 11_591
    assert panel.group_by("user_id", "play").len().filter(pl.col("len") > 1).height == 3_116


@pytest.mark.shared
def test_the_ultimatums_counts_come_out(real: Built) -> None:
    counts = real.report.counts
    assert counts["ultimatum.raw"] == 6_417
    assert counts["ultimatum.L1"] == counts["ultimatum.L4"] == counts["ultimatum.L1.play"] == 6_102
    assert counts["ultimatum.L1.subject"] == 5_983
    assert counts["ultimatum.first_rounds"] == 5_993
