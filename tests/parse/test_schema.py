from __future__ import annotations

import json
from typing import Any

import pytest

from hbench.core import AnswerSpec, Target
from hbench.parse import BracketedNumber, JsonArray, ProbabilityVectors, answer_schema

jsonschema = pytest.importorskip("jsonschema")

NUMBER = Target(name="y", kind="numeric")
LABEL = Target(name="z", kind="categorical", labels=("low", "high"))
SHARES = Target(name="p", kind="probability", labels=("a", "b", "c"))


def meets(parser: Any, targets: tuple[Target, ...], answer: Any) -> bool:
    schema = answer_schema(parser, AnswerSpec(targets=targets))
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)
    return bool(jsonschema.Draft202012Validator(schema).is_valid({"answer": answer}))


@pytest.mark.parametrize(
    ("parser", "targets", "values"),
    [
        (JsonArray(), (NUMBER, NUMBER), (1.5, -2.0)),
        (JsonArray(), (LABEL, NUMBER), ("low", 3.0)),
        (JsonArray(), (Target(name="o", kind="ordinal", range=(1, 5)),), (4,)),
        (ProbabilityVectors(), (SHARES, SHARES), ((0.2, 0.3, 0.5), (1.0, 0.0, 0.0))),
    ],
)
def test_what_a_parser_writes_meets_its_schema(parser: Any, targets: tuple[Target, ...], values: Any) -> None:
    answer = json.loads(parser.render(values, AnswerSpec(targets=targets)))
    assert meets(parser, targets, answer)
    assert not meets(parser, targets, answer[:-1])
    assert not meets(parser, targets, [*answer, answer[0]])
    assert not meets(parser, targets, [None] * len(answer))


def test_labels_and_lengths_are_those_of_the_target() -> None:
    assert not meets(JsonArray(), (LABEL,), ["middle"])
    assert not meets(ProbabilityVectors(), (SHARES,), [[0.5, 0.5]])


def test_answers_that_are_no_json_have_no_schema() -> None:
    assert answer_schema(BracketedNumber(), AnswerSpec(targets=(NUMBER,))) is None
