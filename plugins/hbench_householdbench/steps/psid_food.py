"""Sample steps of the task on spending on food after a lost job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.data import StepContext
from hbench_householdbench.steps.psid_events import person_at
from hbench_householdbench.steps.psid_households import Households, households

if TYPE_CHECKING:
    import polars as pl

_NUMBERS = (
    *(("reference", name) for name in ("demo_age_gen", "edu_year", "fam_size", "fam_size_chi")),
    *(("partner", name) for name in ("demo_age_gen", "edu_year")),
)
_LABELS = (
    *(("reference", name) for name in ("demo_sex", "race_eth_maj_col", "geo_region", "home_stat")),
    ("partner", "demo_sex"),
)


def psid_household_history(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add what a household was and did: two waves before the outcome at least, up to four if it stayed the same.

    The profile (``current_...``) is that of the wave before, and roles are those of it; the first lag lies two waves
    before the outcome. Adds ``annual_food_spending`` of the outcome's wave; ``household_structure`` of the profile,
    ``now_structure`` and ``first_structure`` of the waves after and before it; and why jobs were lost now and before.
    """
    import polars as pl

    found = households(context)
    rows = frame.collect()
    rows = _at(rows, found.waves.select("subject", "year", "structure", "reference_food_cash"), 0, "now_")
    rows = _at(rows, found.waves, 1, "")
    rows = _at(rows, found.waves.select("subject", "year", "structure"), 2, "first_")
    there = {
        "the household was not the same one wave before": pl.col("structure").is_not_null(),
        "the household was not the same two waves before": pl.col("first_structure").is_not_null(),
        "the household has no reference person of the sample": pl.col("reference_id").is_not_null(),
    }
    rows = context.keep(rows.lazy(), there).collect()
    rows = _with_lags(rows, found)
    for role in ("reference", "partner"):
        rows = _with_losses(rows, found, role)
    rows = rows.with_columns(
        *(pl.col(f"{role}_{name}").alias(f"current_{role}_{name}") for role, name in _NUMBERS),
        *(pl.col(f"{role}_{name}").alias(f"current_{role}_{name}_label") for role, name in _LABELS),
        pl.col("structure").alias("household_structure"),
        pl.col("now_reference_food_cash").alias("annual_food_spending"),
    )
    return rows.drop("structure", "now_reference_food_cash", *_facts(found)).lazy()


def psid_complete_partner(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep households of one adult, and those whose partner's age, sex, hours and earnings are known."""
    import polars as pl

    needed = [
        *("current_partner_demo_age_gen", "current_partner_demo_sex_label"),
        *("history_lag1_partner_annual_hours", "history_lag1_partner_earn_tot_nd"),
    ]
    context.need(frame, ["household_structure", *needed])
    alone = pl.col("household_structure") != "partnered"
    return context.keep(frame, {f"{name} is missing": alone | pl.col(name).is_not_null() for name in needed})


def psid_previous_food(frame: pl.LazyFrame, context: StepContext, *, waves: int = 3) -> pl.LazyFrame:
    """Add ``previous_food_spending``, the latest earlier spending on food above zero."""
    import polars as pl

    lags = [f"history_lag{lag}_annual_food_spending" for lag in range(1, waves + 1)]
    context.need(frame, lags)
    return frame.with_columns(previous_food_spending=pl.coalesce(pl.when(pl.col(lag) > 0).then(lag) for lag in lags))


def psid_same_structure(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep households that had a partner, or had none, in the outcome's wave and in the two before."""
    import polars as pl

    context.need(frame, ["household_structure", "now_structure", "first_structure"])
    profile = pl.col("household_structure")
    return context.keep(
        frame,
        {
            "a partner came or left after the profile": pl.col("now_structure") == profile,
            "a partner came or left before the profile": pl.col("first_structure") == profile,
        },
    )


def _facts(found: Households) -> list[str]:
    return [name for name in found.waves.columns if name.startswith(("reference_", "partner_"))]


def _at(rows: pl.DataFrame, waves: pl.DataFrame, back: int, prefix: str) -> pl.DataFrame:
    """Join what the same household was so many waves before."""
    import polars as pl

    earlier = waves.with_columns(pl.col("year") + back).rename(
        {name: prefix + name for name in waves.columns if name not in ("subject", "year")} | {"year": "survey_year"}
    )
    return rows.join(earlier, on=["subject", "survey_year"], how="left", maintain_order="left")


def _with_lags(rows: pl.DataFrame, found: Households) -> pl.DataFrame:
    """Add three lags; the second and third only while the household is the same and what is needed is known."""
    import polars as pl

    shown = pl.lit(True)
    for lag in (1, 2, 3):
        for role in ("reference", "partner"):
            facts = ["annual_hours", "earn_tot_nd", "finc_tot_nd", "food_cash", "structure"]
            rows = person_at(rows, found, f"{role}_id", -lag - 1, facts, f"__{role}{lag}_")
        own, other = f"__reference{lag}_", f"__partner{lag}_"
        if lag > 1:
            known = pl.all_horizontal(
                pl.col(f"{own}{name}").is_not_null() for name in ("annual_hours", "earn_tot_nd", "finc_tot_nd")
            )
            partner = pl.all_horizontal(
                pl.col(f"{other}{name}").is_not_null() for name in ("annual_hours", "earn_tot_nd")
            )
            same = pl.col(f"{own}there") & (pl.col(f"{own}structure") == pl.col("structure"))
            shown = shown & same & known & (partner | (pl.col("structure") == "unpartnered"))
        values = {
            "reference_annual_hours": f"{own}annual_hours",
            "reference_earn_tot_nd": f"{own}earn_tot_nd",
            "partner_annual_hours": f"{other}annual_hours",
            "partner_earn_tot_nd": f"{other}earn_tot_nd",
            "reference_finc_tot_nd": f"{own}finc_tot_nd",
            "annual_food_spending": f"{own}food_cash",
        }
        rows = rows.with_columns(
            pl.when(shown).then(pl.lit(lag + 1, pl.Int32)).alias(f"history_lag{lag}_elapsed_years"),
            *(pl.when(shown).then(column).alias(f"history_lag{lag}_{name}") for name, column in values.items()),
        )
    return rows.drop(name for name in rows.columns if name.startswith(("__reference", "__partner")))


def _with_losses(rows: pl.DataFrame, found: Households, role: str) -> pl.DataFrame:
    """Add why an adult lost a job now, and what was lost before."""
    key = {"id": f"{role}_id", "year": "survey_year"}
    now = found.episodes.rename({**key, "reason": f"{role}_current_displacement_reasons"})
    rows = rows.join(now, on=list(key.values()), how="left", maintain_order="left")
    rows = rows.join(found.prior(f"{role}_").rename(key), on=list(key.values()), how="left", maintain_order="left")
    return rows
