"""PSID's Complete Main Study: why jobs ended, hours of work and spending on food, from 1968 to 1992."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.psid import blocks, stata_member
from hbench_householdbench.sources.psid_layout import EVENT_WAVES, MAIN_STUDY
from hbench_householdbench.sources.psid_questions import FOOD, HOURS, REASONS, Question, variables

if TYPE_CHECKING:
    import polars as pl

COLUMNS = (
    *("id", "year", *(f"{role}_reason_{route}" for role in ("rp", "sp") for route in ("employed", "unemployed"))),
    *("rp_annual_hours", "sp_annual_hours", "food_cash"),
)
_ACCURATE = [0.0, 1.0, 2.0]
"""Given as such, or assigned with a minor or a major guess; other figures are not known."""
_REASONS = [float(code) for code in range(10)]
_TOP = 9_999.0
_HOME_TOP_1983 = 99_999.0


class PsidMainStudy:
    """The file of all waves, with one record a person, in which the figures of a family stand with each of its members.

    Table ``psid_main_study.parquet``, by person and wave: `COLUMNS`. Roles are those of the reference person (rp) and
    of the spouse or partner (sp). Hours are those of the year before the wave; ``food_cash`` is yearly spending on
    food at home and away from home, without food stamps; a figure that is not known is null.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The file of all waves."""
        return (MAIN_STUDY,)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            A variable is missing, a person occurs twice, or the file holds no record.
        """
        import polars as pl

        path = raw / MAIN_STUDY.path
        with stata_member(path) as stream:
            parts = list(blocks(stream, ["id", *variables()], path))
        if not parts:
            raise DataError("the file holds no record", file=path)
        wide = pl.concat(parts)
        del parts
        report.counts["psid_main_study.persons"] = len(wide)
        wide = _keyed(wide, path)
        waves = [_wave(wide, wave, report) for wave in EVENT_WAVES]
        table = pl.concat(waves).sort("id", "year")
        report.counts["psid_main_study.person_waves"] = len(table)
        table.write_parquet(out / "psid_main_study.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic file of all waves; see `hbench_householdbench.sources.demo.psid`."""
        from hbench_householdbench.sources.demo.psid import write_main_study

        write_main_study(raw, seed=seed, scale=scale)


def _keyed(wide: pl.DataFrame, path: Path) -> pl.DataFrame:
    import polars as pl

    odd = wide.filter(pl.col("id").is_null() | (pl.col("id") != pl.col("id").round()))
    if len(odd):
        raise DataError(f"ID is no whole number in {len(odd):,} records", file=path)
    again = wide.filter(pl.col("id").is_duplicated())
    if len(again):
        raise DataError(
            f"{len(again):,} records repeat a person, among them ID {again['id'][0]:.0f}",
            file=path,
        )
    return wide.with_columns(pl.col("id").cast(pl.Int64))


def _wave(wide: pl.DataFrame, wave: int, report: BuildReport) -> pl.DataFrame:
    """Return the figures of one wave of all persons who have any."""
    import polars as pl

    nothing = pl.lit(None, pl.Float64)
    columns: dict[str, pl.Expr] = {}
    for role in ("rp", "sp"):
        routes = REASONS[role].get(wave)
        for place, route in enumerate(("employed", "unemployed")):
            columns[f"{role}_reason_{route}"] = pl.col(routes[place]) if routes else nothing
        question = HOURS[role][wave]
        columns[f"{role}_annual_hours"] = _known(question, _TOP)
        _count_unknown(wide, question, _TOP, f"{role}_annual_hours", report)
    if wave in FOOD:
        home, away = FOOD[wave]
        top = _HOME_TOP_1983 if wave >= 1983 else _TOP
        columns["food_cash"] = _known(home, top) + _known(away, _TOP)
        _count_unknown(wide, home, top, "food_home", report)
        _count_unknown(wide, away, _TOP, "food_away", report)
    else:
        columns["food_cash"] = nothing
    table = wide.select("id", pl.lit(wave, pl.Int32).alias("year"), *(one.alias(name) for name, one in columns.items()))
    for name in (name for name in COLUMNS if "_reason_" in name):
        strange = table[name].drop_nulls().filter(~table[name].drop_nulls().is_in(_REASONS))
        if len(strange):
            report.problem(
                MAIN_STUDY.path, f"{name} of wave {wave} is no code from 0 to 9", len(strange), f"{strange[0]:g}"
            )
    figures = [name for name in COLUMNS if name not in ("id", "year")]
    return table.select(COLUMNS).filter(pl.any_horizontal(pl.col(figures).is_not_null()))


def _known(question: Question, top: float) -> pl.Expr:
    import polars as pl

    value = pl.col(question.value)
    return pl.when((value >= 0) & (value < top) & pl.col(question.accuracy).is_in(_ACCURATE)).then(value)


def _count_unknown(wide: pl.DataFrame, question: Question, top: float, what: str, report: BuildReport) -> None:
    """Count figures that stand in the file and are not known."""
    import polars as pl

    value = pl.col(question.value)
    guessed = ~pl.col(question.accuracy).is_in(_ACCURATE).fill_null(False)
    topped, unknown = wide.select(
        (value >= top).sum().alias("topped"), (value.is_between(0, top, closed="left") & guessed).sum().alias("unknown")
    ).row(0)
    report.counts[f"psid_main_study.top_coded.{what}"] += topped
    report.counts[f"psid_main_study.of_no_known_accuracy.{what}"] += unknown
