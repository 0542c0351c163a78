"""Enumeration: one row for every question that could be asked about a respondent or a player."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from hbench.core import DataError, SpecError, stable_seed
from hbench.data import StepContext, adds_rows
from hbench_behaviorbench import instrument
from hbench_behaviorbench.contest import winning
from hbench_behaviorbench.games import RULES

if TYPE_CHECKING:
    import polars as pl

_CODES = tuple(item.code for item in instrument.ITEMS)
Given = Literal["nothing", "before", "others"]


@adds_rows
def bigfive_pairs(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Ask about each dimension of every respondent.

    Respondents keep their order; within each the dimensions come as Extraversion, Neuroticism, Agreeableness,
    Conscientiousness, Openness (9,815 rows of the 1,963 test subjects).

    Returns
    -------
    polars.LazyFrame
        With ``dimension`` (name), ``score`` (10 to 50 points) and the other scores as ``other_Extraversion`` and so on,
        null for the dimension itself. Items and the original scores are left out, so that none gives the answer away.
    """
    import polars as pl

    names = list(instrument.DIMENSIONS.values())
    return (
        frame.drop(_CODES)
        .with_columns(dimension=pl.lit(pl.Series([names])).first(), score=pl.concat_list(names))
        .explode("dimension", "score")
        .with_columns(pl.when(pl.col("dimension") != name).then(pl.col(name)).alias(f"other_{name}") for name in names)
        .drop(names)
    )


@adds_rows
def bigfive_items(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    per_subject: int = 5,
    seed: int = 42,
    given: Given = "nothing",
) -> pl.LazyFrame:
    """Ask every respondent about a few items, drawn at random and in random order.

    Which items the benchmark drew is not known; five a respondent fit the largest published index (9,814 of 1,963 test
    subjects). Ours come from one generator over all respondents in file order, so that they are the same everywhere.

    Parameters
    ----------
    per_subject : int
        Items drawn for each respondent, 1 to 50 (49 where earlier ones are given).
    seed : int
        Seed of the draw.
    given : {"nothing", "before", "others"}
        Which answers are known when the question is asked: none, those to the items before it in the survey (at least
        one), or the other 49.

    Returns
    -------
    polars.LazyFrame
        With ``target_item`` (as ``E1``), ``target_position`` (1 to 50 in the survey), ``history_length`` (items before
        it), ``dimension``, ``statement`` and ``answer`` (1 to 5). Of the item columns those that are given keep their
        value and the others are null.
    """
    import polars as pl

    first = 1 if given == "before" else 0
    if not 1 <= per_subject <= len(_CODES) - first:
        raise SpecError(f"per_subject is {per_subject}, not a number from 1 to {len(_CODES) - first}")
    people = frame.collect()
    answers = people.select(_CODES).to_numpy()
    # RandomState's stream is frozen by NumPy, unlike those of newer generators.
    chance = np.random.RandomState(stable_seed(seed, "behaviorbench", "bigfive_items") % 2**32)
    drawn = first + chance.random_sample(answers[:, first:].shape).argsort(axis=1, kind="stable")[:, :per_subject]
    items = [instrument.ITEMS[place] for place in drawn.ravel().tolist()]
    return (
        people[np.repeat(np.arange(len(people)), per_subject)]
        .lazy()
        .with_columns(
            pl.Series("target_item", [item.code for item in items], dtype=pl.String),
            pl.Series("target_position", [item.position for item in items], dtype=pl.Int64),
            pl.Series("history_length", [item.position - 1 for item in items], dtype=pl.Int64),
            pl.Series("dimension", [instrument.DIMENSIONS[item.dimension] for item in items], dtype=pl.String),
            pl.Series("statement", [item.statement for item in items], dtype=pl.String),
            pl.Series("answer", np.take_along_axis(answers, drawn, axis=1).ravel(), dtype=pl.Int64),
        )
        .with_columns(pl.when(_given(given, k)).then(pl.col(code)).alias(code) for k, code in enumerate(_CODES))
        .drop(*_CODES if given == "nothing" else (), *instrument.DIMENSIONS.values())
    )


def _given(which: Given, place: int) -> pl.Expr:
    """Say whether the answer to the item at a place (from 0) is known when the row's question is asked."""
    import polars as pl

    if which == "nothing":
        return pl.lit(False)
    target = pl.col("history_length")
    return target > place if which == "before" else target != place


