"""Static figures of the analyses: SVG and PNG, in colours that colour-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import SelectionError
from hbench.core.direction import IN_WORDS
from hbench.core.legible import visible
from hbench.report.analyses import Row, analyse
from hbench.report.canvas import HATCH, ORDER, STYLE, distinct, drawable, matching, panels, save, slug, style, whisker
from hbench.report.comparison import Comparison, View
from hbench.report.group_figures import confusion, sections, subgroups

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_plots(comparison: Comparison, view: View, folder: Path, *, names: Sequence[str] | None = None) -> list[Path]:
    """Write the figure of every analysis that has something to show.

    Parameters
    ----------
    comparison, view
        The runs, and how they are looked at.
    folder : Path
        Made where it is absent.
    names : sequence of str, optional
        Analyses to draw (default: all of `FIGURES`).

    Returns
    -------
    list of Path
        ``NAME.svg`` and ``NAME.png`` for each figure.

    Raises
    ------
    SelectionError
        When matplotlib is not installed, or an analysis has no figure.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise SelectionError("figures need matplotlib", hint="pip install 'hbench[plots]'") from error
    for name in names or ():
        if name not in FIGURES:
            raise SelectionError(f"the analysis {name!r} has no figure", hint=f"Figures: {', '.join(FIGURES)}.")
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    token = ORDER.set(tuple(map(visible, comparison.models)))
    with mpl.rc_context(STYLE):
        for name in names or FIGURES:
            rows = drawable(analyse(name, comparison, view))
            for suffix, figure in FIGURES[name](rows) if rows else ():
                _sign(figure, comparison)
                written += save(figure, folder, f"{name}{suffix}")
    ORDER.reset(token)
    return written


def _sign(figure: Figure, comparison: Comparison) -> None:
    if any(part.data_kind == "demo" for part in comparison.parts):
        figure.text(0.5, 1.0, "synthetic data: says nothing about households", ha="center", color="#D55E00", fontsize=8)


Side = tuple[str, dict[str, Any], str]


def _bars(rows: Sequence[Row], panel: tuple[str, ...], solid: Side, hatched: Side, title: str) -> Figure:
    """Draw two bars a model, solid and hatched; one where the other has nothing. Side: (column, filter, name)."""
    sides = [
        (side, hatch)
        for side, hatch in ((solid, ""), (hatched, HATCH))
        if any(row[side[0]] is not None for row in matching(rows, **side[1]))
    ]
    high = 0.76 / max(1, len(sides))
    models, keys = distinct(rows, "model"), distinct(rows, *panel)
    with panels(len(keys), 0.4 * len(models) + 1.4) as (figure, axes):
        for axis, key in zip(axes, keys, strict=True):
            wanted = dict(zip(panel, key if isinstance(key, tuple) else (key,), strict=True))
            for place, model in enumerate(models):
                for number, ((value, only, _), hatch) in enumerate(sides):
                    shift = 0.4 * (number - (len(sides) - 1) / 2)
                    for row in matching(rows, model=model, **wanted, **only):
                        if row[value] is None:
                            continue
                        axis.barh(
                            place + shift, row[value], high, color=style(models, model)["color"], hatch=hatch,
                            edgecolor="white", xerr=whisker(row, value), ecolor="black", error_kw={"lw": 0.8},
                        )  # fmt: skip
            axis.set_yticks(range(len(models)), models if axis is axes[0] else [""] * len(models))
            axis.set_ylim(len(models) - 0.5, -0.5)
            axis.axvline(0, color="black", lw=0.6)
            axis.set_title(", ".join(str(part) for part in wanted.values()))
        words = ", ".join(f"{side[2]} {'hatched' if hatch else 'solid'}" for side, hatch in sides)
        figure.suptitle(f"{title}: {words if len(sides) > 1 else ''.join(side[2] for side, _ in sides)}")
    return figure


