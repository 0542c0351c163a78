"""Sample steps on records of the Current Population Survey: words for codes, partners, earnings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data import StepContext
from hbench_householdbench.sources.cps_basic import TABLE
from hbench_householdbench.sources.cps_codes import EMPLOYED, LABELS, NOT_IN_LABOR_FORCE, UNEMPLOYED
from hbench_householdbench.sources.cps_jobs import OCCUPATION_GROUPS, grouped

if TYPE_CHECKING:
    import polars as pl

_NOT_OBSERVED = "not observed"
_NO_PARTNER = "no linked spouse or partner"
_ALWAYS = ("age", "relate", "baseline_status")
_AT_BASELINE = ("wkstat", "wnftlook", "multjob", "union")
_NUMBERS = {
    **{"age": "AGE", "famsize": "FAMSIZE", "nchild": "NCHILD", "durunemp_baseline": "DURUNEMP"},
    **{"ahrsworkt_baseline": "AHRSWORKT", "uhrsworkt_baseline": "UHRSWORKT", "earnweek_baseline": "EARNWEEK"},
}


def status(empstat: pl.Expr) -> pl.Expr:
    """Return ``employed``, ``unemployed`` or ``not_in_labor_force`` for codes of EMPSTAT; null for the armed forces."""
    import polars as pl

    return (
        pl.when(empstat.is_in(list(EMPLOYED)))
        .then(pl.lit("employed"))
        .when(empstat.is_in(list(UNEMPLOYED)))
        .then(pl.lit("unemployed"))
        .when(empstat.is_in(list(NOT_IN_LABOR_FORCE)))
        .then(pl.lit("not_in_labor_force"))
    )


def cps_describe(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Put words and numbers, as prompts and learners get them, in the place of codes, by the names of `LABELS`.

    Those that the task's predictors name are added, and age, role in the household and status. What was asked about
    work at the time ends in ``_baseline``. Health and family income that were not asked are ``not observed``; the other
    ones are missing. Variables that words stand for are dropped, but for sex and race.
    """
    import polars as pl

    context.need(frame, [*(variable for variable, _ in LABELS.values()), *_NUMBERS.values(), "EMPSTAT", "OCC2010"])
    wanted = {*context.task.predictor_columns, *_ALWAYS}
    added = {name: pl.col(variable) for name, variable in _NUMBERS.items()}
    for label, (variable, labels) in LABELS.items():
        added[f"{label}_baseline" if label in _AT_BASELINE else label] = _words(pl.col(variable), labels)
    for name in ("difficulty", "family_income"):
        added[name] = added[name].fill_null(_NOT_OBSERVED)
    added["baseline_status"] = status(pl.col("EMPSTAT"))
    added["occupation"] = grouped("OCC2010", OCCUPATION_GROUPS)
    return frame.with_columns(expression.alias(name) for name, expression in added.items() if name in wanted).drop(
        {variable for variable, _ in LABELS.values()} - {"SEX", "RACE"}
    )


def _words(codes: pl.Expr, labels: Mapping[int, str]) -> pl.Expr:
    """Return the labels of codes; null for others."""
    import polars as pl

    # Codes are small numbers, so that a list with a place for each takes a quarter of the time of a search.
    last = max(labels)
    places = pl.Series([labels.get(code) for code in range(last + 1)], dtype=pl.String)
    return pl.lit(places).gather(pl.when(codes.is_between(0, last)).then(codes))


def cps_partner(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add whether the person lives with a spouse or partner, the partner's age and what the partner does.

    Rows whose SPLOC names no single record of the household are dropped, and counted.
    """
    import polars as pl

    context.need(frame, ["at", "SERIAL", "SPLOC"])
    key = ["at", "SERIAL", "PERNUM"]
    partners = (
        window(context.tables[TABLE], frame)
        .filter(pl.struct(key).is_unique())
        .select(
            "at", "SERIAL", pl.col("PERNUM").alias("SPLOC"), pl.struct("AGE", "EMPSTAT", "NILFACT").alias("partner")
        )
    )
    lives = (pl.col("SPLOC") > 0).fill_null(False)
    joined = frame.join(partners, on=["at", "SERIAL", "SPLOC"], how="left", maintain_order="left")
    joined = context.keep(joined, {"SPLOC names no record of the household": ~lives | pl.col("partner").is_not_null()})
    does = pl.col("partner").struct.field("EMPSTAT")
    known = status(does)
    # Where the two differ, EMPSTAT wins.
    disabled = (does == 32) | (does.is_null() & (pl.col("partner").struct.field("NILFACT") == 1))
    return joined.with_columns(
        pl.when(lives).then(pl.lit("linked")).otherwise(pl.lit(_NO_PARTNER)).alias("partner_linked_baseline"),
        pl.when(lives).then(pl.col("partner").struct.field("AGE")).alias("partner_age_baseline"),
        pl.when(~lives)
        .then(pl.lit(_NO_PARTNER))
        .when(known != "not_in_labor_force")
        .then(known)
        .when(does == 36)
        .then(pl.lit("retired"))
        .when(disabled)
        .then(pl.lit("disabled"))
        .when(known.is_not_null())
        .then(pl.lit("other not in the labor force"))
        .otherwise(pl.lit(_NOT_OBSERVED))
        .alias("partner_status_baseline"),
    ).drop("partner")


def cps_trim_earnings(
    frame: pl.LazyFrame, context: StepContext, *, lower: float = 0.01, upper: float = 0.99
) -> pl.LazyFrame:
    """Drop rows whose weekly earnings are not strictly between two quantiles of the month; unasked earnings pass.

    The quantiles (linear) are those of all records of the month with earnings and a positive CPSIDP.

    Raises
    ------
    DataError
        Both quantiles of a month are equal.
    """
    import polars as pl

    context.need(frame, ["at", "EARNWEEK"])
    earned = window(context.source, frame).filter(pl.col("EARNWEEK").is_not_null() & (pl.col("CPSIDP") > 0))
    limits = earned.group_by("at").agg(
        pl.col("EARNWEEK").quantile(lower, "linear").alias("__low"),
        pl.col("EARNWEEK").quantile(upper, "linear").alias("__high"),
    )
    flat = limits.filter(pl.col("__low") >= pl.col("__high")).sort("at").collect()
    if len(flat):
        at = flat["at"][0]
        raise DataError(
            f"earnings have equal cut-offs in {len(flat)} months, among them {at // 12}-{at % 12 + 1:02d}",
            task=context.task.name,
            hint="Too few records with EARNWEEK to trim.",
        )
    value = pl.col("EARNWEEK")
    inside = value.is_null() | ((value > pl.col("__low")) & (value < pl.col("__high")))
    joined = frame.join(limits, on="at", how="left", maintain_order="left")
    what = f"EARNWEEK is outside its p{100 * lower:g}-p{100 * upper:g} range"
    return context.keep(joined, {what: inside}).drop("__low", "__high")


def window(table: pl.LazyFrame, frame: pl.LazyFrame, *, ahead: int = 0) -> pl.LazyFrame:
    """Return the records of the months that `frame` spans, moved `ahead`, so that no others are read."""
    import polars as pl

    first, last = frame.select(pl.col("at").min().alias("first"), pl.col("at").max().alias("last")).collect().row(0)
    if first is None:
        return table.clear()
    return table.filter(pl.col("at").is_between(first + ahead, last + ahead))
