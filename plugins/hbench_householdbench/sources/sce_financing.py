"""The experiment on home financing of February 2014, from the replication files of Fuster and Zafar (2021)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.sce_releases import SCE_RELEASES, with_release_dates
from hbench_householdbench.sources.sce_values import labelled

if TYPE_CHECKING:
    import polars as pl

EXPERIMENT = RawFile(
    "micro/sce/financing_fuster_zafar_2021/ReplicationMaterial/data/raw/FZdata_raw.dta",
    "https://doi.org/10.3886/E117041V1",
    "as the replication package on openICPSR says; the survey is the Federal Reserve Bank of New York's",
    sha256="ee3c25313186ad6d1a6396020b6af2550133604e254a2bd89cc4f0ca5ad111c9",
)
RATES = {1: (4.5, 6.5), 2: (6.5, 4.5)}
"""Initial and alternative mortgage rate in percent, by the questionnaire's version."""
INCOME = (
    *("less than $10,000", "$10,000 to $20,000", "$20,000 to $30,000", "$30,000 to $40,000", "$40,000 to $50,000"),
    *("$50,000 to $60,000", "$60,000 to $75,000", "$75,000 to $100,000", "$100,000 to $150,000"),
    *("$150,000 to $200,000", "$200,000 or more"),
)
CREDIT = ("below 620", "620 to 679", "680 to 719", "720 to 760", "above 760", "does not know")
LABELS = {
    # the file's column: ours, and what its codes say
    "q4": ("tenure", {1: "owner", 0: "renter"}),
    "male": ("sex", {1: "man", 0: "woman"}),
    "college": ("education", {1: "college degree or higher", 0: "less than a college degree"}),
    "zip_good_inv": ("property_good_investment", {1: "yes", 0: "no"}),
    "hh_income": ("income_band", dict(enumerate(INCOME, start=1))),
    "q14": ("credit_score_band", dict(enumerate(CREDIT, start=1))),
}
SAVINGS_BOUNDS = (5_000, 30_000, 100_000, 500_000)
DEBT_BOUNDS = (1_000, 5_000, 30_000)
DOWN_PAYMENT = 0.20
LEAST_DOWN_PAYMENT = 0.05
NUMBERS = {
    # ours: the file's
    "comparable_home_value": ("homevalue",),
    "initial_wtp": ("hypo_q1",),
    "initial_effective_monthly_payment": ("hypo_mpayment_q1",),
    "wtp_flexible_original_rate": ("hypo_q2",),
    "down_payment_flexible_original_rate": ("hypo_d2",),
    "wtp_flexible_alternative_rate": ("hypo_q3",),
    "down_payment_flexible_alternative_rate": ("hypo_d3",),
    "wtp_after_cash_inheritance": ("hypo_q4",),
    "down_payment_after_cash_inheritance": ("hypo_d4",),
    "numeracy_score": ("total_numeracy",),
    "willingness_to_take_risks": ("q13",),
    "probability_move_three_years": ("prob_move_3yr",),
    "weight": ("sce_acs_weights",),
    # What these are called in the file the sheets do not say; the first that is there is taken.
    "age": ("age", "age_years", "q32"),
    "residence_children_under18": ("residence_children_under18", "children_under18", "num_children_under18"),
    "residence_children_over18": ("residence_children_over18", "children_over18", "num_children_over18"),
    "non_housing_debt": ("non_housing_debt", "nonhousing_debt", "other_debt"),
}
_CODES = (
    *("userid", "hypoversion", "house_value", "house_debt", "q16_6", "liquid_savings", "q38", "region"),
    *LABELS,
)
_KNOWN = {**{code: tuple(labels) for code, (_, labels) in LABELS.items()}, "q38": (1, 2), "q16_6": (0, 1)}
"""Codes with a meaning; of the last two, partnership and having no savings, only the 1 counts."""
_MOST_DEBT = 1_000.0
"""Largest debt in thousands of dollars that is believed; a larger one means that the column is in dollars."""