def _gains(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for suite, split in distinct(rows, "suite", "split"):
        part = [row for row in matching(rows, suite=suite, split=split) if row["model"] != "no_change"]
        if part:
            yield slug(suite, split), _bars(
                part, ("kind", "metric"), ("gain", {"mode": "baseline"}, "baseline tasks"),
                ("gain", {"mode": "policy"}, "policy tasks"), "gain over no change (above 0: better)",
            )  # fmt: skip


def _cutoff(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for suite, panel in distinct(rows, "suite", "panel"):
        yield slug(suite, panel), _bars(
            matching(rows, suite=suite, panel=panel), ("kind", "metric"), ("before", {}, "before the cutoff"),
            ("after", {}, str(panel)), "score",
        )  # fmt: skip


def _heatmap(rows: Sequence[Row], value: str, centre: bool, title: str) -> Iterator[tuple[str, Figure]]:
    import numpy as np

    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        models, lines = distinct(part, "model"), distinct(part, "task", "target", "mode")
        grid = np.full((len(lines), len(models)), np.nan)
        for row in part:
            if row[value] is not None:
                grid[lines.index((row["task"], row["target"], row["mode"])), models.index(row["model"])] = row[value]
        with panels(1, 0.3 * len(lines) + 1.8, 0.7 * len(models) + 3) as (figure, (axis,)):
            size = float(np.nanmax(np.abs(grid), initial=0.0)) or 1.0
            # Blue to red through white, which all readers can tell apart.
            axis.imshow(grid, cmap="RdBu_r" if centre else "Blues", vmin=-size if centre else 0, vmax=size,
                        aspect="auto")  # fmt: skip
            for (y, x), number in np.ndenumerate(grid):
                if not np.isnan(number):
                    dark = abs(number) > 0.6 * size
                    axis.text(x, y, f"{number:.2f}", ha="center", va="center", fontsize=7,
                              color="white" if dark else "black")  # fmt: skip
            axis.set_xticks(range(len(models)), models, rotation=45, ha="right")
            axis.set_yticks(range(len(lines)), [f"{task} {target} ({mode[0].upper()})" for task, target, mode in lines])
            axis.set_title(title)
        yield slug(suite, split), figure


def _bias(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    yield from _heatmap(rows, "value", True, "relative mean error: above 0, overestimation")


def _majority(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    yield from _heatmap(rows, "excess", True, "majority-class answers beyond the true share")


def _persistence(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for suite, split in distinct(rows, "suite", "split"):
        for task, target in distinct(matching(rows, suite=suite, split=split), "task", "target"):
            part = matching(rows, suite=suite, split=split, task=task, target=target)
            models = distinct(part, "model")
            with panels(3, 0.35 * len(models) + 1.4, 3.0) as (figure, axes):
                for axis, kind in zip(axes, ("unchanged", "changed", "all"), strict=True):
                    for place, model in enumerate(models):
                        (row,) = matching(part, model=model, reports=kind)
                        if row["value"] is not None:
                            colour = "#0072B2" if row["value"] < 0 else "#D55E00" if row["value"] > 0 else "#999999"
                            axis.barh(place, row["value"], 0.7, color=colour, xerr=whisker(row), ecolor="black")
                    axis.axvline(0, color="black", lw=0.6)
                    axis.set_yticks(range(len(models)), models if axis is axes[0] else [""] * len(models))
                    axis.set_ylim(len(models) - 0.5, -0.5)
                    axis.set_title(f"{kind} ({matching(part, reports=kind)[0]['n']})")
                figure.suptitle(f"{task} {target}: TV beyond that of no change")
            yield slug(suite, split, task, target), figure


def _lines(rows: Sequence[Row], panel: tuple[str, ...], x: str, y: str, title: str, *, log: bool = False) -> Figure:
    models, keys = distinct(rows, "model"), distinct(rows, *panel)
    ticks = sorted({row[x] for row in rows})
    with panels(len(keys), 3.4) as (figure, axes):
        for axis, key in zip(axes, keys, strict=True):
            wanted = dict(zip(panel, key if isinstance(key, tuple) else (key,), strict=True))
            for model in models:
                part = sorted((row for row in matching(rows, model=model, **wanted) if row[y] is not None),
                              key=lambda row: row[x])  # fmt: skip
                at = [row[x] if log else ticks.index(row[x]) for row in part]
                axis.plot(at, [row[y] for row in part], label=model, ms=4, lw=1.2, **style(models, model))
                for place, row in zip(at, part, strict=True):
                    bounds = whisker(row, y)
                    if bounds is not None:
                        axis.errorbar(place, row[y], yerr=bounds, color=style(models, model)["color"], lw=0.8)
            if log:
                axis.set_xscale("log", base=2)
            axis.set_xticks(ticks if log else range(len(ticks)), ticks, rotation=0 if log else 45)
            axis.set_xlabel(x)
            axis.set_title(", ".join(str(part) for part in wanted.values()))
        axes[-1].legend(fontsize=7, frameon=False)
        figure.suptitle(title)
    return figure


def _time(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for suite in distinct(rows, "suite"):
        yield (
            slug(suite),
            _lines(matching(rows, suite=suite), ("kind", "metric"), "year", "value", "score by release year"),
        )


def _draws(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        yield slug(suite, split), _lines(part, ("kind", "metric"), "k", "value", "K draws aggregated", log=True)


def _calibration(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for suite, split, task, target in distinct(rows, "suite", "split", "task", "target"):
        part = matching(rows, suite=suite, split=split, task=task, target=target)
        models = distinct(part, "model")
        with panels(1, 4.0) as (figure, (axis,)):
            axis.plot([0, 1], [0, 1], color="#999999", lw=0.8)
            for model in models:
                mine = matching(part, model=model)
                axis.plot([row["mean_predicted"] for row in mine], [row["mean_true"] for row in mine], label=model,
                          ms=4, lw=1.0, **style(models, model))  # fmt: skip
            axis.set_xlabel("predicted probability")
            axis.set_ylabel("true probability")
            axis.set_title(f"{task} {target}")
            axis.legend(fontsize=7, frameon=False)
        yield slug(suite, split, task, target), figure


def _cost(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        x = next(
            (name for name in ("cost_per_1000_answers", "tokens_out_per_answer") if any(r[name] for r in part)), ""
        )
        if not x:
            continue
        models, columns = distinct(part, "model"), distinct(part, "column")
        with panels(len(columns), 3.2) as (figure, axes):
            for axis, column in zip(axes, columns, strict=True):
                for row in matching(part, column=column):
                    if row["value"] is not None and row[x]:
                        axis.errorbar(row[x], row["value"], yerr=whisker(row), ls="", label=row["model"],
                                      **style(models, row["model"]))  # fmt: skip
                axis.set_xscale("log")
                axis.set_xlabel(x.replace("_", " "))
                axis.set_title(column)
            axes[-1].legend(fontsize=7, frameon=False)
        yield slug(suite, split), figure


def _leaderboard(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        columns = [name for name in distinct(part, "column") if name in ("rank", "win_rate")] or [part[0]["column"]]
        models = distinct(part, "model")
        with panels(len(columns), 0.3 * len(models) + 1.2) as (figure, axes):
            for axis, column in zip(axes, columns, strict=True):
                for place, model in enumerate(models):
                    (row,) = matching(part, column=column, model=model)
                    if row["value"] is not None:
                        axis.errorbar(row["value"], place, xerr=whisker(row), **style(models, model))
                axis.set_yticks(range(len(models)), models)
                axis.set_ylim(len(models) - 0.5, -0.5)
                axis.set_title(f"{suite}, {split}: {column}")
                axis.set_xlabel(IN_WORDS[part[0]["better"]] if len(columns) == 1 else "")
        yield slug(suite, split), figure


FIGURES: dict[str, Callable[[Sequence[Row]], Iterator[tuple[str, Figure]]]] = {
    "leaderboard": _leaderboard,
    "gains": _gains,
    "bias": _bias,
    "majority": _majority,
    "persistence": _persistence,
    "cutoff": _cutoff,
    "time": _time,
    "draws": _draws,
    "calibration": _calibration,
    "confusion": confusion,
    "subgroups": subgroups,
    "sections": sections,
    "cost": _cost,
}
"""What draws an analysis's rows: suffixes of file names, and figures."""
