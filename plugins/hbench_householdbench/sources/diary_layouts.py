"""Layouts of the Diary's files: the seven ICPSR studies of 1982-1989 (fixed width) and the BLS packages since (csv).

Source: the studies' codebooks; positions count from 0 and end before the second number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

Fields = Mapping[str, tuple[int, int] | None]
"""Place of each field in a line; None where the file does not have it."""

FAMILY = [
    "NEWID",
    "AGE_REF",
    "BLS_URBN",
    "CUTENURE",
    "EDUC_REF",
    "EMPLTYP1",
    "FAM_SIZE",
    "FINCBEFX",
    "FINLWT21",
    "FSS_RRX",
    "FSUPPX",
    "INCLASS",
    "MARITAL1",
    "PERSLT18",
    "PICK_UP",
    "REF_RACE",
    "REGION",
    "RESPSTAT",
    "SEX_REF",
    "SMSASTAT",
    "STRTDAY",
    "STRTMNTH",
    "STRTYEAR",
    "WEEKI",
    "WEEKN",
]
MEMBER = ["NEWID", "MEMBNO", "ANYRAIL", "ANYSSINC", "US_SUPP", "SS_RRX", "SUPPX", "CU_CODE1", "WHYNOWRK"]
PURCHASE = ["NEWID", "COST", "QREDATE", "UCC"]
PURCHASE_OTHERS = frozenset(
    # The rest of the csv files' columns: flags (with the letter that they replace) and dates in the later style.
    [
        "ALLOC",
        "GIFT",
        "PUB_FLAG",
        "COST_",
        "QREDATE_",
        "UCC_",
        "GIFT_",
        "QRED_ATE",
        "EXPNSQDY",
        "EXPN_QDY",
        "EXPNWKDY",
        "EXPN_KDY",
        "EXPNMO",
        "EXPNMO_",
        "EXPNYR",
        "EXPNYR_",
    ]
)
"""Known columns of the purchases' csv files that are not read; any other is reported."""

_1982 = (
    "0-8 35-37 - 285-286 310-311 314-315 318-320 379-387 261-272 573-581 591-599 628-629 699-700 774-776 789-791 "
    "808-809 810-811 812-813 832-833 836-837 855-857 857-859 859-861 884-885 886-887"
)
_1984 = (
    "0-8 35-37 41-42 286-287 311-312 315-316 319-321 380-388 609-620 805-813 823-831 870-871 941-942 1016-1018 "
    "1031-1033 1050-1051 1052-1053 1054-1055 1074-1075 1078-1079 1097-1099 1099-1101 1101-1103 1126-1127 1128-1129"
)
_1985 = (
    "0-8 35-37 41-42 55-56 80-81 84-85 88-90 149-157 378-389 574-582 592-600 639-640 710-711 785-787 800-802 819-820 "
    "821-822 823-824 843-844 847-848 866-868 868-870 870-872 895-896 897-898"
)
_1986 = (
    "0-8 35-37 41-42 55-56 80-81 84-85 88-90 149-157 158-169 354-362 372-380 419-420 490-491 565-567 580-582 599-600 "
    "601-602 603-604 623-624 627-628 646-648 648-650 650-652 675-676 677-678"
)
_MEMBERS = "0-8 148-150 56-57 58-59 227-228 198-206 218-226 71-72 238-239"
_MEMBERS_1989 = "0-8 148-150 56-57 58-59 225-226 196-204 216-224 71-72 236-237"
_PURCHASES = "0-8 9-21 23-31 32-38"

FIRST_BLS_YEAR, LAST_YEAR = 1990, 2011
FIRST_YEAR = 1982


@dataclass(frozen=True)
class FixedWidth:
    """How a year's file of one kind is laid out.

    Attributes
    ----------
    fields : mapping
        Place of each field.
    width : int
        Logical length of a line; the physical one may have one character more.
    padded : int or None
        Another physical length, of which only the logical part may hold anything.
    """

    fields: Fields
    width: int
    padded: int | None = None


