"""Prompts of all 32 tasks: golden texts, and what must never stand in them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.core import Completion, Parsed, Values
from hbench.data import target_values
from hbench.plugin import default_registry
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


def no_change(task: Task, row: dict[str, Any]) -> Values:
    values: list[Any] = []
    for target in task.targets:
        rule = target.no_change
        if isinstance(rule, tuple):
            values.append(tuple(row[column] for column in rule))
        elif rule is not None and rule.startswith("="):
            values.append(float(rule[1:]) if task.kind == "numeric" else rule[1:])
        elif task.kind == "probability":
            values.append((1 - row[rule], row[rule]))
        else:
            values.append(float(row[rule]))
    return tuple(values)


def test_gold_and_no_change_render_and_read_back(task: Task, rows: Rows) -> None:
    spec = task.answer_spec()
    parser = default_registry().get("parser", task.answer.parser)()
    for row in rows.values():
        for values in (target_values(task, row), no_change(task, row)):
            text = parser.render(values, spec)
            parsed = parser(Completion(text), spec)
            assert isinstance(parsed, Parsed), text
            for target, wanted, got in zip(task.targets, values, parsed.values, strict=True):
                if target.kind == "categorical":
                    assert got == wanted
                else:
                    accuracy = 0.5 if spec.decimals == 0 else 10.0 ** -(spec.decimals or 12)
                    assert got == pytest.approx(wanted, abs=accuracy)
