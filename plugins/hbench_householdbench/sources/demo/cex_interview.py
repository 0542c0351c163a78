"""Synthetic packages of the CEX Interview in the official layout: some years, with everything that is odd about them.

There are overlapping packages, one of them with revised income; the last quarter of one sample design beside the first
of the next (1996, 2015), whose household numbers are used again; two systems of education codes; the names of the
eighties without a part for the quarter before; the food questions of 2024; and the questions of 2001 and 2008.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hbench.core import stable_seed
from hbench_householdbench.sources.cex_layout import SPENDING
from hbench_householdbench.sources.cex_packages import FOLDER, SUBSET, YEARS, stem
from hbench_householdbench.sources.demo.cex_households import SUMS, Floats, Interviews, Ints, interviews
from hbench_householdbench.sources.demo.cex_payments import rebate_rows, stimulus_rows
from hbench_householdbench.sources.demo.releases import write_cex_releases
from hbench_householdbench.sources.quarters import q_index

if TYPE_CHECKING:
    import polars as pl

_COHORT = 45
"""Households that enter in a quarter, at scale 1."""
_STAMP = (1980, 1, 1, 0, 0, 0)
_REDESIGNED = q_index(2024, 2)


@dataclass(frozen=True)
class _Segment:
    """Packages in a row that hold one sample, to the first quarter after the last year."""

    years: tuple[int, ...]
    larger: float = 1.0


SEGMENTS = (
    *(_Segment((1980, 1981)), _Segment((1988,)), _Segment((1995,)), _Segment((1996,)), _Segment((2000, 2001), 1.6)),
    *(_Segment((2007, 2008), 1.6), _Segment((2014,)), _Segment((2015,)), _Segment((2023, 2024))),
)
PACKAGES = tuple(year for segment in SEGMENTS for year in segment.years)


def write(raw: Path, *, seed: int, scale: float, year: int | None = None) -> None:
    """Write thirteen packages, the list that names them and the release dates below `raw`.

    With `year`, only the packages that hold the sample of that year are written, the same as among all.
    """
    for number, segment in enumerate(SEGMENTS):
        if year is not None and year not in segment.years:
            continue
        rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "cex_interview", str(number)))
        _write_segment(raw, rng, segment, max(6, round(_COHORT * segment.larger * scale)))
    lines = ["# Packages to use; without this file all 43 must be there.", *map(str, PACKAGES)]
    (raw / SUBSET).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    write_cex_releases(raw, YEARS)


def _write_segment(raw: Path, rng: np.random.Generator, segment: _Segment, cohort: int) -> None:
    first, last = q_index(segment.years[0], 1), q_index(segment.years[-1] + 1, 1)
    some = interviews(rng, first, last, cohort)
    _spend_payments(rng, some)
    late = segment.years[0] >= 2015
    # The same household numbers begin every segment, so designs share them.
    newid = [f"{100_000 + h:07d}{p if late else p + 1}" for h, p in zip(some.household, some.place, strict=True)]
    for year in segment.years:
        files: dict[str, bytes] = {}
        prefix = f"intrvw{year % 100:02d}/" * (2 if year == 2001 else year == 2008)
        for quarter in range(q_index(year, 1), q_index(year + 1, 1) + 1):
            at = np.flatnonzero(some.quarter == quarter)
            y, q = divmod(quarter - 1, 4)
            shadow = "x" if q == 0 and y == year and year != YEARS[0] else ""
            revised = rng.random(len(at)) < 0.05 if shadow else np.zeros(len(at), dtype=bool)
            table = _family_table(some, newid, at, year, revised)
            name = f"{prefix}fmli{y % 100:02d}{q + 1}{shadow}.csv"
            files[name] = _csv(table, quoted=year < 2010)
            files[name.replace("fmli", "memi")] = b"NEWID,MEMBNO\n"
        if year == 2001:
            for q in (3, 4):
                at = np.flatnonzero(some.quarter == q_index(2001, q))
                rows = rebate_rows(rng, [newid[i] for i in at], some.month[at])
                files[f"{prefix}Addendum - Tax Rebate/TAX01{q}.csv"] = _rows_csv(rows)
        if year == 2008:
            files["expn08/rbt08.csv"] = _rows_csv(stimulus_rows(rng, newid, some))
        _pack(raw / FOLDER / f"{stem(year)}.zip", files)


def _spend_payments(rng: np.random.Generator, some: Interviews) -> None:
    """Let households spend more around the months in which the payments came."""
    for first, last, extra in (((2001, 9), (2001, 12), 180.0), ((2008, 7), (2008, 10), 320.0)):
        at = 12 * ((some.quarter - 1) // 4) + some.month
        now = (at >= 12 * first[0] + first[1]) & (at <= 12 * last[0] + last[1])
        some.spending["apparel"][now] += np.round(extra * rng.random(int(now.sum())), 2)


def _family_table(
    some: Interviews, newid: list[str], at: Ints, year: int, revised: npt.NDArray[np.bool_]
) -> pl.DataFrame:
    import polars as pl

    years = (some.quarter[at] - 1) // 4
    place = some.place[at]
    income = np.where(revised, some.income[at] + 500, some.income[at])
    table: dict[str, Iterable[object]] = {
        "NEWID": [newid[i] for i in at],
        "QINTRVYR": [f"{y % 100:02d}" if year < 1996 else str(y) for y in years],
        "QINTRVMO": [f"{m:02d}" for m in some.month[at]],
    }
    if year >= 2002:
        table["INTERI"] = [str(p if year >= 2015 else p + 1) for p in place]
    for name, values in some.facts.items():
        table[name] = _cells(values[at], 3 if name == "FINLWT21" else 0)
        table[f"{name}_"] = np.where(np.isnan(values[at]), "B", "D").tolist()
    table["FINCBTXM" if year >= 2004 else "FINCBTAX"] = _cells(income, 0)
    table["VEHQ"] = [str(n % 4) for n in range(len(at))]
    for name, values in _parts(some, at, year):
        table[name] = _cells(values, 2)
    return pl.DataFrame(table)


def _parts(some: Interviews, at: Ints, year: int) -> Iterator[tuple[str, Floats]]:
    """Yield official columns of spending: what fell into the interview's own quarter, and into the one before."""
    spending = {name: values[at] for name, values in some.spending.items()}
    total = np.sum(list(spending.values()), axis=0)
    for name, parts in SUMS.items():
        spending[name] = np.sum([spending[part] for part in parts], axis=0)
    spending["total"] = total
    # In a quarter's first month all three months of spending lie in the quarter before.
    share = ((some.month[at] - 1) % 3) / 3
    redesigned = some.quarter[at] >= _REDESIGNED
    for name, (current, previous) in SPENDING.items():
        if name == "grocery" and year < 2023:
            continue
        values = spending[name]
        if 1984 <= year < 1990:
            if len(current) > 1:
                yield current[1], values
            if name == "food_away":
                yield previous[1], np.zeros(len(at))
            continue
        now = np.round(values * share, 2)
        before = np.round(values - now, 2)
        if name == "food":
            # The sum of the older questions is of no use once the newer ones are asked.
            now = np.where(redesigned, np.round(now * 0.9, 2), now)
        if name == "grocery":
            gap = redesigned & (np.arange(len(at)) % 50 == 7)
            now, before = np.where(gap, np.nan, now), np.where(gap, np.nan, before)
        yield current[0], now
        yield previous[0], before


def _cells(values: Floats, decimals: int) -> list[str]:
    return ["" if v != v else f"{v:.{decimals}f}" for v in values.tolist()]


def _csv(table: pl.DataFrame, *, quoted: bool) -> bytes:
    stream = io.BytesIO()
    table.write_csv(stream, quote_style="never", include_header=False)
    mark = '"' if quoted else ""
    header = ",".join(f"{mark}{name}{mark}" for name in table.columns)
    return header.encode() + b"\n" + stream.getvalue()


def _rows_csv(rows: list[dict[str, str]]) -> bytes:
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)] if rows else []
    return ("\n".join(lines) + "\n").encode()


def _pack(path: Path, files: dict[str, bytes]) -> None:
    """Write an archive whose bytes depend on nothing but its content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _STAMP), data, zipfile.ZIP_DEFLATED, 1)
