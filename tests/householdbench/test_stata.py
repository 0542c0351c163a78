"""Columns of Stata files, read from a stream."""

from __future__ import annotations

import io
from typing import Any

import pytest

from hbench.core import DataError
from hbench_householdbench.sources.stata import StataStream

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")
np = pytest.importorskip("numpy")


class Pipe(io.RawIOBase):
    """A stream that gives some bytes at a time and cannot go back, as a member of an archive."""

    def __init__(self, data: bytes) -> None:
        self._rest = data

    def read(self, size: int = -1) -> bytes:
        part, self._rest = self._rest[: min(size, 100)], self._rest[min(size, 100) :]
        return part


def table() -> Any:
    rng = np.random.default_rng(1)
    n = 25
    return pd.DataFrame(
        {
            "ID": np.arange(n, dtype=np.int32) + 4_001_001,
            "TEXT": ["some words"] * n,
            "SMALL": rng.integers(-127, 101, n).astype(np.int8),
            "MIDDLE": rng.integers(-30_000, 30_000, n).astype(np.int16),
            "REAL": np.where(np.arange(n) % 7 == 3, np.nan, rng.normal(0, 1e6, n)).astype(np.float32),
            "LARGE": np.where(np.arange(n) % 5 == 2, np.nan, rng.normal(0, 1e12, n)),
        }
    )


def written(frame: Any, version: int, **options: Any) -> bytes:
    stream = io.BytesIO()
    frame.to_stata(stream, version=version, write_index=False, **options)
    return stream.getvalue()


@pytest.mark.parametrize("version", [117, 118, 119])
@pytest.mark.parametrize("byteorder", ["little", "big"])
def test_columns_are_those_that_pandas_reads(version: int, byteorder: str) -> None:
    labels = {"SMALL": {1: "one", 2: "two"}}
    data = written(table(), version, byteorder=byteorder, value_labels=labels, variable_labels={"ID": "Identifier"})
    wanted = ["LARGE", "ID", "SMALL", "MIDDLE", "REAL"]
    expected = pd.read_stata(io.BytesIO(data), convert_categoricals=False)[wanted].astype(float)
    stream = StataStream(Pipe(data), file="a.dta")
    assert (stream.rows, stream.names) == (25, tuple(table().columns))
    blocks = list(stream.blocks(wanted, block=200))
    assert len(blocks) > 3
    got = pl.concat(blocks)
    assert set(got.dtypes) == {pl.Float64}
    assert got.null_count().row(0) == (5, 0, 0, 0, 4)
    assert np.array_equal(got.fill_null(float("nan")).to_numpy(), expected.to_numpy(), equal_nan=True)


def test_pyreadstat_agrees(tmp_path: Any) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / "a.dta"
    path.write_bytes(written(table(), 118))
    expected, _ = pyreadstat.read_dta(str(path), usecols=["REAL", "MIDDLE"])
    with path.open("rb") as stream:
        got = pl.concat(StataStream(stream, file=path).blocks(["REAL", "MIDDLE"]))
    assert np.array_equal(got["REAL"].fill_null(float("nan")), expected["REAL"], equal_nan=True)
    assert got["MIDDLE"].to_list() == expected["MIDDLE"].to_list()


def test_all_27_missing_values_of_a_type_are_null() -> None:
    """Stata's codes beyond the largest valid value, written by hand over those of a file."""
    frame = pd.DataFrame({"B": np.arange(100, 128).clip(max=100).astype(np.int8), "I": np.zeros(28, dtype=np.int16)})
    frame["L"], frame["F"] = np.zeros(28, dtype=np.int32), np.zeros(28, dtype=np.float32)
    data = bytearray(written(frame, 118))
    start = data.index(b"<data>") + len(b"<data>")
    for row in range(28):
        at = start + 11 * row
        data[at : at + 1] = np.int8(100 + row).tobytes()
        data[at + 1 : at + 3] = np.array(32_740 + row, dtype="<i2").tobytes()
        data[at + 3 : at + 7] = np.array(2_147_483_620 + row, dtype="<i4").tobytes()
        data[at + 7 : at + 11] = np.array(
            0x7EFFFFFF if row == 0 else 0x7F000000 + 0x800 * (row - 1), dtype="<u4"
        ).tobytes()
    got = pl.concat(StataStream(io.BytesIO(bytes(data)), file="a.dta").blocks(["B", "I", "L", "F"]))
    assert got.null_count().row(0) == (27, 27, 27, 27)
    assert got.row(0)[:3] == (100, 32_740, 2_147_483_620)


@pytest.mark.parametrize(
    ("data", "columns", "said"),
    [
        (lambda data: data[:40], ["ID"], "ends within its header"),
        (lambda data: data[: data.index(b"<data>") + 500], ["ID"], r"ends within its record 1 of 25"),
        (lambda data: data[:-3], ["ID"], "ends before its closing tag"),
        (lambda data: b"PK" + data, ["ID"], "no Stata file of the formats 117 to 119"),
        (lambda data: data.replace(b"</K><N>", b"</X><N>"), ["ID"], "in the place of '</K><N>'"),
        (lambda data: data, ["ID", "V1", "V2"], "2 variables are missing: V1, V2"),
        (lambda data: data, ["TEXT"], "the variable TEXT holds text"),
    ],
)
def test_a_damaged_or_other_file_is_refused(data: Any, columns: list[str], said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        list(StataStream(io.BytesIO(data(written(table(), 118))), file="a.dta").blocks(columns))
    assert "a.dta" in str(caught.value)
