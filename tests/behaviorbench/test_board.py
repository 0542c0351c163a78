"""The suite's leaderboard rule."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from hbench.stat import Board, Placed, Resampling, UseDraws, filled_with_worst
from hbench_behaviorbench.board import SCENARIOS, behaviorbench


def placed(
    task: str, metric: str, level: str, better: str, scores: list[float], groups: tuple[str, ...] = ()
) -> Placed:
    values = np.array(scores)
    use = UseDraws(metric, None, level, better, values, np.repeat(values[:, None], 5, axis=1))  # type: ignore[arg-type]
    return Placed(f"behaviorbench/{task} test", "t", "baseline", "numeric", use, 10, 10, groups)


def board(models: tuple[str, ...], uses: list[Placed]) -> Board:
    return Board(models, tuple(uses), Resampling(draws=5), tuple(uses))


NAMES = {
    "game_behavior": "ml_game", "multiround_behavior": "ml_multiround", "acrossgame_behavior": "ml_acrossgame",
    "pers_score_pred": "bf_pers_score", "acrossdim_pers_score": "bf_acrossdim", "surv_resp_pred": "bf_singleq",
    "missing_surv_resp": "bf_missing", "seq_surv_resp": "bf_sequential", "demo_pred_age": "bf_age",
    "strategic_gameplay": "sg_winrate", "workflow": "wf_bleurt", "ieo": "ho_ieo",
}  # fmt: skip


def published(family: str, metric: str) -> str:
    name = NAMES[family]
    if name.startswith("ml_"):
        return f"{name}_mae" if metric == "mae" else name
    if metric == "wasserstein":
        return f"{name}_wdist"
    return f"{name}_acc" if metric == "accuracy" and name.startswith("bf") else name


@pytest.mark.shared
def test_the_published_board_comes_out_of_the_rule(shared_dir: Path) -> None:
    page = json.loads((shared_dir / "facts" / "behaviorbench" / "leaderboard.json").read_text())
    merged = page["results_displayed_merged"]
    models = tuple(merged)
    about = {scenario["id"]: scenario for scenario in page["scenarios"]}
    uses = []
    for scenario in SCENARIOS:
        name = published(scenario.family, scenario.metric)
        scores = [math.nan if merged[m].get(name) is None else float(merged[m][name]) for m in models]
        uses.append(placed(scenario.family, scenario.metric, scenario.level, about[name]["direction"], scores))
    assert {published(s.family, s.metric) for s in SCENARIOS} == set(page["displayed_scenarios"])
    found = behaviorbench(board(models, uses))
    rates = {row["id"]: row for row in page["mean_win_rates_recomputed"]}
    for i, model in enumerate(models):
        for column, key in (("win_rate:individual", "individual_mean_win_rate"),
                            ("win_rate:distributional", "distributional_mean_win_rate"),
                            ("win_rate", "overall_mean_win_rate")):  # fmt: skip
            assert found.column(column).standing.values[i] == pytest.approx(rates[model][key], abs=1e-12)
    assert found.models[found.order()[0]] == max(rates, key=lambda m: rates[m]["overall_mean_win_rate"])


def test_a_familys_games_weigh_alike_with_push_pull_folded_in() -> None:
    games = ("multiround_behavior",)
    uses = [
        placed("multiround_behavior_bomb", "mae", "individual", "lower", [10.0, 20.0], games),
        placed("multiround_behavior_dictator", "mae", "individual", "lower", [10.0, 20.0], games),
        placed("multiround_behavior_push_pull", "mae", "individual", "lower", [60.0, 20.0], games),
    ]
    found = behaviorbench(board(("a", "b"), uses))
    assert found.column("multiround_behavior:mae").standing.values.tolist() == pytest.approx([80 / 3, 20.0])
    assert found.column("win_rate:individual").standing.values.tolist() == [0.0, 1.0]
    assert any("game_behavior:wasserstein" in note for note in found.notes)


def test_ties_count_half_and_missing_models_are_left_out() -> None:
    uses = [
        placed("demo_pred_age", "mae", "individual", "lower", [1.0, 1.0, math.nan]),
        placed("surv_resp_pred", "accuracy", "individual", "higher", [0.5, 0.4, 0.3]),
    ]
    found = behaviorbench(board(("a", "b", "c"), uses)).column("win_rate:individual").standing.values
    assert found.tolist() == [0.75, 0.5, 0.0]


def test_worst_policy_fills_those_that_were_asked() -> None:
    scores = np.array([[3.0], [math.nan], [5.0], [math.nan]])
    asked = np.array([True, True, True, False])
    filled = filled_with_worst(scores, "lower", asked)[:, 0].tolist()
    assert filled[:3] == [3.0, 5.0, 5.0]
    assert math.isnan(filled[3])


def test_nothing_to_show_is_no_error() -> None:
    found = behaviorbench(board(("a",), [placed("other", "mae", "individual", "lower", [1.0])]))
    assert math.isnan(found.column("win_rate").standing.values[0])
