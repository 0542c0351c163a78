"""The Displaced Worker Supplement of the Current Population Survey, from the same extract of IPUMS CPS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources import cps_codes, dws_codes
from hbench_householdbench.sources.cps_basic import CODES, EXTRACT, STEM
from hbench_householdbench.sources.cps_clean import Codes, cleaned, count_contradictions, report_unknown
from hbench_householdbench.sources.cps_releases import CPS_RELEASES, read_cps_releases
from hbench_householdbench.sources.ipums import Extract, find_extract

if TYPE_CHECKING:
    import polars as pl

TABLE = "cps_dws"
_DISPLACEMENT = Codes(
    dws_codes.MISSING,
    {variable: frozenset(labels) for variable, labels in dws_codes.LABELS.values()},
    {name: (low, high, beyond) for name, (_, low, high, beyond) in dws_codes.NUMBERS.items()},
)


class CpsDws:
    """Records of the months with a supplement, of everyone whom it concerns or who was asked.

    Table ``cps_dws.parquet``, by month in the file's order: the variables of `cps_codes.TYPES` and `dws_codes.TYPES` as
    codes, null where they say nothing; the month ``at`` as ``12 * year + month - 1``, and its release date.

    No more than a batch and a month of the supplement are in memory at a time.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The extract and the release dates."""
        return (EXTRACT, CPS_RELEASES)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            A variable is missing, a month has no release date, there is no supplement, or the extract is damaged.
        """
        import polars as pl
        import pyarrow.parquet as pq

        extract = find_extract(raw, STEM)
        unknown: Counter[tuple[str, float]] = Counter()
        odd: Counter[str] = Counter()
        writer: pq.ParquetWriter | None = None
        try:
            for month in supplements(extract, report):
                rows = cleaned(cleaned(month, CODES, unknown), _DISPLACEMENT, unknown)
                count_contradictions(rows, odd)
                releases = read_cps_releases(raw, [month["at"][0]], report=BuildReport())
                rows = rows.join(releases.select("at", "release_date"), on="at", how="left", maintain_order="left")
                report.counts["cps_dws.displaced"] += int((rows["DWSTAT"] == 1).sum())
                table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
                if writer is None:
                    writer = pq.ParquetWriter(out / f"{TABLE}.parquet", table.schema, compression="lz4")
                writer.write_table(table, row_group_size=len(rows))
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise DataError(
                "no record of the extract has DWRESP or DWSTAT",
                file=extract.path,
                hint="Add the months of the supplement (January or February of even years) at cps.ipums.org.",
            )
        report_unknown(unknown, extract.name, report)
        for what, count in odd.items():
            report.problem(extract.name, what, count)

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic extract, that of the monthly survey."""
        from hbench_householdbench.sources.demo.cps_basic import write

        write(raw, seed=seed, scale=scale)


def supplements(extract: Extract, report: BuildReport) -> Iterator[pl.DataFrame]:
    """Yield the records of each month with a supplement, those without DWRESP and DWSTAT left out.

    Raises
    ------
    DataError
        A variable is missing, or the months are out of order.
    """
    import polars as pl

    names = {**cps_codes.TYPES, **dws_codes.TYPES}
    held: list[pl.DataFrame] = []
    latest = -1
    asked = pl.col("DWRESP").is_not_null() | pl.col("DWSTAT").is_not_null()
    at = (12 * pl.col("YEAR").cast(pl.Int32) + pl.col("MONTH") - 1).alias("at")
    for batch in extract.batches({name: getattr(pl, dtype) for name, dtype in names.items()}, report=report):
        report.counts["cps_dws.records_of_the_extract"] += len(batch)
        rows = batch.filter(asked).with_columns(at)
        report.problem(extract.name, "records of the supplement without a month", rows["at"].null_count())
        rows = rows.filter(pl.col("at").is_not_null())
        report.counts["cps_dws.records"] += len(rows)
        if rows.is_empty():
            continue
        if not rows["at"].is_sorted() or rows["at"][0] < latest:
            raise DataError(
                "the months of the supplement are out of order",
                file=extract.path,
                hint="Sort the extract by YEAR and MONTH, as IPUMS delivers it.",
            )
        latest = rows["at"][-1]
        for month in rows.partition_by("at", maintain_order=True):
            if held and held[0]["at"][0] != month["at"][0]:
                yield pl.concat(held)
                held = []
            held.append(month)
    if held:
        yield pl.concat(held)
