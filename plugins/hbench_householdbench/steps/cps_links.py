"""Sample steps that link the records of one person in the Current Population Survey across months.

An address is asked in four months, rests for eight, and is asked in four more: MISH counts the eight interviews. So a
month later comes the next interview, and a year later the fourth after it. IPUMS gives a person one number, CPSIDP;
that two records of it are of one person is checked by sex, race and age, and by CPSIDV, which IPUMS has checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hbench.core import DataError, SpecError
from hbench.data import StepContext
from hbench_householdbench.sources.cps_basic import MONTHS, TABLE
from hbench_householdbench.steps.cps import status, window

if TYPE_CHECKING:
    import polars as pl

_INTERVIEWS = {1: 1, 12: 4}
"""How much MISH rises, by months."""
_LATER = ("MISH", "EMPSTAT", "SEX", "RACE", "AGE", "CPSIDV")


def cps_paired_months(
    frame: pl.LazyFrame, context: StepContext, *, months: int, first: str | None = None, last: str | None = None
) -> pl.LazyFrame:
    """Keep records of months that have a partner so many months later in the file.

    Parameters
    ----------
    months : int
        Distance.
    first, last : str, optional
        First and last month, ``YYYY-MM``.
    """
    import polars as pl

    context.need(frame, ["at"])
    there = context.tables[MONTHS].select("at").collect()["at"]
    conditions = {f"the survey has no month {months} months later": (pl.col("at") + months).is_in(there.implode())}
    if first is not None:
        conditions[f"the month is before {first}"] = pl.col("at") >= _month(first, context)
    if last is not None:
        conditions[f"the month is after {last}"] = pl.col("at") <= _month(last, context)
    return context.keep(frame, conditions)


def cps_link_months(frame: pl.LazyFrame, context: StepContext, *, months: int) -> pl.LazyFrame:
    """Link every record with the person's only record `months` later, at the right interview.

    Adds ``baseline_month`` and ``outcome_month`` (texts ``YYYY-MM-01``), ``release_date`` of the latter, ``target``
    (what the person does then, see `status`) and ``later_...``, what `cps_same_person` compares. Rows without a link
    are dropped; the funnel says why.

    Parameters
    ----------
    months : int
        1 or 12.
    """
    import polars as pl

    if months not in _INTERVIEWS:
        raise SpecError(f"{months} is no distance of linked months", task=context.task.name, hint="Distances: 1, 12.")
    context.need(frame, ["at", "CPSIDP", "MISH"])
    rows = frame.collect(engine="in-memory")
    records = window(context.tables[TABLE], rows.lazy(), ahead=months).filter(pl.col("CPSIDP") > 0)
    there = records.select("at", "CPSIDP", "once", *(pl.col(name).alias(_later(name)) for name in _LATER)).collect()
    places = _places(rows, there, months)
    mish = pl.col(_later("MISH"))
    asked = pl.all_horizontal(mish.is_not_null(), pl.col(_later("EMPSTAT")).is_not_null())
    partners = there.select("once", asked.alias("asked"), mish)[places]
    found = (partners["once"] & partners["asked"]).fill_null(False)
    step = _INTERVIEWS[months]
    right = found & (partners[_later("MISH")] == rows["MISH"] + step).fill_null(False)
    positive = (rows["CPSIDP"] > 0).fill_null(False)
    for what, lost in (
        ("CPSIDP is not positive", ~positive),
        ("the person has no record in the later month", positive & places.is_null()),
        ("CPSIDP occurs more than once in the later month", ~partners["once"]),
        ("the later record has no EMPSTAT or MISH", partners["once"] & ~partners["asked"]),
        (f"MISH is not {step} more in the later record", found & ~right),
    ):
        context.detail(what, int(lost.sum()))
    at = pl.col("at")
    calendar = context.tables[MONTHS].select(
        (at - months).alias("at"),
        "release_date",
        _date(at - months).alias("baseline_month"),
        _date(at).alias("outcome_month"),
    )
    return (
        rows.filter(right)
        .hstack(there.select(map(_later, _LATER))[places.filter(right)])
        .lazy()
        .join(calendar, on="at", how="left", maintain_order="left")
        .with_columns(target=status(pl.col(_later("EMPSTAT"))))
    )


def _places(rows: pl.DataFrame, records: pl.DataFrame, months: int) -> pl.Series:
    """Return where in `records` each row's person is `months` later, or null; of several records, any one."""
    import polars as pl

    persons, others = rows["CPSIDP"].fill_null(0).to_numpy(), records["CPSIDP"].to_numpy()
    of_month = dict(_runs(records["at"]))
    places = np.full(len(rows), -1)
    # Month by month, since the persons of one month fit into the processor's cache; a join takes three times as long.
    for at, some in _runs(rows["at"]):
        if at + months not in of_month:
            continue
        later = of_month[at + months]
        order = np.argsort(others[later])
        ordered = others[later][order]
        nearest = np.searchsorted(ordered, persons[some]).clip(max=len(order) - 1)
        places[some] = np.where(ordered[nearest] == persons[some], later.start + order[nearest], -1)
    return pl.Series(places).set(pl.Series(places < 0), None)


