"""Sample steps of the tasks on the Displaced Worker Supplement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from hbench.data import StepContext
from hbench.data.steps import trim
from hbench_householdbench.sources.dws_codes import LABELS, NUMBERS

if TYPE_CHECKING:
    import polars as pl

_INTERVIEWED, _DISPLACED = 2, 1
_THREE_YEARS_FROM = 1993
"""Until 1992 people were asked about the past five years."""


def cps_displacement(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add ``baseline_month``, the words and numbers of the supplement in lower case, and how far it looks back.

    ``dw_lookback_regime`` is ``five_year_lookback_1984_1992`` or ``three_year_lookback_1994_plus``.
    """
    import polars as pl

    context.need(frame, ["YEAR", "MONTH", *(variable for variable, _ in LABELS.values()), *NUMBERS])
    return frame.with_columns(
        pl.date("YEAR", "MONTH", 1).dt.to_string("%Y-%m-%d").alias("baseline_month"),
        *(
            pl.col(variable)
            .replace_strict(list(labels), list(labels.values()), default=None, return_dtype=pl.String)
            .alias(name)
            for name, (variable, labels) in LABELS.items()
        ),
        *(pl.col(name).cast(pl.Float64).alias(name.lower()) for name in NUMBERS),
        pl.when(pl.col("YEAR") < _THREE_YEARS_FROM)
        .then(pl.lit("five_year_lookback_1984_1992"))
        .otherwise(pl.lit("three_year_lookback_1994_plus"))
        .alias("dw_lookback_regime"),
    )


def cps_trim_displaced(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    columns: Sequence[str],
    lower: float = 0.01,
    upper: float = 0.99,
    equal: Literal["error", "drop"] = "error",
) -> pl.LazyFrame:
    """Drop rows with an amount that is not strictly between two quantiles of its month.

    The quantiles (linear) are those of all displaced workers who were interviewed, with or without a job now.

    Parameters
    ----------
    columns : sequence of str
        Amounts, each trimmed by its own quantiles.
    equal : {"error", "drop"}
        Where both quantiles of a month are equal, stop, or drop the whole month.
    """
    import polars as pl

    displaced = (pl.col("DWRESP") == _INTERVIEWED) & (pl.col("DWSTAT") == _DISPLACED)
    workers = replace(context, source=context.source.filter(displaced))
    return trim(frame, workers, columns=columns, by=["YEAR", "MONTH"], lower=lower, upper=upper, equal=equal)
