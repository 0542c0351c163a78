"""Weeks of the Diary: who kept them, and whether a household's two weeks are complete and dated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.core import BuildReport
from hbench_householdbench.sources import diary_codes as codes
from hbench_householdbench.sources.diary_files import Quarter

if TYPE_CHECKING:
    import polars as pl

_AMOUNTS = {
    "AGE_REF": "age_ref",
    "FAM_SIZE": "household_size",
    "PERSLT18": "children_under_18",
    "FINCBEFX": "annual_income_before_tax",
    "FSS_RRX": "annual_social_security_railroad_income",
    "FSUPPX": "annual_supplemental_security_income",
    "FINLWT21": "weight",
}
_FIRST_CENTURY = 1900
_QUALITY: Sequence[str] = ("strict_start", "strict_dated", "complete_pickup", "kept_two_weeks")


def weeks(quarter: Quarter, report: BuildReport) -> pl.DataFrame:
    """Return one row for every FMLY row with a valid key, in file order.

    Returns
    -------
    polars.DataFrame
        ``newid``, the keys ``source_week_id``, ``week_key``, ``cu_id`` and ``diary_week``, ``week_start`` (null
        where the file does not give it), the attributes of the household and the week's marks of completeness.
    """
    import polars as pl

    file, year = quarter.files["FMLY"], quarter.year
    table = quarter.families.with_columns(newid=codes.newid(pl.col("NEWID")))
    bad = table.filter(pl.col("newid").is_null())
    report.problem(file, "NEWID is not one to eight digits", len(bad), str(bad["NEWID"][0]) if len(bad) else "")
    report.counts["cex_diary.weeks.rows"] += len(table)
    report.counts["cex_diary.weeks.bad_key"] += len(bad)
    table = table.filter(pl.col("newid").is_not_null())
    again = table.filter(pl.col("newid").is_duplicated())
    report.problem(file, "NEWID is repeated", len(again), again["newid"][0] if len(again) else "")
    table = table.with_columns(_start(table, file, report))
    attributes = [*codes.labels(table, year, file, report), *codes.amounts(table, _AMOUNTS, file, report)]
    pick_up, employment = codes.whole(pl.col("PICK_UP")), codes.whole(pl.col("EMPLTYP1"))
    keyed = table.select(
        "newid",
        pl.format("{}:{}", pl.lit(quarter.origin), "newid").alias("source_week_id"),
        pl.format("{}:{}", pl.lit(year), "newid").alias("week_key"),
        pl.format("{}:{}", pl.lit(year), pl.col("newid").str.head(7)).alias("cu_id"),
        pl.lit(year, pl.Int32).alias("source_year"),
        pl.lit(quarter.quarter, pl.Int32).alias("source_quarter"),
        pl.col("newid").str.tail(1).cast(pl.Int32).alias("diary_week"),
        "week_start",
        pl.col("week_start").dt.year().eq(year).fill_null(False).alias("strict_start"),
        pick_up.is_in([1, 201]).fill_null(False).alias("complete_pickup"),
        (codes.whole(pl.col("WEEKN")) == 2).fill_null(False).alias("kept_two_weeks"),
        (codes.whole(pl.col("RESPSTAT")) == 1).fill_null(False).alias("complete_income"),
        employment.is_between(1, 6).fill_null(False).alias("employed"),
    ).hstack(attributes)
    adults = pl.col("household_size") - pl.col("children_under_18")
    return keyed.with_columns(pl.when(adults >= 0).then(adults).alias("n_adults"))


def _start(table: pl.DataFrame, file: str, report: BuildReport) -> pl.Series:
    import polars as pl

    parts = [pl.col(name) for name in ("STRTYEAR", "STRTMNTH", "STRTDAY")]
    year, month, day = (codes.whole(part) for part in parts)
    year = pl.when(year <= 99).then(year + _FIRST_CENTURY).when(year.is_between(1900, 2099)).then(year)
    text = pl.concat_str(year.cast(pl.String), *(part.cast(pl.String).str.zfill(2) for part in (month, day)))
    starts = table.select(
        text.str.to_date("%Y%m%d", strict=False).alias("week_start"),
        pl.any_horizontal(part.is_null() for part in parts).alias("blank"),
    )
    start, blank = starts["week_start"], starts["blank"]
    malformed = start.is_null() & ~blank
    report.counts["cex_diary.weeks.start_valid"] += int(start.is_not_null().sum())
    report.counts["cex_diary.weeks.start_blank"] += int(blank.sum())
    report.counts["cex_diary.weeks.start_malformed"] += int(malformed.sum())
    report.problem(file, "the week's start is blank, so the week has no days", int(blank.sum()))
    report.problem(file, "the week's start is no date", int(malformed.sum()))
    return start


def members(quarter: Quarter, known: pl.DataFrame, report: BuildReport) -> pl.DataFrame:
    """Return the reference persons and spouses of a quarter's members (MEMB), with their household's ``cu_id``."""
    import polars as pl

    file = quarter.files["MEMB"]
    table = quarter.members.select(
        codes.newid(pl.col("NEWID")).alias("newid"),
        codes.whole(pl.col("MEMBNO")).alias("member"),
        codes.whole(pl.col("CU_CODE1")).alias("role"),
        *(
            (codes.whole(pl.col(code)) == 1).fill_null(False).alias(name)
            for code, name in (("ANYSSINC", "oasdi"), ("ANYRAIL", "railroad"), ("US_SUPP", "ssi"))
        ),
        codes.whole(pl.col("WHYNOWRK")).alias("reason"),
    )
    lost = table.join(known.select("newid").unique(), on="newid", how="anti")
    report.counts["cex_diary.members.rows"] += len(table)
    report.counts["cex_diary.members.unmatched"] += len(lost)
    report.problem(file, "members of a week that no FMLY row describes", len(lost))
    return table.filter(pl.col("role").is_in([1, 2])).with_columns(
        pl.format("{}:{}", pl.lit(quarter.year), pl.col("newid").str.head(7)).alias("cu_id")
    )


def households(table: pl.DataFrame, people: pl.DataFrame, year: int) -> pl.DataFrame:
    """Return one row for each household of a survey year: its benefits, and what its two weeks are worth.

    Parameters
    ----------
    table : polars.DataFrame
        Weeks of the year with ``strict_dated``.
    people : polars.DataFrame
        Their reference persons and spouses.
    """
    import polars as pl

    pair = table.group_by("cu_id", maintain_order=True).agg(
        (pl.len() == 2).alias("two_records"),
        ((pl.col("diary_week").n_unique() == 2) & pl.col("diary_week").is_in([1, 2]).all()).alias("weeks_one_and_two"),
        (pl.col("week_start").max() - pl.col("week_start").min() >= pl.duration(days=7))
        .fill_null(False)
        .alias("weeks_apart"),
        *(
            pl.col(name).all().alias(f"{name}_twice")
            for name in ("strict_start", "strict_dated", "complete_pickup", "kept_two_weeks", "complete_income")
        ),
        (pl.col("annual_social_security_railroad_income") > 0).fill_null(False).all().alias("benefits_twice"),
    )
    pair = pair.with_columns(
        stephens_1986_1996_quality_flag_v1=pl.all_horizontal(
            "two_records", "weeks_one_and_two", "weeks_apart", *(f"{name}_twice" for name in _QUALITY)
        )
    )
    retired = 5 if year <= 1996 else 1
    reasons = pl.col("reason").filter(pl.col("role") == 1).drop_nulls()
    oasdi, railroad, ssi = (pl.col(name).any() for name in ("oasdi", "railroad", "ssi"))
    told = people.group_by("cu_id", maintain_order=True).agg(
        ((reasons.len() > 0) & (reasons == retired).all()).alias("retired"),
        pl.col("member").filter("oasdi").n_unique().alias("likely_social_security_recipients"),
        pl.when(oasdi & railroad)
        .then(pl.lit("OASDI_and_Railroad"))
        .when(oasdi & ssi)
        .then(pl.lit("OASDI_and_SSI"))
        .when(oasdi)
        .then(pl.lit("pure_OASDI"))
        .when(railroad)
        .then(pl.lit("Railroad_only"))
        .when(ssi)
        .then(pl.lit("SSI_only"))
        .otherwise(pl.lit("no benefits"))
        .alias("recipient_class"),
    )
    return pair.join(told, on="cu_id", how="left", maintain_order="left")
