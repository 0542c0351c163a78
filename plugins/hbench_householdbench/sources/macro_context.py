"""What was known of the national economy at a date: series of quarters that were over, from FRED-QD.

The figures are those of the latest vintage, not of the time (facts on the macro context).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, RawFile
from hbench_householdbench.sources.economic_series import Series, economic_series
from hbench_householdbench.sources.fred_qd import FRED_QD, read_fred_qd

if TYPE_CHECKING:
    import polars as pl

TABLE = "macro_context"
CORE = (
    Series("gdp_growth_qoq", "GDPC1", True),
    Series("unemployment_rate", "UNRATE", False),
    Series("headline_cpi_qoq", "CPIAUCSL", True),
    Series("fedfunds_rate", "FEDFUNDS", False),
)
ASSETS = (
    Series("house_price_growth_qoq", "USSTHPI", True),
    Series("sp500_growth_qoq", "S&P 500", True),
    Series("mortgage30us_rate", "MORTGAGE30US", False),
)
NEEDED_BY = {
    **{series.name: ("all tasks",) for series in CORE},
    "house_price_growth_qoq": ("cons_psid_wealth",),
    "sp500_growth_qoq": ("cons_psid_wealth",),
    "mortgage30us_rate": ("cons_psid_wealth", "house_sce_lockin"),
}
"""Tasks that cannot be built without a series; others go without it."""


class Macro:
    """The source ``macro``: ``macro_context.parquet``, one row for each quarter in which a survey could take place."""

    @property
    def files(self) -> tuple[RawFile, ...]:
        """FRED-QD."""
        return (FRED_QD,)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table; a series that the file lacks is a problem that names the tasks that need it."""
        wanted = (*CORE, *ASSETS)
        levels = read_fred_qd(raw, [series.level for series in wanted], report=report)
        for series in wanted:
            if series.level not in levels.columns:
                tasks = ", ".join(NEEDED_BY[series.name])
                report.problem(FRED_QD.path, f"no column {series.level!r}, which is needed by {tasks}", len(levels))
        table = macro_context(levels)
        report.counts["macro_context.quarters"] = len(table)
        table.write_parquet(out / f"{TABLE}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic FRED-QD; history has one length, whatever the scale."""
        from hbench_householdbench.sources.demo.macro import write_fred_qd

        write_fred_qd(raw, seed=seed)


def macro_context(levels: pl.DataFrame) -> pl.DataFrame:
    """Return the context of every quarter for which the core series that are there are complete.

    Parameters
    ----------
    levels : polars.DataFrame
        ``q_index`` without a gap, and the levels of `CORE` and `ASSETS` that the file has.
    """
    import polars as pl

    there = [series for series in (*CORE, *ASSETS) if series.level in levels.columns]
    table = economic_series(levels, there, file=FRED_QD.path)
    core = [column for one in there if one in CORE for column in one.columns]
    return table.filter(pl.all_horizontal(pl.col(core).is_not_null())) if core else table
