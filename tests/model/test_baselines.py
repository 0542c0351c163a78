from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from hbench.core import ModelError, Record, Target, TrainingAnswer
from hbench.model.baselines import Marginal, NoChange, Uniform

NUMBER = Target(name="x", kind="numeric")
LABEL = Target(name="x", kind="categorical", labels=("no", "yes"))
VECTOR = Target(name="x", kind="probability", labels=("a", "b"))
SCALE = Target(name="x", kind="ordinal", range=(1, 5))


def training(*values: object, group: str | None = None) -> list[TrainingAnswer]:
    return [TrainingAnswer((value,), group) for value in values]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "answers", "expected"),
    [
        (NUMBER, training(1.0, 2.0, 9.0), "2.0"),
        (NUMBER, training(1.0, 3.0), "2.0"),
        (LABEL, training("yes", "no", "no"), "no"),
        (LABEL, training("yes", "no"), "no"),
        (VECTOR, training((0.0, 1.0), (0.5, 0.5)), "(0.25, 0.75)"),
    ],
)
def test_marginal_answers_with_the_best_constant(
    bench: SimpleNamespace, target: Target, answers: list[TrainingAnswer], expected: str
) -> None:
    model = Marginal.create("", {}, bench.Context((target,), answers))
    got = bench.answer(model, bench.requests(3, targets=(target,), draws=(0, 1)))
    assert set(got.texts.values()) == {expected}
    assert len(got.outcomes) == 6


def test_marginal_draws_for_scales_within_the_group(bench: SimpleNamespace) -> None:
    answers = training(1, 2, group="E1") + training(5, group="O2")
    model = Marginal.create("", {}, bench.Context((SCALE,), answers))
    first = bench.answer(model, bench.requests(400, targets=(SCALE,), group="E1"))
    counts = Counter(first.texts.values())
    assert set(counts) == {"1", "2"}
    assert 140 < counts["1"] < 260
    again = bench.answer(model, reversed(list(bench.requests(400, targets=(SCALE,), group="E1"))))
    assert again.texts == first.texts
    other = bench.answer(model, bench.requests(2, targets=(SCALE,), group="N3"))
    assert other.reasons == ["no_training_answers"] * 2


def test_marginal_draws_differ_between_draws_and_seeds(bench: SimpleNamespace) -> None:
    answers = training(*range(1000))
    results = []
    for seed in (1, 2):
        model = Marginal.create("", {"mode": "sample"}, bench.Context((SCALE,), answers, seed=seed))
        results.append(bench.answer(model, bench.requests(1, draws=tuple(range(50)))).texts)
    assert len(set(results[0].values())) > 40
    assert results[0] != results[1]


def test_marginal_from_records_repeats_their_texts(bench: SimpleNamespace) -> None:
    records = [Record("suite/task", str(i), gold=f"[{i}]", group="g" if i < 2 else "h") for i in range(4)]
    model = Marginal.create("", {"from": "records"}, bench.Context((NUMBER,), (), records))
    assert model.unsupported("suite/task") is None
    got = bench.answer(model, bench.requests(50, group="g"))
    assert set(got.texts.values()) == {"[0]", "[1]"}


def test_marginal_without_training_answers_is_unsupported(bench: SimpleNamespace) -> None:
    model = Marginal.create("", {}, bench.Context((NUMBER,), ()))
    assert "no training answers" in str(model.unsupported("suite/task"))
    text = Marginal.create("", {}, bench.Context((Target(name="t", kind="text"),), training("x")))
    assert "free text" in str(text.unsupported("suite/task"))


def test_no_change_is_the_record_s_own(bench: SimpleNamespace) -> None:
    target = Target(name="x", kind="numeric", no_change="lag1")
    model = NoChange.create("", {}, bench.Context((target,)))
    assert model.unsupported("suite/task") is None
    assert set(bench.answer(model, bench.requests(2, naive="[3]")).texts.values()) == {"[3]"}
    assert bench.answer(model, bench.requests(1)).reasons == ["no_naive_answer"]


def test_no_change_asks_the_records_where_the_spec_is_silent(bench: SimpleNamespace) -> None:
    with_naive = bench.Context((NUMBER,), (), [Record("suite/task", "1", naive="[1]")])
    assert NoChange.create("", {}, with_naive).unsupported("suite/task") is None
    without = bench.Context((NUMBER,), (), [Record("suite/task", "1")])
    assert "no-change" in str(NoChange.create("", {}, without).unsupported("suite/task"))


def test_uniform_stays_in_range(bench: SimpleNamespace) -> None:
    model = Uniform.create("", {}, bench.Context((SCALE,)))
    counts = Counter(bench.answer(model, bench.requests(1000, targets=(SCALE,))).texts.values())
    assert set(counts) == set("12345")
    assert min(counts.values()) > 130
    flat = bench.answer(Uniform.create("", {}, bench.Context((VECTOR,))), bench.requests(1, targets=(VECTOR,)))
    assert set(flat.texts.values()) == {"(0.5, 0.5)"}
    assert "range" in str(Uniform.create("", {}, bench.Context((NUMBER,))).unsupported("suite/task"))


@pytest.mark.parametrize("kind", [Marginal, NoChange, Uniform])
def test_options_and_arguments_are_checked(bench: SimpleNamespace, kind: type[Marginal]) -> None:
    with pytest.raises(ModelError, match="no option 'moed'"):
        kind.create("", {"moed": "sample"}, bench.Context())
    with pytest.raises(ModelError, match="no argument"):
        kind.create("x", {}, bench.Context())


def test_a_misspelt_option_names_the_nearest(bench: SimpleNamespace) -> None:
    with pytest.raises(ModelError, match="did you mean 'mode'"):
        Marginal.create("", {"moed": "sample"}, bench.Context())
