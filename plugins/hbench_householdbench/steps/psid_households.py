"""Households of the PSID from 1968 to 1992: who its adults are, what they did, and which jobs they lost.

These are the layers between the two sources and the tasks on lost jobs (facts on the PSID, event layers).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hbench.core import DataError, SpecError
from hbench.data import StepContext
from hbench_householdbench.sources.psid_layout import EVENT_WAVES, LABELS, LONG, MAIN_STUDY
from hbench_householdbench.sources.psid_questions import REASONS

if TYPE_CHECKING:
    import polars as pl

REASON_LABELS = {1: "plant_closure_or_employer_move", 3: "layoff_or_firing"}
"""Reasons that count as a lost job; others are one's own choice, the end of a term, or no answer."""
_UNKNOWN_EARNINGS = 9_999_999
_PARTNERED = LABELS["fam_partnered"][1]
_WORKS = LABELS["emp_work"][1]
_FIGURES = (
    *("rp_reason_employed", "rp_reason_unemployed", "sp_reason_employed", "sp_reason_unemployed"),
    *("rp_annual_hours", "sp_annual_hours", "food_cash"),
)
_FACTS = (
    *("id", "demo_age_gen", "demo_sex", "race_eth_maj_col", "geo_region", "edu_year", "fam_size", "fam_size_chi"),
    *("home_stat", "annual_hours", "earn_tot_nd", "finc_tot_nd", "food_cash", "asked"),
)


@dataclass(frozen=True)
class Households:
    """What two sources say together.

    Attributes
    ----------
    adults : polars.DataFrame
        One row an adult and wave: ``id``, ``year``, ``fuid``, ``rel`` (1 reference person, 2 partner), ``subject`` (the
        household by its adults), facts, ``annual_hours`` and ``earn_tot_nd`` of the year before, ``food_cash``,
        ``structure``, ``asked`` about lost jobs, and ``reason`` of one that the wave tells of.
    """

    adults: pl.DataFrame

    @cached_property
    def reports(self) -> pl.DataFrame:
        """Lost jobs as they were told: ``id``, ``year``, ``reason`` and what the report is, ``status``.

        The first one of a person is an episode (``first``); one in the wave after another tells of the same loss
        (``repeat``); a later one is another episode if a wave between shows work (``later``), else nobody knows
        (``unresolved``). Losses told in 1968 lie before the study (``before``).
        """
        import polars as pl

        told = self.adults.filter(pl.col("reason").is_not_null()).select("id", "year", "reason").sort("id", "year")
        told = told.with_columns(pl.col("year").shift().over("id").alias("previous"))
        works = (pl.col("emp_work") == _WORKS).fill_null(False)
        works = works | (pl.col("annual_hours") > 0).fill_null(False) | (pl.col("earn_tot_nd") > 0).fill_null(False)
        worked = self.adults.filter(works).select("id", pl.col("year").alias("at"))
        between = told.join(worked, on="id").filter(pl.col("at").is_between("previous", "year", closed="none"))
        between = between.select("id", "year").unique().with_columns(between=pl.lit(True))
        status = (
            pl.when(pl.col("year") == EVENT_WAVES[0])
            .then(pl.lit("before"))
            .when(pl.col("previous").is_null())
            .then(pl.lit("first"))
            .when(pl.col("year") - pl.col("previous") <= 1)
            .then(pl.lit("repeat"))
            .when(pl.col("between"))
            .then(pl.lit("later"))
            .otherwise(pl.lit("unresolved"))
        )
        told = told.join(between, on=["id", "year"], how="left", maintain_order="left")
        return told.select("id", "year", "reason", status.alias("status"))

    @cached_property
    def episodes(self) -> pl.DataFrame:
        """Lost jobs that count: ``id``, ``year`` (of the wave) and ``reason``."""
        import polars as pl

        return self.reports.filter(pl.col("status").is_in(["first", "later"])).drop("status")

    @cached_property
    def shocks(self) -> pl.DataFrame:
        """Waves in which a household lost jobs: ``subject``, ``year``, ``losses`` and ``displaced``, the first id."""
        import polars as pl

        told = self.episodes.join(self.adults.select("id", "year", "subject"), on=["id", "year"])
        shocks = told.group_by("subject", "year").agg(pl.len().alias("losses"), pl.col("id").min().alias("displaced"))
        return shocks.sort("year", "subject")

    @cached_property
    def waves(self) -> pl.DataFrame:
        """One row a household and wave: ``subject``, ``year``, ``structure``, ``reference_`` and ``partner_`` facts."""
        import polars as pl

        sides = [
            self.adults.filter(pl.col("rel") == rel).select(
                "subject", "year", "structure", *(pl.col(name).alias(f"{role}_{name}") for name in _FACTS)
            )
            for rel, role in ((1, "reference"), (2, "partner"))
        ]
        keys = ["subject", "year", "structure"]
        return sides[0].join(sides[1], on=keys, how="full", coalesce=True).sort("year", "subject")

    def prior(self, role: str) -> pl.DataFrame:
        """Return earlier losses of a person before a wave: ``id``, ``year``, and ``ROLE_prior_...`` joined by ``|``.

        The oldest comes first; repeats, and reports of which nobody knows whether they are repeats, are left out.
        """
        import polars as pl

        distinct = self.reports.filter(pl.col("status").is_in(["before", "first", "later"]))
        later = self.adults.select("id", "year").join(distinct.rename({"year": "told"}), on="id")
        later = later.filter(pl.col("told") < pl.col("year")).sort("id", "year", "told")
        return later.group_by("id", "year", maintain_order=True).agg(
            (pl.col("year") - pl.col("told"))
            .cast(pl.String)
            .str.join("|")
            .alias(f"{role}prior_displacement_years_ago"),
            pl.col("reason").str.join("|").alias(f"{role}prior_displacement_reasons"),
        )


