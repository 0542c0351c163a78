"""How many examples a set holds, by arithmetic on the known sizes of the released data."""

from __future__ import annotations

import pytest

from hbench.spec import discover
from hbench.spec.task import FineTuning
from hbench.train.allocation import Allocation, allocate

# Rows before and after the cut-off, as published. Training is about eight tenths of the quarters before the cut-off, of
# at most 500,000 rows; that is far more than 6,000 but for the last two, whose training splits are published.
ROWS = {
    "cons_cex_categories": (500_000, 0), "cons_cex_total": (500_000, 0), "cons_psid_wealth": (74_578, 0),
    "cons_sce_growth": (28_969, 919), "house_census_move": (500_000, 0), "house_psid_owner": (70_170, 0),
    "house_sce_move": (148_995, 5_247), "income_mich_finance": (252_870, 1_916), "income_psid_earnings": (76_938, 0),
    "income_sce_growth": (179_318, 6_126), "labor_cps_jobfind": (505_774, 5_774),
    "labor_cps_retire": (528_680, 28_680), "labor_cps_separation": (656_473, 156_473),
    "labor_sce_risk": (85_720, 3_113), "macro_mich_outlook": (66_845, 696), "macro_sce_uncertainty": (139_734, 4_974),
}  # fmt: skip
TRAINING = {"labor_sce_offer": 2_686, "labor_sce_search": 2_016}
PLAIN = FineTuning()


def baseline_tasks() -> dict[str, FineTuning]:
    entries = discover().select("@householdbench+@baseline")
    return {entry.task: entry.load().sft for entry in entries}


def test_householdbench_has_100_702_examples() -> None:
    training = {name: 8 * (rows - after) // 10 for name, (rows, after) in ROWS.items()} | TRAINING
    rules = baseline_tasks()
    assert rules.keys() == training.keys()
    made = {name: allocate({"train": training[name]}, rule, per_task=6_000).examples for name, rule in rules.items()}
    assert made == dict.fromkeys(ROWS, 6_000) | TRAINING
    assert sum(made.values()) == 100_702


def test_big_five_tasks_take_all_training_people() -> None:
    """17,667 people train; a dimension or an item each is five rows a person, and one task has three copies."""
    people = 19_630 - 1_963
    rows = {"pers_score_pred": 5, "acrossdim_pers_score": 5, "surv_resp_pred": 5, "demo_pred_age": 1}
    index = discover()
    made = {
        name: allocate({"train": each * people, "test": each * 1_963}, index.get(f"behaviorbench/{name}").load().sft)
        for name, each in rows.items()
    }
    assert {name: (one.records, one.examples) for name, one in made.items()} == {
        "pers_score_pred": (88_335, 265_005),
        "acrossdim_pers_score": (88_335, 88_335),
        "surv_resp_pred": (88_335, 88_335),
        "demo_pred_age": (17_667, 17_667),
    }
    # What is left of the paper's 649,394 is for two more surveys, the games and the papers.
    assert sum(one.examples or 0 for one in made.values()) == 459_342 < 649_394


@pytest.mark.parametrize(
    ("splits", "rule", "limits", "due"),
    [
        ({"train": 10, "validation": 4, "test": 9}, PLAIN, {}, Allocation(10, 10, 4)),
        ({"train": 10, "validation": 4}, PLAIN, {"per_task": 3, "validation": 2}, Allocation(3, 3, 2)),
        ({"train": 10}, PLAIN, {"per_task": 30, "validation": 2}, Allocation(10, 10, 0)),
        ({"train": 10}, FineTuning(copies=3), {"per_task": 4}, Allocation(4, 12, 0)),
        ({"train": 10}, FineTuning(expand="all", most=10), {}, Allocation(10, None, 0)),
        ({"test": 10}, PLAIN, {}, Allocation(0, 0, 0)),
    ],
)
def test_counts(splits: dict[str, int], rule: FineTuning, limits: dict[str, int], due: Allocation) -> None:
    assert allocate(splits, rule, **limits) == due


def test_the_papers_eleven_tasks_and_what_they_hold_out() -> None:
    """Eleven families of tasks are trained on; Push/Pull and the olympiad are not."""
    rules = {entry.task: entry.load().sft for entry in discover().select("@behaviorbench")}
    held = {name for name, rule in rules.items() if rule.held_out is not None}
    assert held == {"ieo_economics", *(name for name in rules if name.endswith("push_pull"))}
    assert len(held) == 4
    alike = ("game_behavior", "multiround_behavior", "acrossgame_behavior", "workflow")
    families = {next((word for word in alike if name.startswith(word)), name) for name in rules.keys() - held}
    assert len(families) == 11
    assert {name for name, rule in rules.items() if rule.copies == 3} == {"pers_score_pred"}
    assert (rules["strategic_gameplay_guessing"].expand, rules["strategic_gameplay_guessing"].most) == (
        "winning_guesses",
        10,
    )
