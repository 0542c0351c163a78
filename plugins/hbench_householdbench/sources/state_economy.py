"""The states' economies by year: unemployment, income per head, house prices, and the country's beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources import hpi, laus, sainc1
from hbench_householdbench.sources.fred_qd import FRED_QD, read_fred_qd
from hbench_householdbench.sources.state_years import NATION
from hbench_householdbench.sources.states import FIPS, STATES

if TYPE_CHECKING:
    import polars as pl

TABLE = "state_economy"
_UNEMPLOYMENT = "UNRATE"
COLUMNS = (
    *("statefip", "state_abbrev", "state_name", "year", laus.RATE),
    *(sainc1.INCOME, sainc1.GROWTH, hpi.PRICE, hpi.GROWTH, "us_unemployment_rate"),
    *(f"us_{name}" for name in (sainc1.INCOME, sainc1.GROWTH, hpi.PRICE, hpi.GROWTH)),
)


class StateEconomy:
    """The table ``state_economy``: one row a state and year for which all figures (`COLUMNS`) are there.

    Rates and growth are in percent; growth is against the year before. Income is in dollars of the year a head; house
    prices are the mean of four quarters. The country's unemployment rate is the mean of the year's quarters in FRED-QD.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The four providers' files; of two layouts one is enough."""
        return (
            *(laus.FLAT, laus.WORKBOOK),
            *(sainc1.SAINC1, sainc1.ANY_YEARS),
            *(hpi.MASTER, hpi.OF_STATES, hpi.OF_COUNTRY),
            FRED_QD,
        )

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            A provider's file is missing, damaged or in no known layout, or no state's year has all figures.
        """
        read_state_economy(raw, report=report).write_parquet(out / f"{TABLE}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write synthetic files in the flat layouts; history has one length, whatever the scale."""
        from hbench_householdbench.sources.demo.state_economy import write_state_economy

        write_state_economy(raw, seed=seed)


def read_state_economy(raw: Path, *, report: BuildReport) -> pl.DataFrame:
    """Return the table of `StateEconomy`, by state and year; what is left out is reported."""
    import polars as pl

    rates = laus.read_laus(raw, report=report)
    income = sainc1.read_sainc1(raw, report=report)
    houses = hpi.read_hpi(raw, report=report)
    states = pl.DataFrame(
        STATES, schema={"statefip": pl.Int32, "state_abbrev": pl.String, "state_name": pl.String}, orient="row"
    )
    key = ["statefip", "year"]
    table = states.join(rates, on="statefip").join(income, on=key).join(houses, on=key)
    for figures in (income, houses):
        national = figures.filter(pl.col("statefip") == NATION).drop("statefip")
        table = table.join(
            national.rename({name: f"us_{name}" for name in national.columns if name != "year"}), on="year", how="left"
        )
    table = table.join(_national_unemployment(raw, report), on="year", how="left").select(COLUMNS).sort(key)
    whole = table.drop_nulls()
    for column, rows in zip(table.columns, table.null_count().row(0), strict=True):
        report.problem(TABLE, f"states' years that are left out for want of {column}", rows)
    if whole.is_empty():
        raise DataError("no state's year has all figures", file=raw, hint="Do the providers' files overlap in time?")
    absent = sorted(set(FIPS) - set(whole["statefip"]))
    report.problem(TABLE, "states without any complete year", len(absent), str(absent[0]) if absent else "")
    report.counts["state_economy.state_years"] = len(whole)
    return whole


def _national_unemployment(raw: Path, report: BuildReport) -> pl.DataFrame:
    import polars as pl

    levels = read_fred_qd(raw, [_UNEMPLOYMENT], report=report)
    if _UNEMPLOYMENT not in levels.columns:
        raise DataError(f"there is no column {_UNEMPLOYMENT!r}", file=raw / FRED_QD.path, line=1)
    years = (
        levels.drop_nulls()
        .group_by(year=((pl.col("q_index") - 1) // 4).cast(pl.Int32))
        .agg(pl.len(), pl.col(_UNEMPLOYMENT).sort_by("q_index").mean().alias("us_unemployment_rate"))
        .sort("year")
    )
    short = years.filter(pl.col("len") < 4)
    report.problem(
        FRED_QD.path,
        f"years whose {_UNEMPLOYMENT} is the mean of fewer than four quarters",
        len(short),
        str(short["year"][0]) if len(short) else "",
    )
    return years.drop("len")
