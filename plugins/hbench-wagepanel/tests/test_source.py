"""The package's file, made ragged."""

from __future__ import annotations

import bz2
from importlib.resources import files

import pytest
from hbench_wagepanel import source

from hbench.core import BuildReport, DataError


@pytest.mark.parametrize(("change", "cells"), [((b",", b",,"), 13), ((b",", b""), 11)])
@pytest.mark.parametrize("line", [2_000, 4_361])
def test_ragged_lines_are_refused(tmp_path, monkeypatch, change: tuple[bytes, bytes], cells: int, line: int) -> None:
    packed = files("linearmodels.datasets.wage_panel").joinpath("wage_panel.csv.bz2").read_bytes()
    lines = bz2.decompress(packed).splitlines(keepends=True)
    assert lines[0].count(b",") == 11
    lines[line - 1] = lines[line - 1].replace(*change, 1)
    (tmp_path / "wage_panel.csv.bz2").write_bytes(bz2.compress(b"".join(lines)))
    monkeypatch.setattr(source, "files", lambda _: tmp_path)
    with pytest.raises(DataError, match=rf"wage_panel\.csv\.bz2:{line}: {cells} cells under 12 column names"):
        source.WagePanel().build(tmp_path, tmp_path, report=BuildReport())
