"""From the codes of some quarters' interviews to what tasks see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench_householdbench.sources import cex_codes
from hbench_householdbench.sources.cex_layout import SPENDING
from hbench_householdbench.sources.quarters import q_index, quarter_name

if TYPE_CHECKING:
    import polars as pl

FIVE_INTERVIEWS = 2014
"""Last year in which the public files hold the second to fifth of five interviews; then the first to fourth of four."""
_TRANSITION, _REDESIGNED = q_index(2023, 2), q_index(2024, 2)
_DESIGNS = (
    # name, first and last quarter of its interviews, and the household files (token, package) that it has besides: in
    # the quarter of a redesign the earlier package holds the old sample, the later one the new.
    ("pre_1986", None, q_index(1986, 1), ()),
    ("frame_1986", q_index(1986, 2), q_index(1995, 4), (("961", 1995),)),
    ("frame_1996", q_index(1996, 2), q_index(2004, 4), (("961", 1996), ("051", 2004))),
    ("frame_2005", q_index(2005, 2), q_index(2014, 4), (("051", 2005), ("151", 2014))),
    ("frame_2015", q_index(2015, 2), None, (("151", 2015),)),
)
_LABELS = {
    "sex_ref": cex_codes.SEX,
    "sex2": cex_codes.SEX,
    "marital1": cex_codes.MARITAL,
    "region": cex_codes.REGION,
    "bls_urbn": cex_codes.URBAN,
    "tenure": cex_codes.TENURE,
    "race_ref": cex_codes.RACE,
    "race2": cex_codes.RACE,
    "educ_ref": cex_codes.EDUCATION_CODES,
    "educ2": cex_codes.EDUCATION_CODES,
}
_NAMES = {
    "race_ref": "race_ref_harmonized",
    "race2": "race2_harmonized",
    "educ_ref": "educ_ref_harmonized",
    "educ2": "educ2_harmonized",
}
_NOT_IN_TOTAL = ("cash_contributions", "life_insurance", "retirement")
_STRICT = ("utilities", "household_operations", "public_transport", "gasoline", "personal_care", "tobacco", "misc")
_NONDURABLE = ("apparel", "health", "read")


def reconcile(copies: pl.DataFrame) -> pl.DataFrame:
    """Keep of every interview the copy of the latest package; yearly packages overlap in the first quarter.

    Parameters
    ----------
    copies : polars.DataFrame
        All copies of some quarters' interviews, with ``q_index``, ``package_year`` and ``file``.

    Returns
    -------
    polars.DataFrame
        One row for each (``newid``, ``interview_year``, ``interview_month``), in that order within their quarter, with
        ``cex_first_release_year``, the earliest package among its copies.

    Raises
    ------
    DataError
        A package holds an interview twice.
    """
    import polars as pl

    key = ["newid", "interview_year", "interview_month"]
    copies = copies.sort("q_index", *key, "package_year")
    # Copies of an interview follow each other, so neighbours tell what grouping would, many times faster.
    same = pl.all_horizontal(pl.col(name) == pl.col(name).shift() for name in key).fill_null(False)
    twice = same & (pl.col("package_year") == pl.col("package_year").shift())
    again = copies.filter(twice | twice.shift(-1, fill_value=False))
    if len(again):
        raise DataError(
            f"{len(again):,} rows repeat an interview within a package, among them NEWID {again['newid'][0]} of "
            f"{again['interview_year'][0]}-{again['interview_month'][0]:02d}",
            file=again["file"][0],
        )
    first = pl.when(~same).then("package_year").forward_fill()
    return copies.with_columns(cex_first_release_year=first).filter(~same.shift(-1, fill_value=False))


def panel_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the sample design and ``cex_panel_id`` to all interviews of some quarters.

    Household numbers are used again in every design.

    Raises
    ------
    DataError
        An interview belongs to no design, or a household is interviewed twice in a quarter.
    """
    import polars as pl

    design = pl.lit(None, pl.String)
    count = pl.lit(0)
    quarter = pl.col("q_index")
    for name, first, last, files in _DESIGNS:
        own = (pl.lit(True) if first is None else quarter >= first) & (
            pl.lit(True) if last is None else quarter <= last
        )
        for token, package in files:
            own = own | ((pl.col("token") == token) & (pl.col("package_year") == package))
        design, count = pl.when(own).then(pl.lit(name)).otherwise(design), count + own.cast(pl.Int32)
    rows = rows.with_columns(cex_sample_design=design, __designs=count, cu_id=pl.col("newid").str.head(7))
    odd = rows.filter(pl.col("__designs") != 1)
    if len(odd):
        raise DataError(
            f"{len(odd):,} interviews belong to no one sample design, the first of {quarter_name(odd['q_index'][0])}",
            file=odd["file"][0],
            hint="In the first quarters of 1996, 2005 and 2015 the files fmli961, fmli051 and fmli151 tell them apart.",
        )
    rows = rows.with_columns(cex_panel_id=pl.concat_str("cex_sample_design", pl.lit(":"), "cu_id")).drop("__designs")
    again = rows.filter(pl.struct("q_index", "cex_panel_id").is_duplicated())
    if len(again):
        raise DataError(
            f"{len(again):,} interviews are a household's second in a quarter, among them {again['cex_panel_id'][0]}",
            file=again["file"][0],
        )
    return rows


