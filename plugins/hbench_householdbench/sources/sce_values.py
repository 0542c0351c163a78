"""What an answer of the Survey of Consumer Expectations is worth: ranges, labels, and distributions over ten ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.sce_cells import shown

if TYPE_CHECKING:
    import polars as pl

Range = tuple[float, float] | None
PERCENT: Range = (0.0, 100.0)
BINS = 10
YES_NO = {1: "yes", 2: "no"}
FLAG = {0: "no", 1: "yes"}
_SPECIAL = -900
_TOLERANCE = 1.0
"""Percentage points by which a distribution's sum may miss 100."""


def bins(family: str) -> list[str]:
    """Return the ten columns of a distribution: ``Q9_bin1`` ..., or ``qsp7dens_1`` ...."""
    return [f"{family}_{k}" if family.endswith("dens") else f"{family}_bin{k}" for k in range(1, BINS + 1)]


def with_companions(table: pl.DataFrame, ranges: Mapping[str, Range]) -> pl.DataFrame:
    """Add ``X__clean`` and ``X__status`` for columns of numbers.

    Parameters
    ----------
    table : polars.DataFrame
        As from `Workbook.table`: null is no answer, NaN an answer that is no number.
    ranges : mapping
        Lowest and highest possible value by column, or None where there is none.

    Returns
    -------
    polars.DataFrame
        The status is null without an answer, ``valid``, ``undocumented_special`` (no number or, where there is no
        range, -900 and below) or ``invalid_range``; only valid values are in ``X__clean``.
    """
    import polars as pl

    added: list[pl.Expr] = []
    for name, limits in ranges.items():
        value = pl.col(name)
        good = value > _SPECIAL if limits is None else value.is_between(*limits)
        bad = "undocumented_special" if limits is None else "invalid_range"
        status = (
            pl.when(value.is_null())
            .then(None)
            .when(value.is_nan())
            .then(pl.lit("undocumented_special"))
            .when(good)
            .then(pl.lit("valid"))
            .otherwise(pl.lit(bad))
        )
        added += [
            pl.when(good & value.is_not_nan()).then(value).alias(f"{name}__clean"),
            status.alias(f"{name}__status"),
        ]
    return table.with_columns(added)


def report_statuses(table: pl.DataFrame, names: Iterable[str], *, file: str, report: BuildReport) -> None:
    """Report how many answers of each column are not valid, by their ``X__status``."""
    for name in names:
        status = table[f"{name}__status"].drop_nulls()
        for what, rows in sorted(status.filter(status != "valid").value_counts().iter_rows()):
            report.problem(file, f"{name} with the status {what}, so without a clean value", rows)


def labelled(
    table: pl.DataFrame, tables: Mapping[str, Mapping[int, str]], *, file: str, unknown: tuple[str, ...] = ()
) -> pl.DataFrame:
    """Put labels in the place of codes.

    Parameters
    ----------
    table : polars.DataFrame
        With the columns as numbers.
    tables : mapping
        Label by code, by column.
    file : str
        What errors name.
    unknown : tuple of str
        Columns whose unknown codes are left without a label instead of refused.

    Raises
    ------
    DataError
        A code has no label.
    """
    import polars as pl

    added = []
    for name, labels in tables.items():
        codes = {float(code): label for code, label in labels.items()}
        odd = table[name].drop_nulls()
        odd = odd.filter(~odd.is_in(list(codes)))
        if len(odd) and name not in unknown:
            raise DataError(
                f"{name} has codes without a meaning in {len(odd):,} rows, among them {shown(odd.mode().sort()[0])}",
                file=file,
                hint=f"Known codes: {', '.join(map(str, labels))}. Is it the file that the provider ships?",
            )
        added.append(pl.col(name).replace_strict(codes, default=None, return_dtype=pl.String))
    return table.with_columns(added)


def first_answered(
    table: pl.DataFrame, names: Mapping[str, tuple[str, ...]], *, file: str, report: BuildReport
) -> list[pl.Expr]:
    """Return for every question the first of its names that is answered.

    Parameters
    ----------
    table : polars.DataFrame
        With all of the names as numbers.
    names : mapping
        A workbook's names by ours, since both change over the years.
    file : str
        What the report names.
    report : BuildReport
        Gets how many rows answer a question under two names and differently.
    """
    import polars as pl

    for ours, choices in names.items():
        first = pl.coalesce(choices)
        differs = table.filter(pl.any_horizontal(pl.col(name) != first for name in choices))
        what = f"answers to {ours} that differ between {', '.join(choices)}, of which the first counts"
        report.problem(file, what, len(differs))
    return [pl.coalesce(choices).alias(ours) for ours, choices in names.items()]


def check_words(table: pl.DataFrame, words: Mapping[str, tuple[str, ...]], *, file: str) -> None:
    """Refuse texts that are none of those that a column may hold."""
    for name, known in words.items():
        there = table[name].drop_nulls()
        odd = there.filter(~there.is_in(list(known)))
        if len(odd):
            raise DataError(
                f"{name} has unknown values in {len(odd):,} rows, most of them {odd.mode().sort()[0]!r}",
                file=file,
                hint=f"Known values: {', '.join(known)}.",
            )


def with_validity(table: pl.DataFrame, *families: str) -> pl.DataFrame:
    """Add ``F__task_valid`` and ``F__task_status`` for distributions over ten ranges, in percent.

    A distribution is valid if all ten parts are there, lie within 0 to 100, and sum to 100 give or take one. Both
    columns are null where nothing was answered; otherwise the status is ``valid`` or the first of ``range_invalid``,
    ``partial_missing``, ``all_zero``, ``all_same_nonzero`` (with a wrong sum) and ``sum_off_100`` that holds.
    """
    import polars as pl

    added: list[pl.Expr] = []
    for family in families:
        columns = bins(family)
        parts = [pl.col(name) for name in columns]
        outside = pl.any_horizontal(~(part.is_between(0, 100) & part.is_not_nan()) for part in parts)
        # Terms are added in one order, whatever the number of threads.
        total = sum(parts[1:], start=parts[0])
        off = (total - 100).abs() > _TOLERANCE
        same = pl.all_horizontal(part == parts[0] for part in parts[1:])
        status = (
            pl.when(pl.all_horizontal(part.is_null() for part in parts))
            .then(None)
            .when(outside)
            .then(pl.lit("range_invalid"))
            .when(pl.any_horizontal(part.is_null() for part in parts))
            .then(pl.lit("partial_missing"))
            .when(total == 0)
            .then(pl.lit("all_zero"))
            .when(same & off)
            .then(pl.lit("all_same_nonzero"))
            .when(off)
            .then(pl.lit("sum_off_100"))
            .otherwise(pl.lit("valid"))
        )
        added += [(status == "valid").alias(f"{family}__task_valid"), status.alias(f"{family}__task_status")]
    return table.with_columns(added)


def without_nan(table: pl.DataFrame) -> pl.DataFrame:
    """Make answers that are no numbers missing, once their status is told."""
    import polars.selectors as cs

    return table.with_columns(cs.float().fill_nan(None))
