from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hbench.core import SelectionError
from hbench.report.comparison import Comparison, View
from hbench.report.plots import FIGURES, write_plots
from hbench.stat import Resampling

VIEW = View(resampling=Resampling(draws=50))


def test_every_figure_is_written_twice_and_the_same_again(big_study: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    comparison = Comparison.load([big_study[1]])
    written = write_plots(comparison, VIEW, tmp_path / "a")
    # Nobody told tokens, so the figure of costs has nothing to show.
    for name in FIGURES.keys() - {"cost"}:
        assert any(path.name.startswith(name) and path.suffix == ".svg" for path in written), name
    assert {path.suffix for path in written} == {".svg", ".png"}
    assert all(path.stat().st_size > 1000 for path in written)
    again = write_plots(comparison, VIEW, tmp_path / "b", names=["gains"])
    for path in again:
        if path.suffix == ".svg":
            assert path.read_bytes() == (tmp_path / "a" / path.name).read_bytes()


def test_an_analysis_without_figure(big_study: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(SelectionError, match="no figure"):
        write_plots(Comparison.load([big_study[1]]), VIEW, tmp_path, names=["pairs"])
