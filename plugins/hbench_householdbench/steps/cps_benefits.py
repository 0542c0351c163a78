"""Sample steps of the task on unemployment insurance."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data import StepContext
from hbench_householdbench.sources.cps_jobs import LAST_INDUSTRIES, LAST_OCCUPATIONS, grouped
from hbench_householdbench.sources.ui_policy import TABLE

if TYPE_CHECKING:
    import polars as pl

_WEEKS = ("regular_ui_weeks", "extension_ui_weeks", "maximum_ui_weeks")
_REASONS = {
    1: "you were on temporary layoff from a job",
    2: "you lost a job for another reason",
    3: "a temporary job ended",
}


def cps_ui_policy(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add the weeks of unemployment insurance in force in the row's state on the fifth of its month."""
    import polars as pl

    context.need(frame, ["STATEFIP", "YEAR", "MONTH"])
    if TABLE not in context.tables:
        raise DataError(f"the sources have no table {TABLE!r}", task=context.task.name, hint="List `ui_policy`.")
    key = {"fips": "STATEFIP", "year": "YEAR", "month": "MONTH"}
    schema = frame.collect_schema()
    policy = context.tables[TABLE].select(
        *(pl.col(there).cast(schema[here]).alias(here) for there, here in key.items()), *_WEEKS, "policy_effective_date"
    )
    joined = frame.join(policy, on=list(key.values()), how="left", maintain_order="left")
    regular, extension, maximum = (pl.col(name) for name in _WEEKS)
    found = pl.col("policy_effective_date").is_not_null()
    return context.keep(
        joined,
        {
            "no policy is known for the state and month": found,
            "regular weeks are unknown or below 0": ~found | (regular >= 0).fill_null(False),
            "further weeks are unknown or below 0": ~found | (extension >= 0).fill_null(False),
            "the most weeks are unknown or 0": ~found | (maximum > 0).fill_null(False),
        },
    )


def cps_ui_consistent(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep rows whose regular and further weeks add up to the most weeks, as of a fifth of the month."""
    import polars as pl

    context.need(frame, [*_WEEKS, "policy_effective_date"])
    regular, extension, maximum = (pl.col(name) for name in _WEEKS)
    return context.keep(
        frame,
        {
            "regular and further weeks do not add up": (regular + extension - maximum).abs() <= 1e-6,
            "the policy is not of the fifth": pl.col("policy_effective_date").str.ends_with("-05"),
        },
    )


def cps_last_job(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add why unemployment began, layoff or search, and groups of the last job's occupation and industry."""
    import polars as pl

    context.need(frame, ["WHYUNEMP", "OCC", "IND"])
    reason = pl.col("WHYUNEMP")
    return frame.with_columns(
        reason.replace_strict(_REASONS, default=None, return_dtype=pl.String).alias("whyunemp_text"),
        pl.when(reason == 1)
        .then(pl.lit("temporary_layoff"))
        .when(reason.is_in([2, 3]))
        .then(pl.lit("active_search"))
        .alias("search_layoff_status"),
        grouped("OCC", LAST_OCCUPATIONS).alias("last_job_occupation"),
        grouped("IND", LAST_INDUSTRIES).alias("last_job_industry"),
    )


def cps_household_counts(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep rows with at least one person in the family, and no more own children than people."""
    import polars as pl

    context.need(frame, ["FAMSIZE", "NCHILD"])
    size, children = pl.col("FAMSIZE"), pl.col("NCHILD")
    return context.keep(
        frame,
        {"the family counts nobody": size >= 1, "there are more own children than people": children <= size},
    )


def cps_hashed_id(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add ``person_id``, a name for CPSIDP that does not show it."""
    import polars as pl

    context.need(frame, ["CPSIDP"])

    def hashed(number: int) -> str:
        return "lcui_" + hashlib.blake2b(f"labor_cps_ui|{number}".encode(), digest_size=12).hexdigest()

    return frame.with_columns(pl.col("CPSIDP").map_elements(hashed, return_dtype=pl.String).alias("person_id"))
