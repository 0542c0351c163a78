"""Synthetic files of PSID-SHELF in the official layout: Stata files with labels, in archives.

The long file has a record for every person and wave, most of them empty; the file of all waves has one for every
person. Families with two reference persons, partners who have moved out, top-coded and guessed figures, extended
missing values and earnings of 9,999,999 are planted.
"""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hbench_householdbench.sources.demo.psid_families import study
from hbench_householdbench.sources.demo.psid_people import Interview, Person, Study, price
from hbench_householdbench.sources.psid_layout import LABELS, LONG, MAIN_STUDY, VARIABLES, WAVES
from hbench_householdbench.sources.psid_questions import FOOD, HOURS, REASONS, variables
from hbench_householdbench.sources.releases import PSID_RELEASES

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

_STAMP = (1980, 1, 1, 0, 0, 0)
_WRITTEN = datetime(2025, 2, 24)
_WEALTH_WAVES = (1984, 1989, 1994, *range(1999, 2022, 2))
_UNREAD = ("FW", "EARN_TOT_NDF")
"""Variables of the file that no task reads."""
_OCCUPATION_CODES = {
    "occ_1970c": (120, 300, 410, 600, 982),
    "occ_2000c_1m": (120, 400, 650, 800, 981),
    "occ_2010c_1m": (800, 4500, 6500, 8000, 9810),
}
AMBIGUOUS = 97
"""Of this many families of the waves of events, one has two reference persons."""


def write_long(raw: Path, *, seed: int, scale: float) -> Study:
    """Write the long file and the release dates; return what happened."""
    some = study(seed, scale)
    columns = {name: np.full((len(some.people), len(WAVES)), np.nan) for name in VARIABLES}
    row = {person.id: place for place, person in enumerate(some.people)}
    for place, person in enumerate(some.people):
        for name, value in _lasting(person).items():
            columns[name][place] = value
    columns["year"][:] = WAVES
    columns["response"][:] = 1
    columns["panel_current"][:] = 0
    for number, interview in enumerate(some.interviews):
        at = WAVES.index(interview.wave)
        ambiguous = is_ambiguous(number, interview)
        for person, *_ in interview.people:
            for name, value in _record(interview, person, ambiguous).items():
                columns[name][row[person.id], at] = value
        for person in interview.left:
            # Who moved out is listed with the family once more, as no current member.
            if np.isnan(columns["fuid"][row[person.id], at]):
                columns["fuid"][row[person.id], at] = interview.fuid
                columns["rel"][row[person.id], at] = 2
    flat = {name.upper(): values.reshape(-1) for name, values in columns.items()}
    flat["SAMPSTAT"][::4_001] = np.nan
    flat |= {name: np.ones(len(flat["ID"])) for name in _UNREAD}
    labels = {name.upper(): table for name, table in LABELS.items()}
    _pack(raw / LONG.path, "PSIDSHELF_1968_2021_LONG.dta", _stata(flat, labels, version=118))
    write_releases(raw)
    return some


def write_main_study(raw: Path, *, seed: int, scale: float) -> Study:
    """Write the file of all waves; return what happened."""
    some = study(seed, scale)
    row = {person.id: place for place, person in enumerate(some.people)}
    columns = {name: np.full(len(some.people), np.nan) for name in variables()}
    for number, interview in enumerate(some.interviews):
        if interview.wave not in HOURS["rp"]:
            continue
        places = [row[person.id] for person, *_ in interview.people]
        for name, value in _answers(interview, number).items():
            columns[name][places] = value
    flat = {"ID": np.array([person.id for person in some.people], dtype=np.float64), "V3": np.ones(len(some.people))}
    data = _stata({**flat, **columns}, {}, version=119)
    _pack(raw / MAIN_STUDY.path, "PSID_COMPLETE_MAIN_STUDY_1968_2021_FULL.dta", data)
    return some


def is_ambiguous(number: int, interview: Interview) -> bool:
    """Return whether the record of a family is spoilt: its first child counts as a second reference person."""
    return number % AMBIGUOUS == 5 and any(rel == 3 for _, rel, *_ in interview.people)


def write_releases(raw: Path) -> None:
    """Write ``release_psid.csv``: the last day of the survey year, and June 2023 for the wave of 2021."""
    lines = ["wave,release_date,source,source_url,comments"]
    for wave in WAVES:
        date = f"{wave}-12-31" if wave < 2021 else "2023-06-30"
        lines.append(f"{wave},{date},Last day of the survey year,https://psidonline.isr.umich.edu/,synthetic")
    path = raw / PSID_RELEASES.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _lasting(person: Person) -> dict[str, float]:
    """Return what does not change."""
    level = 0 if person.school < 12 else 1 if person.school == 12 else 2 if person.school < 16 else person.school - 13
    return {
        "id": person.id,
        "lineage": person.lineage,
        "sampstat": person.sample,
        "demo_sex": person.sex,
        "race_eth_maj_col": person.race,
        "edu_year_max": person.school,
        "edu_level_max": level,
    }


