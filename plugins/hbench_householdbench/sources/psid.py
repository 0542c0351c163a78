"""The Panel Study of Income Dynamics, as PSID-SHELF harmonises it: people and families since 1968."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.archives import open_package
from hbench_householdbench.sources.psid_layout import (
    EVENT_WAVES,
    FAMILY_COLUMNS,
    LABELS,
    LIMIT,
    LONG,
    MEMBER_COLUMNS,
    OCCUPATION_GROUPS,
    OCCUPATIONS,
    PERSON_COLUMNS,
    SUBSAMPLES,
    VARIABLES,
    WAVES,
)
from hbench_householdbench.sources.releases import PSID_RELEASES, read_psid_releases
from hbench_householdbench.sources.stata import StataStream

if TYPE_CHECKING:
    import polars as pl

_TABLES = {"psid_family": FAMILY_COLUMNS, "psid_person": PERSON_COLUMNS, "psid_members": MEMBER_COLUMNS}
_SHOWN = 5
_YEARS = 10_000
"""A person's number times this, plus the year, is the number of a record."""


class Psid:
    """PSID-SHELF's long file: one record a person and wave, from which the answered ones are taken.

    Tables, each by person and wave, with labels for codes and dollars of the time (``_nd``) or of one year (``_rd``):
    ``psid_family``, reference persons of families that answered; ``psid_person``, sample persons that answered;
    ``psid_members``, all members of families from 1968 to 1992, for who lived with whom.

    The file is read as a stream, some thousand records at a time; only rows and variables of the tables are kept.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The long file and the release dates."""
        return (LONG, PSID_RELEASES)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the tables.

        Raises
        ------
        DataError
            A variable is missing, a code has no label, a person occurs twice in a wave, a wave is none, or the file
            holds no record.
        """
        import polars as pl

        path = raw / LONG.path
        releases = read_psid_releases(raw, WAVES)
        kept: dict[str, list[pl.DataFrame]] = {name: [] for name in _TABLES}
        unknown = _UnknownCodes()
        keys: list[pl.Series] = []
        with stata_member(path) as stream:
            for block in blocks(stream, VARIABLES, path):
                unknown.count(block)
                report.counts["psid.records"] += len(block)
                block = _keyed(block, path)
                keys.append(block["id"] * _YEARS + block["year"])
                _take(_coded(block), kept)
        _check_keys(keys, path, report)
        del keys
        unknown.refuse(path)
        for name in _TABLES:
            # One after the other, so that no two tables with their labels are in memory together.
            table = pl.concat(kept.pop(name)).sort("id", "year")
            table = table.join(releases, on="year", how="left", maintain_order="left")
            table = _labelled(table.with_columns(survey_date=pl.col("year").cast(pl.String) + "-01-01"))
            table.select(_TABLES[name]).write_parquet(out / f"{name}.parquet")
            report.counts[name] = len(table)

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic long file; see `hbench_householdbench.sources.demo.psid`."""
        from hbench_householdbench.sources.demo.psid import write_long

        write_long(raw, seed=seed, scale=scale)


@contextmanager
def stata_member(path: Path) -> Iterator[StataStream]:
    """Open the only Stata file of an archive, or of the folder that it was unpacked to."""
    with open_package(path, limit=LIMIT) as members:
        names = [name for name in members.names if name.lower().endswith(".dta")]
        if len(names) != 1:
            raise DataError(
                f"there is not one Stata file but {len(names)}", file=path, hint="Keep the file as it was downloaded."
            )
        with members.open(names[0]) as stream:
            yield StataStream(stream, file=f"{path}/{names[0]}")


def blocks(stream: StataStream, columns: Sequence[str], path: Path) -> Iterator[pl.DataFrame]:
    """Yield records of columns that are named in any case; the frames have the names as they are given."""
    there: dict[str, str] = {}
    for name in stream.names:
        if name.lower() in there:
            raise DataError(f"the variable {name} is there twice", file=path)
        there[name.lower()] = name
    wanted = {name: there.get(name.lower(), name) for name in columns}
    back = {name: own for own, name in wanted.items()}
    for block in stream.blocks(list(wanted.values())):
        yield block.rename(back)


