"""The daily grid: seven days a week, with what was spent on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.core import BuildReport
from hbench_householdbench.sources.diary_purchases import STRICT_YEARS, UNIT

if TYPE_CHECKING:
    import polars as pl

SUMS = {
    "daily_total_expenditure_general": ("general", None),
    "daily_total_expenditure": ("strict", None),
    "daily_food_at_home": ("strict", "food_at_home"),
    "daily_food_away_from_home": ("strict", "food_away_from_home"),
}
"""The days' sums: which purchases count, and of which category (null: all)."""
_KEPT = (
    *("cu_id", "week_key", "source_year", "diary_week"),
    *(
        "age_ref",
        "sex",
        "race",
        "education",
        "marital_status",
        "reference_person_work_status",
        "region",
        "urban_status",
        "home_tenure",
        "household_size",
        "n_adults",
    ),
    *(
        "children_under_18",
        "annual_income_before_tax",
        "annual_social_security_railroad_income",
        "social_security_share",
        "likely_social_security_recipients",
        "recipient_class",
    ),
    *(
        "two_records",
        "weeks_one_and_two",
        "weeks_apart",
        "strict_start_twice",
        "strict_dated_twice",
        "complete_pickup_twice",
        "kept_two_weeks_twice",
        "complete_income_twice",
        "benefits_twice",
        "release_date",
    ),
)


def daily_sums(purchases: pl.DataFrame) -> pl.DataFrame:
    """Return what was spent by ``source_week_id`` and ``date`` (`SUMS`, in units)."""
    import polars as pl

    return (
        purchases.filter(pl.col("date").is_not_null())
        .group_by("source_week_id", "date")
        .agg(_cost(used == "strict", category).sum().alias(name) for name, (used, category) in SUMS.items())
    )


def days(weeks: pl.DataFrame, sums: pl.DataFrame, report: BuildReport) -> pl.DataFrame:
    """Return seven rows for every week.

    A day without purchases is zero where the week has a start, else null; sums by Stephens' rules are null outside of
    1986-1996 and for weeks that start in another year.

    Parameters
    ----------
    weeks : polars.DataFrame
        Weeks of a survey year, with the households' attributes.
    sums : polars.DataFrame
        As of `daily_sums`.
    """
    import polars as pl

    grid = weeks.join(
        pl.DataFrame({"diary_day": range(1, 8)}, schema={"diary_day": pl.Int32}), how="cross"
    ).with_columns(date=pl.col("week_start") + pl.duration(days=pl.col("diary_day") - 1))
    table = grid.join(sums, on=["source_week_id", "date"], how="left", maintain_order="left")
    first, last = STRICT_YEARS
    strict = pl.col("strict_start") & pl.col("source_year").is_between(first, last)
    table = table.select(
        pl.format("{}:{}", "cu_id", pl.col("date").dt.to_string("%Y%m%d")).alias("day_id"),
        pl.col("date").alias("diary_date"),
        "diary_day",
        *_KEPT,
        *(
            pl.when(strict if used == "strict" else pl.col("week_start").is_not_null()).then(_dollars(name)).alias(name)
            for name, (used, _) in SUMS.items()
        ),
    )
    report.counts["cex_diary.days"] += len(table)
    report.counts["cex_diary.days_without_date"] += table["diary_date"].null_count()
    return table


def weekly(weeks: pl.DataFrame, purchases: pl.DataFrame) -> pl.DataFrame:
    """Return the weeks with what was spent in each, dated or not; a week without purchases has zeros."""
    import polars as pl

    names = {"total_expenditure": None, "food_at_home": "food_at_home", "food_away_from_home": "food_away_from_home"}
    sums = purchases.group_by("source_week_id").agg(
        pl.len().alias("purchases"),
        pl.col("date").is_not_null().sum().alias("dated_purchases"),
        *(_cost(False, category).sum().alias(f"weekly_{name}") for name, category in names.items()),
    )
    table = weeks.join(sums, on="source_week_id", how="left", maintain_order="left")
    return table.with_columns(
        pl.col("purchases", "dated_purchases").fill_null(0),
        *(_dollars(f"weekly_{name}") for name in names),
    )


def strictly_dated(weeks: pl.DataFrame, purchases: pl.DataFrame) -> pl.DataFrame:
    """Add ``strict_dated``: the week has dated purchases, and not all of them on its first day."""
    import polars as pl

    dated = (
        purchases.filter("strict")
        .join(weeks.select("source_week_id", "week_start").unique("source_week_id"), on="source_week_id", how="left")
        .group_by("source_week_id")
        .agg((pl.col("date") != pl.col("week_start")).any().alias("strict_dated"))
    )
    return weeks.join(dated, on="source_week_id", how="left", maintain_order="left").with_columns(
        pl.col("strict_dated").fill_null(False)
    )


def _dollars(name: str) -> pl.Expr:
    """Return a sum in dollars, the nearest float: dividing by a constant alone is off by the last bit."""
    import polars as pl

    return (pl.col(name).fill_null(0) / UNIT).round(6)


def _cost(strict: bool, category: str | None) -> pl.Expr:
    import polars as pl

    cost = pl.col("cost")
    if strict:
        cost = cost.filter("strict" if category is None else pl.col("strict") & pl.col(category))
    elif category is not None:
        cost = cost.filter(category)
    return cost
