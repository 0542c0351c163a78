"""The core of the New York Fed's Survey of Consumer Expectations, every month from June 2013 on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, RawFile
from hbench_householdbench.sources.sce_densities import with_moments
from hbench_householdbench.sources.sce_releases import SCE_RELEASES, SCE_TERMS, with_release_dates
from hbench_householdbench.sources.sce_values import (
    FLAG,
    PERCENT,
    YES_NO,
    bins,
    check_words,
    labelled,
    report_statuses,
    with_companions,
    with_validity,
    without_nan,
)
from hbench_householdbench.sources.sce_workbook import check_unique, keyed, open_workbook

if TYPE_CHECKING:
    import polars as pl

FOLDER = "micro/sce/core"
WORKBOOKS = (
    "FRBNY-SCE-Public-Microdata-Complete-13-16.xlsx",
    "FRBNY-SCE-Public-Microdata-Complete-17-19.xlsx",
    "frbny-sce-public-microdata-20-24.xlsx",
    "frbny-sce-public-microdata-latest.xlsx",
)
DENSITIES = ("Q9", "Q9c")
"""Distributions of inflation over the next twelve months, and over the twelve from two to three years on."""
MOMENTS = ("Q9_mean", "Q9_iqr", "Q9c_mean", "Q9c_iqr")
"""Means and interquartile ranges that the bank fits to these distributions; where it does not, `with_moments` does."""
INCOMES = dict(
    enumerate(
        (
            *("Less than $10,000", "$10,000 to $19,999", "$20,000 to $29,999", "$30,000 to $39,999"),
            *("$40,000 to $49,999", "$50,000 to $59,999", "$60,000 to $74,999", "$75,000 to $99,999"),
            *("$100,000 to $149,999", "$150,000 to $199,999", "$200,000 or more"),
        ),
        start=1,
    )
)
_CHANGE = {
    1: "much worse off",
    2: "somewhat worse off",
    3: "about the same",
    4: "somewhat better off",
    5: "much better off",
}
_LABELS = {
    "Q1": _CHANGE,
    "Q2": _CHANGE,
    **dict.fromkeys((f"Q10_{k}" for k in range(1, 6)), FLAG),
    "Q12new": {1: "work for someone else", 2: "are self-employed"},
    **dict.fromkeys(("Q15", "Q44", "D3"), YES_NO),
    "Q43": {1: "owns the home", 2: "rents the home", 3: "has another arrangement"},
    "Q45b": {1: "excellent", 2: "very good", 3: "good", 4: "fair", 5: "poor"},
}
_WORDS = {
    "_AGE_CAT": ("Under 40", "40 to 60", "Over 60"),
    "_NUM_CAT": ("High", "Low"),
    "_REGION_CAT": ("Midwest", "Northeast", "South", "West"),
    "_EDU_CAT": ("High School", "Some College", "College"),
    "_HH_INC_CAT": ("Under 50k", "50k to 100k", "Over 100k"),
}
_RANGES = {
    **dict.fromkeys(("Q4new", "Q5new", "Q6new"), PERCENT),
    # Taken up as plain numbers before they are taken up as percentages, so only special codes go.
    **dict.fromkeys(("Q13new", "Q14new", "Q17new", "Q18new", "Q22new"), None),
    **dict.fromkeys((name for family in DENSITIES for name in bins(family)), PERCENT),
}
_NUMBERS = ("Q3", "Q11", "Q16", "Q19", "Q25v2part2", "Q41", "Q42", *MOMENTS)
_INCOME_CODES = ("Q47", "D6")
_AGE = "Q32"
_GROWTH, _DIRECTION, _DECREASE = "Q25v2part2", "Q25v2", 3
_READ = ("date", "tenure", "weight", *_RANGES, *_NUMBERS, *_LABELS, *_INCOME_CODES, _AGE, _DIRECTION)
COLUMNS = (
    *("respondent_id", "survey_date", "survey_year", "survey_month", "release_date", "panel_month", "weight"),
    *("age_years", "_HH_INC_DETAILED", *_WORDS, *_LABELS, *_NUMBERS),
    *(f"{name}__clean" for name in _RANGES),
    *(f"{family}__task_{kind}" for family in DENSITIES for kind in ("valid", "status")),
)
_FIRST, _TWELFTH, _BETWEEN = 1, 12, 11
_EXPECTED = {"Q9_mean": "expected_inflation_next_12m", "Q9c_mean": "expected_inflation_2y3y"}
_VALID = [f"{family}__task_valid" for family in DENSITIES]


class SceCore:
    """The four workbooks of the core.

    Tables: ``sce_core.parquet``, one row an interview, by survey date and respondent (`COLUMNS`; labels stand in the
    place of codes, probabilities are in percent); ``sce_first_and_twelfth.parquet``, one row for every twelfth
    interview exactly eleven months after the first, with the columns of the core ending in ``_m12``, and the first
    interview's expectations ending in ``_m1``.

    Only the columns that tasks use are kept of some two hundred, and one workbook is open at a time.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The workbooks and the release dates."""
        origin = "https://www.newyorkfed.org/microeconomics/databank (Survey of Consumer Expectations)"
        return (*(RawFile(f"{FOLDER}/{name}", origin, SCE_TERMS) for name in WORKBOOKS), SCE_RELEASES)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the tables.

        Raises
        ------
        DataError
            A workbook is damaged or lacks a column of its keys, a code or word has no meaning, or a respondent is there
            twice in a month.
        """
        import polars as pl

        core = pl.concat(read_core(raw / FOLDER / name, report=report) for name in WORKBOOKS)
        check_unique(core, file=FOLDER)
        core = with_release_dates(core, raw, "core", report=report)
        core = with_age(core).select(COLUMNS).sort("survey_date", "respondent_id", "survey_year", "survey_month")
        report.counts["core.respondents"] = core["respondent_id"].n_unique()
        core.write_parquet(out / "sce_core.parquet", compression="lz4")
        pairs = first_and_twelfth(core, report=report)
        report.counts["core.first_and_twelfth"] = len(pairs)
        pairs.write_parquet(out / "sce_first_and_twelfth.parquet", compression="lz4")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write synthetic workbooks; see `hbench_householdbench.sources.demo.sce_core`."""
        from hbench_householdbench.sources.demo.sce_core import write

        write(raw, seed=seed, scale=scale)


def read_core(path: Path, *, report: BuildReport) -> pl.DataFrame:
    """Return a workbook's interviews with keys, labels, companions and income; age needs the whole panel."""
    import polars as pl

    table = open_workbook(path).table(
        numbers=_READ,
        texts=tuple(_WORDS),
        required=("date", "tenure", "weight"),
        optional=(*MOMENTS, _DIRECTION),
        report=report,
    )
    table = keyed(table, file=path.name)
    report.counts["core.interviews"] += len(table)
    check_words(table, _WORDS, file=path.name)
    table = labelled(table, _LABELS, file=path.name)
    # The income of the first interview is asked for again only now and then, and is not carried on.
    income = pl.when(pl.col("tenure") == 1).then("Q47").when(pl.col("tenure") > 1).then("D6")
    table = table.with_columns(panel_month=pl.col("tenure"), _HH_INC_DETAILED=income)
    code = table["_HH_INC_DETAILED"].drop_nulls()
    unknown = int((~code.is_in([float(known) for known in INCOMES])).sum())
    report.problem(path.name, "codes of income without a bracket", unknown)
    table = labelled(table, {"_HH_INC_DETAILED": INCOMES}, file=path.name, unknown=("_HH_INC_DETAILED",))
    table = with_validity(with_companions(table, _RANGES), *DENSITIES)
    report_statuses(table, _RANGES, file=path.name, report=report)
    # The size has a sign of its own; the direction is asked before.
    up = pl.col(_DIRECTION) != _DECREASE
    against = table.filter(pl.when(up).then(pl.col(_GROWTH) < 0).otherwise(pl.col(_GROWTH) > 0) & up.is_not_null())
    report.problem(path.name, f"{_GROWTH} has another sign than its direction, {_DIRECTION}", len(against))
    table = with_moments(table, DENSITIES, file=path.name, report=report)
    return without_nan(table.select(*(name for name in COLUMNS if name in table.columns), _AGE))


