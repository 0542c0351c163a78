"""What synthetic people of `cps_people` say in the Displaced Worker Supplement, in the codes of IPUMS.

Pay on the lost job rises with schooling, tenure and the years; the new job pays less the longer the old one lasted, and
the longer the search took. Losses are about twice as common as in truth, so that few people give enough of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hbench_householdbench.sources.demo.cps_people import DISABLED, EMPLOYED, RETIRED, UNEMPLOYED, Floats, Ints, People
from hbench_householdbench.sources.demo.cps_records import Columns
from hbench_householdbench.sources.dws_codes import NUMBERS, TYPES

SUPPLEMENTS = (*(12 * year + 1 for year in range(1994, 2001, 2)), *(12 * year for year in range(2002, 2025, 2)))
"""Months of the supplement, as ``12 * year + month - 1``: February until 2000, then January."""
_SECOND_RECORD = 40
_RATES = {EMPLOYED: 0.1, UNEMPLOYED: 0.4, RETIRED: 0.06, DISABLED: 0.08}
_OTHERWISE = 0.12
"""Shares that lost a job within three years, by what they do now."""
_NOT_ASKED = {1994: "DWWKSUN", 2024: "DWJOBSINCE"}
"""Questions that were left out: without them there is no record of earnings from these years."""
_IN_UNIVERSE_WITHOUT_ANSWER = 98


def displaced_columns(people: People, columns: Columns) -> Columns:
    """Return the supplement's variables of some records; -1 (of amounts: NaN) stands for a blank.

    Those under 20 are not eligible; second records under one number, and records without a number, are not interviewed.
    """
    columns_of = {name: columns[name].astype(np.int64) for name in ("YEAR", "MONTH", "SERIAL", "PERNUM", "CPSIDP")}
    at = 12 * columns_of["YEAR"] + columns_of["MONTH"] - 1
    asked = np.isin(at, SUPPLEMENTS)
    line = columns_of["PERNUM"]
    first = np.searchsorted(people.household, columns_of["SERIAL"] - 1)
    who = first + np.where(line > _SECOND_RECORD, line - _SECOND_RECORD, line) - 1
    interview = _interview(at - people.entry[who])
    eligible = people.age[who, interview] >= 20
    there = (line <= _SECOND_RECORD) & (columns_of["CPSIDP"] > 0) & (people.draws("supplement")[who] < 0.94)
    response = np.where(~eligible, 0, np.where(there, 2, 1))
    now = people.activity[who, interview]
    rate = np.select([now == activity for activity in _RATES], list(_RATES.values()), _OTHERWISE)
    rate = rate * (1.2 - 0.1 * people.schooling[who])
    lost = (response == 2) & (people.draws("displaced")[who] < rate)
    answers = _answers(people, who, now == EMPLOYED, columns_of["YEAR"])
    made: Columns = {
        "DWRESP": response,
        "DWSTAT": np.where(response == 2, lost.astype(np.int64), 99),
        "DWLOSTJOB": np.where(response == 2, lost + 1, 99),
    }
    for name, dtype in TYPES.items():
        if name not in made:
            none = NUMBERS[name][3][-1] if name in NUMBERS else 99
            made[name] = np.where(lost, answers[name], none)
        made[name] = np.where(asked, made[name], np.nan if dtype == "Float64" else -1)
    return made


def _interview(months: Ints) -> Ints:
    """Return the interview, from 0, that lies some months after the first."""
    return np.where(months >= 12, months - 8, months)


def _answers(people: People, who: Ints, works: npt.NDArray[np.bool_], year: Ints) -> dict[str, npt.NDArray[np.generic]]:
    def draw(name: str) -> Floats:
        return people.draws(f"displaced {name}")[who]

    def choice(name: str, codes: tuple[int, ...], shares: tuple[float, ...]) -> Ints:
        answers = np.array(codes)[np.searchsorted(np.cumsum(shares)[:-1], draw(name), side="right")]
        return np.where(draw(f"{name} untold") < 0.03, _IN_UNIVERSE_WITHOUT_ANSWER, answers)

    def normal(name: str) -> Floats:
        u = np.clip(draw(name), 1e-4, 1 - 1e-4)
        return np.asarray(np.log(u / (1 - u)) / 1.702)

    tenure = np.round(-5.0 * np.log(np.clip(draw("tenure"), 1e-3, 1)), 2)
    weeks = np.minimum(150, np.floor(-14 * np.log(np.clip(draw("weeks"), 1e-3, 1)))).astype(np.int64)
    before = np.exp(5.7 + 0.22 * people.schooling[who] + 0.015 * tenure + 0.03 * (year - 1994) + 0.45 * normal("pay"))
    before = np.minimum(before, 9000)
    after = before * np.exp(-0.03 - 0.008 * tenure - 0.003 * weeks + 0.3 * normal("new pay"))
    # Some are paid by commission or in kind, and some do not say.
    answers: dict[str, npt.NDArray[np.generic]] = {
        "DWYEARS": np.where(draw("tenure untold") < 0.03, 99.98, tenure),
        "DWWEEKL": np.where(draw("pay untold") < 0.06, 9999.98, np.round(before, 2)),
        "DWWEEKC": np.where(~works | (draw("new pay untold") < 0.08), 9999.99, np.round(np.minimum(after, 9000), 2)),
        "DWJOBSINCE": np.where(works, 1 + (draw("jobs") < 0.3) + (draw("more jobs") < 0.08), draw("jobs") < 0.2),
        "DWWKSUN": np.where(draw("at once") < 0.15, 0, weeks),
        "DWREAS": choice("reason", (1, 2, 3, 4, 5, 6), (0.42, 0.27, 0.23, 0.03, 0.02, 0.03)),
        "DWRECALL": choice("recall", (1, 2), (0.93, 0.07)),
        "DWNOTICE": choice("notice", (1, 2, 3, 4, 5), (0.6, 0.14, 0.14, 0.1, 0.02)),
        "DWLASTWRK": choice("when", (0, 1, 2, 3, 95), (0.06, 0.4, 0.3, 0.22, 0.02)),
        "DWFULLTIME": choice("full time", (1, 2, 3), (0.16, 0.81, 0.03)),
        "DWUNION": choice("union", (1, 2), (0.88, 0.12)),
        "DWBEN": choice("benefits", (1, 2), (0.55, 0.45)),
        "DWEXBEN": choice("exhausted", (1, 2), (0.6, 0.4)),
        "DWHI": choice("insurance", (1, 2), (0.42, 0.58)),
        "DWCLASS": choice("class", (1, 2, 3, 4, 5), (0.06, 0.87, 0.05, 0.015, 0.005)),
        "DWMOVE": choice("moved", (1, 2, 3), (0.85, 0.08, 0.07)),
        "DWHINOW": choice("insured now", (1, 2), (0.35, 0.65)),
    }
    for at, name in _NOT_ASKED.items():
        answers[name] = np.where(year == at, NUMBERS[name][3][-1], answers[name])
    return answers
