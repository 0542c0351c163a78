"""Sample steps of the task on the adult whose partner lost a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.data import StepContext
from hbench_householdbench.steps.psid_events import person_at
from hbench_householdbench.steps.psid_households import Households, households

if TYPE_CHECKING:
    import polars as pl

_SIDES = {"you": "other", "partner": "displaced"}
"""The columns of their ids."""
_ALWAYS = ("demo_age_gen", "annual_hours", "earn_tot_nd", "finc_tot_nd")
_NOW = (*_ALWAYS, "demo_sex", "edu_year", "fam_size", "fam_size_chi", "home_stat", "geo_region", "asked")


def psid_one_loss(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep couples of whom one lost one job, without another loss in the wave before or after."""
    import polars as pl

    context.need(frame, ["subject", "survey_year", "losses"])
    years = pl.col("survey_year")
    near = frame.select("subject", years.alias("other")).join(frame.select("subject", "survey_year"), on="subject")
    near = near.filter((pl.col("other") - years).abs() == 1).select("subject", "survey_year").unique()
    frame = frame.join(
        near.with_columns(__near=pl.lit(True)), on=["subject", "survey_year"], how="left", maintain_order="left"
    )
    return context.keep(
        frame,
        {
            "both adults lost a job": pl.col("losses") == 1,
            "the adult has no partner of the sample": pl.col("subject").str.starts_with("psid_pair_"),
            "another loss is a wave away": pl.col("__near").is_null(),
        },
    ).drop("__near")


def psid_couple_history(frame: pl.LazyFrame, context: StepContext, *, waves: int) -> pl.LazyFrame:
    """Add what a couple did before, in and after the year in which one of them lost a job.

    "You" are the one who did not. The wave of the loss and the one after tell of the outcomes, the waves before of the
    history; ``release_date`` becomes that of the wave after. Adds ``ages``, all of both in the three waves, and
    ``both_asked``.

    Parameters
    ----------
    waves : int
        Waves before the loss that are shown as long as the couple was together, and its work and income are known.
    """
    import polars as pl

    context.need(frame, ["subject", "survey_year", "displaced"])
    found = households(context)
    rows = _both(frame.collect(), found)
    for offset in range(-waves, 2):
        for side, who in _SIDES.items():
            rows = person_at(rows, found, who, offset, _ALWAYS if offset else _NOW, f"{side}{offset}_")
    conditions = {
        f"an adult is not there in the wave {when} the loss": pl.all_horizontal(
            pl.col(f"{side}{offset}_there") for side in _SIDES
        )
        for offset, when in ((-1, "before"), (0, "of"), (1, "after"))
    }
    rows = context.keep(rows.lazy(), conditions).collect()
    rows = _with_reasons(_with_history(_with_profile(rows), waves), found)
    helpers = tuple(f"{side}{offset}_" for side in _SIDES for offset in range(-waves, 2))
    return rows.drop(name for name in rows.columns if name.startswith(helpers)).lazy()


def psid_ages(frame: pl.LazyFrame, context: StepContext, *, between: Sequence[float]) -> pl.LazyFrame:
    """Keep couples all of whose ``ages`` lie between the two given."""
    import polars as pl

    context.need(frame, ["ages"])
    youngest, oldest = between
    inside = pl.col("ages").list.eval(pl.element().is_between(youngest, oldest).fill_null(False)).list.all()
    return context.keep(frame, {f"an age is outside {youngest}-{oldest}": inside}).drop("ages")


def psid_both_asked(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep couples both of whom were asked about lost jobs."""
    import polars as pl

    context.need(frame, ["both_asked"])
    return context.keep(frame, {"an adult was not asked about lost jobs": pl.col("both_asked")})


def _both(rows: pl.DataFrame, found: Households) -> pl.DataFrame:
    """Add ``other``, who lives with the one who lost the job."""
    import polars as pl

    adults = found.adults.select("subject", pl.col("year").alias("survey_year"), pl.col("id").alias("other"))
    rows = rows.join(adults, on=["subject", "survey_year"], how="left", maintain_order="left")
    return rows.filter(pl.col("other") != pl.col("displaced"))


def _with_profile(rows: pl.DataFrame) -> pl.DataFrame:
    """Name what both are in the wave of the loss, and what "you" did in its year and in the one after."""
    import polars as pl

    def both(name: str, ending: str = "") -> list[pl.Expr]:
        return [pl.col(f"{side}0_{name}").alias(f"current_{side}_{name}{ending}") for side in _SIDES]

    outcomes = [
        pl.col(f"you{offset}_{name}").alias(f"partner_annual_{what}_{when}_year")
        for offset, when in ((0, "event"), (1, "following"))
        for name, what in (("annual_hours", "hours"), ("earn_tot_nd", "earnings"))
    ]
    return rows.with_columns(
        *outcomes,
        *(*both("demo_age_gen"), *both("demo_sex", "_label"), *both("edu_year")),
        *(pl.col(f"you0_{name}").alias(f"current_{name}") for name in ("fam_size", "fam_size_chi")),
        # Nothing else than "your" own, but the record of each must have it.
        *(pl.col(f"partner0_{name}").alias(f"displaced_{name}") for name in ("fam_size", "fam_size_chi")),
        *(pl.col(f"you0_{name}").alias(f"current_{name}_label") for name in ("home_stat", "geo_region")),
        both_asked=pl.all_horizontal(f"{side}0_asked" for side in _SIDES),
        ages=pl.concat_list(f"{side}{offset}_demo_age_gen" for side in _SIDES for offset in (-1, 0, 1)),
        release_date=pl.max_horizontal("release_date", "you1_release_date"),
    )


def _with_history(rows: pl.DataFrame, waves: int) -> pl.DataFrame:
    """Name the lags; those beyond the first count only while both are there and all of it is known."""
    import polars as pl

    shown = pl.lit(True)
    for lag in range(1, waves + 1):
        own, other = f"you{-lag}_", f"partner{-lag}_"
        values = {
            "nondisplaced_partner_annual_hours": f"{own}annual_hours",
            "nondisplaced_partner_earn_tot_nd": f"{own}earn_tot_nd",
            "displaced_annual_hours": f"{other}annual_hours",
            "displaced_earn_tot_nd": f"{other}earn_tot_nd",
            "finc_tot_nd": f"{other}finc_tot_nd",
        }
        if lag > 1:
            known = pl.all_horizontal(pl.col(list(values.values())).is_not_null())
            shown = shown & known & pl.col(f"{own}there") & pl.col(f"{other}there")
        rows = rows.with_columns(
            pl.when(shown).then(pl.lit(lag, pl.Int32)).alias(f"history_lag{lag}_elapsed_years_to_event"),
            *(pl.when(shown).then(column).alias(f"history_lag{lag}_{name}") for name, column in values.items()),
        )
    return rows


def _with_reasons(rows: pl.DataFrame, found: Households) -> pl.DataFrame:
    key = {"id": "displaced", "year": "survey_year"}
    now = found.episodes.rename({**key, "reason": "displacement_reason"})
    rows = rows.join(now, on=list(key.values()), how="left", maintain_order="left")
    return rows.join(found.prior("").rename(key), on=list(key.values()), how="left", maintain_order="left")
