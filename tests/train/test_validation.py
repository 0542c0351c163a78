"""What training is judged by, worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hbench.core import Message, Record, ScoreError
from hbench.plugin import default_registry
from hbench.spec.load import load_task
from hbench.spec.task import Task
from hbench.train.validation import (
    TaskScore,
    TaskValidation,
    best_constants,
    choose_metric,
    relative_loss,
    shortfall,
)
from tests.train import tiny

PROMPT = (Message("user", "How much?"),)


@pytest.fixture
def spend(tmp_path: Path) -> Task:
    (tmp_path / "spend.yaml").write_text(tiny.TASK)
    return load_task(tmp_path / "spend.yaml")


def _records(golds: list[str], naive: str | None = None) -> list[Record]:
    return [Record("tiny/spend", str(i), messages=PROMPT, gold=gold, naive=naive) for i, gold in enumerate(golds)]


def _score(metric: str, strict: float, task: str = "t", better: str = "lower") -> TaskScore:
    return TaskScore(task, metric, better, strict, strict, 1, 1)  # type: ignore[arg-type]


def test_scores_by_hand(spend: Task) -> None:
    registry = default_registry()
    validation = TaskValidation(spend, _records(["[10]", "[20]", "[30]"], naive="[10]"), None, registry=registry)
    relmae, nmae = validation.scores(["[12]", "[20]", "I do not know"])
    # Without the invalid answer: errors 2 and 0 against 0 and 10 of no change.
    assert (relmae.metric, relmae.value, relmae.n, relmae.valid) == ("relmae", pytest.approx(0.2), 3, 2)
    # With it as the no-change answer: 2 + 0 + 20 against 0 + 10 + 20.
    assert relmae.strict == pytest.approx(22 / 30)
    assert nmae.metric == "nmae"


def test_an_invalid_answer_is_the_training_sets_median_where_there_is_no_past(spend: Task) -> None:
    registry = default_registry()
    fill = best_constants(spend, ["[1]", "[15]", "[90]"], {None, "a"}, registry=registry)
    assert fill == {None: (15,), "a": (15,)}
    assert best_constants(spend, [], (), registry=registry) is None
    validation = TaskValidation(spend, _records(["[10]", "[30]"]), fill, registry=registry)
    relmae, nmae = validation.scores(["[12]", "no"])
    assert math.isnan(relmae.strict)
    # Mean error of 2 and 15, over the standard deviation or range that nMAE divides by: the same for both readings.
    (whole,) = [one for one in validation.scores(["[12]", "[15]"]) if one.metric == "nmae"]
    assert nmae.strict == whole.value
    assert choose_metric([relmae, nmae]) is nmae


def test_true_answers_that_cannot_be_read_are_named(spend: Task) -> None:
    with pytest.raises(ScoreError, match="task tiny/spend, record 1: the true answer"):
        TaskValidation(spend, _records(["[1]", "one"]), None, registry=default_registry())


def test_shortfalls() -> None:
    assert shortfall(0.8, "lower") == 0.8
    assert shortfall(0.75, "higher") == 0.25
    assert shortfall(2.0, "one") == pytest.approx(math.log(2))
    assert shortfall(0.5, "one") == pytest.approx(math.log(2))
    assert shortfall(0.0, "one") == math.inf


def test_the_first_metric_that_leaves_something_to_gain_judges() -> None:
    scores = [_score("a", math.nan), _score("b", 0.0), _score("c", 1.0, better="higher"), _score("d", 0.3)]
    assert choose_metric(scores) is scores[3]
    assert choose_metric(scores[:3]) is None


def test_the_relative_loss_is_the_mean_of_ratios() -> None:
    before = {"t": _score("mae", 2.0), "u": _score("accuracy", 0.6, "u", "higher")}
    now = {"t": _score("mae", 1.0), "u": _score("accuracy", 0.7, "u", "higher")}
    # 1 / 2 and 0.3 / 0.4.
    assert relative_loss(now, before) == pytest.approx((0.5 + 0.75) / 2)
    assert relative_loss(before, before) == 1.0
    # What cannot be computed is no gain.
    assert relative_loss({"t": _score("mae", math.nan), "u": now["u"]}, before) == pytest.approx((1 + 0.75) / 2)
    assert math.isnan(relative_loss(now, {}))


def test_a_population_is_judged_by_the_draws_of_each_prompt(tmp_path: Path) -> None:
    text = tiny.TASK.replace("kind: numeric, no_change: lag1", "kind: population, range: [0, 100]")
    text = text.replace("parser: json_array", "parser: json_array, aggregate: population, draws: 4")
    text = text.replace("[relmae, nmae]", "[wasserstein]")
    (tmp_path / "spend.yaml").write_text(text)
    task = load_task(tmp_path / "spend.yaml")
    validation = TaskValidation(task, _records(["[10]", "[20]", "[30]", "[40]"]), None, registry=default_registry())
    assert validation.population
    # The same people in another order are the same population.
    (same,) = validation.scores(["[40]", "[30]", "[20]", "[10]"])
    assert (same.value, same.n, same.valid) == (0.0, 4, 4)
    # All in the middle: distances 15, 5, 5 and 15.
    (middle,) = validation.scores(["[25]"] * 4)
    (half,) = validation.scores(["[25]", "[25]", "no", "no"])
    assert middle.value > 0
    assert middle.value == half.value
    assert half.valid == 2
