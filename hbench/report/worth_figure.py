"""Equivalent sample size as a figure: the error curve with its band, the model's line, estimate and bound."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import SelectionError
from hbench.core.legible import visible
from hbench.ess.findings import Worth
from hbench.report.canvas import COLOURS, STYLE, panels, save, slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_worth_figures(worths: Sequence[Worth], folder: Path) -> list[Path]:
    """Write ``ess-....svg`` and ``.png`` for each comparison.

    Raises
    ------
    SelectionError
        When matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise SelectionError("figures need matplotlib", hint="pip install 'hbench[plots]'") from error
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with mpl.rc_context(STYLE):
        for worth in worths:
            figure = worth_figure(worth)
            name = f"ess{slug(worth.task, worth.target or '', worth.split, worth.model, worth.algorithm)}"
            written += save(figure, folder, name)
    return written


def worth_figure(worth: Worth) -> Figure:
    """Draw one comparison."""
    sizes = [point.size for point in worth.curve.points]
    errors = [worth.error(point) for point in worth.curve.points]
    level, low, high = worth.model_error()
    bound = worth.curve.bound
    with panels(1, 3.2, 4.8) as (figure, (axis,)):
        axis.plot(sizes, [error for error, _, _ in errors], color=COLOURS[0], marker="o", ms=3, label=worth.algorithm)
        axis.fill_between(
            sizes, [lo for _, lo, _ in errors], [hi for _, _, hi in errors], color=COLOURS[0], alpha=0.2, lw=0
        )
        axis.axhline(level, color=COLOURS[5], label=visible(worth.model))
        axis.axhspan(low, high, color=COLOURS[5], alpha=0.12, lw=0)
        axis.axvline(bound.least, color="black", lw=0.8, ls=":", label=f"at least {bound.least:,}")
        if bound.plug_in is not None:
            axis.axvline(bound.plug_in, color="black", lw=0.8, ls="--", label=f"N* = {bound.plug_in:,}")
        axis.set_xscale("log")
        axis.set_xlabel("training rows")
        axis.set_ylabel(worth.measure)
        axis.set_title(visible(f"{worth.task} {worth.target or ''} ({worth.split})"))
        axis.legend(fontsize=7, frameon=False)
        if worth.data_kind == "demo":
            figure.text(0.5, 1.0, "synthetic data: says nothing about households", ha="center", color=COLOURS[5],
                        fontsize=8)  # fmt: skip
    return figure
