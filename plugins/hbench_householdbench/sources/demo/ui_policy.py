"""Synthetic weeks of unemployment insurance by state and month, in the layout of the archive's Stata file.

The rules are those of the time: 26 regular weeks almost everywhere, temporary extensions in steps by the state's
unemployment from July 2008 to December 2013, and months in which Congress let them lapse.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from hbench.core import stable_seed
from hbench_householdbench.sources.states import FIPS
from hbench_householdbench.sources.ui_policy import UI_DURATION

_FIRST, _LAST = 2000, (2014, 8)
_START, _FULL, _END = 12 * 2008 + 6, 12 * 2009 + 10, 12 * 2013 + 11
"""Months (12 * year + month - 1): the first extension, all its tiers, the last month."""
_LONGER = {25: 30, 30: 28}
_CUT = {5: 25, 12: 23, 13: 18, 20: 20, 26: 20, 29: 20, 37: 20, 45: 20}
"""Regular weeks by FIPS code where they are not 26: always, and from 2012 on."""
_LAPSES = frozenset(12 * 2010 + month - 1 for month in (4, 6, 7, 12))
_STAMP = datetime(2015, 1, 1, tzinfo=UTC)


def write_ui_policy(raw: Path, *, seed: int) -> None:
    """Write the file below `raw`: 51 states in the 176 months from January 2000 to August 2014."""
    import pandas as pd

    rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "ui_policy"))
    months = np.arange(12 * _FIRST, 12 * _LAST[0] + _LAST[1])
    slump = np.exp(-(((months - (12 * 2010 + 3)) / 24.0) ** 2))
    hit = rng.uniform(3.0, 8.0, len(FIPS))
    # Extension tiers go by unemployment, which rises and falls again.
    unemployment = 4.5 + hit[:, None] * slump
    at = np.broadcast_to(months, unemployment.shape)
    fips = np.broadcast_to(np.array(FIPS)[:, None], unemployment.shape)
    regular = np.full(unemployment.shape, 26.0)
    for code, weeks in _LONGER.items():
        regular[fips == code] = weeks
    for code, weeks in _CUT.items():
        regular[(fips == code) & (at >= 12 * 2012)] = weeks
    tiers = np.select([unemployment >= 8.5, unemployment >= 7.0, unemployment >= 6.0], [73.0, 60.0, 47.0], 34.0)
    first = np.where(unemployment >= 6.0, 33.0, 20.0)
    extension = np.where((at >= _START) & (at <= _END), np.where(at >= _FULL, tiers, first), 0.0)
    active = np.where(np.isin(at, list(_LAPSES)), 0.0, extension)
    table = pd.DataFrame(
        {
            "fips": fips.ravel().astype(np.int8),
            "year": (at // 12).ravel().astype(np.int16),
            "month": (at % 12 + 1).ravel().astype(np.int8),
            "ext_wks": active.ravel().astype(np.float32),
            "reg_UI": regular.ravel().astype(np.float32),
            "ui_weeks": (regular + extension).ravel().astype(np.float32),
        }
    )
    path = raw / UI_DURATION.path
    path.parent.mkdir(parents=True, exist_ok=True)
    labels = {
        "ext_wks": "total weeks of extended UI (13-73)",
        "reg_UI": "regular UI weeks (<26 for some)",
        "ui_weeks": "Total UI weeks (no suspensions)",
    }
    table.to_stata(path, write_index=False, time_stamp=_STAMP, variable_labels=labels, version=117)
