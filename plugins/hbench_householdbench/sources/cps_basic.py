"""The Current Population Survey, month by month since 1976: an extract of IPUMS CPS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import BuildReport, DataError, RawFile
from hbench.data.overlap import behind
from hbench_householdbench.sources.cps_clean import Codes, cleaned, count_contradictions, report_unknown
from hbench_householdbench.sources.cps_codes import KNOWN, MISSING, RANGES, SINCE, TYPES
from hbench_householdbench.sources.cps_releases import CPS_RELEASES, read_cps_releases
from hbench_householdbench.sources.cps_variables import VARIABLES
from hbench_householdbench.sources.ipums import BATCH, Extract, find_extract

if TYPE_CHECKING:
    import polars as pl

STEM = "micro/cps/cps_basic"
TABLE, MONTHS = "cps_basic", "cps_months"
CODES = Codes(MISSING, KNOWN, RANGES, SINCE)
_OF_ONE = ("CPSIDP", "CPSIDV", "SERIAL", "WTFINL", "at")
"""Columns without a dictionary: of almost every record another value, or one value of all."""
_RISING = ("CPSIDP", "CPSIDV", "SERIAL", "at")
"""Those of whole numbers that mostly rise by little from record to record."""
_ASKED_FOR = ("at", "YEAR")
"""Columns with statistics, by which readers skip months."""
EXTRACT = RawFile(
    f"{STEM}.*",
    "https://cps.ipums.org, an extract of the monthly files with the 149 variables: cps_basic.csv.gz, "
    "or cps_basic.dat.gz and its codebook cps_basic.xml",
    "IPUMS CPS terms of use; not to be redistributed",
)


class CpsBasic:
    """All records of the extract, one month after the other.

    Tables: ``cps_basic.parquet``, one row a record in the file's order, with whole months in a row group, holds the
    variables that tasks read (`TYPES`) as codes; what says nothing (`MISSING`, numbers beyond `RANGES`, and unknown
    codes, which are reported) is null. ``at`` is the month as ``12 * year + month - 1``; ``once`` says whether CPSIDP
    is positive and occurs once in the month. ``cps_months.parquet`` has a row a month: records, release date, and for
    every variable how many records have a value.

    No more than a batch and a month are in memory at a time.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The extract and the release dates."""
        return (EXTRACT, CPS_RELEASES)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the tables.

        Raises
        ------
        DataError
            A variable is missing, months are out of order or lack a release date, or the extract is damaged.
        """
        extract = find_extract(raw, STEM)
        _check_variables(extract, report)
        availability = write_months(whole_months(extract, report), out / f"{TABLE}.parquet", extract, report)
        releases = read_cps_releases(raw, availability["at"].to_list(), report=report)
        availability.join(releases, on="at", how="left", maintain_order="left").write_parquet(out / f"{MONTHS}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic extract; see `hbench_householdbench.sources.demo.cps_basic`."""
        from hbench_householdbench.sources.demo.cps_basic import write

        write(raw, seed=seed, scale=scale)


def whole_months(extract: Extract, report: BuildReport) -> Iterator[pl.DataFrame]:
    """Yield the records in the file's order, whole months at a time, with the month ``at``.

    Raises
    ------
    DataError
        A month comes after a later one.
    """
    import polars as pl

    types = {name: getattr(pl, dtype) for name, dtype in TYPES.items()}
    dated = pl.col("MONTH").is_between(1, 12) & pl.col("YEAR").is_not_null()
    at = pl.when(dated).then(12 * pl.col("YEAR").cast(pl.Int32) + pl.col("MONTH") - 1)
    held: list[pl.DataFrame] = []
    latest, records, undated = -1, 0, 0
    for batch in extract.batches(types, report=report):
        batch = batch.with_columns(at=at)
        _check_order(batch["at"], latest, records, extract)
        records += len(batch)
        without = batch["at"].null_count()
        if without:
            undated += without
            batch = batch.filter(pl.col("at").is_not_null())
        if not len(batch):
            continue
        latest = batch["at"][-1]
        held.append(batch)
        if sum(map(len, held)) >= BATCH and held[0]["at"][0] < latest:
            # The last month may go on in the next batch. Months are in order, so nothing is copied.
            joint = pl.concat(held, rechunk=True)
            start = joint["at"].search_sorted(latest)
            yield joint[:start]
            held = [joint[start:]]
    if held:
        yield pl.concat(held)
    report.counts["cps_basic.records"] = records
    report.problem(extract.name, "records without a month are left out", undated)


def write_months(parts: Iterable[pl.DataFrame], path: Path, extract: Extract, report: BuildReport) -> pl.DataFrame:
    """Clean and write whole months; return for each month how many records have a value of every variable."""
    import polars as pl

    # The next months are read while these are written.
    with _Writer(path) as writer:
        behind(writer.write, parts)
    if not writer.availability:
        raise DataError("the extract holds no record of a month", file=extract.path)
    report_unknown(writer.unknown, extract.name, report)
    for what, count in writer.odd.items():
        report.problem(extract.name, what, count)
    return pl.concat(writer.availability)


class _Writer:
    """Cleans parts of whole months and appends them to a Parquet file, each as a row group."""

    def __init__(self, path: Path) -> None:
        self.unknown: Counter[tuple[str, float]] = Counter()
        self.odd: Counter[str] = Counter()
        self.availability: list[pl.DataFrame] = []
        self._path = path
        self._file: Any = None

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, part: pl.DataFrame) -> None:
        """Clean a part, count what is odd, and append it."""
        import polars as pl
        import pyarrow.parquet as pq

        rows = cleaned(part, CODES, self.unknown)
        positive = (pl.col("CPSIDP") > 0).fill_null(False)
        rows = rows.with_columns(once=positive & _alone(rows, pl.col("CPSIDP")))
        _count_shared(rows, self.odd)
        count_contradictions(rows, self.odd)
        present = [pl.col(name).count().alias(f"records_with_{name}") for name in TYPES]
        months = rows.group_by("at", maintain_order=True)
        self.availability.append(months.agg(pl.col("YEAR", "MONTH").first(), pl.len().alias("records"), *present))
        table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
        if self._file is None:
            self._file = pq.ParquetWriter(
                self._path,
                table.schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=[name for name in table.column_names if name not in _OF_ONE],
                column_encoding=dict.fromkeys(_RISING, "DELTA_BINARY_PACKED"),
                write_statistics=list(_ASKED_FOR),
            )
        self._file.write_table(table, row_group_size=len(rows))


