"""Codes of the Current Population Survey that say something, and those that do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hbench.core import BuildReport

if TYPE_CHECKING:
    import polars as pl


_HALF = 1 << 15
_NATURALIZED = 4


@dataclass(frozen=True)
class Codes:
    """What the codes of some variables mean.

    Attributes
    ----------
    missing : mapping
        Codes that stand for no answer, by variable.
    known : mapping
        Codes that say something, by variable; any other one that is not missing is unknown.
    ranges : mapping
        Lowest and highest number, and codes beyond them that stand for no number, by variable.
    since : mapping
        First year in which unknown codes of a variable are worth a word.
    """

    missing: Mapping[str, frozenset[int]]
    known: Mapping[str, frozenset[int]]
    ranges: Mapping[str, tuple[float, float, tuple[float, ...]]]
    since: Mapping[str, int] = field(default_factory=dict)


def cleaned(rows: pl.DataFrame, codes: Codes, unknown: Counter[tuple[str, float]]) -> pl.DataFrame:
    """Make null what says nothing, and count unknown codes, which are made null as well, in `unknown`."""
    import polars as pl

    columns: list[pl.Expr] = []
    for name in rows.columns:
        value = pl.col(name)
        if name in codes.ranges:
            low, high, beyond = codes.ranges[name]
            inside = value.is_between(low, high)
            odd = rows.select(value.filter(~inside & ~value.is_in(list(beyond))))[name]
            unknown.update({(name, code): count for code, count in odd.value_counts().iter_rows()})
            columns.append(pl.when(inside).then(value).alias(name))
        elif name in codes.known or name in codes.missing:
            there, none = _counts(rows[name]), codes.missing.get(name, frozenset())
            strange = there.keys() - none - codes.known.get(name, there.keys())
            told = there
            if strange and name in codes.since:
                told = _counts(rows.filter(pl.col("YEAR") >= codes.since[name])[name])
            unknown.update({(name, code): told[code] for code in strange if code in told})
            # A column has few codes that go, if any, so this is much faster than asking which cells stay.
            gone = sorted((none & there.keys()) | strange)
            if gone:
                columns.append(pl.when(~value.is_in(gone)).then(value).alias(name))
    return rows.with_columns(columns)


def _counts(codes: pl.Series) -> dict[int, int]:
    """Return how often each code of at most 16 bits occurs."""
    import numpy as np

    counts = np.bincount(codes.drop_nulls().to_numpy().astype(np.int64) + _HALF)
    return {int(place) - _HALF: int(counts[place]) for place in np.flatnonzero(counts)}


def count_contradictions(rows: pl.DataFrame, odd: Counter[str]) -> None:
    """Count records that say both that the person was born a citizen and was naturalized."""
    import polars as pl

    both = pl.col("NATIVITY").is_between(1, 4) & (pl.col("CITIZEN") == _NATURALIZED)
    odd["records are native-born and naturalized"] += rows.select(both.sum()).item()


def report_unknown(unknown: Mapping[tuple[str, float], int], file: str, report: BuildReport) -> None:
    """Note every unknown code with its number of records."""
    for (name, code), count in sorted(unknown.items()):
        report.problem(file, f"{name} has the unknown code {code:g}", count, code=True)
