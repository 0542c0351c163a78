"""From an IPUMS extract of the CPS to the rows of labor_cps_separation: time and peak memory as it grows, and pandas.

Run: python benchmarks/cps.py [MILLIONS ...]      (default: 2 10; 10 million records take about 3.5 GB of disk)

Extracts of 149 filled columns are generated in a temporary folder, with real sizes of months (about 130,000 records).
Every measurement runs in a process of its own: "unpack" only decompresses, the floor; "panel" is the source, from the
gzip to our Parquet; "rows" makes the task's sample from that Parquet. The pandas pipelines (on the smallest extract)
make the same rows, from the gzip and from our Parquet, in chunks; the counts of rows must agree.
"""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import alone

from hbench_householdbench.sources import cps_basic, cps_codes

MILLIONS = (2.0, 10.0)
FULL = 79.3
"""Millions of records from 1976 to 2026."""
_A_MONTH = 130_000
_FIRST = 12 * 2008
_GZIP = f"{cps_basic.STEM}.csv.gz"
_TASK = "labor_cps_separation"


def generate(raw: Path, out: Path, millions: float) -> int:
    """Write the extract, its release dates and the economy's table; return the records."""
    from hbench.core import BuildReport
    from hbench_householdbench.sources.demo.cps_basic import write_cps_releases
    from hbench_householdbench.sources.demo.cps_extract import months, write_csv
    from hbench_householdbench.sources.demo.cps_people import people
    from hbench_householdbench.sources.macro_context import Macro

    last = _FIRST + max(1, round(millions * 1e6 / _A_MONTH)) - 1
    written = 0

    def counted() -> Iterator[Any]:
        nonlocal written
        for part in months(people(seed=1, scale=_A_MONTH / 610, first=_FIRST, last=last)):
            written += len(part)
            yield _filled(part)

    write_csv(counted(), raw / _GZIP, level=1)
    write_cps_releases(raw)
    Macro().demo(raw, seed=1, scale=1.0)
    Macro().build(raw, out, report=BuildReport())
    return written


def _filled(part: Any) -> Any:
    """Give the columns that the demo leaves blank the codes that a real extract has in them."""
    import polars as pl

    blank = [name for name, dtype in part.schema.items() if dtype == pl.Int8 and part[name].null_count() == len(part)]
    fill = [pl.lit(99), pl.lit(0), pl.lit(9999), pl.int_range(pl.len()) % 7, pl.lit(999)]
    return part.with_columns(fill[i % len(fill)].alias(name) for i, name in enumerate(blank))


def unpack(raw: Path, _out: Path) -> int:
    """Decompress; return megabytes."""
    size = 0
    with gzip.open(raw / _GZIP) as stream:
        while block := stream.read(1 << 20):
            size += len(block)
    return size // 1_000_000


def panel(raw: Path, out: Path) -> int:
    """Build the source's tables; return the records."""
    from hbench.core import BuildReport

    report = BuildReport()
    cps_basic.CpsBasic().build(raw, out, report=report)
    return report.counts["cps_basic.records"]


def rows(_raw: Path, out: Path) -> int:
    """Make the task's sample from the tables that `panel` left; return its rows."""
    import polars as pl

    from hbench.data import StepContext
    from hbench.data.parts import write_sample
    from hbench.plugin import default_registry
    from hbench.spec import discover

    task = discover().get(f"householdbench/{_TASK}").load()
    tables = {path.stem: pl.scan_parquet(path) for path in out.glob("*.parquet") if path.stem != "pandas"}
    source = tables["cps_basic"]
    registry = default_registry()
    with tempfile.TemporaryDirectory(dir=out) as folder:
        _, funnel = write_sample(
            task,
            source,
            StepContext(task, source, tables),
            resolve=lambda name: registry.get("step", name, suite=task.suite),
            folder=Path(folder),
        )
        return funnel.rows[-1].rows


_VARIABLES = (
    *("YEAR", "MONTH", "CPSIDP", "MISH", "EMPSTAT", "AGE", "SEX", "RACE", "EDUC", "MARST", "STATEFIP", "REGION"),
    *("METRO", "RELATE", "FAMSIZE", "NCHILD", "HISPAN", "NATIVITY", "CITIZEN", "VETSTAT", "AHRSWORKT", "UHRSWORKT"),
    *("CLASSWKR", "MULTJOB"),
)
_OPTIONAL = ("classwkr", "multjob")


def pandas_gzip(raw: Path, out: Path) -> int:
    """Make the same rows in pandas from the gzip, in chunks."""
    import pandas as pd

    return _in_pandas(pd.read_csv(raw / _GZIP, usecols=list(_VARIABLES), chunksize=200_000), out)


def pandas_parquet(_raw: Path, out: Path) -> int:
    """Make the same rows in pandas from our Parquet, in its row groups."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(out / "cps_basic.parquet")
    groups = range(file.num_row_groups)
    return _in_pandas((file.read_row_group(n, columns=list(_VARIABLES)).to_pandas() for n in groups), out)


def pandas_panel(raw: Path, out: Path) -> int:
    """Read the variables of the source from the gzip and clean them in pandas, in chunks; return the records."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    records, writer = 0, None
    for chunk in pd.read_csv(raw / _GZIP, usecols=list(cps_codes.TYPES), chunksize=200_000):
        for variable, codes in cps_codes.MISSING.items():
            chunk[variable] = chunk[variable].mask(chunk[variable].isin(codes))
        for variable, (low, high, _) in cps_codes.RANGES.items():
            chunk[variable] = chunk[variable].where(chunk[variable].between(low, high))
        chunk["once"] = ~chunk.duplicated(["YEAR", "MONTH", "CPSIDP"], keep=False)
        table = pa.Table.from_pandas(chunk.astype("float64"), preserve_index=False)
        writer = writer or pq.ParquetWriter(
            out / "pandas.parquet", table.schema, compression="zstd", compression_level=1
        )
        writer.write_table(table)
        records += len(chunk)
    if writer is not None:
        writer.close()
    return records


