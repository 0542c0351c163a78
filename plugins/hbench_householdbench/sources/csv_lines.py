"""Files of separated cells: a line that was cut off is refused, where a reader would fill it with empty cells."""

from __future__ import annotations

import csv
from pathlib import Path

from hbench.core import DataError


def check_cells(path: Path, width: int, separator: str = ",") -> None:
    """Refuse a file in which a line has more or fewer than `width` cells; blank lines are passed over.

    Raises
    ------
    DataError
        The first such line; a cell in quotes may hold separators, but no end of a line.
    """
    mark = separator.encode()
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            bare = line.rstrip(b"\r\n")
            try:
                cells = (
                    len(next(csv.reader([bare.decode("latin-1")], delimiter=separator)))
                    if b'"' in bare
                    else bare.count(mark) + 1
                )
            except csv.Error as error:
                raise DataError(f"the line is not valid: {error}", file=path, line=number) from error
            if bare and cells != width:
                raise DataError(
                    f"{cells} cells under {width} column names", file=path, line=number, hint="Download it again."
                )
