from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbench.cli.show_fits import fit_lines
from hbench.core import ModelError, Record, Request
from hbench.model import learned
from hbench.model.learners import create_lasso, create_logit_l1, create_random_forest, create_xgboost
from tests.model.test_learned import PREDICTORS, TARGETS, Context, ask, make_task, row, training

pytest.importorskip("sklearn")
pytest.importorskip("xgboost")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path))
    return tmp_path


def with_validation(kind: str) -> list[Record]:
    rows = training(kind, 400)
    return [
        *rows[:300],
        *(row(r.id, r.predictors["a"], r.predictors["b"], r.gold, split="validation") for r in rows[300:]),
    ]


def test_xgboost_stops_by_validation_rows_and_tells_how_it_went(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    model = create_xgboost("", {"preset": "demo"}, Context(task, with_validation("numeric")))
    texts = ask(bench, model, task, [row(1, 1.5, "x"), row(2, -1.5, "y")]).texts
    assert json.loads(texts["1", 0])[0] > json.loads(texts["2", 0])[0] + 3
    report = model.reports["s/t"]["y"]
    assert (report["rows"], report["validation_rows"]) == (300, 100)
    assert report["best_round"] <= len(report["curve"])
    curve, best = report["curve"], report["best_round"]
    assert curve[best - 1] == min(curve)
    told = f"    rounds      {best} of {len(curve)} used, mean absolute error {curve[0]:.4g} -> {min(curve):.4g}"
    assert told in list(fit_lines("xgboost", model.reports))
    assert next(iter(report["importance"])) == "a"


def test_class_probabilities_are_calibrated_on_validation_rows(bench: Any) -> None:
    task = make_task(TARGETS["categorical"], predictors=PREDICTORS)
    model = create_xgboost("", {"preset": "demo"}, Context(task, with_validation("categorical")))
    ask(bench, model, task, [row(1, 1.5, "x")])
    bins = model.reports["s/t"]["y"]["calibration"]
    assert sum(one["n"] for one in bins) == 100
    assert all(one["low"] <= one["predicted"] <= one["high"] for one in bins)


def test_kept_fits_answer_bit_for_bit_and_nothing_is_read_again(bench: Any, cache: Path) -> None:
    task = make_task(TARGETS["probability"], predictors=PREDICTORS)
    context = Context(task, with_validation("probability"))
    records = [row(i, i / 10, "xy"[i % 2]) for i in range(-9, 10)]
    first = ask(bench, create_xgboost("", {"preset": "demo"}, context), task, records).texts
    context.training, context.limits = [], []
    assert ask(bench, create_xgboost("", {"preset": "demo"}, context), task, records).texts == first
    assert context.limits == []
    assert not list(cache.rglob("*.pkl"))
    with pytest.raises(ModelError, match="training split is empty"):
        ask(bench, create_xgboost("", {}, context), task, records)


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-7])


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [truncated, flipped, Path.unlink])
@pytest.mark.parametrize("name", ["encoder.json", "target-0.json", "target-0.ubj", "SHA256SUMS"])
def test_a_damaged_fit_is_made_again(bench: Any, cache: Path, name: str, damage: Callable[[Path], None]) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    context, records = Context(task, with_validation("numeric")), [row(1, 1.5, "x"), row(2, -1.5, "y")]
    first = ask(bench, create_xgboost("", {"preset": "demo"}, context), task, records).texts
    (file,) = cache.rglob(name)
    whole = file.read_bytes()
    damage(file)
    assert ask(bench, create_xgboost("", {"preset": "demo"}, context), task, records).texts == first
    assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_no_error(bench: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "file").write_text("no folder")
    monkeypatch.setenv("HBENCH_CACHE", str(cache / "file"))
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    model = create_xgboost("", {"preset": "demo"}, Context(task, training("numeric")))
    assert len(ask(bench, model, task, [row(1, 1.5, "x")]).texts) == 1


