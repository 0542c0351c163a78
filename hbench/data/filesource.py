"""A researcher's own table, named in the YAML."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data.files import atomic_folder, content_digest
from hbench.data.fingerprint import RULES, fingerprint
from hbench.data.lines import check_byte_order_mark, decode, numbered_lines
from hbench.data.panels import Panels
from hbench.data.store import Store
from hbench.spec.files import is_there
from hbench.spec.task import FileSource, Task

if TYPE_CHECKING:
    import polars as pl

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_HEAD = 1000
"""Rows that tell a table's columns and their types well enough to check names."""


def file_panels(task: Task, spec: FileSource, *, folder: Path | None, store: Store) -> Panels:
    """Return the table as the only panel, kept in the store under its content.

    Raises
    ------
    DataError
        The file is absent, empty, in no known format, has repeated column names or ragged rows.
    """
    path = _path(task, spec, folder)
    digest = content_digest(path)
    mark = fingerprint({"rules": RULES, "file": digest, "suffix": path.suffix, "missing": spec.missing})
    target = store.panels(task.suite, task.task, "file") / mark
    report = {"files": {path.name: digest}, "counts": {}, "problems": []}
    if not target.is_dir():
        frame = _read(path, spec, task.name)
        with atomic_folder(target) as temporary:
            frame.write_parquet(temporary / f"{task.task}.parquet")
            (temporary / "panel.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return Panels(target, mark, report)


def head(task: Task, spec: FileSource, *, folder: Path | None) -> pl.DataFrame:
    """Return the table's first rows. Raises `DataError` where the file is absent or cannot be read."""
    return _read(_path(task, spec, folder), spec, task.name, rows=_HEAD)


def _path(task: Task, spec: FileSource, folder: Path | None) -> Path:
    path = Path(spec.file)
    if not path.is_absolute():
        if folder is None:
            raise DataError(f"the folder of the task that {spec.file!r} is relative to is not known", task=task.name)
        path = folder / path
    if not is_there(path):
        raise DataError(f"there is no such file: {path}", task=task.name, at=("source", "file"))
    return path


def _read(path: Path, spec: FileSource, task: str, *, rows: int | None = None) -> pl.DataFrame:
    import polars as pl

    try:
        if path.suffix.lower() == ".parquet":
            return pl.read_parquet(path, n_rows=rows)
        if path.suffix.lower() not in _SEPARATORS:
            raise DataError(
                f"a table is not read from {path.suffix}", file=path, task=task, hint="CSV, TSV or Parquet."
            )
        separator = _SEPARATORS[path.suffix.lower()]
        _check(path, separator, task)
        # Types are inferred from the whole file: a column is a number only if every value is.
        return pl.read_csv(
            path, separator=separator, null_values=list(spec.missing), infer_schema_length=None, n_rows=rows
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # Over some damaged Parquet files polars stops with a panic, which is none of `Exception`.
        raise DataError(f"the table cannot be read: {error}", file=path, task=task) from error


def _check(path: Path, separator: str, task: str) -> None:
    """Refuse what a tolerant reader would pass over: ragged rows, repeated names, stray encodings."""
    check_byte_order_mark(path)
    with path.open("rb") as stream:
        reader = csv.reader(
            (decode(raw, path, number) for number, raw in numbered_lines(stream, path)),
            delimiter=separator,
            strict=True,
        )
        try:
            header = next(reader, [])
            if not header:
                raise DataError("the table is empty, without a header", file=path, task=task)
            repeated = {name for name in header if header.count(name) > 1}
            if repeated:
                raise DataError(f"the column {min(repeated)!r} is repeated", file=path, line=1, task=task)
            for cells in reader:
                if not cells and len(header) > 1:
                    # polars would make a row without any value of it.
                    raise DataError("the line is blank", file=path, line=reader.line_num, task=task, hint="Remove it.")
                if cells and len(cells) != len(header):
                    raise DataError(
                        f"{len(cells)} cells under {len(header)} column names",
                        file=path,
                        line=reader.line_num,
                        task=task,
                    )
        except csv.Error as error:
            raise DataError(f"the line is not valid: {error}", file=path, line=reader.line_num, task=task) from error
