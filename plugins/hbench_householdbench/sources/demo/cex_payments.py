"""Synthetic answers to the questions on the rebates of 2001 and the payments of 2008, with the usual slips."""

from __future__ import annotations

import numpy as np

from hbench_householdbench.sources.demo.cex_households import Interviews, Ints

REBATES = (300.0, 600.0)
_ANSWERED, _REFUSED = "D", "C"


def rebate_rows(rng: np.random.Generator, newid: list[str], month: Ints) -> list[dict[str, str]]:
    """Return the rows of one of the files ``TAX013.csv`` and ``TAX014.csv``, one for each interview."""
    rows = []
    for own, interview_month in zip(newid, month.tolist(), strict=True):
        row = {"NEWID": own, "TAXQ1": "2", "TAXQ1_": _ANSWERED, "TAXQ3": "2", "TAXQ3_": _ANSWERED}
        for k in range(1, 6):
            row |= {f"TAXMO{k}": "", f"TAXMO{k}_": "A", f"TAXAMT{k}": "", f"TAXAMT{k}_": "A"}
        received = int(rng.choice([7, 8, 9, 10], p=[0.3, 0.35, 0.3, 0.05]))
        if rng.random() < 0.65 and 0 <= interview_month - received <= 3:
            amount = str(int(rng.choice(REBATES)))
            row |= {"TAXQ1": "1", "TAXMO1": str(received), "TAXMO1_": _ANSWERED, "TAXAMT1": amount}
            row |= {"TAXAMT1_": _ANSWERED}
            slip = rng.random()
            if slip < 0.02:
                row["TAXAMT1_"] = _REFUSED
            elif slip < 0.03:
                row["TAXMO1_"] = _REFUSED
            elif slip < 0.05:
                row["TAXQ1"] = "2"
            elif slip < 0.06:
                row["TAXAMT1"] = ""
            elif slip < 0.08:
                row |= {"TAXMO2": str(received), "TAXMO2_": "d", "TAXAMT2": "300", "TAXAMT2_": _ANSWERED}
        elif rng.random() < 0.03:
            row |= {"TAXQ1": "", "TAXQ1_": _REFUSED}
        rows.append(row)
    return rows


def stimulus_rows(rng: np.random.Generator, newid: list[str], some: Interviews) -> list[dict[str, str]]:
    """Return the rows of ``rbt08.csv``; the numbers there have no leading zeros."""
    rows = []
    paid: set[int] = set()
    cells = zip(newid, some.household.tolist(), some.quarter.tolist(), some.month.tolist(), strict=True)
    for own, household, quarter, interview_month in cells:
        at = 12 * ((quarter - 1) // 4) + interview_month
        received = 12 * 2008 + int(rng.choice([5, 6, 7, 8], p=[0.4, 0.35, 0.2, 0.05]))
        if household in paid or not 0 <= at - received <= 3 or at < 12 * 2008 + 6 or rng.random() > 0.85:
            continue
        paid.add(household)
        row = {
            "NEWID": str(int(own)),
            "CUID": str(int(own) // 10),
            "RBTMO": str((received - 1) % 12 + 1),
            "RBTAMT": str(int(rng.choice([300, 600, 900, 1200, 1800], p=[0.2, 0.35, 0.1, 0.25, 0.1]))),
            "CHCKEFT": str(rng.choice(["1", "2", ""], p=[0.55, 0.42, 0.03])),
            "HOWUSED": str(rng.integers(1, 4)),
            "USDINTMO": "",
            "USDINTYR": "",
        }
        slip = rng.random()
        if slip < 0.02:
            row["RBTMO"] = ""
        elif slip < 0.04:
            row["RBTAMT"] = "."
        rows.append(row)
    return rows