def earlier_rounds(
    frame: pl.LazyFrame, context: StepContext, *, game: str, role: str, others: bool = False
) -> pl.LazyFrame:
    """Ask about each later round of a play, given the rounds before it.

    A play of n rounds gives n - 1 rows with nested histories, as in the benchmark.

    Parameters
    ----------
    game, role : str
        Carried along as constants, as in the benchmark's metadata.
    others : bool
        Whether the prompt shows the other players' moves.

    Returns
    -------
    polars.LazyFrame
        With ``earlier`` (the moves so far), ``earlier_others`` (the other players', round by round), ``last_move``,
        ``mean_move``, ``history_rounds``, ``target_round``, ``instance`` (play and round), ``game``, ``role`` and
        ``has_others_info``; with `others` also ``num_players`` (how many others there are) and ``investment`` (the
        first of their moves in the round asked about, which a banker is told).
    """
    import polars as pl

    if others:
        context.need(frame, ["others"])
    who = ["user_id", "play"]
    # One list a play, cut to what was known at each round: plays are unbroken from round 1 on.
    histories = {"earlier": "move", **({"earlier_others": "others"} if others else {})}
    lists = frame.group_by(who, maintain_order=True).agg(
        pl.col(column).alias(name) for name, column in histories.items()
    )
    return (
        frame.join(lists, on=who, how="left", maintain_order="left")
        .filter(pl.col("round") >= 2)
        .with_columns(pl.col(name).list.head(pl.col("round") - 1) for name in histories)
        .with_columns(
            pl.col("earlier").list.last().alias("last_move"),
            pl.col("earlier").list.mean().alias("mean_move"),
            (pl.col("round") - 1).alias("history_rounds"),
            pl.col("round").alias("target_round"),
            pl.format("{}.{}", "play", "round").alias("instance"),
            pl.lit(game).alias("game"),
            pl.lit(role).alias("role"),
            pl.lit(others).alias("has_others_info"),
            *(
                [
                    pl.col("others").list.len().cast(pl.Int64).alias("num_players"),
                    pl.col("others").list.first().alias("investment"),
                ]
                if others
                else []
            ),
        )
    )


def across_games(frame: pl.LazyFrame, context: StepContext, *, target: str) -> pl.LazyFrame:
    """Ask about the first move in one game, given those in all other games that the user played.

    Parameters
    ----------
    target : str
        The game asked about; a column of the table.

    Returns
    -------
    polars.LazyFrame
        With ``move`` (the target game's), ``target_game``, ``history_games`` (names, comma-separated) and
        ``history_count``; the target game's own column is null.
    """
    import polars as pl

    context.need(frame, [target])
    others = [name for name in frame.collect_schema().names() if name in RULES and name != target]
    played = pl.concat_list(pl.when(pl.col(name).is_not_null()).then(pl.lit(name)) for name in others).list.drop_nulls()
    frame = frame.with_columns(
        pl.col(target).alias("move"),
        pl.lit(target).alias("target_game"),
        played.list.join(",").alias("history_games"),
        played.list.len().cast(pl.Int64).alias("history_count"),
        pl.lit(None, dtype=pl.Float64).alias(target),
    )
    if not frame.select(pl.col("move").count()).collect().item():
        raise DataError(f"nobody played {target}", hint="Its log is not among the raw files; see `hbench data status`.")
    return context.keep(
        frame,
        {
            f"did not play {target}": pl.col("move").is_not_null(),
            "played no other game": pl.col("history_count") > 0,
        },
    )


def winning_guesses(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Ask for a winning guess in each round, given averages of the rounds before it.

    A guess k wins if no other player is closer to two thirds of the mean of all guesses, k among them; ties win.

    Returns
    -------
    polars.LazyFrame
        With ``winner`` (the lowest winning whole number), ``all_winners``, ``other_players_choices``, and what
        `earlier_rounds` adds; rounds that no whole number wins are left out.
    """
    import polars as pl

    later = earlier_rounds(frame, context, game="guessing", role="player", others=True)
    first = frame.filter(pl.col("round") == 1).with_columns(
        pl.lit([], dtype=pl.List(pl.Float64)).alias("earlier"),
        pl.lit([], dtype=pl.List(pl.List(pl.Float64))).alias("earlier_others"),
        pl.lit(0, dtype=pl.Int64).alias("history_rounds"),
        pl.lit(1, dtype=pl.Int64).alias("target_round"),
        pl.format("{}.1", "play").alias("instance"),
        pl.lit("guessing").alias("game"),
        pl.lit("player").alias("role"),
        pl.lit(True).alias("has_others_info"),
        pl.col("others").list.len().cast(pl.Int64).alias("num_players"),
    )
    rows = pl.concat([first, later], how="diagonal").sort("user_id", "play", "round").collect()
    winners = pl.Series("all_winners", [winning(others) for others in rows["others"]], dtype=pl.List(pl.Int64))
    return context.keep(
        rows.with_columns(
            winners,
            winners.list.first().alias("winner"),
            pl.col("others").alias("other_players_choices"),
        ).lazy(),
        {"no whole number wins": pl.col("winner").is_not_null()},
    )
