"""Small CEX Interview packages, written by hand."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from hbench.core import BuildReport
from hbench_householdbench.sources.cex_interview import CexInterview
from hbench_householdbench.sources.cex_packages import FOLDER, SUBSET, stem
from hbench_householdbench.sources.cex_supplements import CexRebates2001, CexStimulus2008
from hbench_householdbench.sources.demo.releases import write_cex_releases

PARTS = {
    **{"FOOD": 400, "ALCBEV": 20, "HOUS": 900, "APPAR": 60, "TRANS": 300, "HEALTH": 100, "ENTERT": 80, "PERSCA": 30},
    **{"READ": 5, "EDUCA": 50, "TOBACC": 15, "MISC": 40, "CASHCO": 70, "LIFINS": 10, "RETPEN": 200},
}
INSIDE = {"UTIL": 150, "HOUSOP": 25, "PUBTRA": 12, "GASMO": 90, "FDAWAY": 130}


def row(newid: str, year: int, month: int, **values: Any) -> dict[str, str]:
    """One interview: spending of `PARTS` in the interview's quarter, and nothing in the quarter before."""
    cells: dict[str, Any] = {
        **{
            "NEWID": newid,
            "QINTRVYR": year,
            "QINTRVMO": f"{month:02d}",
            "FINLWT21": 1000,
            "FAM_SIZE": 3,
            "FAM_TYPE": 2,
        },
        **{"PERSLT18": 1, "AGE_REF": 40, "SEX_REF": 1, "MARITAL1": 1, "CUTENURE": 1, "REF_RACE": 1, "EDUC_REF": 12},
        **{"EDUCA2": "", "REGION": 3, "BLS_URBN": 1, "FINCBTAX": 50_000},
    }
    for name, amount in {**PARTS, **INSIDE}.items():
        cells |= {f"{name}CQ": amount, f"{name}PQ": 0}
    cells |= {"TOTEXPCQ": sum(PARTS.values()), "TOTEXPPQ": 0}
    return {name: str(value) for name, value in {**cells, **values}.items()}


def csv(rows: list[dict[str, str]]) -> bytes:
    """A file with the columns of all rows."""
    columns = list(dict.fromkeys(name for one in rows for name in one))
    lines = [",".join(f'"{name}"' for name in columns)]
    lines += [",".join(one.get(name, "") for name in columns) for one in rows]
    return ("\n".join(lines) + "\n").encode()


def pack(raw: Path, year: int, files: dict[str, bytes | list[dict[str, str]]]) -> None:
    """Write a package."""
    path = raw / FOLDER / f"{stem(year)}.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, bytes) else csv(content))


def build(tmp_path: Path, packages: dict[int, dict[str, bytes | list[dict[str, str]]]]) -> tuple[Any, BuildReport]:
    """Build packages and supplements; return the interviews (a polars frame) and the report.

    The tables lie in ``tmp_path/out``.
    """
    import polars as pl

    raw, out = tmp_path / "raw", tmp_path / "out"
    out.mkdir(parents=True, exist_ok=True)
    for year, files in packages.items():
        pack(raw, year, files)
    (raw / SUBSET).write_text("\n".join(map(str, packages)) + "\n")
    write_cex_releases(raw, packages)
    report = BuildReport()
    CexInterview().build(raw, out, report=report)
    for year, word, supplement in ((2001, "TAX", CexRebates2001()), (2008, "RBT", CexStimulus2008())):
        if any(word in name.upper() for name in packages.get(year, ())):
            supplement.build(raw, out, report=report)
    return pl.read_parquet(out / "cex_interview.parquet"), report
