"""A model's page: what it is, what it took, and where it stands on every task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hbench.core import JsonValue
from hbench.report.analyses import ANALYSES, Row, as_table
from hbench.report.site.content import Content
from hbench.report.site.scores import ScoreBlock, ScoreRow
from hbench.report.table import Column, Table, figure
from hbench.run.entrant import Entrant
from hbench.run.fits import read_reports
from hbench.run.stored import StoredRun

LISTED = ("bias", "majority", "invalid")
_PREDICTORS = 3


@dataclass(frozen=True)
class Appearance:
    """A model in one run."""

    run: str
    settings: dict[str, JsonValue]
    spent: Mapping[str, JsonValue]
    unsupported: Mapping[str, str]
    left_out: list[str]


@dataclass(frozen=True)
class Score:
    """The model's line in one block of scores."""

    block: ScoreBlock
    row: ScoreRow
    of: int


@dataclass(frozen=True)
class ModelPage:
    """What a model's page shows."""

    label: str
    file: str
    identity: dict[str, JsonValue]
    sampling: dict[str, JsonValue]
    reads: str
    family: str | None
    digest: str
    appearances: list[Appearance]
    standing: list[Row]
    ranks: list[Row]
    scores: list[Score]
    valid: tuple[int, int]
    repaired: int
    cost: Row | None
    tables: list[Table]
    fits: Table


def model_page(content: Content, label: str, file: str, scored: Sequence[ScoreBlock]) -> ModelPage:
    """Gather a model's page; ``file`` is its page's file name without ending, `scored` what `task_scores` gives."""
    runs = list(_entrants(content, label))
    entrant = runs[0][1]
    scores = [
        Score(block, row, sum(one.place is not None for one in block.rows))
        for block in scored
        for row in block.rows
        if row["model"] == label
    ]
    ranks = content.of_model("leaderboard", label)
    main = {(found.suite, found.split, column.name) for found in content.standings
            for column in found.leaderboard.columns if column.main}  # fmt: skip
    heads = [score.row for score in scores if score.block.headline]
    tables = [as_table(ANALYSES[n].title, content.of_model(n, label), (*ANALYSES[n].hidden, "model", "mode"))
              for n in LISTED]  # fmt: skip
    return ModelPage(
        label=label,
        file=file,
        identity=dict(entrant.identity),
        sampling={k: v for k, v in asdict(entrant.sampling).items() if v not in (None, (), {})},
        reads="prompts" if entrant.reads == "messages" else "records (predictors, not prompts)",
        family=entrant.family,
        digest=entrant.digest,
        appearances=[_appearance(run, one) for run, one in runs],
        standing=[row for row in ranks if (row["suite"], row["split"], row["column"]) in main],
        ranks=[row for row in ranks if (row["suite"], row["split"], row["column"]) not in main],
        scores=scores,
        valid=(sum(row["valid"] for row in heads), sum(row["n"] for row in heads)),
        repaired=sum(row["repaired"] for row in heads),
        cost=next(iter(content.of_model("cost", label)), None),
        tables=[table for table in tables if table.rows],
        fits=_fits(runs),
    )


def _entrants(content: Content, label: str) -> Iterator[tuple[StoredRun, Entrant]]:
    for number, own in content.comparison.origins[label]:
        run = content.comparison.runs[number]
        yield from ((run, entrant) for entrant in run.entrants if entrant.label == own)


def _appearance(run: StoredRun, entrant: Entrant) -> Appearance:
    manifest = run.manifest
    told: Mapping[str, JsonValue] = next((about for about in manifest["models"] if about["label"] == entrant.label), {})
    return Appearance(
        run=run.path.resolve().name,
        settings=shown_settings(manifest),
        spent=told.get("spent") or {},
        unsupported=entrant.unsupported,
        left_out=[about["error"] for about in run.results.gave_up if about["model"] == entrant.label],
    )


def shown_settings(manifest: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a run's settings that are set."""
    return {key: value for key, value in manifest["settings"].items() if value not in (None, [], "")}


def _fits(found: list[tuple[StoredRun, Entrant]]) -> Table:
    """Return how a learner's fits went, a line for each target."""
    heads = ("rows", "validation rows", "rounds")
    table = Table("How the fits went", [Column("task", "left"), Column("target", "left"),
                                        *(Column(head) for head in heads), Column("criterion", "left"),
                                        Column("at the end"), Column("most used predictors", "left")])  # fmt: skip
    seen: set[tuple[str, str]] = set()
    for run, entrant in found:
        for task, targets in read_reports(run.path, entrant).items():
            for target, report in targets.items():
                if (task, target) not in seen:
                    seen.add((task, target))
                    table.add(_fit(task, target, report))
    return table


def _fit(task: str, target: str, report: Mapping[str, Any]) -> list[str]:
    curve, best = report.get("curve") or (), report.get("best_round") or 0
    used = list((report.get("importance") or {}).items())[:_PREDICTORS]
    return [
        task,
        target,
        f"{report['rows']:,}",
        f"{report['validation_rows']:,}",
        f"{best:,} of {len(curve):,}" if curve else "-",
        str(report.get("criterion") or report.get("fallback") or "-"),
        figure(curve[best - 1]) if curve and best else "-",
        ", ".join(f"{name} {share:.0%}" for name, share in used) or "-",
    ]
