"""Examples of all tasks in one random order, without holding them in memory."""

from __future__ import annotations

import json
import random
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal

from hbench.core import DataError, JsonValue, stable_seed
from hbench.data.lines import dump_line

Format = Literal["jsonl", "parquet"]
_BATCH = 4096


class Mix:
    """Takes examples one by one and writes them shuffled.

    Lines wait in a temporary file; only where each begins is in memory.

    Parameters
    ----------
    folder : Path
        Where the temporary file may be.
    seed : int
        Seed of the order.
    name : str
        Name of the part, as ``train``; part of the seed.
    """

    def __init__(self, folder: Path, *, seed: int, name: str) -> None:
        self.name = name
        self._seed = stable_seed(seed, "sft", name)
        self._lines = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by __exit__
        self._starts = array("Q", [0])

    def __enter__(self) -> Mix:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, example: dict[str, JsonValue]) -> None:
        """Take an example."""
        line = dump_line(example).encode()
        self._lines.write(line)
        self._starts.append(self._starts[-1] + len(line))

    def write(self, folder: Path, format: Format) -> Path:
        """Write the examples shuffled; return the file.

        Raises
        ------
        DataError
            Parquet is wanted and pyarrow is not installed.
        """
        path = folder / f"{self.name}.{format}"
        if format == "parquet":
            _write_parquet(path, self._shuffled())
        else:
            with path.open("wb") as stream:
                stream.writelines(self._shuffled())
        return path

    def _shuffled(self) -> Iterator[bytes]:
        order = array("Q", range(len(self)))
        random.Random(self._seed).shuffle(order)
        for place in order:
            self._lines.seek(self._starts[place])
            yield self._lines.read(self._starts[place + 1] - self._starts[place])


def _write_parquet(path: Path, lines: Iterator[bytes]) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        hint = "Install it with: pip install 'hbench[data]', or use --format jsonl."
        raise DataError("Parquet files need pyarrow", file=path, hint=hint) from error
    text, number = pa.string(), pa.int32()
    turns = pa.list_(pa.struct([("role", text), ("content", text)]))
    schema = pa.schema(
        [("messages", turns), ("task", text), ("id", text), ("time", text), ("answer", number), ("copy", number)]
    )
    with parquet.ParquetWriter(path, schema) as writer:
        batch = []
        for line in lines:
            batch.append(json.loads(line))
            if len(batch) == _BATCH:
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                batch = []
        writer.write_table(pa.Table.from_pylist(batch, schema=schema))
