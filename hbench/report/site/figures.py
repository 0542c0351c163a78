"""An analysis's rows as figures that the site draws: one of five forms, its axes, and plain numbers.

The forms: ``dots`` (values with whiskers, lines of models or groups), ``lines`` (over a number or an order), ``heat``
(a grid of numbers), ``scatter`` (two numbers of each model), ``band`` (a curve with its interval beside a level).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hbench.core.direction import IN_WORDS
from hbench.report.analyses import ANALYSES, Row, as_table
from hbench.report.canvas import distinct, matching
from hbench.report.table import Table

OVERALL = ("rank", "win_rate")
"""Leaderboard columns that a figure of standings shows, where a rule has them."""


@dataclass(frozen=True)
class Figure:
    """What one figure shows.

    Attributes
    ----------
    title : str
        Its caption.
    form : str
        ``dots``, ``lines``, ``heat``, ``scatter`` or ``band``.
    options : mapping
        Axes and marks, as the form knows them.
    rows : list of list
        Numbers and names, in the order of the form's columns (see `assets/figures.js`).
    table : Table
        The same for people who read numbers, and without JavaScript.
    """

    title: str
    form: str
    options: Mapping[str, Any]
    rows: list[list[Any]]
    table: Table = field(repr=False)

    def spec(self, models: Sequence[str]) -> dict[str, Any]:
        """Return what the page's script draws; a model keeps its colour in all figures."""
        return {"title": self.title, "form": self.form, "models": list(models), **self.options, "rows": self.rows}


def figures(name: str, rows: Sequence[Row]) -> list[Figure]:
    """Return the figures of an analysis; none where it has no rows or is a table only."""
    return list(_MAKERS[name](rows)) if rows and name in _MAKERS else []


def table_of(name: str, rows: Sequence[Row]) -> Table:
    """Return an analysis's rows as a table."""
    return as_table(ANALYSES[name].title, rows, ANALYSES[name].hidden)


