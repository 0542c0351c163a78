"""Sample steps of the tasks on the Surveys of Consumers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.data import StepContext

if TYPE_CHECKING:
    import polars as pl

_PRIOR = ("survey_date", "release_date", "YYYYMM", "PX1", "PX5")


def michigan_previous_interview(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add what the person said in the interview before: ``prior_`` and date, release date, month, PX1 and PX5."""
    import polars as pl

    context.need(frame, ["prev_caseid"])
    prior = context.source.select(
        pl.col("CASEID").alias("prev_caseid"), *(pl.col(name).alias(f"prior_{name}") for name in _PRIOR)
    )
    return frame.join(prior, on="prev_caseid", how="left", maintain_order="left")


def michigan_linked(
    frame: pl.LazyFrame, context: StepContext, *, waves: Sequence[int], months: Sequence[int]
) -> pl.LazyFrame:
    """Keep second and later interviews whose link to the one before is beyond doubt.

    Parameters
    ----------
    waves : sequence of int
        Places in the chain of interviews.
    months : sequence of int
        Calendar months between the two interviews.
    """
    import polars as pl

    distance = 12 * (pl.col("YYYYMM") // 100 - pl.col("prior_YYYYMM") // 100)
    distance = distance + pl.col("YYYYMM") % 100 - pl.col("prior_YYYYMM") % 100
    conditions = {
        "the case names no earlier interview": pl.col("panel_link_expected"),
        "the earlier interview is not there": pl.col("panel_link_ok"),
        "the chain of interviews is circular": ~pl.col("panel_chain_cycle_flag"),
        "the chain has no first interview": pl.col("panel_id").is_not_null(),
        f"the interview is none of the chain's numbers {_listed(waves)}": pl.col("panel_wave").is_in(list(waves)),
        f"the interviews are not {_listed(months)} months apart": pl.col("months_since_prev").is_in(list(months)),
        "the earlier interview is not earlier": pl.col("prior_survey_date") < pl.col("survey_date"),
        "the earlier interview is of another month than recorded": pl.col("prior_YYYYMM") == pl.col("DATEPR"),
        "the earlier interview was published too late": pl.col("prior_release_date") <= pl.col("survey_date"),
        "the case is its own predecessor": pl.col("prev_caseid") != pl.col("CASEID"),
        "the recorded distance is not that of the months": pl.col("months_since_prev") == distance,
    }
    return context.keep(frame, conditions)


def michigan_trim_prior(
    frame: pl.LazyFrame, context: StepContext, *, columns: Sequence[str], lower: float, upper: float
) -> pl.LazyFrame:
    """Keep rows whose earlier answers lie strictly between two quantiles of the month in which they were given.

    Parameters
    ----------
    columns : sequence of str
        Earlier answers, as ``prior_PX1``.
    lower, upper : float
        Shares; quantiles are those of all answers of the month in the uncut source, interpolated linearly.
    """
    import polars as pl

    context.need(frame, [*columns, "prior_YYYYMM"])
    edges = {(name, share): f"__{name}_{share}" for name in columns for share in (lower, upper)}
    limits = context.source.group_by(pl.col("YYYYMM").alias("prior_YYYYMM")).agg(
        pl.col(name.removeprefix("prior_")).quantile(share, "linear").alias(edge)
        for (name, share), edge in edges.items()
    )
    frame = frame.join(limits, on="prior_YYYYMM", how="left", maintain_order="left")
    inside = {
        f"{name} is outside the p{100 * lower:g}-p{100 * upper:g} range of its month": (
            (pl.col(name) > pl.col(edges[name, lower])) & (pl.col(name) < pl.col(edges[name, upper]))
        )
        for name in columns
    }
    return context.keep(frame, inside).drop(edges.values())


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
