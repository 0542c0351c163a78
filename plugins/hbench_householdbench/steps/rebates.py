"""Sample steps that put payments of 2001 and 2008 into the three months in which they came."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data import StepContext, in_passing, keeps_values
from hbench_householdbench.sources.cex_supplements import REBATES, STIMULUS

if TYPE_CHECKING:
    import polars as pl

RESOLVED = "resolved_report"
_ZERO, _POSITIVE = "valid_zero", "valid_positive"
_BEFORE, _AFTER = 12 * 2001 + 7, 12 * 2002 + 1
"""Months (12 * year + month) of interviews whose three months end by June 2001, and begin after September 2001."""


@in_passing
def cex_rebate_2001(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add what came of the rebates of 2001 in an interview's three months: ``rebate_amount_total``, ``rebate_status``.

    A check goes to the household's interview whose three months hold the month of payment (an interview of May covers
    February to April), the earlier one if two do. It goes back to the interview that told of it if that one has no
    check of its own and the other was told "no". The amount is missing unless the status is ``valid_positive`` or
    ``valid_zero``; households that were never asked have no status.

    Where several statuses fit, doubt wins: a report of one's own that does not hold makes the amount missing even if a
    later report puts a check into these months.
    """
    return context.beside(frame, partial(_rebates, frame, context))


