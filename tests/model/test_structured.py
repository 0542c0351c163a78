"""Answers held to the task's JSON Schema, by each provider's own field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hbench.core import Completion, Request
from hbench.model.anthropic import Anthropic
from hbench.model.google import Google
from hbench.model.openai import OpenAI
from hbench.model.structured import unwrap
from hbench.parse import BracketedNumber
from hbench.testing import MockServer
from tests.model.test_learned import PREDICTORS, TARGETS, Context, make_task, row

TASK = make_task(TARGETS["numeric"], predictors=PREDICTORS)
PROVIDERS: dict[str, Any] = {"openai": OpenAI, "anthropic": Anthropic, "google": Google}
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 1}},
    "required": ["answer"],
    "additionalProperties": False,
}


def sent(provider: str, body: dict[str, Any]) -> Any:
    if provider == "openai":
        assert body["response_format"]["json_schema"]["strict"] is True
        return body["response_format"]["json_schema"]["schema"]
    if provider == "anthropic":
        return body["output_config"]["format"]["schema"]
    assert body["generationConfig"]["responseMimeType"] == "application/json"
    return body["generationConfig"]["responseJsonSchema"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_schema_is_sent_and_the_answer_taken_out_of_its_object(bench: Any, provider: str) -> None:
    bodies: list[Any] = []

    def answer(question: Any) -> str:
        bodies.append(question.body)
        return json.dumps({"answer": [7]})

    with MockServer(answer=answer) as server:
        options = {"base_url": server.url, "structured": True}
        model = PROVIDERS[provider].create("m", options, Context(TASK))
        assert model.unsupported("s/t") is None
        got = bench.answer(model, [Request(row(1, 0.0, "x"), next(bench.requests(1)).messages, TASK.answer_spec())])
    assert got.texts == {("1", 0): "[7]"}
    assert sent(provider, bodies[0]) == SCHEMA
    assert model.identity["structured"] is True
    plain = PROVIDERS[provider].create("m", {"base_url": server.url}, Context(TASK))
    assert "structured" not in plain.identity


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tasks_whose_answers_are_no_json_are_told_beforehand(provider: str) -> None:
    context = Context(TASK, reader=BracketedNumber())
    model = PROVIDERS[provider].create("m", {"base_url": "http://localhost/v1", "structured": True}, context)
    assert "structured answers are JSON" in model.unsupported("s/t")


def test_only_the_schema_s_own_object_is_unwrapped() -> None:
    for text in ("[1]", "no JSON", '{"other": 1}', '{"answer": 1, "more": 2}'):
        assert unwrap(Completion(text, "why", 3, 4)) == Completion(text, "why", 3, 4)
    assert unwrap(Completion('{"answer": ["é"]}', "why", 3, 4, 0.5)) == Completion('["é"]', "why", 3, 4, 0.5)
