"""The benchmark's partition of people: nobody is in training with one row and in the test with another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from hbench.core import DataError, SpecError, stable_seed

if TYPE_CHECKING:
    import polars as pl

_TRAIN, _VALIDATION, _TEST = range(3)
_NAMES = ("train", "validation", "test")


def people(
    rows: pl.DataFrame,
    *,
    task: str,
    column: str,
    by: Literal["permutation", "name"],
    test: float,
    validation: float = 0.0,
    seed: int = 42,
    sample: int | None = None,
) -> pl.DataFrame:
    """Part people into training, validation and test, and draw the evaluation sample.

    Parameters
    ----------
    rows : polars.DataFrame
        The task's table.
    task : str
        Bare name; part of the seed of the sample.
    column : str
        Who a row is about.
    by : {"permutation", "name"}
        ``permutation``: people are numbered as the table first names them, and the first of NumPy's
        ``RandomState(seed).permutation`` are the test, the next the validation; this is the benchmark's own Big Five
        split. ``name``: each person's part follows from a hash of the name alone, so that it is the same in every game;
        the benchmark's seed for MobLab users is not known.
    test, validation : float
        Shares of people.
    seed : int
        Seed of the partition and of the sample.
    sample : int or None
        Size of the evaluation sample, drawn at random from the test rows; None for all. The benchmark publishes which
        rows it drew, but not how, so ours are another sample of the same test people.

    Returns
    -------
    polars.DataFrame
        ``split``, ``split_quarter``, ``within_period_order``, ``split_position`` and ``sample``, row by row. Positions
        are a random order within each split, so that the first rows are a sample of it.

    Raises
    ------
    DataError
        The column is missing or has gaps.
    SpecError
        The shares are no shares.
    """
    import polars as pl

    if not (0 < test < 1 and 0 <= validation < 1 - test):
        raise SpecError(f"shares of {test} and {validation} leave no training people", task=task)
    if column not in rows.columns:
        raise DataError(f"the split's column {column!r} is not in the table", task=task)
    if rows[column].null_count():
        raise DataError(f"{rows[column].null_count():,} rows have no {column!r}", task=task)
    names = rows[column].unique(maintain_order=True)
    rule = _by_permutation if by == "permutation" else _by_name
    parts = pl.DataFrame({column: names, "part": rule(names, test, validation, seed)})
    part = rows.select(column).join(parts, on=column, how="left", maintain_order="left")["part"].to_numpy()
    position = np.zeros(len(rows), dtype=np.int64)
    for code, name in enumerate(_NAMES):
        inside = np.flatnonzero(part == code)
        position[_random(stable_seed(seed, task, name)).permutation(inside)] = np.arange(1, len(inside) + 1)
    return pl.DataFrame(
        {
            "split": pl.Series(_NAMES, dtype=pl.String).gather(part),
            "split_quarter": pl.Series([None] * len(rows), dtype=pl.String),
            "within_period_order": pl.Series([None] * len(rows), dtype=pl.Int64),
            "split_position": position,
            "sample": (part == _TEST) & (position <= (len(rows) if sample is None else sample)),
        }
    )


def _by_permutation(names: pl.Series, test: float, validation: float, seed: int) -> npt.NDArray[np.int64]:
    n = len(names)
    held, more = round(test * n), round(validation * n)
    order = np.random.RandomState(seed).permutation(n)
    part = np.full(n, _TRAIN, dtype=np.int64)
    part[order[:held]] = _TEST
    part[order[held : held + more]] = _VALIDATION
    return part


def _by_name(names: pl.Series, test: float, validation: float, seed: int) -> npt.NDArray[np.int64]:
    place = np.array([stable_seed(seed, "behaviorbench", "people", str(name)) / 2**64 for name in names])
    return np.select([place < test, place < test + validation], [_TEST, _VALIDATION], _TRAIN).astype(np.int64)


def _random(seed: int) -> np.random.RandomState:
    # RandomState's stream is frozen by NumPy, unlike those of newer generators.
    return np.random.RandomState(seed % 2**32)
