"""Synthetic extracts of IPUMS CPS: 149 variables as gzip csv, or fixed width with a codebook."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from hbench_householdbench.sources.cps_variables import VARIABLES
from hbench_householdbench.sources.demo.cps_people import People
from hbench_householdbench.sources.demo.cps_records import Columns, records

if TYPE_CHECKING:
    import polars as pl

Supplement = Callable[[People, Columns], Columns]
"""Returns further variables of some records (`columns`), of the same length; -1 or NaN stands for a blank."""

_DECIMALS = {"WTFINL": 4, "EARNWEEK": 2, "DWWEEKC": 2, "DWWEEKL": 2, "DWYEARS": 2}
_WIDTHS = {"CPSIDP": 14, "CPSIDV": 15, "WTFINL": 14, "EARNWEEK": 6, "DWWEEKC": 6, "DWWEEKL": 6}
_WIDTH = 6
_MONTHS = 12
"""Months made at a time."""


def months(people: People, *, supplement: Supplement | None = None) -> Iterator[pl.DataFrame]:
    """Yield the records of some months at a time, by month, household and line, in `VARIABLES`; blanks are null."""
    import polars as pl

    who, interview = np.nonzero(people.seen)
    at = people.month[who, interview]
    order = np.argsort(at, kind="stable")
    who, interview, at = who[order], interview[order], at[order]
    for first in range(int(at[0]), int(at[-1]) + 1, _MONTHS):
        part = slice(*np.searchsorted(at, [first, first + _MONTHS]))
        if part.start == part.stop:
            continue
        columns = records(people, who[part], interview[part])
        if supplement is not None:
            columns.update(supplement(people, columns))
        yield (
            _frame(columns)
            .sort("YEAR", "MONTH", "SERIAL", "PERNUM")
            .select(pl.col(name) if name in columns else pl.lit(None, pl.Int8).alias(name) for name in VARIABLES)
        )


def write_csv(parts: Iterator[pl.DataFrame], path: Path, *, level: int = 6) -> None:
    """Write a gzip csv; equal records give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, gzip.GzipFile("", "wb", level, file, mtime=0) as stream:
        for number, part in enumerate(parts):
            part.write_csv(_binary(stream), include_header=number == 0)


def write_fixed_width(parts: Iterator[pl.DataFrame], path: Path) -> None:
    """Write ``path`` (``.dat.gz``) and the codebook beside it (``.xml``)."""
    import polars as pl

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as stream:
        for part in parts:
            cells = [_cell(name) for name in part.columns]
            part.select(pl.concat_str(cells)).write_csv(_binary(stream), include_header=False, quote_style="never")
    codebook = path.with_name(path.name.removesuffix(".dat.gz") + ".xml")
    codebook.write_text(_codebook(path.name.removesuffix(".gz")), encoding="utf-8", newline="\n")


def _frame(columns: Columns) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame(columns)
    return frame.with_columns(
        pl.when(pl.col(name) != -1).then(name) if dtype.is_integer() else pl.col(name).fill_nan(None)
        for name, dtype in frame.schema.items()
    )


def _cell(name: str) -> pl.Expr:
    import polars as pl

    shown = pl.col(name)
    if name in _DECIMALS:
        shown = (shown * 10 ** _DECIMALS[name]).round()
    text = shown.cast(pl.Int64).cast(pl.String)
    width = _WIDTHS.get(name, _WIDTH)
    # IPUMS fills numbers with zeros on the left, and leaves blanks blank.
    return text.str.zfill(width).fill_null(" " * width)


def _codebook(data: str) -> str:
    """Return a codebook (DDI 2.5) with what readers of fixed-width files need."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<codeBook xmlns="ddi:codebook:2_5" version="2.5">',
        " <stdyDscr><citation><titlStmt><titl>Synthetic extract</titl></titlStmt>",
        '  <serStmt><serName abbr="CPS">IPUMS CPS layout, synthetic data</serName>',
        "  <serInfo>none</serInfo></serStmt></citation><stdyInfo><notes>synthetic: sample</notes></stdyInfo>",
        "  <dataAccs><useStmt><citReq>Synthetic.</citReq><conditions>None.</conditions></useStmt></dataAccs>",
        " </stdyDscr>",
        f" <fileDscr><fileTxt><fileName>{escape(data)}</fileName><fileCont>Synthetic persons.</fileCont>",
        '  <fileStrc type="rectangular"/><fileType charset="ISO-8859-1"/><format>fixed length fields</format>',
        "  <filePlac>hbench</filePlac></fileTxt></fileDscr>",
        " <dataDscr>",
    ]
    start = 1
    for name in VARIABLES:
        width = _WIDTHS.get(name, _WIDTH)
        place = f'StartPos="{start}" EndPos="{start + width - 1}" width="{width}"'
        lines += [
            f'  <var ID="{name}" name="{name}" files="F1" dcml="{_DECIMALS.get(name, 0)}" intrvl="discrete">',
            f"   <location {place}/><labl>{name}</labl><txt>Synthetic.</txt><concept>none</concept>",
            '   <varFormat schema="other" type="numeric"/></var>',
        ]
        start += width
    return "\n".join([*lines, " </dataDscr>", "</codeBook>", ""])


def _binary(stream: gzip.GzipFile) -> IO[bytes]:
    return stream  # type: ignore[return-value]
