"""Small files of PSID-SHELF, written by hand, and tables of synthetic ones."""

from __future__ import annotations

import io
import zipfile
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hbench.core import BuildReport
from hbench.data import StepContext
from hbench.plugin import default_registry
from hbench.spec import Task, discover
from hbench_householdbench.sources.demo.psid import write_releases
from hbench_householdbench.sources.demo.psid_people import Study
from hbench_householdbench.sources.psid import Psid
from hbench_householdbench.sources.psid_layout import LONG, MAIN_STUDY, VARIABLES
from hbench_householdbench.sources.psid_main_study import PsidMainStudy
from hbench_householdbench.sources.psid_questions import variables

SEED, SCALE = 11, 0.3


def record(**values: Any) -> dict[str, Any]:
    """A record of the long file: a reference person of the sample of 1968 who answered."""
    there = {
        "id": 4001,
        "year": 1980,
        "fuid": 12,
        "rel": 1,
        "response": 0,
        "panel_current": 1,
        "sampstat": 1,
        "lineage": 4,
    }
    labels = {
        "demo_sex": 1,
        "race_eth_maj_col": 1,
        "geo_region": 3,
        "home_stat": 2,
        "fam_partnered": 0,
        "fam_married": 0,
    }
    cells = {**dict.fromkeys(VARIABLES), **there, **labels, **values}
    return {name.upper(): None if value is None else float(value) for name, value in cells.items()}


def person(number: int = 4001, **values: float) -> dict[str, Any]:
    """A record of the file of all waves, in which all that is not given is missing."""
    return {"ID": float(number), **dict.fromkeys(variables()), **values}


def pack(
    path: Path, rows: list[dict[str, Any]], *, members: tuple[str, ...] = ("file.dta",), records: int | None = None
) -> None:
    """Write (the first so many) records as the Stata file of an archive."""
    import pandas as pd

    stream = io.BytesIO()
    pd.DataFrame(rows).astype(float).head(len(rows) if records is None else records).to_stata(
        stream, version=118, write_index=False
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in members:
            archive.writestr(name, stream.getvalue())


def build_long(folder: Path, rows: list[dict[str, Any]], **options: Any) -> tuple[dict[str, Any], BuildReport]:
    """Build the tables of a long file."""
    pack(folder / LONG.path, rows, **options)
    write_releases(folder)
    return _built(Psid(), folder)


def build_main_study(folder: Path, rows: list[dict[str, Any]]) -> tuple[Any, BuildReport]:
    """Build the table of a file of all waves."""
    pack(folder / MAIN_STUDY.path, rows)
    tables, report = _built(PsidMainStudy(), folder)
    return tables["psid_main_study"], report


def _built(source: Any, raw: Path) -> tuple[dict[str, Any], BuildReport]:
    import polars as pl

    report = BuildReport()
    source.build(raw, raw, report=report)
    return {path.stem: pl.read_parquet(path) for path in raw.glob("*.parquet")}, report


@lru_cache(maxsize=1)
def synthetic() -> tuple[dict[str, Any], Study, bytes]:
    """The tables of both synthetic files, what happened in them, and the long file's archive."""
    with TemporaryDirectory() as folder:
        raw = Path(folder)
        Psid().demo(raw, seed=SEED, scale=SCALE)
        PsidMainStudy().demo(raw, seed=SEED, scale=SCALE)
        tables, _ = _built(Psid(), raw)
        tables, _ = _built(PsidMainStudy(), raw)
        from hbench_householdbench.sources.demo.psid_families import study

        return tables, study(SEED, SCALE), (raw / LONG.path).read_bytes()


def task(name: str) -> Task:
    """A task of the suite."""
    return discover().get(f"householdbench/{name}").load()


def context(name: str, tables: dict[str, Any]) -> StepContext:
    """What the steps of a task know if these are the tables of its sources."""
    spec = task(name)
    lazy = {key: table.lazy() for key, table in tables.items()}
    return StepContext(spec, lazy[spec.panel or spec.sources[0]], lazy)


def run(name: str, tables: dict[str, Any], *, without: tuple[str, ...] = ("attach_macro",)) -> Any:
    """Run all steps of a task but those of the economy, whose columns are not required either."""
    knows = context(name, tables)
    frame = knows.source
    for step in knows.task.sample:
        if step.name in without:
            continue
        params = step.params
        if params.get("columns") == ["predictors"] or params.get("columns") == ("predictors",):
            needed = [c for c in knows.task.required_columns if "_qoq_" not in c and "_rate_" not in c]
            params = {"columns": needed}
        function = default_registry().get("step", step.name, suite="householdbench")
        frame = function(frame, knows, **params).collect().lazy()
    return frame.collect()
