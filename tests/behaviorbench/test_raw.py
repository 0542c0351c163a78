from __future__ import annotations

from pathlib import Path

import pytest

from hbench.core import BuildReport, DataError
from hbench_behaviorbench.raw import read_csv
from tests.data.ragged import ragged

pytest.importorskip("polars", reason="needs hbench[data]")


def rows(path: Path, separator: str = ",") -> list[tuple[object, ...]]:
    frame = read_csv(path.parent, path.name, columns=("b", "d"), text=("b",), separator=separator, report=BuildReport())
    return frame.rows()


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ragged_lines_are_refused_whatever_columns_are_read(tmp_path: Path, separator: str, end: str) -> None:
    path = tmp_path / "some.csv"
    good = "a,b,c,d,e\n1,x,2,3,4\n5,,6,,7\n8,y,,9,\n".replace(",", separator).replace("\n", end).encode()
    path.write_bytes(good)
    assert rows(path, separator) == [("x", 3), ("", None), ("y", 9)]
    for bad, said in ragged(good, separator):
        path.write_bytes(bad)
        with pytest.raises(DataError, match=r"some\.csv" + said):
            rows(path, separator)


def test_cells_in_quotes_hold_separators_and_ends_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text('a,b,c,d,e\n1,"x, or\ny",2,3,"4"\n5,"a ""b""",6,7,8\n')
    assert rows(path) == [("x, or\ny", 3), ('a "b"', 7)]
    # polars, asked for two columns, would lose its place in the last line.
    path.write_text('a,b,c,d,e\n1,i"j,z,3,i"j\nz,z,"e\nf",4,z\n')
    assert rows(path) == [('i"j', 3), ("z", 4)]
    path.write_text('a,b,c,d,e\n1,x "p, q" y,2,3,4\n')
    with pytest.raises(DataError, match="2: 6 cells under 5 column names"):
        rows(path)
