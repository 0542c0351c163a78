"""Figures of classes, of people's subgroups, and of the prompt's sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hbench.core.direction import IN_WORDS
from hbench.report.analyses import Row
from hbench.report.canvas import distinct, matching, panels, slug, style, whisker

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG = 14
"""Labels longer than this many characters are cut in figures; the tables have them in full."""
DARK = 0.55
"""Share from which a cell is so dark that its text is white."""


def confusion(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    """Draw a matrix for each model: truth downwards, answers across, shares of the true class."""
    import numpy as np

    for suite, split, task, target in distinct(rows, "suite", "split", "task", "target"):
        part = matching(rows, suite=suite, split=split, task=task, target=target)
        models, truth, answers = distinct(part, "model"), distinct(part, "true"), distinct(part, "predicted")
        width, height = 0.45 * len(answers) + 1.1, 0.45 * len(truth) + 1.8
        with panels(len(models), max(2.6, height), max(2.4, width)) as (figure, axes):
            for axis, model in zip(axes, models, strict=True):
                grid = np.full((len(truth), len(answers)), np.nan)
                for row in matching(part, model=model):
                    if row["share"] is not None:
                        grid[truth.index(row["true"]), answers.index(row["predicted"])] = row["share"]
                axis.imshow(grid, cmap="Blues", vmin=0, vmax=1)
                for (y, x), share in np.ndenumerate(grid):
                    if share > 0:
                        colour = "white" if share > DARK else "black"
                        axis.text(x, y, f"{100 * share:.0f}", ha="center", va="center", fontsize=7, color=colour)
                axis.set_xticks(range(len(answers)), map(_short, answers), rotation=45, ha="right")
                axis.set_yticks(range(len(truth)), map(_short, truth) if axis is axes[0] else [""] * len(truth))
                axis.set_xlabel("answered")
                axis.set_title(model)
            axes[0].set_ylabel("true")
            figure.suptitle(f"{task} {target}: % of each true class")
        yield slug(suite, split, task, target), figure


def subgroups(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    """Draw a task's headline score with its interval for each group of people, a panel for each field."""
    for suite, split, task, metric in distinct(rows, "suite", "split", "task", "metric"):
        part = matching(rows, suite=suite, split=split, task=task, metric=metric)
        models, fields = distinct(part, "model"), distinct(part, "field")
        most = max(len(distinct(matching(part, field=field), "group")) for field in fields)
        with panels(len(fields), 0.9 + most * max(0.4, 0.16 * len(models)) + 0.16 * len(models)) as (figure, axes):
            for axis, field in zip(axes, fields, strict=True):
                mine = matching(part, field=field)
                groups = distinct(mine, "group")
                for place, model in enumerate(models):
                    shift = 0.7 * ((place + 0.5) / len(models) - 0.5)
                    for row in matching(mine, model=model):
                        if row["value"] is not None:
                            axis.errorbar(
                                row["value"], groups.index(row["group"]) + shift, xerr=whisker(row), ms=4, lw=0.9,
                                ls="", **style(models, model),
                            )  # fmt: skip
                # All models have the same rows.
                sizes = {row["group"]: row["n"] for row in mine}
                axis.set_yticks(range(len(groups)), [f"{_short(group, 30)} ({sizes[group]})" for group in groups])
                axis.set_ylim(len(groups) - 0.5, -0.5)
                for edge in range(1, len(groups)):
                    axis.axhline(edge - 0.5, color="#DDDDDD", lw=0.6)
                axis.set_xlabel(f"{metric} ({IN_WORDS[mine[0]['better']]})")
                axis.set_title(f"{field} ({mine[0]['column']})" if field != mine[0]["column"] else field)
            _legend(figure, models)
            figure.suptitle(f"{task}, {split}: by group (rows)")
        yield slug(suite, split, task), figure


def sections(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    """Draw what each section is worth to each model: above zero, the model is better with it."""
    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        keys, models, left_out = distinct(part, "kind", "metric"), distinct(part, "model"), distinct(part, "without")
        with panels(len(keys), 1.6 + len(left_out) * max(0.4, 0.2 * len(models)) + 0.16 * len(models)) as (
            figure,
            axes,
        ):
            for axis, (kind, metric) in zip(axes, keys, strict=True):
                for place, model in enumerate(models):
                    shift = 0.7 * ((place + 0.5) / len(models) - 0.5)
                    for row in matching(part, kind=kind, metric=metric, model=model):
                        if row["worth"] is not None:
                            axis.errorbar(
                                row["worth"], left_out.index(row["without"]) + shift, xerr=whisker(row, "worth"), ms=5,
                                lw=1.0, ls="", **style(models, model),
                            )  # fmt: skip
                axis.axvline(0, color="black", lw=0.6)
                axis.set_yticks(range(len(left_out)), left_out if axis is axes[0] else [""] * len(left_out))
                axis.set_ylim(len(left_out) - 0.5, -0.5)
                axis.set_xlabel(f"{metric} gained by the section")
                axis.set_title(kind)
            _legend(figure, models)
            figure.suptitle("what each section of the prompt is worth")
        yield slug(suite, split), figure


def _legend(figure: Figure, models: Sequence[str]) -> None:
    """Name the models once for all panels, below them, where no point can hide."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], ls="", ms=5, label=model, **style(models, model)) for model in models]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(models), 4), fontsize=8, frameon=False)


def _short(label: str, most: int = LONG) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"
