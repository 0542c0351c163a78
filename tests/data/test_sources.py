"""Tasks of several sources: every source is built once, and a changed file rebuilds what depends on it only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError, HbenchError, RawFile
from hbench.data import Store
from hbench.data.build import BuildItem, build_many, build_task
from hbench.data.code import task_code
from hbench.data.panels import Panels, build_panels, raw_digests
from hbench.data.sources import Recipe
from hbench.data.status import task_status
from hbench.data.taskdata import TaskData
from hbench.execute import LocalExecutor
from tests.data.study import STEPS, Economy, Panel, records_of, registry, study_task

pl = pytest.importorskip("polars")

BOTH = {"source": ["panel", "economy"], "sample": (*STEPS, "attach_economy")}


def make(tmp_path: Path, *, kind: str = "build", **changes: Any) -> TaskData:
    raw = tmp_path / "raw" if kind == "build" else None
    store = Store(tmp_path / "store")
    task = study_task(**changes)
    return build_task(task, kind=kind, store=store, registry=registry(), records_of=records_of, raw=raw)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    Panel().demo(tmp_path / "raw", seed=1, scale=1)
    Economy().demo(tmp_path / "raw", seed=1, scale=1)
    return tmp_path / "raw"


def test_a_source_is_one_name_or_several() -> None:
    assert study_task(source=["panel", "economy"]).sources == ("panel", "economy")
    assert study_task(source=["panel"]) == study_task(source="panel")
    assert study_task(source="panel").sources == ("panel",)
    assert study_task(source={"file": "x.csv"}).sources == ()
    for wrong, message in (([], "the list names no source"), (["panel", "panel"], "sources are repeated: panel")):
        with pytest.raises(ValueError, match=message):
            study_task(source=wrong)


class _Coded(Panel):
    """A survey with a code that nobody has described, in how many builds it was read."""

    builds = 0

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        _Coded.builds += 1
        super().build(raw, out, report=report)
        report.problem("panel.csv", "SEX has the unknown code 7", 3, "line 4", code=True)


def test_unknown_codes_stop_a_build_until_they_are_accepted_and_nothing_is_read_twice(
    tmp_path: Path, raw: Path
) -> None:
    def panels(*, accept: bool) -> Panels:
        return build_panels(
            "coded", _Coded(), suite="s", kind="build", raw=raw, store=Store(tmp_path / "store"), accept_codes=accept
        )

    with pytest.raises(DataError, match=r"SEX has the unknown code 7: 3 rows line 4(.|\n)*--accept-codes"):
        panels(accept=False)
    assert [one["what"] for one in panels(accept=True).report["problems"] if one["code"]] == [
        "SEX has the unknown code 7"
    ]
    assert _Coded.builds == 1


def test_steps_reach_the_tables_of_all_sources(tmp_path: Path) -> None:
    store = Store(tmp_path)
    data = build_task(
        study_task(**BOTH), kind="demo", store=store, registry=registry(), records_of=records_of, seed=7, scale=0.5
    )
    table = pl.read_parquet(data.path / "table.parquet")
    # Every source's demo gets the same seed and scale.
    assert table.select("seed", "scale").unique().rows() == [(7, 0.5)]
    assert table["id"].n_unique() == 20
    funnel = data.funnel()
    assert funnel is not None
    assert funnel.rows[0].rows == 200
    assert data.info["counts"] == {"rows": 200, "economies": 1}
    assert set(data.info["panels"]) == {"panel", "economy"}  # type: ignore[call-overload]
    assert {"source panel", "source economy"} <= set(task_code(study_task(**BOTH), registry()))


def test_a_table_that_two_sources_claim_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the sources 'panel' and 'rival' both have a table 'macro'"):
        make(tmp_path, kind="demo", source=["panel", "rival"])


def test_the_start_is_a_table_of_the_first_source_unless_the_task_names_another(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the sources have no table 'nothing'"):
        make(tmp_path, kind="demo", source=["panel", "economy"], panel="nothing")
    # The economy's only table starts the sample, though there are others.
    with pytest.raises(DataError, match="there is no column 'id'"):
        make(tmp_path, kind="demo", source=["economy", "panel"])
    assert make(tmp_path, kind="demo", source=["economy", "panel"], panel="panel").splits()


def test_a_changed_byte_rebuilds_only_what_depends_on_it(raw: Path, tmp_path: Path) -> None:
    alone, both = make(tmp_path), make(tmp_path, task="both", **BOTH)
    panels = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("panel.parquet")}
    (raw / "economy.csv").write_text("quarter,seed,scale\n0,2,1\n")
    assert make(tmp_path).fingerprint == alone.fingerprint
    again = make(tmp_path, task="both", **BOTH)
    assert again.fingerprint != both.fingerprint
    assert again.info["panels"]["panel"] == both.info["panels"]["panel"]  # type: ignore[index]
    assert again.info["panels"]["economy"] != both.info["panels"]["economy"]  # type: ignore[index]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("panel.parquet")} == panels
    Panel().demo(raw, seed=2, scale=1)
    assert make(tmp_path).fingerprint != alone.fingerprint
    assert len(list(tmp_path.rglob("economy.parquet"))) == 2


def test_every_source_is_built_once(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    for source in (Panel, Economy):
        monkeypatch.setattr(source, "build", _noting(source.build, built))
    items = [BuildItem(study_task(), records_of)]
    items += [BuildItem(study_task(task=f"t{k}", **BOTH), records_of) for k in range(3)]
    items.append(
        BuildItem(study_task(task="bad", source="changed", sample=[{"at_least": {"x": 1, "y": 2}}]), records_of)
    )
    items.append(BuildItem(study_task(task="worse", source="changed", sample=[{"trim": {"colums": []}}]), records_of))
    recipe, store = Recipe("build", raw), Store(tmp_path / "store")
    results = [r for _, r in build_many(items, recipe, store=store, registry=registry(), executor=LocalExecutor(1))]
    assert [isinstance(result, HbenchError) for result in results] == [False] * 4 + [True] * 2
    assert "not those that the suite was written for" in str(results[4])
    assert "does not take these parameters" in str(results[5])
    assert built == ["panel", "economy"]


def test_what_is_wrong_with_all_sources_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    with pytest.raises(DataError, match="2 sources cannot be made") as error:
        make(tmp_path, **BOTH)
    assert "study/panel.csv (from" in str(error.value)
    assert "economy.csv (from" in str(error.value)


def test_status_tells_of_every_source(raw: Path, tmp_path: Path) -> None:
    (raw / "economy.csv").unlink()
    task = study_task(source=["panel", "economy", "nowhere"])
    told = task_status(task, store=Store(tmp_path / "store"), registry=registry(), raw=raw).sources
    assert [(one.source, [file.present for file in one.raw]) for one in told] == [
        ("panel", [True, False]),
        ("economy", [False]),
        ("nowhere", []),
    ]
    assert "there is no source called 'nowhere'" in told[-1].problem


def _noting(build: Any, built: list[str]) -> Any:
    def noted(self: Any, raw: Path, out: Path, **options: Any) -> None:
        built.append(type(self).__name__.lower())
        build(self, raw, out, **options)

    return noted


class TwoLayouts(Economy):
    """A source whose provider has two layouts of one file."""

    files = (
        RawFile("economy.csv", "https://example.org", "free", alternatives=("economy-*.xlsx",)),
        RawFile("economy-*.xlsx", "https://example.org", "free", required=False),
    )


def test_another_layout_does_in_a_files_place(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"1 raw files are missing:\s+economy\.csv or economy-\*\.xlsx \(from"):
        raw_digests(TwoLayouts(), tmp_path)
    (tmp_path / "economy-2019.xlsx").write_bytes(b"cells")
    assert list(raw_digests(TwoLayouts(), tmp_path)) == ["economy-2019.xlsx"]
