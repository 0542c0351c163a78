"""The questions on the tax rebates of 2001 and the stimulus payments of 2008 in the CEX Interview."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data.ragged import check_cells
from hbench_householdbench.sources.archives import Archive, Folder
from hbench_householdbench.sources.cex_packages import FOLDER, Package, find_package, package_file

if TYPE_CHECKING:
    import polars as pl

REBATES, STIMULUS = "cex_rebates_2001", "cex_stimulus_2008"
REBATE_FILES = ("tax013.csv", "tax014.csv")
STIMULUS_FILES = ("rbt08.csv",)
CHECKS = (1, 2, 3, 4, 5)
_VALID_FLAGS = tuple("DEFGTUVW")


class CexRebates2001:
    """What households said of the tax rebates of 2001: ``cex_rebates_2001.parquet`` (`read_rebates_2001`)."""

    @property
    def files(self) -> tuple[RawFile, ...]:
        """Two files of the package of 2001."""
        return (package_file(2001, "tax01[34].csv"),)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table."""
        with _opened(raw, 2001) as (package, members):
            read_rebates_2001(package, members, report=report).write_parquet(out / f"{REBATES}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write the package of 2001 of the interviews' demo files, and those of its sample."""
        _write_demo(raw, 2001, seed=seed, scale=scale)


class CexStimulus2008:
    """What households said of the payments of 2008: ``cex_stimulus_2008.parquet`` (`read_stimulus_2008`)."""

    @property
    def files(self) -> tuple[RawFile, ...]:
        """One file of the package of 2008."""
        return (package_file(2008, "rbt08.csv"),)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table."""
        with _opened(raw, 2008) as (package, members):
            read_stimulus_2008(package, members, report=report).write_parquet(out / f"{STIMULUS}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write the package of 2008 of the interviews' demo files, and those of its sample."""
        _write_demo(raw, 2008, seed=seed, scale=scale)


def read_rebates_2001(package: Package, members: Archive | Folder, *, report: BuildReport) -> pl.DataFrame:
    """Return the reports of 2001, one row for each household and check that the form has room for.

    Returns
    -------
    polars.DataFrame
        ``newid``, ``lead_in`` (``valid_yes``, ``valid_no`` or ``unresolved``), ``check`` (1 to 5), ``month``,
        ``amount`` (numbers), ``month_known`` and ``amount_known`` (whether the flag says that the value counts).

    Raises
    ------
    DataError
        A file or a column is missing, a number cannot be read, or a household reports twice.
    """
    import polars as pl

    columns = ["NEWID", "TAXQ1", "TAXQ1_", "TAXQ3", "TAXQ3_"]
    columns += [f"{name}{k}{flag}" for k in CHECKS for name in ("TAXMO", "TAXAMT") for flag in ("", "_")]
    table = pl.concat(_read(package, members, REBATE_FILES, columns))
    again = table.filter(pl.col("NEWID").is_duplicated())
    if len(again):
        raise DataError(
            f"{len(again):,} rows repeat a NEWID over {' and '.join(REBATE_FILES)}, among them {again['NEWID'][0]}",
            file=package.name,
        )
    known = _flag("TAXQ1_")
    lead_in = (
        pl.when(known & (pl.col("TAXQ1") == 1))
        .then(pl.lit("valid_yes"))
        .when(known & (pl.col("TAXQ1") == 2))
        .then(pl.lit("valid_no"))
        .otherwise(pl.lit("unresolved"))
    )
    report.counts["rebates_2001.reports"] = len(table)
    return pl.concat(
        table.select(
            pl.col("NEWID").alias("newid"),
            lead_in.alias("lead_in"),
            pl.lit(k, pl.Int32).alias("check"),
            pl.col(f"TAXMO{k}").alias("month"),
            pl.col(f"TAXAMT{k}").alias("amount"),
            _flag(f"TAXMO{k}_").alias("month_known"),
            _flag(f"TAXAMT{k}_").alias("amount_known"),
        )
        for k in CHECKS
    ).sort("newid", "check")


def read_stimulus_2008(package: Package, members: Archive | Folder, *, report: BuildReport) -> pl.DataFrame:
    """Return the payments of 2008 with a month and a positive amount.

    Returns
    -------
    polars.DataFrame
        ``newid``, ``cu_id``, ``month`` and ``amount``, and ``by`` (``check``, ``transfer`` or null).

    Raises
    ------
    DataError
        The file or a column is missing, or a payment that counts has an unknown code or a household number that is not
        its own.
    """
    import polars as pl

    columns = ["NEWID", "CUID", "RBTMO", "RBTAMT", "CHCKEFT", "HOWUSED", "USDINTMO", "USDINTYR"]
    [table] = _read(package, members, STIMULUS_FILES, columns)
    month = pl.col("RBTMO")
    # Only rows that count are checked.
    counts = table.filter(month.is_between(1, 12) & (month == month.round()) & (pl.col("RBTAMT") > 0))
    report.counts["stimulus_2008.rows"] = len(table)
    report.counts["stimulus_2008.payments"] = len(counts)
    report.problem(
        f"{package.name}/{STIMULUS_FILES[0]}", "rows without a month or a positive amount", len(table) - len(counts)
    )
    own = pl.col("CUID").cast(pl.Int64).cast(pl.String).str.zfill(7)
    for bad, what in (
        (~pl.col("CHCKEFT").is_in([1.0, 2.0]), "an unknown CHCKEFT"),
        ((pl.col("NEWID").str.head(7) != own).fill_null(True), "a CUID that is not NEWID without its last digit"),
    ):
        odd = counts.filter(bad)
        if len(odd):
            raise DataError(f"{len(odd):,} payments have {what}, as NEWID {odd['NEWID'][0]}", file=package.name)
    return counts.select(
        pl.col("NEWID").alias("newid"),
        pl.col("NEWID").str.head(7).alias("cu_id"),
        month.cast(pl.Int32).alias("month"),
        pl.col("RBTAMT").alias("amount"),
        pl.col("CHCKEFT").replace_strict({1.0: "check", 2.0: "transfer"}, default=None).alias("by"),
    )


@contextmanager
def _opened(raw: Path, year: int) -> Iterator[tuple[Package, Archive | Folder]]:
    package = find_package(raw, year)
    if package is None:
        raise DataError(f"the package of {year} is missing", file=raw / FOLDER)
    with package.open() as members:
        yield package, members


def _write_demo(raw: Path, year: int, *, seed: int, scale: float) -> None:
    from hbench_householdbench.sources.demo.cex_interview import write

    write(raw, seed=seed, scale=scale, year=year)


def _read(
    package: Package, members: Archive | Folder, files: Iterable[str], columns: list[str]
) -> Iterator[pl.DataFrame]:
    """Read the named files wherever they lie in the package."""
    by_base = {PurePosixPath(name).name.lower(): name for name in members.names}
    for file in files:
        if file not in by_base:
            raise DataError(f"the package has no {file}", file=package.path, hint="Download it again.")
        yield _table(members.read(by_base[file]), columns, f"{package.name}/{by_base[file]}")


def _table(data: bytes, columns: list[str], file: str) -> pl.DataFrame:
    import polars as pl

    check_cells(data, file)
    try:
        text = pl.read_csv(data, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the file cannot be read: {error}", file=file) from error
    text = text.rename({name: name.strip().strip('"').upper() for name in text.columns})
    missing = [column for column in columns if column not in text.columns]
    if missing:
        raise DataError(f"columns are missing: {', '.join(missing)}", file=file, line=1)
    text = text.select(pl.col(columns).str.strip_chars()).select(
        pl.when(~pl.col(columns).is_in(["", "."])).then(pl.col(columns))
    )
    bad = ~text["NEWID"].str.contains(r"^\d{1,8}$").fill_null(False)
    if bad.any():
        raise DataError(f"NEWID is not one to eight digits in {bad.sum():,} rows", file=file)
    numbers = [column for column in columns if column != "NEWID" and not column.endswith("_")]
    for column in numbers:
        odd = text[column].is_not_null() & text[column].cast(pl.Float64, strict=False).is_null()
        if odd.any():
            raise DataError(f"{column} is not a number in {odd.sum():,} rows", file=file)
    return text.with_columns(pl.col("NEWID").str.zfill(8), pl.col(numbers).cast(pl.Float64))


def _flag(column: str) -> pl.Expr:
    import polars as pl

    return pl.col(column).str.to_uppercase().is_in(_VALID_FLAGS).fill_null(False)
