from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbench.core import AnswerSpec, ModelError, Parser, Record, Request, TrainingAnswer
from hbench.model.learned import CHUNK
from hbench.model.learners import create_linear, create_xgboost
from hbench.model.task_sample import MONTH, inputs_of, read_samples
from hbench.parse import JsonArray, ProbabilityVectors
from hbench.spec import Task

pytest.importorskip("sklearn")

TARGETS: dict[str, dict[str, Any]] = {
    "numeric": {"name": "y", "kind": "numeric", "range": [0, 10]},
    "categorical": {"name": "y", "kind": "categorical", "labels": ["low", "high"]},
    "ordinal": {"name": "y", "kind": "ordinal", "range": [0, 4]},
    "probability": {"name": "y", "kind": "probability", "labels": ["no", "yes"], "column": "y"},
}


def make_task(*targets: dict[str, Any], predictors: Sequence[Any] = (), **changes: Any) -> Task:
    content = {
        "task": "t",
        "suite": "s",
        "topic": "x",
        "source": "none",
        "key": {"id": "id"},
        "targets": list(targets),
        "predictors": list(predictors),
        "prompt": {"paragraphs": ["?"]},
        "answer": {"parser": "json_array"},
        "metrics": ["mae"],
    }
    return Task.model_validate(content | changes)


PREDICTORS = [{"names": ["a"], "required": False}, {"names": ["b"], "kind": "categorical"}]


@dataclass
class Context:
    """`ModelContext` over one task and lists."""

    task: Task
    training: Sequence[Record] = ()
    reader: Parser = field(default_factory=JsonArray)
    seed: int = 42
    limits: list[tuple[int | None, int | None]] = field(default_factory=list)
    executor: Any = None

    def spec(self, task: str) -> Task:
        return self.task

    def fingerprint(self, task: str) -> str:
        return "0" * 64

    def parser(self, task: str) -> Parser:
        return self.reader

    def records(self, task: str) -> Iterable[Record]:
        return ()

    def training_answers(self, task: str) -> Sequence[TrainingAnswer]:
        return ()

    def training_records(
        self, task: str, *, limit: int | None = None, validation: int | None = None
    ) -> Iterable[Record]:
        self.limits.append((limit, validation))
        return iter(self.training)


def row(number: int, a: float | None, b: str | None, gold: str | None = None, **changes: Any) -> Record:
    metadata = {"split": changes.pop("split", "train")}
    return Record("s/t", str(number), gold=gold, predictors={"a": a, "b": b}, metadata=metadata, **changes)


def gold_of(kind: str, a: float, b: str) -> str:
    high = a > 0
    return {
        "numeric": f"[{5 + 2 * a + (b == 'x')}]",
        "categorical": json.dumps(["high" if high else "low"]),
        "ordinal": f"[{min(4, max(0, round(2 + a)))}]",
        "probability": f"[[{0.1 if high else 0.9}, {0.9 if high else 0.1}]]",
    }[kind]


def training(kind: str, n: int = 300) -> list[Record]:
    rng = np.random.default_rng(0)
    points = [(float(a), "xy"[i % 2]) for i, a in enumerate(rng.normal(size=n).clip(-2, 2))]
    return [row(i, a, b, gold_of(kind, a, b)) for i, (a, b) in enumerate(points)]


def ask(bench: Any, model: Any, task: Task, records: Iterable[Record], draws: tuple[int, ...] = (0,)) -> Any:
    answer: AnswerSpec = task.answer_spec()
    return bench.answer(model, (Request(record, (), answer, draws=draws) for record in records))


@pytest.mark.parametrize("kind", TARGETS)
def test_every_kind_is_learned_and_answered_in_the_task_s_format(bench: Any, kind: str) -> None:
    task = make_task(TARGETS[kind], predictors=PREDICTORS)
    reader = ProbabilityVectors() if kind == "probability" else JsonArray()
    context = Context(task, training(kind), reader)
    model = create_linear("", {}, context)
    assert model.unsupported("s/t") is None
    texts = ask(bench, model, task, [row(1, 1.5, "x"), row(2, -1.5, "y")]).texts
    high, low = json.loads(texts["1", 0])[0], json.loads(texts["2", 0])[0]
    if kind == "numeric":
        assert (high, low) == (pytest.approx(9, abs=0.1), pytest.approx(2, abs=0.1))
    elif kind == "categorical":
        assert (high, low) == ("high", "low")
    elif kind == "ordinal":
        assert isinstance(high, int)
        assert high > low
    else:
        assert sum(high) == pytest.approx(1, abs=1e-9)
        assert high[1] > 0.7 > 0.3 > low[1]


