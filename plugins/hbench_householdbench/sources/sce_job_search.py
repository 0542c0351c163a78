"""The job search module of the Survey of Consumer Expectations: the workbook of today, and that of 2013 and 2014."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.sce_cells import shown
from hbench_householdbench.sources.sce_modules import INTERVIEW, KEYS, databank
from hbench_householdbench.sources.sce_releases import SCE_RELEASES, SCE_TERMS, with_release_dates
from hbench_householdbench.sources.sce_values import first_answered, without_nan
from hbench_householdbench.sources.sce_workbook import DAY, Workbook, check_unique, keyed, open_workbook

if TYPE_CHECKING:
    import polars as pl

JOB_SEARCH = RawFile("micro/sce/job_search/SCE-Public-LM-Quarterly-Microdata.xlsx", databank("Job Search"), SCE_TERMS)
MONTH = 10
NAMES = {
    # today's name, which is ours too: the names in the sheets of 2013 and 2014
    "hhsize": (),
    "numchildren_under18": (),
    "l2_num_jobs": ("L2", "L2_rc"),
    "l7_days_spent_searching": ("L7",),
    "l8_months_no_work": ("L8",),
    "l10_cps_job_usual_hrs": ("L10",),
    "l11_cps_job_earn_hrly": ("L11_hourly",),
    "l11_cps_job_earn_wkly": ("L11_weekly",),
    "l11_cps_job_earn_ann": ("L11_annual",),
    "l22_last_job_usual_hrs": ("L22",),
    "l24_last_job_earn_hrly": ("L24_hourly",),
    "l24_last_job_earn_wkly": ("L24_weekly",),
    "l24_last_job_earn_ann": ("L24_annual",),
    "rw1a_desired_hours": ("RW1a",),
    "rw2h_reserv_wage": ("RW2h_rc",),
}
SPECIAL = {
    999992: "less_than_a_month",
    999993: "still_looking",
    999994: "not_started",
    999995: "never_had_paid_job",
    999996: "works_from_home",
    999997: "already_started",
    999998: "would_not_accept",
    999999: "do_not_know",
}
"""Codes from 999990 to 999999 that the codebooks give a meaning, or that occur in questions that no task asks."""
_FIRST_SPECIAL, _LAST_SPECIAL = 999990, 999999
HOURS_A_WEEK = 168
_SHEET = re.compile(r"Data( (\d{4}))?")


class SceJobSearch:
    """The job search module, 2013 to 2021.

    Table: ``sce_job_search.parquet``, one row an interview, by `INTERVIEW`. The workbook of today has one sheet with a
    column ``year``; the older one has a sheet a year under the questions' numbers, and does not say who lives in the
    household.

    Columns: the numbers of `NAMES` without special codes; ``l8_months_no_work__clean`` and ``__status``;
    ``reservation_wage_hourly``, ``preferred_weekly_hours``, and the pay of both jobs (`with_pay`), in dollars an hour.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The workbook and the release dates."""
        return JOB_SEARCH, SCE_RELEASES

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            The workbook is damaged or has no sheet of answers, an interview is repeated, or a special code has no
            meaning.
        """
        import polars as pl

        book = open_workbook(raw / JOB_SEARCH.path)
        sheets = [sheet for sheet in book.sheets if _SHEET.fullmatch(sheet.strip())]
        if not sheets:
            raise DataError("no sheet is called `Data` or `Data YYYY`", file=JOB_SEARCH.path)
        table = pl.concat(_sheet(book, sheet, report) for sheet in sheets)
        check_unique(table, file=JOB_SEARCH.path)
        report.counts["job_search.interviews"] += len(table)
        table = with_pay(without_specials(without_nan(table), report=report))
        table = with_release_dates(table, raw, "job_search", report=report)
        columns = [name for name in table.columns if name not in KEYS]
        table.select(*KEYS, *columns).sort(INTERVIEW).write_parquet(out / "sce_job_search.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic workbook; see `hbench_householdbench.sources.demo.sce_job_search`."""
        from hbench_householdbench.sources.demo.sce_job_search import write

        write(raw, seed=seed, scale=scale)


def without_specials(table: pl.DataFrame, *, report: BuildReport) -> pl.DataFrame:
    """Make special codes and negative numbers missing, and add ``l8_months_no_work__clean`` and ``__status``.

    Raises
    ------
    DataError
        A special code has no meaning.
    """
    import polars as pl

    months = "l8_months_no_work"
    special = pl.col(months).is_between(_FIRST_SPECIAL, _LAST_SPECIAL)
    for name in NAMES:
        codes = table[name].filter(table[name].is_between(_FIRST_SPECIAL, _LAST_SPECIAL))
        # An amount of money with a fraction is no code.
        codes = codes.filter(codes == codes.floor())
        odd = codes.filter(~codes.is_in([float(code) for code in SPECIAL]))
        if len(odd):
            raise DataError(
                f"{name} has special codes without a meaning, among them {odd[0]:.0f}", file=JOB_SEARCH.path
            )
        report.problem(JOB_SEARCH.path, f"negative answers to {name}", int((table[name] < 0).sum()))
        example = f"{codes[0]:.0f} ({SPECIAL[int(codes[0])]})" if len(codes) else ""
        report.problem(JOB_SEARCH.path, f"answers to {name} that are codes, so without a value", len(codes), example)
    status = (
        pl.when(pl.col(months).is_null())
        .then(None)
        .when(special)
        .then(pl.col(months).replace_strict({float(c): text for c, text in SPECIAL.items()}, default=None))
        .when(pl.col(months) < 0)
        .then(pl.lit("invalid_range"))
        .otherwise(pl.lit("valid"))
    )
    table = table.with_columns(status.alias(f"{months}__status"))
    table = table.with_columns(
        pl.when(~pl.col(name).is_in([float(code) for code in SPECIAL]) & (pl.col(name) >= 0))
        .then(pl.col(name))
        .alias(name)
        for name in NAMES
    )
    return table.rename({months: f"{months}__clean"})


def with_pay(table: pl.DataFrame) -> pl.DataFrame:
    """Add the targets under their names, and the pay of both jobs by the hour.

    Pay is known where the usual hours a week are above 0 and no more than 168: the first positive one of the hourly
    amount, the weekly one by hours, and the yearly one by 52 times the hours.
    """
    import polars as pl

    added = []
    for job, hours, earned in (
        ("current", "l10_cps_job_usual_hrs", "l11_cps_job_earn"),
        ("last", "l22_last_job_usual_hrs", "l24_last_job_earn"),
    ):
        week = pl.when((pl.col(hours) > 0) & (pl.col(hours) <= HOURS_A_WEEK)).then(pl.col(hours))
        amounts = [
            pl.col(f"{earned}_hrly"),
            pl.col(f"{earned}_wkly") / week,
            pl.col(f"{earned}_ann") / (52 * week),
        ]
        pay = pl.coalesce(pl.when(amount > 0).then(amount) for amount in amounts)
        added.append(pl.when(week.is_not_null()).then(pay).alias(f"{job}_job_hourly_equivalent_pay"))
    return table.with_columns(
        *added,
        pl.col("rw2h_reserv_wage").alias("reservation_wage_hourly"),
        pl.col("rw1a_desired_hours").alias("preferred_weekly_hours"),
    )


def _sheet(book: Workbook, sheet: str, report: BuildReport) -> pl.DataFrame:
    """Return a sheet's answers under today's names."""
    import polars as pl

    found = _SHEET.fullmatch(sheet.strip())
    year = float(found[2]) if found and found[2] else None
    names = {ours: (ours, *older) for ours, older in NAMES.items()}
    every = [name for choices in names.values() for name in choices]
    required = ("year", *NAMES) if year is None else ()
    file = f"{book.path.name}, sheet {sheet}"
    table = book.table(sheet, numbers=["year", *every], required=required, optional=["year", *every], report=report)
    for ours, choices in names.items():
        if not any(table[name].count() for name in choices):
            report.problem(file, f"no answers to {ours}", len(table))
    odd = table.filter(~pl.col("year").is_in([float(one) for one in range(2000, 2100)]).fill_null(False))
    if year is None and len(odd):
        raise DataError(f"year is no year in {len(odd):,} rows, among them {shown(odd['year'][0])}", file=file)
    days = [DAY] if DAY in table.columns else []
    table = table.select(
        "userid",
        *days,
        (100 * (pl.col("year") if year is None else pl.lit(year)) + MONTH).alias("date"),
        *first_answered(table, names, file=file, report=report),
    )
    return keyed(table, file=file).select(*(name for name in KEYS if name != "release_date"), *names)
