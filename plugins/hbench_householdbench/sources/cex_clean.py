"""From the codes of some quarters' interviews to what tasks see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
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


def cleaned(copies: pl.DataFrame, releases: pl.DataFrame) -> pl.DataFrame:
    """Turn all copies of some quarters' interviews into what tasks see.

    Parameters
    ----------
    copies : polars.DataFrame
        As `cex_reader.read_family_files` returns them, with ``q_index`` and ``package_year``.
    releases : polars.DataFrame
        What is known of each package (``cex_data_year``).

    Returns
    -------
    polars.DataFrame
        One row for each (``newid``, ``interview_year``, ``interview_month``), in that order within their quarter.

    Raises
    ------
    DataError
        A package holds an interview twice; an interview belongs to no one sample design, or a household is interviewed
        twice in a quarter; a code has no meaning (the error names the file, the column and the rows).
    """
    import polars as pl

    rows = reconcile(copies)
    # The spouse's education has a code for "never attended" only from 1984 on.
    rows = rows.with_columns(educ2=pl.when((pl.col("interview_year") > 1981) | (pl.col("educ2") != 0)).then("educ2"))
    # One plan: on tables of this size plans take longer than their work, and the streaming engine twice as long.
    plan = described(spending(panel_ids(rows.lazy()))).join(
        releases.lazy(), left_on="cex_first_release_year", right_on="cex_data_year", how="left", maintain_order="left"
    )
    found = plan.collect(engine="in-memory")
    _check_designs(found)
    cex_codes.check_labels(rows, {name: found[_NAMES.get(name, name)] for name in _LABELS}, _LABELS)
    return found


def reconcile(copies: pl.DataFrame) -> pl.DataFrame:
    """Keep of every interview the copy of the latest package; yearly packages overlap in the first quarter.

    ``cex_first_release_year`` is the earliest package among the copies.
    """
    import polars as pl

    key = ["newid", "interview_year", "interview_month"]
    copies = copies.sort("q_index", *key, "package_year")
    # Copies of an interview follow each other, so neighbours tell what grouping would, many times faster.
    same = pl.all_horizontal(pl.col(name) == pl.col(name).shift() for name in key).fill_null(False)
    marks = copies.select(
        last=~same.shift(-1, fill_value=False),
        first=pl.when(~same).then("package_year").forward_fill(),
        twice=same & (pl.col("package_year") == pl.col("package_year").shift()),
    )
    if marks["twice"].any():
        again = copies.filter(marks.select(pl.col("twice") | pl.col("twice").shift(-1, fill_value=False)).to_series())
        raise DataError(
            f"{len(again):,} rows repeat an interview within a package, among them NEWID {again['newid'][0]} of "
            f"{again['interview_year'][0]}-{again['interview_month'][0]:02d}",
            file=again["file"][0],
        )
    copies = copies.hstack([marks["first"].alias("cex_first_release_year")])
    return copies if marks["last"].all() else copies.filter(marks["last"])


def panel_ids(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add the sample design and ``cex_panel_id``; household numbers are used again in every design."""
    import polars as pl

    quarter = pl.col("q_index")
    number, count = pl.lit(None, pl.Int64), pl.lit(0, pl.Int32)
    for place, (_, first, last, files) in enumerate(_DESIGNS):
        own = pl.lit(True) if first is None else quarter >= first
        if last is not None:
            own = own & (quarter <= last)
        for token, package in files:
            own = own | ((pl.col("token") == token) & (pl.col("package_year") == package))
        number, count = pl.when(own).then(place).otherwise(number), count + own.cast(pl.Int32)
    names = pl.lit(pl.Series([name for name, *_ in _DESIGNS]))
    return (
        rows.with_columns(__design=number, __designs=count, cu_id=pl.col("newid").str.head(7))
        .with_columns(cex_sample_design=names.gather("__design"))
        .with_columns(
            cex_panel_id=pl.concat_str("cex_sample_design", pl.lit(":"), "cu_id"),
            # Household and quarter in one number, which are compared many times as fast as texts.
            __household=pl.col("cu_id").cast(pl.Int64)
            + 10**7 * (quarter.cast(pl.Int64) * len(_DESIGNS) + pl.col("__design")),
        )
    )


def _check_designs(rows: pl.DataFrame) -> None:
    import polars as pl

    if (rows["__designs"] != 1).any():
        odd = rows.filter(pl.col("__designs") != 1)
        raise DataError(
            f"{len(odd):,} interviews belong to no one sample design, the first of {quarter_name(odd['q_index'][0])}",
            file=odd["file"][0],
            hint="In the first quarters of 1996, 2005 and 2015 the files fmli961, fmli051 and fmli151 tell them apart.",
        )
    if rows["__household"].n_unique() < len(rows):
        again = rows.filter(pl.col("__household").is_duplicated())
        raise DataError(
            f"{len(again):,} interviews are a household's second in a quarter, among them {again['cex_panel_id'][0]}",
            file=again["file"][0],
        )


def spending(rows: pl.LazyFrame) -> pl.LazyFrame:
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
    rows = rows.with_columns(
        food_definition_regime=pl.when(redesigned)
        .then(pl.lit("redesigned"))
        .when(pl.col("q_index") >= _TRANSITION)
        .then(pl.lit("transition"))
        .otherwise(pl.lit("legacy")),
        cons_parker_total=pl.col("cons_total") - _added(f"cons_{name}" for name in _NOT_IN_TOTAL),
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


def described(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give codes their labels, and interviews their date and place in the series."""
    import polars as pl

    number = pl.col("interi").fill_null(pl.col("newid").str.tail(1).cast(pl.Float64))
    first = pl.when(pl.col("interview_year") <= FIVE_INTERVIEWS).then(2.0).otherwise(1.0)
    place = number - first + 1
    persons = pl.col("fam_size").is_not_null() & pl.col("n_kids").is_not_null()
    return rows.with_columns(
        *cex_codes.labels(_LABELS),
        interview_position=pl.when(place.is_between(1, 4)).then(place),
        interview_date=pl.date("interview_year", "interview_month", 1).dt.strftime("%Y-%m-%d"),
        quarter=((pl.col("interview_month") - 1) // 3 + 1).cast(pl.Int32),
        n_adults=pl.when(persons).then(pl.max_horizontal(pl.col("fam_size") - pl.col("n_kids"), pl.lit(0.0))),
    ).rename(_NAMES)


def _sum(columns: Sequence[str]) -> pl.Expr:
    """Add what there is; nothing at all is missing, not zero."""
    import polars as pl

    there = pl.any_horizontal(pl.col(column).is_not_null() for column in columns)
    return pl.when(there).then(_added(columns))


def _added(columns: Iterable[str]) -> pl.Expr:
    """Add from left to right: `polars.sum_horizontal` adds in the order in which threads come to it."""
    import polars as pl

    return reduce(add, (pl.col(column).fill_null(0.0) for column in columns))