def test_classes_have_the_order_that_the_task_gives_to_learners(bench: Any) -> None:
    """The reference's learners number labels otherwise than its scorer; answers are labels all the same."""
    plain = make_task(TARGETS["categorical"], predictors=PREDICTORS)
    turned = make_task(TARGETS["categorical"], predictors=PREDICTORS, learn={"classes": {"y": ["high", "low"]}})
    records, truth = training("categorical", 40), ["low", "high"]
    for task, labels in ((plain, truth), (turned, truth[::-1])):
        samples = read_samples(task, Context(task, records), rows=40, validation_rows=0)
        assert [labels[code] for code in samples.train[0].truth] == [json.loads(one.gold)[0] for one in records]
        model = create_linear("", {}, Context(task, training("categorical")))
        texts = ask(bench, model, task, [row(1, 1.5, "x"), row(2, -1.5, "y")]).texts
        assert (texts["1", 0], texts["2", 0]) == ('["high"]', '["low"]')
    with pytest.raises(ValueError, match=r"`learn\.classes` of y are not its labels: low, high"):
        make_task(TARGETS["categorical"], learn={"classes": {"y": ["high", "medium"]}})


def test_the_month_is_the_one_that_the_prompt_always_names() -> None:
    dated = row(1, 1.0, "x", time="2001-01-01")
    for learn, month in (({"month": True}, "January"), ({"month": 4}, "April")):
        task = make_task(TARGETS["numeric"], predictors=PREDICTORS, learn=learn)
        assert inputs_of(dated, task)[MONTH] == month
    with pytest.raises(ValueError, match="less than or equal to 12"):
        make_task(TARGETS["numeric"], learn={"month": 13})


def test_predictions_are_rounded_only_where_the_task_says_so(bench: Any) -> None:
    for decimals, whole in ((None, False), (0, True)):
        task = make_task(TARGETS["numeric"], predictors=PREDICTORS, learn={"decimals": decimals})
        answer = ask(bench, create_linear("", {}, Context(task, training("numeric"))), task, [row(1, 0.3, "x")]).texts
        assert isinstance(json.loads(answer["1", 0])[0], int) == whole
    task = make_task(TARGETS["probability"], predictors=PREDICTORS)
    context = Context(task, training("probability"), ProbabilityVectors())
    (shares,) = json.loads(ask(bench, create_linear("", {}, context), task, [row(1, 0.3, "x")]).texts["1", 0])
    assert sum(shares) == pytest.approx(1, abs=1e-15)
    assert shares[1] != round(shares[1], 6)


