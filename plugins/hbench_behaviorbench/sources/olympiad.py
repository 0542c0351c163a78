"""Multiple-choice questions of the International Economics Olympiad, typed in by whoever has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_behaviorbench.raw import read_csv

if TYPE_CHECKING:
    import polars as pl

QUESTIONS = "olympiad/ieo_economics.csv"
OPTIONS = ("option_a", "option_b", "option_c", "option_d")
COLUMNS = ("year", "number", "question", *OPTIONS, "correct", "figure")
"""Columns of the file; `correct` holds the letters of all correct options, `figure` says yes or no."""


class Olympiad:
    """One comma-separated file with a question a row (`COLUMNS`).

    ``correct`` holds one or more of the letters A to D; ``figure`` is ``yes`` where a question cannot be answered
    without one. The released set has 130 questions of 2018, 2019 and 2021-2025, six of them with a figure (paper,
    appendix B.2). The panel ``olympiad.parquet`` adds ``question_id``, year and number.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The questions."""
        return (RawFile(QUESTIONS, "https://ieo-official.org/, past multiple-choice problems", "educational use"),)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write ``olympiad.parquet``.

        Raises
        ------
        DataError
            A column is missing, a question is repeated or without text, letters or `figure` are none.
        """
        import polars as pl

        text = ("question", *OPTIONS, "correct", "figure")
        frame = read_csv(raw, QUESTIONS, columns=COLUMNS, text=text, report=report).with_columns(
            pl.col(text).str.strip_chars()
        )
        frame = frame.with_columns(
            pl.col("figure").str.to_lowercase(),
            pl.col("correct").str.to_uppercase().str.split("").list.unique().list.sort().list.join(""),
        )
        _refuse(frame, raw / QUESTIONS)
        report.counts["olympiad.questions"] = len(frame)
        report.counts["olympiad.with_figure"] = int((frame["figure"] == "yes").sum())
        frame.select(
            pl.format("ieo-{}-{}", "year", pl.col("number").cast(pl.String).str.zfill(2)).alias("question_id"),
            pl.all(),
        ).write_parquet(out / "olympiad.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write made-up questions in the file's layout; see `hbench_behaviorbench.demo.olympiad`."""
        from hbench_behaviorbench.demo.olympiad import write

        write(raw, seed=seed, scale=scale)


def _refuse(frame: pl.DataFrame, file: Path) -> None:
    """Refuse rows that are no question, with their line."""
    import polars as pl

    faults = {
        "has no year or number": pl.any_horizontal(pl.col("year", "number").is_null()),
        "has no text, or an option without one": pl.any_horizontal(pl.col("question", *OPTIONS) == ""),
        "names no correct option, or others than A to D": ~pl.col("correct").str.contains("^[A-D]+$"),
        "says neither yes nor no under `figure`": ~pl.col("figure").is_in(["yes", "no"]),
        "is there twice": pl.struct("year", "number").is_duplicated(),
    }
    for what, fault in faults.items():
        lines = frame.select(fault.arg_true()).to_series()
        if len(lines):
            raise DataError(f"the question {what} ({len(lines)} such rows)", file=file, line=int(lines[0]) + 2)
