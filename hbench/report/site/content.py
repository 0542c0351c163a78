"""What goes into the site: standings, analyses and equivalent sample sizes, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hbench.core.errors import HbenchError
from hbench.report.analyses import ANALYSES, Row, analyse
from hbench.report.analyses.cost import costs
from hbench.report.comparison import Comparison, Part, View
from hbench.report.notes import SYNTHETIC, notes
from hbench.report.site.worths import StoredWorth
from hbench.report.standings import Standings, standings
from hbench.spec import TaskIndex, discover

_QUOTES = ("record", "draw", "example")
"""Columns of invalid answers that tell of single records."""
Say = Callable[[str], None]
"""Takes a line about what is being done."""


@dataclass(frozen=True)
class Content:
    """All that pages are made of.

    Attributes
    ----------
    analyses : dict of list of rows
        By the analysis's name; every name of `ANALYSES`.
    worths : list of StoredWorth
        What `hbench ess` found, where files were given.
    left_out : dict of str
        Why an analysis could not be made of these runs, by its name.
    records : bool
        Whether single records, prompts and answers are shown.
    """

    comparison: Comparison
    view: View
    standings: list[Standings]
    analyses: dict[str, list[Row]]
    index: TaskIndex
    worths: list[StoredWorth] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    records: bool = True

    @property
    def models(self) -> tuple[str, ...]:
        """All models, in an order that colours follow."""
        return self.comparison.models

    def tasks(self) -> dict[str, list[Part]]:
        """Return the parts of each task, by its qualified name."""
        out: dict[str, list[Part]] = {}
        for part in self.comparison.parts:
            out.setdefault(part.task.name, []).append(part)
        return out

    def of_task(self, name: str, suite: str, task: str) -> list[Row]:
        """Return an analysis's rows of one task."""
        return [row for row in self.analyses[name] if row["suite"] == suite and row["task"] == task]

    def of_model(self, name: str, model: str) -> list[Row]:
        """Return an analysis's rows of one model."""
        return [row for row in self.analyses[name] if row["model"] == model]

    def suites(self) -> list[str]:
        """Return the suites, in order."""
        return list(dict.fromkeys(part.task.suite for part in self.comparison.parts))

    def banner(self, parts: Sequence[Part]) -> str:
        """Return what must be said of pages that show some parts; empty where all of their data are real."""
        kinds = {part.data_kind for part in parts}
        if "demo" not in kinds:
            return ""
        suites = dict.fromkeys(part.task.suite for part in parts if part.data_kind == "demo")
        return SYNTHETIC if len(kinds) == 1 else f"{SYNTHETIC} (those of data kind demo, here {', '.join(suites)})"

    def notices(self, parts: Sequence[Part]) -> list[str]:
        """Return the texts that providers of some parts' data require to be shown."""
        told: list[str] = []
        for suite in dict.fromkeys(part.task.suite for part in parts):
            page = self.index.suite(suite)
            mine = page.notices_of(part.task for part in parts if part.task.suite == suite)
            # What a run tells besides the suite's own notices, as terms of released data, is of all of its data.
            others = {notice.text for notice in page.notices} - set(mine)
            told += [text for result in self.comparison.results for text in result.notices.get(suite, ())
                     if text not in others]  # fmt: skip
        return list(dict.fromkeys(told))

    def notes(self) -> list[str]:
        """Return what must be said beside the tables, but for the notices, which have their own place."""
        results = self.comparison.results
        if not self.records:
            # Notes of invalid answers quote them; the table of their reasons remains.
            results = [replace(result, invalid=[]) for result in results]
        said = [*notes(results), *self.comparison.notes]
        said += [note for found in self.standings for note in found.notes]
        notices = set(self.notices(self.comparison.parts))
        return [note for note in dict.fromkeys(said) if note not in notices]


def gather(comparison: Comparison, view: View, *, rule: str | None = None, worths: Sequence[StoredWorth] = (),
    records: bool = True,
           say: Say = lambda line: None) -> Content:  # fmt: skip
    """Compute everything that the pages show.

    Parameters
    ----------
    comparison, view
        The runs, and how they are looked at.
    rule : str, optional
        A leaderboard rule in place of the suites' own.
    worths : sequence of StoredWorth
        What models are worth.
    records : bool
        Whether single records, prompts and answers are shown.
    say : callable
        Takes a line about each step.
    """
    say("standings")
    boards = standings(comparison, view, rule=rule)
    known: dict[str, list[Row]] = {
        "leaderboard": [row for found in boards for row in found.rank_rows()],
        "pairs": [row for found in boards for row in found.pair_rows()],
        "cost": costs(comparison, boards),
    }
    left_out = {}
    for name in ANALYSES:
        if name not in known:
            say(name)
            try:
                known[name] = analyse(name, comparison, view)
            except HbenchError as error:
                # One analysis that these runs do not admit is told of, and takes none of the others down.
                known[name], left_out[name] = [], str(error)
    if not records:
        known["invalid"] = [
            {name: value for name, value in row.items() if name not in _QUOTES} for row in known["invalid"]
        ]
    folders = [path for run in comparison.runs for path in run.manifest["include_paths"]]
    return Content(comparison, view, boards, known, _index(folders), list(worths), left_out, records)


def _index(folders: Sequence[Any]) -> TaskIndex:
    from pathlib import Path

    return discover([Path(folder) for folder in folders])
