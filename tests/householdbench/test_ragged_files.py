"""Every reader of separated cells refuses a line that was cut off, and one with a cell too many, with its number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.cex_reader import read_family_files
from hbench_householdbench.sources.cex_supplements import _table
from hbench_householdbench.sources.fred_qd import FRED_QD, read_fred_qd
from hbench_householdbench.sources.hpi import MASTER, OF_COUNTRY, OF_STATES, read_hpi
from hbench_householdbench.sources.laus import FLAT, read_laus
from hbench_householdbench.sources.release_table import read_release_table
from hbench_householdbench.sources.sainc1 import ANY_YEARS, read_sainc1
from tests.data.ragged import ragged
from tests.householdbench.cex import csv, row

pl = pytest.importorskip("polars")

_INDEX = "traditional,all-transactions,quarterly,State,West Virginia,WV,2000,{},{},"
_RELEASES = b"cex_data_year,release_date\n2001,2002-11-01\n2002,2003-11-01\n2003,2004-11-01\n"
_STATES = b"WV,2000,1,1\nWV,2000,2,2\nWV,2000,3,3\nWV,2000,4,4\n"
_COUNTRY = _STATES.replace(b"WV", b"USA")
_UNEMPLOYMENT = b"series_id \tyear\tperiod\t value\tfootnote_codes\r\n" + b"".join(
    b"LAUST370000000000003    \t%d\tM13\t 5.%d\t\r\n" % (year, year % 10) for year in range(2001, 2005)
)
_INCOME = (
    b"GeoFIPS,GeoName,LineCode,1999,2000\n00000,United States,3,100,110\n02000,Alaska,3,90,95\n04000,Arizona,3,8,9\n"
)
_QUARTERS = b"sasdate,UNRATE,FEDFUNDS\n3/1/1959,5,4\n6/1/1959,5,3\n9/1/1959,6,2\n"


def _families(path: Path) -> list[object]:
    return read_family_files([(str(path), "013", path.read_bytes())], report=BuildReport())["total_cq"].to_list()


def _supplement(path: Path) -> list[object]:
    return _table(path.read_bytes(), ["NEWID", "RBTAMT"], str(path))["RBTAMT"].to_list()


def _in_folder(name: str, read: Callable[[Path], pl.DataFrame], column: str) -> tuple[str, Callable[[Path], object]]:
    """Return the name, and how to read the file's raw folder."""
    return name, lambda path: read(path.parents[name.count("/")])[column].to_list()


def _interviews(end: str = "\n") -> bytes:
    text = csv([row(f"0000{k}2", 2001, 5, TOTEXPCQ=100 * k) for k in range(1, 5)])
    return text.replace(b"\n", end.encode())


READERS: dict[str, tuple[str, Callable[[Path], object], bytes, list[object]]] = {
    "interviews": ("fmli013.csv", _families, _interviews(), [100.0, 200.0, 300.0, 400.0]),
    "interviews, CRLF": ("fmli013.csv", _families, _interviews("\r\n"), [100.0, 200.0, 300.0, 400.0]),
    "payments": ("rbt08.csv", _supplement, b"NEWID,RBTAMT,MORE\n12,300,D\n22,600,D\n32,.,\n", [300.0, 600.0, None]),
    "releases": (
        "release_cex.csv",
        lambda path: read_release_table(path, ["release_date"])["release_date"].to_list(),
        _RELEASES,
        ["2002-11-01", "2003-11-01", "2004-11-01"],
    ),
    "unemployment": (
        *_in_folder(FLAT.path, lambda raw: read_laus(raw, report=BuildReport()), "unemployment_rate"),
        _UNEMPLOYMENT,
        [5.1, 5.2, 5.3, 5.4],
    ),
    "house prices": (
        *_in_folder(MASTER.path, lambda raw: read_hpi(raw, report=BuildReport()), "hpi_all_transactions_annual"),
        b"hpi_type,hpi_flavor,frequency,level,place_name,place_id,yr,period,index_nsa,index_sa\n"
        + "".join(_INDEX.format(quarter, quarter) + "\n" for quarter in range(1, 5)).encode(),
        [2.5],
    ),
    "house prices of states": (
        *_in_folder(OF_STATES.path, lambda raw: read_hpi(raw, report=BuildReport()), "hpi_all_transactions_annual"),
        _STATES,
        [2.5, 2.5],
    ),
    "incomes": (
        *_in_folder(
            ANY_YEARS.path.replace("*", "1999_2000"), lambda raw: read_sainc1(raw, report=BuildReport()), "pcpi_nominal"
        ),
        _INCOME,
        [100.0, 110.0, 90.0, 95.0, 8.0, 9.0],
    ),
    "series": (
        *_in_folder(FRED_QD.path, lambda raw: read_fred_qd(raw, ["UNRATE"], report=BuildReport()), "UNRATE"),
        _QUARTERS,
        [5.0, 5.0, 6.0],
    ),
}


@pytest.mark.parametrize("which", READERS)
def test_ragged_lines_are_refused_by_their_number(which: str, tmp_path: Path) -> None:
    name, read, data, values = READERS[which]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name == OF_STATES.path:
        (tmp_path / OF_COUNTRY.path).write_bytes(_COUNTRY)
    for good in (data, data.removesuffix(b"\n")):
        path.write_bytes(good)
        assert read(path) == values
    for bad, said in ragged(data, "\t" if name == FLAT.path else ","):
        path.write_bytes(bad)
        with pytest.raises(DataError, match=path.name + said):
            read(path)
