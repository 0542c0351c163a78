"""Sample steps of the task on the adult whose partner lost a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.data import StepContext
from hbench_householdbench.steps.psid_events import person_at
from hbench_householdbench.steps.psid_households import Households, households

if TYPE_CHECKING:
    import polars as pl


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
        Waves before the loss that are shown if the couple was together, worked so much and earned so much as is known.
    """
    import polars as pl

    found = households(context)
    rows = _both(frame.collect(), found)
    sides = {"you": "other", "partner": "displaced"}
    facts = ["demo_age_gen", "annual_hours", "earn_tot_nd", "finc_tot_nd"]
    for offset in (1, 0, *range(-1, -waves - 1, -1)):
        for side, who in sides.items():
            rows = person_at(rows, found, who, offset, facts, f"{side}{offset}_")
    for side, who in sides.items():
        more = ["demo_sex", "edu_year", "fam_size", "fam_size_chi", "home_stat", "geo_region", "asked"]
        rows = person_at(rows, found, who, 0, more, f"current_{side}_")
    conditions = {
        f"an adult is not there in the wave {when} the loss": pl.all_horizontal(
            pl.col(f"{side}{offset}_there") for side in sides
        )
        for offset, when in ((-1, "before"), (0, "of"), (1, "after"))
    }
    rows = context.keep(rows.lazy(), conditions).collect()
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
    rows = _with_reasons(rows, found)
    ages = [f"{side}{offset}_demo_age_gen" for side in sides for offset in (-1, 0, 1)]
    rows = rows.with_columns(
        pl.col("you0_annual_hours").alias("partner_annual_hours_event_year"),
        pl.col("you0_earn_tot_nd").alias("partner_annual_earnings_event_year"),
        pl.col("you1_annual_hours").alias("partner_annual_hours_following_year"),
        pl.col("you1_earn_tot_nd").alias("partner_annual_earnings_following_year"),
        *(pl.col(f"{side}0_demo_age_gen").alias(f"current_{side}_demo_age_gen") for side in sides),
        *(pl.col(f"current_{side}_demo_sex").alias(f"current_{side}_demo_sex_label") for side in sides),
        *(pl.col(f"current_you_{name}").alias(f"current_{name}") for name in ("fam_size", "fam_size_chi")),
        *(pl.col(f"current_you_{name}").alias(f"current_{name}_label") for name in ("home_stat", "geo_region")),
        both_asked=pl.all_horizontal(f"current_{side}_asked" for side in sides),
        ages=pl.concat_list(ages),
        release_date=pl.max_horizontal("release_date", "you1_release_date"),
    )
    helpers = [
        name
        for name in rows.columns
        if name.startswith(tuple(f"{side}{o}_" for side in sides for o in range(-waves, 2)))
    ]
    return rows.drop(helpers).lazy()


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
    """Add ``displaced``, who lost the job, and ``other``, who lives with that person."""
    import polars as pl

    losses = found.shocks.select("subject", pl.col("year").alias("survey_year"), "displaced")
    pairs = found.adults.select(
        "subject",
        pl.col("year").alias("survey_year"),
        pl.col("id").alias("other"),
    )
    rows = rows.drop("displaced", strict=False).join(
        losses, on=["subject", "survey_year"], how="left", maintain_order="left"
    )
    rows = rows.join(pairs, on=["subject", "survey_year"], how="left", maintain_order="left")
    return rows.filter(pl.col("other") != pl.col("displaced"))


def _with_reasons(rows: pl.DataFrame, found: Households) -> pl.DataFrame:
    key = {"id": "displaced", "year": "survey_year"}
    now = found.episodes.rename({**key, "reason": "displacement_reason"})
    rows = rows.join(now, on=list(key.values()), how="left", maintain_order="left")
    return rows.join(found.prior("").rename(key), on=list(key.values()), how="left", maintain_order="left")
