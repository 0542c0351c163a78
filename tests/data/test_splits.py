from __future__ import annotations

import datetime
import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.core import DataError, stable_seed
from hbench.data.splits import everything, quarter, quarter_parts, row, row_parts, subject
from tests.data.test_sampling import slow_interleave

DAY = datetime.date(2024, 1, 15)


def reference(rows: list[dict[str, Any]], task: str, unit: str, key: Any, cap: tuple[int, ...]) -> list[dict[str, Any]]:
    """The fact sheet's algorithm, step by step, row by row."""
    out: list[dict[str, Any]] = [{} for _ in rows]
    order = sorted(range(len(rows)), key=lambda i: key(rows[i]))
    for i in order:
        year, month, _ = rows[i]["time"].split("-")
        out[i]["split_quarter"] = f"{year}Q{(int(month) + 2) // 3}"
    pre = [i for i in order if not rows[i]["release_date"] > "2026-01-31"]
    for i in order:
        out[i]["split"] = "post_cutoff_test"
    if unit == "quarter":
        quarters = sorted({out[i]["split_quarter"] for i in pre})
        random.Random(stable_seed(42, task, "quarter_split")).shuffle(quarters)
        n = len(quarters)
        n_val = n_test = max(round(0.1 * n), 1) if n >= 3 else round(0.1 * n)
        names = ["train"] * (n - n_val - n_test) + ["validation"] * n_val + ["pre_cutoff_test"] * n_test
        where = dict(zip(quarters, names, strict=True))
        for i in pre:
            out[i]["split"] = where[out[i]["split_quarter"]]
    elif pre:
        held = max(round(0.1 * len(pre)), 2)
        shuffled = list(pre)
        random.Random(stable_seed(42, task, "row_fallback")).shuffle(shuffled)
        for j, i in enumerate(shuffled):
            out[i]["split"] = "validation" if j < held else "pre_cutoff_test" if j < 2 * held else "train"
    for i in order:
        out[i].update(within_period_order=None, split_position=None, sample=False)
    for split, budget in zip(("train", "validation", "pre_cutoff_test", "post_cutoff_test"), cap, strict=True):
        quarters = sorted({out[i]["split_quarter"] for i in order if out[i]["split"] == split})
        queues = []
        for name in quarters:
            cell = [i for i in order if out[i]["split"] == split and out[i]["split_quarter"] == name]
            random.Random(stable_seed(42, task, split, name)).shuffle(cell)
            for j, i in enumerate(cell, start=1):
                out[i]["within_period_order"] = j
            queues.append(cell)
        sizes = [len(queue) for queue in queues]
        for p, q in enumerate(slow_interleave(sizes, min(budget, sum(sizes))), start=1):
            i = queues[q].pop(0)
            out[i]["split_position"] = p
            out[i]["sample"] = split == "pre_cutoff_test" and p <= 5
    late = [i for i in order if out[i]["split"] == "post_cutoff_test" and rows[i]["release_date"] > "2026-02-16"]
    quarters = sorted({out[i]["split_quarter"] for i in late})
    queues = [
        sorted((i for i in late if out[i]["split_quarter"] == name), key=lambda i: out[i]["within_period_order"])
        for name in quarters
    ]
    for q in slow_interleave([len(queue) for queue in queues], min(5, len(late))):
        out[queues[q].pop(0)]["sample"] = True
    return out


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    n = draw(st.integers(5, 60))
    rng = random.Random(draw(st.integers(0, 10**6)))
    rows, seen = [], set()
    while len(rows) < n:
        time = DAY + datetime.timedelta(days=rng.randrange(900))
        key = (str(rng.randrange(40)), time.isoformat())
        if key not in seen:
            seen.add(key)
            release = datetime.date(2026, 2, 10) + datetime.timedelta(
                days=rng.choice([-400, -200, -15, -10, -9, 0, 6, 7])
            )
            rows.append({"id": key[0], "time": key[1], "release_date": release.isoformat(), "case": rng.randrange(90)})
    return rows


@given(tables(), st.sampled_from(["a_task", "other"]))
@settings(max_examples=60, deadline=None)
def test_quarter_equals_the_fact_sheet(rows: list[dict[str, Any]], task: str) -> None:
    got = quarter(pl.DataFrame(rows), task=task, sample=5)
    assert got.rows(named=True) == reference(rows, task, "quarter", lambda r: (r["id"], r["time"]), (10**6,) * 4)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_row_equals_the_fact_sheet_with_a_typed_order(rows: list[dict[str, Any]]) -> None:
    rows = [r | {"release_date": "2020-01-01"} if i < 5 else r for i, r in enumerate(rows)]
    got = row(
        pl.DataFrame(rows),
        task="t",
        sort="time_typed_id_id",
        typed={"column": "case", "type": "integer"},
        sample=5,
        minimum=2,
    )
    expected = reference(rows, "t", "row", lambda r: (r["time"], r["case"], r["id"]), (10**6,) * 4)
    assert got.rows(named=True) == expected


