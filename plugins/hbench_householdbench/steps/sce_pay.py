"""Sample steps on the pay of the current and the last job (SCE Job Search)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.data import StepContext
from hbench_householdbench.steps.sce_modules import inside, with_limits

if TYPE_CHECKING:
    import polars as pl

JOBS = {
    # pay an hour, usual hours a week
    "current": ("current_job_hourly_equivalent_pay", "l10_cps_job_usual_hrs"),
    "last": ("last_job_hourly_equivalent_pay", "l22_last_job_usual_hrs"),
}
_MONTHS, _STATUS, _NEVER = "l8_months_no_work__clean", "l8_months_no_work__status", "never_had_paid_job"


def sce_paid_work(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add ``months_since_paid_work`` and ``never_had_paid_job`` (1 or 0).

    Months are whole, and no more than those of the person's life; other answers are missing.
    """
    import polars as pl

    context.need(frame, [_MONTHS, _STATUS, "age_years"])
    months, age = pl.col(_MONTHS), pl.col("age_years")
    possible = (months == months.floor()) & (months >= 0) & age.is_between(18, 100) & (months <= 12 * age)
    return frame.with_columns(
        pl.when(possible).then(months).alias("months_since_paid_work"),
        pl.when(pl.col(_STATUS).is_not_null()).then((pl.col(_STATUS) == _NEVER).cast(pl.Float64)).alias(_NEVER),
    )


def sce_pay_benchmark(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Drop rows in which neither the current nor the last job has both pay and hours."""
    import polars as pl

    context.need(frame, [column for job in JOBS.values() for column in job])
    known = pl.any_horizontal(pl.all_horizontal(pl.col(job).is_not_null()) for job in JOBS.values())
    return context.keep(frame, {"no job has both pay and hours": known})


def sce_trim_benchmark(frame: pl.LazyFrame, context: StepContext, *, lower: float, upper: float) -> pl.LazyFrame:
    """Blank a job whose pay is in the tails of its month, drop rows without a job left, and add the benchmark.

    The benchmark (``benchmark_pay``, ``benchmark_hours``) is the current job, or else the last one.

    Parameters
    ----------
    lower, upper : float
        Shares of the whole source in the row's month. Pay equal to a cut-off is in the tails.
    """
    import polars as pl

    pays = [pay for pay, _ in JOBS.values()]
    frame, helpers = with_limits(frame, context, context.source, pays, lower, upper)
    for pay, hours in JOBS.values():
        good = inside(pay) & pl.col(hours).is_not_null()
        frame = frame.with_columns(pl.when(good).then(pl.col(name)).alias(name) for name in (pay, hours))
    (pay, hours), (last_pay, last_hours) = JOBS.values()
    frame = frame.with_columns(
        pl.coalesce(pay, last_pay).alias("benchmark_pay"), pl.coalesce(hours, last_hours).alias("benchmark_hours")
    ).drop(helpers)
    tails = f"the pay of both jobs is missing or outside its p{100 * lower:g}-p{100 * upper:g} range"
    return context.keep(frame, {tails: pl.col("benchmark_pay").is_not_null()})
