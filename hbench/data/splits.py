"""Split rules: which rows models may learn from, which are for evaluation, and which of those are asked about.

A rule takes a task's rows and returns, row by row, a frame of `COLUMNS`. Rules depend on names and values, never on the
order of the rows (except `subject`, which says so).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from hbench.core import DataError, stable_seed
from hbench.data.sampling import Ints, budgets, interleaved_positions, shuffled, within_cell_order

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("split", "split_quarter", "within_period_order", "split_position", "sample")
"""Split; calendar quarter; order within the quarter; position in the split (null: not exported); evaluation sample."""
SPLITS = ("train", "validation", "pre_cutoff_test", "post_cutoff_test")
CUTOFF = "2026-01-31"
"""Rows released later are the post-cutoff test."""
POST_CUTOFF = "2026-02-16"
"""The post-cutoff evaluation sample holds rows released later than this."""
_TRAIN, _VALIDATION, _PRE, _POST = range(4)
_WEIGHTS = {"train": 8, "validation": 1, "pre_cutoff_test": 1}
Sort = Literal["id_time", "time_typed_id_id"]


class SplitRule(Protocol):
    """A registered split rule."""

    def __call__(self, rows: pl.DataFrame, *, task: str, **params: Any) -> pl.DataFrame:
        """Return a frame of `COLUMNS`, row by row.

        `rows` has the columns ``id``, ``time`` and ``release_date`` (texts or null), and those of the table's columns
        that `params` name; `task` is the bare name, part of every seed.
        """
        ...


@dataclass(frozen=True)
class _Keys:
    """Rows in canonical order: their places in the table, and what the rules need."""

    place: Ints
    quarter: Ints
    post: np.ndarray[Any, np.dtype[np.bool_]]
    late: np.ndarray[Any, np.dtype[np.bool_]]


def quarter(
    rows: pl.DataFrame,
    *,
    task: str,
    seed: int = 42,
    sort: Sort = "id_time",
    typed: Mapping[str, str] | None = None,
    cutoff: str = CUTOFF,
    post_cutoff: str = POST_CUTOFF,
    cap: int = 500_000,
    sample: int = 200,
) -> pl.DataFrame:
    """Part whole calendar quarters 8:1:1, so that no test quarter was seen in training.

    With one or two quarters before the cut-off both hold-outs round to none and all of it is training data.

    Parameters
    ----------
    seed : int
        Seed of all shuffles.
    sort : {"id_time", "time_typed_id_id"}
        Canonical order of rows before they are shuffled.
    typed : mapping, optional
        ``{column: NAME, type: integer or string}``: the second component of ``time_typed_id_id``.
    cutoff, post_cutoff : str
        Days, ``YYYY-MM-DD``.
    cap : int
        Largest number of rows before the cut-off; the rest gets no position.
    sample : int
        Rows of each evaluation sample.
    """
    keys = _canonical(rows, sort, typed, cutoff, post_cutoff)
    names = np.unique(keys.quarter[~keys.post])
    part = quarter_parts(len(names), task, seed)
    split = np.full(len(keys.place), _POST, dtype=np.int64)
    split[~keys.post] = part[np.searchsorted(names, keys.quarter[~keys.post])]
    return _finish(rows, keys, split, task, seed, cap, sample)


def row(
    rows: pl.DataFrame,
    *,
    task: str,
    seed: int = 42,
    sort: Sort = "id_time",
    typed: Mapping[str, str] | None = None,
    cutoff: str = CUTOFF,
    post_cutoff: str = POST_CUTOFF,
    cap: int = 500_000,
    sample: int = 200,
    minimum: int = 100,
) -> pl.DataFrame:
    """Part single rows 8:1:1, for tasks with few quarters; each hold-out has at least `minimum` rows.

    The other parameters are those of `quarter`.
    """
    keys = _canonical(rows, sort, typed, cutoff, post_cutoff)
    split = np.full(len(keys.place), _POST, dtype=np.int64)
    before = np.flatnonzero(~keys.post)
    if len(before):
        split[before] = row_parts(len(before), task, seed, minimum)
    return _finish(rows, keys, split, task, seed, cap, sample)


def subject(
    rows: pl.DataFrame,
    *,
    task: str,
    column: str,
    seed: int = 42,
    share: float = 0.1,
    sample: int | None = None,
) -> pl.DataFrame:
    """Hold out a share of the people, each with all rows.

    People are numbered in the order in which the table first names them; the first of NumPy's
    ``RandomState(seed).permutation`` are the test.

    Parameters
    ----------
    column : str
        Who a row is about.
    seed : int
        Seed of the permutation.
    share : float
        Share of people in the test.
    sample : int or None
        Size of the evaluation sample: the first rows in the order of the permutation; None for all test rows.
    """
    import polars as pl

    if column not in rows.columns:
        raise DataError(f"the split's column {column!r} is not in the table", task=task)
    if rows[column].null_count():
        raise DataError(f"{rows[column].null_count():,} rows have no {column!r}", task=task)
    people = rows[column].unique(maintain_order=True)
    held = round(len(people) * share)
    order = np.random.RandomState(seed).permutation(len(people))
    rank = np.empty(len(people), dtype=np.int64)
    rank[order] = np.arange(len(people))
    number = (
        rows.select(column)
        .join(pl.DataFrame({column: people, "rank": rank}), on=column, how="left", maintain_order="left")["rank"]
        .to_numpy()
    )
    test = number < held
    position = np.empty(len(rows), dtype=np.int64)
    for part in (test, ~test):
        inside = np.flatnonzero(part)
        position[inside[np.argsort(number[inside], kind="stable")]] = np.arange(1, len(inside) + 1)
    chosen = test & (position <= (len(rows) if sample is None else sample))
    return _table(np.where(test, "test", "train"), position, chosen)


def period(
    rows: pl.DataFrame,
    *,
    task: str,
    column: str,
    validation: Sequence[Any] = (),
    test: Sequence[Any],
    sample: int | None = None,
    seed: int = 42,
) -> pl.DataFrame:
    """Hold out whole periods by name; all others are training data.

    Parameters
    ----------
    column : str
        Column of the period.
    validation, test : sequence
        Its values that are held out.
    sample : int or None
        Size of the evaluation sample, drawn by a seeded shuffle over the rows in the order of their keys; None for all.
    seed : int
        Seed of the shuffle.
    """
    if column not in rows.columns:
        raise DataError(f"the split's column {column!r} is not in the table", task=task)
    values = rows[column].to_list()
    absent = [value for value in (*validation, *test) if value not in set(values)]
    if absent:
        raise DataError(f"no row has the period {absent[0]!r} in {column!r}", task=task)
    parts = dict.fromkeys(validation, "validation") | dict.fromkeys(test, "test")
    split = np.array([parts.get(value, "train") for value in values], dtype=object)
    ordered = rows.select("id", "time").with_row_index("place").sort("id", "time")["place"].to_numpy()
    position = np.zeros(len(rows), dtype=np.int64)
    for name in ("train", "validation", "test"):
        inside = ordered[split[ordered] == name]
        position[inside[shuffled(len(inside), stable_seed(seed, task, name))]] = np.arange(1, len(inside) + 1)
    return _table(split, position, (split == "test") & (position <= (len(rows) if sample is None else sample)))


def everything(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the split of a task without a rule: every row is test and sample."""
    n = len(rows)
    return _table(np.full(n, "test", dtype=object), np.arange(1, n + 1), np.ones(n, dtype=bool))