def test_predictions_stay_within_the_range(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    texts = ask(bench, create_linear("", {}, Context(task, training("numeric"))), task, [row(1, 99.0, "x")]).texts
    assert json.loads(texts["1", 0]) == [10]


def test_missing_values_and_unseen_categories_are_answered(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    records = [row(1, None, "x"), row(2, 0.0, "never seen"), row(3, 0.0, None)]
    texts = ask(bench, create_linear("", {}, Context(task, training("numeric"))), task, records).texts
    for text in texts.values():
        assert json.loads(text)[0] == pytest.approx(5.5, abs=0.7)


def test_several_targets_have_a_learner_each(bench: Any) -> None:
    targets = [{"name": "y", "kind": "numeric"}, {"name": "z", "kind": "categorical", "labels": ["no", "yes"]}]
    task = make_task(*targets, predictors=PREDICTORS)
    rows = [row(i, float(i), "x", json.dumps([3.0 * i, "yes" if i > 50 else "no"])) for i in range(100)]
    texts = ask(bench, create_linear("", {}, Context(task, rows)), task, [row(1, 90.0, "x")]).texts
    number, label = json.loads(texts["1", 0])
    assert (round(number), label) == (270, "yes")


class Elsewhere:
    """An executor that gets and gives copies, as one with other processes does."""

    def __init__(self) -> None:
        self.items = 0

    def map(self, fn: Any, items: Iterable[Any], *, cost: Any = None) -> Iterator[Any]:
        for item in items:
            self.items += 1
            yield pickle.loads(pickle.dumps(fn(pickle.loads(pickle.dumps(item)))))


@pytest.mark.parametrize("create", [create_linear, create_xgboost])
def test_fits_elsewhere_answer_as_fits_here(
    bench: Any, create: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = [{"name": "y", "kind": "numeric"}, {"name": "z", "kind": "categorical", "labels": ["no", "yes"]}]
    task = make_task(*targets, predictors=PREDICTORS)
    rows = [row(i, float(i), "x", json.dumps([3.0 * i, "yes" if i > 50 else "no"])) for i in range(100)]
    here, elsewhere = Context(task, rows), Context(task, rows)
    elsewhere.executor = Elsewhere()
    records = [row(i, float(i), "x") for i in range(0, 100, 7)]
    texts = []
    for place, context in enumerate((here, elsewhere)):
        monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / str(place)))  # Kept fits would be found again.
        texts.append(ask(bench, create("", {}, context), task, records).texts)
    assert texts[0] == texts[1]
    assert elsewhere.executor.items == 2


def test_all_draws_are_alike_and_chunks_change_nothing(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    many = [row(i, i / 1000, "x") for i in range(CHUNK + 3)]
    texts = ask(bench, create_linear("", {}, Context(task, training("numeric"))), task, many, draws=(0, 4)).texts
    assert len(texts) == 2 * len(many)
    last = many[-1]
    alone = ask(bench, create_linear("", {}, Context(task, training("numeric"))), task, [last]).texts
    assert texts[last.id, 0] == texts[last.id, 4] == alone[last.id, 0]


def test_validation_rows_are_not_fitted_and_the_limit_is_passed_on(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    poisoned = [row(900 + i, 0.0, "x", "[10]", split="validation") for i in range(500)]
    context = Context(task, [*training("numeric"), *poisoned])
    texts = ask(bench, create_linear("", {"rows": 300}, context), task, [row(1, -1.0, "y")]).texts
    assert json.loads(texts["1", 0])[0] == pytest.approx(3, abs=0.2)
    assert (300, 0) in context.limits


@pytest.mark.parametrize(
    ("task", "rows", "reason"),
    [
        (make_task(TARGETS["numeric"]), training("numeric"), "declares no predictors"),
        (make_task({"name": "y", "kind": "text"}, predictors=PREDICTORS), [], "a text target"),
        (make_task({"name": "y", "kind": "choice_set", "labels": ["A", "B"]}, predictors=PREDICTORS), [], "choice_set"),
        (make_task({"name": "y", "kind": "population"}, predictors=PREDICTORS), [], "a population target"),
        (make_task(TARGETS["numeric"], predictors=PREDICTORS), [], "no training records with predictors"),
        (
            make_task(TARGETS["numeric"], predictors=PREDICTORS),
            [Record("s/t", "1", gold="[1]", metadata={"split": "train"})],
            "no training records with predictors",
        ),
    ],
)
def test_what_cannot_be_fitted_is_told_beforehand(task: Task, rows: Sequence[Record], reason: str) -> None:
    told = create_linear("", {}, Context(task, rows)).unsupported("s/t")
    assert told is not None
    assert reason in told


def test_a_record_without_predictors_is_an_error_that_names_it(bench: Any) -> None:
    task = make_task(TARGETS["numeric"], predictors=PREDICTORS)
    model = create_linear("", {}, Context(task, training("numeric")))
    with pytest.raises(ModelError, match=r"record 7.*no predictors"):
        ask(bench, model, task, [Record("s/t", "7", gold="[1]")])


def test_options_are_checked() -> None:
    context = Context(make_task(TARGETS["numeric"], predictors=PREDICTORS))
    with pytest.raises(ModelError, match="takes no argument"):
        create_linear("ridge", {}, context)
    with pytest.raises(ModelError, match="alpha"):
        create_linear("", {"alpha": 1}, context)
    with pytest.raises(ModelError, match="rows"):
        create_linear("", {"rows": 0}, context)
    with pytest.raises(ModelError, match="rows"):
        create_linear("", {"rows": "many"}, context)


def test_all_that_changes_answers_enters_the_identity() -> None:
    context = Context(make_task(TARGETS["numeric"], predictors=PREDICTORS))
    identity = create_linear("", {"rows": 10}, context).identity
    assert identity == {"model": "linear", "rows": 10, "validation_rows": 0, "seed": 42}
