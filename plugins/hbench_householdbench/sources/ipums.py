"""Extracts of IPUMS: csv, or fixed width with its codebook (DDI), packed by gzip or not, read in batches."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.ipums_codebook import Field, read_codebook

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

    def batches(
        self, types: Mapping[str, type[pl.DataType]], *, report: BuildReport, rows: int = BATCH
    ) -> Iterator[pl.DataFrame]:
        """Yield the variables named, in the file's order of rows; memory does not grow with the file.

        Parameters
        ----------
        types : mapping
            Polars type by variable: whole numbers, floats, or ``pl.String``. A blank is null.
        report : BuildReport
            Gets a problem for every variable with cells that are no number of its type; such a cell is null.
        rows : int
            Rows of a batch, at most about so many.

        Raises
        ------
        DataError
            A variable is not there, or the file is damaged or cut off.
        """
        import polars as pl

        self.need(types)
        bad: dict[str, tuple[int, str]] = {}
        try:
            if self.layout is None:
                yield from self._from_csv(types, rows, bad)
            else:
                yield from self._from_lines(types, rows, bad, self.layout)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise DataError(
                f"the extract cannot be read: {error}", file=self.path, hint="Is the download complete?"
            ) from error
        for name, (count, example) in bad.items():
            report.problem(self.name, f"{name} is not {_kind(types[name])}", count, example)

    def _from_csv(
        self, types: Mapping[str, type[pl.DataType]], rows: int, bad: dict[str, tuple[int, str]]
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        done = 0
        texts = dict.fromkeys(self.columns, pl.String)
        try:
            for batch in _batches(self._scan({**texts, **types}, skip=1).select(*types), rows):
                yield batch
                done += len(batch)
        except pl.exceptions.ComputeError as error:
            if "could not parse" not in str(error):
                raise
            # A cell that is no number of its type: from here on, texts are parsed, and such cells are counted.
            scan = self._scan(texts, skip=1 + done).select(*types)
            yield from (_parsed(batch, types, bad) for batch in _batches(scan, rows))

    def _scan(self, types: Mapping[str, type[pl.DataType]], *, skip: int) -> pl.LazyFrame:
        import polars as pl

        return pl.scan_csv(self.path, has_header=False, skip_rows=skip, schema=types)

    def _from_lines(
        self,
        types: Mapping[str, type[pl.DataType]],
        rows: int,
        bad: dict[str, tuple[int, str]],
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
            odd = (batch["__width"].fill_null(0) != width).arg_true()
            if len(odd):
                raise DataError(
                    f"the line has {batch['__width'][odd[0]] or 0} characters, the codebook says {width}",
                    file=self.path,
                    line=done + odd[0] + 1,
                    hint="The codebook (.xml) and the data must come from the same extract.",
                )
            done += len(batch)
            yield _parsed(batch.drop("__width"), types, bad, layout)


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
    columns = _header(path)
    repeated = sorted({column for column in columns if columns.count(column) > 1})
    if repeated:
        raise DataError(f"the header repeats {', '.join(repeated)}", file=path, line=1)
    return Extract(path, name, columns)


def _header(path: Path) -> tuple[str, ...]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            line = stream.readline(1 << 20)
    except (OSError, EOFError) as error:
        raise DataError(f"the extract cannot be read: {error}", file=path) from error
    names = line.decode("utf-8-sig", errors="replace").strip().split(",")
    return tuple(name.strip().strip('"').upper() for name in names)


def _batches(scan: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    yield from scan.collect_batches(chunk_size=rows, maintain_order=True, engine="streaming")


def _parsed(
    batch: pl.DataFrame,
    types: Mapping[str, type[pl.DataType]],
    bad: dict[str, tuple[int, str]],
    layout: Mapping[str, Field] | None = None,
) -> pl.DataFrame:
    """Turn texts into numbers; cells that are none become null and are counted in `bad`."""
    import polars as pl

    columns = []
    for name, dtype in types.items():
        text = batch[name].str.strip_chars()
        text = text.set(text == "", None)
        if dtype == pl.String:
            columns.append(text)
            continue
        decimals = layout[name].decimals if layout else 0
        values = text.cast(dtype, strict=False)
        if decimals or values.null_count() > text.null_count():
            # Also 4.0 is a whole number: pandas and R write it where a column has gaps.
            floats = text.cast(pl.Float64, strict=False)
            if decimals:
                # numpy divides; polars would multiply by the reciprocal, and 4355.4000 become 4355.400000000001.
                floats = pl.Series(floats.to_numpy() / 10**decimals, nan_to_null=True)
            whole = floats.set(floats != floats.round(), None) if dtype.is_integer() else floats
            values = whole.cast(dtype, strict=False)
            odd = batch[name].filter(values.is_null() & text.is_not_null())
            if len(odd):
                count, example = bad.get(name, (0, odd[0]))
                bad[name] = (count + len(odd), example)
        columns.append(values.alias(name))
    return pl.DataFrame(columns)


def _kind(dtype: type[pl.DataType]) -> str:
    return "a whole number" if dtype.is_integer() else "a number"
