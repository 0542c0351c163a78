"""Rebates of 2001 and payments of 2008, put into interviews: small tables checked by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hbench.core import DataError
from hbench.data import StepContext
from hbench.spec import Task
from hbench_householdbench.steps.cex import cex_categories_add_up, cex_observed_between
from hbench_householdbench.steps.rebates import cex_rebate_2001, cex_rebate_status, cex_stimulus_2008, rebate_reports
from tests.householdbench.cex import build, row

pl = pytest.importorskip("polars")

TAX = "deep/Addendum - Tax Rebate/TAX01{}.csv"


def tax(
    newid: str, lead_in: str = "1", *checks: tuple[str, str], flags: Mapping[str, str] | None = None
) -> dict[str, str]:
    cells = {"NEWID": newid, "TAXQ1": lead_in, "TAXQ1_": "D", "TAXQ3": "", "TAXQ3_": "A"}
    for k in range(1, 6):
        month, amount = checks[k - 1] if k <= len(checks) else ("", "")
        flag = "D" if k <= len(checks) else "A"
        cells |= {f"TAXMO{k}": month, f"TAXMO{k}_": flag, f"TAXAMT{k}": amount, f"TAXAMT{k}_": flag}
    return {**cells, **(flags or {})}


def context(task: Task, folder: Path) -> tuple[Any, StepContext]:
    tables = {path.stem: pl.scan_parquet(path) for path in (folder / "out").glob("*.parquet")}
    return tables["cex_interview"], StepContext(task, tables["cex_interview"], tables)


def rebates(
    tmp_path: Path, tasks: Mapping[str, Task], reports: list[dict[str, str]], rows: list[Any]
) -> dict[str, Any]:
    """Return status and amount by month of interview and last digits of the household."""
    files = {"fmli013.csv": rows, TAX.format(3): reports, TAX.format(4): [tax("99999992", "2")]}
    build(tmp_path, {2001: {**files, "fmli014.csv": [row("99999992", 2001, 11)]}})
    frame, own = context(tasks["cons_cex_rebate01"], tmp_path)
    got = cex_rebate_2001(frame, own).filter(pl.col("newid") != "99999992").collect()
    return {
        f"{one['newid']}@{one['interview_date'][2:7]}": (one["rebate_status"], one["rebate_amount_total"])
        for one in got.rows(named=True)
    }


@pytest.mark.parametrize(
    ("report", "status", "amount"),
    [
        (tax("00000012", "1", ("7", "300")), "valid_positive", 300.0),
        (tax("00000012", "1", ("7", "300"), ("8", "300")), "valid_positive", 600.0),
        (tax("00000012", "2"), "valid_zero", 0.0),
        (tax("00000012", "1", ("7", "300"), flags={"TAXMO1_": " g", "TAXAMT1_": "w "}), "valid_positive", 300.0),
        (tax("00000012", "", flags={"TAXQ1_": "C"}), "unresolved_lead_in", None),
        (tax("00000012", "1", ("7", "300"), flags={"TAXQ1_": "C"}), "unresolved_lead_in", None),
        (tax("00000012", "2", ("7", "300")), "contradictory", None),
        (tax("00000012", "1"), "contradictory", None),
        (tax("00000012", "1", ("7", "0")), "invalid_or_zero_amount", None),
        (tax("00000012", "1", ("7", "300"), flags={"TAXAMT1_": "C"}), "invalid_or_zero_amount", None),
        (tax("00000012", "1", ("13", "300")), "invalid_positive_month", None),
        (tax("00000012", "1", ("7", "300"), flags={"TAXMO1_": "C"}), "invalid_positive_month", None),
        # A blank whose flag says that it counts can be compared with nothing: it sets no status and is left out.
        (tax("00000012", "1", ("7", "")), "valid_zero", 0.0),
        (tax("00000012", "1", ("", "300")), "contradictory", None),
        (tax("00000012", "1", ("7", "300"), ("", "300")), "valid_positive", 300.0),
    ],
)
def test_what_a_report_means(
    tmp_path: Path, tasks: Mapping[str, Task], report: dict[str, str], status: str, amount: float | None
) -> None:
    got = rebates(tmp_path, tasks, [report], [row("00000012", 2001, 9)])
    assert got == {"00000012@01-09": (status, amount)}


def test_checks_go_to_the_months_in_which_they_came(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    rows = [row(f"000000{h}{k}", 2001, m) for h in (1, 2, 3) for k, m in ((2, 3), (3, 6), (4, 9), (5, 12))]
    rows += [row("00000044", 2001, 9), row("00000053", 2001, 6)]
    reports = [
        tax("00000014", "1", ("7", "300"), ("9", "600")),  # the second in the interview's own month: the next interview
        tax("00000024", "1", ("5", "300")),  # told late: an earlier interview's months
        tax("00000034", "1", ("10", "300")),  # after the interview, so the year before: nobody's months
    ]
    got = rebates(tmp_path, tasks, reports, rows)
    assert got["00000014@01-09"] == ("valid_positive", 300.0)
    assert got["00000015@01-12"] == ("valid_positive", 600.0)
    assert got["00000013@01-06"] == got["00000012@01-03"] == ("valid_zero", 0.0)  # over before July
    assert got["00000023@01-06"] == ("valid_positive", 300.0)
    assert got["00000024@01-09"] == ("valid_zero", 0.0)
    assert got["00000025@01-12"] == ("not_reported", None)
    assert got["00000034@01-09"] == ("valid_zero", 0.0)
    assert got["00000044@01-09"] == (None, None)


def test_a_check_goes_back_where_the_other_interview_was_told_no(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    rows = [row("00000013", 2001, 7), row("00000014", 2001, 10), row("00000023", 2001, 7), row("00000024", 2001, 10)]
    reports = [
        tax("00000013", "2"),
        tax("00000014", "1", ("6", "300")),  # falls to July, which said no: it stays with October
        tax("00000023", "2"),
        tax("00000024", "1", ("6", "300"), ("8", "600")),  # October has one of its own, so the first goes to July
    ]
    got = rebates(tmp_path, tasks, reports, rows)
    assert (got["00000013@01-07"], got["00000014@01-10"]) == (("valid_zero", 0.0), ("valid_positive", 300.0))
    assert (got["00000023@01-07"], got["00000024@01-10"]) == (("valid_positive", 300.0), ("valid_positive", 600.0))


def test_a_report_that_does_not_hold_wins_over_a_check_that_a_later_one_puts_there(
    tmp_path: Path, tasks: Mapping[str, Task]
) -> None:
    """The fact sheet lists the statuses in the order in which one overrides another."""
    rows = [row(f"000000{h}{k}", 2001, m) for h in (1, 2, 3) for k, m in ((3, 8), (4, 11))]
    rows += [row("00000043", 2001, 7), row("00000053", 2001, 7)]
    reports = [
        tax("00000013", "", flags={"TAXQ1_": "C"}),
        tax("00000014", "1", ("7", "300")),  # falls to August, whose own lead-in is not known
        tax("00000023", "2", ("6", "300")),  # contradictory
        tax("00000024", "1", ("7", "600")),
        tax("00000034", "1", ("7", "300")),  # August was not asked: it gets what November told of
        tax("00000043", "1", ("", "")),  # April to June are known to be zero, but the report contradicts itself
        tax("00000053", "2"),
    ]
    got = rebates(tmp_path, tasks, reports, rows)
    assert got["00000013@01-08"] == ("unresolved_lead_in", None)
    assert got["00000014@01-11"] == ("valid_zero", 0.0)
    assert got["00000023@01-08"] == ("contradictory", None)
    assert got["00000033@01-08"] == ("valid_positive", 300.0)
    assert got["00000043@01-07"] == ("contradictory", None)
    assert got["00000053@01-07"] == ("valid_zero", 0.0)


def test_the_months_before_july_and_after_september_are_known_to_be_without(
    tmp_path: Path, tasks: Mapping[str, Task]
) -> None:
    months = [(2001, 4), (2001, 7), (2001, 10), (2002, 1), (2002, 4)]
    rows = [row(f"0000001{k}", year, month) for k, (year, month) in enumerate(months, 1)]
    got = rebates(tmp_path, tasks, [tax("00000013", "2")], rows)
    assert list(got.values()) == [("valid_zero", 0.0)] * 5
    rows = [row(f"0000001{k}", 2001, month) for k, month in ((2, 8), (3, 11))] + [row("00000014", 2002, 2)]
    got = rebates(tmp_path / "asked_once", tasks, [tax("00000014", "2")], rows)
    # The last one's months begin after September; of the others', checks may have come in July to September.
    assert [status for status, _ in got.values()] == ["not_reported", "not_reported", "valid_zero"]


def test_a_month_that_is_none_puts_the_whole_household_in_doubt(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    rows = [row("00000013", 2001, 6), row("00000014", 2001, 9), row("00000015", 2001, 12)]
    got = rebates(tmp_path, tasks, [tax("00000014", "1", ("13", "300"))], rows)
    assert set(got.values()) == {("invalid_positive_month", None)}


def test_reports_match_one_interview(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    with pytest.raises(DataError, match=r"1 households with a report .* NEWID 00000092"):
        rebates(tmp_path, tasks, [tax("00000092", "2")], [row("00000012", 2001, 9)])
    with pytest.raises(DataError, match="2 rows repeat a NEWID"):
        rebates(tmp_path, tasks, [tax("00000012", "2"), tax("00000012", "2")], [row("00000012", 2001, 9)])
    with pytest.raises(DataError, match=r"has no tax014.csv"):
        build(tmp_path, {2001: {"fmli013.csv": [row("00000012", 2001, 9)], TAX.format(3): [tax("00000012")]}})


def test_the_funnel_counts_every_status(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    frame = pl.LazyFrame({"rebate_status": ["valid_zero", "contradictory", None, "contradictory", "valid_positive"]})
    own = StepContext(tasks["cons_cex_rebate01"], frame)
    kept = cex_rebate_status(frame, own, keep=["valid_positive", "valid_zero"]).collect()
    assert kept["rebate_status"].to_list() == ["valid_zero", "valid_positive"]
    assert own.details == [("the household was never asked", 1), ("the status is contradictory", 2)]


def payment(newid: str, month: str, amount: str, **values: str) -> dict[str, str]:
    cells = {"NEWID": str(int(newid)), "CUID": str(int(newid) // 10), "RBTMO": month, "RBTAMT": amount, "CHCKEFT": "1"}
    return {**cells, "HOWUSED": "", "USDINTMO": "", "USDINTYR": "", **values}


def test_payments_of_2008(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    rows = [row("00000012", 2008, 5), row("00000013", 2008, 8), row("00000014", 2008, 11), row("00000023", 2008, 8)]
    rows += [row("00000032", 2008, 4)]
    paid = [
        payment("00000013", "5", "600"),
        payment("00000013", "6", "300", CHCKEFT="2"),
        payment("00000013", "8", "100"),  # the interview's own month: the next one
        payment("00000013", "4", "50", CHCKEFT=""),  # the one before
        payment("00000023", "11", "900"),  # the year before: nobody's
        payment("00000023", "", "900", CHCKEFT="7", CUID="3"),  # does not count, so it is not checked
        payment("00000023", "6", "0"),
    ]
    _, report = build(tmp_path, {2008: {"fmli082.csv": rows, "expn08/RBT08.csv": paid}})
    frame, own = context(tasks["cons_cex_stimulus08"], tmp_path)
    got = cex_stimulus_2008(frame, own).collect()
    amounts = dict(zip(got["newid"], got["rebate_amount_total"], strict=True))
    assert amounts == {"00000012": 50, "00000013": 900, "00000014": 100, "00000023": 0, "00000032": 0}
    assert ("rows without a month or a positive amount", 2) in [(p.what, p.rows) for p in report.problems]
    kept = cex_observed_between(frame, own, first="2008-06-01", last="2009-03-01").collect()
    assert set(kept["newid"]) == {"00000012", "00000013", "00000014", "00000023"}
    assert own.details == [("the household has no interview from 2008-06 to 2009-03", 1)]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"CHCKEFT": "3"}, "1 payments have an unknown CHCKEFT"),
        ({"CUID": "7"}, "1 payments have a CUID that is not NEWID without its last digit"),
        ({"CUID": ""}, "1 payments have a CUID"),
        ({"RBTAMT": "much"}, "RBTAMT is not a number"),
    ],
)
def test_payments_with_faults_are_refused(tmp_path: Path, values: dict[str, str], message: str) -> None:
    paid = [payment("00000013", "5", "600", **values)]
    with pytest.raises(DataError, match=message):
        build(tmp_path, {2008: {"fmli083.csv": [row("00000013", 2008, 8)], "rbt08.csv": paid}})


def test_tasks_say_which_package_they_miss(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    build(tmp_path, {2008: {"fmli083.csv": [row("00000013", 2008, 8)]}})
    frame, own = context(tasks["cons_cex_stimulus08"], tmp_path)
    with pytest.raises(DataError, match="'cex_stimulus_2008'"):
        cex_stimulus_2008(frame, own)


def test_categories_add_up_or_stop_the_build(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    build(tmp_path, {1997: {"fmli972.csv": [row("00000012", 1997, 5), row("00000022", 1997, 5, FOODPQ="0.01")]}})
    frame, own = context(tasks["cons_cex_categories"], tmp_path)
    lagless = [c for c in frame.collect_schema().names() if c.startswith("cons_")]
    for k in (1, 2, 3):
        frame = frame.with_columns(pl.lit(None, pl.Float64).alias(f"{name}_lag{k}") for name in lagless)
    good = frame.filter(pl.col("newid") == "00000012")
    assert len(cex_categories_add_up(good, own).collect()) == 1
    with pytest.raises(DataError, match=r"in 1 rows or more the categories do not add up .*:0000002 miss it by \$0.01"):
        cex_categories_add_up(frame, own)


def test_a_report_of_several_checks_has_one_status() -> None:
    rows = {"row": [1, 1], "cex_panel_id": ["a", "a"], "lead_in": ["valid_yes"] * 2, "month": [7.0, 13.0]}
    reports = pl.DataFrame({**rows, "amount": [0.0, 5.0], "month_known": [True, True], "amount_known": [True, True]})
    assert rebate_reports(reports)["report"].to_list() == ["invalid_positive_month"]
