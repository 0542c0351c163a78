"""Synthetic respondents of the Big Five questionnaire.

Five correlated traits, shifted by age and gender in the directions that the literature reports, answer fifty items with
noise. The scores that models reach on them say nothing about people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hbench.core import stable_seed
from hbench_behaviorbench import instrument
from hbench_behaviorbench.sources.bigfive import ANSWERS, BACKGROUND, ITEM_COLUMNS, KEYS, STATEMENTS

_RESPONDENTS = 2_000
_TRAITS = "ENACO"
_CORRELATION = np.array(
    [
        [1.0, -0.25, 0.25, 0.10, 0.20],
        [-0.25, 1.0, -0.10, -0.25, -0.05],
        [0.25, -0.10, 1.0, 0.20, 0.10],
        [0.10, -0.25, 0.20, 1.0, 0.05],
        [0.20, -0.05, 0.10, 0.05, 1.0],
    ]
)
_LEVELS = np.array([0.0, 0.1, 0.8, 0.35, 0.9])
_PER_DECADE = np.array([-0.05, -0.15, 0.15, 0.20, 0.05])
_WOMEN = np.array([0.05, 0.45, 0.40, 0.10, -0.10])
_COUNTRIES = ("US", "GB", "IN", "AU", "CA", "PH", "DE", "BR", "A1", "(nu", "")
_COUNTRY_SHARES = (0.46, 0.10, 0.09, 0.07, 0.06, 0.06, 0.05, 0.05, 0.02, 0.03, 0.01)
_RACES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
_RACE_SHARES = (0.01, 0.07, 0.01, 0.53, 0.08, 0.02, 0.02, 0.01, 0.01, 0.04, 0.01, 0.09, 0.03, 0.07)


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write the three files of the questionnaire below `raw`, in the original layout.

    As in the original there are a blank row, implausible ages, missing codes and respondents without a country.
    """
    rng = np.random.default_rng(stable_seed(seed, "behaviorbench", "demo", "bigfive"))
    n = max(60, round(_RESPONDENTS * scale))
    background = _background(rng, n)
    answers = _answers(rng, background)
    _spoil(rng, background, answers)
    rows = (
        (*(str(background[column][row]) for column in BACKGROUND), *map(str, answers[row].tolist())) for row in range(n)
    )
    _write(raw / ANSWERS, ((*BACKGROUND, *ITEM_COLUMNS), *rows))
    by_column = (instrument.BY_CODE[column] for column in ITEM_COLUMNS)
    _write(raw / STATEMENTS, ((item.code, item.statement) for item in by_column))
    circles = ("\N{CYRILLIC CAPITAL LETTER O}",) * 5
    _write(raw / KEYS, ((position, text, *circles, key) for position, text, key in instrument.IPIP_LINES))


def _background(rng: np.random.Generator, n: int) -> dict[str, npt.NDArray[np.object_]]:
    columns = {
        "race": rng.choice(_RACES, n, p=_RACE_SHARES),
        "age": np.minimum(13 + rng.gamma(1.5, 8.5, n).astype(np.int64), instrument.AGE_LIMIT - 1),
        "engnat": rng.choice((0, 1, 2), n, p=(0.005, 0.63, 0.365)),
        "gender": rng.choice((0, 1, 2, 3), n, p=(0.002, 0.39, 0.60, 0.008)),
        "hand": rng.choice((0, 1, 2, 3), n, p=(0.005, 0.88, 0.09, 0.025)),
        "source": rng.integers(1, 6, n),
        "country": rng.choice(_COUNTRIES, n, p=_COUNTRY_SHARES),
    }
    return {name: column.astype(object) for name, column in columns.items()}


def _answers(rng: np.random.Generator, background: dict[str, npt.NDArray[np.object_]]) -> npt.NDArray[np.int64]:
    """Answer every item by its trait; one column for each of `ITEM_COLUMNS`."""
    n = len(background["age"])
    decades = (background["age"].astype(np.float64) - 25) / 10
    women = (background["gender"] == 2).astype(np.float64)
    traits = rng.multivariate_normal(np.zeros(5), _CORRELATION, n)
    traits += decades[:, None] * _PER_DECADE + women[:, None] * _WOMEN
    items = [instrument.BY_CODE[column] for column in ITEM_COLUMNS]
    of_trait = [_TRAITS.index(item.dimension) for item in items]
    signs = np.array([item.sign for item in items])
    ease = rng.normal(0, 0.35, len(items))
    level = signs * (_LEVELS + 0.75 * traits)[:, of_trait]
    latent = 3.0 + level + ease + rng.normal(0, 0.9, (n, len(items)))
    return np.clip(np.rint(latent), 1, 5).astype(np.int64)


def _spoil(
    rng: np.random.Generator, background: dict[str, npt.NDArray[np.object_]], answers: npt.NDArray[np.int64]
) -> None:
    n = len(answers)
    blank, *old = rng.choice(n, 1 + max(3, n // 200), replace=False).tolist()
    answers[blank] = 0
    for column in BACKGROUND:
        background[column][blank] = "" if column == "country" else 0
    for place, age in zip(old, (80, 99, 118, 1987, 999_999_999), strict=False):
        background["age"][place] = age


def _write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
