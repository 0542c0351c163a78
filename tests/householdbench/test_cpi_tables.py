"""Consumer prices from comma-separated tables of several series, as researchers keep them."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.cpi import GROUPS, Cpi, cpi_file, read_cpi
from hbench_householdbench.sources.demo.macro import write_prices

pl = pytest.importorskip("polars")


def test_a_table_gives_the_same_figures_as_the_files(tmp_path: Path) -> None:
    write_prices(tmp_path / "files", seed=2)
    lines = ["series_id,year,period,value"]
    for group, (_, series) in GROUPS.items():
        for row in (tmp_path / "files" / cpi_file(group).path).read_text().splitlines()[1:]:
            cells = [cell.strip() for cell in row.split("\t")]
            if cells[0] == series and group != "cpi_apparel":
                lines.append(",".join(cells[:4]))
    folder = tmp_path / "tables" / "macro" / "cpi"
    folder.mkdir(parents=True)
    (folder / "some.csv").write_text("\n".join(lines) + "\n")
    # A second table repeats some rows; a third one lists series only.
    (folder / "other.csv").write_text("\n".join(lines[:50]) + "\n")
    (folder / "series.csv").write_text('series_id,title\nCUSR0000SA0,"All items, adjusted"\n')
    report = BuildReport()
    got = read_cpi(tmp_path / "tables", report=report)
    expected = read_cpi(tmp_path / "files", report=BuildReport())
    assert got.drop("cpi_apparel").equals(expected.drop("cpi_apparel"))
    assert got["cpi_apparel"].null_count() == len(got)
    assert [problem.rows for problem in report.problems if "CUSR0000SAA, so cpi_apparel is empty" in problem.what] == [
        1
    ]


def test_nothing_to_read_names_all_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"9 files of consumer prices are missing:\n.*1\.AllItems") as caught:
        read_cpi(tmp_path, report=BuildReport())
    assert "macro/cpi/*.csv" in str(caught.value.hint)
    write_prices(tmp_path, seed=2)
    (tmp_path / cpi_file("cpi_housing").path).unlink()
    with pytest.raises(DataError, match="1 files of consumer prices are missing"):
        read_cpi(tmp_path, report=BuildReport())


@pytest.mark.shared
def test_the_real_tables(shared_dir: Path, tmp_path: Path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out"
    shutil.copytree(shared_dir / "data" / "cpi", raw / "macro" / "cpi")
    out.mkdir()
    report = BuildReport()
    Cpi().build(raw, out, report=report)
    monthly = pl.read_parquet(out / "cpi_major_groups.parquet")
    with (shared_dir / "data" / "cpi" / "cu_selected_us.csv").open() as stream:
        real = [row for row in csv.DictReader(stream) if row["series_id"] == "CUSR0000SA0" and row["period"] != "M13"]
    assert real[0]["value"] == "21.48"
    published = {f"{row['year']}-{row['period'][1:]}-01": row["value"] for row in real if row["period"][0] == "M"}
    got = {str(day): value for day, value in monthly.select("date", "cpi_all_items").iter_rows() if value is not None}
    assert got == {day: float(value) for day, value in published.items() if value}
    # The tables hold the other groups unadjusted only, which are other series.
    empty = [problem.what for problem in report.problems if "is empty" in problem.what]
    assert len(empty) == 8
    assert monthly.drop("date", "cpi_all_items").null_count().row(0) == (len(monthly),) * 8
