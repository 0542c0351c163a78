"""For how many weeks unemployment insurance paid in every state and month, as of the fifth of the month.

The weeks are those of Farber, Rothstein and Valletta (2015, American Economic Review 105(5), archive P2015_1088).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.states import FIPS

if TYPE_CHECKING:
    import polars as pl

UI_DURATION = RawFile(
    "micro/cps/ui_duration_farber_2015/P2015_1088_data/eui_state_08-14.dta",
    "https://www.aeaweb.org/articles?id=10.1257/aer.p20151088 (data set P2015_1088_data)",
    "as the article's data archive, American Economic Association",
    sha256="2e34fa8548c41c43a14cb7b6fffd386df46fca38035f12ac5fc5284b27d81d88",
)
TABLE = "cps_ui_policy"
FIRST, LAST = (2008, 1), (2014, 8)
"""First and last month that the task on benefits looks at."""
_COLUMNS = ("fips", "year", "month", "ext_wks", "reg_UI", "ui_weeks")


class UiPolicy:
    """Weeks of unemployment insurance by state and month.

    The table ``cps_ui_policy`` has one row a state and month, by month and state: ``fips``, ``year``, ``month``,
    ``policy_effective_date`` (text, the fifth), ``regular_ui_weeks``, ``maximum_ui_weeks``, ``extension_ui_weeks``
    (their difference) and ``source_active_extension_weeks`` (the archive's own extension, which lapses in months in
    which Congress let the programme expire, while the difference does not).
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The archive's Stata file."""
        return (UI_DURATION,)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            The file cannot be read, lacks a column, repeats a state's month, or a key is no state's month.
        """
        table = read_ui_policy(raw / UI_DURATION.path, report=report)
        table.write_parquet(out / f"{TABLE}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic file; see `hbench_householdbench.sources.demo.ui_policy`."""
        from hbench_householdbench.sources.demo.ui_policy import write_ui_policy

        write_ui_policy(raw, seed=seed)


def read_ui_policy(path: Path, *, report: BuildReport) -> pl.DataFrame:
    """Return the table of `UiPolicy` from the archive's file; cells without weeks are null, and reported."""
    import polars as pl

    cells = _cells(path)
    if not len(cells):
        raise DataError("the file holds no rows", file=path)
    whole = pl.all_horizontal(pl.col(name) == pl.col(name).round() for name in ("fips", "year", "month"))
    good = whole & pl.col("fips").is_in([float(fips) for fips in FIPS]) & pl.col("month").is_between(1, 12)
    odd = cells.filter(~good.fill_null(False))
    if len(odd):
        key = odd.select("fips", "year", "month").row(0)
        raise DataError(f"{len(odd):,} rows have no FIPS code, year and month of a state, among them {key}", file=path)
    again = cells.filter(pl.struct("fips", "year", "month").is_duplicated())
    if len(again):
        raise DataError(
            f"{len(again):,} rows repeat a state's month, among them {again.select('fips', 'year', 'month').row(0)}",
            file=path,
        )
    for column in ("ext_wks", "reg_UI", "ui_weeks"):
        report.problem(UI_DURATION.path, f"state months without {column}", cells[column].null_count())
    keys = [pl.col(name).cast(pl.Int32) for name in ("fips", "year", "month")]
    table = cells.select(
        *keys,
        pl.format(
            "{}-{}-05", *(pl.col(n).cast(pl.Int32).cast(pl.String).str.zfill(2) for n in ("year", "month"))
        ).alias("policy_effective_date"),
        pl.col("reg_UI").alias("regular_ui_weeks"),
        pl.col("ui_weeks").alias("maximum_ui_weeks"),
        (pl.col("ui_weeks") - pl.col("reg_UI")).alias("extension_ui_weeks"),
        pl.col("ext_wks").alias("source_active_extension_weeks"),
    ).sort("year", "month", "fips")
    report.counts["ui_policy.state_months"] = len(table)
    absent = _absent(table)
    example = "state {} in {}-{:02d}".format(*absent[0]) if absent else ""
    report.problem(UI_DURATION.path, "state months of 2008-01 to 2014-08 that are not in it", len(absent), example)
    return table


def _cells(path: Path) -> pl.DataFrame:
    import polars as pl
    import pyreadstat

    try:
        columns, meta = pyreadstat.read_dta(str(path), output_format="dict")
    except (OSError, ValueError, pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    missing = [name for name in _COLUMNS if name not in meta.column_names]
    if missing:
        raise DataError(f"columns are missing: {', '.join(missing)}", file=path)
    return pl.DataFrame({name: pl.Series(columns[name]).cast(pl.Float64).fill_nan(None) for name in _COLUMNS})


def _absent(table: pl.DataFrame) -> list[tuple[int, int, int]]:
    there = set(table.select("fips", "year", "month").iter_rows())
    months = [divmod(at, 12) for at in range(12 * FIRST[0] + FIRST[1] - 1, 12 * LAST[0] + LAST[1])]
    return [key for year, month in months for fips in FIPS if (key := (fips, year, month + 1)) not in there]