def test_columns_without_values_and_unseen_categories_are_reported(bench: Any) -> None:
    rows = [row(int(r.id), None, r.predictors["b"], r.gold) for r in training("numeric")]
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    for _ in range(2):  # from training rows, and from the cache
        model = create_xgboost("", {"preset": "demo"}, Context(task, rows))
        ask(bench, model, task, [row(1, 1.5, "x"), row(2, 1.0, "never"), row(3, None, "seen")])
        report = model.reports["s/t"]["y"]
        assert (report["empty"], report["unseen"]) == (["a"], {"b": 2})
        assert list(fit_lines("xgboost", model.reports))[1:3] == [
            "  without any value in training: a",
            "  answered with a category that training did not have: b (2 rows)",
        ]


def test_another_seed_is_another_fit(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    records = [row(i, i / 10, "xy"[i % 2]) for i in range(-9, 10)]

    def texts(seed: int) -> Any:
        context = Context(task, with_validation("numeric"), seed=seed)
        return ask(bench, create_xgboost("", {"preset": "demo"}, context), task, records).texts

    assert texts(1) == texts(1) != texts(2)


def test_a_task_s_own_seed_is_used(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    original = learned.Learned._learner

    def spied(self: Any, *given: Any) -> Any:
        made = original(self, *given)
        seeds.append(made.seed)
        return made

    monkeypatch.setattr(learned.Learned, "_learner", spied)
    for learn in ({"seeds": {"y": 77}}, {}):
        task = make_task(TARGETS["numeric"], predictors=PREDICTORS, learn=learn)
        ask(bench, create_xgboost("", {"preset": "demo"}, Context(task, training("numeric"))), task, [row(1, 1.0, "x")])
    assert seeds[0] == 77
    assert seeds[1] not in (77, 0)


def test_the_month_and_the_group_are_inputs(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS, group="item", learn={"month": True})

    def one(number: int, month: int, group: str, gold: str | None = None) -> Record:
        return row(number, 0.0, "x", gold, time=f"2020-{month:02}-01", group=group)

    rows = [one(i, 1 + i % 2, "uv"[i % 3 == 0], f"[{4 * (i % 2) + 2 * (i % 3 == 0)}]") for i in range(300)]
    wanted = [one(1, 1, "u"), one(2, 2, "u"), one(3, 2, "v")]
    texts = ask(bench, create_random_forest("", {}, Context(task, rows)), task, wanted).texts
    got = [json.loads(texts[record.key, 0])[0] for record in wanted]
    np.testing.assert_allclose(got, [0, 4, 6], atol=0.05)
    undated = [row(9, 0.0, "x", "[1]")]
    with pytest.raises(ModelError, match="the time None is no date"):
        ask(bench, create_random_forest("", {}, Context(task, undated)), task, undated)


def test_learners_say_which_targets_they_cannot_fit() -> None:
    numeric = Context(make_task(TARGETS["numeric"], predictors=PREDICTORS), training("numeric"))
    classes = Context(make_task(TARGETS["categorical"], predictors=PREDICTORS), training("categorical"))
    assert create_logit_l1("", {}, numeric).unsupported("s/t") == "logit_l1 does not fit numeric targets"
    assert create_lasso("", {}, classes).unsupported("s/t") == "lasso does not fit categorical targets"
    assert create_lasso("", {}, numeric).unsupported("s/t") is None


def test_options_enter_the_identity_and_wrong_ones_are_refused() -> None:
    context = Context(make_task(TARGETS["numeric"], predictors=PREDICTORS))
    identity = create_xgboost("", {}, context).identity
    caps = {"rows": 400_000, "validation_rows": 50_000}
    assert identity == {"model": "xgboost", "preset": "full", "seed": 42, **caps}
    assert create_random_forest("", {"trees": 10}, context).identity["trees"] == 10
    assert create_xgboost("", {"preset": "demo"}, context).mark == "preset=demo"
    assert create_xgboost("", {}, context).mark == ""
    with pytest.raises(ModelError, match="preset='quick' must be one of full, demo"):
        create_xgboost("", {"preset": "quick"}, context)
    with pytest.raises(ModelError, match="takes no argument"):
        create_xgboost("big", {}, context)


def test_predictions_are_not_rounded(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS, answer={"parser": "json_array", "round": "integer"})
    requests = [Request(row(1, 0.3, "x"), (), task.answer_spec(), draws=(0,))]
    text = bench.answer(create_lasso("", {}, Context(task, training("numeric"))), requests).texts["1", 0]
    assert json.loads(text)[0] % 1 != 0
