"""Splits and samples against a second implementation, slow and plain, written from the rules alone."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbench.core import DataError
from hbench.data.splits import quarter, row

NAMES = ("train", "validation", "pre_cutoff_test")
SHARES = (8, 1, 1)
Rows = list[dict[str, Any]]


def shuffled(items: list[Any], *parts: str) -> list[Any]:
    text = "|".join(("42", *parts))
    out = list(items)
    random.Random(int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)).shuffle(out)
    return out


def ordered(rows: Rows, sort: str, typed: dict[str, str] | None) -> list[int]:
    def component(one: dict[str, Any]) -> Any:
        if typed is None:
            return 0
        text = str(one[typed["column"]]).strip()
        return int(text) if typed["type"] == "integer" else text

    def key(i: int) -> Any:
        one = rows[i]
        return (one["id"], one["time"]) if sort == "id_time" else (one["time"], component(one), one["id"])

    return sorted(range(len(rows)), key=key)


def budget(sizes: list[int], cap: int) -> list[int]:
    """Rows of train, validation and test that the cap leaves."""
    given = [min(size, cap * share // 10) for size, share in zip(sizes, SHARES, strict=True)]
    while (left := min(sum(sizes), cap) - sum(given)) > 0:
        active = [k for k in range(3) if given[k] < sizes[k]]
        exact = {k: Fraction(left * SHARES[k], sum(SHARES[j] for j in active)) for k in active}
        for k in active:
            whole = min(int(exact[k]), sizes[k] - given[k])
            given[k], left = given[k] + whole, left - whole
        for k in sorted(active, key=lambda k: (-(exact[k] - int(exact[k])), k)):
            if left and given[k] < sizes[k]:
                given[k], left = given[k] + 1, left - 1
    return given


def interleaved(queues: dict[str, list[int]], prefix: int) -> list[int]:
    sizes = {name: len(queue) for name, queue in queues.items()}
    total, used, out = sum(sizes.values()), dict.fromkeys(queues, 0), []
    for position in range(1, prefix + 1):
        open_ones = [name for name in sorted(queues) if used[name] < sizes[name]]
        deficits = {name: position * sizes[name] - used[name] * total for name in open_ones}
        best = [name for name in open_ones if deficits[name] == max(deficits.values())][-1]
        out.append(queues[best][used[best]])
        used[best] += 1
    return out


def expected(
    rows: Rows,
    task: str,
    unit: str,
    *,
    sort: str,
    typed: dict[str, str] | None,
    cap: int,
    sample: int,
    minimum: int,
    cutoff: str,
    late_from: str,
) -> Rows:
    order = ordered(rows, sort, typed)
    quarter_of = [f"{one['time'][:4]}Q{(int(one['time'][5:7]) - 1) // 3 + 1}" for one in rows]
    before = [i for i in order if rows[i]["release_date"] <= cutoff]
    split = dict.fromkeys(range(len(rows)), "post_cutoff_test")
    if unit == "quarter":
        quarters = shuffled(sorted({quarter_of[i] for i in before}), task, "quarter_split")
        held = round(0.1 * len(quarters))
        held = max(held, 1) if len(quarters) >= 3 else held
        train = len(quarters) - 2 * held
        for i in before:
            place = quarters.index(quarter_of[i])
            split[i] = NAMES[0 if place < train else 1 if place < train + held else 2]
    elif before:
        held = max(round(0.1 * len(before)), minimum)
        for place, i in enumerate(shuffled(before, task, "row_fallback")):
            split[i] = NAMES[1 if place < held else 2 if place < 2 * held else 0]
    out: Rows = [
        {"split": split[i], "split_quarter": quarter_of[i], "split_position": None, "sample": False}
        for i in range(len(rows))
    ]
    budgets = budget([sum(split[i] == name for i in before) for name in NAMES], cap)
    late: dict[str, list[int]] = defaultdict(list)
    for name, rows_of in zip((*NAMES, "post_cutoff_test"), (*budgets, len(rows) - len(before)), strict=True):
        cells: dict[str, list[int]] = defaultdict(list)
        for i in order:
            if split[i] == name:
                cells[quarter_of[i]].append(i)
        for period, cell in cells.items():
            cells[period] = shuffled(cell, task, name, period)
            for rank, i in enumerate(cells[period], start=1):
                out[i]["within_period_order"] = rank
                if name == "post_cutoff_test" and rows[i]["release_date"] > late_from:
                    late[period].append(i)
        for position, i in enumerate(interleaved(cells, rows_of), start=1):
            out[i]["split_position"] = position
            out[i]["sample"] = name == "pre_cutoff_test" and position <= sample
    for i in interleaved(late, min(sample, sum(map(len, late.values())))):
        out[i]["sample"] = True
    return out


WORDS = ["a", "B", "é", "007", "7", " 7", "10", "9", "z|1", "Z"]


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """Tables of up to 80 rows in 1 to 30 quarters, released before, between and after both days."""
    rng = random.Random(draw(st.integers(0, 10**9)))
    quarters = draw(st.sampled_from([1, 2, 3, 5, 12, 30]))
    releases = draw(
        st.sampled_from(
            [
                ["2020-01-01"],
                ["2026-03-01"],
                ["2026-01-31", "2026-02-01"],
                ["2020-01-01", "2026-01-31", "2026-02-01", "2026-02-16", "2026-02-17", "2026-07-01"],
            ]
        )
    )
    keys: dict[tuple[str, str], None] = {}
    for _ in range(draw(st.integers(1, 80))):
        number = rng.randrange(quarters)
        month = number % 4 * 3 + rng.randint(1, 3)
        name = rng.choice(WORDS) if rng.random() < 0.4 else str(rng.randrange(500))
        keys[name, f"{1990 + number // 4}-{month:02d}-{rng.randint(1, 28):02d}"] = None
    return [
        {
            "id": name,
            "time": time,
            "release_date": rng.choice(releases),
            "case": rng.choice([7, 70, 700]),
            "text": rng.choice(["7", " 7 ", "007", "-3", "12"]),
            "word": rng.choice(WORDS),
        }
        for name, time in keys
    ]


ORDERS = st.sampled_from(
    [
        ("id_time", None),
        ("time_typed_id_id", None),
        ("time_typed_id_id", {"column": "case", "type": "integer"}),
        ("time_typed_id_id", {"column": "text", "type": "integer"}),
        ("time_typed_id_id", {"column": "word", "type": "string"}),
    ]
)
DAYS = st.sampled_from([("2026-01-31", "2026-02-16"), ("2019-12-31", "2026-02-01")])


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=tables(),
    unit=st.sampled_from(["quarter", "row"]),
    order=ORDERS,
    days=DAYS,
    cap=st.sampled_from([3, 10, 25, 40, 60, 500_000]),
    sample=st.sampled_from([0, 1, 7, 200]),
    task=st.sampled_from(["cons_cex_total", "t"]),
    minimum=st.sampled_from([1, 5]),
)
def test_both_say_the_same(
    rows: Rows, unit: str, order: Any, days: tuple[str, str], cap: int, sample: int, task: str, minimum: int
) -> None:
    sort, typed = order
    options: dict[str, Any] = {"sort": sort, "typed": typed, "cap": cap, "sample": sample}
    before = sum(one["release_date"] <= days[0] for one in rows)
    frame = pl.DataFrame(rows)
    if unit == "row":
        if before and before - 2 * max(round(0.1 * before), minimum) < 1:
            with pytest.raises(DataError, match="too few"):
                row(frame, task=task, cutoff=days[0], post_cutoff=days[1], minimum=minimum, **options)
            return
        got = row(frame, task=task, cutoff=days[0], post_cutoff=days[1], minimum=minimum, **options)
    else:
        got = quarter(frame, task=task, cutoff=days[0], post_cutoff=days[1], **options)
    want = expected(rows, task, unit, minimum=minimum, cutoff=days[0], late_from=days[1], **options)
    assert got.select(*want[0]).rows(named=True) == want


def test_the_published_budgets() -> None:
    """Known from the published table: the three capped tasks without later rows have exactly 500,000."""
    assert budget([900_000, 100_000, 90_000], 500_000) == [400_000, 50_000, 50_000]
    assert budget([900_000, 20_000, 90_000], 500_000) == [426_667, 20_000, 53_333]
    assert budget([300_000, 20_000, 10_000], 500_000) == [300_000, 20_000, 10_000]