def _rebates(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Return amount and status of every interview, in order."""
    import polars as pl

    rows = _interviews(frame, context)
    reports = _matched(
        _table(context, REBATES), rows.filter(pl.col("at").is_between(12 * 2001 + 1, 12 * 2002 + 12)), context
    )
    status = rebate_reports(reports)
    valid = reports.join(status.filter(pl.col("report") == RESOLVED).select("row"), on="row", how="semi")
    checks = _assigned(valid.filter(_good_month() & _good_amount()), rows)
    own = status.select("row", "lead_in")
    checks = checks.join(own.rename({"row": "to", "lead_in": "there"}), on="to", how="left", maintain_order="left")
    has_own = checks.filter(pl.col("to") == pl.col("row")).select("row").unique().with_columns(has_own=True)
    checks = checks.join(has_own, on="row", how="left", maintain_order="left").with_columns(
        to=pl.when((pl.col("there") == "valid_no") & pl.col("has_own").is_null()).then("row").otherwise("to")
    )
    amounts = checks.group_by("to").agg(pl.col("amount").sum().alias("rebate_amount_total"))
    asked = status.select("cex_panel_id", doubted=(pl.col("report") == "invalid_positive_month"))
    asked = asked.group_by("cex_panel_id").agg(pl.col("doubted").any())
    told = rows.join(asked, on="cex_panel_id").join(amounts, left_on="row", right_on="to", how="left")
    told = told.join(status.select("row", "report"), on="row", how="left")
    positive = pl.col("rebate_amount_total") > 0
    known_zero = (pl.col("report") == RESOLVED) | (pl.col("at") <= _BEFORE) | (pl.col("at") >= _AFTER)
    told = told.with_columns(
        rebate_status=pl.when(pl.col("doubted"))
        .then(pl.lit("invalid_positive_month"))
        .when(pl.col("report") != RESOLVED)
        .then("report")
        .when(positive)
        .then(pl.lit(_POSITIVE))
        .when(known_zero)
        .then(pl.lit(_ZERO))
        .otherwise(pl.lit("not_reported"))
    )
    told = told.select(
        "row",
        "rebate_status",
        rebate_amount_total=pl.when(pl.col("rebate_status") == _POSITIVE)
        .then("rebate_amount_total")
        .when(pl.col("rebate_status") == _ZERO)
        .then(0.0),
    )
    return _of_all(rows, told).select("rebate_status", "rebate_amount_total")


@in_passing
@keeps_values
def cex_rebate_status(frame: pl.LazyFrame, context: StepContext, *, keep: Sequence[str]) -> pl.LazyFrame:
    """Keep rows with one of the statuses of `cex_rebate_2001`; the funnel counts every other one."""
    import polars as pl

    context.need(frame, ["rebate_status"])
    status = pl.col("rebate_status")
    names = context.once(lambda: frame.select(status.unique()).collect()["rebate_status"].to_list())
    conditions = {
        "the household was never asked" if name is None else f"the status is {name}": status.ne_missing(pl.lit(name))
        for name in sorted(names, key=str)
        if name not in keep
    }
    return context.keep(frame, conditions) if conditions else frame


@in_passing
def cex_stimulus_2008(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add ``rebate_amount_total``, what came of the payments of 2008 in an interview's three months; none is zero."""
    return context.beside(frame, partial(_payments, frame, context))


def _payments(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Return the amount of every interview, in order."""
    import polars as pl

    rows = _interviews(frame, context)
    window = pl.col("at").is_between(12 * 2008 + 1, 12 * 2009 + 3)
    payments = _assigned(_matched(_table(context, STIMULUS), rows.filter(window), context), rows)
    amounts = payments.group_by("to").agg(pl.col("amount").sum().alias("rebate_amount_total"))
    return _of_all(rows, amounts.rename({"to": "row"})).select(pl.col("rebate_amount_total").fill_null(0.0))


def rebate_reports(reports: pl.DataFrame) -> pl.DataFrame:
    """Return one row a report with its status ``report``; of several, the last in this list holds.

    ``resolved_report``; ``unresolved_lead_in``; ``contradictory`` ("no" with a month, "yes" without); a month with an
    amount that is none, ``invalid_or_zero_amount``; an amount with a month that is none, ``invalid_positive_month``.
    A blank beside a flag that says that it counts cannot be compared, and sets no status.
    """
    import polars as pl

    months = pl.col("month").is_not_null().any()
    lead_in = pl.col("lead_in").first()
    no_amount = (_good_month() & ~_good_amount()).fill_null(False).any()
    no_month = (_good_amount() & ~_good_month()).fill_null(False).any()
    contradictory = ((lead_in == "valid_no") & months) | ((lead_in == "valid_yes") & ~months)
    return reports.group_by("row", "cex_panel_id", maintain_order=True).agg(
        lead_in.alias("lead_in"),
        pl.when(no_month)
        .then(pl.lit("invalid_positive_month"))
        .when(no_amount)
        .then(pl.lit("invalid_or_zero_amount"))
        .when(contradictory)
        .then(pl.lit("contradictory"))
        .when(lead_in == "unresolved")
        .then(pl.lit("unresolved_lead_in"))
        .otherwise(pl.lit(RESOLVED))
        .alias("report"),
    )


def _good_month() -> pl.Expr:
    """Null where a blank counts as known: the comparison has no answer."""
    import polars as pl

    month = pl.col("month")
    return pl.when(pl.col("month_known")).then(month.is_between(1, 12) & (month == month.round())).otherwise(False)


def _good_amount() -> pl.Expr:
    import polars as pl

    return pl.when(pl.col("amount_known")).then(pl.col("amount") > 0).otherwise(False)


def _interviews(frame: pl.LazyFrame, context: StepContext) -> pl.DataFrame:
    """Return ``row`` (its number), household, NEWID and month ``at`` of all interviews."""
    import polars as pl

    context.need(frame, ["cex_panel_id", "newid", "interview_year", "interview_month"])
    at = (12 * pl.col("interview_year") + pl.col("interview_month")).cast(pl.Int32)
    return frame.select("cex_panel_id", "newid", at.alias("at")).with_row_index("row").collect()


def _table(context: StepContext, name: str) -> pl.DataFrame:
    if name not in context.tables:
        raise DataError(
            f"there is no table {name!r}", task=context.task.name, hint=f"List the source {name!r} under `source`."
        )
    return context.tables[name].collect()


def _matched(reports: pl.DataFrame, rows: pl.DataFrame, context: StepContext) -> pl.DataFrame:
    """Join reports to the interviews in which they were given.

    Raises
    ------
    DataError
        A report belongs to no interview, or to more than one.
    """
    import polars as pl

    found = reports.select("newid").unique().join(rows.group_by("newid").len(), on="newid", how="left")
    odd = found.filter(pl.col("len").fill_null(0) != 1).sort("newid")
    if len(odd):
        raise DataError(
            f"{len(odd):,} households with a report on payments do not match exactly one interview, "
            f"among them NEWID {odd['newid'][0]}",
            task=context.task.name,
        )
    return reports.join(rows, on="newid", how="left", maintain_order="left")


def _assigned(payments: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``to``, the row of the household's first interview after the payment whose three months hold it.

    A payment in a month after that of the interview came the year before. Payments that no interview covers go.
    """
    import polars as pl

    year = (pl.col("at") - 1) // 12
    month = pl.col("month").cast(pl.Int32)
    late = month > pl.col("at") - 12 * year
    payments = payments.with_columns(paid=12 * (year - late.cast(pl.Int32)) + month).with_row_index("payment")
    interviews = rows.select("cex_panel_id", pl.col("row").alias("to"), pl.col("at").alias("to_at"))
    return (
        payments.join(interviews, on="cex_panel_id")
        .with_columns(offset=pl.col("to_at") - pl.col("paid"))
        .filter(pl.col("offset").is_between(1, 3))
        .sort("payment", "offset", "to")
        .unique("payment", keep="first", maintain_order=True)
    )


def _of_all(rows: pl.DataFrame, told: pl.DataFrame) -> pl.LazyFrame:
    return rows.select("row").join(told, on="row", how="left", maintain_order="left").lazy()