def _keyed(block: pl.DataFrame, path: Path) -> pl.DataFrame:
    import polars as pl

    for name in ("id", "year"):
        odd = block.filter(pl.col(name).is_null() | (pl.col(name) != pl.col(name).round()))
        if len(odd):
            raise DataError(f"{name.upper()} is no whole number in {len(odd):,} records", file=path)
    strange = block.filter(~pl.col("year").is_in([float(wave) for wave in WAVES]))
    if len(strange):
        raise DataError(
            f"YEAR is no wave in {len(strange):,} records, among them {strange['year'][0]:.0f}",
            file=path,
            hint="The suite was written for the waves of 1968 to 2021.",
        )
    return block.with_columns(pl.col("id").cast(pl.Int64), pl.col("year").cast(pl.Int32))


def _take(block: pl.DataFrame, kept: dict[str, list[pl.DataFrame]]) -> None:
    """Add a block's rows to the tables that they belong to."""
    import polars as pl

    answered = (pl.col("response") == 0).fill_null(False)
    member = (pl.col("panel_current") == 1) & pl.col("fuid").is_not_null() & pl.col("year").is_in(EVENT_WAVES)
    conditions = {
        "psid_family": answered & (pl.col("rel") == 1).fill_null(False),
        # A person whose status is missing counts as a sample person, as in the reference.
        "psid_person": answered & (pl.col("sampstat") != 0).fill_null(True),
        "psid_members": member.fill_null(False),
    }
    for name, condition in conditions.items():
        columns = [column for column in _TABLES[name] if column in block.columns]
        kept[name].append(block.filter(condition).select(columns))


def _coded(block: pl.DataFrame) -> pl.DataFrame:
    """Add the broad occupation and the subsample, and hold codes in a byte each until their table is written."""
    import polars as pl

    # The first system in which the code means something counts.
    occupation = pl.coalesce(
        pl.when(pl.col(system).is_between(low, high)).then(pl.lit(place, pl.Int8))
        for system, ranges in OCCUPATIONS.items()
        for place, (low, high) in enumerate(ranges)
    )
    subsample = pl.coalesce(
        pl.when(pl.col("lineage").is_between(low, high)).then(pl.lit(place, pl.Int8))
        for place, (_, low, high) in enumerate(SUBSAMPLES)
    )
    return block.with_columns(
        pl.col(list(LABELS)).cast(pl.Int8, strict=False),
        occupation.alias("occ_major_harmonized"),
        subsample.fill_null(len(SUBSAMPLES)).alias("subsample"),
    )


def _labelled(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    labels = {
        **LABELS,
        "occ_major_harmonized": dict(enumerate(OCCUPATION_GROUPS)),
        "subsample": dict(enumerate([*(name for name, _, _ in SUBSAMPLES), "unknown"])),
    }
    return table.with_columns(
        pl.col(name).replace_strict(known, return_dtype=pl.String)
        for name, known in labels.items()
        if name in table.columns
    )


class _UnknownCodes:
    """Codes without a label, counted over all records so that one error names them all."""

    def __init__(self) -> None:
        self._rows: Counter[tuple[str, float]] = Counter()

    def count(self, block: pl.DataFrame) -> None:
        for name, labels in LABELS.items():
            values = block[name].drop_nulls()
            odd = values.filter(~values.is_in([float(code) for code in labels]))
            self._rows.update((name, code) for code in odd.to_list())

    def refuse(self, path: Path) -> None:
        if not self._rows:
            return
        said = [f"{name.upper()} {code:g} in {rows:,} records" for (name, code), rows in sorted(self._rows.items())]
        more = f" and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
        raise DataError(
            f"there are codes without a label: {'; '.join(said[:_SHOWN])}{more}",
            file=path,
            hint="The labels are those of PSID-SHELF V2.",
        )


def _check_keys(keys: Sequence[pl.Series], path: Path, report: BuildReport) -> None:
    """Refuse persons who occur twice in a wave, whether they answered or not, and report waves without a record."""
    import polars as pl

    if not keys:
        raise DataError("the file holds no record", file=path)
    every = pl.concat(keys).sort()
    again = every.filter(every == every.shift())
    if len(again):
        person, year = divmod(int(again[0]), _YEARS)
        raise DataError(
            f"{len(again):,} records repeat a person and a wave, among them ID {person} in {year}", file=path
        )
    absent = sorted(set(WAVES) - set((every % _YEARS).unique()))
    report.problem(LONG.path, "wave of which there is no record", len(absent), ", ".join(map(str, absent[:_SHOWN])))
