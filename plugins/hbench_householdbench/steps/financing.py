"""Sample steps of the experiment on home financing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.data import StepContext

if TYPE_CHECKING:
    import polars as pl

SITUATIONS = ("flexible_original_rate", "flexible_alternative_rate", "after_cash_inheritance")
PRICES = {
    "initial_wtp": "initial_down_payment",
    **{f"wtp_{name}": f"down_payment_{name}" for name in SITUATIONS},
}
"""Columns of prices, each with that of its down payment."""


def financing_owners(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Drop owners whose home has no positive value or whose debt on it is negative; renters have zeros there."""
    import polars as pl

    context.need(frame, ["tenure", "current_home_value", "housing_debt"])
    renter = pl.col("tenure") == "renter"
    return context.keep(
        frame,
        {
            "an owner's home has no positive value": renter | (pl.col("current_home_value") > 0),
            "an owner's debt is negative or missing": renter | (pl.col("housing_debt") >= 0),
        },
    )


def financing_down_payments(frame: pl.LazyFrame, context: StepContext, *, least: float) -> pl.LazyFrame:
    """Drop rows with a price that is not positive, or with a down payment that the experiment did not allow.

    Parameters
    ----------
    least : float
        Smallest down payment as a share of the price; the questionnaire rounded it to dollars, halves up.
    """
    import polars as pl

    context.need(frame, [*PRICES, *PRICES.values()])
    conditions = {}
    for price, down in PRICES.items():
        smallest = (least * pl.col(price) + 0.5).floor()
        conditions[f"{price} is not positive"] = pl.col(price) > 0
        conditions[f"{down} is below {least:.0%} of the price"] = pl.col(down) >= smallest
        conditions[f"{down} is above the price"] = pl.col(down) <= pl.col(price)
    return context.keep(frame, conditions)
