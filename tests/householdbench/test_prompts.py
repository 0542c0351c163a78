"""Prompts of all 32 tasks: golden texts, and what must never stand in them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.data import target_values
from hbench.parse import parse_gold
from hbench.plugin import default_registry
from hbench.prompt import table_records
from hbench.spec import Task

GOLDEN = Path(__file__).parent / "golden"
Rows = dict[str, dict[str, Any]]
Render = Callable[..., str]
Find = Callable[[str], list[str]]

MONTHS = r"\b(January|February|March|April|May|June|July|August|September|October|November|December)\b"


def skeleton(task: Task) -> str:
    if task.kind == "probability":
        vectors = (
            ", ".join(f"p_{i}_{k + 1}" for k in range(len(target.labels))) for i, target in enumerate(task.targets, 1)
        )
        return f"[{', '.join(f'[{vector}]' for vector in vectors)}]"
    letter = "v_{}" if task.kind == "numeric" else '"s_{}"'
    return f"[{', '.join(letter.format(i) for i in range(1, len(task.targets) + 1))}]"


@pytest.mark.parametrize("kind", ["full", "missing"])
def test_golden(task: Task, rows: Rows, render: Render, kind: str) -> None:
    path = GOLDEN / f"{task.task}{'' if kind == 'full' else '.missing'}.txt"
    text = render(rows[kind])
    if os.environ.get("HBENCH_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_forbidden_words(rows: Rows, render: Render, forbidden: Find) -> None:
    for row in rows.values():
        assert forbidden(render(row)) == []


def test_months_stand_in_the_note_only(task: Task, rows: Rows, render: Render) -> None:
    sentences = [part for part in re.split(r"(?<=[.:?])\s", render(rows["full"])) if re.search(MONTHS, part)]
    without = {"cons_psid_jobloss", "cons_psid_wealth", "house_psid_owner", "house_sce_financing"}
    without |= {"income_psid_earnings", "labor_psid_addedworker"}
    assert len(sentences) == (0 if task.task in without else 1)
    assert all(part.startswith(("It is ", "It was April", "Today is ")) for part in sentences)


def test_the_prompt_ends_with_the_form_of_the_answer(task: Task, rows: Rows, render: Render) -> None:
    text = render(rows["full"])
    last = text.rstrip().split("\n\n")[-1]
    assert text.count(skeleton(task)) == 1
    assert skeleton(task) in last
    assert last.startswith("Answer with a JSON array")
    for target in task.targets:
        if task.kind == "categorical":
            assert all(f'"{label}"' in text for label in target.labels)


def test_system_and_user(task: Task, rows: Rows, render: Render) -> None:
    text = render(rows["full"])
    assert text.startswith("[system]\nYou are ")
    assert text.count("[user]") == 1


def test_housing_tasks_share_their_role(tasks: dict[str, Task]) -> None:
    shared = ["house_census_move", "house_psid_owner", "house_sce_lockin", "house_sce_move"]
    assert len({tasks[name].prompt.system for name in shared}) == 1


def test_the_target_never_leaks(task: Task, rows: Rows, render: Render) -> None:
    shown = {column for part in task.predictors for column in part.columns}
    for kind, row in rows.items():
        plain, marked = render(row), dict(row)
        for target in task.targets:
            for column in target.columns or (target.column or target.name,):
                assert column not in shown
                marked[column] = "CANARY" if task.kind == "categorical" else 987654.321
        assert render(marked) == plain, kind


def test_inputs_that_are_not_shown_are_few(task: Task, rows: Rows, render: Render) -> None:
    """Every input of the table but the ones named here changes the prompt."""
    plain = render(rows["full"])
    silent = {column for column in task.predictor_columns if render({**rows["full"], column: None}) == plain}
    allowed = {
        "relate",  # required of the rows, never in a prompt
        "dwstat",
        "baseline_status",
        "Q45b",
        "nl1",
        "n_adults",
        "inflation_surprise_11m",  # recomputed from the figures shown
        "mortgage_rate_gap",
        "search_layoff_status",
        "maximum_ui_weeks",
        "forecast_horizon_years",
        "never_had_paid_job",  # said of those who never had one
        # The benchmark is the current job where there is one.
        "last_job_hourly_equivalent_pay",
        "l22_last_job_usual_hrs",
        "lag1_partnered_change",
        # "No" is not said of a work situation.
        *(f"Q10_{k}{suffix}" for k in range(1, 6) for suffix in ("", "_m12")),
        "partner_current_displacement_reasons",
        "partner_prior_displacement_years_ago",
        "partner_prior_displacement_reasons",
        *(f"history_lag{k}_partner_earn_tot_nd" for k in (1, 2, 3)),
        *(f"history_lag{k}_wlth_odeb_net_rd" for k in (1, 2, 3)),
    }
    assert silent <= allowed


def test_sections_can_be_left_out(task: Task, rows: Rows, render: Render) -> None:
    plain = render(rows["full"])
    sections = {part.section for part in task.prompt.paragraphs if part.section}
    assert {"demographics", "macro"} <= sections
    for section in sections:
        shorter = render(rows["full"], without=[section])
        assert len(shorter) < len(plain)
        assert shorter.rstrip().split("\n\n")[-1] == plain.rstrip().split("\n\n")[-1]


def test_records_read_back(task: Task, rows: Rows) -> None:
    spec, registry = task.answer_spec(), default_registry()
    parser = registry.get("parser", task.answer.parser)()
    for row, record in zip(rows.values(), table_records(task, rows.values(), registry=registry), strict=True):
        assert (record.task, record.id, record.time) == (task.name, str(row[task.key.id]), row[task.key.time or ""])
        assert list(record.predictors) == list(task.predictor_columns)
        assert isinstance(parse_gold(parser, record.naive, spec), tuple)
        accuracy = 0.5 if spec.decimals == 0 else 10.0 ** -(spec.decimals or 12)
        gold = parse_gold(parser, record.gold, spec)
        for target, wanted, got in zip(task.targets, target_values(task, row), gold, strict=True):
            assert got == (wanted if target.kind == "categorical" else pytest.approx(wanted, abs=accuracy))


@pytest.mark.parametrize(
    ("name", "gold", "naive"),
    [
        ("cons_cex_total", "[1234, 1236, 1236]", "[9876, 4321, 5554]"),
        ("cons_sce_growth", "[-2.0]", "[0]"),
        ("income_sce_policy", '["very_positive", "very_positive", "very_positive", "very_positive"]', "no_impact"),
        ("labor_cps_jobfind", '["not_in_labor_force"]', '["unemployed"]'),
        ("labor_sce_risk", "[[0.85, 0.15], [0.8, 0.2], [0.75, 0.25]]", "[[0.9, 0.1], [0.745, 0.255], [0.4, 0.6]]"),
        ("macro_sce_revision", "[5.125, 2.5]", "[4.21, -1.0]"),
    ],
)
def test_answers_are_rounded_as_the_spec_says(tasks: dict[str, Task], name: str, gold: str, naive: str) -> None:
    task = tasks[name]
    row = json.loads((GOLDEN.parent / "rows" / f"{name}.json").read_text(encoding="utf-8"))["full"]
    [record] = table_records(task, [row], registry=default_registry())
    assert json.loads(str(record.gold)) == json.loads(gold)
    if naive == "no_impact":
        naive = json.dumps(["no_impact"] * 4)
    assert json.loads(str(record.naive)) == json.loads(naive)
