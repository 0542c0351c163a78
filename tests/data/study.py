"""A little suite: a source of its own raw file, a renderer, a registry."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from hbench.core import BuildReport, Message, RawFile, Record
from hbench.data import StepContext
from hbench.plugin import ComponentInfo, Registry, Scope
from hbench.plugin.builtin import hbench_register
from hbench.spec.task import Task
from tests.data.conftest import make_task

RAW = "study/panel.csv"


class Panel:
    """400 rows of 40 people in ten quarters, the last after the cut-off."""

    sha256: str | None = None

    @property
    def files(self) -> tuple[RawFile, ...]:
        return (
            RawFile(RAW, "https://example.org", "free", sha256=self.sha256),
            RawFile("study/x.txt", "there", "free", required=False),
        )

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        frame = pl.read_csv(raw / RAW)
        report.counts["rows"] = len(frame)
        report.problem(RAW, "income below zero", int((frame["income"] < 0).sum()))
        frame.write_parquet(out / "panel.parquet")
        pl.DataFrame({"quarter": [0, 1], "gdp": [1.0, 2.0]}).write_parquet(out / "macro.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        rng = random.Random(seed)
        lines = ["id,time,release,quarter,income,sex,total"]
        for person in range(int(40 * scale)):
            for quarter in range(10):
                time = f"{2023 + quarter // 4}-{quarter % 4 * 3 + 1:02d}-01"
                release = "2026-03-01" if quarter == 9 else "2025-12-31"
                income = "" if rng.random() < 0.1 else rng.randrange(-5_000, 90_000)
                lines.append(f"{person},{time},{release},{quarter},{income},{rng.choice('fm')},{rng.randrange(1000)}")
        (raw / RAW).parent.mkdir(parents=True, exist_ok=True)
        (raw / RAW).write_text("\n".join(lines) + "\n")


class Changed(Panel):
    sha256 = "0" * 64


class Packaged(Panel):
    """Finds its data itself."""

    files = ()  # type: ignore[assignment]

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        self.demo(raw, seed=5, scale=1.0)
        report.files["installed.csv"] = "1" * 64
        super().build(raw, out, report=report)


class Economy:
    """A second source, with a raw file and a table of its own."""

    files = (RawFile("economy.csv", "https://example.org", "free"),)
    table = "economy"

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        report.counts["economies"] = 1
        pl.read_csv(raw / "economy.csv").write_parquet(out / f"{self.table}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        raw.mkdir(parents=True, exist_ok=True)
        (raw / "economy.csv").write_text(f"quarter,seed,scale\n0,{seed},{scale}\n")


class Rival(Economy):
    """Claims a table that the source ``panel`` has."""

    table = "macro"


def attach_economy(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    return frame.join(context.tables["economy"].select("seed", "scale"), how="cross", maintain_order="left")


def records_of(task: Task, rows: Iterable[Mapping[str, Any]], *, prompts: bool = True) -> Iterator[Record]:
    for row in rows:
        yield Record(
            task="",
            id="overwritten",
            messages=(Message("user", f"You earn {row['income']}."),) if prompts else (),
            gold=json.dumps([row["total"]]),
            predictors={name: row[name] for name in task.predictor_columns},
        )


def too_few(task: Task, rows: Iterable[Mapping[str, Any]], *, prompts: bool = True) -> Iterator[Record]:
    yield from list(records_of(task, rows, prompts=prompts))[1:]


def registry() -> Registry:
    scope = Scope("hbench", "hbench", "0")
    hbench_register(scope)
    own = [("source", "panel", "Panel"), ("source", "changed", "Changed"), ("source", "packaged", "Packaged")]
    own += [
        ("source", "economy", "Economy"),
        ("source", "rival", "Rival"),
        ("step", "attach_economy", "attach_economy"),
    ]
    return Registry(
        [
            *scope.components,
            *(
                ComponentInfo(kind, name, "study", f"tests.data.study:{target}", "study", "1")
                for kind, name, target in own
            ),
        ]
    )


STEPS = (
    {"lags": {"columns": ["total"], "depth": 1, "step": "3 months"}},
    {"require": ["targets", "predictors", "total_lag1"]},
    {"at_least": {"income": 0}},
)


def study_task(**changes: Any) -> Task:
    return make_task(**({"sample": STEPS, "split": {"unit": "quarter", "sample": 20}} | changes))
