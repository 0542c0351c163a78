"""Prompts, word for word: golden files, and the rules on what a respondent did not tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hbench.plugin import default_registry
from hbench.prompt import PromptRenderer
from hbench.spec import load_task
from hbench_behaviorbench.games import RULES
from hbench_behaviorbench.instrument import BY_CODE, DIMENSIONS, ITEMS

TASKS = Path(__file__).parents[2] / "task_yamls" / "behaviorbench"
GOLDEN = Path(__file__).parent / "golden"
STRAIGHT = {ord("\u2019"): "'", ord("\u2018"): "'"}
PERSON: dict[str, Any] = {
    "subject_idx": 0,
    "age": 34,
    "gender": "female",
    "hand": "Left",
    "race": "South East Asian (Chinese, Thai, Malay, Filipino, etc)",
    "language": "not English",
    "country": "PH",
}
SCORES = dict(zip(DIMENSIONS.values(), (31, 18, 44, 39, 27), strict=True))
ANSWERS = {item.code: 1 + 7 * item.position % 5 for item in ITEMS}
PLAYED = {"dictator": 50.0, "bomb": 33.0, "trust_banker": 75.0}


def asked(code: str, given: str) -> dict[str, Any]:
    item = BY_CODE[code]
    known = {"before": lambda other: other.position < item.position, "others": lambda other: other != item}[given]
    return {
        **{other.code: ANSWERS[other.code] if known(other) else None for other in ITEMS},
        "statement": item.statement,
        "target_position": item.position,
        "dimension": DIMENSIONS[item.dimension],
    }


def across(target: str) -> dict[str, Any]:
    return {**dict.fromkeys(RULES), **PLAYED, target: None, "target_game": target}


def other_scores(dimension: str) -> dict[str, Any]:
    others = {f"other_{name}": None if name == dimension else score for name, score in SCORES.items()}
    return {"dimension": dimension, **others}


ROWS: dict[str, dict[str, Any]] = {
    "surv_resp_pred": {**PERSON, "statement": BY_CODE["N8"].statement},
    "seq_surv_resp": asked("N1", "before"),
    "missing_surv_resp": asked("A3", "others"),
    "demo_pred_age": SCORES,
    "pers_score_pred": {**PERSON, "dimension": "Openness"},
    "acrossdim_pers_score": other_scores("Neuroticism"),
    "game_behavior_dictator": {},
    "game_behavior_public_goods": {},
    "game_behavior_guessing": {},
    "game_behavior_push_pull": {},
    "multiround_behavior_dictator": {
        "game": "dictator",
        "earlier": [50.0, 12.5],
        "history_rounds": 2,
        "target_round": 3,
    },
    "multiround_behavior_public_goods": {
        "game": "PG",
        "earlier": [20.0],
        "earlier_others": [[0.0, 5.0, 20.0]],
        "history_rounds": 1,
        "target_round": 2,
    },
    "multiround_behavior_trust_banker_inv100": {
        "game": "trust",
        "earlier": [75.0],
        "earlier_others": [[50.0]],
        "history_rounds": 1,
        "target_round": 2,
        "investment": 100.0,
    },
    "multiround_behavior_push_pull": {
        "game": "push_pull",
        "earlier": [0.0, 1.0],
        "earlier_others": [[1.0], [1.0]],
        "history_rounds": 2,
        "target_round": 3,
    },
    "multiround_behavior_guessing": {
        "earlier": [40.0, 20.0],
        "earlier_others": [[50.0, 75.0], [21.0, 40.0]],
        "history_rounds": 2,
        "target_round": 3,
        "num_players": 2,
    },
    "strategic_gameplay_guessing": {
        "earlier": [40.0],
        "earlier_others": [[50.0, 20.0]],
        "history_rounds": 1,
        "target_round": 2,
        "num_players": 2,
    },
    "acrossgame_behavior_ultimatum_responder": across("ultimatum_responder"),
    "workflow_title_prediction": {
        "context": "Wages vary.",
        "key_idea": "Rents explain it.",
        "method": "A field experiment.",
        "outcome": "They do.",
        "projected_impact": "Policy may change.",
    },
    "ieo_economics": {
        "question": "What is scarce?",
        "option_a": "Time",
        "option_b": "Air",
        "option_c": "Land",
        "option_d": "Dreams",
    },
}


def prompt(task: str, row: dict[str, Any]) -> tuple[str, str]:
    file = TASKS / f"{task}.yaml"
    renderer = PromptRenderer(load_task(file), file=file, registry=default_registry())
    system, user = renderer.render(row)
    assert (system.role, user.role) == ("system", "user")
    return system.content, user.content


@pytest.mark.parametrize("task", ROWS)
def test_a_prompt_is_the_golden_one(task: str) -> None:
    system, user = prompt(task, ROWS[task])
    assert f"[system]\n{system}\n[user]\n{user}\n" == (GOLDEN / f"{task}.txt").read_text(encoding="utf-8")


def test_there_are_39_units() -> None:
    assert len([file for file in TASKS.glob("*.yaml") if not file.name.startswith("_")]) == 39


@pytest.mark.parametrize("name", RULES)
def test_every_single_round_game_asks_with_its_rules(name: str) -> None:
    if not (TASKS / f"game_behavior_{name}.yaml").exists():
        pytest.skip("no such task")
    assert prompt(f"game_behavior_{name}", {})[1] == RULES[name].instruction


@pytest.mark.parametrize(
    ("unknown", "system"),
    [
        (("gender",), "You are a 34-year-old from PH. You are Left-handed. {race}Your native language is not English."),
        (("country",), "You are a 34-year-old female. You are Left-handed. {race}Your native language is not English."),
        (("race", "hand"), "You are a 34-year-old female from PH. Your native language is not English."),
        (("gender", "country", "race", "hand", "language"), "You are a 34-year-old."),
    ],
)
def test_what_is_not_known_is_not_said(unknown: tuple[str, ...], system: str) -> None:
    row = {**ROWS["surv_resp_pred"], **dict.fromkeys(unknown)}
    assert prompt("surv_resp_pred", row)[0] == system.format(race=f"Your race is {PERSON['race']}. ")
    row = {**ROWS["pers_score_pred"], **dict.fromkeys(unknown)}
    told = prompt("pers_score_pred", row)[1].split("\n")[1]
    expected = system.replace("You are a ", "A ").replace("You are ", "").replace("Your ", "The ")
    assert told == expected.format(race=f"The race is {PERSON['race']}. ")


def test_a_title_is_asked_for_with_the_aspects_that_were_found() -> None:
    known = {"context": "C.", "key_idea": "K.", "method": None, "outcome": "O.", "projected_impact": None}
    asked = "predict the title of this research paper. Output only the title without explanation."
    told = prompt("workflow_title_prediction", known)[1]
    assert told == f"Given the context: 'C.', the key idea: 'K.', the outcome: 'O.', {asked}"
    # As in the released set, which has titles of papers without a method or an impact.
    (step,) = load_task(TASKS / "workflow_title_prediction.yaml").sample
    assert step.params["columns"] == ["context", "key_idea", "title"]


def test_the_item_stands_between_the_marks_that_evaluations_cut_at() -> None:
    user = prompt("surv_resp_pred", ROWS["surv_resp_pred"])[1]
    assert user.split("or [5]): ")[1].split(" Only output")[0] == "I have frequent mood swings."
    assert "\n" not in user


def test_history_games_come_in_the_order_of_their_titles() -> None:
    titles = [rules.title for rules in RULES.values()]
    assert titles == sorted(titles)
    user = prompt("acrossgame_behavior_dictator", across("dictator"))[1]
    assert user.index("1. The Bomb Risk Game") < user.index("2. The Trust Game (as the Banker)")
    assert "The Dictator Game" not in user
    assert user.endswith(RULES["dictator"].instruction)


def test_a_play_shows_no_round_that_is_still_to_come() -> None:
    user = prompt("seq_surv_resp", asked("E2", "before"))[1]
    assert user.count("Answer: [") == 5
    assert "6. I don't talk a lot." in user.split("## The Next Question\n")[1]
    assert prompt("missing_surv_resp", asked("A3", "others"))[1].count("Answer: [") == 49


@pytest.mark.shared
def test_instructions_are_those_of_the_paper(shared_dir: Path) -> None:
    paper = " ".join((shared_dir / "seeds/behaviorbench.txt").read_text("utf-8").translate(STRAIGHT).split())
    for rules in RULES.values():
        text = rules.instruction.replace("99 other players", "{num_players} other players").replace("\n* ", "\n")
        assert " ".join(text.split()) in paper
    for task in ("surv_resp_pred", "demo_pred_age", "pers_score_pred", "acrossdim_pers_score", "seq_surv_resp"):
        for sentence in _fixed_sentences(prompt(task, ROWS[task])):
            assert sentence in paper, sentence


def _fixed_sentences(messages: tuple[str, str]) -> list[str]:
    """Return the lines that are alike for every person: no headings, no values, no items."""
    system, user = messages
    lines = [*([] if "34-year-old" in system else [system]), *user.replace(BY_CODE["N8"].statement, "\n").split("\n")]
    return [line.strip() for line in lines if line and line[0] not in "#*123456789A" and "*" not in line]
