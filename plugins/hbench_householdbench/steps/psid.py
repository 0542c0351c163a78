"""Sample steps of the tasks on families and persons of the PSID: what came before and after an interview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hbench.core import SpecError
from hbench.data import StepContext
from hbench_householdbench.sources.psid_layout import LABELS, WAVES

if TYPE_CHECKING:
    import polars as pl

_OWNER = LABELS["home_stat"][1]


def psid_history(frame: pl.LazyFrame, context: StepContext, *, columns: Sequence[str], waves: int) -> pl.LazyFrame:
    """Add what earlier interviews of the person showed: ``history_lag1_years_ago``, ``history_lag1_NAME`` ...

    Parameters
    ----------
    columns : sequence of str
        What is carried along.
    waves : int
        Earlier waves, from the wave just before; the first one without an interview ends the history.
    """
    import polars as pl

    context.need(frame, ["id", "year", *columns])
    names = [*columns, "year"]
    frame = frame.with_columns(_wave().alias("__wave"))
    for lag in range(1, waves + 1):
        # The same person, so many waves before; deeper lags count only if all shallower ones are there.
        earlier = context.source.select(
            "id", (_wave() + lag).alias("__wave"), *(pl.col(name).alias(f"__{lag}_{name}") for name in names)
        )
        frame = frame.join(earlier, on=["id", "__wave"], how="left", maintain_order="left")
        unbroken = pl.all_horizontal(pl.col(f"__{k}_year").is_not_null() for k in range(1, lag + 1))
        years_ago = pl.col("year") - pl.col(f"__{lag}_year")
        frame = frame.with_columns(
            pl.when(unbroken).then(years_ago).alias(f"history_lag{lag}_years_ago"),
            *(pl.when(unbroken).then(f"__{lag}_{name}").alias(f"history_lag{lag}_{name}") for name in columns),
        )
    return frame.drop("__wave", *(f"__{lag}_{name}" for lag in range(1, waves + 1) for name in names))


def psid_changes(frame: pl.LazyFrame, context: StepContext, *, columns: Mapping[str, str]) -> pl.LazyFrame:
    """Add by how much numbers and statuses differ from those at the wave just before, in whole numbers.

    Parameters
    ----------
    columns : mapping
        ``{column: new column}``; a status counts 1 where it holds and 0 where not.
    """
    import polars as pl

    context.need(frame, ["id", "year", *columns])
    earlier = context.source.select(
        "id", (_wave() + 1).alias("__wave"), *(_level(name).alias(f"__before_{name}") for name in columns)
    )
    frame = frame.with_columns(_wave().alias("__wave")).join(
        earlier, on=["id", "__wave"], how="left", maintain_order="left"
    )
    frame = frame.with_columns(
        (_level(name) - pl.col(f"__before_{name}")).round().cast(pl.Int32).alias(new) for name, new in columns.items()
    )
    return frame.drop("__wave", *(f"__before_{name}" for name in columns))


def psid_next_wave(
    frame: pl.LazyFrame, context: StepContext, *, columns: Mapping[str, str], whole: bool = False
) -> pl.LazyFrame:
    """Keep interviews that are followed by one at the next scheduled wave, and add what that one showed.

    Also adds ``forecast_horizon_years``; ``release_date`` becomes that of the next wave.

    Parameters
    ----------
    columns : mapping
        ``{column: name for its later value}``.
    whole : bool
        Whether later amounts are rounded to whole numbers (half to even).
    """
    import polars as pl

    context.need(frame, ["id", "year", *columns])
    later = context.source.select(
        "id",
        (_wave() - 1).alias("__wave"),
        *((_whole(name) if whole else pl.col(name)).alias(new) for name, new in columns.items()),
        pl.col("year").alias("__next_year"),
        pl.col("release_date").alias("__next_release"),
    )
    frame = frame.with_columns(_wave().alias("__wave")).join(
        later, on=["id", "__wave"], how="left", maintain_order="left"
    )
    frame = frame.with_columns(
        forecast_horizon_years=pl.col("__next_year") - pl.col("year"), release_date=pl.col("__next_release")
    )
    there = {"the person has no interview at the next wave": pl.col("__next_year").is_not_null()}
    return context.keep(frame, there).drop("__wave", "__next_year", "__next_release")


def psid_years_ahead(frame: pl.LazyFrame, context: StepContext, *, column: str, years: Sequence[int]) -> pl.LazyFrame:
    """Keep interviews of persons who have others exactly so many years later, and add a figure of those.

    The figures, ``NAME_2y`` and so on, are whole numbers (half to even); ``release_date`` becomes the farthest one's.

    Parameters
    ----------
    column : str
        The figure.
    years : sequence of int
        Distances, the farthest last.
    """
    import polars as pl

    context.need(frame, ["id", "year", column])
    conditions = {}
    for distance in years:
        later = context.source.select(
            "id",
            (pl.col("year") - distance).alias("year"),
            _whole(column).alias(f"{column}_{distance}y"),
            pl.lit(True).alias(f"__there_{distance}"),
            pl.col("release_date").alias(f"__release_{distance}"),
        )
        frame = frame.join(later, on=["id", "year"], how="left", maintain_order="left")
        conditions[f"the person has no interview {distance} years later"] = pl.col(f"__there_{distance}")
    frame = frame.with_columns(release_date=pl.col(f"__release_{max(years)}"))
    helpers = [f"__{what}_{distance}" for what in ("there", "release") for distance in years]
    return context.keep(frame, conditions).drop(helpers)


def psid_becomes_owner(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add ``becomes_owner_next_wave``: "yes" where the household owns its home at the next wave, else "no"."""
    import polars as pl

    context.need(frame, ["home_stat_next_wave"])
    later = pl.col("home_stat_next_wave")
    owner = pl.when(later == _OWNER).then(pl.lit("yes")).when(later.is_not_null()).then(pl.lit("no"))
    return frame.with_columns(becomes_owner_next_wave=owner)