def _leaderboard(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        names = distinct(part, "column")
        shown = [name for name in names if name in OVERALL or name.startswith("rank:")] or names[:1]
        chosen = [row for row in part if row["column"] in shown]
        dots = [_dot(row["column"].replace(":", ": "), row["model"], "", row["model"], row) for row in chosen]
        better = chosen[0]["better"]
        title = f"{suite}, {split}: standing of the models ({IN_WORDS[better]})"
        yield Figure(title, "dots", {"x": {"label": ""}}, dots, table_of("leaderboard", part))


def _gains(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split in distinct(rows, "suite", "split"):
        part = [row for row in matching(rows, suite=suite, split=split) if row["model"] != "no_change"]
        if part:
            dots = [_dot(_panel(row), row["model"], row["mode"], row["model"], row, "gain") for row in part]
            options = {"x": {"label": "gain over no change", "zero": True}, "hollow": "policy"}
            told = "; hollow: policy tasks" if len({row["mode"] for row in part}) > 1 else ""
            yield Figure(f"{suite}, {split}: gain over no change (above zero: better{told})", "dots", options, dots,
                         table_of("gains", part))  # fmt: skip


def _cutoff(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, panel in distinct(rows, "suite", "panel"):
        part = matching(rows, suite=suite, panel=panel)
        dots = [_dot(_panel(row), row["model"], side, row["model"], row, side)
                for row in part for side in ("before", "after")]  # fmt: skip
        title = f"{suite}: before and after the cutoff ({panel}; hollow: after)"
        yield Figure(title, "dots", {"x": {"label": "score"}, "hollow": "after"}, dots, table_of("cutoff", part))


def _heat(name: str, value: str, title: str) -> Callable[[Sequence[Row]], Iterator[Figure]]:
    def make(rows: Sequence[Row]) -> Iterator[Figure]:
        for suite, split in distinct(rows, "suite", "split"):
            part = matching(rows, suite=suite, split=split)
            cells = [["", row["model"], f"{row['task']} {row['target']}", row[value]] for row in part]
            options = {"scale": "diverging", "x": {"label": ""}, "y": {"label": ""}}
            yield Figure(f"{suite}, {split}: {title}", "heat", options, cells, table_of(name, part))

    return make


def _persistence(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split, task, target in distinct(rows, "suite", "split", "task", "target"):
        part = matching(rows, suite=suite, split=split, task=task, target=target)
        dots = [_dot(f"{row['reports']} ({row['n']:,})", row["model"], "", row["model"], row) for row in part]
        options = {"x": {"label": "total variation beyond no change", "zero": True}}
        yield Figure(f"{task} {target}, {split}: distance beyond that of no change (below zero: nearer)", "dots",
                     options, dots, table_of("persistence", part))  # fmt: skip


def _time(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite in distinct(rows, "suite"):
        part = matching(rows, suite=suite)
        points = [[_panel(row), row["model"], str(row["year"]), *_numbers(row)] for row in part]
        options = {"x": {"label": "year of release", "order": True}, "y": {"label": "score"}}
        yield Figure(f"{suite}: score by year of release", "lines", options, points, table_of("time", part))


def _draws(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        points = [[_panel(row), row["model"], row["k"], *_numbers(row)] for row in part]
        options = {"x": {"label": "draws aggregated", "log": 2}, "y": {"label": "score"}}
        yield Figure(f"{suite}, {split}: what aggregating K draws brings", "lines", options, points,
                     table_of("draws", part))  # fmt: skip


def _calibration(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split, task, target in distinct(rows, "suite", "split", "task", "target"):
        part = matching(rows, suite=suite, split=split, task=task, target=target)
        points = []
        for row in part:
            said, gap = row["mean_predicted"], (row["gap_lo"], row["gap_hi"])
            ends = [None if end is None or said is None else said + end for end in gap]
            points.append(["", row["model"], said, row["mean_true"], *ends])
        options = {"x": {"label": "predicted probability"}, "y": {"label": "true probability"}, "diagonal": True}
        yield Figure(f"{task} {target}, {split}: predicted against true probability", "lines", options, points,
                     table_of("calibration", part))  # fmt: skip


def _confusion(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split, task, target in distinct(rows, "suite", "split", "task", "target"):
        part = matching(rows, suite=suite, split=split, task=task, target=target)
        cells = [[row["model"], row["predicted"], row["true"], row["share"], row["n"]] for row in part]
        options = {"scale": "share", "x": {"label": "answered"}, "y": {"label": "true"}}
        yield Figure(f"{task} {target}, {split}: answers by true class, share of each true class", "heat", options,
                     cells, table_of("confusion", part))  # fmt: skip


def _subgroups(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split, task, metric in distinct(rows, "suite", "split", "task", "metric"):
        part = matching(rows, suite=suite, split=split, task=task, metric=metric)
        dots = [_dot(row["field"], f"{row['group']} ({row['n']:,})", "", row["model"], row) for row in part]
        options = {"x": {"label": f"{metric} ({IN_WORDS[part[0]['better']]})"}, "legend": True}
        yield Figure(f"{task}, {split}: score by group of people (rows)", "dots", options, dots,
                     table_of("subgroups", part))  # fmt: skip


def _sections(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        dots = [_dot(_panel(row), row["without"], "", row["model"], row, "worth") for row in part]
        options = {"x": {"label": "gained by the section", "zero": True}, "legend": True}
        yield Figure(f"{suite}, {split}: what each section of the prompt is worth (above zero: better with it)", "dots",
                     options, dots, table_of("sections", part))  # fmt: skip


def _cost(rows: Sequence[Row]) -> Iterator[Figure]:
    for suite, split in distinct(rows, "suite", "split"):
        part = matching(rows, suite=suite, split=split)
        for x, label in (("cost_per_1000_answers", "US dollars per 1,000 answers"),
                         ("tokens_out_per_answer", "tokens per answer")):  # fmt: skip
            points = [[row["column"], row["model"], row[x], *_numbers(row)] for row in part if row[x]]
            if points:
                options = {"x": {"label": label, "log": 10}, "y": {"label": "score"}}
                yield Figure(f"{suite}, {split}: standing against {label}", "scatter", options, points,
                             table_of("cost", part))  # fmt: skip


def _panel(row: Row) -> str:
    return f"{row['kind']}: {row['metric']} ({IN_WORDS[row['better']]})" if "better" in row else (
        f"{row['kind']}: {row['metric']}")  # fmt: skip


def _numbers(row: Row, prefix: str = "value") -> list[float | None]:
    head = "" if prefix == "value" else f"{prefix}_"
    return [row[prefix], row[f"{head}lo"], row[f"{head}hi"]]


def _dot(facet: str, line: str, side: str, model: str, row: Row, prefix: str = "value") -> list[Any]:
    return [facet, line, side, model, *_numbers(row, prefix)]


_MAKERS: dict[str, Callable[[Sequence[Row]], Iterator[Figure]]] = {
    "leaderboard": _leaderboard,
    "gains": _gains,
    "bias": _heat("bias", "value", "relative mean error (above zero: overestimation)"),
    "majority": _heat("majority", "excess", "answers of the majority class beyond its true share"),
    "persistence": _persistence,
    "cutoff": _cutoff,
    "time": _time,
    "draws": _draws,
    "calibration": _calibration,
    "confusion": _confusion,
    "subgroups": _subgroups,
    "sections": _sections,
    "cost": _cost,
}
