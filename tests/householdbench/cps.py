"""A synthetic CPS for tests: its people, its tables, and what the planted faults must do to links."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hbench.core import BuildReport
from hbench.data import StepContext
from hbench.data.sample import run_steps
from hbench.plugin import default_registry
from hbench.spec.task import Step
from hbench_householdbench.sources import cps_basic
from hbench_householdbench.sources.demo.cps_basic import write_cps_releases
from hbench_householdbench.sources.demo.cps_extract import months, write_csv
from hbench_householdbench.sources.demo.cps_people import FIRST, LAST, Fault, People, people

SEED, SCALE = 5, 0.25


@dataclass(frozen=True)
class Survey:
    """People, the raw folder, the tables made of it, and the report."""

    people: People
    raw: Path
    tables: dict[str, Any]
    report: BuildReport


def built(folder: Path, who: People, raw: Path) -> Survey:
    import polars as pl

    out, report = folder / "out", BuildReport()
    out.mkdir(parents=True)
    cps_basic.CpsBasic().build(raw, out, report=report)
    tables = {path.stem: pl.scan_parquet(path) for path in out.glob("*.parquet")}
    return Survey(who, raw, tables, report)


def survey(folder: Path, *, first: int = FIRST, last: int = LAST, scale: float = SCALE) -> Survey:
    who = people(seed=SEED, scale=scale, first=first, last=last)
    raw = folder / "raw"
    write_csv(months(who), raw / f"{cps_basic.STEM}.csv.gz", level=1)
    write_cps_releases(raw)
    return built(folder, who, raw)


def sample(task: Any, tables: dict[str, Any], steps: list[Any]) -> tuple[Any, Any]:
    """Run some steps, given as in YAML, on the survey's records."""
    registry = default_registry()
    source = tables[cps_basic.TABLE]
    return run_steps(
        source,
        [Step.model_validate(step) for step in steps],
        StepContext(task, source, tables),
        resolve=lambda name: registry.get("step", name, suite="householdbench"),
    )


def coded_mish(who: People) -> Any:
    """MISH as the records have it, (n, 8)."""
    true = np.arange(1, 9)
    return true + np.where(who.fault == Fault.WRONG_ROTATION, np.where(true == 8, -1, 1), 0)


def outcome(who: People, steps: int) -> Any:
    """What becomes of a link over some interviews, (n, 8): the reason against it, or "linked".

    It is told from the people and their faults, one interview beside the other, without any join.
    """
    ahead = np.full(who.seen.shape, "no record", dtype=object)
    places = np.array([j for j in range(8) if j + steps < 8 and (steps == 4 or j != 3)])
    later = places + steps
    fault, there = who.fault[:, later], who.seen[:, later]
    mish = coded_mish(who)
    told = np.full(fault.shape, "linked", dtype=object)
    rise = 4 if steps == 4 else 1
    told[mish[:, later] != mish[:, places] + rise] = "MISH"
    told[who.age[:, later] < 15] = "EMPSTAT"
    told[fault == Fault.REPEATED] = "repeated"
    told[~there | (fault == Fault.NO_ID)] = "no record"
    ahead[:, places] = told
    ahead[who.fault == Fault.NO_ID] = "no number"
    return ahead


def same_person(who: People, steps: int) -> Any:
    """Whether two records some interviews apart look like one person's, (n, 8): by the planted faults."""
    looks = np.zeros(who.seen.shape, dtype=bool)
    for j in range(8 - steps):
        one, other = who.fault[:, j], who.fault[:, j + steps]
        telling = (Fault.SEX, Fault.RACE, Fault.AGE, Fault.REUSED, Fault.VALIDATED)
        looks[:, j] = ~((one != other) & (np.isin(one, telling) | np.isin(other, telling)))
    return looks