def _table(split: np.ndarray[Any, Any], position: Ints, sample: np.ndarray[Any, Any]) -> pl.DataFrame:
    """Return the frame of a rule that knows no quarters."""
    import polars as pl

    return pl.DataFrame(
        {
            "split": pl.Series(split.tolist(), dtype=pl.String),
            "split_quarter": pl.Series([None] * len(split), dtype=pl.String),
            "within_period_order": pl.Series([None] * len(split), dtype=pl.Int64),
            "split_position": position,
            "sample": sample.astype(bool),
        }
    )


def quarter_parts(n: int, task: str, seed: int = 42) -> Ints:
    """Return the split of each of n ascending quarters, (n,): 0 train, 1 validation, 2 pre-cutoff test."""
    validation = test = round(0.1 * n)
    if n >= 3:
        validation, test = max(validation, 1), max(test, 1)
    if n and validation + test >= n:
        validation = min(validation, n - 2)
        test = min(test, n - validation - 1)
    order = shuffled(n, stable_seed(seed, task, "quarter_split"))
    train = n - validation - test
    part = np.full(n, _TRAIN, dtype=np.int64)
    part[order[train : train + validation]] = _VALIDATION
    part[order[train + validation :]] = _PRE
    return part


def row_parts(n: int, task: str, seed: int = 42, minimum: int = 100) -> Ints:
    """Return the split of each of n rows in canonical order, (n,). The hold-outs come first in the shuffled order."""
    held = max(round(0.1 * n), minimum)
    if n - 2 * held < 1:
        raise DataError(f"{n} rows are too few for two hold-outs of {held} and a training set", task=task)
    order = shuffled(n, stable_seed(seed, task, "row_fallback"))
    part = np.full(n, _TRAIN, dtype=np.int64)
    part[order[:held]] = _VALIDATION
    part[order[held : 2 * held]] = _PRE
    return part