def _record(interview: Interview, person: Person, ambiguous: bool) -> dict[str, float]:
    """Return a member's record of one wave."""
    wave, facts = interview.wave, interview.family
    rels = {who.id: (rel, earned, works) for who, rel, _, earned, _, works in interview.people}
    rel, earned, works = rels[person.id]
    children = [who for who, role, *_ in interview.people if role == 3]
    record: dict[str, float] = {
        "fuid": interview.fuid,
        "rel": 1 if ambiguous and person is children[0] else rel,
        "response": 0,
        "panel_current": 1,
        "demo_age_gen": wave - person.born,
        "geo_region": facts["region"],
        "geo_metro": 9 if (person.lineage + wave) % 83 == 0 else facts["metro"],
        "home_stat": facts["home"],
        "fam_size": len(interview.people),
        "fam_size_chi": sum(wave - child.born < 18 for child in children),
        "fam_partnered": any(role == 2 for _, role, *_ in interview.people),
        "fam_married": facts["married"],
    }
    amounts = {"finc_tot": facts["income"]}
    if wave in _WEALTH_WAVES:
        parts = {"savi": facts["savings"], "inve": facts["investments"], "home": facts["equity"], "odeb": facts["debt"]}
        total = parts["savi"] + parts["inve"] + parts["home"] - parts["odeb"] + round(0.25 * facts["income"])
        amounts |= {f"wlth_{name}_net": value for name, value in {**parts, "tot": total}.items()}
    for name, value in amounts.items():
        record[f"{name}_nd"] = value
        record[f"{name}_rd"] = round(value * price(2021) / price(wave))
    if rel < 3:
        # The code of earnings that nobody knows, in the first waves.
        record["earn_tot_nd"] = 9_999_999 if wave < 1975 and (person.id + wave) % 211 == 0 else earned
        record["emp_work"] = works
        if wave != 1970:
            record["edu_year"] = min(person.school, wave - person.born - 6)
        system = "occ_1970c" if wave < 2003 else "occ_2000c_1m" if wave < 2017 else "occ_2010c_1m"
        if works:
            record[system] = _OCCUPATION_CODES[system][person.occupation]
    if (person.id + 3 * wave) % 127 == 0:
        record.pop("geo_region")
    return record


def _answers(interview: Interview, number: int) -> dict[str, float]:
    """Return a family's variables of one wave, the same for all its members."""
    wave = interview.wave
    answers: dict[str, float] = {}
    adults = {"rp" if rel == 1 else "sp": one for one in interview.people if (rel := one[1]) < 3}
    for role, waves in REASONS.items():
        if wave not in waves:
            continue
        employed, unemployed = waves[wave]
        answers |= {employed: 0.0, unemployed: 0.0}
        if role in adults:
            _, _, hours, _, lost, works = adults[role]
            # Some left by themselves, and a few do not say.
            other = {0: 4.0, 1: 9.0}.get((number + wave) % 17, 0.0) if hours else 0.0
            answers[employed if works else unemployed] = float(lost) or other
    for place, role in enumerate(("rp", "sp")):
        question = HOURS[role][wave]
        hours = adults[role][2] if role in adults else 0
        answers[question.value] = 9_999 if (number + place) % 301 == 7 else hours
        answers[question.accuracy] = {0: 1, 1: 2, 2: 3}.get((number + 7 * place) % 53, 0)
    if wave in FOOD:
        home, away = FOOD[wave]
        answers[home.value] = (
            interview.family["food_home"] if number % 211 != 3 else (99_999 if wave >= 1983 else 9_999)
        )
        answers[home.accuracy] = {0: 1, 1: 9}.get(number % 61, 0)
        answers[away.value] = min(interview.family["food_away"], 9_999)
        answers[away.accuracy] = {0: 2}.get(number % 67, 0)
    return answers


def _stata(columns: dict[str, Floats], labels: dict[str, dict[int, str]], *, version: Literal[118, 119]) -> bytes:
    import pandas as pd

    frame = pd.DataFrame({name: _narrow(values) for name, values in columns.items()})
    frame["RELEASE_NOTE"] = "synthetic"
    stream = io.BytesIO()
    frame.to_stata(
        stream,
        version=version,
        write_index=False,
        time_stamp=_WRITTEN,
        data_label="Synthetic data in the layout of PSID-SHELF",
        value_labels={name: {float(code): label for code, label in table.items()} for name, table in labels.items()},
        variable_labels={"ID": "Permanent individual identifier"},
    )
    return stream.getvalue()


def _narrow(values: Floats) -> pd.Series[Any]:
    """Return values in the smallest whole-number type of Stata's that holds them; missing values stay missing."""
    import pandas as pd

    there = values[~np.isnan(values)]
    most = float(np.abs(there).max()) if len(there) else 0.0
    kind: Any = "Int8" if most <= 100 else "Int16" if most <= 32_740 else "Int32"
    return pd.Series(values).astype(kind)


def _pack(path: Path, name: str, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name, _STAMP), data, zipfile.ZIP_DEFLATED, 1)