def with_age(core: pl.DataFrame) -> pl.DataFrame:
    """Add ``age_years``: as reported, else the first report and the whole years since (or until) then."""
    import polars as pl

    month = 12 * pl.col("survey_year") + pl.col("survey_month")
    reports = core.filter(pl.col(_AGE).is_not_null()).select(
        "respondent_id", month.alias("__then"), pl.col(_AGE).alias("__age")
    )
    first = reports.sort("respondent_id", "__then").unique("respondent_id", keep="first", maintain_order=True)
    core = core.join(first, on="respondent_id", how="left", maintain_order="left")
    later = (pl.col("__age") + (month - pl.col("__then")) / 12).floor()
    return core.with_columns(age_years=pl.coalesce(_AGE, later)).drop("__then", "__age")


def first_and_twelfth(core: pl.DataFrame, *, report: BuildReport) -> pl.DataFrame:
    """Return the twelfth interviews of people who gave their first exactly eleven months before.

    Should somebody have two first interviews in a month, the twelfth is there twice. That is reported, and stops only
    the task that asks for such pairs, since a key is repeated.
    """
    import polars as pl

    core = core.with_columns(__month=month_of("survey_date"))
    earlier = core.filter(pl.col("panel_month") == _FIRST).select(
        pl.col("respondent_id"),
        (pl.col("__month") + _BETWEEN).alias("__month"),
        pl.col("survey_date").alias("survey_date_m1"),
        *(pl.col(name).alias(f"{name}_m1") for name in _VALID),
        *(pl.col(name).alias(f"{new}_m1") for name, new in _EXPECTED.items()),
    )
    again = earlier.filter(pl.struct("respondent_id", "__month").is_duplicated())["respondent_id"]
    what = "first interviews that share a respondent and a month"
    report.problem(FOLDER, what, len(again), again[0] if len(again) else "")
    names = {
        name: f"{_EXPECTED.get(name, name)}_m12" for name in core.columns if name not in ("respondent_id", "__month")
    }
    later = core.filter(pl.col("panel_month") == _TWELFTH).rename(names)
    pairs = later.join(earlier, on=["respondent_id", "__month"], how="inner", maintain_order="left").drop("__month")
    return pairs.sort("survey_date_m12", "respondent_id", "survey_date_m1")


def month_of(date: str) -> pl.Expr:
    """Return the number of the month, ``12 * year + month``, of a column of texts ``YYYY-MM-DD``."""
    import polars as pl

    day = pl.col(date).str.to_date("%Y-%m-%d")
    return 12 * day.dt.year() + day.dt.month().cast(pl.Int32)