def households(context: StepContext) -> Households:
    """Return the households of the task's sources; of their adults, those of the 1968 SRC sample.

    Raises
    ------
    DataError
        Members of a family differ in what is said of the family, or one wave tells two ways of one lost job.
    """
    import polars as pl

    for table, source in (("psid_members", "psid"), ("psid_main_study", "psid_main_study")):
        if table not in context.tables:
            raise SpecError(f"the table {table!r} is not there", task=context.task.name, hint=f"List {source!r}.")
    members = context.tables["psid_members"].collect()
    figures = context.tables["psid_main_study"].collect()
    rows = members.join(figures, on=["id", "year"], how="left", maintain_order="left")
    _check_families(rows, context)
    adults = _own(_with_roles(rows)).filter(pl.col("subsample") == "src")
    both = adults.filter((pl.col("qualifying") == 2) & (pl.col("year") != EVENT_WAVES[0]))
    if len(both):
        raise DataError(
            f"{len(both):,} adults tell of a lost job both as employed and as unemployed, among them "
            f"ID {both['id'][0]} in {both['year'][0]}",
            file=MAIN_STUDY.path,
            task=context.task.name,
        )
    return Households(_with_subjects(adults))


def _check_families(rows: pl.DataFrame, context: StepContext) -> None:
    """Refuse families whose members' own records differ in the family's figures."""
    import polars as pl

    kinds = rows.group_by("year", "fuid").agg(pl.col(name).n_unique() for name in _FIGURES)
    odd = kinds.filter(pl.any_horizontal(pl.col(name) > 1 for name in _FIGURES)).sort("year", "fuid")
    if len(odd):
        first = odd.row(0, named=True)
        wrong = ", ".join(name for name in _FIGURES if first[name] > 1)
        raise DataError(
            f"in {len(odd):,} families members differ in what is said of the family, as in {first['year']} in that of "
            f"FUID {first['fuid']:.0f} ({wrong})",
            file=MAIN_STUDY.path,
            task=context.task.name,
            hint=f"Is {LONG.path} of the same release?",
        )


def _with_roles(rows: pl.DataFrame) -> pl.DataFrame:
    """Return reference persons and their partners; families with two of a kind, or a partner alone, are left out."""
    import polars as pl

    roles = rows.filter(pl.col("rel").is_in([1.0, 2.0]))
    family = ["year", "fuid"]
    sizes = roles.group_by(family).agg((pl.col("rel") == rel).sum().alias(f"role{rel}") for rel in (1, 2))
    plain = sizes.filter((pl.col("role1") == 1) & (pl.col("role2") <= 1))
    return roles.join(plain, on=family, how="semi", maintain_order="left")


def _own(roles: pl.DataFrame) -> pl.DataFrame:
    """Take each adult's own figures from those of the two roles."""
    import polars as pl

    first = pl.col("rel") == 1
    own = {
        name: pl.when(first).then(f"rp_{name}").otherwise(f"sp_{name}")
        for name in ("reason_employed", "reason_unemployed", "annual_hours")
    }
    asked = (
        pl.when(first)
        .then(pl.col("year").is_in(list(REASONS["rp"])))
        .otherwise(pl.col("year").is_in(list(REASONS["sp"])))
    )
    earned = pl.col("earn_tot_nd")
    adults = roles.with_columns(
        *(value.alias(name) for name, value in own.items()),
        asked.alias("asked"),
        earn_tot_nd=pl.when((earned >= 0) & (earned != _UNKNOWN_EARNINGS)).then(earned),
    ).drop(name for name in _FIGURES if name != "food_cash")
    labels = {float(code): label for code, label in REASON_LABELS.items()}
    routes = [pl.col(name).replace_strict(labels, default=None) for name in ("reason_unemployed", "reason_employed")]
    return adults.with_columns(
        pl.coalesce(routes).alias("reason"),
        pl.sum_horizontal(route.is_not_null() for route in routes).alias("qualifying"),
    )


def _with_subjects(adults: pl.DataFrame) -> pl.DataFrame:
    """Name households by their adults, so that the same name in two waves means the same people."""
    import polars as pl

    people = adults.group_by("year", "fuid").agg(
        pl.col("id").sort().cast(pl.String).str.join("_").alias("ids"),
        pl.len().alias("adults"),
        (pl.col("fam_partnered") == _PARTNERED).fill_null(False).any().alias("partnered"),
    )
    pair = pl.col("adults") == 2
    people = people.select(
        "year",
        "fuid",
        (pl.when(pair).then(pl.lit("psid_pair_")).otherwise(pl.lit("psid_single_")) + pl.col("ids")).alias("subject"),
        # A partner from outside the sample of 1968 is no adult here, but the reference person does not live alone.
        pl.when(pair | pl.col("partnered"))
        .then(pl.lit("partnered"))
        .otherwise(pl.lit("unpartnered"))
        .alias("structure"),
    )
    return adults.join(people, on=["year", "fuid"], how="left", maintain_order="left").sort("year", "id")
