"""Enumeration of the Big Five tasks: one row for every question that could be asked about a respondent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hbench.core import SpecError, stable_seed
from hbench_behaviorbench import instrument

if TYPE_CHECKING:
    import polars as pl

_CODES = tuple(item.code for item in instrument.ITEMS)


def bigfive_pairs(frame: pl.LazyFrame, context: Any) -> pl.LazyFrame:
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


def bigfive_items(frame: pl.LazyFrame, context: Any, *, per_subject: int = 5, seed: int = 42) -> pl.LazyFrame:
    """Ask every respondent about a few items, drawn at random and in random order.

    Which items the benchmark drew is not known; five a respondent fit the largest published index (9,814 of 1,963 test
    subjects). Ours come from one generator over all respondents in file order, so that they are the same everywhere.

    Parameters
    ----------
    per_subject : int
        Items drawn for each respondent, 1 to 50.
    seed : int
        Seed of the draw.

    Returns
    -------
    polars.LazyFrame
        With ``target_item`` (as ``E1``), ``target_position`` (1 to 50 in the survey), ``dimension``, ``statement`` and
        ``answer`` (1 to 5).
    """
    import polars as pl

    if not 1 <= per_subject <= len(_CODES):
        raise SpecError(f"per_subject is {per_subject}, not a number from 1 to {len(_CODES)}")
    people = frame.collect()
    answers = people.select(_CODES).to_numpy()
    # RandomState's stream is frozen by NumPy, unlike those of newer generators.
    chance = np.random.RandomState(stable_seed(seed, "behaviorbench", "bigfive_items") % 2**32)
    drawn = chance.random_sample(answers.shape).argsort(axis=1, kind="stable")[:, :per_subject]
    items = [instrument.ITEMS[place] for place in drawn.ravel().tolist()]
    return (
        people[np.repeat(np.arange(len(people)), per_subject)]
        .with_columns(
            pl.Series("target_item", [item.code for item in items], dtype=pl.String),
            pl.Series("target_position", [item.position for item in items], dtype=pl.Int64),
            pl.Series("dimension", [instrument.DIMENSIONS[item.dimension] for item in items], dtype=pl.String),
            pl.Series("statement", [item.statement for item in items], dtype=pl.String),
            pl.Series("answer", np.take_along_axis(answers, drawn, axis=1).ravel(), dtype=pl.Int64),
        )
        .lazy()
    )
