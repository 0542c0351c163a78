from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.stat.winrate import elo, fold_in, win_rates

SCORES = st.lists(st.one_of(st.just(math.nan), st.integers(0, 4).map(float)), min_size=1, max_size=8)


@given(SCORES, st.sampled_from(["lower", "higher"]))
def test_equals_counting_by_hand(scores: list[float], better: str) -> None:
    rates = win_rates(np.array(scores), better)
    present = [i for i, s in enumerate(scores) if not math.isnan(s)]
    for i, score in enumerate(scores):
        rivals = [scores[j] for j in present if j != i]
        if math.isnan(score) or not rivals:
            assert math.isnan(rates[i])
            continue
        points = sum(1.0 if (score < r if better == "lower" else score > r) else 0.5 * (score == r) for r in rivals)
        assert rates[i] == pytest.approx(points / len(rivals), abs=1e-15)


def test_twice_and_half_as_much_are_level() -> None:
    assert win_rates(np.array([0.5, 2.0, 1.2, 0.0]), "one").tolist() == pytest.approx([0.5, 0.5, 1.0, 0.0])
    ratings = elo([(np.array([0.9, 2.0, 0.3]), "one")] * 4)
    assert ratings[0] > ratings[1] > ratings[2]


@given(SCORES)
def test_mean_win_rate_is_one_half(scores: list[float]) -> None:
    rates = win_rates(np.array(scores), "lower")
    if (~np.isnan(rates)).any():
        assert np.nanmean(rates) == pytest.approx(0.5)


def test_elo_orders_models_and_keeps_the_mean() -> None:
    tasks = [(np.array([1.0, 2.0, 3.0]), "lower"), (np.array([0.9, 0.5, 0.1]), "higher")] * 4
    ratings = elo(tasks)
    assert ratings[0] > ratings[1] > ratings[2]
    assert ratings.mean() == pytest.approx(1500.0)


def test_elo_of_one_match_by_hand() -> None:
    assert elo([(np.array([1.0, 2.0]), "lower")]).tolist() == [1516.0, 1484.0]


@pytest.mark.shared
def test_published_board_comes_out(shared_dir: Path) -> None:
    """BehaviorBench's board of May 2026: folding Push/Pull in, win rates per task, means per level."""
    board = json.loads((shared_dir / "facts" / "behaviorbench" / "leaderboard.json").read_text())
    merged = board["results_displayed_merged"]
    models = list(merged)
    level: dict[str, list[np.ndarray]] = {"individual": [], "distributional": []}
    scenarios = {scenario["id"]: scenario for scenario in board["scenarios"]}
    for name in board["displayed_scenarios"]:
        scores = np.array([_number(merged[model].get(name)) for model in models])
        level[scenarios[name]["level"]].append(win_rates(scores, scenarios[name]["direction"]))
    assert {kind: len(parts) for kind, parts in level.items()} == {"individual": 11, "distributional": 9}
    individual = np.nanmean(level["individual"], axis=0)
    distributional = np.nanmean(level["distributional"], axis=0)
    published = {row["id"]: row for row in board["mean_win_rates_recomputed"]}
    for i, model in enumerate(models):
        assert individual[i] == pytest.approx(published[model]["individual_mean_win_rate"], abs=1e-12)
        assert distributional[i] == pytest.approx(published[model]["distributional_mean_win_rate"], abs=1e-12)
        overall = (individual[i] + distributional[i]) / 2
        assert overall == pytest.approx(published[model]["overall_mean_win_rate"], abs=1e-12)


FOLDED = {
    "ml_multiround_mae": "ho_pp_multiround_mae",
    "ml_acrossgame_mae": "ho_pp_acrossgame_mae",
    "ml_game": "ho_pushpull",
    "ml_multiround": "ho_pp_multiround_wd",
    "ml_acrossgame": "ho_pp_acrossgame_wd",
}


@pytest.mark.shared
def test_published_push_pull_folding(shared_dir: Path) -> None:
    """Each of the five games' averages gains Push/Pull as one more unit."""
    board = json.loads((shared_dir / "facts" / "behaviorbench" / "leaderboard.json").read_text())
    raw, merged = board["results_raw"], board["results_displayed_merged"]
    checked = 0
    for model in merged:
        row = raw[model]
        if f"{model}_5runs" in raw:  # shown with the mean of five runs instead
            continue
        for average, extra in FOLDED.items():
            if row.get(average) is None or row.get(extra) is None:
                continue
            folded = fold_in(row[average], row[f"{average}_n"], row[extra])
            assert folded == pytest.approx(merged[model][average], abs=1e-9)
            checked += 1
    assert checked > 50


def _number(cell: float | None) -> float:
    return math.nan if cell is None else float(cell)
