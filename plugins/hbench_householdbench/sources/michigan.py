"""The Surveys of Consumers of the University of Michigan: what people expect, month by month, since 1978."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data import raw_files
from hbench.data.ragged import check_cells
from hbench_householdbench.sources import michigan_dictionary as dictionaries
from hbench_householdbench.sources.michigan_chains import link
from hbench_householdbench.sources.michigan_codes import BOUNDS, LABELS, VARIABLES
from hbench_householdbench.sources.michigan_dictionary import DICTIONARY
from hbench_householdbench.sources.michigan_editions import ARCHIVE, OTHER_DAYS, editions, newest
from hbench_householdbench.sources.releases import MICHIGAN_RELEASES, read_michigan_releases

if TYPE_CHECKING:
    import polars as pl

    from hbench_householdbench.sources.michigan_dictionary import Variable

COLUMNS = (
    *("CASEID", "YYYYMM", "ID", "DATEPR", "IDPREV", "survey_date", "release_date", "release_date_source"),
    *(name for name in VARIABLES if name not in ("INEXQ1", "INEXQ2")),
    *("INEXQ1", "INEXQ2", "expected_percent_change"),
    *("panel_link_expected", "panel_link_ok", "prev_caseid", "months_since_prev"),
    *("panel_id", "panel_wave", "panel_chain_cycle_flag"),
)
_KEYS = ("CASEID", "YYYYMM", "ID", "DATEPR", "IDPREV")
_MONTHS = (190001, 209912)
_WHOLE = 2**53
"""Up to here whole numbers are exact as floats."""


class Michigan:
    """The Cross-Section Archive, a csv of all months, in one release or several, and its dictionary if it is there.

    Table ``michigan.parquet``, by month and case number: `COLUMNS`. Answers with labels stand as labels, the others as
    numbers; an answer that the archive's dictionary declares missing is null. ``expected_percent_change`` is the
    expected change of family income with its sign; ``panel_id`` is the first case of a chain of interviews with the
    same person, ``panel_wave`` the place in it.

    Of a case that several releases have, the newest counts. The dictionary checks columns and codes; the labels are
    those of `LABELS` with and without it. Weights and sampling regimes, which no task uses, are not made.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The archive, its releases of other days, its dictionary, and its release dates."""
        return (ARCHIVE, OTHER_DAYS, DICTIONARY, MICHIGAN_RELEASES)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            A column is missing, a case has no month or occurs twice, a code has no label, a month no release date, or
            two releases do not go together.
        """
        dictionary = _dictionary(raw, report)
        paths = editions(raw)
        releases = [(path.name, read_archive(path, dictionary=dictionary, report=report)) for path in paths]
        rows = newest(releases, report=report)
        report.counts["michigan.cases"] = len(rows)
        rows = _labelled(_without_missing(rows, report), paths[0] if len(paths) == 1 else paths[0].parent)
        rows = link(rows, report=report)
        dates = read_michigan_releases(raw, rows["YYYYMM"].unique().to_list())
        rows = rows.join(dates, left_on="YYYYMM", right_on="yyyymm", how="left", maintain_order="left")
        _dated(rows).select(COLUMNS).sort("YYYYMM", "CASEID").write_parquet(out / "michigan.parquet")
        report.counts["michigan.interviews"] = len(rows)

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic archive; see `hbench_householdbench.sources.demo.michigan`."""
        from hbench_householdbench.sources.demo.michigan import write

        write(raw, seed=seed, scale=scale)


def read_archive(path: Path, *, dictionary: Mapping[str, Variable] | None = None, report: BuildReport) -> pl.DataFrame:
    """Return a release's cases in the order of the file: keys (Int64) and the tasks' variables (Float64).

    Cells that are no numbers count as blank and are reported; so are cases without a number, which are dropped, and
    columns and codes that a `dictionary` does not know.

    Raises
    ------
    DataError
        A column is missing or repeated, a line is cut off, there is no case at all, a case has no month or one that is
        none, or a case number occurs twice.
    """
    import polars as pl

    wanted = [*_KEYS, *VARIABLES]
    header = _header(path, wanted)
    cells = _cells(path, header, wanted)
    if cells.is_empty():
        raise DataError("the file holds no case", file=path, hint="Download it again.")
    number = pl.col(wanted).cast(pl.Float64, strict=False)
    rows = cells.select(pl.when(number.is_finite()).then(number))
    for name in wanted:
        odd = cells[name].is_not_null() & (cells[name] != "") & rows[name].is_null()
        if odd.any():
            report.problem(path.name, f"{name} is not a number", int(odd.sum()), cells[name].filter(odd)[0])
    rows = _whole_keys(rows.with_row_index("line", offset=2), path)
    unnumbered = rows["CASEID"].null_count()
    report.problem(path.name, "case without a number (CASEID), dropped", unnumbered)
    rows = rows.filter(pl.col("CASEID").is_not_null())
    again = rows.filter(pl.col("CASEID").is_duplicated())
    if len(again):
        raise DataError(
            f"{len(again):,} cases share their number, among them CASEID {again['CASEID'][0]}",
            file=path,
            line=again["line"][0],
        )
    rows = rows.drop("line")
    if dictionary is not None:
        dictionaries.check_columns(dictionary, header, file=path.name, report=report)
        # Other variables are numbers, of which only some are codes.
        dictionaries.check_codes(dictionary, rows.select(list(LABELS)), file=path.name, report=report)
    return rows


def _dictionary(raw: Path, report: BuildReport) -> dict[str, Variable] | None:
    """Return the dictionary, its wording compared with our labels; None, and a word of it, where there is none."""
    found = raw_files(raw, DICTIONARY.path)
    if not found:
        report.problem(DICTIONARY.path, "there is no dictionary: only the suite's own labels check the codes", 1)
        return None
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise DataError(f"there are several dictionaries: {names}", file=found[0].parent, hint="Keep one.")
    dictionary = dictionaries.read_dictionary(found[0])
    dictionaries.check_labels(dictionary, LABELS, file=found[0].name, report=report)
    return dictionary


def _header(path: Path, wanted: Sequence[str]) -> list[str]:
    """Return the names of the csv's columns in capitals, after checking that each of `wanted` is there once."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header = [name.strip().upper() for name in next(csv.reader(stream), [])]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    missing = [name for name in wanted if name not in header]
    if missing:
        hint = "Download all variables of the archive."
        raise DataError(f"columns are missing: {', '.join(missing)}", file=path, line=1, hint=hint)
    repeated = [name for name in wanted if header.count(name) > 1]
    if repeated:
        raise DataError(f"columns are repeated: {', '.join(repeated)}", file=path, line=1)
    return header


