"""The Consumer Expenditure Survey's Diary, 1982-2011: what households spend on each of fourteen days."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data import raw_files
from hbench_householdbench.sources import diary_layouts as layouts
from hbench_householdbench.sources.appended import Appended
from hbench_householdbench.sources.diary_days import daily_sums, days, strictly_dated, weekly
from hbench_householdbench.sources.diary_files import Quarter, read_package, read_study
from hbench_householdbench.sources.diary_purchases import STRICT_YEARS, purchases
from hbench_householdbench.sources.diary_weeks import households, members, weeks
from hbench_householdbench.sources.releases import CEX_RELEASES, read_cex_releases

if TYPE_CHECKING:
    import polars as pl

FOLDER = "micro/cex/diary"
_WEEKS = 1 << 10
"""Weeks whose days are made at a time."""
DAILY = "cex_diary_daily"
WEEKLY = "cex_diary_weeks"
_ICPSR = "https://www.icpsr.umich.edu, study {}, version 1 (free account)"
_ICPSR_TERMS = "ICPSR terms of use; not to be redistributed"
_BLS = "https://www.bls.gov/cex/pumd_data.htm"
_BLS_TERMS = "U.S. Bureau of Labor Statistics, public domain"
PUBLISHED = {
    "weeks.rows": 388_686,
    "weeks.start_valid": 385_039,
    "weeks.start_blank": 3_647,
    "weeks.start_malformed": 0,
    "members.rows": 988_393,
    "purchases.rows": 15_805_797,
    "purchases.dates_valid": 15_571_641,
    "purchases.dates_blank": 233_875,
    "purchases.dates_malformed": 281,
    "purchases.weekday_mismatch": 97_936,
    "purchases.outside_grid": 4_754,
    "purchases.allocated": 15_566_887,
    "purchases.strict": 5_489_756,
    "purchases.strict_food_at_home": 2_900_852,
    "purchases.strict_food_away_from_home": 850_551,
    "days": 2_720_802,
    "millionths.general": 204_789_518_532_550,
    "millionths.strict": 53_843_774_241_270,
    "millionths.strict_food_at_home": 6_357_175_001_430,
    "millionths.strict_food_away_from_home": 3_426_206_969_430,
}
"""Counts of the complete files of all thirty years (sums: in millionths of a dollar), as the reference asserts them."""


class CexDiary:
    """Diary weeks of the archives that are there.

    Tables: ``cex_diary_daily`` (seven days for every week, with the household's attributes; the sums
    ``daily_total_expenditure``, ``daily_food_at_home`` and ``daily_food_away_from_home`` follow Stephens' rules and
    exist for 1986-1996) and ``cex_diary_weeks`` (weekly sums of all purchases, dated or not, with the weight). A label
    that the reference calls "not reported" is null.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The archives; those outside of 1986-1996, which no task uses, may be absent."""
        studies = [
            RawFile(
                f"{FOLDER}/icpsr/{layouts.study_archive(study)}",
                _ICPSR.format(study),
                _ICPSR_TERMS,
                required=_needed(years),
            )
            for study, years in layouts.STUDIES.items()
        ]
        packages = [
            RawFile(_package(year), _BLS, _BLS_TERMS, required=_needed((year,)))
            for year in range(layouts.FIRST_BLS_YEAR, layouts.LAST_YEAR + 1)
        ]
        return (*studies, *packages, CEX_RELEASES)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the panels, one survey year after the other.

        Raises
        ------
        DataError
            An archive is damaged, hostile or not in its year's layout.
        """
        years = sorted(
            year for year in range(layouts.FIRST_YEAR, layouts.LAST_YEAR + 1) if raw_files(raw, _archive(year))
        )
        releases = read_cex_releases(raw, years)
        write_years(((year, read_year(raw, year, report)) for year in years), releases, out, report=report)
        if len(years) == layouts.LAST_YEAR - layouts.FIRST_YEAR + 1:
            for name, expected in PUBLISHED.items():
                found = report.counts[f"cex_diary.{name}"]
                report.problem(FOLDER, f"{name} are {found:,}, in the reference {expected:,}", abs(found - expected))

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write synthetic archives of 1986-1996; see `hbench_householdbench.sources.demo.cex_diary`."""
        from hbench_householdbench.sources.demo.cex_diary import write

        write(raw, seed=seed, scale=scale)


def read_year(raw: Path, year: int, report: BuildReport) -> Iterator[Quarter]:
    """Yield a survey year's quarters from its archive below `raw`."""
    name = _archive(year)
    if year >= layouts.FIRST_BLS_YEAR:
        yield from read_package(raw / name, year, name=name, report=report)
    else:
        yield from read_study(raw / name, _study(year), year, name=name, report=report)