def psid_trim_other_waves(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    lower: float,
    upper: float,
    next: Mapping[str, str] | None = None,
    years_ahead: Mapping[str, Sequence[int]] | None = None,
    history: Sequence[str] = (),
    waves: int = 3,
) -> pl.LazyFrame:
    """Keep rows whose amounts of other waves lie strictly between two quantiles of those waves.

    Quantiles are those of all interviews of a wave in the uncut source, interpolated linearly. Amounts of earlier
    waves are compared as far as they are there.

    Parameters
    ----------
    lower, upper : float
        Shares.
    next : mapping, optional
        ``{column: column of its value at the next wave}``, compared with the next wave's quantiles.
    years_ahead : mapping, optional
        ``{column: distances}``: the columns ``NAME_2y`` ..., compared with the quantiles of those years.
    history : sequence of str
        Columns of which the lags of `psid_history` are compared.
    waves : int
        How many of them there are.
    """
    import polars as pl

    conditions: dict[str, pl.Expr] = {}
    compared = [
        (name, later, pl.col("year") + pl.col("forecast_horizon_years"), False) for name, later in (next or {}).items()
    ]
    for name, distances in (years_ahead or {}).items():
        compared += [(name, f"{name}_{distance}y", pl.col("year") + distance, False) for distance in distances]
    for lag in range(1, waves + 1):
        ago = pl.col("year") - pl.col(f"history_lag{lag}_years_ago") if history else pl.lit(None)
        compared += [(name, f"history_lag{lag}_{name}", ago, True) for name in history]
    context.need(frame, [column for _, column, _, _ in compared])
    for place, (name, column, year, optional) in enumerate(compared):
        frame = _with_limits(frame, context.source, name, year, lower, upper, str(place))
        inside = (pl.col(column) > pl.col(f"__low_{place}")) & (pl.col(column) < pl.col(f"__high_{place}"))
        conditions[f"{column} is outside the p{100 * lower:g}-p{100 * upper:g} range of its wave"] = (
            inside | pl.col(column).is_null() if optional else inside
        )
    helpers = [f"__{edge}_{place}" for place in range(len(compared)) for edge in ("low", "high")]
    return context.keep(frame, conditions).drop(helpers)


def psid_trim_event_income(
    frame: pl.LazyFrame, context: StepContext, *, income: str, elapsed: str, lower: float, upper: float, waves: int = 3
) -> pl.LazyFrame:
    """Keep households whose earlier family incomes lie strictly between two quantiles of their waves.

    Quantiles are those of family income (``finc_tot_nd``) of all persons who answered in a wave.

    Parameters
    ----------
    income, elapsed : str
        What the lags are called: ``history_lag1_INCOME`` and ``history_lag1_ELAPSED``, the years from a lag's wave to
        the wave of the row (``survey_year``).
    lower, upper : float
        Shares.
    waves : int
        How many lags there are; they are compared as far as they are there.
    """
    import polars as pl

    persons = context.tables.get("psid_person")
    if persons is None:
        raise SpecError("the table 'psid_person' is not there", task=context.task.name, hint="List the source `psid`.")
    conditions: dict[str, pl.Expr] = {}
    for lag in range(1, waves + 1):
        column, ago = f"history_lag{lag}_{income}", f"history_lag{lag}_{elapsed}"
        context.need(frame, [column, ago, "survey_year"])
        year = pl.col("survey_year") - pl.col(ago)
        frame = _with_limits(frame, persons, "finc_tot_nd", year, lower, upper, str(lag))
        inside = (pl.col(column) > pl.col(f"__low_{lag}")) & (pl.col(column) < pl.col(f"__high_{lag}"))
        what = f"{column} is outside the p{100 * lower:g}-p{100 * upper:g} range of its wave"
        conditions[what] = inside | pl.col(column).is_null()
    helpers = [f"__{edge}_{lag}" for lag in range(1, waves + 1) for edge in ("low", "high")]
    return context.keep(frame, conditions).drop(helpers)


def _with_limits(
    frame: pl.LazyFrame, base: pl.LazyFrame, column: str, year: pl.Expr, lower: float, upper: float, name: str
) -> pl.LazyFrame:
    """Add the quantiles of `column` in the wave `year` as ``__low_NAME`` and ``__high_NAME``."""
    import polars as pl

    limits = base.group_by(pl.col("year").alias("__year")).agg(
        pl.col(column).quantile(share, "linear").alias(f"__{edge}_{name}")
        for edge, share in (("low", lower), ("high", upper))
    )
    frame = frame.with_columns(year.cast(pl.Int32).alias("__year"))
    return frame.join(limits, on="__year", how="left", maintain_order="left").drop("__year")


def _wave() -> pl.Expr:
    """Return the place of the survey year among the scheduled waves."""
    import polars as pl

    places = {year: place for place, year in enumerate(WAVES)}
    return pl.col("year").replace_strict(places, return_dtype=pl.Int32)


def _whole(name: str) -> pl.Expr:
    """Round amounts half to even; what is no amount stays as it is."""
    import polars as pl

    return pl.col(name).round(mode="half_to_even")


def _level(name: str) -> pl.Expr:
    """Return a number, or 1 for a status that holds and 0 for one that does not."""
    import polars as pl

    if name not in LABELS:
        return pl.col(name)
    return pl.col(name).replace_strict(
        {label: float(code) for code, label in LABELS[name].items()}, return_dtype=pl.Float64
    )
