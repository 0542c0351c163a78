"""Codes of the Current Population Survey that say something, and those that do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hbench.core import BuildReport

if TYPE_CHECKING:
    import polars as pl


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
    for name, dtype in rows.schema.items():
        value, since = rows[name], codes.since.get(name)
        if name in codes.ranges:
            low, high, beyond = codes.ranges[name]
            keep, said = value.is_between(low, high), value.is_in(pl.Series(beyond, dtype=dtype).implode())
        elif name in codes.known or name in codes.missing:
            said = value.is_in(pl.Series(sorted(codes.missing.get(name, ())), dtype=dtype).implode())
            keep = (
                value.is_in(pl.Series(sorted(codes.known[name]), dtype=dtype).implode())
                if name in codes.known
                else ~said
            )
        else:
            continue
        odd = value.filter(~keep & ~said & (rows["YEAR"] >= since if since else True)).drop_nulls()
        unknown.update({(name, code): count for code, count in odd.value_counts().iter_rows()})
        columns.append(pl.when(keep).then(name).alias(name))
    return rows.with_columns(columns)


def report_unknown(unknown: Mapping[tuple[str, float], int], file: str, report: BuildReport) -> None:
    """Note every unknown code with its number of records."""
    for (name, code), count in sorted(unknown.items()):
        report.problem(file, f"{name} has the unknown code {code:g}", count)
