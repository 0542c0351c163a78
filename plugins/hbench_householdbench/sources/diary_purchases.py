"""Purchases of the Diary: their day, their category, and what of them can be given to a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.core import BuildReport
from hbench_householdbench.sources import diary_codes as codes
from hbench_householdbench.sources.diary_files import Quarter

if TYPE_CHECKING:
    import polars as pl

UNIT = 1_000_000
"""Costs are summed in millionths of a dollar: whole numbers, so that no sum depends on its order."""
STRICT_YEARS = (1986, 1996)


def purchases(quarter: Quarter, weeks: pl.DataFrame, report: BuildReport) -> pl.DataFrame:
    """Return a quarter's purchases with what is needed to sum them; every row is counted as joined or unmatched.

    Parameters
    ----------
    quarter : Quarter
        Raw files.
    weeks : polars.DataFrame
        The quarter's weeks: ``newid``, ``week_start``.

    Returns
    -------
    polars.DataFrame
        The joined rows: ``newid``, ``cost`` (millionths of a dollar), the flags ``food_at_home`` and
        ``food_away_from_home``, ``date`` (null unless it fits the week's grid) and ``strict`` (whether date, weekday
        and year also agree as Stephens' sample needs it).
    """
    import polars as pl

    file, year = quarter.files["EXPD"], quarter.year
    starts = weeks.select("newid", "week_start").unique("newid", keep="first", maintain_order=True)
    table = _parsed(quarter.purchases).join(
        starts.with_columns(matched=pl.lit(True)), on="newid", how="left", maintain_order="left"
    )
    table = table.with_columns(pl.col("matched").fill_null(False))
    grid = pl.col("week_start") + pl.duration(days=pl.col("sequence") - 1)
    fits = (pl.col("date") == grid).fill_null(False)
    calendar = (pl.col("date").dt.weekday() % 7 + 1) == pl.col("weekday")
    width = 10 if year == 1996 else 8
    strict = fits & calendar & (pl.col("date").dt.year() == year) & (pl.col("date_width") == width)
    usable = pl.col("matched") & pl.col("cost").is_not_null() & pl.col("ucc").is_not_null()
    table = table.with_columns(
        fits=fits & usable,
        strict=strict.fill_null(False) & usable & pl.lit(STRICT_YEARS[0] <= year <= STRICT_YEARS[1]),
        **_categories(year),
    )
    dated = pl.col("date").is_not_null()
    blank = pl.col("QREDATE").is_null()
    found = table.select(
        rows=pl.len(),
        joined=pl.col("matched").sum(),
        bad_key=pl.col("newid").is_null().sum(),
        unmatched=(pl.col("newid").is_not_null() & ~pl.col("matched")).sum(),
        bad_cost=pl.col("cost").is_null().sum(),
        bad_ucc=pl.col("ucc").is_null().sum(),
        rounded=pl.col("rounded").fill_null(False).sum(),
        dates_valid=dated.sum(),
        dates_blank=blank.sum(),
        dates_malformed=(~dated & ~blank).sum(),
        weekday_mismatch=(dated & ~calendar).sum(),
        outside_grid=(dated & pl.col("matched") & ~(pl.col("date") == grid).fill_null(False)).sum(),
        allocated=pl.col("fits").sum(),
        strict=pl.col("strict").sum(),
    ).row(0, named=True)
    for name, count in found.items():
        report.counts[f"cex_diary.purchases.{name}"] += count
    for name, what in (
        ("bad_key", "NEWID is not one to eight digits"),
        ("unmatched", "purchases of a week that no FMLY row describes"),
        ("bad_cost", "COST is not a number"),
        ("bad_ucc", "UCC is not six digits"),
        ("rounded", "COST has more than six decimals"),
        ("dates_malformed", "QREDATE is not a date"),
        ("weekday_mismatch", "QREDATE's weekday is not the calendar's"),
        ("outside_grid", "QREDATE is not the stated day of its week, or the week has no start"),
    ):
        report.problem(file, what, found[name])
    if found["rows"] and found["dates_blank"] == found["rows"]:
        report.problem(file, "no purchase has a date, so nothing can be given to a day", found["rows"])
    kept = table.filter(usable)
    report.counts["cex_diary.purchases.summed"] += len(kept)
    return kept.select(
        "newid",
        "cost",
        "food_at_home",
        "food_away_from_home",
        "strict",
        pl.when("fits").then("date").alias("date"),
    )


def _parsed(table: pl.DataFrame) -> pl.DataFrame:
    """Return keys, costs in units, categories, and the parts of QREDATE.

    QREDATE holds the day of the week's seven (1-7), the weekday (1 is Sunday), month, day and year: two digits of the
    year in eight, all four in ten.
    """
    import polars as pl

    amount = pl.col("COST").cast(pl.Float64, strict=False)
    units = pl.when(amount.is_finite()).then(amount * UNIT)
    text = pl.col("QREDATE").str.strip_suffix(".0")
    good = text.str.contains(r"^[1-7][1-7](\d{6}|\d{8})$")
    digits = pl.when(good).then(text)
    short = digits.str.len_chars() == 8
    year = digits.str.slice(6).cast(pl.Int32) + pl.when(short).then(1900).otherwise(0)
    date = pl.concat_str(year.cast(pl.String).str.zfill(4), digits.str.slice(2, 4)).str.to_date("%Y%m%d", strict=False)
    ucc = pl.col("UCC").str.strip_suffix(".0").str.zfill(6).str.extract(r"^(\d{6})$").cast(pl.Int32)
    texts = {
        "NEWID": [codes.newid(pl.col("NEWID")).alias("newid")],
        "UCC": [ucc.alias("ucc")],
        "QREDATE": [
            date.alias("date"),
            digits.str.len_chars().alias("date_width"),
            pl.when(date.is_not_null()).then(digits.str.slice(0, 1).cast(pl.Int32)).alias("sequence"),
            digits.str.slice(1, 1).cast(pl.Int32).alias("weekday"),
        ],
    }
    found = table.select(
        *texts,
        cost=units.round().cast(pl.Int64),
        rounded=(units - units.round()).abs() > 0.01,
    )
    # Many purchases, few different texts: each is taken apart once.
    for column, parts in texts.items():
        each = table.select(column).drop_nulls().unique().select(column, *parts)
        found = found.join(each, on=column, how="left", maintain_order="left")
    return found.drop("NEWID", "UCC")


def _categories(year: int) -> dict[str, pl.Expr]:
    """Return Stephens' (2003) food at home and away from home, each with its alcohol."""
    import polars as pl

    ucc = pl.col("ucc")
    alcohol_away = 200530 if year <= 1993 else 200536
    at_home = ucc.is_between(10110, 180710) | ucc.is_in([200110, 200111, 200112]) | ucc.is_between(200210, 200410)
    away = ucc.is_between(190110, 190320) | ucc.is_in([190901, 190902]) | ucc.is_between(200510, alcohol_away)
    return {"food_at_home": at_home.fill_null(False), "food_away_from_home": away.fill_null(False)}
