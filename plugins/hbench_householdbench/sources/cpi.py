"""Consumer prices by major group, from the Bureau of Labor Statistics.

Two layouts are read: its own time-series files, one a group, and tables of several series separated by commas.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data import raw_files
from hbench.data.ragged import check_cells
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
_TERMS = "U.S. Bureau of Labor Statistics, public domain"
COPIES = RawFile(f"{_FOLDER}/*.csv", "https://data.bls.gov/series-report", _TERMS, required=False)
_COLUMNS = ("series_id", "year", "period", "value")
_SHOWN = 6
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
        """One file a group, or tables of several series."""
        return (*(cpi_file(group) for group in GROUPS), COPIES)

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
        _TERMS,
        alternatives=(COPIES.path,),
    )


def read_cpi(raw: Path, *, report: BuildReport) -> pl.DataFrame:
    """Return the monthly indices, every month from the first to the last of any group.

    Where a group has no file of its own, its series is looked for in the comma-separated tables; if they lack it, the
    group is null throughout, and reported.

    Returns
    -------
    polars.DataFrame
        ``date`` (first of the month), then one index a group; a month that was not published is null.

    Raises
    ------
    DataError
        A group has neither a file nor tables to look in, or nobody has the index of all items; a file lacks its series
        or a column; or a month is repeated.
    """
    import polars as pl

    tables = _tables(raw)
    missing = [cpi_file(group) for group in GROUPS if tables is None and not (raw / cpi_file(group).path).is_file()]
    if missing:
        ways = "\n    ".join(f"{file.path} (from {file.origin}; terms: {file.terms})" for file in missing)
        raise DataError(
            f"{len(missing)} files of consumer prices are missing:\n    {ways}",
            file=raw,
            hint=f"Or put comma-separated tables of series ({', '.join(_COLUMNS)}) in their place: {COPIES.path}.",
        )
    series = {group: _months(raw, group, tables, report) for group in GROUPS}
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


def _tables(raw: Path) -> pl.DataFrame | None:
    """Return the rows of all comma-separated tables of series; None if there is none."""
    import polars as pl

    parts = [_read(path, ",") for path in raw_files(raw, COPIES.path)]
    # Lists of series, without figures, come along with them.
    parts = [part for part in parts if set(_COLUMNS) <= set(part.columns)]
    return pl.concat([part.select(_COLUMNS) for part in parts]).unique(maintain_order=True) if parts else None


def _read(path: Path, separator: str) -> pl.DataFrame:
    import polars as pl

    try:
        data, quotes = path.read_bytes(), separator == ","
        check_cells(data, path, separator=separator, quotes=quotes)
        text = pl.read_csv(data, separator=separator, infer_schema=False, quote_char='"' if quotes else None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    # The columns are padded with blanks, names and values alike.
    return text.rename({name: name.strip() for name in text.columns}).with_columns(pl.all().str.strip_chars())


def _months(raw: Path, group: str, tables: pl.DataFrame | None, report: BuildReport) -> pl.DataFrame:
    import polars as pl

    name, series = cpi_file(group).path, GROUPS[group][1]
    own = (raw / name).is_file()
    if not own:
        name = COPIES.path
    text = _read(raw / name, "\t") if own or tables is None else tables
    missing = [column for column in _COLUMNS if column not in text.columns]
    if missing:
        raise DataError(f"there is no column {missing[0]!r}", file=raw / name, line=1)
    rows = text.filter((pl.col("series_id") == series) & pl.col("period").str.contains(r"^M(0[1-9]|1[0-2])$"))
    if rows.is_empty():
        if own or group == "cpi_all_items":
            raise DataError(f"the series {series} is not in it", file=raw / name, hint=f"It is the index {group!r}.")
        report.problem(name, f"there is no series {series}, so {group} is empty", 1)
    value = pl.col("value").cast(pl.Float64, strict=False)
    months = rows.select(
        pl.date(pl.col("year").cast(pl.Int32), pl.col("period").str.slice(1).cast(pl.Int32), 1).alias("date"),
        pl.when(value.is_finite()).then(value).alias(group),
    ).sort("date")
    again = months.filter(pl.col("date").is_duplicated())
    if len(again):
        raise DataError(f"{series} has the month {again['date'][0]:%Y-%m} more than once", file=raw / name)
    # A month that was not published has a dash for its value, or no line at all.
    every = months.upsample("date", every="1mo") if len(months) else months
    unread = every.filter(pl.col(group).is_null())["date"]
    shown = ", ".join(f"{date:%Y-%m}" for date in unread[:_SHOWN])
    report.problem(name, f"months of {series} without a number", len(unread), shown)
    return months
