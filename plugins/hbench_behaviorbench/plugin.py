"""What the behaviorbench suite adds to hbench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.plugin import hookimpl

if TYPE_CHECKING:
    from hbench.plugin import Scope

_PACKAGE = "hbench_behaviorbench"


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Register the suite's sources, steps, split rule, adapters, metrics, leaderboard rule and data layout."""
    scope.add("source", "bigfive", f"{_PACKAGE}.sources.bigfive:BigFive")
    scope.add("source", "moblab", f"{_PACKAGE}.sources.moblab:MobLab")
    scope.add("source", "moblab_by_subject", f"{_PACKAGE}.sources.moblab:MobLabBySubject")
    scope.add("source", "olympiad", f"{_PACKAGE}.sources.olympiad:Olympiad")
    scope.add("source", "workflow", f"{_PACKAGE}.sources.workflow:Workflow")
    scope.add("step", "bigfive_pairs", f"{_PACKAGE}.steps:bigfive_pairs")
    scope.add("step", "bigfive_items", f"{_PACKAGE}.steps:bigfive_items")
    scope.add("step", "earlier_rounds", f"{_PACKAGE}.steps:earlier_rounds")
    scope.add("step", "across_games", f"{_PACKAGE}.steps:across_games")
    scope.add("step", "winning_guesses", f"{_PACKAGE}.steps:winning_guesses")
    scope.add("expansion", "winning_guesses", f"{_PACKAGE}.contest:winning_guesses")
    scope.add("leaderboard", "behaviorbench", f"{_PACKAGE}.board:behaviorbench")
    scope.add("metric", "win_rate", f"{_PACKAGE}.contest:WinRate")
    scope.add("metric", "rouge1", f"{_PACKAGE}.texts:Rouge1")
    scope.add("metric", "bleurt", f"{_PACKAGE}.texts:Bleurt")
    scope.add("adapter", "play_history", f"{_PACKAGE}.prompts:play_history")
    scope.add("adapter", "guessing_history", f"{_PACKAGE}.prompts:guessing_history")
    scope.add("adapter", "games", f"{_PACKAGE}.prompts:games")
    scope.add("adapter", "other_games", f"{_PACKAGE}.prompts:other_games")
    scope.add("adapter", "survey_order", f"{_PACKAGE}.prompts:survey_order")
    scope.add("adapter", "by_dimension", f"{_PACKAGE}.prompts:by_dimension")
    scope.add("model_adapter", "centaur", f"{_PACKAGE}.centaur:Centaur")
    scope.add("family", "centaur", f"{_PACKAGE}.centaur:FAMILY")
    scope.add("layout", "bundle", f"{_PACKAGE}.bundle:Bundle")
    scope.add("split", "people", f"{_PACKAGE}.splits:people")
