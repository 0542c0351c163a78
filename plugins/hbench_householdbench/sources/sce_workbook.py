"""Reading the workbooks of the Survey of Consumer Expectations: a title, a header, and one row an interview."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources import sce_cells as cells
from hbench_householdbench.sources.archives import open_archive

if TYPE_CHECKING:
    import polars as pl

KEY = "userid"
"""The column by which a header row is known."""
DAY = "survey_date"
"""Day of the interview; only some workbooks have it."""
_HEADER_WITHIN = 30
_BLOCK = 1 << 20
_BATCH = 4096
"""Rows that are Python objects at a time; the workbook itself lies in the reader's own, much smaller form."""


@dataclass(frozen=True)
class Workbook:
    """An open workbook.

    Attributes
    ----------
    path : Path
        The file.
    sheets : tuple of str
        Names of its sheets.
    """

    path: Path
    sheets: tuple[str, ...]
    _book: Any

    def rows(self, sheet: str) -> Iterator[list[Any]]:
        """Yield a sheet's rows of cells (texts, numbers, dates; an empty text where there is nothing).

        Blanks around its name do not count, since some of the bank's sheets have them.

        Raises
        ------
        DataError
            There is no such sheet, or it is damaged.
        """
        names = [name for name in self.sheets if name.strip() == sheet.strip()]
        if not names:
            raise DataError(
                f"the workbook has no sheet {sheet!r}", file=self.path, hint=f"Sheets: {', '.join(self.sheets)}."
            )
        try:
            yield from self._book.get_sheet_by_name(names[0]).iter_rows()
        except _errors() as error:
            raise DataError(f"the sheet {sheet!r} cannot be read: {error}", file=self.path) from error

    def table(
        self,
        sheet: str = "Data",
        *,
        numbers: Sequence[str],
        texts: Sequence[str] = (),
        required: Collection[str] = ("date",),
        optional: Collection[str] = (),
        report: BuildReport,
    ) -> pl.DataFrame:
        """Return columns of a sheet whose header is the first row with a cell ``userid``.

        Parameters
        ----------
        sheet : str
            Its name.
        numbers, texts : sequence of str
            Columns to read. ``userid`` comes along as a text, and so does ``survey_date`` as a date where there is one.
        required, optional : collection of str
            Columns whose absence is an error, and those whose absence is not worth a word.
        report : BuildReport
            Gets a problem for every other column that is absent, and for every column of numbers with other content.

        Returns
        -------
        polars.DataFrame
            Numbers are Float64: null where the cell is empty, NaN where it holds something else. Rows without any
            content are left out; a column that the sheet lacks is null throughout.

        Raises
        ------
        DataError
            There is no header, a column is missing or there twice, an id is empty, or a survey date is empty or none.
        """
        import polars as pl

        file = f"{self.path.name}, sheet {sheet}"
        rows = self.rows(sheet)
        header = _header(rows, file)
        lacking = [name for name in required if name not in header]
        if lacking:
            raise DataError(f"columns are missing: {', '.join(lacking)}", file=file)
        places = {name: header.index(name) for name in dict.fromkeys([KEY, *texts, *numbers, DAY]) if name in header}
        table, odd = _columns(rows, places, {**dict.fromkeys(numbers, cells.numbers), DAY: cells.days}, report)
        if table.is_empty():
            raise DataError("the sheet has no row below its header", file=file)
        for name in (KEY, DAY):
            if name in places and (empty := table[name].null_count()):
                raise DataError(
                    f"{name} is empty, or no {'date' if name == DAY else 'id'}, in {empty:,} rows", file=file
                )
        for name, example in odd.items():
            report.problem(file, f"cells of {name} that are no numbers", int(table[name].is_nan().sum()), example)
        absent = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(numbers, pl.Float64)}
        absent = {name: kind for name, kind in absent.items() if name not in places}
        for name in sorted({*absent} - {*optional}):
            report.problem(file, f"there is no column {name!r}, so it is empty", len(table))
        return table.with_columns(pl.lit(None, kind).alias(name) for name, kind in absent.items())


