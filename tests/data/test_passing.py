"""Long tables go through steps slice by slice, and come out as if they had gone through as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import hbench.data.steps as builtin
from hbench.core import DataError
from hbench.data import StepContext, in_passing
from hbench.data.passing import TableWriter
from hbench.data.sample import run_steps, write_steps
from hbench.spec.task import Step
from tests.data.conftest import make_task

N = 101
ROWS = pl.DataFrame(
    {
        "id": [f"p{i % 17}" for i in range(N)],
        "time": [f"{2000 + i // 17 // 4}-{i // 17 % 4 * 3 + 1:02d}-01" for i in range(N)],
        "year": [2000 + i // 68 for i in range(N)],
        "income": [None if i % 13 == 5 else float("nan") if i % 19 == 7 else float(i * 37 % 101) for i in range(N)],
        "total": [float(i * 53 % 89) for i in range(N)],
    }
)
STEPS: tuple[Any, ...] = (
    {"attach": {"table": "macro", "on": {"year": "y"}}},
    {"lags": {"columns": ["income", "total", "year"], "require": ["total"], "depth": 3, "step": "3 months"}},
    {"require": ["income"]},
    {"at_least": {"income": 5}},
    {"name": "trim", "params": {"columns": ["total"], "by": ["year"], "lower": 0.05, "upper": 0.9, "lags": 2}},
    "note_rows",
    {"rename": {"gdp": "growth"}},
    {"name": "unique", "params": {"columns": ["id", "income"], "repeated": "first"}},
    {"lags": {"columns": ["growth"], "depth": 1, "step": "3 months"}},
)


@in_passing
def note_rows(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Number rows over all slices, and count one slice's details under a name that the next may not have."""
    numbered = context.beside(frame, lambda: frame.select(pl.int_range(pl.len()).alias("number")))
    return context.keep(
        numbered, {"even": pl.col("number") % 2 == 1, "never": pl.lit(True), "last": pl.col("year") < 2001}
    )


def resolve(name: str) -> Any:
    return {"note_rows": note_rows, "broken": broken, "late": late}.get(name) or getattr(builtin, name)


@in_passing
def broken(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    return frame.with_columns(pl.col("id").str.to_date("%Y"))


@in_passing
def late(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    if context.has_rows:
        raise ValueError("a slice that does not suit")
    return frame


def steps(*given: Any) -> list[Step]:
    return [Step.model_validate(step) for step in given]


def context(scratch: Path | None = None) -> StepContext:
    macro = pl.LazyFrame({"y": [2000, 2001], "gdp": [1.5, 2.5]})
    return StepContext(make_task(), ROWS.lazy(), {"macro": macro}, scratch=scratch)


@pytest.mark.parametrize("size", [1, 7, 100, 101, 1000])
def test_slices_of_any_size_give_the_same_rows_and_counts(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, funnel = run_steps(ROWS.lazy(), steps(*STEPS), context(), resolve=resolve)
    assert 10 < len(whole) < 60
    monkeypatch.setattr("hbench.data.passing.SLICE", size)
    monkeypatch.setattr("hbench.data.passing.GROUP", size)
    path = tmp_path / "rows.parquet"
    found = write_steps(ROWS.lazy(), steps(*STEPS), context(tmp_path), resolve=resolve, path=path)
    assert found.rows == funnel.rows
    assert_frame_equal(pl.read_parquet(path), whole)


def test_the_counts_are_those_of_the_rows(tmp_path: Path) -> None:
    table, funnel = run_steps(ROWS.lazy(), steps(*STEPS[:3], "note_rows"), context(), resolve=resolve)
    known = ROWS.with_columns(pl.col("income").fill_nan(None)).filter(pl.col("income").is_not_null())
    assert funnel.rows[3].rows == len(known)
    assert funnel.rows[3].details == (("income is missing", N - len(known)),)
    odd = known.with_row_index("number").filter((pl.col("number") % 2 == 1) & (pl.col("year") < 2001))
    assert table["number"].to_list() == odd["number"].to_list()
    assert [what for what, _ in funnel.rows[4].details] == ["even", "last"]
    assert funnel.rows[4].details[0][1] == (len(known) + 1) // 2


def test_no_rows_at_all_leave_a_table_with_columns(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    funnel = write_steps(ROWS.lazy().clear(), steps(*STEPS[1:4]), context(tmp_path), resolve=resolve, path=path)
    assert [row.rows for row in funnel] == [0] * 4
    assert "income_lag3" in pl.read_parquet_schema(path)


@pytest.mark.parametrize(
    ("step", "message"), [("broken", "the step 'broken' failed"), ("late", "the step 'late' raised")]
)
def test_a_step_that_fails_on_a_slice_is_named(step: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        write_steps(
            ROWS.lazy(),
            steps({"require": ["id"]}, step),
            context(tmp_path),
            resolve=resolve,
            path=tmp_path / "x.parquet",
        )


@pytest.mark.parametrize("parts", [[N], [40, 61], [1] * N, [0, 100, 1]])
def test_a_table_is_written_in_groups(parts: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("hbench.data.passing.GROUP", 40)
    writer, start = TableWriter(tmp_path / "x.parquet"), 0
    for size in parts:
        writer.add(ROWS[start : start + size])
        start += size
    writer.close()
    assert_frame_equal(pl.read_parquet(tmp_path / "x.parquet"), ROWS)
    file = pq.ParquetFile(tmp_path / "x.parquet")
    assert [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] == [40, 40, 21]
