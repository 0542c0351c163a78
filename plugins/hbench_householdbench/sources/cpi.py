"""Consumer prices by major group, from the Bureau of Labor Statistics' own time-series files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.economic_series import Series, economic_series
from hbench_householdbench.sources.quarters import quarter_of

if TYPE_CHECKING:
    import polars as pl

_FOLDER = "macro/cpi"
GROUPS = {
    "cpi_all_items": ("1.AllItems", "CUSR0000SA0"),
    "cpi_food_beverages": ("11.USFoodBeverage", "CUSR0000SAF"),
    "cpi_housing": ("12.USHousing", "CUSR0000SAH"),
    "cpi_apparel": ("13.USApparel", "CUSR0000SAA"),
    "cpi_transportation": ("14.USTransportation", "CUSR0000SAT"),
    "cpi_medical_care": ("15.USMedical", "CUSR0000SAM"),
    "cpi_recreation": ("16.USRecreation", "CUSR0000SAR"),
    "cpi_education_communication": ("17.USEducationAndCommunication", "CUSR0000SAE"),
    "cpi_other_goods_services": ("18.USOtherGoodsAndServices", "CUSR0000SAG"),
}
"""File and seasonally adjusted U.S. city average series by group."""
MONTHLY = "cpi_major_groups"
TABLE = "cpi_context"
CATEGORIES = tuple(Series(f"{group}_qoq", group, True) for group in GROUPS if group != "cpi_all_items")


class Cpi:
    """The source ``cpi``: consumer prices by major group.

    Tables: ``cpi_major_groups.parquet``, the indices by month; ``cpi_context.parquet``, one row for each quarter in
    which a survey could take place, with the columns of `CATEGORIES`.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """One file a group."""
        return tuple(cpi_file(group) for group in GROUPS)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the tables."""
        monthly = read_cpi(raw, report=report)
        monthly.write_parquet(out / f"{MONTHLY}.parquet")
        context = economic_series(quarterly_cpi(monthly), CATEGORIES, file=_FOLDER)
        context.write_parquet(out / f"{TABLE}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write synthetic price files; history has one length, whatever the scale."""
        from hbench_householdbench.sources.demo.macro import write_prices

        write_prices(raw, seed=seed)


def cpi_file(group: str) -> RawFile:
    """Return the file that holds a group's series."""
    return RawFile(
        f"{_FOLDER}/cu.data.{GROUPS[group][0]}.txt",
        f"https://download.bls.gov/pub/time.series/cu/cu.data.{GROUPS[group][0]}",
        "U.S. Bureau of Labor Statistics, public domain",
    )


def read_cpi(raw: Path, *, report: BuildReport) -> pl.DataFrame:
    """Return the monthly indices, every month from the first to the last of any group.

    Returns
    -------
    polars.DataFrame
        ``date`` (first of the month), then one index a group; a month that was not published is null.

    Raises
    ------
    DataError
        A file lacks its series or a column, or a month is repeated.
    """
    import polars as pl

    series = {group: _read(raw, group, report) for group in GROUPS}
    dates = pl.concat([one["date"] for one in series.values()])
    table = pl.DataFrame({"date": pl.date_range(dates.min(), dates.max(), "1mo", eager=True)})  # type: ignore[arg-type]
    for one in series.values():
        table = table.join(one, on="date", how="left", maintain_order="left")
    return table


def quarterly_cpi(monthly: pl.DataFrame) -> pl.DataFrame:
    """Return the mean index of every quarter (``q_index``); null unless all three months are there."""
    import polars as pl

    means = [pl.when(pl.col(group).count() == 3).then(pl.col(group).mean()).alias(group) for group in GROUPS]
    return monthly.group_by(quarter_of(pl.col("date")).alias("q_index")).agg(means).sort("q_index")


def _read(raw: Path, group: str, report: BuildReport) -> pl.DataFrame:
    import polars as pl

    name, series = cpi_file(group).path, GROUPS[group][1]
    path = raw / name
    try:
        text = pl.read_csv(path, separator="\t", infer_schema=False, quote_char=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    # The columns are padded with blanks, names and values alike.
    text = text.rename({column: column.strip() for column in text.columns})
    missing = [column for column in ("series_id", "year", "period", "value") if column not in text.columns]
    if missing:
        raise DataError(f"there is no column {missing[0]!r}", file=path, line=1)
    rows = text.select(pl.col("series_id", "year", "period", "value").str.strip_chars()).filter(
        (pl.col("series_id") == series) & pl.col("period").str.contains(r"^M(0[1-9]|1[0-2])$")
    )
    if rows.is_empty():
        raise DataError(f"the series {series} is not in it", file=path, hint=f"It is the index {group!r}.")
    value = pl.col("value").cast(pl.Float64, strict=False)
    months = rows.select(
        pl.date(pl.col("year").cast(pl.Int32), pl.col("period").str.slice(1).cast(pl.Int32), 1).alias("date"),
        pl.when(value.is_finite()).then(value).alias(group),
    ).sort("date")
    again = months.filter(pl.col("date").is_duplicated())
    if len(again):
        raise DataError(f"{series} has the month {again['date'][0]:%Y-%m} more than once", file=path)
    unread = months[group].null_count()
    report.problem(name, f"months of {series} without a number", unread, "as in October 2025" if unread else "")
    return months
