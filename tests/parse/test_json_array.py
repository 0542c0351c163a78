"""Fact sheet 02_scoring, sections 2, 3 and 10: every rule and reason code."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Parser, Target
from hbench.parse import REPAIRS, JsonArray, ProbabilityVectors
from tests.parse.strategies import answered, answers, json_values, noise

THREE = tuple(Target(name=name, kind="numeric") for name in ("total", "food", "away"))
STATUS = Target(name="status", kind="categorical", labels=("employed", "unemployed", "3"))
RISK = tuple(Target(name=name, kind="probability", labels=("no_event", "event")) for name in ("loss", "leave"))
BINS = Target(name="bins", kind="probability", labels=("low", "mid", "high"))


def read(parser: Parser, raw: object, *targets: Target, repairs: frozenset[str] = frozenset(), **kw: Any) -> Any:
    result = parser(Completion(raw), AnswerSpec(targets, repairs=repairs, **kw))
    return result.reason if isinstance(result, Failure) else result


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("[1, 2.5, -3]", (1.0, 2.5, -3.0)),
        ([1, 2, 3], (1.0, 2.0, 3.0)),
        ("Answer: [1,2,3].", (1.0, 2.0, 3.0)),
        ("[3333,2576,757]", (3333.0, 2576.0, 757.0)),
        ("", "empty_response"),
        (None, "expected_json_array"),
        ("none", "expected_json_array"),
        ("1234", "expected_json_array"),
        ('{"total": 1, "food": 2, "away": 3}', "expected_json_array"),
        ('"[1,2,3]"', "expected_json_array"),
        ("[1, 2]", "expected_3_array_elements"),
        ("[[1, 2, 3]]", "expected_3_array_elements"),
        ('["1", 2, 3]', "total:expected_number"),
        ("[1, true, 3]", "food:expected_number"),
        ("[1, 2, null]", "away:expected_number"),
        ("[1, [2], 3]", "food:expected_number"),
        ("[NaN, 2, 3]", "total:non_finite_number"),
        ("[1, 1e999, 3]", "food:non_finite_number"),
        (f"[1, 2, {'9' * 400}]", "away:non_finite_number"),
        ([1, 2, 10**5000], "away:non_finite_number"),
        (f"[1, 2, {'9' * 4301}]", "expected_json_array"),
        ("[" * 5000, "too_deeply_nested"),
    ],
)
def test_numbers(raw: object, expected: object) -> None:
    result = read(JsonArray(), raw, *THREE)
    assert (result.values if isinstance(result, Parsed) else result) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('["employed"]', "employed"),
        ("[3]", "3"),
        ("[3.0]", "3"),
        ('["Employed"]', "status:invalid_label:'Employed';allowed=employed,unemployed,3"),
        ('[" employed"]', "status:invalid_label:' employed';allowed=employed,unemployed,3"),
        ("[4]", "status:invalid_label:4;allowed=employed,unemployed,3"),
        ("[true]", "status:expected_categorical_label"),
        ("[3.5]", "status:expected_categorical_label"),
        ("[null]", "status:expected_categorical_label"),
        ('[["employed"]]', "status:expected_categorical_label"),
        ("[NaN]", "status:expected_categorical_label"),
        ('"employed"', "expected_json_array"),
        ('["employed", "employed"]', "expected_1_array_elements"),
    ],
)
def test_labels(raw: object, expected: str) -> None:
    result = read(JsonArray(), raw, STATUS)
    assert (result.values[0] if isinstance(result, Parsed) else result) == expected


def test_a_huge_label_is_named_and_cut() -> None:
    assert len(read(JsonArray(), ["x" * 10_000], STATUS)) < 300
    assert read(JsonArray(), [10**6000], STATUS).startswith("status:invalid_label:<integer of")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("[[0.9, 0.1], [0.8, 0.2]]", ((0.9, 0.1), (0.8, 0.2))),
        ("[[1, 0], [0, 1]]", ((1.0, 0.0), (0.0, 1.0))),
        ("[[0.9, 0.1000005], [0.8, 0.2]]", ((0.9, 0.1000005), (0.8, 0.2))),
        ("x", "expected_distribution_array"),
        ('{"loss": [0.9, 0.1]}', "expected_distribution_array"),
        ("[[0.9, 0.1]]", "expected_2_distributions"),
        ("[0.9, 0.1]", "loss:expected_probability_vector"),
        ("[[0.9, 0.1], 0.2]", "leave:expected_probability_vector"),
        ("[[0.9, 0.1], [0.8]]", "leave:expected_2_probabilities"),
        ('[[0.9, "0.1"], [0.8, 0.2]]', "loss:expected_number"),
        ("[[0.9, NaN], [0.8, 0.2]]", "loss:non_finite_number"),
        ("[[1.1, -0.1], [0.8, 0.2]]", "loss:probability_out_of_range"),
        ("[[90, 10], [0.8, 0.2]]", "loss:probability_out_of_range"),
        ("[[0.9, 0.2], [0.8, 0.2]]", "loss:probabilities_must_sum_to_one"),
        ("[[0.9, 0.100002], [0.8, 0.2]]", "loss:probabilities_must_sum_to_one"),
    ],
)
def test_vectors(raw: object, expected: object) -> None:
    result = read(ProbabilityVectors(), raw, *RISK)
    assert (result.values if isinstance(result, Parsed) else result) == expected


def test_the_sum_is_compensated() -> None:
    labels = tuple(f"bin_{i}" for i in range(10))
    target = Target(name="bins", kind="probability", labels=labels)
    vector = [0.1] * 10
    assert sum(vector) != 1.0
    assert read(ProbabilityVectors(), [vector], target).values == (tuple(vector),)
    assert math.fsum(vector) == 1.0


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("[6,620, 3,800, 2,820]", (6620.0, 3800.0, 2820.0)),
        ("[$1, $2.50, -$3,000]", (1.0, 2.5, -3000.0)),
        ("<think>about $5</think>[1,024, 2, 3]", (1024.0, 2.0, 3.0)),
        ("[100,200,300,400]", "expected_3_array_elements"),
        ("[1,0245, 2, 3]", "expected_json_array"),  # four digits after the comma
        ("nothing", "expected_json_array"),
    ],
)
def test_repair_of_numbers(raw: str, expected: object) -> None:
    result = read(JsonArray(), raw, *THREE, repairs=frozenset({"numbers"}))
    assert (result.values if isinstance(result, Parsed) else result) == expected
    assert isinstance(read(JsonArray(), raw, *THREE), str)  # off by default
    assert isinstance(read(JsonArray(), raw, *THREE, repairs=frozenset({"nesting"})), str)
    if isinstance(result, Parsed):
        assert result.repaired == "numbers"


def test_repair_of_numbers_one_target() -> None:
    one = THREE[:1]
    assert read(JsonArray(), "[1,024]", *one, repairs=REPAIRS) == Parsed((1024.0,), "numbers")
    assert read(JsonArray(), "[-$21,000]", *one, repairs=REPAIRS) == Parsed((-21000.0,), "numbers")
    # The reason why repairs stay off by default.
    assert read(JsonArray(), "[100,200,300]", *one, repairs=REPAIRS) == Parsed((100200300.0,), "numbers")
    assert read(JsonArray(), "[3333,2576,757]", *THREE, repairs=REPAIRS) == Parsed((3333.0, 2576.0, 757.0))
    assert read(JsonArray(), [["$1"]], *one, repairs=REPAIRS) == "total:expected_number"  # no text, no repair


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("[0.96, 0.04], [0.97, 0.03]", ((0.96, 0.04), (0.97, 0.03))),
        ("[0.96, 0.04]\n[0.97, 0.03]", ((0.96, 0.04), (0.97, 0.03))),
        ("[0.96, 0.04], [0.97, 0.03] as I said", ((0.96, 0.04), (0.97, 0.03))),
        ("<think>hm</think> [0.96, 0.04], [0.97, 0.03]", ((0.96, 0.04), (0.97, 0.03))),
        ("[0.96, 0.04, 0.97, 0.03]", ((0.96, 0.04), (0.97, 0.03))),
        ("0.5, [0.96, 0.04], [0.97, 0.03]", ((0.96, 0.04), (0.97, 0.03))),  # other values are passed over
        ("I say [0.96, 0.04], [0.97, 0.03]", "loss:expected_probability_vector"),
        ("```\n[0.96, 0.04], [0.97, 0.03]\n```", "loss:expected_probability_vector"),
        ("[0.96, 0.14], [0.97, 0.03]", "loss:expected_probability_vector"),  # the first reason stays
        ("[0.96, 0.04, 0.97]", "expected_2_distributions"),
    ],
)
def test_repair_of_nesting(raw: str, expected: object) -> None:
    result = read(ProbabilityVectors(), raw, *RISK, repairs=frozenset({"nesting"}))
    assert (result.values if isinstance(result, Parsed) else result) == expected
    assert isinstance(read(ProbabilityVectors(), raw, *RISK), str)
    if isinstance(result, Parsed):
        assert result.repaired == "nesting"


def test_unequal_vectors_are_cut_by_their_lengths() -> None:
    flat = "[0.2, 0.3, 0.5, 0.9, 0.1]"
    assert read(ProbabilityVectors(), flat, BINS, RISK[0], repairs=REPAIRS).values == ((0.2, 0.3, 0.5), (0.9, 0.1))


def test_mixed_targets() -> None:
    rating = Target(name="rating", kind="ordinal", range=(1, 5))
    result = read(JsonArray(), '[12.5, "employed", [0.9, 0.1], 4]', THREE[0], STATUS, RISK[0], rating)
    assert result.values == (12.5, "employed", (0.9, 0.1), 4)
    assert read(JsonArray(), "[4.5]", rating) == "rating:expected_whole_number"
    letters = Target(name="options", kind="choice_set")
    note = Target(name="note", kind="text")
    assert read(JsonArray(), '["CB", "why"]', letters, note).values == ("BC", "why")
    assert read(JsonArray(), '["E", "why"]', letters, note) == "options:expected_option_letters"
    assert read(JsonArray(), '["A", 1]', letters, note) == "note:expected_text"


def test_clipping_only_where_the_answer_says_so() -> None:
    bounded = Target(name="share", kind="numeric", range=(0, 100))
    assert read(JsonArray(), "[140]", bounded).values == (140.0,)
    assert read(JsonArray(), "[140]", bounded, clip=True).values == (100.0,)
    rating = Target(name="rating", kind="ordinal", range=(1, 5))
    (value,) = read(JsonArray(), "[9]", rating, clip=True).values
    assert (value, type(value)) == (5, int)


@pytest.mark.parametrize(
    ("values", "decimals", "text"),
    [
        ((1.5, 2.5, -0.4), 0, "[2, 2, 0]"),  # half to even, no negative zero
        ((1234.5, -2.0, 0.1), None, "[1234.5, -2.0, 0.1]"),
        ((1.005, -2.0, 1 / 3), 2, "[1.0, -2.0, 0.33]"),
    ],
)
def test_rendered_numbers(values: tuple[float, ...], decimals: int | None, text: str) -> None:
    assert JsonArray().render(values, AnswerSpec(THREE, decimals=decimals)) == text


def test_whole_numbers_are_bare_where_the_answer_says_so() -> None:
    answer = AnswerSpec((*THREE, BINS), decimals=2, options={"whole": True})
    values = (350_000.0, 1_000.004, -2.5, (0.0, 0.0, 1.0))
    assert JsonArray().render(values, answer) == "[350000, 1000, -2.5, [0.0, 0.0, 1.0]]"


def test_rendered_labels_and_vectors() -> None:
    answer = AnswerSpec((STATUS, RISK[0], BINS), decimals=3)
    values = ("employed", (1 - 0.1234, 0.1234), (1 / 3, 1 / 3, 1 / 3))
    # Two events: the second is rounded, the first its complement; of more, the largest takes the residual.
    assert JsonArray().render(values, answer) == '["employed", [0.877, 0.123], [0.334, 0.333, 0.333]]'


@given(st.text() | noise | json_values, answers(), st.booleans())
def test_never_raises_and_accepts_only_what_fits(raw: object, answer: AnswerSpec, repair: bool) -> None:
    answer = AnswerSpec(answer.targets, repairs=REPAIRS if repair else frozenset())
    for parser in (JsonArray(), ProbabilityVectors()):
        result = parser(Completion(raw), answer)
        if isinstance(result, Failure):
            assert result.stage == "parse"
            assert result.reason
            continue
        assert len(result.values) == len(answer.targets)
        for value, target in zip(result.values, answer.targets, strict=True):
            if target.kind == "categorical":
                assert value in target.labels
            elif target.kind == "probability":
                assert isinstance(value, tuple)
                assert len(value) == len(target.labels)
                assert all(0 <= p <= 1 for p in value)
                assert abs(math.fsum(value) - 1) <= 1e-6
            else:
                assert isinstance(value, int if target.kind == "ordinal" else float)
                assert math.isfinite(value)


@given(answered())
def test_rendered_answers_read_back(case: tuple[AnswerSpec, Any]) -> None:
    answer, values = case
    text = JsonArray().render(values, answer)
    assert JsonArray()(Completion(text), answer) == Parsed(values)
    # Within prose too, unless the prose has brackets of its own.
    assert JsonArray()(Completion(f"So I say:\n```json\n{text}\n```"), answer) == Parsed(values)


@given(answered(kinds=("probability",)), st.integers(2, 6))
def test_rounded_vectors_stay_valid(case: tuple[AnswerSpec, Any], decimals: int) -> None:
    answer, values = case
    answer = AnswerSpec(answer.targets, decimals=decimals)
    text = ProbabilityVectors().render(values, answer)
    result = ProbabilityVectors()(Completion(text), answer)
    assert isinstance(result, Parsed)
    assert ProbabilityVectors().render(result.values, answer) == text
