"""Extracts of IPUMS: csv, or fixed width with its codebook (DDI), packed by gzip or not, read in batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError
from hbench.core.gzipped import damages
from hbench_householdbench.sources.ipums_cells import OddCells, Types, parsed
from hbench_householdbench.sources.ipums_codebook import Field, read_codebook
from hbench_householdbench.sources.ipums_csv import csv_batches, read_header

if TYPE_CHECKING:
    import polars as pl

BATCH = 100_000
"""Rows in memory at a time."""
_DATA = (".csv.gz", ".csv", ".dat.gz", ".dat")


@dataclass(frozen=True)
class Extract:
    """An extract that is ready to be read.

    Attributes
    ----------
    path : Path
        The data file.
    name : str
        Its path below the raw folder, as reports name it.
    columns : tuple of str
        Variables in the file's order, in capitals.
    layout : mapping or None
        Fields of a fixed-width file by variable; None for csv.
    """

    path: Path
    name: str
    columns: tuple[str, ...]
    layout: Mapping[str, Field] | None = None

    def need(self, names: Collection[str]) -> None:
        """Refuse an extract that lacks variables.

        Raises
        ------
        DataError
            Naming all of them.
        """
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise DataError(
                f"the extract lacks {len(missing)} variables: {', '.join(missing)}",
                file=self.path,
                hint="Add them to the extract at ipums.org and download it again.",
            )

    def batches(self, types: Types, *, report: BuildReport, rows: int = BATCH) -> Iterator[pl.DataFrame]:
        """Yield the variables named, in the file's order of rows; memory does not grow with the file.

        Parameters
        ----------
        types : mapping
            Polars type by variable: whole numbers, floats, or ``pl.String``. A blank is null.
        report : BuildReport
            Gets a problem for every variable with cells that are no number of its type, which are null; and for lines
            of a csv that have not as many cells as the header, which are left out.
        rows : int
            Rows of a batch, at most about so many.

        Raises
        ------
        DataError
            A variable is not there, or the file is damaged or cut off.
        """
        self.need(types)
        odd = OddCells()
        with _readable(self.path):
            if self.layout is None:
                for batch in csv_batches(self.path, self.columns, types, odd):
                    yield from batch.iter_slices(rows)
            else:
                yield from self._from_lines(types, rows, odd, self.layout)
        odd.tell(self.name, types, report)

    def _from_lines(
        self,
        types: Types,
        rows: int,
        odd: OddCells,
        layout: Mapping[str, Field],
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        line, width = pl.col("line"), max(field.end for field in layout.values())
        scan = pl.scan_csv(
            self.path,
            has_header=False,
            separator="\x01",
            quote_char=None,
            schema={"line": pl.String},
            # Codebooks say Latin-1: a byte beyond ASCII stays one character, so that the fields stay in place.
            encoding="utf8-lossy",
        )
        cells = [
            line.str.slice(field.start, field.end - field.start).alias(name)
            for name, field in layout.items()
            if name in types
        ]
        length = line.str.strip_chars_end("\r").str.len_chars().alias("__width")
        done = 0
        for batch in _batches(scan.select(length, *cells), rows):
            other = (batch["__width"].fill_null(0) != width).arg_true()
            if len(other):
                raise DataError(
                    f"the line has {batch['__width'][other[0]] or 0} characters, the codebook says {width}",
                    file=self.path,
                    line=done + other[0] + 1,
                    hint="The codebook (.xml) and the data must come from the same extract.",
                )
            done += len(batch)
            yield parsed(batch.drop("__width"), types, odd, layout)


def find_extract(raw: Path, stem: str) -> Extract:
    """Open the one extract ``STEM.csv.gz``, ``STEM.csv``, ``STEM.dat.gz`` or ``STEM.dat`` below `raw`.

    A fixed-width file needs its codebook ``STEM.xml`` beside it.

    Raises
    ------
    DataError
        There is no such file, or more than one; it has no header or repeats a variable; or the codebook is missing,
        unreadable, or that of a hierarchical extract.
    """
    found = [raw / f"{stem}{ending}" for ending in _DATA if (raw / f"{stem}{ending}").is_file()]
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or f"{Path(stem).name}{_DATA[0]} or {Path(stem).name}{_DATA[2]}"
        raise DataError(
            f"there are {len(found)} data files of one extract: {names}" if found else f"there is no extract {names}",
            file=raw / stem,
            hint="Keep one of them." if found else "Download it from IPUMS under this name.",
        )
    path = found[0]
    name = path.relative_to(raw).as_posix()
    if ".dat" in path.suffixes:
        layout = read_codebook(raw / f"{stem}.xml")
        return Extract(path, name, tuple(layout), layout)
    with _readable(path):
        columns = read_header(path)
    repeated = sorted({column for column in columns if columns.count(column) > 1})
    if repeated:
        raise DataError(f"the header repeats {', '.join(repeated)}", file=path, line=1)
    return Extract(path, name, columns)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say of errors of decompression and parsing which file they are about."""
    import polars as pl

    try:
        yield
    except damages(OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the extract cannot be read: {error}", file=path, hint="Is the download complete?") from error


def _batches(scan: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    yield from scan.collect_batches(chunk_size=rows, maintain_order=True, engine="streaming")