def spending(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``cons_NAME`` for every kind of spending over three months, and the totals that tasks ask for.

    From the second quarter of 2024 on food is groceries and food away, both needed in each part. Total spending leaves
    out gifts of cash, life insurance, and payments into pensions and Social Security (Parker and others 2013).
    """
    import polars as pl

    redesigned = pl.col("q_index") >= _REDESIGNED
    rows = rows.with_columns(
        pl.when(redesigned)
        .then(pl.col(f"grocery_{part}") + pl.col(f"food_away_{part}"))
        .otherwise(f"food_{part}")
        .alias(f"food_{part}")
        for part in ("cq", "pq")
    )
    rows = rows.with_columns(_sum([f"{name}_cq", f"{name}_pq"]).alias(f"cons_{name}") for name in SPENDING)
    left_out = pl.sum_horizontal(f"cons_{name}" for name in _NOT_IN_TOTAL)
    rows = rows.with_columns(
        food_definition_regime=pl.when(redesigned)
        .then(pl.lit("redesigned"))
        .when(pl.col("q_index") >= _TRANSITION)
        .then(pl.lit("transition"))
        .otherwise(pl.lit("legacy")),
        cons_parker_total=pl.col("cons_total") - left_out,
        cons_food_agg=_sum(["cons_food", "cons_alcohol"]),
    )
    rows = rows.with_columns(
        cons_strict_nondurables=_sum(["cons_food_agg", *(f"cons_{name}" for name in _STRICT)]),
    ).with_columns(
        cons_nondurables=_sum(["cons_strict_nondurables", *(f"cons_{name}" for name in _NONDURABLE)]),
    )
    rows = rows.with_columns(
        pl.when(pl.col("cons_food").is_not_null()).then(name).alias(name)
        for name in ("cons_food_agg", "cons_strict_nondurables", "cons_nondurables")
    )
    return rows.with_columns(cons_durables=pl.col("cons_parker_total") - pl.col("cons_nondurables"))


def described(rows: pl.DataFrame) -> pl.DataFrame:
    """Give codes their labels, and interviews their date and place in the series.

    Raises
    ------
    DataError
        A code has no meaning; it names the file, the column and the rows.
    """
    import polars as pl

    # The spouse's education has a code for "never attended" only from 1984 on.
    rows = rows.with_columns(educ2=pl.when((pl.col("interview_year") > 1981) | (pl.col("educ2") != 0)).then("educ2"))
    labels = cex_codes.labels(rows, _LABELS).rename(_NAMES)
    number = pl.col("interi").fill_null(pl.col("newid").str.tail(1).cast(pl.Float64))
    first = pl.when(pl.col("interview_year") <= FIVE_INTERVIEWS).then(2.0).otherwise(1.0)
    place = number - first + 1
    return rows.with_columns(
        *labels,
        interview_position=pl.when(place.is_between(1, 4)).then(place),
        interview_date=pl.date("interview_year", "interview_month", 1).dt.strftime("%Y-%m-%d"),
        quarter=((pl.col("interview_month") - 1) // 3 + 1).cast(pl.Int32),
        n_adults=pl.max_horizontal(pl.col("fam_size") - pl.col("n_kids"), pl.lit(0.0)),
    ).with_columns(n_adults=pl.when(pl.col("fam_size").is_not_null() & pl.col("n_kids").is_not_null()).then("n_adults"))


def _sum(columns: Sequence[str]) -> pl.Expr:
    """Add what there is; nothing at all is missing, not zero."""
    import polars as pl

    there = pl.any_horizontal(pl.col(column).is_not_null() for column in columns)
    return pl.when(there).then(pl.sum_horizontal(columns))
