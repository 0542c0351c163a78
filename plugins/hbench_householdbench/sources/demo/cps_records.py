"""The records that synthetic people of `cps_people` leave in the CPS, in the codes of IPUMS."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from hbench_householdbench.sources.demo.cps_people import (
    DISABLED,
    EMPLOYED,
    LASTING,
    OTHER,
    RETIRED,
    UNEMPLOYED,
    Fault,
    Ints,
    People,
)

Columns = dict[str, npt.NDArray[np.generic]]

_REGIONS = {
    11: (9, 23, 25, 33, 44, 50),
    12: (34, 36, 42),
    21: (17, 18, 26, 39, 55),
    22: (19, 20, 27, 29, 31, 38, 46),
    31: (10, 11, 12, 13, 24, 37, 45, 51, 54),
    32: (1, 21, 28, 47),
    33: (5, 22, 40, 48),
    41: (4, 8, 16, 30, 32, 35, 49, 56),
    42: (2, 6, 15, 41, 53),
}
_JOBS = (
    # CLASSWKR, OCC (Census, 2002 on), OCC2010, IND (Census, 2002 on), IND1990
    (22, 20, 20, 7270, 890),
    (22, 4700, 4700, 4970, 601),
    (22, 4760, 4760, 5390, 591),
    (22, 5700, 5700, 8190, 831),
    (28, 2310, 2310, 7860, 842),
    (27, 2200, 2200, 7870, 850),
    (22, 3130, 3130, 8190, 831),
    (23, 2010, 2010, 8370, 871),
    (25, 5550, 5550, 6370, 412),
    (22, 6230, 6230, 770, 60),
    (13, 6260, 6260, 770, 60),
    (22, 7750, 7750, 3570, 351),
    (22, 9130, 9130, 6170, 410),
    (22, 9620, 9620, 4580, 571),
    (22, 4020, 4000, 8680, 641),
    (22, 4220, 4220, 7690, 722),
    (28, 3850, 3820, 9470, 910),
    (14, 1020, 1020, 7380, 732),
    (22, 800, 800, 7280, 890),
    (13, 6050, 6050, 170, 10),
    (29, 6050, 6050, 180, 11),
    (22, 4600, 4600, 8470, 862),
    (22, 3600, 3600, 8270, 832),
    (22, 1550, 1550, 7290, 882),
    (22, 8965, 8965, 1280, 120),
    (22, 7200, 7200, 8770, 751),
)
_FAMINC = (100, 210, 300, 430, 470, 500, 600, 710, 720, 730, 740, 820, 830, 841, 842, 843, 995, 999)
_HISPAN = (0, 100, 200, 300, 400, 500, 611, 902)
_HISPANIC = (0.83, 0.08, 0.03, 0.01, 0.01, 0.02, 0.01, 0.01)
_STRIDE = 0.6180339887498949


def records(people: People, who: Ints, interview: Ints) -> Columns:
    """Return the variables of some records as codes, each (records,); -1 (of floats: NaN) stands for a blank.

    Parameters
    ----------
    people : People
        All of them.
    who, interview : (records,)
        Rows of `people`, and interviews from 0 to 7.
    """

    def draw(name: str, *, again: bool = True) -> npt.NDArray[np.float64]:
        """Return a uniform number a record: another one in every interview, or a lasting trait of the person."""
        once = people.draws(name)[who]
        return np.asarray((once + _STRIDE * interview) % 1 if again else once)

    def lasting(name: str, values: tuple[int, ...], shares: tuple[float, ...] | None = None) -> Ints:
        cuts = np.cumsum(shares if shares else np.full(len(values), 1 / len(values)))[:-1]
        return np.array(values)[np.searchsorted(cuts, draw(name, again=False), side="right")]

    month = people.entry[who] + np.array([0, 1, 2, 3, 12, 13, 14, 15])[interview]
    fault = people.fault[who, interview]
    activity, weeks = people.activity[who, interview], people.weeks[who, interview]
    true_age = people.age[who, interview]
    adult = true_age >= 15
    works, searches = adult & (activity == EMPLOYED), adult & (activity == UNEMPLOYED)
    rests = adult & ~works & ~searches
    size = np.bincount(people.household)[people.household[who]]
    parents = np.bincount(people.household, people.partner > 0)[people.household[who]] > 0
    children = np.bincount(people.household, people.child).astype(np.int64)[people.household[who]]
    child = people.child[who]
    married = people.partner[who] > 0
    cohabits = married & (people.draws("cohabits")[people.household[who] % len(people)] < 0.12)
    job = np.array(_JOBS)[(draw("job", again=False) * len(_JOBS)).astype(int)]
    had_job = works | (searches & (draw("experienced") < 0.92))
    reason = np.searchsorted([0.25, 0.55, 0.7, 0.8], draw("reason"), side="right") + 1
    reason = np.where(had_job, reason, 6)
    layoff = searches & (reason == 1)
    soldier = works & (true_age < 45) & (draw("soldier", again=False) < 0.006)
    away = works & (draw("away") < 0.04)
    outgoing = works & np.isin(interview, (3, 7))
    foreign = lasting("foreign", (0, 1), (0.87, 0.13)) == 1
    pay = np.round(np.exp(6.4 + 0.25 * people.schooling[who] + 0.6 * _normal(draw("pay"))), 2)
    mish = interview + 1 + np.where(fault == Fault.WRONG_ROTATION, np.where(interview == 7, -1, 1), 0)
    reused = fault == Fault.REUSED
    woman = people.woman[who] ^ (fault == Fault.SEX) ^ reused
    age = true_age + np.where(fault == Fault.AGE, 7, 0) + np.where(reused, 23, 0)
    cpsidp = np.where(fault == Fault.NO_ID, 0, people.cpsidp[who])
    validated = people.cpsidp[who] * 10 + np.where(fault == Fault.VALIDATED, 2, 1)
    not_validated = (people.draws("validated")[who] < 0.08) & ~np.isin(people.fault[who], LASTING).any(axis=1)
    asked = month >= 12 * 1994
    hours = np.where(job[:, 0] == 29, 20, 25 + (draw("hours", again=False) * 30).astype(int))
    columns: Columns = {
        "YEAR": month // 12,
        "SERIAL": people.household[who] + 1,
        "MONTH": month % 12 + 1,
        "MISH": mish,
        "REGION": np.array([_REGION_OF.get(n, 97) for n in range(100)])[people.state[who]],
        "STATEFIP": people.state[who],
        "METRO": np.array([1, 2, 3, 4, 0])[
            np.searchsorted([0.2, 0.5, 0.8, 0.98], people.draws("metro")[people.household[who]], side="right")
        ],
        "FAMINC": np.array(_FAMINC)[(people.draws("income")[people.household[who]] * len(_FAMINC)).astype(int)],
        "PERNUM": people.line[who],
        "WTFINL": np.round(800 + 2400 * draw("weight"), 4),
        "CPSIDP": cpsidp,
        "CPSIDV": np.where(fault == Fault.NO_ID, 0, np.where(not_validated, -1, validated)),
        "RELATE": np.where(people.line[who] == 1, 101, np.where(child, 301, np.where(cohabits, 1114, 201))),
        "AGE": age,
        "SEX": np.where(woman, 2, 1),
        "RACE": np.where(fault == Fault.RACE, np.where(people.race[who] == 100, 200, 100), people.race[who]),
        "MARST": np.where(married & ~cohabits, 1, np.where(child | cohabits, 6, lasting("alone", (3, 4, 5, 6)))),
        "VETSTAT": np.where(true_age < 17, 0, lasting("veteran", (1, 2), (0.9, 0.1))),
        "FAMSIZE": size,
        "NCHILD": np.where(child, 0, np.where(parents | (people.line[who] == 1), children, 0)),
        "HISPAN": lasting("hispanic", _HISPAN, _HISPANIC),
        "NATIVITY": np.where(asked, np.where(foreign, 5, lasting("parents", (1, 2, 3, 4))), -1),
        "CITIZEN": np.where(asked, np.where(foreign, lasting("citizen", (4, 5)), 1), -1),
        "EDUC": np.where(adult, np.array([50, 73, 81, 111, 123])[people.schooling[who]], 1),
        "SPLOC": np.where(married & (people.draws("lost partner")[who] < 0.002), 30, people.partner[who]),
        "EMPSTAT": _employment_status(activity, adult, soldier, away, had_job),
        "LABFORCE": np.where(~adult | soldier, 0, np.where(works | searches, 2, 1)),
        "NILFACT": np.where(rests & (activity == OTHER), lasting("occupied", (1, 2, 3, 4, 6)), 99),
        "CLASSWKR": np.where(soldier, 26, np.where(had_job, job[:, 0], 0)),
        "WKSTAT": np.where(searches, lasting("seeks", (50, 60), (0.8, 0.2)), np.where(works, 11, 99)),
        "DURUNEMP": np.where(searches, weeks, 999),
        "WHYUNEMP": np.where(searches, reason, 0),
        "WNFTLOOK": np.where(searches & ~layoff, lasting("last full-time", (10, 11, 12, 20, 30, 40, 41, 42)), 0),
        "AHRSWORKT": np.where(
            works & ~away & ~soldier, np.clip(hours + (draw("last week") * 9).astype(int), 1, 99), 999
        ),
        "UHRSWORKT": np.where(works & ~soldier, np.where(draw("varies") < 0.06, 997, hours), 999),
        "MULTJOB": np.where(works & asked, lasting("second job", (1, 2), (0.94, 0.06)), 0),
        "UNION": np.where(outgoing, lasting("union", (1, 2, 3), (0.87, 0.11, 0.02)), 0),
        "EARNWEEK": np.where(outgoing & (job[:, 0] >= 20) & (job[:, 0] < 29), np.minimum(pay, 2884.61), 9999.99),
        "DIFFANY": np.where(month >= 12 * 2008 + 5, lasting("difficulty", (1, 2), (0.88, 0.12)) * adult, -1),
        "OCC": np.where(had_job, job[:, 1], 0),
        "OCC2010": np.where(had_job, job[:, 2], 9999),
        "IND": np.where(had_job, job[:, 3], 0),
        "IND1990": np.where(had_job, job[:, 4], 0),
    }
    return _repeated(columns, fault == Fault.REPEATED)


_REGION_OF = {state: region for region, states in _REGIONS.items() for state in states}


def _employment_status(
    activity: Ints,
    adult: npt.NDArray[np.bool_],
    soldier: npt.NDArray[np.bool_],
    away: npt.NDArray[np.bool_],
    had_job: npt.NDArray[np.bool_],
) -> Ints:
    """Return EMPSTAT."""
    codes: Mapping[int, Ints | int] = {
        EMPLOYED: np.where(soldier, 1, np.where(away, 12, 10)),
        UNEMPLOYED: np.where(had_job, 21, 22),
        RETIRED: 36,
        DISABLED: 32,
        OTHER: 34,
    }
    return np.where(adult, np.select([activity == key for key in codes], list(codes.values())), 0)


def _repeated(columns: Columns, again: npt.NDArray[np.bool_]) -> Columns:
    """Append second records under the same number, for another line of the household."""
    second = {name: values[again] for name, values in columns.items()}
    second["PERNUM"] = second["PERNUM"] + 40
    second["SPLOC"] = np.zeros_like(second["SPLOC"])
    return {name: np.concatenate([values, second[name]]) for name, values in columns.items()}


def _normal(u: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return about normal numbers of uniform ones (by the logistic distribution)."""
    u = np.clip(u, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(u / (1 - u)) / 1.702)
