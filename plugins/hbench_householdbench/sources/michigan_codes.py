"""Codes of the Surveys of Consumers: what is missing, and what answers mean."""

from __future__ import annotations

_LAST_CATEGORY = (-float("inf"), 7.999)
"""Codes of 8 and above say "don't know" or "not ascertained"."""
_PERCENT = (-95.0, 95.0)
"""Codes beyond say "don't know", or a size that was not asked."""
_HOUSEHOLD = (0.0, 5.0)

BOUNDS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("PAGO", "BAGO", "GOVT", "DUR", "HOM", "SHOM", "CAR", "INEXQ1", "BUS12", "PEXP"), _LAST_CATEGORY),
    "BUS5": (-float("inf"), 97.999),
    "INEXQ2": (0.0, 95.0),
    "PX1": _PERCENT,
    "PX5": _PERCENT,
    "NUMKID": _HOUSEHOLD,
    "NUMADT": _HOUSEHOLD,
}
"""Answers outside are missing. Age, sex, region, marriage, education and income are missing only where blank."""

_COMPARED = {1: "Better now", 3: "Same", 5: "Worse now"}
_TIMES = {1: "Good", 3: "Pro-con", 5: "Bad"}
LABELS: dict[str, dict[int, str]] = {
    "SEX": {1: "Male", 2: "Female"},
    "REGION": {1: "West", 2: "North Central", 3: "Northeast", 4: "South"},
    "MARRY": {1: "Married/partner", 3: "Divorced", 4: "Widowed", 5: "Never married"},
    "EDUC": {
        1: "Grade 0-8 no hs diploma",
        2: "Grade 9-12 no hs diploma",
        3: "Grade 0-12 w/ hs diploma",
        4: "Grade 13-17 no col degree",
        5: "Grade 13-16 w/ col degree",
        6: "Grade 17 W/ col degree",
    },
    "PAGO": _COMPARED,
    "BAGO": {**_COMPARED, 3: "About the same"},
    "GOVT": {1: "Good job", 3: "Only fair", 5: "Poor job"},
    "DUR": _TIMES,
    "HOM": _TIMES,
    "CAR": _TIMES,
    "SHOM": {code: label.upper() for code, label in _TIMES.items()},
    "BUS12": {
        1: "Good times",
        2: "Good with qualifications",
        3: "Pro-con",
        4: "Bad with qualifications",
        5: "Bad times",
    },
    "PEXP": {1: "Will be better off", 3: "Same", 5: "Will be worse off"},
    "INEXQ1": {1: "Higher", 2: "Higher at same rate as now", 3: "About the same", 5: "Lower"},
}
"""Labels by code. A code that is neither missing nor here stops the build."""
VARIABLES = (
    *("AGE", "SEX", "REGION", "MARRY", "EDUC", "NUMADT", "NUMKID", "INCOME", "PAGO", "BAGO", "GOVT", "DUR", "HOM"),
    *("SHOM", "CAR", "BUS12", "BUS5", "PEXP", "PX1", "PX5", "INEXQ1", "INEXQ2"),
)
"""Answers that are read. Those on business and on next year's finances are not shown, but must be there."""
