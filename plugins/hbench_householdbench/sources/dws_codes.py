"""Variables of the Displaced Worker Supplement as IPUMS codes them: types, no answers, ranges, and words for codes."""

from __future__ import annotations

from collections.abc import Mapping

NO_ANSWER = frozenset(range(96, 100))
"""Of the questions with labels: refused, not known, no response, not asked."""
_ASKED = (
    *("DWLOSTJOB", "DWREAS", "DWRECALL", "DWNOTICE", "DWLASTWRK", "DWFULLTIME", "DWUNION"),
    *("DWBEN", "DWEXBEN", "DWHI", "DWCLASS", "DWMOVE", "DWHINOW"),
)
NUMBERS: Mapping[str, tuple[str, float, float, tuple[float, ...]]] = {
    "DWYEARS": ("Float64", 0, 99.95, (99.96, 99.97, 99.98, 99.99)),
    "DWWEEKL": ("Float64", 0, 9999.95, (9999.96, 9999.97, 9999.98, 9999.99)),
    "DWWEEKC": ("Float64", 0, 9999.97, (9999.98, 9999.99)),
    "DWJOBSINCE": ("Int16", 0, 94, tuple(range(95, 100))),
    "DWWKSUN": ("Int16", 0, 995, tuple(range(996, 1000))),
}
"""Type, lowest and highest number, and the codes beyond that stand for none."""
TYPES = {
    **dict.fromkeys(("DWRESP", "DWSTAT", *_ASKED), "Int16"),
    **{name: dtype for name, (dtype, *_) in NUMBERS.items()},
}
"""Polars type of every variable read."""
MISSING: Mapping[str, frozenset[int]] = {"DWSTAT": frozenset((99,)), **dict.fromkeys(_ASKED, NO_ANSWER)}
_NO_YES = {1: "no", 2: "yes"}
LABELS: Mapping[str, tuple[str, Mapping[int, str]]] = {
    "dwresp": (
        "DWRESP",
        {
            **{0: "not_eligible", 1: "eligible_not_interviewed", 2: "eligible_interviewed"},
            **{6: "refused", 7: "don't know"},
        },
    ),
    "dwstat": ("DWSTAT", {0: "not_displaced_worker", 1: "displaced_worker"}),
    "dwreas": (
        "DWREAS",
        {
            **{1: "plant or company closed down or moved", 2: "insufficient work", 3: "position or shift abolished"},
            **{4: "seasonal job completed", 5: "self-operated business failed", 6: "other reason"},
        },
    ),
    "dwnotice": (
        "DWNOTICE",
        {
            **{1: "no notice", 2: "less than 1 month notice", 3: "1 to 2 months notice"},
            **{4: "more than 2 months notice", 5: "notice given, time period not reported"},
        },
    ),
    "dwlastwrk": (
        "DWLASTWRK",
        {
            **{0: "this year", 1: "last year", 2: "two years ago", 3: "three years ago", 4: "four years ago"},
            **{5: "five years ago", 95: "other timing"},
        },
    ),
    "dwfulltime": ("DWFULLTIME", {1: "not full time", 2: "full time", 3: "hours varied"}),
    "dwclass": (
        "DWCLASS",
        {
            **{1: "government", 2: "private for-profit", 3: "private nonprofit", 4: "self-employed"},
            5: "without pay or family business",
        },
    ),
    "dwmove": (
        "DWMOVE",
        {1: "did_not_move", 2: "moved_not_because_job_loss", 3: "moved_because_job_loss"},
    ),
    **{name: (name.upper(), _NO_YES) for name in ("dwrecall", "dwunion", "dwben", "dwexben", "dwhi", "dwhinow")},
    "dwlostjob": ("DWLOSTJOB", _NO_YES),
}
"""Variable and words by the name that a task gives them."""
