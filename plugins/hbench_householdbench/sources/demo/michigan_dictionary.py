"""A synthetic dictionary of the Cross-Section Archive."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from hbench_householdbench.sources.michigan_codes import LABELS

_NAMES = {
    **{"CASEID": "Case number", "YYYYMM": "Month of the interview", "ID": "Number of the interview in its month"},
    **{"DATEPR": "Month of the earlier interview", "IDPREV": "Its number in that month", "INCOME": "Household income"},
    **{"PAGO": "Finances, a year ago", "BAGO": "Business, a year ago", "GOVT": "Economic policy", "AGE": "Age"},
    **{"PX1": "Prices, next year, percent", "PX5": "Prices, next five years, percent", "SEX": "Sex"},
    **{"INEXQ1": "Income, next year, direction", "INEXQ2": "Income, next year, percent", "EDUC": "Education"},
}
_UNKNOWN = (("98", "DK; not certain"), ("99", "NA"))
_ASKED = ("PAGO", "BAGO", "GOVT", "DUR", "HOM", "SHOM", "CAR", "BUS12", "PEXP", "INEXQ1")
_PERCENT = (("-97", "Down; size unknown"), ("-95 to 95", "Percent"), ("96", "Same; size unknown"), *_UNKNOWN)
_RANGES = {
    "AGE": (("18 to 97", "Years; 97 is 97 and older"),),
    "INCOME": (("0 to 9999999", "Dollars a year"),),
    "BUS5": (("0 to 97", "Scale"), *_UNKNOWN),
    "INEXQ2": (("0 to 95", "Percent"), *_UNKNOWN),
    "PX1": _PERCENT,
    "PX5": _PERCENT,
    **dict.fromkeys(("NUMKID", "NUMADT"), (("0 to 25", "Persons"), *_UNKNOWN)),
}


def dictionary_lines(columns: Iterable[str]) -> list[str]:
    """Return the lines of a csv that describes the columns: labels, codes with their meanings, and ranges."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("variable", "label", "code", "meaning"))
    for name in columns:
        codes = [*((str(code), label) for code, label in LABELS.get(name, {}).items()), *_RANGES.get(name, ())]
        codes += [("8", "DK; depends"), ("9", "NA")] if name in _ASKED else []
        for code, meaning in codes or [("", "")]:
            writer.writerow((name, _NAMES.get(name, name.capitalize()), code, meaning))
    return text.getvalue().splitlines()
