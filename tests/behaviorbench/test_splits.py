"""The partition of people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import DataError, SpecError
from hbench_behaviorbench.splits import people

from .conftest import Built

pl = pytest.importorskip("polars")
BIGFIVE: dict[str, Any] = {"task": "t", "column": "who", "by": "permutation", "test": 0.1}
GAMES: dict[str, Any] = {"task": "t", "column": "who", "by": "name", "test": 0.2, "validation": 0.1}


@pytest.mark.shared
def test_the_real_test_subjects_are_the_first_of_the_permutation(real: Built) -> None:
    subjects = pl.read_parquet(real.panels / "bigfive.parquet", columns=["subject_idx"])
    split = people(subjects, task="demo_pred_age", column="subject_idx", by="permutation", test=0.1, sample=1000)
    test = set(subjects.filter(split["split"] == "test")["subject_idx"])
    order = np.random.RandomState(42).permutation(19_630)
    assert len(test) == 1_963
    assert test == set(subjects["subject_idx"].to_numpy()[order[:1_963]].tolist())
    # Subjects that the data card's rows are known to come from.
    assert {9133, 3991} <= test
    assert split["sample"].sum() == 1_000


@given(rows=st.lists(st.integers(0, 30), min_size=20, max_size=200), rule=st.sampled_from([BIGFIVE, GAMES]))
def test_nobody_is_on_two_sides(rows: list[int], rule: dict[str, Any]) -> None:
    table = pl.DataFrame({"who": rows})
    split = people(table, **rule, sample=5)
    sides = table.with_columns(split["split"]).group_by("who").agg(pl.col("split").n_unique())
    assert sides["split"].to_list() == [1] * len(sides)
    test = split.filter(pl.col("split") == "test")
    assert split["sample"].sum() == min(5, len(test))
    assert sorted(test["split_position"]) == list(range(1, len(test) + 1))
    assert not split.filter(pl.col("split") != "test")["sample"].any()


def test_by_name_a_person_is_on_the_same_side_in_every_game() -> None:
    names = [f"user-{k}" for k in range(4_000)]
    one = dict(zip(names, people(pl.DataFrame({"who": names}), **GAMES)["split"], strict=True))
    some = names[::-3]
    other = dict(zip(some, people(pl.DataFrame({"who": some}), **GAMES | {"task": "u"})["split"], strict=True))
    assert other == {name: one[name] for name in some}
    shares = [list(one.values()).count(part) / len(names) for part in ("train", "validation", "test")]
    assert shares == pytest.approx([0.7, 0.1, 0.2], abs=0.02)


def test_another_seed_is_another_partition() -> None:
    table = pl.DataFrame({"who": range(500)})
    for rule in (BIGFIVE, GAMES):
        assert not people(table, **rule, seed=1)["split"].equals(people(table, **rule, seed=2)["split"])


def test_errors_name_what_is_wrong() -> None:
    table = pl.DataFrame({"who": [1, None]})
    with pytest.raises(DataError, match="'whom' is not in the table"):
        people(table, **BIGFIVE | {"column": "whom"})
    with pytest.raises(DataError, match="1 rows have no 'who'"):
        people(table, **BIGFIVE)
    with pytest.raises(SpecError, match="no training people"):
        people(table, **BIGFIVE | {"test": 0.9, "validation": 0.2})
