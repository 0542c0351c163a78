"""Sample steps of the task on the decennial census."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.data import StepContext
from hbench.data.steps import attach
from hbench_householdbench.sources.state_economy import TABLE
from hbench_householdbench.sources.states import FIPS

if TYPE_CHECKING:
    import polars as pl

YEARS_BEFORE = 5
_CHOICES = {1: "stay", 2: "move_within_state", 3: "move_to_different_state"}
"""Target by code of MIGRATE5; people who lived abroad have none."""
_NOT_HISPANIC = 0
_ECONOMY = {
    "unemployment_rate": "unemployment_rate",
    "pcpi_growth_1y": "pcpi_growth",
    "hpi_growth_1y": "house_price_growth",
}
"""Our names of the state panel's columns."""
_NEEDED = ("YEAR", "AGE", "STATEFIP", "MIGRATE5", "MIGPLAC5", "HISPAN")
_LABELS = ("SEX_label", "RACE_label", "HISPAN_label", "EDUC_label", "STATEFIP_label", "MIGPLAC5_label")


def census_origin(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add who a person was five years ago, and where.

    Adds ``target``; ``age_origin``; ``sex``, ``race_ethnicity`` and ``education`` (the census's own words, schooling at
    its latest); ``origin_state`` and ``origin_fips`` (null outside of the states and the District of Columbia);
    ``origin_date``, the first day of the five years' first year; and ``reference_year``, the year before it.
    """
    import polars as pl

    context.need(frame, [*_NEEDED, *_LABELS])
    left = pl.col("MIGRATE5") == 3
    fips = pl.when(left).then("MIGPLAC5").otherwise("STATEFIP")
    is_state = fips.is_in(list(FIPS)) & pl.col("MIGRATE5").is_in(list(_CHOICES))
    origin = pl.col("HISPAN_label")
    return frame.with_columns(
        pl.col("MIGRATE5").replace_strict(_CHOICES, default=None, return_dtype=pl.String).alias("target"),
        (pl.col("AGE") - YEARS_BEFORE).alias("age_origin"),
        pl.col("SEX_label").alias("sex"),
        pl.when(pl.col("HISPAN") == _NOT_HISPANIC)
        .then(pl.format("{}, {}", "RACE_label", origin.str.to_lowercase()))
        .otherwise(pl.format("{}, Hispanic", origin))
        .alias("race_ethnicity"),
        pl.col("EDUC_label").alias("education"),
        pl.when(is_state).then(fips).cast(pl.Int32).alias("origin_fips"),
        pl.when(is_state).then(pl.when(left).then("MIGPLAC5_label").otherwise("STATEFIP_label")).alias("origin_state"),
        pl.date(pl.col("YEAR") - YEARS_BEFORE, 1, 1).alias("origin_date"),
        (pl.col("YEAR") - YEARS_BEFORE - 1).cast(pl.Int32).alias("reference_year"),
    )


def census_state_economy(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add how the state of `census_origin`, and the country, did in the year before the five years.

    Adds ``state_`` and ``us_``, each with ``unemployment_rate_origin``, ``pcpi_growth_origin`` and
    ``house_price_growth_origin`` (percent); null where the table ``state_economy`` lacks the state's year.
    """
    names = {f"{of}{name}": f"{of or 'state_'}{ours}_origin" for of in ("", "us_") for name, ours in _ECONOMY.items()}
    frame = attach(
        frame, context, table=TABLE, on={"origin_fips": "statefip", "reference_year": "year"}, columns=list(names)
    )
    return frame.rename(names)
