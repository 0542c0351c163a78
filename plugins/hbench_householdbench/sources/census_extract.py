"""Reading an extract of IPUMS USA with its labels: Stata in gzip, as the suite expects it, or csv or fixed width.

Nothing is unpacked to disk, and a batch of people is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.core.gzipped import damages, opened
from hbench_householdbench.sources.ipums import find_extract
from hbench_householdbench.sources.ipums_codebook import read_code_labels

if TYPE_CHECKING:
    import polars as pl

STEM = "micro/census/census"
_ORIGIN = "https://usa.ipums.org (samples 1990 1% and 2000 1%, rectangular by person; free account)"
_TERMS = "IPUMS USA terms of use: citation, no redistribution"
_OTHER_FORMS = tuple(f"{STEM}.{ending}" for ending in ("dta", "csv.gz", "csv", "dat.gz", "dat"))
STATA = RawFile(f"{STEM}.gz", _ORIGIN, _TERMS, alternatives=_OTHER_FORMS)
UNPACKED = _OTHER_FORMS[0]
EXTRACTS = (
    STATA,
    *(RawFile(path, _ORIGIN, _TERMS, required=False) for path in (*_OTHER_FORMS, f"{STEM}.xml")),
)
BATCH = 250_000
"""People in memory at a time, which is also a row group of the table."""
Labels = Mapping[str, Mapping[int, str]]
"""Text of every code, by variable."""


def census_batches(
    raw: Path, needed: Collection[str], optional: Collection[str], *, report: BuildReport
) -> Iterator[tuple[pl.DataFrame, Labels]]:
    """Yield the extract's people in its order, and the labels of its codes.

    Parameters
    ----------
    needed, optional : collection of str
        Variables in capitals; of the latter, those that the extract lacks are null, and reported.

    Yields
    ------
    tuple of polars.DataFrame and mapping
        Whole numbers (Int64) of `needed` and `optional`, except for weights with decimals (Float64).

    Raises
    ------
    DataError
        There is no extract, or more than one; it is damaged, or lacks a needed variable.
    """
    stata = [raw / path for path in (STATA.path, UNPACKED) if (raw / path).is_file()]
    if len(stata) > 1:
        raise DataError("the extract is there twice, packed and unpacked", file=stata[0], hint="Remove one of them.")
    yield from _stata(stata[0], needed, optional, report) if stata else _text(raw, needed, optional, report)


def _text(
    raw: Path, needed: Collection[str], optional: Collection[str], report: BuildReport
) -> Iterator[tuple[pl.DataFrame, Labels]]:
    import polars as pl

    extract = find_extract(raw, STEM)
    labels = read_code_labels(raw / f"{STEM}.xml")
    extract.need(needed)
    there = [name for name in optional if name in extract.columns]
    _report_absent(extract.name, there, optional, report)
    types: dict[str, type[pl.DataType]] = dict.fromkeys(needed, pl.Int64)
    types |= {name: pl.Float64 if name.endswith("WT") else pl.Int64 for name in there}
    for batch in extract.batches(types, report=report, rows=BATCH):
        yield _complete(batch, there, optional), labels


def _stata(
    path: Path, needed: Collection[str], optional: Collection[str], report: BuildReport
) -> Iterator[tuple[pl.DataFrame, Labels]]:
    import pandas as pd
    import polars as pl

    names, labels = _stata_variables(path)
    missing = [name for name in needed if name not in names]
    if missing:
        raise DataError(
            f"the extract lacks {len(missing)} variables: {', '.join(missing)}",
            file=path,
            hint="Add them to the extract at usa.ipums.org and download it again.",
        )
    there = [name for name in optional if name in names]
    _report_absent(path.name, there, optional, report)
    wanted = {names[name]: name for name in (*needed, *there)}
    try:
        with (
            opened(path) as stream,
            pd.read_stata(
                stream, chunksize=BATCH, columns=list(wanted), convert_categoricals=False, convert_dates=False
            ) as reader,
        ):
            # Otherwise pandas would look for long texts behind the data before every batch, and unpack all again.
            reader.value_labels()
            for frame in reader:
                batch = pl.DataFrame({wanted[name]: frame[name].to_numpy() for name in wanted}, nan_to_null=True)
                yield _complete(_whole(batch, path.name, report), there, optional), labels
    except damages(OSError, ValueError) as error:
        raise DataError(f"the extract cannot be read: {error}", file=path, hint="Is the download complete?") from error


def _stata_variables(path: Path) -> tuple[dict[str, str], Labels]:
    """Return the file's variables by their names in capitals, and the labels of their codes."""
    import pyreadstat

    try:
        with opened(path) as stream:
            _, meta = pyreadstat.read_dta(stream, metadataonly=True)
    except damages(OSError, ValueError, pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise DataError(f"this is no Stata file: {error}", file=path, hint="Is the download complete?") from error
    names = {name.upper(): name for name in meta.column_names}
    labels = {
        name.upper(): {int(code): str(label) for code, label in texts.items() if isinstance(code, int | float)}
        for name, texts in meta.variable_value_labels.items()
    }
    return names, labels


def _whole(batch: pl.DataFrame, name: str, report: BuildReport) -> pl.DataFrame:
    """Turn codes into whole numbers; a code with a fraction is none, and reported."""
    import polars as pl

    columns = []
    for column in batch:
        if column.name.endswith("WT"):
            columns.append(column.cast(pl.Float64))
            continue
        if column.dtype.is_float():
            odd = column.filter(column != column.round())
            example = str(odd[0]) if len(odd) else ""
            report.problem(name, f"{column.name} is not a whole number", len(odd), example, code=True)
            column = column.set(column != column.round(), None)
        columns.append(column.cast(pl.Int64))
    return pl.DataFrame(columns)


def _complete(batch: pl.DataFrame, there: Collection[str], optional: Collection[str]) -> pl.DataFrame:
    import polars as pl

    return batch.with_columns(
        pl.lit(None, pl.Float64 if name.endswith("WT") else pl.Int64).alias(name)
        for name in optional
        if name not in there
    )


def _report_absent(file: str, there: Collection[str], optional: Collection[str], report: BuildReport) -> None:
    absent = [name for name in optional if name not in there]
    report.problem(file, "variables that no task needs and that the extract lacks", len(absent), ", ".join(absent))
