"""Enumeration of the Big Five tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbench.core import SpecError
from hbench.data import StepContext
from hbench.spec import load_task
from hbench_behaviorbench.games import RULES
from hbench_behaviorbench.instrument import DIMENSIONS, ITEMS
from hbench_behaviorbench.steps import across_games, bigfive_items, bigfive_pairs, earlier_rounds

from .conftest import Built

pl = pytest.importorskip("polars")
TASKS = Path(__file__).parents[2] / "task_yamls" / "behaviorbench"


@pytest.fixture
def context() -> StepContext:
    return StepContext(task=load_task(TASKS / "surv_resp_pred.yaml"), source=pl.LazyFrame())


def test_pairs_ask_about_each_dimension_once(synthetic: Built, context: StepContext) -> None:
    panel = pl.read_parquet(synthetic.panels / "bigfive.parquet")
    rows = bigfive_pairs(panel.lazy(), context).collect()
    assert len(rows) == 5 * len(panel)
    assert rows["dimension"].to_list()[:5] == list(DIMENSIONS.values())
    for dimension in DIMENSIONS.values():
        part = rows.filter(pl.col("dimension") == dimension)
        assert part["score"].to_list() == panel[dimension].to_list()
        assert part[f"other_{dimension}"].null_count() == len(part)
        others = [name for name in DIMENSIONS.values() if name != dimension]
        assert part.select(pl.col(f"other_{name}").alias(name) for name in others).equals(panel.select(others))


def test_items_are_answers_of_the_same_person(synthetic: Built, context: StepContext) -> None:
    panel = pl.read_parquet(synthetic.panels / "bigfive.parquet")
    answers = {row["subject_idx"]: row for row in panel.iter_rows(named=True)}
    rows = bigfive_items(panel.lazy(), context, per_subject=5).collect()
    assert len(rows) == 5 * len(panel)
    assert rows.group_by("subject_idx").agg(pl.col("target_item").n_unique())["target_item"].unique().to_list() == [5]
    assert all(row["answer"] == answers[row["subject_idx"]][row["target_item"]] for row in rows.iter_rows(named=True))
    # Every item is drawn, in no particular order.
    assert rows["target_item"].n_unique() == 50
    assert rows.filter(pl.col("subject_idx") == panel["subject_idx"][0])["target_position"].is_sorted() is False


def test_the_draw_repeats_and_follows_its_seed(synthetic: Built, context: StepContext) -> None:
    frame = pl.scan_parquet(synthetic.panels / "bigfive.parquet")
    drawn = [bigfive_items(frame, context, seed=seed).collect()["target_item"].to_list() for seed in (42, 42, 43)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_an_impossible_number_of_items_is_refused(synthetic: Built, context: StepContext) -> None:
    with pytest.raises(SpecError, match="per_subject is 51"):
        bigfive_items(pl.scan_parquet(synthetic.panels / "bigfive.parquet"), context, per_subject=51)


@pytest.mark.parametrize(("given", "expected"), [("nothing", 0), ("before", None), ("others", 49)])
def test_the_right_answers_are_given(given: str, expected: int | None, synthetic: Built, context: StepContext) -> None:
    panel = pl.read_parquet(synthetic.panels / "bigfive.parquet").head(40)
    answers = {row["subject_idx"]: row for row in panel.iter_rows(named=True)}
    rows = bigfive_items(panel.lazy(), context, given=given).collect()
    for row in rows.iter_rows(named=True):
        known = [item for item in ITEMS if row.get(item.code) is not None]
        assert row["target_item"] not in [item.code for item in known]
        assert len(known) == (row["history_length"] if expected is None else expected)
        assert all(row[item.code] == answers[row["subject_idx"]][item.code] for item in known)
        if given == "before":
            assert all(item.position < row["target_position"] for item in known)
            assert row["target_position"] >= 2
    # The scores would give the answer away.
    assert not set(DIMENSIONS.values()) & set(rows.columns)


def test_earlier_rounds_nest(context: StepContext) -> None:
    plays = pl.LazyFrame(
        [("ann", 1, 1, 5.0), ("ann", 1, 2, 6.0), ("ann", 1, 3, 10.0), ("ann", 2, 1, 9.0), ("bob", 1, 1, 1.0)],
        schema=["user_id", "play", "round", "move"],
        orient="row",
    )
    rows = earlier_rounds(plays, context, game="dictator", role="first").collect()
    columns = ["user_id", "instance", "earlier", "move", "last_move", "mean_move", "history_rounds", "target_round"]
    assert rows.select(columns).rows() == [
        ("ann", "1.2", [5.0], 6.0, 5.0, 5.0, 1, 2),
        ("ann", "1.3", [5.0, 6.0], 10.0, 6.0, 5.5, 2, 3),
    ]
    assert rows.select("game", "role", "has_others_info").unique().rows() == [("dictator", "first", False)]


def test_across_games_hides_the_target(context: StepContext) -> None:
    moves = {"dictator": [50.0, 10.0, None], "bomb": [33.0, None, 1.0], "public_goods": [4.0, None, None]}
    table = pl.DataFrame(
        {"user_id": ["a", "b", "c"], **{name: moves.get(name, [None] * 3) for name in RULES}},
        schema={"user_id": pl.String, **dict.fromkeys(RULES, pl.Float64)},
    )
    rows = across_games(table.lazy(), context, target="dictator").collect()
    assert rows.select("user_id", "move", "dictator", "bomb", "history_games", "history_count").rows() == [
        ("a", 50.0, None, 33.0, "bomb,public_goods", 2)
    ]
    assert context.details == [("did not play dictator", 1), ("played no other game", 1)]