class SceFinancing:
    """Fuster and Zafar's strategic survey on housing demand, asked in the housing module of February 2014.

    Table: ``house_sce_financing.parquet``, one row a respondent (1,211 in the file), by id as a text; dollars and
    percent.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The experiment's answers and the survey's release dates."""
        return EXPERIMENT, SCE_RELEASES

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            The file cannot be read, a column is missing, a respondent is repeated, or debts are not in thousands.
        """
        answers = read_experiment(raw / EXPERIMENT.path)
        report.counts["financing.respondents"] += len(answers)
        _count_unknown(answers, report)
        rows = described(answers)
        _compare_payments(answers, rows, report)
        rows = with_release_dates(rows, raw, "housing", report=report).sort("respondent_id")
        rows.write_parquet(out / "house_sce_financing.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic file; see `hbench_householdbench.sources.demo.sce_financing`."""
        from hbench_householdbench.sources.demo.sce_financing import write

        write(raw, seed=seed, scale=scale)


def read_experiment(path: Path) -> pl.DataFrame:
    """Return the file's columns that are needed, numbers by our names and codes by the file's.

    Raises
    ------
    DataError
        The file cannot be read, lacks a column, or repeats a respondent.
    """
    import polars as pl
    import pyreadstat

    try:
        table, _ = pyreadstat.read_dta(path, apply_value_formats=False)
    except (OSError, ValueError, pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path, hint="Download it again.") from error
    there = {name.lower(): name for name in table.columns}
    wanted = {name: next((there[one] for one in choices if one in there), None) for name, choices in NUMBERS.items()}
    wanted |= {name: there.get(name) for name in _CODES}
    absent = [" or ".join(NUMBERS.get(name, (name,))) for name, column in wanted.items() if column is None]
    if absent:
        raise DataError(f"columns are missing: {', '.join(absent)}", file=path)
    stored = {name: there[name] for name in _payment_columns() if name in there and name not in wanted}
    names = {**wanted, **stored}
    answers = pl.DataFrame({name: pl.Series(table[column].to_numpy()) for name, column in names.items()})
    numbers = [name for name in names if name not in ("region", "userid")]
    texts = [str(names[name]) for name in numbers if answers[name].dtype == pl.String]
    if texts:
        raise DataError(f"columns hold texts, not numbers: {', '.join(texts)}", file=path)
    answers = answers.with_columns(pl.col(numbers).cast(pl.Float64))
    answers = answers.with_columns(pl.col("region").cast(pl.String).str.strip_chars().replace("", None))
    answers = answers.fill_nan(None).with_columns(pl.col("userid").cast(pl.Int64, strict=False).cast(pl.String))
    again = answers.filter(pl.col("userid").is_duplicated() | pl.col("userid").is_null())
    if len(again):
        raise DataError(f"userid is missing, no number or repeated in {len(again):,} rows", file=path)
    return answers


def described(answers: pl.DataFrame) -> pl.DataFrame:
    """Return rows with keys, rates, dollars and labels; a code without a meaning gives none.

    Raises
    ------
    DataError
        Debts look like dollars where thousands are read.
    """
    import polars as pl

    large = answers["non_housing_debt"].filter(answers["non_housing_debt"] > _MOST_DEBT)
    if len(large):
        raise DataError(
            f"{len(large):,} non-housing debts are not believable, among them one of {large[0]:,.0f} thousand dollars",
            file=EXPERIMENT.path,
            hint="The column is read in thousands, as savings are.",
        )
    meanings = {code: labels for code, (_, labels) in LABELS.items()}
    rows = labelled(answers, meanings, file=EXPERIMENT.path, unknown=tuple(meanings))
    rows = rows.rename({code: name for code, (name, _) in LABELS.items()})
    savings = pl.when(pl.col("q16_6") == 1).then(0.0).otherwise(pl.col("liquid_savings") * 1000)
    partner = pl.when(pl.col("q38") == 1).then(pl.lit("yes")).otherwise(pl.lit("no"))
    owner, renter = pl.col("tenure") == "owner", pl.col("tenure") == "renter"
    rows = rows.with_columns(
        pl.format("fz_{}", "userid").alias("respondent_id"),
        pl.lit("2014-02-01").alias("survey_date"),
        pl.lit(2014, pl.Int32).alias("survey_year"),
        pl.lit(2, pl.Int32).alias("survey_month"),
        *(
            # Eleven people saw neither version; they have no rates, and no answers to predict.
            pl.col("hypoversion").replace_strict(_rates(place), default=None).alias(name)
            for place, name in enumerate(("initial_rate", "alternative_rate"))
        ),
        (DOWN_PAYMENT * pl.col("initial_wtp") + 0.5).floor().alias("initial_down_payment"),
        *(
            pl.when(owner).then(pl.col(column)).when(renter).then(0.0).alias(name)
            for name, column in (("current_home_value", "house_value"), ("housing_debt", "house_debt"))
        ),
        savings.alias("liquid_savings_usd"),
        (pl.col("non_housing_debt") * 1000).alias("non_housing_debt_usd"),
        pl.when(pl.col("q38").is_not_null()).then(partner).alias("married"),
    )
    return rows.with_columns(
        _band("liquid_savings_usd", SAVINGS_BOUNDS).alias("liquid_savings_band"),
        _band("non_housing_debt_usd", DEBT_BOUNDS).alias("non_housing_debt_band"),
    )


