"""The Stata dictionary of the Cross-Section Archive: what its columns are, and what their codes mean.

Read are ``label variable``, ``label define`` and ``label values`` of a do-file, and the lines of an infile dictionary
(``_column(1) long CASEID %6f "Case number"``); nothing is run.
"""

from __future__ import annotations

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
    "micro/mich/mich.d[co]*",
    "https://data.sca.isr.umich.edu (the archive's Stata dictionary, mich.dct or mich.do)",
    TERMS,
    required=False,
)
_COMMENT = re.compile(r"/\*.*?\*/|///[^\n]*\n|(?<!\S)//[^\n]*|^[ \t]*\*[^\n]*", re.DOTALL | re.MULTILINE)
_COLUMN = re.compile(
    r"^[ \t]*(?:_column\(\d+\)[ \t]*)?(?:byte|int|long|float|double|str\d+)[ \t]+(\w+)(?::(\w+))?"
    r'(?:[ \t]+%\S+)?[ \t]*(?:"([^"\n]*)")?',
    re.MULTILINE,
)
_STATEMENT = re.compile(r"^[ \t]*la(?:bel)?[ \t]+(var|def|val)\w*[ \t]+(\w+)", re.MULTILINE)
_TEXT = re.compile(r'\s*"([^"\n]*)"')
_MEANING = re.compile(r'\s*(-?\d+)\s+"([^"\n]*)"')
_WORD = re.compile(r"[ \t]+(\w+)")


@dataclass
class Variable:
    """A column of the archive.

    Attributes
    ----------
    label : str
        What it is.
    codes : dict
        Meanings by code; empty for plain numbers.
    """

    label: str = ""
    codes: dict[int, str] = field(default_factory=dict)


def read_dictionary(path: Path) -> dict[str, Variable]:
    """Return the variables by name in capitals.

    Raises
    ------
    DataError
        The file is damaged, describes no variable, or a label statement has no text, no codes, or codes that are not
        defined.
    """
    try:
        text = _COMMENT.sub(_blank, path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    variables: dict[str, Variable] = {}
    sets: dict[str, dict[int, str]] = {}
    uses: dict[str, tuple[str, int]] = {}
    for found in _COLUMN.finditer(text):
        variables[found[1].upper()] = Variable(found[3] or "")
        if found[2]:
            uses[found[1].upper()] = found[2], _line(text, found)
    for found in _STATEMENT.finditer(text):
        kind, name, line = found[1], found[2], _line(text, found)
        if kind == "var":
            label = _TEXT.match(text, found.end())
            if label is None:
                raise DataError(f"{name} has no label in quotes", file=path, line=line)
            variables.setdefault(name.upper(), Variable()).label = label[1]
        elif kind == "def":
            sets.setdefault(name, {}).update(_meanings(text, found.end(), name, path, line))
        else:
            names = [name, *_words(text, found.end())]
            uses |= {one.upper(): (names[-1], line) for one in names[:-1]}
    for name, (codes, line) in uses.items():
        if codes not in sets:
            raise DataError(f"{name} has the labels {codes!r}, which are not defined", file=path, line=line)
        variables.setdefault(name, Variable()).codes = sets[codes]
    if not variables:
        raise DataError("the file describes no variable", file=path, hint="Is it the archive's Stata dictionary?")
    return variables


def _blank(comment: re.Match[str]) -> str:
    """Return what stands for a comment: its line ends, except where it joins two lines."""
    return " " if comment[0].startswith("///") else "\n" * comment[0].count("\n")


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def _meanings(text: str, start: int, name: str, path: Path, line: int) -> dict[int, str]:
    codes: dict[int, str] = {}
    while found := _MEANING.match(text, start):
        codes[int(found[1])], start = found[2], found.end()
    if not codes:
        raise DataError(f"the labels {name!r} have no code with a meaning in quotes", file=path, line=line)
    return codes


def _words(text: str, start: int) -> list[str]:
    words: list[str] = []
    while found := _WORD.match(text, start):
        words.append(found[1])
        start = found.end()
    return words


def check_columns(
    dictionary: Mapping[str, Variable], columns: Iterable[str], *, file: str, report: BuildReport
) -> None:
    """Report columns of the archive that the dictionary does not know, and variables that are no column."""
    there = set(columns)
    unknown, absent = sorted(there - set(dictionary)), sorted(set(dictionary) - there)
    report.problem(file, "columns that the dictionary does not know", len(unknown), ", ".join(unknown[:5]))
    report.problem(file, "variables of the dictionary that are no column", len(absent), ", ".join(absent[:5]))


def check_codes(dictionary: Mapping[str, Variable], rows: pl.DataFrame, *, file: str, report: BuildReport) -> None:
    """Report by column the answers that the dictionary gives no meaning; variables without codes may hold anything."""
    for name in rows.columns:
        codes = dictionary[name].codes if name in dictionary else {}
        answers = rows[name].drop_nulls()
        odd = answers.filter(~answers.is_in([float(code) for code in codes])) if codes else answers.clear()
        example = ", ".join(f"{code:g}" for code in odd.unique().sort()[:5])
        report.problem(file, f"{name} has codes that the dictionary does not know", len(odd), example)


def check_labels(
    dictionary: Mapping[str, Variable], labels: Mapping[str, Mapping[int, str]], *, file: str, report: BuildReport
) -> None:
    """Report codes that mean something else in the dictionary than in `labels`, in whatever case."""
    for name, meanings in labels.items():
        codes = dictionary[name].codes if name in dictionary else {}
        other = [
            f"{code} {codes[code]!r}, here {meaning!r}"
            for code, meaning in meanings.items()
            if code in codes and codes[code].casefold() != meaning.casefold()
        ]
        what = f"codes of {name} whose meaning is worded otherwise than in the suite, whose labels stand"
        report.problem(file, what, len(other), other[0] if other else "")
