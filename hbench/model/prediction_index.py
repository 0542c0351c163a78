"""Where each prediction stands in its file, in sixteen bytes a row."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from hbench.core import JsonValue, ModelError, Record

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FILE_BITS = 16
"""A place is the row's offset, shifted to make room for the number of its file."""


class PredictionIndex:
    """The predictions of one task, found by record and draw.

    Parameters
    ----------
    files : sequence of Path
        JSON lines; together they name each record and draw once.
    task : str
        Qualified name. Rows that name another task in a field ``task`` are passed over.

    Raises
    ------
    ModelError
        For a line that is no JSON object, a row without ``id``, or a draw that occurs twice; with file and line.

    Notes
    -----
    Keys are 64-bit hashes; the row that is found is compared with the record before it is used.
    """

    def __init__(self, files: Sequence[Path], task: str) -> None:
        import numpy as np

        self._files = files
        self._streams: dict[int, IO[bytes]] = {}
        keys, places = array("Q"), array("Q")
        for number, file in enumerate(files):
            for offset, line_number, line in _lines(file):
                row = _row(line, file, line_number)
                if not _is_about(row, task):
                    continue
                keys.append(_hash(_name(row, file, line_number), _draw(row, file, line_number)))
                places.append(offset << _FILE_BITS | number)
        hashes = np.frombuffer(keys, dtype=np.uint64) if keys else np.empty(0, dtype=np.uint64)
        order = np.argsort(hashes, kind="stable")
        self._keys: npt.NDArray[np.uint64] = hashes[order]
        self._places: npt.NDArray[np.uint64] = np.frombuffer(places, dtype=np.uint64)[order] if places else hashes
        self._refuse_repeats(task)
        self._used = np.zeros(len(self._keys), dtype=np.bool_)
        self._loosely_used: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, record: Record, draw: int) -> Mapping[str, JsonValue] | None:
        """Return the row of a draw, or None.

        A row with an id but no time serves a record that has one, as long as no second record claims it.
        """
        row = self._get(record.key, draw)
        if row is None and record.time is not None:
            row = self._get(record.id, draw)
            if row is not None and self._loosely_used.setdefault(record.id, record.key) != record.key:
                raise ModelError(
                    f"the predictions for {record.id} have no time, but several records have this id",
                    file=self._files[0],
                    task=record.task,
                    record=record.key,
                    hint="add the field `time` to the rows",
                )
        return row

    def close(self) -> None:
        """Close the files."""
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()

    def _get(self, key: str, draw: int) -> Mapping[str, JsonValue] | None:
        import numpy as np

        wanted = np.uint64(_hash(key, draw))
        at = int(np.searchsorted(self._keys, wanted))
        if at == len(self._keys) or self._keys[at] != wanted:
            return None
        row = self._read(int(self._places[at]))
        if _key(row) != key:
            return None
        self._used[at] = True
        return row

    def unused(self) -> int:
        """Count the rows that no record has asked for."""
        return int((~self._used).sum())

    def _read(self, place: int) -> Mapping[str, JsonValue]:
        number = place & (2**_FILE_BITS - 1)
        if number not in self._streams:
            self._streams[number] = self._files[number].open("rb")
        stream = self._streams[number]
        stream.seek(place >> _FILE_BITS)
        row: Mapping[str, JsonValue] = json.loads(stream.readline())
        return row

    def _refuse_repeats(self, task: str) -> None:
        import numpy as np

        for at in np.flatnonzero(self._keys[1:] == self._keys[:-1]):
            first, second = int(self._places[at]), int(self._places[at + 1])
            name = _key(self._read(first))
            if name != _key(self._read(second)):
                continue
            file, line = self._line_of(second)
            before, earlier = self._line_of(first)
            raise ModelError(
                f"the prediction for {name} stands at {before}:{earlier} already", file=file, line=line, task=task
            )

    def _line_of(self, place: int) -> tuple[Path, int]:
        file = self._files[place & (2**_FILE_BITS - 1)]
        offset = place >> _FILE_BITS
        return file, next(number for start, number, _ in _lines(file) if start == offset)


def _lines(file: Path) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield offset, number, line
            offset += len(line)


def _row(line: bytes, file: Path, number: int) -> Mapping[str, JsonValue]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ModelError(f"this line is no JSON ({error})", file=file, line=number) from None
    if not isinstance(row, dict):
        raise ModelError("a prediction is a JSON object", file=file, line=number)
    return row


def _is_about(row: Mapping[str, JsonValue], task: str) -> bool:
    named = row.get("task")
    return named is None or named in (task, task.rpartition("/")[2])


def _key(row: Mapping[str, JsonValue]) -> str | None:
    name = row.get("id", row.get("example_id"))
    if name is None:
        return None
    time = row.get("time")
    return str(name) if time is None else f"{name}@{time}"


def _name(row: Mapping[str, JsonValue], file: Path, number: int) -> str:
    name = _key(row)
    if name is None:
        raise ModelError("the row has neither `id` nor `example_id`", file=file, line=number)
    return name


def _draw(row: Mapping[str, JsonValue], file: Path, number: int) -> int:
    draw = row.get("draw", 0)
    if isinstance(draw, bool) or not isinstance(draw, int) or draw < 0:
        raise ModelError(f"`draw` must be a whole number, got {draw!r}", file=file, line=number)
    return draw


def _hash(key: str, draw: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{draw} {key}".encode("utf-8", "surrogatepass"), digest_size=8).digest())
