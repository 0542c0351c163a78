"""Sample steps that find households which lost a job, and households which did not."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.data import StepContext
from hbench_householdbench.steps.psid_households import Households, households

if TYPE_CHECKING:
    import polars as pl

_DRAW = "42018"
"""Begins the texts by whose digests controls are drawn."""


def psid_shocks(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Put households that lost jobs, by wave, in the place of members.

    Adds ``row_id``, ``subject`` (the household), ``survey_year`` (the wave that tells of it), ``assigned_event_year``
    (the year before), ``event_date``, ``release_date`` and ``losses``.
    """
    return _dated(households(context).shocks, frame, "household_shock").lazy()


def psid_shocks_and_controls(frame: pl.LazyFrame, context: StepContext, *, before: int) -> pl.LazyFrame:
    """Put households that lost jobs, and one wave each of households that never did, in the place of members.

    A control is a wave in which every adult was asked about lost jobs and none has ever told of one, of a household
    that was the same in the waves before; of several the one is taken whose digest is the least.

    Parameters
    ----------
    before : int
        Waves before in which a control must have been the same household.
    """
    import polars as pl

    found = households(context)
    events = _dated(found.shocks.select("subject", "year"), frame, "household_shock")
    controls = _dated(_drawn(_never_lost(found, before)), frame, "control")
    rows = [
        table.with_columns(observation_type=pl.lit(kind)) for table, kind in ((events, "event"), (controls, "control"))
    ]
    return pl.concat(rows).sort("survey_year", "row_id").lazy()


def person_at(
    rows: pl.DataFrame, found: Households, who: str, offset: int, facts: Sequence[str], prefix: str
) -> pl.DataFrame:
    """Join an adult's facts of the wave `offset` from the row's, while living in the same household.

    Adds ``PREFIXthere``, and ``PREFIXrelease_date`` of the wave.
    """
    import polars as pl

    other = found.adults.select(
        pl.col("id").alias(who),
        "subject",
        (pl.col("year") - offset).alias("survey_year"),
        pl.lit(True).alias(f"{prefix}there"),
        pl.col("release_date").alias(f"{prefix}release_date"),
        *(pl.col(name).alias(prefix + name) for name in facts),
    )
    rows = rows.join(other, on=[who, "subject", "survey_year"], how="left", maintain_order="left")
    return rows.with_columns(pl.col(f"{prefix}there").fill_null(False))


def _dated(rows: pl.DataFrame, members: pl.LazyFrame, kind: str) -> pl.DataFrame:
    import polars as pl

    releases = members.select("year", "release_date").unique().collect()
    year = pl.col("year")
    rows = rows.join(releases, on="year", how="left", maintain_order="left")
    return rows.with_columns(
        row_id=pl.concat_str(pl.lit(f"psid_{kind}_"), "subject", pl.lit("_"), year.cast(pl.String)),
        event_date=(year - 1).cast(pl.String) + "-12-31",
        assigned_event_year=year - 1,
    ).rename({"year": "survey_year"})


def _never_lost(found: Households, before: int) -> pl.DataFrame:
    """Return waves of households whose adults were all asked and have not told of a lost job by then."""
    import polars as pl

    first = found.reports.group_by("id").agg(pl.col("year").min().alias("told"))
    adults = found.adults.join(first, on="id", how="left", maintain_order="left")
    clean = pl.col("asked") & (pl.col("told").is_null() | (pl.col("told") > pl.col("year")))
    every = adults.group_by("subject", "year").agg(clean.all().alias("clean")).sort("year", "subject")
    waves = every.filter("clean").select("subject", "year")
    for back in range(1, before + 1):
        earlier = every.select("subject", pl.col("year") + back)
        waves = waves.join(earlier, on=["subject", "year"], how="semi", maintain_order="left")
    return waves


def _drawn(waves: pl.DataFrame) -> pl.DataFrame:
    """Return one wave a household: the one whose text has the least digest."""
    import polars as pl

    texts = (f"{_DRAW}|{subject}|{year}" for subject, year in waves.iter_rows())
    digests = pl.Series("digest", [hashlib.sha256(text.encode()).hexdigest() for text in texts], dtype=pl.String)
    drawn = waves.with_columns(digests).sort("subject", "digest").unique("subject", keep="first", maintain_order=True)
    return drawn.drop("digest").sort("year", "subject")