def _cells(path: Path, header: Sequence[str], wanted: Sequence[str]) -> pl.DataFrame:
    """Return columns of the csv as stripped text; names are matched in any case."""
    import polars as pl

    try:
        data = path.read_bytes()
        check_cells(data, path)
        # By place, and in the order of the file, in which they come back.
        places = sorted(header.index(name) for name in wanted)
        text = pl.read_csv(data, columns=places, infer_schema=False)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    text.columns = [header[place] for place in places]
    return text.select(pl.col(wanted).str.strip_chars())


def _whole_keys(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    import polars as pl

    for condition, what in (
        (pl.col("YYYYMM").is_null(), "YYYYMM is blank or no number"),
        (
            ~((pl.col("YYYYMM") % 100).is_between(1, 12) & pl.col("YYYYMM").is_between(*_MONTHS)),
            "YYYYMM is not a year and a month",
        ),
        (
            pl.any_horizontal((pl.col(name) != pl.col(name).round()) | (pl.col(name).abs() > _WHOLE) for name in _KEYS),
            "a number of a case has decimals, or too many digits",
        ),
    ):
        bad = rows.filter(condition)
        if len(bad):
            raise DataError(f"{what} in {len(bad):,} rows", file=path, line=bad["line"][0])
    return rows.with_columns(pl.col(_KEYS).cast(pl.Int64)).with_columns(pl.col("YYYYMM").cast(pl.Int32))


def _without_missing(rows: pl.DataFrame, report: BuildReport) -> pl.DataFrame:
    """Make null what the archive's dictionary declares missing: all outside of `BOUNDS`."""
    import polars as pl

    counts = rows.select((~pl.col(name).is_between(*bounds)).sum() for name, bounds in BOUNDS.items()).row(0)
    for name, count in zip(BOUNDS, counts, strict=True):
        report.counts[f"michigan.declared_missing.{name}"] = count
    return rows.with_columns(
        pl.when(pl.col(name).is_between(*bounds)).then(name).alias(name) for name, bounds in BOUNDS.items()
    )


def _labelled(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Put labels for codes, and the signed change of income beside its direction and size."""
    import polars as pl

    unknown = []
    for name, labels in LABELS.items():
        odd = rows[name].drop_nulls().filter(~rows[name].drop_nulls().is_in([float(code) for code in labels]))
        if len(odd):
            codes = ", ".join(f"{code:g}" for code in odd.unique().sort()[:5])
            unknown.append(f"{name} has codes without a label ({codes}) in {len(odd):,} rows")
    if unknown:
        raise DataError("; ".join(unknown), file=path, hint="Is this the archive's extract with numeric codes?")
    direction, size = pl.col("INEXQ1"), pl.col("INEXQ2").abs()
    signed = (
        pl.when(direction.is_in([1.0, 2.0])).then(size).when(direction == 3).then(0.0).when(direction == 5).then(-size)
    )
    return rows.with_columns(
        signed.alias("expected_percent_change"),
        *(
            pl.col(name).replace_strict({float(code): label for code, label in labels.items()}, default=None)
            for name, labels in LABELS.items()
        ),
    )


def _dated(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    month = pl.col("YYYYMM").cast(pl.String)
    return rows.with_columns(survey_date=month.str.slice(0, 4) + "-" + month.str.slice(4, 2) + "-01")