def write_years(
    years: Iterator[tuple[int, Iterator[Quarter]]], releases: pl.DataFrame, out: Path, *, report: BuildReport
) -> None:
    """Write the daily and the weekly panel.

    Parameters
    ----------
    years : iterator of (int, iterator of Quarter)
        Survey years with their quarters.
    releases : polars.DataFrame
        ``cex_data_year`` and ``release_date``.
    """
    import polars as pl

    # One year is held at a time.
    with Appended(out / f"{DAILY}.parquet") as daily, Appended(out / f"{WEEKLY}.parquet") as by_week:
        for year, quarters in years:
            table, bought = build_year(year, quarters, report)
            table = table.join(
                releases.select(pl.col("cex_data_year").alias("source_year"), "release_date"),
                on="source_year",
                how="left",
                maintain_order="left",
            )
            released = pl.col("release_date").str.to_date("%Y-%m-%d")
            late = table.filter(pl.col("week_start") + pl.duration(days=6) >= released)
            if len(late):
                raise DataError(
                    f"{len(late):,} weeks of {year} end after their release on {late['release_date'][0]}, "
                    f"among them {late['source_week_id'][0]}",
                    file=CEX_RELEASES.path,
                )
            by_week.add(weekly(table, bought))
            sums = daily_sums(bought)
            for some in table.iter_slices(_WEEKS):
                daily.add(days(some, sums, report))
    if not daily.rows:
        raise DataError("there is no Diary archive", file=FOLDER)


def build_year(year: int, quarters: Iterator[Quarter], report: BuildReport) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a survey year's weeks, with the attributes of their households, and its purchases."""
    import polars as pl

    kept: list[pl.DataFrame] = []
    bought: list[pl.DataFrame] = []
    people: list[pl.DataFrame] = []
    for quarter in quarters:
        table = weeks(quarter, report)
        key = table.select("newid", "source_week_id").unique("newid", keep="first", maintain_order=True)
        bought.append(purchases(quarter, table, report).join(key, on="newid", how="left", maintain_order="left"))
        people.append(members(quarter, table, report))
        kept.append(table)
    spent = pl.concat(bought).drop("newid")
    table = strictly_dated(pl.concat(kept), spent)
    told = households(table, pl.concat(people), year)
    table = table.join(told, on="cu_id", how="left", maintain_order="left")
    income, benefits = pl.col("annual_income_before_tax"), pl.col("annual_social_security_railroad_income")
    _count_sums(spent, report)
    return table.with_columns(
        reference_person_work_status=pl.when(pl.col("retired").fill_null(False))
        .then(pl.lit("retired"))
        .when("employed")
        .then(pl.lit("currently working"))
        .otherwise(pl.lit("not currently working")),
        social_security_share=pl.when(income > 0).then(benefits / income),
        likely_social_security_recipients=pl.col("likely_social_security_recipients").fill_null(0).cast(pl.Int32),
    ).drop("newid", "employed", "retired"), spent


def _count_sums(spent: pl.DataFrame, report: BuildReport) -> None:
    """Keep the sums that the reference publishes; exact, in millionths of a dollar."""
    import polars as pl

    strict = spent.filter("strict")
    for name, table in (
        ("general", spent.filter(pl.col("date").is_not_null())),
        ("strict", strict),
        ("strict_food_at_home", strict.filter("food_at_home")),
        ("strict_food_away_from_home", strict.filter("food_away_from_home")),
    ):
        report.counts[f"cex_diary.millionths.{name}"] += int(table["cost"].sum())
    report.counts["cex_diary.purchases.strict_food_at_home"] += int(strict["food_at_home"].sum())
    report.counts["cex_diary.purchases.strict_food_away_from_home"] += int(strict["food_away_from_home"].sum())


def _needed(years: tuple[int, ...]) -> bool:
    return any(STRICT_YEARS[0] <= year <= STRICT_YEARS[1] for year in years)


def _study(year: int) -> int:
    return next(study for study, years in layouts.STUDIES.items() if year in years)


def _package(year: int) -> str:
    return f"{FOLDER}/bls/diary{year % 100:02d}.zip"


def _archive(year: int) -> str:
    if year >= layouts.FIRST_BLS_YEAR:
        return _package(year)
    return f"{FOLDER}/icpsr/{layouts.study_archive(_study(year))}"
