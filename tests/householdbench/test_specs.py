"""The 32 specs say what the facts say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from hbench.core import DataError
from hbench.data import StepContext, target_values
from hbench.plugin import default_registry
from hbench.spec import Task, load_suite

FOLDER = Path(__file__).parents[2] / "task_yamls" / "householdbench"
FORMATS = {
    "numeric": ("json_array", "mean", ["relmae", "nmae"]),
    "categorical": ("json_array", "vote", ["macro_f1", "accuracy"]),
    "probability": ("probability_vectors", "mean_vector", ["tv"]),
}
TOPICS = {"cons": "consumption", "income": "income", "labor": "labor", "macro": "macro", "house": "housing"}
FAMILY = {"numeric": "numeric", "categorical": "categorical", "distribution": "probability"}


def columns_of(task: Task) -> list[str]:
    return [name for target in task.targets for name in target.columns or (target.column or target.name,)]


def test_there_are_32_tasks_of_the_modes_kinds_and_topics(tasks: Mapping[str, Task]) -> None:
    assert Counter(task.mode for task in tasks.values()) == {"baseline": 18, "policy": 14}
    assert Counter(task.kind for task in tasks.values()) == {"numeric": 18, "categorical": 9, "probability": 5}
    assert Counter(task.topic for task in tasks.values()) == {
        "consumption": 9,
        "income": 5,
        "labor": 10,
        "macro": 3,
        "housing": 5,
    }
    assert Counter(task.split.unit for task in tasks.values() if task.split) == {"quarter": 27, "row": 5}


def test_tasks_show_the_notices_of_their_own_data_only(tasks: Mapping[str, Task]) -> None:
    suite = load_suite(FOLDER, "householdbench")
    shown = {name: suite.notices_of([task]) for name, task in tasks.items()}
    assert ["FRBNY" in text for text in shown["labor_sce_offer"]] == [True, False]
    assert ["IPUMS" in text for text in shown["house_census_move"]] == [True, False]
    # The economy is in every prompt; files of the BLS itself require nothing.
    assert [text.partition(":")[0] for text in shown["cons_cex_total"]] == ["FRED-QD"]
    assert ["ICPSR" in text for text in shown["cons_cex_sspay"]] == [False, True]
    assert len(suite.notices_of(tasks.values())) == 6


def test_all_75_reference_fits_have_their_seed(tasks: Mapping[str, Task]) -> None:
    assert all(set(task.learn.seeds) == {target.name for target in task.targets} for task in tasks.values())
    seeds = [seed for task in tasks.values() for seed in task.learn.seeds.values()]
    assert (len(seeds), len(set(seeds))) == (75, 75)


def test_learners_get_the_month_where_the_prompt_names_it(task: Task) -> None:
    named = any("| month" in text for paragraph in task.prompt.paragraphs for text in paragraph.sentences)
    if task.task == "labor_cps_ui":
        # The prompt names it, but the reference's learner does not get it (facts on XGBoost, features).
        assert (named, task.learn.month) == (True, False)
    elif task.task == "house_census_move":
        # Records are dated to January, and the census is of April.
        assert "It was April." in [text for part in task.prompt.paragraphs for text in part.sentences]
        assert (named, task.learn.month) == (False, 4)
    else:
        assert task.learn.month is named


def test_a_task_is_complete(task: Task) -> None:
    parser, aggregate, metrics = FORMATS[task.kind]
    assert task.suite == "householdbench"
    assert task.topic == TOPICS[task.task.partition("_")[0]]
    assert task.title
    assert task.description
    assert task.survey
    assert task.key.time
    assert task.key.release
    assert task.sample
    assert (task.answer.parser, task.answer.aggregate) == (parser, aggregate)
    assert [use.metric for use in task.metrics] == metrics
    assert all(target.no_change for target in task.targets)
    # The reference takes any finite number, of a true answer as of a prediction.
    assert all(target.range is None for target in task.targets)
    assert len({target.kind for target in task.targets}) == 1


def test_every_component_is_registered(task: Task) -> None:
    registry = default_registry()
    for step in task.sample:
        # Refuses parameters that the step does not have; those of steps to come are not known yet.
        signature(registry.get("step", step.name, suite=task.suite)).bind(None, None, **step.params)
    assert all(callable(registry.get("source", name, suite=task.suite)) for name in task.sources)
    assert callable(registry.get("adapter", str(task.prompt.adapter), suite=task.suite))
    assert callable(registry.get("split", task.split.unit if task.split else "", suite=task.suite))


def test_a_source_to_come_says_so_when_it_is_used() -> None:
    pending = [
        info for info in default_registry().names("step") if info.target.startswith("hbench_householdbench.pending")
    ]
    for info in pending[:1]:
        step = default_registry().get("step", info.name, suite="householdbench")
        with pytest.raises(DataError, match=f"'{info.name}' is not built yet.*\n.*--data hub"):
            step(None, None)


def test_the_suite_has_a_page() -> None:
    suite = load_suite(FOLDER, "householdbench")
    assert (suite.data, suite.layout) == ("demo", "householdbench_eval")
    assert any("FRBNY" in notice.text for notice in suite.notices)


def test_the_fixture_rows_fit(task: Task, rows: dict[str, dict[str, Any]]) -> None:
    needed = {*columns_of(task), *task.predictor_columns, task.key.id, task.key.time, task.key.release}
    for row in rows.values():
        assert needed <= set(row)
        assert len(target_values(task, row)) == len(task.targets)
    assert all(rows["missing"][column] is not None for column in task.required_columns)


TESTS = ("at_least", "at_most", "between", "one_of", "exclude", "require", "unique", "rename")


def test_the_fixture_row_passes_the_filters(task: Task, rows: dict[str, dict[str, Any]]) -> None:
    """Built-in filters are well formed, and let a good row through."""
    pl = pytest.importorskip("polars")
    steps = [step for step in task.sample if step.name in TESTS]
    row = dict(rows["full"])
    for step in steps:
        for column, bound in step.params.get("bounds", {}).items():
            value = bound if step.name.startswith("at_") else "other" if isinstance(bound[0], str) else bound[0]
            if step.name == "one_of":
                value = bound[0]
            row.setdefault(column, value + 1 if step.name == "exclude" else value)
            for lag in range(1, step.params.get("lags", 0) + 1):
                row.setdefault(f"{column}_lag{lag}", value)
    for step in steps:
        for column in [*step.params.get("columns", ()), *(step.params if step.name == "rename" else ())]:
            row.setdefault(column, 1.0)
    table = pl.DataFrame([{name: value for name, value in row.items() if name not in ("targets", "predictors")}])
    for target in task.targets:
        # A column that a step names later is not there yet.
        if any(target.column in step.params.values() for step in steps if step.name == "rename"):
            table = table.drop(target.column)
    frame, context = table.lazy(), StepContext(task, table.lazy())
    for step in steps:
        frame = default_registry().get("step", step.name)(frame, context, **step.params)
        assert len(frame.collect()) == 1, (step, context.details)


def test_predictors_are_required_once_they_are_there(task: Task) -> None:
    names = [step.name for step in task.sample]
    needs = [i for i, step in enumerate(task.sample) if "predictors" in step.params.get("columns", ())]
    assert needs or task.task == "house_sce_lockin"
    assert all(names.index("attach_macro") < place for place in needs)
    # Lags and links look back over the whole source, so nothing may have been cut before.
    cuts = [i for i, name in enumerate(names) if name in TESTS]
    for name in ("lags", "psid_history", "psid_next_wave", "sce_previous_month", "diary_daily_history"):
        if name in names and task.task != "income_psid_earnings":
            assert names.index(name) < min(cuts)


@pytest.fixture(scope="module")
def facts(shared_dir: Path) -> Any:
    path = shared_dir / "facts" / "householdbench" / "01b_task_variables.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.shared
def test_predictors_targets_and_splits_are_those_of_the_facts(task: Task, facts: Any) -> None:
    fact = facts[task.task]
    assert list(task.predictor_columns) == fact["prompt_predictors"]
    categorical = [column for part in task.predictors if part.kind == "categorical" for column in part.columns]
    assert categorical == fact["categorical"]
    assert set(fact["registry_required"]) <= set(task.required_columns)
    wanted = fact["targets"]
    assert columns_of(task) == wanted
    assert (task.mode, task.kind) == (fact["mode"], FAMILY[fact["family"]])
    split = task.split
    assert split is not None
    assert (split.unit, split.params["sort"]) == (fact["split_unit"], fact["canonical_sort"])
    typed = split.params.get("typed")
    assert (f"{typed['column']}:{typed['type']}" if typed else None) == fact["typed_sort_column"]
    for column, labels in fact.get("classes_in_registry_order", {}).items():
        [target] = [one for one in task.learned_targets if (one.column or one.name) == column]
        assert list(target.labels) == labels
    month = fact["month_note"] and fact["month_note"]["fixed_month"]
    assert month == (None if isinstance(task.learn.month, bool) else task.learn.month)


@pytest.mark.shared
def test_names_units_and_labels_are_those_of_the_fact_sheet(tasks: Mapping[str, Task], shared_dir: Path) -> None:
    sheet = (shared_dir / "facts" / "householdbench" / "01_targets.md").read_text(encoding="utf-8")
    for name, task in tasks.items():
        lines = [line for line in sheet.splitlines() if re.match(rf"\|[^|]*\b{name}\b", line)]
        assert len(lines) == 1, name
        cells = [cell.strip() for cell in lines[0].strip("|").split("|")]
        names = re.sub(r"\([^)]*\)|\[[^]]*\]", "", cells[3])
        if names.startswith("as "):
            names = ", ".join(target.name for target in tasks[names.split()[1]].targets)
        targets = [target.name for target in task.targets]
        assert re.findall(r"[a-z_0-9]+", names) == targets, name
        if task.kind == "categorical":
            listed = cells[4].removeprefix("scorer order ").partition(" (")[0].split(", ")
            assert all(list(target.labels) == listed for target in task.targets), name
        if task.kind == "probability":
            bins = [re.findall(r"[a-z_0-9]+", text) for text in re.findall(r"\[([^]]*)\]", cells[3] + cells[4])]
            assert {tuple(target.labels) for target in task.targets} >= {
                tuple(labels) for labels in bins if len(labels) == 2
            }
            if name == "macro_sce_uncertainty":
                ranges = re.search(r"10 bins: ([^)]*)\)", lines[0])
                assert ranges is not None
                assert list(task.targets[0].labels) == list(task.targets[1].labels) == ranges[1].split(", ")