def _fields(names: list[str], places: str) -> Fields:
    found: dict[str, tuple[int, int] | None] = {}
    for name, place in zip(names, places.split(), strict=True):
        start, _, end = place.partition("-")
        found[name] = (int(start), int(end)) if start else None
    return MappingProxyType(found)


def family_layout(year: int) -> FixedWidth:
    """Return the layout of a year's consumer units (FMLY)."""
    places, width = {
        1982: (_1982, 1240),
        1983: (_1982, 1240),
        1984: (_1984, 1485),
        1985: (_1985, 1252),
        1989: (_1986, 1533),
    }.get(year, (_1986, 1526))
    return FixedWidth(_fields(FAMILY, places), width)


def member_layout(year: int) -> FixedWidth:
    """Return the layout of a year's members (MEMB)."""
    width = 245 if year <= 1985 else 243 if year <= 1987 else 263
    return FixedWidth(_fields(MEMBER, _MEMBERS_1989 if year == 1989 else _MEMBERS), width)


def purchase_layout(year: int, quarter: int) -> FixedWidth:
    """Return the layout of a quarter's purchases (EXPD)."""
    # The fourth quarter of 1986 was issued in lines of 80 characters.
    padded = 80 if (year, quarter) == (1986, 4) else None
    return FixedWidth(_fields(PURCHASE, _PURCHASES), 40 if year <= 1985 else 38, padded)


STUDIES: Mapping[int, tuple[int, ...]] = MappingProxyType(
    {8599: (1982, 1983), 8628: (1984,), 8905: (1985,), 9114: (1986,), 9333: (1987,), 9570: (1988,), 9714: (1989,)}
)
"""Survey years of each ICPSR study."""


def study_archive(study: int) -> str:
    """Return the name of a study's archive."""
    return f"ICPSR_{study:05d}-V1.zip"


def study_member(study: int, part: int) -> str:
    """Return the path of a data file in a study's archive."""
    return f"ICPSR_{study:05d}/DS{part:04d}/{study:05d}-{part:04d}-Data.txt"


def study_parts(study: int) -> Iterator[tuple[int, int, dict[str, int]]]:
    """Yield year, quarter and the part of each kind of file: in turn FMLY, MEMB, EXPD and, since 1986, DTBD."""
    part = 1
    for year in STUDIES[study]:
        kinds = ("FMLY", "MEMB", "EXPD") if year <= 1985 else ("FMLY", "MEMB", "EXPD", "DTBD")
        for quarter in range(1, 5):
            yield year, quarter, {kind: part + place for place, kind in enumerate(kinds)}
            part += len(kinds)


def csv_names(year: int, kind: str) -> dict[str, tuple[str, ...]]:
    """Return the columns of a year's csv file that may hold each field, the first that is there being read.

    From 2004 on incomes are those with imputed amounts (the names with an M).
    """
    fields = {"fmld": FAMILY, "memd": MEMBER, "expd": PURCHASE}[kind]
    names: dict[str, tuple[str, ...]] = {name: (name,) for name in fields}
    if year >= 2004 and kind != "expd":
        for name in ("FINCBEFX", "FSS_RRX", "FSUPPX", "SS_RRX", "SUPPX"):
            if name in names:
                names[name] = (f"{name}M" if not name.startswith("FINC") else "FINCBEFM", name)
        if kind == "fmld":
            names["PICK_UP"] = ("PICKCODE", "PICK_UP")
    return names


def may_lack(year: int, kind: str) -> frozenset[str]:
    """Return the fields that a year's csv file need not have."""
    if kind == "fmld":
        # Later files say the month of the week's start only, and do not tell complete incomes.
        return frozenset() if year < 2004 else frozenset({"RESPSTAT", "INCLASS", "STRTDAY"})
    if kind == "memd":
        return frozenset() if year < 2004 else frozenset({"ANYRAIL", "ANYSSINC", "US_SUPP", "SS_RRX", "SUPPX"})
    return frozenset() if year <= LAST_YEAR else frozenset({"QREDATE"})