def quarter_name(code: int) -> str:
    """Return ``YYYYQn`` of a quarter's code, ``4 * year + n - 1``."""
    return f"{code // 4:04d}Q{code % 4 + 1}"


def _canonical(rows: pl.DataFrame, sort: Sort, typed: Mapping[str, str] | None, cutoff: str, post_cutoff: str) -> _Keys:
    import polars as pl

    from hbench.data.ordering import canonical_order, quarter_codes

    place = canonical_order(rows, sort, typed)
    if rows["release_date"].null_count() == len(rows):
        # Without release dates nothing is known to be newer than any cut-off.
        post = late = np.zeros(len(rows), dtype=bool)
    elif missing := rows["release_date"].null_count():
        raise DataError(f"{missing:,} rows have no release date")
    else:
        flags = rows.select(post=pl.col("release_date") > cutoff, late=pl.col("release_date") > post_cutoff)
        post, late = flags["post"].to_numpy()[place], flags["late"].to_numpy()[place]
    return _Keys(place, quarter_codes(rows)[place], post, late)


def _finish(rows: pl.DataFrame, keys: _Keys, split: Ints, task: str, seed: int, cap: int, sample: int) -> pl.DataFrame:
    """Order every (split, quarter) cell, interleave quarters, choose the evaluation sample."""
    import polars as pl

    # A cell's code: quarter and split in one number.
    order = within_cell_order(
        keys.quarter * 4 + split,
        lambda cell: stable_seed(seed, task, SPLITS[cell % 4], quarter_name(cell // 4)),
    )
    counts = {name: int(np.count_nonzero(split == code)) for code, name in enumerate(SPLITS)}
    post = counts.pop(SPLITS[_POST])
    limits = {name: cap * weight // sum(_WEIGHTS.values()) for name, weight in _WEIGHTS.items()}
    budget = budgets(counts, limits=limits, weights=_WEIGHTS, cap=cap) | {SPLITS[_POST]: post}
    position = np.zeros(len(split), dtype=np.int64)
    for code, name in enumerate(SPLITS):
        inside = np.flatnonzero(split == code)
        if len(inside):
            position[inside] = interleaved_positions(keys.quarter[inside], order[inside], budget[name])
    chosen = (split == _PRE) & (position > 0) & (position <= sample)
    late = np.flatnonzero((split == _POST) & keys.late)
    if len(late):
        # Quarters are weighed anew by what is left of them, in the order that they have already.
        chosen[late] = interleaved_positions(keys.quarter[late], order[late], min(sample, len(late))) > 0
    table = np.empty(len(split), dtype=np.int64)
    table[keys.place] = np.arange(len(split))
    codes, inverse = np.unique(keys.quarter, return_inverse=True)
    quarters = pl.Series([quarter_name(code) for code in codes.tolist()], dtype=pl.String)
    return pl.DataFrame(
        {
            "split": pl.Series(SPLITS, dtype=pl.String).gather(split[table]),
            "split_quarter": quarters.gather(inverse[table]),
            "within_period_order": order[table],
            "split_position": pl.Series(position[table]).replace(0, None),
            "sample": chosen[table],
        }
    )
