"""Every page of the site: its template, what the template is given, and where it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from hbench.core.version import __version__
from hbench.model import file_name
from hbench.report.analyses import ANALYSES
from hbench.report.comparison import Part
from hbench.report.site.boards import board_view
from hbench.report.site.content import Content
from hbench.report.site.figures import figures, table_of
from hbench.report.site.models import model_page, shown_settings
from hbench.report.site.policy import POLICY
from hbench.report.site.render import render
from hbench.report.site.scores import task_scores
from hbench.report.site.tasks import task_page
from hbench.report.site.worths import curves, result_table, summary_table

Catalogue = Sequence[Mapping[str, Any]]
PLACES = {
    "leaderboard": "analyses",
    "gains": "analyses",
    "bias": "analyses",
    "majority": "analyses",
    "cutoff": "analyses",
    "time": "analyses",
    "draws": "analyses",
    "sections": "analyses",
    "cost": "analyses",
    "invalid": "analyses",
    "pairs": "compare",
    "persistence": "tasks",
    "calibration": "tasks",
    "confusion": "tasks",
    "subgroups": "tasks",
}
"""The page that has each analysis."""


@dataclass(frozen=True)
class Site:
    """What all pages share."""

    content: Content
    folder: Path
    title: str
    tasks: Mapping[str, str]
    """Files of the tasks' pages, without ending, by qualified name."""
    models: Mapping[str, str]

    def write(self, path: str, template: str, *, parts: Sequence[Part], plots: bool = False, **context: Any) -> None:
        """Write a page that shows some parts."""
        given = {
            "site": self,
            "content": self.content,
            "path": path,
            "root": "../" * path.count("/"),
            "nav": self.navigation(),
            "plots": plots,
            "version": __version__,
            "policy": POLICY,
            "banner": self.content.banner(parts),
            "notices": self.content.notices(parts),
            **context,
        }
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(template, **given), encoding="utf-8", newline="\n")

    def navigation(self) -> list[tuple[str, str]]:
        """Return names and addresses of the main pages."""
        pages = [
            ("Leaderboards", "index.html"),
            ("Scores", "scores.html"),
            ("Tasks", "tasks.html"),
            ("Models", "models.html"),
            ("Analyses", "analyses.html"),
            ("Compare", "compare.html"),
            *([("Worth", "worth.html")] if self.content.worths else []),
            *([("Records", "records.html")] if self.content.records else []),
            ("About", "about.html"),
        ]
        return pages

    def task_file(self, suite: str, task: str) -> str:
        """Return the address of a task's page, from the root."""
        return f"tasks/{self.tasks[f'{suite}/{task}']}.html"

    def model_file(self, label: str) -> str:
        """Return the address of a model's page, from the root."""
        return f"models/{self.models[label]}.html"


def write_pages(content: Content, folder: Path, title: str, catalogue: Catalogue) -> None:
    """Write all pages."""
    site = Site(
        content,
        folder,
        title,
        {name: file_name(name.replace("/", "-")) for name in content.tasks()},
        {label: file_name(label) for label in content.models},
    )
    parts = content.comparison.parts
    every = partial(site.write, parts=parts)
    scored = task_scores(content.standings)
    every("index.html", "index.html", boards=[board_view(found) for found in content.standings], current="Leaderboards")
    every("scores.html", "scores.html", blocks=scored, current="Scores")
    every("tasks.html", "tasks.html", current="Tasks")
    answered = {label: sum(label in part.answers for part in parts) for label in content.models}
    every("models.html", "models.html", current="Models", spent=_spent(content), answered=answered)
    every("analyses.html", "analyses.html", plots=True, sections=_sections(content), places=PLACES, current="Analyses")
    every("compare.html", "compare.html", plots=True, boards=_comparisons(content), current="Compare")
    if content.records:
        every("records.html", "records.html", catalogue=catalogue, current="Records")
    every("about.html", "about.html", runs=_runs(content), notes=content.notes(), current="About")
    if content.worths:
        _write_worths(site)
    for name, file in site.tasks.items():
        page = task_page(content, name, file)
        site.write(f"tasks/{file}.html", "task.html", parts=content.tasks()[name], plots=True, page=page,
                   current="Tasks")  # fmt: skip
    for label, file in site.models.items():
        mine = [part for part in parts if label in part.answers]
        site.write(f"models/{file}.html", "model.html", parts=mine, page=model_page(content, label, file, scored),
                   current="Models")  # fmt: skip


def _sections(content: Content) -> list[dict[str, Any]]:
    """Return the analyses of whole runs with their figures; one without rows says why it has none."""
    out = []
    for name, place in PLACES.items():
        if place == "analyses":
            rows = content.analyses[name]
            drawn = figures(name, rows)
            out.append(
                {
                    "name": name,
                    "title": ANALYSES[name].title,
                    "figures": drawn,
                    # An analysis without a figure of its own is a table.
                    "table": table_of(name, rows) if rows and not drawn else None,
                    "reason": content.left_out.get(name, "" if rows else "these runs hold nothing for it"),
                }
            )
    return out


