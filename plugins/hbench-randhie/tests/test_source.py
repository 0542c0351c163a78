"""The package's file, made ragged."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hbench_randhie import source

from hbench.core import BuildReport, DataError


@pytest.mark.parametrize(("change", "cells"), [((b",", b",,"), 46), ((b",", b""), 44)])
@pytest.mark.parametrize("line", [10_000, 20_191])
def test_ragged_lines_are_refused(tmp_path, monkeypatch, change: tuple[bytes, bytes], cells: int, line: int) -> None:
    lines = files("statsmodels.datasets.randhie").joinpath("src/randhie.csv").read_bytes().splitlines(keepends=True)
    assert lines[0].count(b",") == 44
    lines[line - 1] = lines[line - 1].replace(*change, 1)
    (tmp_path / "src").mkdir()
    (tmp_path / "src/randhie.csv").write_bytes(b"".join(lines))
    monkeypatch.setattr(source, "files", lambda _: tmp_path)
    with pytest.raises(DataError, match=rf"randhie\.csv:{line}: {cells} cells under 45 column names"):
        source.RandHealthInsurance().build(tmp_path, tmp_path, report=BuildReport())
