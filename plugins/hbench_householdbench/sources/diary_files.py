"""Reading the Diary's packages into one table a quarter and kind of file, every cell as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError
from hbench.data.ragged import check_cells
from hbench_householdbench.sources import diary_layouts as layouts
from hbench_householdbench.sources.archives import Archive, Folder, by_base_name, open_package

if TYPE_CHECKING:
    import polars as pl

_COUNT = r"record\s+count\D{0,40}?([\d,]+)"


@dataclass(frozen=True)
class Quarter:
    """One quarter's files.

    Attributes
    ----------
    year, quarter : int
        Of the survey.
    origin : str
        Provider and archive, as in ``ICPSR:1986:ICPSR_09114-V1.zip``: the start of a week's identifier.
    files : dict of str to str
        What problems are reported under, by ``FMLY``, ``MEMB``, ``EXPD``.
    families, members, purchases : polars.DataFrame
        Stripped text; a cell that is empty, or whose field the file lacks, is null.
    """

    year: int
    quarter: int
    origin: str
    files: dict[str, str]
    families: pl.DataFrame
    members: pl.DataFrame
    purchases: pl.DataFrame


def read_study(path: Path, study: int, year: int, *, name: str, report: BuildReport) -> Iterator[Quarter]:
    """Yield the quarters of a survey year from an ICPSR archive.

    Parameters
    ----------
    path : Path
        The archive.
    study : int
        Number of the study, which may hold two years.
    year : int
        The survey year.
    name : str
        What problems are reported under.

    Raises
    ------
    DataError
        A member is missing, or does not have the lines or the widths that the layout and the manifest state.
    """
    with open_package(path) as archive:
        manifest = _manifest(archive, study, name, report)
        for survey, quarter, parts in layouts.study_parts(study):
            if survey != year:
                continue
            files = {kind: layouts.study_member(study, part) for kind, part in parts.items()}
            forms = {
                "FMLY": layouts.family_layout(year),
                "MEMB": layouts.member_layout(year),
                "EXPD": layouts.purchase_layout(year, quarter),
            }
            tables = {}
            for kind, form in forms.items():
                table = _fixed(archive.read(files[kind]), form, path / files[kind])
                _check_count(manifest, files[kind], len(table), path)
                tables[kind] = table
            yield Quarter(
                year,
                quarter,
                f"ICPSR:{year}:{path.name}:Q{quarter}",
                {kind: f"{name}/{file}" for kind, file in files.items()},
                tables["FMLY"],
                tables["MEMB"],
                tables["EXPD"],
            )


def read_package(path: Path, year: int, *, name: str, report: BuildReport) -> Iterator[Quarter]:
    """Yield the quarters of a BLS package. A quarter that it does not hold at all is reported.

    Parameters are as of `read_study`, with the survey's `year` instead of the study.

    Raises
    ------
    DataError
        A quarter lacks one of its three files, or a file lacks a column or has ragged lines.
    """
    with open_package(path) as archive:
        members = by_base_name(archive)
        read = set()
        for quarter in range(1, 5):
            files = {kind: f"{kind}{year % 100:02d}{quarter}.csv" for kind in ("fmld", "memd", "expd")}
            there = [file for file in files.values() if file in members]
            if not there:
                report.problem(name, f"no files of quarter {quarter}", 1)
                continue
            read.update(there)
            tables = {}
            for kind, file in files.items():
                if file not in members:
                    raise DataError(f"the package has no {file}", file=path, hint="Download it again.")
                tables[kind] = _csv(archive.read(members[file]), year, kind, path / file, f"{name}/{file}", report)
            yield Quarter(
                year,
                quarter,
                f"BLS:{year}:{path.name}:Q{quarter}",
                {
                    "FMLY": f"{name}/{files['fmld']}",
                    "MEMB": f"{name}/{files['memd']}",
                    "EXPD": f"{name}/{files['expd']}",
                },
                tables["fmld"],
                tables["memd"],
                tables["expd"],
            )
        if not read:
            raise DataError(f"the package holds no Diary files of {year}", file=path)
        report.counts["cex_diary.members_not_read"] += len(members) - len(read)


def _manifest(archive: Archive | Folder, study: int, name: str, report: BuildReport) -> str:
    found = [member for member in archive.names if member.lower().endswith(f"{study:05d}-manifest.txt")]
    if not found:
        report.problem(name, "no manifest, so the numbers of records were not checked", 1)
        return ""
    return archive.read(found[0]).decode("latin-1")


def _check_count(manifest: str, file: str, lines: int, path: Path) -> None:
    """Compare a file's lines with the manifest, where it names the file."""
    base = file.rpartition("/")[2]
    _, found, after = manifest.partition(base)
    if not found:
        return
    # What is said of a file stands between its name and the next one's.
    after = re.split(r"\d{5}-\d{4}-Data\.txt", after)[0]
    match = re.search(_COUNT, after, re.IGNORECASE)
    numbers = [match[1]] if match else re.findall(r"\d[\d,]*", after)[1:2]
    if numbers and int(numbers[0].replace(",", "")) != lines:
        raise DataError(
            f"the file has {lines:,} lines, the manifest says {numbers[0]}", file=path / file, hint="Download it again."
        )


