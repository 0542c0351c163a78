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
from hbench_householdbench.sources import diary_files
from hbench_householdbench.sources.archives import open_archive
from hbench_householdbench.sources.demo.workbooks import data_sheet, write_workbook
from hbench_householdbench.sources.diary_layouts import purchase_layout
from hbench_householdbench.sources.ipums import find_extract
from hbench_householdbench.sources.ipums_codebook import read_code_labels, read_codebook
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


_FIELDS = {"YEAR": (1, 4), "SERIAL": (5, 7), "AGE": (8, 10), "PAY": (11, 16)}
_VARIABLES = "".join(
    f"""<var ID="{name}" name="{name}" dcml="{2 * (name == "PAY")}" intrvl="discrete"><location StartPos="{start}"
EndPos="{end}" width="{end - start + 1}"/><labl>l</labl><txt>t</txt>
<catgry><catValu>1</catValu><labl>one</labl></catgry>
<concept>c</concept><varFormat type="numeric"/></var>"""
    for name, (start, end) in _FIELDS.items()
)
_CODEBOOK = f"""<?xml version="1.0"?><codeBook xmlns="ddi:codebook:2_5"><stdyDscr><citation><serStmt>
<serName abbr="CPS">CPS</serName><serInfo>i</serInfo></serStmt></citation><dataAccs><useStmt><citReq>c</citReq>
<conditions>c</conditions></useStmt></dataAccs></stdyDscr><fileDscr><fileTxt><fileName>x.dat</fileName>
<fileCont>c</fileCont><fileStrc type="rectangular"/><fileType charset="ISO-8859-1"/><format>f</format>
<filePlac>p</filePlac></fileTxt></fileDscr><dataDscr>{_VARIABLES}</dataDscr></codeBook>""".encode()


def _fixed_width(path: Path) -> object:
    path.with_name(f"{path.name.partition('.')[0]}.xml").write_bytes(_CODEBOOK)
    return _extract(path)


def _codebook(path: Path) -> object:
    return read_codebook(path), read_code_labels(path)


def _purchases(path: Path) -> object:
    return diary_files._fixed(path.read_bytes(), purchase_layout(1986, 4), path)


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
    fixed = b"".join(b"2020%3d%3d%6d\n" % (i, 20 + i, 100 * i) for i in range(40))
    numbers = b"id,y,more\n" + b"".join(b"p%d,%d.25,z\n" % (i, i) for i in range(20))
    found = [
        Case("sheets.xlsx", _workbook(folder), _sheet),
        Case("data.dta", _stata_bytes(), _stata),
        Case("plain.csv", rows, _extract),
        Case("packed.csv.gz", gzip.compress(rows, mtime=0), _extract),
        Case("fixed.dat", fixed, _fixed_width),
        Case("packed.dat.gz", gzip.compress(fixed, mtime=0), _fixed_width),
        Case("codebook.xml", _CODEBOOK, _codebook),
        Case("purchases.txt", b"".join(b"%-38d\n%-80d\n" % (i, i) for i in range(20)), _purchases),
        Case("members.zip", _archive(), _members),
        Case("digest.zip", _archive(), content_digest),
        Case("digest.csv.gz", gzip.compress(rows, mtime=0), content_digest),
        Case("released.csv", numbers, partial(read_release_table, columns=("id", "y"))),
        Case("people.csv", numbers, _behaviour),
        Case("lines.tsv", numbers.replace(b",", b"\t"), _fields),
    ]
    return {case.name: case for case in found}
