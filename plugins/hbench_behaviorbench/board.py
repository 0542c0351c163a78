"""BehaviorBench's leaderboard: mean win rates over scenarios, individual and distributional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from hbench.core import Better
from hbench.stat import Board, Leaderboard, LeaderboardColumn, Placed, Standing, average, elo, win_rates

Level = Literal["individual", "distributional"]


class Scenario(NamedTuple):
    """A column of the board: one task, or a family of games whose scores are averaged, each game alike."""

    name: str
    family: str
    level: Level
    metric: str


_FAMILIES = (
    ("game_behavior", (("distributional", "wasserstein"),)),
    ("multiround_behavior", (("individual", "mae"), ("distributional", "wasserstein"))),
    ("acrossgame_behavior", (("individual", "mae"), ("distributional", "wasserstein"))),
    ("pers_score_pred", (("individual", "mae"), ("distributional", "wasserstein"))),
    ("acrossdim_pers_score", (("individual", "mae"), ("distributional", "wasserstein"))),
    ("surv_resp_pred", (("individual", "accuracy"), ("distributional", "wasserstein"))),
    ("missing_surv_resp", (("individual", "accuracy"), ("distributional", "wasserstein"))),
    ("seq_surv_resp", (("individual", "accuracy"), ("distributional", "wasserstein"))),
    ("demo_pred_age", (("individual", "mae"), ("distributional", "wasserstein"))),
    ("strategic_gameplay", (("individual", "win_rate"),)),
    ("workflow", (("individual", "bleurt"),)),
    ("ieo", (("individual", "accuracy"),)),
)
SCENARIOS: tuple[Scenario, ...] = tuple(
    Scenario(f"{family}:{metric}", family, level, metric)  # type: ignore[arg-type]
    for family, uses in _FAMILIES
    for level, metric in uses
)
"""All columns of the published board. Those whose tasks were not run are left out and said to be."""


def behaviorbench(board: Board) -> Leaderboard:
    """Order models by the mean of their individual and distributional mean win rates.

    A family's games weigh alike, Push/Pull among them: that is what folding it into the published averages amounts to.
    Within a scenario a win counts one and a tie half; a model without a score is left out of that scenario. Elo is
    played over the same scenarios.
    """
    found: list[tuple[Scenario, Standing, Better]] = []
    missing = []
    for scenario in SCENARIOS:
        tasks = [placed for placed in board.uses if _belongs(placed, scenario)]
        if not tasks:
            missing.append(scenario.name)
            continue
        standing = average([Standing(task.headline.values, task.headline.draws, 1) for task in tasks])
        found.append((scenario, standing, tasks[0].headline.better))
    columns: list[LeaderboardColumn] = []
    levels: list[Standing] = []
    for level in ("individual", "distributional"):
        rates = [
            Standing(win_rates(standing.values, better), win_rates(standing.draws.T, better).T, standing.tasks)
            for scenario, standing, better in found
            if scenario.level == level
        ]
        if rates:
            levels.append(mean_known(rates))
            columns.append(LeaderboardColumn(f"win_rate:{level}", f"{level} ({len(rates)})", levels[-1], "higher"))
    notes = [f"scenarios without tasks here: {', '.join(missing)}"] if missing else []
    if not levels:
        return _nothing(board, notes)
    columns.append(LeaderboardColumn("win_rate", "mean win rate", average(levels), "higher"))
    ratings = elo([(standing.values, better) for _, standing, better in found])
    no_draws = np.empty((len(board.models), 0))
    columns.append(LeaderboardColumn("elo", "Elo", Standing(ratings, no_draws, len(found)), "higher", 0, error=False))
    columns += [
        LeaderboardColumn(scenario.name, scenario.name, standing, better, 2, main=False)
        for scenario, standing, better in found
    ]
    return Leaderboard("mean win rate of both levels", board.models, tuple(columns), "win_rate", tuple(notes))


def _belongs(placed: Placed, scenario: Scenario) -> bool:
    task = placed.task.rpartition("/")[2].partition(" ")[0]
    of_family = task == scenario.family or scenario.family in placed.groups or task.startswith(f"{scenario.family}_")
    use = placed.headline
    return of_family and (use.level, use.metric) == (scenario.level, scenario.metric)


def mean_known(parts: Sequence[Standing]) -> Standing:
    """Return the mean over the scenarios in which a model has a win rate."""
    values, draws = (np.array([getattr(part, name) for part in parts]) for name in ("values", "draws"))
    return Standing(_mean(values), _mean(draws), sum(part.tasks for part in parts))


def _mean(stack: np.ndarray) -> np.ndarray:
    known = ~np.isnan(stack)
    count = known.sum(axis=0)
    total = np.where(known, stack, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _nothing(board: Board, notes: list[str]) -> Leaderboard:
    empty = Standing(np.full(len(board.models), np.nan), np.full((len(board.models), 0), np.nan), 0)
    return Leaderboard(
        "mean win rate of both levels",
        board.models,
        (LeaderboardColumn("win_rate", "mean win rate", empty, "higher"),),
        "win_rate",
        tuple(notes),
    )
