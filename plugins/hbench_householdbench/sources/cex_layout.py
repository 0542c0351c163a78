"""Columns of the CEX Interview's household files, whose names changed over the years."""

from __future__ import annotations

KEYS = ("NEWID", "QINTRVYR", "QINTRVMO")
FACTS: dict[str, tuple[str, ...]] = {
    "interi": ("INTERI",),
    "weight": ("FINLWT21", "FINLWT"),
    "fam_size": ("FAM_SIZE",),
    "fam_type": ("FAM_TYPE",),
    "n_kids": ("PERSLT18",),
    "age_ref": ("AGE_REF",),
    "age2": ("AGE2",),
    "sex_ref": ("SEX_REF",),
    "sex2": ("SEX2",),
    "marital1": ("MARITAL1",),
    "tenure": ("CUTENURE",),
    "race_ref": ("REF_RACE",),
    "race2": ("RACE2",),
    "educ_ref": ("EDUC_REF", "EDUC0REF"),
    "educ2": ("EDUCA2",),
    "region": ("REGION",),
    "bls_urbn": ("BLS_URBN",),
    "income_before_tax": ("FINCBTXM", "FINCBTAX"),
    "salary": ("FSALARYM", "FSALARYX"),
}
"""Official columns by ours: the first that a file has counts."""
OPTIONAL = ("interi", "fam_type", "age2", "sex2", "race2", "educ2", "salary")
"""What no task needs, or what the layouts of some years do not have."""

SPENDING: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "total": (("TOTEXPCQ", "ZTOTAL"), ("TOTEXPPQ",)),
    "food": (("FOODCQ", "ZFOODTOT"), ("FOODPQ",)),
    "grocery": (("GROCERCQ",), ("GROCERPQ",)),
    "food_away": (("FDAWAYCQ", "TFOODTOC"), ("FDAWAYPQ", "TFOODTOP")),
    "housing": (("HOUSCQ", "ZHOUSING"), ("HOUSPQ",)),
    "transport": (("TRANSCQ", "ZTRANPRT"), ("TRANSPQ",)),
    "health": (("HEALTHCQ", "ZHEALTH"), ("HEALTHPQ",)),
    "education": (("EDUCACQ", "ZEDUCATN"), ("EDUCAPQ",)),
    "apparel": (("APPARCQ", "ZAPPAREL"), ("APPARPQ",)),
    "entertainment": (("ENTERTCQ", "ZENTRMNT"), ("ENTERTPQ",)),
    "personal_care": (("PERSCACQ", "ZPERCARE"), ("PERSCAPQ",)),
    "cash_contributions": (("CASHCOCQ", "ZCASHCTB"), ("CASHCOPQ",)),
    "life_insurance": (("LIFINSCQ", "ZLIFOTHR"), ("LIFINSPQ",)),
    "retirement": (("RETPENCQ", "ZRETIRES"), ("RETPENPQ",)),
    "utilities": (("UTILCQ", "ZUTILSPS"), ("UTILPQ",)),
    "alcohol": (("ALCBEVCQ", "ZALCBEVS"), ("ALCBEVPQ",)),
    "tobacco": (("TOBACCCQ", "ZTOBACCO"), ("TOBACCPQ",)),
    "household_operations": (("HOUSOPCQ", "ZHOUSEOP"), ("HOUSOPPQ",)),
    "public_transport": (("PUBTRACQ", "ZPUBTRAN"), ("PUBTRAPQ",)),
    "gasoline": (("GASMOCQ", "ZGASMOTO"), ("GASMOPQ",)),
    "misc": (("MISCCQ", "ZMISCELS"), ("MISCPQ",)),
    "read": (("READCQ", "ZREADING"), ("READPQ",)),
}
"""Quarterly sums by kind: columns of the calendar quarter of the interview (CQ) and of the quarter before (PQ).

The three months before an interview fall into both, so spending is their sum. The Z names of 1984 to 1989 are sums of
all three months and have no counterpart.
"""
WITHOUT_COLUMN = ("grocery", "food_away")
"""Kinds that only some years' layouts have."""

CATEGORIES = (
    *("cons_food", "cons_alcohol", "cons_housing", "cons_apparel", "cons_transport", "cons_health"),
    *("cons_entertainment", "cons_personal_care", "cons_read", "cons_education", "cons_tobacco", "cons_misc"),
)
"""The twelve categories that make up total spending in the sense of Parker and others."""