def _count_unknown(answers: pl.DataFrame, report: BuildReport) -> None:
    """Report codes without a meaning: a task keeps owners and renters only, and so on, so its rows go."""
    for column, known in _KNOWN.items():
        codes = answers[column].drop_nulls()
        odd = codes.filter(~codes.is_in([float(code) for code in known]))
        example = f"{odd[0]:g}" if len(odd) else ""
        report.problem(EXPERIMENT.path, f"codes of {column} without a meaning", len(odd), example)


def _rates(place: int) -> dict[float, float]:
    return {float(version): pair[place] for version, pair in RATES.items()}


def monthly_payment(price: pl.Expr, down: pl.Expr, rate: pl.Expr, home_value: pl.Expr) -> pl.Expr:
    """Return the effective monthly payment as the questionnaire's calculator showed it, in whole dollars.

    Principal and interest over 30 years, less what a tax rate of 34 percent saves on interest (95 percent of the first
    payment's), plus taxes and upkeep of 3.35 percent of the home's value a year.
    """
    monthly = rate / 1200
    annuity = monthly / (1 - (1 + monthly) ** -360)
    return ((price - down) * (annuity - 0.95 * 0.34 * monthly) + home_value * 0.0335 / 12 + 0.5).floor()


def _payment_columns() -> tuple[str, ...]:
    return tuple(f"hypo_mpayment_q{place}" for place in (2, 3, 4))


def _compare_payments(answers: pl.DataFrame, rows: pl.DataFrame, report: BuildReport) -> None:
    """Report stored payments that the calculator does not reproduce."""
    import polars as pl

    cases = (
        ("initial_effective_monthly_payment", "initial_wtp", "initial_down_payment", "initial_rate"),
        ("hypo_mpayment_q2", "wtp_flexible_original_rate", "down_payment_flexible_original_rate", "initial_rate"),
        (
            "hypo_mpayment_q3",
            "wtp_flexible_alternative_rate",
            "down_payment_flexible_alternative_rate",
            "alternative_rate",
        ),
        ("hypo_mpayment_q4", "wtp_after_cash_inheritance", "down_payment_after_cash_inheritance", "alternative_rate"),
    )
    for stored, price, down, rate in cases:
        if stored not in answers.columns:
            continue
        valid = pl.col(down) >= (LEAST_DOWN_PAYMENT * pl.col(price) + 0.5).floor()
        computed = monthly_payment(pl.col(price), pl.col(down), pl.col(rate), pl.col("comparable_home_value"))
        differs = rows.filter(valid & ((pl.col(stored) - computed).abs() > 1))
        report.problem(
            EXPERIMENT.path,
            f"{stored} is not what the calculator gives, by more than a dollar",
            len(differs),
            example=str(differs["respondent_id"][0]) if len(differs) else "",
        )


def _band(column: str, bounds: tuple[int, ...]) -> pl.Expr:
    """Return ``none``, ``less than $5,000``, ``$5,000 to less than $30,000`` ... ``$500,000 or more``."""
    import polars as pl

    amount = pl.col(column)
    band = pl.when(amount == 0).then(pl.lit("none")).when(amount < bounds[0]).then(pl.lit(f"less than ${bounds[0]:,}"))
    for low, high in pairwise(bounds):
        band = band.when(amount < high).then(pl.lit(f"${low:,} to less than ${high:,}"))
    return band.when(amount >= bounds[-1]).then(pl.lit(f"${bounds[-1]:,} or more"))
