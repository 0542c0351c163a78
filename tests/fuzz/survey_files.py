"""The readers of surveys' raw files, each with a whole file to begin from."""

from __future__ import annotations

import gzip
import io
import zipfile
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from hbench.core import BuildReport
from hbench.data.files import content_digest
from hbench_behaviorbench.raw import read_csv, read_lines
from hbench_householdbench.sources.archives import open_archive
from hbench_householdbench.sources.demo.workbooks import data_sheet, write_workbook
from hbench_householdbench.sources.ipums import find_extract
from hbench_householdbench.sources.release_table import read_release_table
from hbench_householdbench.sources.sce_workbook import open_workbook
from hbench_householdbench.sources.stata import StataStream

from .readers import Case


def _workbook(folder: Path) -> bytes:
    path = folder / "made.xlsx"
    columns = {"userid": [f"{i}" for i in range(20)], "date": [202001] * 20, "Q1": [1.5, "x"] * 10}
    write_workbook(path, {"Data": data_sheet(columns)})
    return path.read_bytes()


def _sheet(path: Path) -> object:
    return open_workbook(path).table(numbers=["date", "Q1"], report=BuildReport())


def _stata_bytes() -> bytes:
    import pandas as pd

    stream = io.BytesIO()
    frame = pd.DataFrame({"ID": range(30), "PAY": [1.5, None, 3.0] * 10, "WORDS": ["some"] * 30})
    frame.to_stata(stream, version=118, write_index=False)
    return stream.getvalue()


def _stata(path: Path) -> object:
    with path.open("rb") as stream:
        return list(StataStream(stream, file=path).blocks(["ID", "PAY"], block=200))


def _extract(path: Path) -> object:
    import polars as pl

    extract = find_extract(path.parent, path.name.partition(".")[0])
    types: Any = {"YEAR": pl.Int64, "AGE": pl.Int64, "PAY": pl.Float64}
    return list(extract.batches(types, report=BuildReport(), rows=7))


def _archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("diary/a.csv", "diary/b.csv"):
            archive.writestr(name, "x,y\n" + "1,2\n" * 200)
        archive.writestr("stored.txt", "as it is", zipfile.ZIP_STORED)
        archive.writestr("packed.bz2.txt", "harder " * 90, zipfile.ZIP_BZIP2)
        archive.writestr("packed.xz.txt", "hardest " * 90, zipfile.ZIP_LZMA)
    return stream.getvalue()


def _members(path: Path) -> object:
    with open_archive(path) as archive:
        for name in archive.names:
            archive.read(name)
            with archive.open(name) as stream:
                stream.read()
    return None


def _behaviour(path: Path) -> object:
    return read_csv(path.parent, path.name, columns=("id", "y"), text=("id",), decimal=("y",), report=BuildReport())


def _fields(path: Path) -> object:
    return list(read_lines(path.parent, path.name, report=BuildReport()))


@lru_cache
def cases(folder: Path) -> dict[str, Case]:
    """Return all kinds of files; honest ones are made in a folder."""
    rows = b"YEAR,SERIAL,AGE,PAY\n" + b"".join(b"2020,%d,%d,%d.5\n" % (i, 20 + i, i) for i in range(40))
    numbers = b"id,y,more\n" + b"".join(b"p%d,%d.25,z\n" % (i, i) for i in range(20))
    found = [
        Case("sheets.xlsx", _workbook(folder), _sheet),
        Case("data.dta", _stata_bytes(), _stata),
        Case("plain.csv", rows, _extract),
        Case("packed.csv.gz", gzip.compress(rows, mtime=0), _extract),
        Case("members.zip", _archive(), _members),
        Case("digest.zip", _archive(), content_digest),
        Case("digest.csv.gz", gzip.compress(rows, mtime=0), content_digest),
        Case("released.csv", numbers, partial(read_release_table, columns=("id", "y"))),
        Case("people.csv", numbers, _behaviour),
        Case("lines.tsv", numbers.replace(b",", b"\t"), _fields),
    ]
    return {case.name: case for case in found}
