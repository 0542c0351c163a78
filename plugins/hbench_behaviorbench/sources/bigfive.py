"""The Big Five answers of the Open-Source Psychometrics Project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_behaviorbench import instrument
from hbench_behaviorbench.raw import read_csv, read_lines

if TYPE_CHECKING:
    import polars as pl

_ORIGIN = "https://openpsychometrics.org/_rawdata/, as mirrored by https://github.com/yutxie/ChatGPT-Behavioral"
_TERMS = "Database Contents License (DbCL) 1.0"
ANSWERS = "bigfive/bigfive_data.csv"
STATEMENTS = "bigfive/bigfive.tsv"
KEYS = "bigfive/bigfive_IPIP.tsv"
BACKGROUND = ("race", "age", "engnat", "gender", "hand", "source", "country")
ITEM_COLUMNS = tuple(f"{letter}{number}" for letter in instrument.DIMENSIONS for number in range(1, 11))


class BigFive:
    """19,719 respondents, fifty answers from 1 to 5 each, in one tab-separated file.

    The panel ``bigfive.parquet`` has one row per kept respondent, in file order: ``subject_idx`` (row in the raw file,
    from 0), ``age``, the labels ``gender``, ``hand``, ``race``, ``language`` and ``country`` (null where unknown), the
    items ``E1`` to ``O10`` and the five scores under the dimensions' names (10 to 50 points).

    Kept are respondents who answered an item and are younger than 80 (paper, appendix B.2): 19,630 of the original
    file, from 158 countries, with a median age of 22.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The answers, and the two item files that the instrument is checked against where they are present."""
        return (
            RawFile(ANSWERS, _ORIGIN, _TERMS),
            RawFile(STATEMENTS, _ORIGIN, "public domain", required=False),
            RawFile(KEYS, _ORIGIN, "public domain", required=False),
        )

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write ``bigfive.parquet``.

        Raises
        ------
        DataError
            A file or column is missing, an answer is no whole number from 0 to 5, or the item files differ from the
            instrument.
        """
        _check_items(raw, report)
        frame = read_csv(
            raw, ANSWERS, columns=(*BACKGROUND, *ITEM_COLUMNS), text=("country",), separator="\t", report=report
        )
        _check_answers(frame, raw / ANSWERS)
        panel = _described(_kept(frame, report))
        report.counts["bigfive.countries"] = panel["country"].drop_nulls().n_unique()
        out.mkdir(parents=True, exist_ok=True)
        panel.write_parquet(out / "bigfive.parquet", statistics=True)

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write synthetic respondents in the file's layout; see `hbench_behaviorbench.demo.bigfive`."""
        from hbench_behaviorbench.demo.bigfive import write

        write(raw, seed=seed, scale=scale)


def _kept(frame: pl.DataFrame, report: BuildReport) -> pl.DataFrame:
    import polars as pl

    frame = frame.with_row_index("subject_idx").with_columns(pl.col("subject_idx").cast(pl.Int64))
    blank = pl.all_horizontal(pl.col(ITEM_COLUMNS) == 0)
    too_old = pl.col("age") >= instrument.AGE_LIMIT
    counts = frame.select(
        blank=blank.sum(),
        too_old=(too_old & ~blank).sum(),
        oldest=pl.col("age").filter(~blank).max(),
    ).row(0, named=True)
    report.counts["bigfive.respondents"] = len(frame)
    report.counts["bigfive.blank"] = counts["blank"]
    report.counts["bigfive.implausible_age"] = counts["too_old"]
    report.problem(ANSWERS, "all fifty items are blank", counts["blank"])
    report.problem(
        ANSWERS, f"reported age is {instrument.AGE_LIMIT} or more", counts["too_old"], f"age {counts['oldest']}"
    )
    kept = frame.filter(~blank & ~too_old)
    report.counts["bigfive.kept"] = len(kept)
    partial = kept.filter(pl.any_horizontal(pl.col(ITEM_COLUMNS) == 0))
    if len(partial):
        raise DataError(
            f"{len(partial)} respondents left some but not all items blank; the benchmark's rules know no such rows",
            file=ANSWERS,
            line=int(partial["subject_idx"][0]) + 2,
            hint="Restore the original file: it has 19,719 respondents and one blank row.",
        )
    return kept


def _described(frame: pl.DataFrame) -> pl.DataFrame:
    """Give codes their labels, and add the scores."""
    import polars as pl

    def label(column: str, labels: dict[int, str]) -> pl.Expr:
        return pl.col(column).replace_strict(labels, default=None, return_dtype=pl.String)

    scores = [
        pl.sum_horizontal(
            pl.col(item.code) if item.sign > 0 else 6 - pl.col(item.code)
            for item in instrument.ITEMS
            if item.dimension == letter
        )
        .cast(pl.Int64)
        .alias(name)
        for letter, name in instrument.DIMENSIONS.items()
    ]
    return frame.select(
        "subject_idx",
        "age",
        label("gender", dict(instrument.GENDERS)),
        label("hand", dict(instrument.HANDS)),
        label("race", dict(instrument.RACES)),
        label("engnat", dict(instrument.LANGUAGES)).alias("language"),
        pl.when(~pl.col("country").is_in(instrument.UNKNOWN_COUNTRIES)).then("country").alias("country"),
        *(pl.col(column).cast(pl.Int8) for column in ITEM_COLUMNS),
        *scores,
    )


def _check_answers(frame: pl.DataFrame, file: Path) -> None:
    import polars as pl

    for column in ITEM_COLUMNS:
        bad = frame.select(pl.arg_where(~pl.col(column).is_between(0, 5).fill_null(False))).to_series()
        if len(bad):
            row = int(bad[0])
            raise DataError(f"{column} is {frame[column][row]}, not a number from 0 to 5", file=file, line=row + 2)
    bad = frame.select(pl.arg_where(pl.col("age").is_null() | (pl.col("age") < 0))).to_series()
    if len(bad):
        raise DataError("the age is missing or negative", file=file, line=int(bad[0]) + 2)


def _check_items(raw: Path, report: BuildReport) -> None:
    """Hold the raw folder's item files, where present, against the instrument."""
    statements = {(item.code, item.statement) for item in instrument.ITEMS}
    if (raw / STATEMENTS).exists():
        for number, fields in read_lines(raw, STATEMENTS, report=report):
            if tuple(fields) not in statements:
                raise _differs(raw / STATEMENTS, number)
    if (raw / KEYS).exists():
        for number, fields in read_lines(raw, KEYS, report=report):
            # Between statement and key the file has a column for each of the five answers.
            if (fields[0], *fields[1:2], fields[-1]) not in instrument.IPIP_LINES:
                raise _differs(raw / KEYS, number)


def _differs(file: Path, line: int) -> DataError:
    return DataError(
        "the item is not the one of the instrument",
        file=file,
        line=line,
        hint="The prompts and scores need the original items; restore the file or remove it.",
    )
