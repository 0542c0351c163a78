"""Topical modules of the Survey of Consumer Expectations that come as one sheet: spending, labor market, policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.sce_cells import shown
from hbench_householdbench.sources.sce_releases import SCE_RELEASES, SCE_TERMS, with_release_dates
from hbench_householdbench.sources.sce_values import (
    YES_NO,
    Range,
    labelled,
    report_statuses,
    with_companions,
    without_nan,
)
from hbench_householdbench.sources.sce_workbook import keyed, open_workbook

if TYPE_CHECKING:
    import polars as pl

KEYS = ("respondent_id", "survey_year", "survey_month", "survey_date", "release_date")
INTERVIEW = ("survey_year", "survey_month", "respondent_id")
"""Order of a module's rows, and of its tasks' (facts on every task), whatever that of the workbook."""
POLICIES = (5, 6, 9, 16)
"""Numbers of four policies: welfare benefits, unemployment benefits, payroll tax rate, average income tax rate."""
EFFECTS = {1: "very_negative", 2: "somewhat_negative", 3: "no_impact", 4: "somewhat_positive", 5: "very_positive"}
DIRECTIONS = {1: "increase_or_expansion", 2: "decrease_or_reduction"}
DECISIONS = {1: "accepted", 2: "accepted", 3: "rejected", 4: "still deciding"}
"""What became of the first offer; 2 is a job that has been left since."""
FULL_TIME = {
    # unit of the reservation wage: times a year at full time
    1: 40 * 52,
    2: 52,
    3: 26,
    4: 12,
    5: 1,
}
_YEAR = 5
YEARLY_ONLY = 2017 * 12 + 3
"""Month (12 * year + month) from which the reservation wage is asked for a year only."""
_USES = dict.fromkeys(range(1, 8), "")


def databank(module: str) -> str:
    """Return where the workbook of a module is to be had."""
    return f"https://www.newyorkfed.org/microeconomics/databank (Survey of Consumer Expectations, {module})"


class _Module:
    """A workbook with one sheet ``Data``, and ``NAME.parquet`` made of it: one row an interview, by `INTERVIEW`."""

    name: ClassVar[str]
    module: ClassVar[str]
    workbook: ClassVar[RawFile]
    numbers: ClassVar[tuple[str, ...]]
    ranges: ClassVar[Mapping[str, Range]] = {}

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The workbook and the release dates."""
        return self.workbook, SCE_RELEASES

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            The workbook is damaged, a column is missing, an interview is repeated, or a code has no meaning.
        """
        file, columns = self.workbook.path, ("date", *self.numbers)
        table = open_workbook(raw / file).table(numbers=columns, required=columns, report=report)
        report.counts[f"{self.module}.interviews"] += len(table)
        table = with_companions(keyed(table, file=file), self.ranges)
        report_statuses(table, self.ranges, file=file, report=report)
        table = with_release_dates(self._answers(table, file), raw, self.module, report=report)
        rest = [name for name in table.columns if name not in KEYS]
        table = without_nan(table.select(*KEYS, *rest)).sort(INTERVIEW)
        table.write_parquet(out / f"{self.name}.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic workbook; see `hbench_householdbench.sources.demo.sce_modules`."""
        from hbench_householdbench.sources.demo.sce_modules import WRITERS
        from hbench_householdbench.sources.demo.sce_releases import write_sce_releases

        WRITERS[self.module](raw / self.workbook.path, seed=seed, scale=scale)
        write_sce_releases(raw)

    def _answers(self, table: pl.DataFrame, file: str) -> pl.DataFrame:
        raise NotImplementedError


class SceHouseholdSpending(_Module):
    """The household spending module (April, August, December): how spending changed, and what ten percent would do.

    Columns: ``qsp1`` (higher, lower), ``qsp2__clean`` (percent), ``signed_spending_growth_percent``, ``k2e`` (yes, no),
    and the codes and shares of what would be done with more (``qsp12n``, ``qsp12a_N``) and less income (``qsp13new``,
    ``qsp13a_N``).
    """

    name = "sce_household_spending"
    module = "household_spending"
    workbook = RawFile(
        "micro/sce/household_spending/sce-household-spending-microdata.xlsx", databank("Household Spending"), SCE_TERMS
    )
    _shares = tuple(f"{question}_{place}" for question in ("qsp12a", "qsp13a") for place in (1, 2, 3))
    numbers = ("qsp1", "qsp2", "k2e", "qsp12n", "qsp13new", *_shares)
    # Like the size of a change, these shares have no range of their own: the task's steps test them.
    ranges: ClassVar[Mapping[str, Range]] = dict.fromkeys(("qsp2", *_shares))

    def _answers(self, table: pl.DataFrame, file: str) -> pl.DataFrame:
        import polars as pl

        # Labels are told by the steps that make shares of these; here it is only checked that the codes are known.
        labelled(table, {"qsp12n": _USES, "qsp13new": _USES}, file=file)
        table = labelled(table, {"qsp1": {1: "higher", 2: "lower"}, "k2e": YES_NO}, file=file)
        lost = table.filter(pl.col("qsp1").is_null() & pl.col("qsp2__clean").is_not_null())
        if len(lost):
            raise DataError(f"qsp2 has a size without a direction in qsp1 in {len(lost):,} rows", file=file)
        sign = pl.when(pl.col("qsp1") == "lower").then(-1.0).otherwise(1.0)
        return table.with_columns((sign * pl.col("qsp2__clean")).alias("signed_spending_growth_percent"))


