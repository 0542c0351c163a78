"""The files of PSID-SHELF: variables, codes and waves."""

from __future__ import annotations

from hbench.core import RawFile

_ORIGIN = "https://doi.org/10.3886/E194322V2 (openICPSR 194322, PSID-SHELF, V2)"
_TERMS = "PSID conditions of use; registration; no redistribution"
LONG = RawFile(
    "micro/psid-shelf/PSIDSHELF_1968_2021_LONG_7.9_GB.zip",
    _ORIGIN,
    _TERMS,
    sha256="7652ba12900813dd094e9b7b2901f7f62ee31753810c48f8252ac5137b590b00",
)
MAIN_STUDY = RawFile(
    "micro/psid-shelf/Construction_Files/Data/PSID_COMPLETE_MAIN_STUDY_1968_2021_FULL_10.8_GB.zip",
    _ORIGIN,
    _TERMS,
    sha256="1899f878d44ac766d57430edcbc4e053bb54c9056ff75df7d6f87f5f5793548b",
)
LIMIT = 32 << 30
"""Bytes to which either file may expand; they are read as streams."""
WAVES = (*range(1968, 1998), *range(1999, 2022, 2))
"""Survey years: every year, and every second one from 1999 on."""
EVENT_WAVES = tuple(range(1968, 1993))
"""Waves in which people were asked why they lost a job."""

_NO_PARTNER = "No, reference person has no spouse or partner in the family unit"
_PARTNER = "Yes, reference person has a spouse or partner in the family unit"
_NOT_MARRIED = "No, reference person is not legally married to a spouse in the family unit"
_MARRIED = "Yes, reference person is legally married to a spouse in the family unit"
LABELS: dict[str, dict[int, str]] = {
    "demo_sex": {1: "Male", 2: "Female"},
    "race_eth_maj_col": {1: "White", 2: "Black", 3: "Other race", 4: "Hispanic"},
    "geo_region": {
        1: "Northeast",
        2: "Midwest",
        3: "South",
        4: "West",
        5: "Alaska or Hawaii",
        6: "Country outside the United States",
    },
    "geo_metro": {0: "No, non-metropolitan area", 1: "Yes, metropolitan area", 9: "N/A, not classified"},
    "edu_level_max": {
        0: "Did not complete high school",
        1: "Completed high school, did not attend college",
        2: "Attended college, no bachelor's degree",
        3: "Bachelor's degree, no postgraduate degree",
        4: "Postgraduate degree",
    },
    "emp_work": {0: "Not currently working", 1: "Currently working"},
    "home_stat": {1: "Owns home", 2: "Pays rent", 3: "Neither owns home nor pays rent"},
    "fam_partnered": {0: _NO_PARTNER, 1: _PARTNER},
    "fam_married": {0: _NOT_MARRIED, 1: _MARRIED},
}
"""Labels by variable and code. A code without a label stops the build."""

OCCUPATIONS = {
    "occ_2010c_1m": ((10, 3540), (3600, 5940), (6000, 7630), (7700, 9750), (9800, 9830)),
    "occ_2000c_1m": ((10, 354), (360, 593), (600, 762), (770, 975), (980, 983)),
    "occ_1970c": ((1, 245), (250, 395), (401, 444), (500, 785), (980, 983), (801, 846), (901, 965)),
}
"""Ranges of codes by system, the newest first, in the order of `OCCUPATION_GROUPS`."""
OCCUPATION_GROUPS = (
    "Professional or managerial occupation",
    "Sales, office, or service occupation",
    "Farming, construction, or repair occupation",
    "Production, transport, or labor occupation",
    "Military or other occupation",
    # Of the codes of 1970 only: farmers and farm labour, then services.
    "Farming, construction, or repair occupation",
    "Sales, office, or service occupation",
)

_WEALTH = tuple(f"wlth_{kind}_net" for kind in ("tot", "savi", "inve", "home", "odeb"))
NUMBERS = (
    *("demo_age_gen", "edu_year", "edu_year_max", "earn_tot_nd", "finc_tot_nd", "finc_tot_rd", "fam_size"),
    *("fam_size_chi", *(f"{name}_nd" for name in _WEALTH), *(f"{name}_rd" for name in _WEALTH)),
)
KEYS = ("id", "year", "fuid", "rel", "response", "panel_current", "sampstat", "lineage")
VARIABLES = (*KEYS, *NUMBERS, *LABELS, *OCCUPATIONS)
"""What is read of the long file, in lower case; the file's own names are in upper case."""
FAMILY_COLUMNS = (
    *("id", "year", "survey_date", "release_date", "release_date_source", "demo_age_gen", "demo_sex"),
    *("race_eth_maj_col", "geo_region", "geo_metro", "fam_partnered", "fam_married", "fam_size", "fam_size_chi"),
    *("home_stat", "finc_tot_nd", "finc_tot_rd", *(f"{name}_{kind}" for name in _WEALTH for kind in ("nd", "rd"))),
)
PERSON_COLUMNS = (
    *("id", "year", "survey_date", "release_date", "release_date_source", "demo_age_gen", "demo_sex"),
    *("race_eth_maj_col", "geo_region", "geo_metro", "fam_partnered", "fam_size", "fam_size_chi", "earn_tot_nd"),
    *("finc_tot_nd", "emp_work", "occ_major_harmonized", "edu_year_max", "edu_level_max"),
)
MEMBER_COLUMNS = (
    *("id", "year", "fuid", "rel", "subsample", "release_date", "demo_age_gen", "demo_sex", "race_eth_maj_col"),
    *("geo_region", "edu_year", "emp_work", "earn_tot_nd", "finc_tot_nd", "fam_size", "fam_size_chi", "home_stat"),
    "fam_partnered",
)
SUBSAMPLES = (
    # lowest and highest number of the family that a person descends from
    ("src", 1, 2930),
    ("immigrant_1997_1999", 3001, 3511),
    ("immigrant_2017_2019", 4001, 4851),
    ("seo", 5001, 6872),
    ("latino", 7001, 9308),
)
