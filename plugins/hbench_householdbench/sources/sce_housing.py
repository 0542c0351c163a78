"""The housing module of the Survey of Consumer Expectations: one sheet a year, under names that change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.sce_cells import shown
from hbench_householdbench.sources.sce_codebook import Codebook, labels_of, read_codebook
from hbench_householdbench.sources.sce_modules import INTERVIEW, KEYS, databank
from hbench_householdbench.sources.sce_releases import SCE_RELEASES, SCE_TERMS, with_release_dates
from hbench_householdbench.sources.sce_values import YES_NO, first_answered, labelled, without_nan
from hbench_householdbench.sources.sce_workbook import Workbook, keyed, open_workbook

if TYPE_CHECKING:
    import polars as pl

HOUSING = RawFile(
    "micro/sce/housing/FRBNY-SCE-Housing-Survey-Public-Microdata-Complete.xlsx", databank("Housing"), SCE_TERMS
)
MONTH = 2
"""The module is asked every February."""
NAMES = {
    # ours: the workbook's over the years, of which the first that is answered counts
    "ordinary_move_percent": ("Q6a_1", "q6a_1", "hq6a_1", "HQ6a_1"),
    "q6a_lock": ("q6a_lock",),
    "local_home_value": ("q1_1", "HQ1_1"),
    "purchase_price": ("qh2_1", "HQH2_1"),
    "current_home_value": ("qh3_1", "HQH3_1"),
    "loan_balance": ("qh5a_1", "HQH5a_1"),
    "current_mortgage_rate": ("qh5m2_1", "HQH5m2_1"),
    "loan_code": ("qh5", "HQH5"),
    "partnered": ("q38", "hq38", "HQ38"),
}
LABELLED = {"loan_status": "loan_code", "partnered": "partnered"}
"""Our column of labels: the codes that it says."""
_YES_NO = "hq38"
"""The one question whose codes are the same in all years, whatever the codebooks say."""
_SHEET = re.compile(r"(Data|Codebook) (\d{4})")
PORTABLE = (2023, 2024)
"""Years in which it was asked what a rate that moves along would change (``q6a_lock``)."""


class SceHousing:
    """The housing module, from 2014 on.

    Table: ``sce_housing.parquet``, one row an interview, by `INTERVIEW`; dollars and percent. Labels are those of the
    year's codebook, so that their wording changes.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The workbook and the release dates."""
        return HOUSING, SCE_RELEASES

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            The workbook is damaged or has no sheet of a year, an interview is repeated or not of February, or a code
            has no meaning in the year's codebook.
        """
        import polars as pl

        book = open_workbook(raw / HOUSING.path)
        years = sorted({int(found[2]) for sheet in book.sheets if (found := _SHEET.fullmatch(sheet.strip()))})
        if not years:
            raise DataError("no sheet is called `Data YYYY`", file=HOUSING.path)
        report.counts["housing.years"] += len(years)
        for year in sorted({*range(years[0], years[-1])} - {*years}):
            report.problem(HOUSING.path, "years without a sheet between the first and the last", 1, str(year))
        table = pl.concat(_year(book, year, report) for year in years)
        report.counts["housing.interviews"] += len(table)
        table = with_release_dates(table, raw, "housing", report=report)
        columns = [name for name in table.columns if name not in KEYS]
        table.select(*KEYS, *columns).sort(INTERVIEW).write_parquet(out / "sce_housing.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic workbook; see `hbench_householdbench.sources.demo.sce_housing`."""
        from hbench_householdbench.sources.demo.sce_housing import write

        write(raw, seed=seed, scale=scale)


def _labels(codebook: Codebook, name: str, file: str) -> dict[int, str]:
    return YES_NO if name == _YES_NO else labels_of(codebook, name, file=file)


def _year(book: Workbook, year: int, report: BuildReport) -> pl.DataFrame:
    import polars as pl

    sheet = f"Data {year}"
    file = f"{book.path.name}, sheet {sheet}"
    names = [name for choices in NAMES.values() for name in choices]
    table = book.table(sheet, numbers=["date", *names], required=(), optional=["date", *names], report=report)
    month = 100.0 * year + MONTH
    other = table.filter(pl.col("date").is_not_null() & (pl.col("date") != month))
    if len(other):
        raise DataError(
            f"date is not February {year} in {len(other):,} rows, among them {shown(other['date'][0])}", file=file
        )
    table = keyed(table.with_columns(date=pl.lit(month)), file=file)
    codebook = read_codebook(book, f"Codebook {year}")
    labels = {}
    for ours, codes in LABELLED.items():
        asked = [name for name in NAMES[codes] if table[name].count()]
        told = labelled(table, {name: _labels(codebook, name, file) for name in asked}, file=file)
        labels[ours] = told.select(pl.coalesce(pl.lit(None, pl.String), *asked).alias(ours)).to_series()
    answers = first_answered(table, NAMES, file=file, report=report)
    numbers = [one for one in answers if one.meta.output_name() not in labels]
    keys = [name for name in KEYS if name in table.columns]
    for ours, choices in NAMES.items():
        unanswered = not any(table[name].count() for name in choices)
        if unanswered and (ours != "q6a_lock" or year in PORTABLE):
            report.problem(file, f"no answers to {ours} ({', '.join(choices)})", len(table))
    return without_nan(table).select(*keys, *numbers).with_columns(**labels)