class SceLaborMarket(_Module):
    """The labor market module (March, July, November): the best offers of four months and the reservation wage.

    Columns: ``nl1`` (offers), ``nl2a_1`` (dollars a year), ``nl2b_1`` (full-time, part-time), ``first_offer_decision``
    (accepted, rejected, still deciding), ``reservation_wage_annual_full_time`` (dollars).
    """

    name = "sce_labor_market"
    module = "labor_market"
    workbook = RawFile("micro/sce/labor_market/sce-labor-microdata-public.xlsx", databank("Labor Market"), SCE_TERMS)
    numbers = ("nl1", "nl2a_1", "nl2b_1", "nl3_1", "rw2a", "rw2b")
    ranges: ClassVar[Mapping[str, Range]] = {"rw2a": None}

    def _answers(self, table: pl.DataFrame, file: str) -> pl.DataFrame:
        odd = int(table["nl2a_1"].is_nan().sum())
        if odd:
            raise DataError(f"nl2a_1, the salary offered, is no number in {odd:,} rows", file=file)
        table = labelled(table, {"nl2b_1": {1: "full-time", 2: "part-time"}, "nl3_1": DECISIONS}, file=file)
        wage = reservation_wage(table, file=file)
        return table.with_columns(wage).drop("rw2a", "rw2b", "rw2a__clean").rename({"nl3_1": "first_offer_decision"})


class ScePublicPolicy(_Module):
    """The public policy module (April, August, December): what four changes would do to the own household.

    Columns: ``qp2_N`` (very_negative to very_positive) and ``hidqp2_N`` (increase_or_expansion, decrease_or_reduction),
    the direction drawn for the respondent, of `POLICIES`.
    """

    name = "sce_public_policy"
    module = "public_policy"
    workbook = RawFile("micro/sce/public_policy/sce-policy-public-microdata.xlsx", databank("Public Policy"), SCE_TERMS)
    numbers = tuple(f"{prefix}_{place}" for prefix in ("qp2", "hidqp2") for place in POLICIES)

    def _answers(self, table: pl.DataFrame, file: str) -> pl.DataFrame:
        effects = {f"qp2_{place}": EFFECTS for place in POLICIES}
        return labelled(table, effects | {f"hidqp2_{place}": DIRECTIONS for place in POLICIES}, file=file)


def reservation_wage(table: pl.DataFrame, *, file: str) -> pl.Expr:
    """Return ``reservation_wage_annual_full_time``: positive amounts times their unit, in dollars a year at full time.

    From March 2017 on only a yearly amount is asked for, so that a missing unit is a year; before, an amount without a
    unit says nothing.

    Raises
    ------
    DataError
        A unit has no meaning, or is not a year although only a year is asked for.
    """
    import polars as pl

    yearly = 12 * pl.col("survey_year") + pl.col("survey_month") >= YEARLY_ONLY
    unit = pl.col("rw2b")
    known = unit.is_null() | unit.is_in([float(code) for code in FULL_TIME])
    for bad, what in (
        (~known, "rw2b, the unit of the reservation wage, has codes without a meaning"),
        (yearly & (unit != _YEAR), "rw2b is not a year although only a yearly wage is asked for"),
    ):
        rows = table.filter(bad)
        if len(rows):
            raise DataError(f"{what} in {len(rows):,} rows, among them {shown(rows['rw2b'][0])}", file=file)
    asked = pl.when(unit.is_null() & yearly).then(float(_YEAR)).otherwise(unit)
    times = asked.replace_strict({float(code): float(n) for code, n in FULL_TIME.items()}, default=None)
    amount = pl.col("rw2a__clean")
    return pl.when(amount > 0).then(amount * times).alias("reservation_wage_annual_full_time")
