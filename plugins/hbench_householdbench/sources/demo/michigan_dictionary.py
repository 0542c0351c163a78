"""A synthetic dictionary of the Cross-Section Archive, as a Stata do-file."""

from __future__ import annotations

from collections.abc import Iterable

from hbench_householdbench.sources.michigan_codes import LABELS

_NAMES = {
    **{"CASEID": "Case number", "YYYYMM": "Month of the interview", "ID": "Number of the interview in its month"},
    **{"DATEPR": "Month of the earlier interview", "IDPREV": "Its number in that month", "INCOME": "Household income"},
    **{"PAGO": "Finances, a year ago", "BAGO": "Business, a year ago", "GOVT": "Economic policy", "AGE": "Age"},
    **{"PX1": "Prices, next year, percent", "PX5": "Prices, next five years, percent", "SEX": "Sex"},
    **{"INEXQ1": "Income, next year, direction", "INEXQ2": "Income, next year, percent", "EDUC": "Education"},
}
_ASKED = ("PAGO", "BAGO", "GOVT", "DUR", "HOM", "SHOM", "CAR", "BUS12", "PEXP", "INEXQ1")
_UNKNOWN = {8: "DK; depends", 9: "NA"}
_SIZES = {98: "DK; not certain", 99: "NA"}


def dictionary_lines(columns: Iterable[str]) -> list[str]:
    """Return the lines of a do-file that labels the columns and their codes."""
    lines = ["* Synthetic data in the layout of the Surveys of Consumers; nobody was asked anything."]
    for name in columns:
        lines.append(f'label variable {name} "{_NAMES.get(name, name.capitalize())}"')
        codes = LABELS.get(name, {}) | (_UNKNOWN if name in _ASKED else {})
        codes |= _SIZES if name in ("PX1", "PX5", "INEXQ2", "BUS5") else {}
        if codes:
            meanings = " ///\n    ".join(f'{code} "{label}"' for code, label in codes.items())
            lines += [f"label define {name}_codes ///\n    {meanings}", f"label values {name} {name}_codes"]
    return lines
