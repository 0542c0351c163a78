"""Reading and writing record files: JSON Lines and CSV with the small core alone, Parquet with pyarrow."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from hbench.core import DataError, Record
from hbench.core.hashes import HashSet
from hbench.data.files import atomic_file
from hbench.data.lines import check_byte_order_mark, decode, dump_line, numbered_lines, plain, read_jsonl
from hbench.data.rows import KEYS, NESTED, record_of, row_of

Rows = Iterator[tuple[int, dict[str, Any]]]
Encoded = TypeVar("Encoded")
_BATCH = 4096


def read_records(path: str | os.PathLike[str], *, task: str) -> Iterator[Record]:
    """Yield the records of a file, in its order.

    Parameters
    ----------
    path : path
        ``.jsonl`` (or ``.ndjson``), ``.parquet`` or ``.csv``.
    task : str
        Qualified name that the records get.

    Raises
    ------
    DataError
        Whatever is wrong with the file or a row, with file and line; a record that occurs twice.
    """
    file = Path(path)
    seen = HashSet()
    for line, row in read_rows(file):
        record = record_of(row, task=task, file=file, line=line)
        if not seen.add(hash((record.id, record.time))):
            _check_distinct(record, file, line)
        yield record


def _check_distinct(record: Record, file: Path, line: int) -> None:
    """Read the file again up to a line, since another record may have the same hash by accident."""
    for earlier, row in read_rows(file):
        if earlier == line:
            return
        other = record_of(row, task=record.task, file=file, line=earlier)
        if (other.id, other.time) == (record.id, record.time):
            raise DataError(
                f"the record occurs twice, first on line {earlier}",
                file=file,
                line=line,
                task=record.task,
                record=record.key,
            )


def read_rows(path: Path) -> Rows:
    """Yield the raw rows of a record file with their line (in Parquet: row) numbers, which count from 1."""
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return read_jsonl(path)
    if suffix == ".csv":
        return _read_csv(path)
    if suffix == ".parquet":
        return _read_parquet(path)
    raise _unknown_format(path)


def write_records(path: str | os.PathLike[str], records: Iterable[Record]) -> int:
    """Write records to ``.jsonl``, ``.parquet`` or ``.csv`` and return their number.

    The file is whole or not there: it replaces an older one only when the last record is written.

    Raises
    ------
    DataError
        A record occurs twice, or holds what the format cannot say.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    with atomic_file(file) as temporary:
        if suffix in (".jsonl", ".ndjson"):
            return _write_jsonl(temporary, _encode(records, file, dump_line))
        if suffix == ".csv":
            return _write_csv(temporary, _encode(records, file, _flat))
        if suffix == ".parquet":
            return _write_parquet(temporary, _encode(records, file, _flat))
        raise _unknown_format(file)


def _encode(records: Iterable[Record], file: Path, encode: Callable[[dict[str, Any]], Encoded]) -> Iterator[Encoded]:
    seen: set[tuple[str, str | None]] = set()
    for record in records:
        if (record.id, record.time) in seen:
            raise DataError("the record occurs twice", file=file, task=record.task, record=record.key)
        seen.add((record.id, record.time))
        try:
            yield encode(row_of(record))
        except (ValueError, TypeError) as error:
            raise DataError(f"it cannot be written: {error}", file=file, task=record.task, record=record.key) from error


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose values are texts and numbers; everything else becomes JSON text."""
    return {
        key: value if isinstance(value, str | float) and key not in NESTED else _json(value)
        for key, value in row.items()
    }


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, allow_nan=False, default=plain)


def _write_jsonl(path: Path, lines: Iterable[str]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for count, line in enumerate(lines, start=1):  # noqa: B007
            stream.write(line)
    return count


def _write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        # Everything is quoted: a bare carriage return would end the row for readers.
        writer = csv.DictWriter(stream, KEYS, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writeheader()
        for count, row in enumerate(rows, start=1):  # noqa: B007
            writer.writerow(row)
    return count


def _write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    pyarrow, parquet = _pyarrow(path)
    schema = pyarrow.schema([(key, pyarrow.float64() if key == "weight" else pyarrow.string()) for key in KEYS])
    count = 0
    with parquet.ParquetWriter(path, schema) as writer:
        batch: list[dict[str, Any]] = []
        for row in rows:
            batch.append(row)
            if len(batch) == _BATCH:
                writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
                count += len(batch)
                batch = []
        writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
    return count + len(batch)


def _read_csv(path: Path) -> Rows:
    check_byte_order_mark(path)
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with path.open("rb") as stream:
        reader = csv.reader((decode(raw, path, n) for n, raw in numbered_lines(stream, path)), strict=True)
        try:
            header = next(reader, None)
            if header is None:
                raise DataError("the file is empty, without a header", file=path)
            if len(set(header)) < len(header):
                raise DataError("a column's name is repeated", file=path, line=1)
            line = reader.line_num + 1
            for cells in reader:
                if len(cells) not in (0, len(header)):
                    raise DataError(f"{len(cells)} cells under {len(header)} column names", file=path, line=line)
                if cells:
                    yield line, _nested(dict(zip(header, cells, strict=True)), path, line)
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(
                f"the line is not valid CSV: {error}",
                file=path,
                line=reader.line_num,
                hint="If it is the last line, the file was cut off; get it again.",
            ) from error


def _nested(cells: dict[str, str], path: Path, line: int) -> dict[str, Any]:
    """Return a row of typed values from a row of texts; empty cells are missing."""
    row: dict[str, Any] = {key: cell or None for key, cell in cells.items()}
    if row.get("weight") is not None:
        try:
            row["weight"] = float(row["weight"])
        except ValueError:
            raise DataError(f"'weight' is {row['weight']!r}, not a number", file=path, line=line) from None
    return _decode_nested(row, path, line)


def _decode_nested(row: dict[str, Any], path: Path, line: int) -> dict[str, Any]:
    for key in NESTED:
        if isinstance(row.get(key), str):
            try:
                row[key] = json.loads(row[key])
            except (ValueError, RecursionError) as error:
                raise DataError(f"{key!r} is not valid JSON: {error}", file=path, line=line) from error
    return row


def _read_parquet(path: Path) -> Rows:
    pyarrow, parquet = _pyarrow(path)
    try:
        with parquet.ParquetFile(path) as file:
            line = 0
            for batch in file.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    line += 1
                    yield line, _decode_nested(row, path, line)
    except FileNotFoundError as error:
        raise DataError("there is no such file", file=path) from error
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(f"the Parquet file cannot be read: {error}", file=path, hint="Get it again.") from error


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise DataError(
            "Parquet files need pyarrow", file=path, hint="Install it with: pip install 'hbench[data]'"
        ) from error
    return pyarrow, pyarrow.parquet


def _unknown_format(path: Path) -> DataError:
    return DataError(
        f"records are not kept as {path.suffix or 'files without an ending'}",
        file=path,
        hint="Use .jsonl, .parquet or .csv.",
    )