def _comparisons(content: Content) -> list[dict[str, Any]]:
    """Return each board's pairs and ranks, packed: numbers of a pair are found by the places of its two models."""
    out = []
    for found in content.standings:
        models = list(found.leaderboard.models)
        pairs = [row for row in content.analyses["pairs"] if (row["suite"], row["split"]) == (found.suite, found.split)]
        tasks = list(dict.fromkeys((row["task"], row["metric"]) for row in pairs))
        known = {(row["task"], row["first"], row["second"]): row for row in pairs}
        numbers = [[_pair(known[task, a, b]) for a, b in combinations(models, 2)] for task, _ in tasks]
        ranks = [row for row in content.analyses["leaderboard"]
                 if (row["suite"], row["split"]) == (found.suite, found.split)]  # fmt: skip
        columns = list(dict.fromkeys(row["column"] for row in ranks))
        out.append(
            {
                "suite": found.suite,
                "split": found.split,
                "models": models,
                "order": [models[i] for i in found.leaderboard.order()],
                "overall": [row for row in pairs if not row["task"]] or pairs,
                "data": {
                    "suite": found.suite,
                    "split": found.split,
                    "models": models,
                    "order": found.leaderboard.order(),
                    "colours": list(content.models),
                    "tasks": [{"name": _short(task, found.split), "metric": metric} for task, metric in tasks],
                    "pairs": numbers,
                    "columns": columns,
                    "main": [found.leaderboard.column(column).main for column in columns],
                    "standing": [[_three(row) for row in ranks if row["column"] == column] for column in columns],
                    "standing_models": [row["model"] for row in ranks if row["column"] == columns[0]],
                    "by": found.leaderboard.by,
                },
            }
        )
    return out


def _short(task: str, split: str) -> str:
    """Return a part's name without suite and split; the overall rank has none."""
    return task.partition("/")[2].removesuffix(f" {split}") or "overall"


def _pair(row: Mapping[str, Any]) -> list[float | None]:
    """Return difference, its interval, P(first better), adjusted p, rows needed; five digits are enough to draw."""
    names = ("difference", "lo", "hi", "better", "p_holm", "rows_needed")
    return [None if row[name] is None else float(f"{row[name]:.5g}") for name in names]


def _three(row: Mapping[str, Any]) -> list[float | None]:
    return [None if row[name] is None else float(f"{row[name]:.5g}") for name in ("value", "lo", "hi")]


def _spent(content: Content) -> dict[str, Mapping[str, Any]]:
    """Return what each model's answers took, over all suites."""
    out: dict[str, dict[str, Any]] = {}
    seen: set[tuple[str, str, str]] = set()
    for row in content.analyses["cost"]:
        key = (row["suite"], row["split"], row["model"])
        if key in seen:
            continue
        seen.add(key)
        total = out.setdefault(row["model"], {"answers": 0, "tokens_in": None, "tokens_out": None, "cost": None})
        for name in total:
            if row[name] is not None:
                total[name] = (total[name] or 0) + row[name]
    return dict(out)


def _runs(content: Content) -> list[dict[str, Any]]:
    """Return what is told of each run; neither its command nor its paths, which may say more than one means to."""
    out = []
    for run in content.comparison.runs:
        manifest = run.manifest
        out.append(
            {
                "name": run.path.resolve().name,
                "started": manifest["started"],
                "finished": manifest["finished"],
                "status": manifest["status"],
                "plan": manifest["plan"],
                "settings": shown_settings(manifest),
                "versions": manifest["versions"],
                "plugins": manifest["plugins"],
                "data": manifest["data"],
                "left_out": manifest.get("left_out", []),
                "models": [about["label"] for about in manifest["models"]],
            }
        )
    return out


def _write_worths(site: Site) -> None:
    worths = [
        {"worth": worth, "summary": summary_table(worth), "results": result_table(worth), "figures": curves(worth)}
        for worth in site.content.worths
    ]
    # Files of equivalent sample sizes may be about other runs than these: their own kind of data counts too.
    demo = [part for part in site.content.comparison.parts if part.data_kind == "demo"]
    synthetic = any(worth.demo for worth in site.content.worths)
    banner = {} if demo or not synthetic else {"banner": _synthetic()}
    site.write("worth.html", "worth.html", parts=site.content.comparison.parts, plots=True, worths=worths,
               current="Worth", **banner)  # fmt: skip


def _synthetic() -> str:
    from hbench.report.notes import SYNTHETIC

    return SYNTHETIC