@given(tables())
@settings(max_examples=20, deadline=None)
def test_order_of_the_table_does_not_matter(rows: list[dict[str, Any]]) -> None:
    frame = pl.DataFrame(rows)
    turned = frame.reverse()
    assert quarter(turned, task="t").reverse().equals(quarter(frame, task="t"))


def test_the_cap_leaves_rows_without_a_position() -> None:
    rows = pl.DataFrame(
        {
            "id": [str(i) for i in range(3000)],
            "time": [f"{2000 + i % 10}-0{1 + 3 * (i % 3)}-01" for i in range(3000)],
            "release_date": ["2020-01-01"] * 3000,
        }
    )
    got = quarter(rows, task="t", cap=1000)
    assert got["split_position"].count() == 1000
    for (name,), part in got.group_by("split"):
        positions = part["split_position"].drop_nulls().sort().to_list()
        assert positions == list(range(1, len(positions) + 1)), name


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_quarters_are_all_training(n: int) -> None:
    assert quarter_parts(n, "t").tolist() == [0] * n


@pytest.mark.parametrize(("n", "held"), [(3, 1), (10, 1), (15, 2), (25, 2), (35, 4), (200, 20)])
def test_hold_outs_round_half_to_even(n: int, held: int) -> None:
    assert np.bincount(quarter_parts(n, "t")).tolist() == [n - 2 * held, held, held]


def test_row_parts_need_a_training_row() -> None:
    assert np.bincount(row_parts(201, "t")).tolist() == [1, 100, 100]
    with pytest.raises(DataError, match="too few"):
        row_parts(200, "t")


def test_both_cutoffs_are_strict_and_between_them_is_neither_sample() -> None:
    release = ["2026-01-31", "2026-02-01", "2026-02-16", "2026-02-17"]
    rows = pl.DataFrame({"id": list("abcd"), "time": ["2025-05-01"] * 4, "release_date": release})
    got = quarter(rows, task="t")
    assert got["split"].to_list() == ["train", *["post_cutoff_test"] * 3]
    assert got["sample"].to_list() == [False, False, False, True]
    moved = quarter(rows, task="t", cutoff="2026-02-01", post_cutoff="2026-02-10")
    assert moved["split"].to_list() == ["train", "train", "post_cutoff_test", "post_cutoff_test"]
    assert moved["sample"].to_list() == [False, False, True, True]


def test_an_empty_table_gives_an_empty_split() -> None:
    rows = pl.DataFrame(schema={"id": pl.String, "time": pl.String, "release_date": pl.String})
    assert len(quarter(rows, task="t")) == 0
    assert len(row(rows, task="t")) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": ["2020-01-01", "2020-13-01"]}, "not a date"),
        ({"time": ["2020-01-01", "2020-1-1"]}, "not a date"),
        ({"time": ["2020-01-01", None]}, "no time"),
        ({"id": ["a", "a"]}, "repeat a key"),
        ({"release_date": ["2020-01-01", None]}, "no release date"),
    ],
)
def test_malformed_keys_are_refused(change: dict[str, list[Any]], message: str) -> None:
    rows = pl.DataFrame({"id": ["a", "b"], "time": ["2020-01-01"] * 2, "release_date": ["2020-02-01"] * 2} | change)
    with pytest.raises(DataError, match=message):
        quarter(rows, task="t")


def test_typed_component_sorts_integers_by_value_and_ties_by_id() -> None:
    from hbench.data.ordering import canonical_order

    rows = pl.DataFrame({"id": ["10", "9", "007", "7"], "time": ["2020-01-01"] * 4})
    order = canonical_order(rows, "time_typed_id_id", {"column": "id", "type": "integer"})
    assert rows["id"].gather(order).to_list() == ["007", "7", "9", "10"]
    assert rows["id"].gather(canonical_order(rows, "id_time")).to_list() == ["007", "10", "7", "9"]
    with pytest.raises(DataError, match="not a whole number"):
        canonical_order(rows.with_columns(id=pl.col("id") + "x"), "time_typed_id_id", {"column": "id"})


def test_subject_holds_out_whole_people_by_numpys_permutation() -> None:
    people = [f"p{i}" for i in range(50)]
    rows = pl.DataFrame(
        {"id": [f"{p}:{k}" for p in people for k in range(3)], "who": [p for p in people for _ in "abc"]}
    )
    rows = rows.with_columns(time=pl.lit(None, pl.String), release_date=pl.lit(None, pl.String))
    got = subject(rows, task="t", column="who", seed=42, share=0.1)
    held = [people[i] for i in np.random.RandomState(42).permutation(50)[:5]]
    assert set(rows.filter(got["split"] == "test")["who"]) == set(held)
    first = rows.with_columns(got).filter(pl.col("split") == "test").sort("split_position")["who"].to_list()
    assert first == [p for p in held for _ in "abc"]
    assert subject(rows, task="t", column="who", sample=4)["sample"].sum() == 4


def test_everything_is_the_sample_without_a_rule() -> None:
    got = everything(pl.DataFrame({"id": ["a", "b"]}))
    assert got["sample"].all()
    assert got["split"].to_list() == ["test", "test"]