def open_workbook(path: Path) -> Workbook:
    """Open an Excel workbook (.xlsx) after checking its archive.

    Raises
    ------
    DataError
        It is no archive, would expand beyond the limits of `archives`, or is no workbook.
    """
    from python_calamine import CalamineWorkbook

    with open_archive(path) as archive:
        # The reader believes what members say of their sizes, so that they are seen to be true first.
        for name in archive.names:
            with archive.open(name) as member:
                while member.read(_BLOCK):
                    pass
    try:
        book = CalamineWorkbook.from_path(str(path))
    except _errors() as error:
        raise DataError(f"the workbook cannot be opened: {error}", file=path, hint="Download it again.") from error
    return Workbook(path, tuple(book.sheet_names), book)


def keyed(table: pl.DataFrame, *, file: str) -> pl.DataFrame:
    """Add ``respondent_id``, ``survey_year``, ``survey_month`` and ``survey_date`` (a text ``YYYY-MM-DD``).

    Parameters
    ----------
    table : polars.DataFrame
        With ``userid`` and ``date`` (numbers YYYYMM), and ``survey_date`` where days are known; otherwise an interview
        is dated to the first of its month.
    file : str
        What errors name.

    Raises
    ------
    DataError
        A date is no month, or a respondent is there twice in a month.
    """
    import polars as pl

    date = pl.col("date")
    whole = (
        date.is_finite()
        & (date == date.floor())
        & (date % 100).is_between(1, 12)
        & (date // 100).is_between(2000, 2099)
    )
    odd = table.filter(~whole.fill_null(False))
    if len(odd):
        raise DataError(
            f"date is no month YYYYMM in {len(odd):,} rows, among them {cells.shown(odd['date'][0])}", file=file
        )
    year, month = (date // 100).cast(pl.Int32), (date % 100).cast(pl.Int32)
    day = pl.col(DAY) if DAY in table.columns else pl.date(year, month, 1)
    table = table.with_columns(
        pl.col(KEY).str.strip_suffix(".0").alias("respondent_id"),
        year.alias("survey_year"),
        month.alias("survey_month"),
        day.dt.strftime("%Y-%m-%d").alias(DAY),
    )
    check_unique(table, file=file)
    return table.drop(KEY, "date")


def check_unique(table: pl.DataFrame, *, file: str) -> None:
    """Refuse a table with two rows of a respondent in a month."""
    import polars as pl

    again = table.filter(pl.struct("respondent_id", "survey_year", "survey_month").is_duplicated())
    if len(again):
        one = again.row(0, named=True)
        raise DataError(
            f"{len(again):,} rows repeat a respondent in a month, among them {one['respondent_id']} in "
            f"{one['survey_year']}-{one['survey_month']:02d}",
            file=file,
        )


def _header(rows: Iterator[list[Any]], file: str) -> list[str]:
    for row in islice(rows, _HEADER_WITHIN):
        names = [cell.strip() if isinstance(cell, str) else str(cell) for cell in row]
        if KEY not in names:
            continue
        again = sorted({name for name in names if name and names.count(name) > 1})
        if again:
            raise DataError(f"columns are there twice: {', '.join(again)}", file=file)
        return names
    raise DataError(f"none of the first {_HEADER_WITHIN} rows is a header with a cell {KEY!r}", file=file)


def _columns(
    rows: Iterator[list[Any]],
    places: Mapping[str, int],
    kinds: Mapping[str, Callable[[list[Any]], pl.Series]],
    report: BuildReport,
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the columns at `places`, and by column of numbers the first cell that holds something else."""
    import polars as pl
    import polars.selectors as cs

    parts = [pl.DataFrame({name: kinds.get(name, cells.texts)([]) for name in places})]
    odd: dict[str, str] = {}
    while batch := list(islice(rows, _BATCH)):
        there = [row for row in batch if any(cell != "" for cell in row)]
        report.counts["workbooks.empty_rows"] += len(batch) - len(there)
        columns = {name: [row[place] for row in there] for name, place in places.items()}
        part = pl.DataFrame({name: kinds.get(name, cells.texts)(column) for name, column in columns.items()})
        parts.append(part)
        for name, nans in part.select(cs.float().is_nan().arg_true().implode()).row(0, named=True).items():
            if nans:
                odd.setdefault(name, str(columns[name][nans[0]]))
    return pl.concat(parts), odd


def _errors() -> tuple[type[Exception], ...]:
    from python_calamine import CalamineError

    return (CalamineError, OSError)
