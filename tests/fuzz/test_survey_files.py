"""Damaged raw files of surveys: what reads them says which file it is, and nothing else comes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .damage import check_damaged

pl = pytest.importorskip("polars")
pytest.importorskip("python_calamine")
pytest.importorskip("pandas")
pytest.importorskip("ipumspy")

from .survey_files import cases  # noqa: E402 - needs what may not be installed

NAMES = (
    *("sheets.xlsx", "data.dta", "plain.csv", "packed.csv.gz", "members.zip", "digest.zip", "digest.csv.gz"),
    *("fixed.dat", "packed.dat.gz", "codebook.xml", "purchases.txt"),
    *("released.csv", "people.csv", "lines.tsv"),
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
