"""Small workbooks in the layouts of the Survey of Consumer Expectations' modules, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hbench.core import BuildReport, Source
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.demo.workbooks import Rows, write_workbook

TITLE = "A title above the header"


def sheet(*rows: Mapping[str, Any], above: Sequence[str] = (TITLE,)) -> Rows:
    """Return a sheet's rows, with a column for every key and those of the first row first."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [*[[text] for text in above], names, *[[row.get(name) for name in names] for row in rows]]


def codebook(questions: Mapping[str, Mapping[int, str]]) -> Rows:
    """Return a codebook's rows."""
    rows: list[list[Any]] = [["Codebook", None, None], [None, None, None]]
    for name, labels in questions.items():
        rows += [[None, name, "A question"], *[[None, str(code), label] for code, label in labels.items()], [None] * 3]
    return rows


def build(source: Source, folder: Path, sheets: Mapping[str, Rows]) -> tuple[Any, BuildReport]:
    """Write the source's workbook and release dates, and return its table and report."""
    import polars as pl

    raw, out = folder / "raw", folder / "out"
    out.mkdir(parents=True, exist_ok=True)
    write_workbook(raw / source.files[0].path, sheets)
    write_sce_releases(raw)
    report = BuildReport()
    source.build(raw, out, report=report)
    [path] = out.glob("*.parquet")
    return pl.read_parquet(path), report