def _fixed(data: bytes, form: layouts.FixedWidth, file: Path) -> pl.DataFrame:
    import polars as pl

    content = data.replace(b"\r\n", b"\n").removesuffix(b"\n").decode("latin-1")
    # Cut by polars: a list of as many texts would take longer than all the rest.
    lines = pl.Series("line", [content] if data else [], pl.String).str.split("\n").explode()
    table = lines.to_frame()
    widths = table["line"].str.len_chars()
    right = widths.is_in([form.width, form.width + 1])
    if form.padded is not None:
        blank = table["line"].str.slice(form.width).str.strip_chars() == ""
        right = right | ((widths == form.padded) & blank)
    if not right.all():
        row = int((~right).arg_true()[0])
        raise DataError(
            f"{int((~right).sum()):,} lines do not have the layout's {form.width} characters; here are {widths[row]}",
            file=file,
            line=row + 1,
        )
    columns = []
    for name, place in form.fields.items():
        if place is None:
            columns.append(pl.lit(None, pl.String).alias(name))
        else:
            text = pl.col("line").str.slice(place[0], place[1] - place[0]).str.strip_chars()
            columns.append(pl.when(text != "").then(text).alias(name))
    return table.select(columns)


def _csv(data: bytes, year: int, kind: str, file: Path, name: str, report: BuildReport) -> pl.DataFrame:
    import polars as pl

    header = [column.strip().upper() for column in data.split(b"\n", 1)[0].decode("latin-1").split(",")]
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        raise DataError(f"the column {repeated[0]!r} is repeated", file=file, line=1)
    if b'"' in data:
        raise DataError("the file has quoted cells, which the provider's files do not have", file=file)
    check_cells(data, file, blank_lines=False)
    try:
        table = pl.read_csv(data, infer_schema=False, encoding="iso-8859-1", new_columns=header)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the file cannot be read: {error}", file=file) from error
    columns, lacking, used = [], [], set()
    for field, names in layouts.csv_names(year, kind).items():
        there = [column for column in names if column in header]
        if there:
            used.add(there[0])
            text = pl.col(there[0]).str.strip_chars()
            columns.append(pl.when(text != "").then(text).alias(field))
        else:
            lacking.append(field)
            columns.append(pl.lit(None, pl.String).alias(field))
    missing = [field for field in lacking if field not in layouts.may_lack(year, kind)]
    if missing:
        raise DataError(f"columns are missing: {', '.join(missing)}", file=file, line=1)
    for field in lacking:
        report.problem(name, f"no column {field}", len(table))
    unread = [column for column in header if column not in used]
    report.counts[f"cex_diary.{kind}_columns_not_read"] += len(unread)
    if kind == "expd":
        unknown = [column for column in unread if column not in layouts.PURCHASE_OTHERS]
        report.problem(name, f"unknown columns {', '.join(unknown)}", len(table) if unknown else 0)
    return table.select(columns)
