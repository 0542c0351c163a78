"""Excel workbooks whose bytes depend on nothing but their content, written in a fraction of the time of a library."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

Cell = float | int | str | dt.date | None
Rows = Iterable[Sequence[Cell]]

_STAMP = (1980, 1, 1, 0, 0, 0)
_EPOCH = dt.date(1899, 12, 30)
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_DATE_STYLE = 1
# Two cell formats: general, and the built-in format 14 of a date.
_STYLES = (
    f"{_XML}<styleSheet {_MAIN}><fonts><font/></fonts><fills><fill/></fills><borders><border/></borders>"
    '<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'
    "</styleSheet>"
)


def write_workbook(path: Path, sheets: Mapping[str, Rows]) -> None:
    """Write sheets of rows; None and NaN leave a cell empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = range(1, len(sheets) + 1)
    with zipfile.ZipFile(path, "w") as archive:

        def add(name: str, text: str) -> None:
            archive.writestr(zipfile.ZipInfo(name, _STAMP), text.encode(), zipfile.ZIP_DEFLATED, 1)

        parts = [("/xl/workbook.xml", "sheet.main"), ("/xl/styles.xml", "styles")]
        parts += [(f"/xl/worksheets/sheet{k}.xml", "worksheet") for k in numbers]
        overrides = "".join(f'<Override PartName="{name}" ContentType="{_TYPE}.{kind}+xml"/>' for name, kind in parts)
        rels = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        add("[Content_Types].xml", f'{_XML}<Types xmlns="{_PACKAGE}/content-types">{rels}{overrides}</Types>')
        add("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        names = "".join(
            f'<sheet name="{escape(name)}" sheetId="{k}" r:id="rId{k}"/>'
            for k, name in zip(numbers, sheets, strict=True)
        )
        add("xl/workbook.xml", f'{_XML}<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>')
        targets = [("worksheet", f"worksheets/sheet{k}.xml") for k in numbers]
        add("xl/_rels/workbook.xml.rels", _relations([*targets, ("styles", "styles.xml")]))
        add("xl/styles.xml", _STYLES)
        for k, rows in zip(numbers, sheets.values(), strict=True):
            add(f"xl/worksheets/sheet{k}.xml", "".join(_sheet(rows)))


def data_sheet(columns: Mapping[str, Sequence[Cell]], *, above: Rows = ()) -> Iterator[Sequence[Cell]]:
    """Yield the rows of a sheet of data: what stands above the header, the header, and a row for each place."""
    yield from above
    yield list(columns)
    yield from zip(*columns.values(), strict=True)


def _sheet(rows: Rows) -> Iterator[str]:
    yield f"{_XML}<worksheet {_MAIN}><sheetData>"
    letters: list[str] = []
    for number, row in enumerate(rows, start=1):
        while len(letters) < len(row):
            letters.append(_letters(len(letters)))
        cells = "".join(
            _cell(f"{letter}{number}", cell)
            for letter, cell in zip(letters, row, strict=False)
            if cell is not None and cell == cell
        )
        yield f'<row r="{number}">{cells}</row>'
    yield "</sheetData></worksheet>"


def _cell(place: str, cell: Cell) -> str:
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>' if cell else ""
    if isinstance(cell, dt.date):
        return f'<c r="{place}" s="{_DATE_STYLE}"><v>{(cell - _EPOCH).days}</v></c>'
    return f'<c r="{place}"><v>{str(cell).removesuffix(".0")}</v></c>'


def _letters(column: int) -> str:
    """Return ``A`` for 0, ``Z`` for 25, ``AA`` for 26."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    items = "".join(
        f'<Relationship Id="rId{k}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for k, (kind, target) in enumerate(targets, start=1)
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{items}</Relationships>'
