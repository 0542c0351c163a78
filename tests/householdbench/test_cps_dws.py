"""The Displaced Worker Supplement: codes, amounts, what is refused, and the people that were planted."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbench.core import BuildReport, DataError
from hbench.data import StepContext
from hbench.spec import Task
from hbench_householdbench.phrases.cps import displaced
from hbench_householdbench.sources.cps_basic import STEM
from hbench_householdbench.sources.cps_codes import TYPES as PERSON
from hbench_householdbench.sources.cps_dws import CpsDws
from hbench_householdbench.sources.demo.cps_basic import write_cps_releases
from hbench_householdbench.sources.demo.cps_displaced import SUPPLEMENTS, displaced_columns
from hbench_householdbench.sources.demo.cps_extract import months, write_csv
from hbench_householdbench.sources.demo.cps_people import EMPLOYED, UNEMPLOYED, Fault, people
from hbench_householdbench.sources.dws_codes import TYPES
from hbench_householdbench.steps.cps_displaced import cps_displacement, cps_trim_displaced

pl = pytest.importorskip("polars")


def record(**values: Any) -> dict[str, Any]:
    """A record of a displaced worker with all answers."""
    return {
        **dict.fromkeys(PERSON, 1),
        **{"YEAR": 1998, "MONTH": 2, "CPSIDP": 19980100000101, "RACE": 100, "EDUC": 73, "REGION": 11, "METRO": 2},
        **{"RELATE": 101, "HISPAN": 0, "EMPSTAT": 10, "CLASSWKR": 22, "WKSTAT": 11, "OCC2010": 20, "IND1990": 10},
        **{"AGE": 40, "DWRESP": 2, "DWSTAT": 1, "DWLOSTJOB": 2, "DWREAS": 1, "DWRECALL": 1, "DWNOTICE": 1},
        **{"DWLASTWRK": 1, "DWFULLTIME": 2, "DWUNION": 1, "DWBEN": 2, "DWEXBEN": 1, "DWHI": 2, "DWCLASS": 2},
        **{"DWMOVE": 1, "DWHINOW": 2, "DWYEARS": 4.5, "DWWEEKL": 500.0, "DWWEEKC": 450.5, "DWJOBSINCE": 1},
        **{"DWWKSUN": 12, "FAMINC": 840, "WNFTLOOK": 10, "WHYUNEMP": 1, "NILFACT": 99},
        **values,
    }


def built(tmp_path: Path, records: list[dict[str, Any]]) -> tuple[Any, BuildReport]:
    path = tmp_path / f"{STEM}.csv.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [",".join(records[0]), *(",".join(str(value) for value in one.values()) for one in records)]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    write_cps_releases(tmp_path)
    report = BuildReport()
    CpsDws().build(tmp_path, tmp_path, report=report)
    return pl.read_parquet(tmp_path / "cps_dws.parquet"), report


def test_only_records_of_the_supplement_come_out(tmp_path: Path) -> None:
    blank = dict.fromkeys(TYPES, "")
    rows = [
        record(MONTH=1, **blank),
        record(CPSIDP=0),
        record(**{**blank, "DWRESP": 0}),
        record(YEAR=2000, DWSTAT=99),
        record(YEAR=2000, MONTH=3, **blank),
    ]
    table, report = built(tmp_path, rows)
    assert table.select("CPSIDP", "at", "DWRESP", "DWSTAT", "release_date").rows() == [
        (0, 12 * 1998 + 1, 2, 1, "1998-03-23"),
        (19980100000101, 12 * 1998 + 1, 0, None, "1998-03-23"),
        (19980100000101, 12 * 2000 + 1, 2, None, "2000-03-20"),
    ]
    assert report.problems == []
    assert (report.counts["cps_dws.records_of_the_extract"], report.counts["cps_dws.displaced"]) == (5, 1)


def test_codes_without_an_answer_are_missing_and_unknown_ones_are_told(tmp_path: Path) -> None:
    rows = [
        record(PERNUM=1, DWREAS=98, DWCLASS=96, DWWEEKC=9999.99, DWWEEKL=9999.96, DWJOBSINCE=95, DWWKSUN=996),
        record(PERNUM=2, DWREAS=7, DWWEEKL=10000, DWWEEKC=9999.97, DWYEARS=99.95, DWWKSUN=995),
        record(PERNUM=3, DWJOBSINCE=1.5, DWYEARS=99.96, DWCLASS=9, EMPSTAT=40),
    ]
    table, report = built(tmp_path, rows)
    assert table["DWREAS"].to_list() == [None, None, 1]
    assert table["DWCLASS"].to_list() == [None, 2, None]
    assert table["DWWEEKC"].to_list() == [None, 9999.97, 450.5]
    assert table["DWWEEKL"].to_list() == [None, None, 500.0]
    assert table["DWJOBSINCE"].to_list() == [None, 1, None]
    assert table["DWWKSUN"].to_list() == [None, 995, 12]
    assert table["DWYEARS"].to_list() == [4.5, 99.95, None]
    assert {problem.what: problem.rows for problem in report.problems} == dict.fromkeys(
        [
            "DWJOBSINCE is not a whole number from -32,768 to 32,767",
            "DWCLASS has the unknown code 9",
            "DWREAS has the unknown code 7",
            "DWWEEKL has the unknown code 10000",
            "EMPSTAT has the unknown code 40",
        ],
        1,
    )


def test_a_naturalized_person_who_was_born_a_citizen_is_told(tmp_path: Path) -> None:
    origins = [(1, 4), (4, 4), (5, 4), (1, 3), (5, 5), (0, 4)]
    rows = [record(PERNUM=i, NATIVITY=nativity, CITIZEN=citizen) for i, (nativity, citizen) in enumerate(origins)]
    table, report = built(tmp_path, rows)
    assert len(table) == len(rows)
    assert {p.what: p.rows for p in report.problems} == {"records are native-born and naturalized": 2}


def test_what_is_refused(tmp_path: Path) -> None:
    blank = dict.fromkeys(TYPES, "")
    with pytest.raises(DataError, match="no record of the extract has DWRESP or DWSTAT"):
        built(tmp_path, [record(**blank)])
    with pytest.raises(DataError, match="months of the supplement are out of order"):
        built(tmp_path, [record(), record(YEAR=2000), record()])
    short = {name: value for name, value in record().items() if name not in ("DWWKSUN", "DWHI")}
    with pytest.raises(DataError, match="lacks 2 variables: DWHI, DWWKSUN"):
        built(tmp_path, [short])


def test_words_of_the_supplement(tmp_path: Path, tasks: dict[str, Task]) -> None:
    table, _ = built(tmp_path, [record(DWLASTWRK=95, DWUNION=99)])
    context = StepContext(tasks["labor_cps_displace"], table.lazy())
    got = cps_displacement(table.lazy(), context).collect().row(0, named=True)
    said = ("baseline_month", "dwresp", "dwstat", "dwreas", "dwlastwrk", "dwfulltime", "dwunion", "dwhi", "dwclass")
    assert [got[name] for name in said] == [
        *("1998-02-01", "eligible_interviewed", "displaced_worker", "plant or company closed down or moved"),
        *("other timing", "full time", None, "yes", "private for-profit"),
    ]
    assert got["dw_lookback_regime"] == "three_year_lookback_1994_plus"
    assert (got["dwweekc"], got["dwweekl"], got["dwyears"], got["dwwksun"]) == (450.5, 500.0, 4.5, 12.0)
    earlier = cps_displacement(table.lazy().with_columns(YEAR=pl.lit(1992)), context).collect()
    assert earlier["dw_lookback_regime"].to_list() == ["five_year_lookback_1984_1992"]


@pytest.mark.parametrize(
    ("weeks", "said"),
    [
        (0, "were not without any for a single week"),
        (1, "were without any for 1 week"),
        (12, "were without any for 12 weeks"),
        (None, None),
    ],
)
def test_how_long_a_search_took(weeks: int | None, said: str | None) -> None:
    assert displaced({"dwwksun": weeks})["without_work"] == said


def test_cut_offs_are_those_of_all_displaced_workers(tasks: dict[str, Task]) -> None:
    rng = np.random.default_rng(1)
    n = 400
    source = pl.DataFrame(
        {
            "YEAR": np.repeat([1996, 1998], n // 2),
            "MONTH": np.full(n, 2),
            "DWRESP": rng.choice([1, 2], n),
            "DWSTAT": rng.choice([0, 1], n),
            "EMPSTAT": rng.choice([10, 21], n),
            "DWWEEKC": rng.lognormal(6, 0.6, n).round(2),
            "DWWEEKL": rng.lognormal(6, 0.6, n).round(2),
        }
    )
    asked = (pl.col("DWRESP") == 2) & (pl.col("DWSTAT") == 1)
    rows = source.filter(asked & (pl.col("EMPSTAT") == 10))
    context = StepContext(tasks["income_cps_displace"], source.lazy())
    got = cps_trim_displaced(rows.lazy(), context, columns=["DWWEEKC", "DWWEEKL"]).collect()
    expected = []
    for row in rows.iter_rows(named=True):
        month = source.filter(asked & (pl.col("YEAR") == row["YEAR"]))
        inside = [
            np.percentile(month[name].to_numpy(), 1) < row[name] < np.percentile(month[name].to_numpy(), 99)
            for name in ("DWWEEKC", "DWWEEKL")
        ]
        if all(inside):
            expected.append(row)
    assert got.rows(named=True) == expected
    assert 0 < len(rows) - len(got) == len(rows) - len(expected)
    assert [what for what, _ in context.details] == [
        "DWWEEKC is outside its p1-p99 range",
        "DWWEEKL is outside its p1-p99 range",
    ]


def test_the_planted_people_come_out(tmp_path: Path) -> None:
    first, last = 12 * 1997 + 8, 12 * 1998 + 4
    some = people(seed=5, scale=0.5, first=first, last=last)
    write_csv(months(some, supplement=displaced_columns), tmp_path / f"{STEM}.csv.gz")
    write_cps_releases(tmp_path)
    CpsDws().build(tmp_path, tmp_path, report=BuildReport())
    table = pl.read_parquet(tmp_path / "cps_dws.parquet")
    assert table["at"].unique().to_list() == [12 * 1998 + 1]
    assert 12 * 1998 + 1 in SUPPLEMENTS
    workers = table.filter((pl.col("DWRESP") == 2) & (pl.col("DWSTAT") == 1))
    assert len(workers) > 15
    assert workers["CPSIDP"].n_unique() == len(workers)
    assert workers["CPSIDP"].min() > 0
    # By the people themselves: who is seen that month, twenty or older, and does what.
    who, interview = np.nonzero(some.seen & (some.month == 12 * 1998 + 1))
    truth = {
        int(some.cpsidp[w]): (int(some.age[w, i]), int(some.activity[w, i]))
        for w, i in zip(who, interview, strict=True)
    }
    statuses = {EMPLOYED: (1, 10, 12), UNEMPLOYED: (21, 22)}
    for number, age, status, pay in workers.select("CPSIDP", "AGE", "EMPSTAT", "DWWEEKC").iter_rows():
        true_age, activity = truth[number]
        assert true_age >= 20
        assert status in statuses.get(activity, (32, 34, 36))
        assert pay is None or activity == EMPLOYED
        assert age == true_age or some.fault[some.cpsidp == number].max() in (Fault.AGE, Fault.REUSED)
    young = sum(age < 20 for age, _ in truth.values())
    numbers = table.filter(pl.col("CPSIDP") > 0).unique("CPSIDP", keep="first", maintain_order=True)
    assert numbers.filter(pl.col("DWRESP") == 0).height == young


def test_earnings_after_a_loss_behave_like_earnings() -> None:
    parts = list(months(people(seed=5, scale=2.0, first=12 * 2009, last=12 * 2010 + 2), supplement=displaced_columns))
    table = pl.concat(parts, how="vertical_relaxed").filter(pl.col("DWSTAT") == 1)
    paid = table.filter((pl.col("DWWEEKC") < 9999) & (pl.col("DWWEEKL") < 9999) & (pl.col("DWYEARS") < 99))
    change = (paid["DWWEEKC"] / paid["DWWEEKL"]).log()
    # Most earn less than before, the more so the longer the old job had lasted.
    assert change.median() < 0
    assert np.corrcoef(change, paid["DWYEARS"])[0, 1] < 0
    assert np.corrcoef(paid["DWWEEKC"].log(), paid["DWWEEKL"].log())[0, 1] > 0.6
