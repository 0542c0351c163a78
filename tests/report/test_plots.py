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
    # Nobody told tokens and no run leaves a section out, so these two have nothing to show.
    for name in FIGURES.keys() - {"cost", "sections"}:
        assert any(path.name.startswith(name) and path.suffix == ".svg" for path in written), name
    assert {path.suffix for path in written} == {".svg", ".png"}
    assert all(path.stat().st_size > 1000 for path in written)
    again = write_plots(comparison, VIEW, tmp_path / "b", names=["gains"])
    for path in again:
        if path.suffix == ".svg":
            assert path.read_bytes() == (tmp_path / "a" / path.name).read_bytes()


def test_a_model_keeps_its_colour_in_every_figure() -> None:
    from hbench.report.canvas import ORDER, style

    token = ORDER.set(("a", "b", "c"))
    try:
        assert style(["c", "b"], "c") == style(["a", "b", "c"], "c") != style(["a", "b", "c"], "a")
    finally:
        ORDER.reset(token)


def test_an_analysis_without_figure(big_study: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(SelectionError, match="no figure"):
        write_plots(Comparison.load([big_study[1]]), VIEW, tmp_path, names=["pairs"])


def test_a_section_is_drawn_for_every_model_and_what_is_undefined_left_out() -> None:
    pytest.importorskip("matplotlib")
    row = {"suite": "s", "split": "t", "kind": "numeric", "metric": "relmae", "model": "a", "without": "macro"}
    rows = [
        {**row, "worth": 0.2, "worth_lo": 0.1, "worth_hi": 0.4},
        {**row, "model": "b", "worth": -0.1, "worth_lo": None, "worth_hi": None},
        {**row, "without": "history", "worth": None, "worth_lo": None, "worth_hi": None},
    ]
    ((name, figure),) = FIGURES["sections"](rows)
    assert name == "-s-t"
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["macro", "history"]
    drawn = [float(line.get_xdata()[0]) for line in axis.lines if line.get_marker() in ("o", "s")]
    assert sorted(drawn) == [-0.1, 0.2]


def test_a_confusion_matrix_shows_shares_of_the_true_class() -> None:
    pytest.importorskip("matplotlib")
    place = {"suite": "s", "split": "t", "task": "k", "target": "y", "model": "a"}
    cells = [("x", "x", 0.75), ("x", "z", 0.25), ("z", "x", 0.0), ("z", "z", 1.0)]
    rows = [{**place, "true": true, "predicted": said, "n": 1, "share": share} for true, said, share in cells]
    ((_, figure),) = FIGURES["confusion"](rows)
    assert [text.get_text() for text in figure.axes[0].texts] == ["75", "25", "100"]
