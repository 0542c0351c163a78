"""Variables of IPUMS CPS that the tasks read: types, codes that say nothing, ranges, and the words for codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hbench_householdbench.sources.cps_industries import INDUSTRIES
from hbench_householdbench.sources.cps_occupations import OCCUPATIONS
from hbench_householdbench.sources.states import NAME_OF

TYPES = {
    **dict.fromkeys(("MONTH", "MISH", "SEX", "METRO", "NATIVITY", "CITIZEN", "VETSTAT", "LABFORCE"), "Int8"),
    **dict.fromkeys(("EMPSTAT", "NILFACT", "CLASSWKR", "WKSTAT", "WHYUNEMP", "WNFTLOOK", "MULTJOB", "UNION"), "Int8"),
    **dict.fromkeys(("DIFFANY", "MARST", "STATEFIP", "REGION", "FAMSIZE", "NCHILD"), "Int8"),
    **dict.fromkeys(("YEAR", "PERNUM", "SPLOC", "AGE", "RACE", "EDUC", "RELATE", "HISPAN", "DURUNEMP"), "Int16"),
    **dict.fromkeys(("AHRSWORKT", "UHRSWORKT", "FAMINC", "OCC", "OCC2010", "IND", "IND1990"), "Int16"),
    "SERIAL": "Int32",
    **dict.fromkeys(("CPSIDP", "CPSIDV"), "Int64"),
    **dict.fromkeys(("EARNWEEK", "WTFINL"), "Float64"),
}
"""Polars type of every variable read."""

MISSING: Mapping[str, frozenset[int]] = {
    name: frozenset(codes)
    for name, codes in {
        "METRO": (0, 9),
        "FAMINC": (995, 996, 997, 999),
        "RELATE": (9900, 9999),
        "SEX": (9,),
        "RACE": (999,),
        "MARST": (9,),
        "VETSTAT": (0, 9),
        "CITIZEN": (9,),
        "NATIVITY": (0,),
        "HISPAN": (901, 902),
        "EMPSTAT": (0,),
        "LABFORCE": (0,),
        # Without work in the last five years, and not asked.
        "OCC2010": (9920, 9999),
        "IND1990": (0, 998),
        "CLASSWKR": (0, 99),
        "WHYUNEMP": (0,),
        "WNFTLOOK": (0,),
        "WKSTAT": (99,),
        "MULTJOB": (0,),
        "UNION": (0,),
        "NILFACT": (99,),
        "EDUC": (0, 1, 999),
        "DIFFANY": (0,),
    }.items()
}
"""Codes that stand for no answer, by variable."""

RANGES: Mapping[str, tuple[float, float, tuple[float, ...]]] = {
    "FAMSIZE": (1, 99, (0,)),
    "NCHILD": (0, 99, ()),
    "DURUNEMP": (0, 998, (999,)),
    "AHRSWORKT": (0, 99, (999,)),
    # 997: hours vary.
    "UHRSWORKT": (0, 99, (997, 999)),
    "EARNWEEK": (0, 9999, (9999.99,)),
    # Fourteen digits; links rely on it.
    "CPSIDP": (0, 10**14 - 1, ()),
}
"""Lowest and highest number, and codes beyond them that stand for no number."""

_EDUCATION = {
    "high school or less": range(2, 73),
    "high school diploma or GED": (73,),
    "some college or associate degree": range(80, 101),
    "bachelor's degree": (110, 111),
    "graduate or professional education": range(120, 999),
}
_RELATION = {
    "reference person": (101,),
    "spouse": (201, 202, 203),
    "child": (301, 303),
    "parent": (501,),
    "sibling": (701,),
    "grandchild": (901,),
    "other relative": (1001,),
    "partner": (1113, 1114, 1116, 1117),
    "housemate or roommate": (1115, 1241),
    "foster child": (1242,),
    "other nonrelative": (1260,),
}
_HISPANIC = {
    "not Hispanic": (0,),
    "Mexican origin": range(100, 200),
    "Puerto Rican": (200,),
    "Cuban": (300,),
    "Dominican": (400,),
    "other Hispanic": range(500, 700),
}
_RACE = {
    "White": (100,),
    "Black": (200,),
    "American Indian": (300,),
    "Asian or Pacific Islander": (650, 651, 652),
    "other race": (700,),
    "multiracial": range(801, 900),
}
_GROUPED_STATES = """
    61 Maine-New Hampshire-Vermont
    65 Montana-Idaho-Wyoming
    68 Alaska-Hawaii
    69 Nebraska-North Dakota-South Dakota
    70 Maine-Massachusetts-New Hampshire-Rhode Island-Vermont
    71 Michigan-Wisconsin
    72 Minnesota-Iowa
    73 Nebraska-North Dakota-South Dakota-Kansas
    74 Delaware-Virginia
    75 North Carolina-South Carolina
    76 Alabama-Mississippi
    77 Arkansas-Oklahoma
    78 Arizona-New Mexico-Colorado
    79 Idaho-Wyoming-Utah-Montana-Nevada
    80 Alaska-Washington-Hawaii
    81 New Hampshire-Maine-Vermont-Rhode Island
    83 South Carolina-Georgia
    84 Kentucky-Tennessee
    85 Arkansas-Louisiana-Oklahoma
    87 Iowa-N Dakota-S Dakota-Nebraska-Kansas-Minnesota-Missouri
    88 Washington-Oregon-Alaska-Hawaii
    89 Montana-Wyoming-Colorado-New Mexico-Utah-Nevada-Arizona
    90 Delaware-Maryland-Virginia-West Virginia
    99 State not identified