def _runs(months: pl.Series) -> Iterator[tuple[int, slice]]:
    """Yield months and where their rows are, as they follow each other."""
    start = 0
    for length, at in months.rle().struct.unnest().iter_rows():
        yield at, slice(start, start + length)
        start += length


def cps_unique_person(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep records whose CPSIDP is positive and occurs once in their month."""
    import polars as pl

    context.need(frame, ["once", "CPSIDP"])
    number = pl.col("CPSIDP")
    return context.keep(
        frame,
        {
            "CPSIDP is not positive": number > 0,
            "CPSIDP occurs more than once in the month": pl.col("once") | ~(number > 0).fill_null(False),
        },
    )


def cps_same_person(frame: pl.LazyFrame, context: StepContext, *, years_older: Sequence[int]) -> pl.LazyFrame:
    """Keep links whose two records can be of one person.

    Parameters
    ----------
    years_older : [int, int]
        Least and greatest difference of ages.
    """
    import polars as pl

    later = {name: pl.col(_later(name)) for name in _LATER}
    context.need(frame, [*_LATER, *map(_later, _LATER)])
    one, other = pl.col("CPSIDV"), later["CPSIDV"]
    both = (one > 0).fill_null(False) & (other > 0).fill_null(False)
    return context.keep(
        frame,
        {
            "CPSIDV is another one": ~both | (one == other),
            "SEX is another one": pl.col("SEX") == later["SEX"],
            "RACE is another one": pl.col("RACE") == later["RACE"],
            f"AGE rises by less than {years_older[0]} or more than {years_older[1]}": (
                (later["AGE"] - pl.col("AGE")).is_between(years_older[0], years_older[1])
            ),
        },
    )


def cps_retired(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Turn ``target`` into ``retired`` (out of the labour force because of retirement) or ``not_retired``.

    Rows without a target, those of the armed forces, are dropped.
    """
    import polars as pl

    context.need(frame, [_later("EMPSTAT"), "target"])
    frame = context.keep(frame, {"the person is in the armed forces then": pl.col("target").is_not_null()})
    retired = pl.col(_later("EMPSTAT")) == 36
    return frame.with_columns(target=pl.when(retired).then(pl.lit("retired")).otherwise(pl.lit("not_retired")))


def _later(name: str) -> str:
    return f"later_{name.lower()}"


def _date(at: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.date(at // 12, at % 12 + 1, 1).dt.to_string("%Y-%m-%d")


def _month(text: str, context: StepContext) -> int:
    year, _, month = text.partition("-")
    if not (len(text) == 7 and year.isdecimal() and month.isdecimal() and 1 <= int(month) <= 12):
        raise DataError(f"{text!r} is not a month YYYY-MM", task=context.task.name)
    return 12 * int(year) + int(month) - 1