def _check_order(at: pl.Series, latest: int, records: int, extract: Extract) -> None:
    known = at.drop_nulls()
    if known.is_sorted() and (not len(known) or known[0] >= latest):
        return
    for place, month in enumerate(at):
        if month is not None and month < latest:
            raise DataError(
                f"{month // 12}-{month % 12 + 1:02d} comes after {latest // 12}-{latest % 12 + 1:02d}",
                file=extract.path,
                line=records + place + (1 if extract.layout else 2),
                hint="Sort the extract by YEAR and MONTH, as IPUMS delivers it.",
            )
        latest = latest if month is None else month


def _alone(rows: pl.DataFrame, key: pl.Expr) -> pl.Expr:
    """Return whether a key occurs once in its month."""
    import polars as pl

    return key.is_unique() if rows["at"][0] == rows["at"][-1] else pl.struct("at", key).is_unique()


def _count_shared(rows: pl.DataFrame, shared: Counter[str]) -> None:
    """Count the records whose number, or place in the household, is not theirs alone."""
    import polars as pl

    line = pl.col("SERIAL").cast(pl.Int64) * (1 << 16) + pl.col("PERNUM")
    positive, once, alone = rows.select(
        (pl.col("CPSIDP") > 0).sum(), pl.col("once").sum(), _alone(rows, line).sum().alias("alone")
    ).row(0)
    shared["records share a positive CPSIDP with another one of their month"] += positive - once
    shared["records have no positive CPSIDP"] += len(rows) - positive
    shared["records repeat SERIAL and PERNUM in their month"] += len(rows) - alone


def _check_variables(extract: Extract, report: BuildReport) -> None:
    """Refuse an extract without a variable that tasks need; report what differs from the reference's 149."""
    extract.need(TYPES)
    report.counts["cps_basic.variables"] = len(extract.columns)
    others = [name for name in extract.columns if name not in VARIABLES]
    absent = [name for name in VARIABLES if name not in extract.columns]
    for what, names in (
        ("variables beyond the reference's 149, which are not read", others),
        ("variables of the reference's 149 are not there, which no task of this source reads", absent),
    ):
        report.problem(extract.name, what, len(names), ", ".join(names[:6]))
