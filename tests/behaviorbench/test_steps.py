"""Enumeration of the Big Five tasks."""

from __future__ import annotations

import pytest

from hbench.core import SpecError
from hbench_behaviorbench.instrument import DIMENSIONS
from hbench_behaviorbench.steps import bigfive_items, bigfive_pairs

from .conftest import Built

pl = pytest.importorskip("polars")


def test_pairs_ask_about_each_dimension_once(synthetic: Built) -> None:
    panel = pl.read_parquet(synthetic.panels / "bigfive.parquet")
    rows = bigfive_pairs(panel.lazy(), None).collect()
    assert len(rows) == 5 * len(panel)
    assert rows["dimension"].to_list()[:5] == list(DIMENSIONS.values())
    for dimension in DIMENSIONS.values():
        part = rows.filter(pl.col("dimension") == dimension)
        assert part["score"].to_list() == panel[dimension].to_list()
        assert part[f"other_{dimension}"].null_count() == len(part)
        others = [name for name in DIMENSIONS.values() if name != dimension]
        assert part.select(pl.col(f"other_{name}").alias(name) for name in others).equals(panel.select(others))


def test_items_are_answers_of_the_same_person(synthetic: Built) -> None:
    panel = pl.read_parquet(synthetic.panels / "bigfive.parquet")
    rows = bigfive_items(panel.lazy(), None, per_subject=5).collect()
    assert len(rows) == 5 * len(panel)
    assert rows.group_by("subject_idx").agg(pl.col("target_item").n_unique())["target_item"].unique().to_list() == [5]
    assert all(row["answer"] == row[row["target_item"]] for row in rows.iter_rows(named=True))
    # Every item is drawn, in no particular order.
    assert rows["target_item"].n_unique() == 50
    assert rows.filter(pl.col("subject_idx") == panel["subject_idx"][0])["target_position"].is_sorted() is False


def test_the_draw_repeats_and_follows_its_seed(synthetic: Built) -> None:
    frame = pl.scan_parquet(synthetic.panels / "bigfive.parquet")
    drawn = [bigfive_items(frame, None, seed=seed).collect()["target_item"].to_list() for seed in (42, 42, 43)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_an_impossible_number_of_items_is_refused(synthetic: Built) -> None:
    with pytest.raises(SpecError, match="per_subject is 51"):
        bigfive_items(pl.scan_parquet(synthetic.panels / "bigfive.parquet"), None, per_subject=51)