def _in_pandas(chunks: Any, out: Path) -> int:
    import pandas as pd

    keys, rows = [], []
    for chunk in chunks:
        chunk["at"] = 12 * chunk.YEAR + chunk.MONTH - 1
        keys.append(chunk[["CPSIDP", "at", "MISH", "EMPSTAT"]])
        some = chunk[chunk.MISH.isin([1, 2, 3, 5, 6, 7]) & (chunk.AGE >= 16) & chunk.EMPSTAT.isin([10, 12])].copy()
        for name, (variable, labels) in cps_codes.LABELS.items():
            if variable in _VARIABLES:
                some[name] = some[variable].map(labels)
        for variable, (low, high, _) in cps_codes.RANGES.items():
            if variable in _VARIABLES:
                some[variable] = some[variable].where(some[variable].between(low, high))
        rows.append(some)
    people = pd.concat(keys, ignore_index=True)
    repeated = people.duplicated(["CPSIDP", "at"], keep=False)
    once = people[~repeated & (people.CPSIDP > 0)]
    later = once[once.EMPSTAT > 0].assign(at=once["at"] - 1).rename(columns={"MISH": "m", "EMPSTAT": "later"})
    table = pd.concat(rows, ignore_index=True).merge(later, on=["CPSIDP", "at"], how="inner")
    table = table[(table.m == table.MISH + 1) & table.later.isin([10, 12, 20, 21, 22, *range(30, 37)])]
    table["target"] = pd.cut(table.later, [0, 12, 22, 36], labels=["employed", "unemployed", "not_in_labor_force"])
    table["origin_q_index"] = 4 * table.YEAR + (table.MONTH - 1) // 3 + 1
    table = table.merge(pd.read_parquet(out / "macro_context.parquet"), on="origin_q_index", how="left")
    labels = [name for name, (variable, _) in cps_codes.LABELS.items() if variable in _VARIABLES]
    table = table.dropna(subset=[name for name in labels if name not in _OPTIONAL] + ["AHRSWORKT", "UHRSWORKT"])
    table = table.dropna(subset=["FAMSIZE", "NCHILD", "gdp_growth_qoq_lag1"])
    table = table.merge(once[["CPSIDP", "at"]], on=["CPSIDP", "at"]).sort_values(["at", "CPSIDP"])
    table.to_parquet(out / "pandas.parquet")
    return len(table)


PARTS: dict[str, alone.Part] = {
    **{"unpack": unpack, "panel": panel, "rows": rows},
    "pandas panel": pandas_panel,
    **{"pandas from gzip": pandas_gzip, "pandas from our Parquet": pandas_parquet},
}


def part_of(name: str) -> alone.Part:
    """Return the part of a name; ``generate 2`` writes two million records."""
    what, _, millions = name.partition(" ")
    return partial(generate, millions=float(millions)) if what == "generate" else PARTS[name]


def _projected(records: float, got: dict[str, alone.Figures], raw: Path, out: Path) -> None:
    """Print what all months would take, in proportion to the records."""
    times = FULL * 1e6 / records
    cpu = got["panel"]["cpu"] + got["rows"]["cpu"]
    wall = (got["panel"]["seconds"] + got["rows"]["seconds"]) * times / 3600
    size = (out / "cps_basic.parquet").stat().st_size
    print(
        f"  {records / cpu:,.0f} records a second and core; {FULL} million: {cpu * times / 3600:.2f} CPU hours, "
        f"{wall:.2f} hours here; gzip {(raw / _GZIP).stat().st_size * times / 1e9:.1f} GB (level 1), "
        f"our Parquet {size * times / 1e9:.1f} GB",
        flush=True,
    )


def _ratios(got: dict[str, alone.Figures]) -> None:
    """Print how many times as fast as pandas we are."""
    pairs = (
        ("gzip to cleaned Parquet", ("panel",), "pandas panel"),
        ("gzip to the rows of one task", ("panel", "rows"), "pandas from gzip"),
        ("our Parquet to the rows, pandas from the gzip", ("rows",), "pandas from gzip"),
        ("our Parquet to the rows, pandas from our Parquet", ("rows",), "pandas from our Parquet"),
    )
    for what, ours, theirs in pairs:
        print(f"  {what}: {alone.times(got[theirs], *(got[part] for part in ours))}", flush=True)


def main() -> None:
    """Print one line for each size and part."""
    if alone.answer(part_of):
        return
    sizes = sorted(float(text) for text in sys.argv[1:]) or MILLIONS
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    alone.show_head("records")
    for millions in sizes:
        with tempfile.TemporaryDirectory() as folder:
            raw, out = Path(folder) / "raw", Path(folder) / "out"
            out.mkdir()
            # In a process of its own as well: a child's peak would start from its parent's.
            records = int(alone.measure(f"generate {millions}", raw, out)["count"])
            got = {}
            for part in PARTS if millions == sizes[0] else list(PARTS)[:3]:
                got[part] = alone.measure(part, raw, out)
                alone.show(f"{records:,}", part, got[part])
            _projected(records, got, raw, out)
            if "pandas from gzip" in got:
                counts = {got[part]["count"] for part in ("rows", "pandas from gzip", "pandas from our Parquet")}
                if len(counts) != 1:
                    raise SystemExit(f"the pipelines differ in their rows: {counts}")
                _ratios(got)


if __name__ == "__main__":
    main()
