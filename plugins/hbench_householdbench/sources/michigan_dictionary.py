"""The dictionary of the Cross-Section Archive: what its columns are, and which codes they may hold.

A csv with the columns ``variable``, ``label``, ``code`` and ``meaning``, one line a code; ``code`` is a number or a
range (``0 to 95``), or empty for a variable without codes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.michigan_editions import TERMS

if TYPE_CHECKING:
    import polars as pl

DICTIONARY = RawFile(
    "micro/mich/mich_dictionary.csv",
    "https://data.sca.isr.umich.edu (the archive's dictionary; columns variable, label, code, meaning)",
    TERMS,
    required=False,
)
_COLUMNS = ("variable", "label", "code", "meaning")
_NUMBER = r"-?\d+(?:\.\d+)?"
_CODE = re.compile(rf"({_NUMBER})(?: *(?:to|-) *({_NUMBER}))?")


@dataclass
class Variable:
    """A column of the archive.

    Attributes
    ----------
    label : str
        What it is.
    codes : dict
        Meanings by first and last value.
    """

    label: str
    codes: dict[tuple[float, float], str] = field(default_factory=dict)


def read_dictionary(path: Path) -> dict[str, Variable]:
    """Return the variables by name in capitals.

    Raises
    ------
    DataError
        The file is damaged, a column is missing, a line has no name, a code is no number or range, or a code of a
        variable has two meanings.
    """
    variables: dict[str, Variable] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = [name.strip().lower() for name in next(reader, [])]
            missing = [name for name in _COLUMNS if name not in header]
            if missing:
                raise DataError(f"columns are missing: {', '.join(missing)}", file=path, line=1)
            for cells in filter(None, reader):
                if len(cells) != len(header):
                    raise DataError(
                        f"{len(cells)} cells under {len(header)} column names", file=path, line=reader.line_num
                    )
                row = dict(zip(header, map(str.strip, cells), strict=True))
                _add(variables, *(row[name] for name in _COLUMNS), path=path, line=reader.line_num)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    return variables


def _add(
    variables: dict[str, Variable], name: str, label: str, code: str, meaning: str, *, path: Path, line: int
) -> None:
    if not name:
        raise DataError("the line has no variable", file=path, line=line)
    variable = variables.setdefault(name.upper(), Variable(label))
    if not code:
        return
    found = _CODE.fullmatch(code)
    if found is None:
        raise DataError(f"{code!r} of {name} is no number and no range", file=path, line=line)
    limits = float(found[1]), float(found[2] or found[1])
    if variable.codes.setdefault(limits, meaning) != meaning:
        raise DataError(f"the code {code} of {name} has two meanings", file=path, line=line)


def check_columns(
    dictionary: Mapping[str, Variable], columns: Iterable[str], *, file: str, report: BuildReport
) -> None:
    """Report columns of the archive that the dictionary does not know, and variables that are no column."""
    there = set(columns)
    unknown, absent = sorted(there - set(dictionary)), sorted(set(dictionary) - there)
    report.problem(file, f"columns that {DICTIONARY.path} does not know", len(unknown), ", ".join(unknown[:5]))
    report.problem(file, f"variables of {DICTIONARY.path} that are no column", len(absent), ", ".join(absent[:5]))


def check_codes(dictionary: Mapping[str, Variable], rows: pl.DataFrame, *, file: str, report: BuildReport) -> None:
    """Report by column the answers that the dictionary gives no meaning; variables without codes may hold anything."""
    import polars as pl

    for name in rows.columns:
        variable = dictionary.get(name)
        if variable is None or not variable.codes:
            continue
        known = pl.any_horizontal(pl.col(name).is_between(first, last) for first, last in variable.codes)
        odd = rows.select(name).filter(~known).to_series()
        example = ", ".join(f"{code:g}" for code in odd.unique().sort()[:5])
        report.problem(file, f"{name} has codes that {DICTIONARY.path} does not know", len(odd), example)


def check_labels(
    dictionary: Mapping[str, Variable], labels: Mapping[str, Mapping[int, str]], *, report: BuildReport
) -> None:
    """Report codes that mean something else in the dictionary than in `labels`, in whatever case."""
    for name, meanings in labels.items():
        codes = dictionary[name].codes if name in dictionary else {}
        other = [
            f"{name} {code}: {codes[code, code]!r}, here {meaning!r}"
            for code, meaning in meanings.items()
            if (code, code) in codes and codes[code, code].casefold() != meaning.casefold()
        ]
        what = f"codes of {name} whose meaning is worded otherwise than in the suite, whose labels stand"
        report.problem(DICTIONARY.path, what, len(other), other[0] if other else "")