"""
"""Before 1977 some states were published together only."""


def _by_code(groups: Mapping[str, Iterable[int]]) -> dict[int, str]:
    return {code: label for label, codes in groups.items() for code in codes}


LABELS: Mapping[str, tuple[str, Mapping[int, str]]] = {
    "sex": ("SEX", {1: "man", 2: "woman"}),
    "race": ("RACE", _by_code(_RACE)),
    "educ": ("EDUC", _by_code(_EDUCATION)),
    "marst": (
        "MARST",
        {
            **{1: "married, spouse present", 2: "married, spouse absent", 3: "separated", 4: "divorced"},
            **{5: "widowed", 6: "never married", 7: "widowed or divorced"},
        },
    ),
    "state": (
        "STATEFIP",
        {
            **NAME_OF,
            **{int(line.split()[0]): line.split(maxsplit=1)[1] for line in _GROUPED_STATES.strip().splitlines()},
        },
    ),
    "region": (
        "REGION",
        _by_code(
            {
                **{"Northeast": (11, 12), "Midwest": (21, 22), "South": (31, 32, 33), "West": (41, 42)},
                "State not identified": (97,),
            }
        ),
    ),
    "metro": ("METRO", _by_code({"non-metropolitan area": (1,), "metropolitan area": (2, 3, 4)})),
    "relate": ("RELATE", _by_code(_RELATION)),
    "hispan": ("HISPAN", _by_code(_HISPANIC)),
    "nativity": ("NATIVITY", _by_code({"native-born": (1, 2, 3, 4), "foreign-born": (5,)})),
    "citizen": (
        "CITIZEN",
        _by_code({"U.S.-born citizen": (1, 2, 3), "naturalized citizen": (4,), "not a U.S. citizen": (5,)}),
    ),
    "vetstat": ("VETSTAT", {1: "not a veteran", 2: "veteran"}),
    "classwkr": (
        "CLASSWKR",
        {
            **{10: "self-employed", 13: "self-employed, not incorporated", 14: "self-employed, incorporated"},
            **{20: "wage or salary worker", 21: "private wage and salary worker"},
            **{22: "private for-profit wage and salary worker", 23: "private nonprofit wage and salary worker"},
            **{24: "government wage and salary worker", 25: "federal government employee", 26: "armed forces"},
            **{27: "state government employee", 28: "local government employee", 29: "unpaid family worker"},
        },
    ),
    # Codes of those at work are known, and no task has words for them.
    "wkstat": ("WKSTAT", {50: "unemployed, seeking full-time work", 60: "unemployed, seeking part-time work"}),
    "wnftlook": (
        "WNFTLOOK",
        {
            **{10: "less than 5 years ago", 11: "within the last 12 months", 12: "one to five years ago"},
            **{20: "more than 12 months ago", 30: "more than 5 years ago", 40: "never worked"},
            **{41: "never worked full-time for 2 or more weeks", 42: "never worked at all"},
        },
    ),
    "multjob": ("MULTJOB", {1: "no", 2: "yes"}),
    "union": (
        "UNION",
        {1: "no union coverage", 2: "member of a labor union", 3: "covered by a union but not a member"},
    ),
    "difficulty": ("DIFFANY", {1: "No difficulty", 2: "Has difficulty"}),
    "family_income": (
        "FAMINC",
        {
            **{100: "Under $5,000", 210: "$5,000 - 7,499", 300: "$7,500 - 9,999", 430: "$10,000 - 12,499"},
            **{470: "$12,500 - 14,999", 500: "$15,000 - 19,999", 600: "$20,000 - 24,999", 710: "$25,000 - 29,999"},
            **{720: "$30,000 - 34,999", 730: "$35,000 - 39,999", 740: "$40,000 - 49,999", 820: "$50,000 - 59,999"},
            **{830: "$60,000 - 74,999", 840: "$75,000 and over", 841: "$75,000 - 99,999"},
            **{842: "$100,000 - 149,999", 843: "$150,000 and over"},
        },
    ),
    "industry": ("IND1990", INDUSTRIES),
}
"""Variable and words by the name that a task gives them."""

KNOWN: Mapping[str, frozenset[int]] = {
    **{variable: frozenset(labels) for variable, labels in LABELS.values()},
    "WKSTAT": frozenset((*range(10, 16), 20, 21, 22, 40, 41, 42, 50, 60)),
    "EMPSTAT": frozenset((1, 10, 12, 20, 21, 22, *range(30, 37))),
    "LABFORCE": frozenset((1, 2)),
    "NILFACT": frozenset((1, 2, 3, 4, 6)),
    "WHYUNEMP": frozenset(range(1, 7)),
    "MISH": frozenset(range(1, 9)),
    "OCC2010": OCCUPATIONS,
}
"""Codes that say something, by variable; any other one that is not `MISSING` is reported, and counts as no answer."""

SINCE = {"FAMINC": 1995}
"""First year in which unknown codes are reported: older brackets of income, which no task reads, are other ones."""

EMPLOYED = (10, 12)
UNEMPLOYED = (20, 21, 22)
NOT_IN_LABOR_FORCE = tuple(range(30, 37))
"""Codes of EMPSTAT."""
