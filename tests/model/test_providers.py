"""The back ends of Anthropic and Google: their formats, and every fault of a server that speaks them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Completion, Failure, ModelError, Sampling
from hbench.model import http
from hbench.model.anthropic import Anthropic, MessagesWire
from hbench.model.google import GenerateContentWire, Google
from hbench.model.limits import backoff
from hbench.model.wire import BodyError
from hbench.testing import MockServer

PROVIDERS: dict[str, Any] = {"anthropic": Anthropic, "google": Google}
VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}
THOUGHT = {"text": "hm", "thought": True}
WIRES: dict[str, Any] = {"anthropic": MessagesWire("m"), "google": GenerateContentWire("m")}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES.values(), "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(http, "backoff", lambda attempt, **_: backoff(attempt, base=0.01, cap=0.05))


def make(bench: SimpleNamespace, provider: str, url: str, **options: Any) -> Any:
    return PROVIDERS[provider].create("large-1", {"base_url": url, "timeout": 5, **options}, bench.Context())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_prompts_arrive_and_answers_return_with_reasoning_apart(bench: SimpleNamespace, provider: str) -> None:
    seen: list[Any] = []

    def answer(question: Any) -> dict[str, Any]:
        seen.append(question)
        return {"role": "assistant", "content": question.prompt.upper(), "reasoning_content": "hm"}

    with MockServer(answer=answer) as server:
        got = bench.answer(make(bench, provider, server.url), bench.requests(20, draws=(0, 1)))
        assert server.stats.requests == 40
    assert got.texts == {(str(i), draw): f"QUESTION {i}?" for i in range(20) for draw in (0, 1)}
    assert all(isinstance(o, Completion) and o.reasoning == "hm" and o.tokens_in > 0 for o in got.outcomes.values())
    assert [message["role"] for message in seen[0].messages] == ["system", "user"]
    assert seen[0].model == "large-1"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "fault",
    ["429", "500", "503", "truncated_json", "garbage", "wrong_content_type", "empty_choices", "no_content",
     "error_body", "half_close", "disconnect"],
)  # fmt: skip
def test_what_another_try_may_mend_is_tried_again(bench: SimpleNamespace, provider: str, fault: str) -> None:
    with MockServer(answer="[3]", schedule=[fault, fault]) as server:
        model = make(bench, provider, server.url, concurrency=2)
        got = bench.answer(model, bench.requests(10))
    assert set(got.texts.values()) == {"[3]"}
    assert len(got.texts) == 10
    assert sum(model.stats.retries.values()) == 2


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_wrong_key_ends_it_and_is_not_shown(
    bench: SimpleNamespace, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLES[provider], "CANARY-KEY")
    with MockServer(key="right") as server, pytest.raises(ModelError, match="401") as caught:
        bench.answer(make(bench, provider, server.url), bench.requests(3))
    assert "CANARY" not in str(caught.value)
    monkeypatch.setenv(VARIABLES[provider], "right")
    with MockServer(key="right") as server:
        assert len(bench.answer(make(bench, provider, server.url), bench.requests(3)).texts) == 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_provider_s_own_server_needs_a_key(bench: SimpleNamespace, provider: str) -> None:
    with pytest.raises(ModelError, match=f"{VARIABLES[provider]} is not set"):
        PROVIDERS[provider].create("m", {}, bench.Context())
    with pytest.raises(ModelError, match="which one"):
        PROVIDERS[provider].create("", {}, bench.Context())
    with pytest.raises(ModelError, match="no option"):
        make(bench, provider, "http://localhost/v1", n_draws="native")


def test_settings_take_each_provider_s_names(bench: SimpleNamespace) -> None:
    sampling = Sampling(
        temperature=0.5, top_p=0.9, top_k=20, max_tokens=9, stop=("END",), reasoning_effort="low", extra={"x": 1}
    )
    request = next(bench.requests(1, sampling=sampling))
    assert json.loads(WIRES["anthropic"].body(request, (0,))) == {
        "model": "m", "messages": [{"role": "user", "content": "Question 0?"}], "system": "Be a person.",
        "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 20, "stop_sequences": ["END"],
        "output_config": {"effort": "low"}, "x": 1,
    }  # fmt: skip
    assert json.loads(WIRES["google"].body(request, (0,))) == {
        "contents": [{"role": "user", "parts": [{"text": "Question 0?"}]}],
        "systemInstruction": {"parts": [{"text": "Be a person."}]},
        "generationConfig": {
            "temperature": 0.5, "topP": 0.9, "topK": 20, "maxOutputTokens": 9, "stopSequences": ["END"],
            "thinkingConfig": {"thinkingLevel": "low", "includeThoughts": True},
        },
        "x": 1,
    }  # fmt: skip


def test_unset_settings_are_not_sent_but_for_the_limit_that_must_be(bench: SimpleNamespace) -> None:
    request = next(bench.requests(1))
    assert set(json.loads(WIRES["anthropic"].body(request, (0,)))) == {"model", "messages", "system", "max_tokens"}
    assert set(json.loads(WIRES["google"].body(request, (0,)))) == {"contents", "systemInstruction"}


def test_seeds_go_where_there_are_seeds(bench: SimpleNamespace) -> None:
    request = next(bench.requests(1, sampling=Sampling(seed=7), draws=(2,)))
    assert json.loads(WIRES["google"].body(request, (2,)))["generationConfig"]["seed"] == 9
    with pytest.raises(ModelError, match="no seed"):
        WIRES["anthropic"].body(request, (2,))


@pytest.mark.parametrize(
    ("provider", "payload", "reason"),
    [
        ("anthropic", {"content": [], "stop_reason": "refusal"}, "refusal"),
        ("google", {"promptFeedback": {"blockReason": "SAFETY"}}, "prompt_blocked"),
        ("google", {"candidates": [{"finishReason": "RECITATION"}]}, "content_filter"),
    ],
)
def test_withheld_answers_are_named_failures(provider: str, payload: Any, reason: str) -> None:
    outcome = WIRES[provider].read(payload, (4,)).outcomes[4]
    assert isinstance(outcome, Failure)
    assert outcome.reason == reason


@pytest.mark.parametrize(
    ("provider", "payload"),
    [
        ("anthropic", {"content": [{"type": "thinking", "thinking": "hm"}], "stop_reason": "max_tokens"}),
        (
            "google",
            {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}]}, "finishReason": "MAX_TOKENS"}]},
        ),
    ],
)
def test_an_answer_cut_off_while_thinking_is_empty_text(provider: str, payload: Any) -> None:
    assert WIRES[provider].read(payload, (0,)).outcomes[0] == Completion("", "hm")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "payload", [[], "text", {}, {"error": {"message": "no"}}, {"content": None, "candidates": [3]}]
)
def test_bodies_that_are_no_answers_are_errors_of_the_body(provider: str, payload: Any) -> None:
    with pytest.raises(BodyError):
        WIRES[provider].read(payload, (0,))


def test_tokens_count_caches_and_thoughts() -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": None, "output_tokens": 4}
    reply = WIRES["anthropic"].read({"content": [{"type": "text", "text": "x"}], "usage": usage}, (0,))
    assert (reply.tokens_in, reply.tokens_out) == (13, 4)
    counts = {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}
    payload = {"candidates": [{"content": {"parts": [{"text": "x"}]}}], "usageMetadata": counts}
    reply = WIRES["google"].read(payload, (0,))
    assert (reply.tokens_in, reply.tokens_out) == (5, 32)


def test_model_names_cannot_leave_their_path() -> None:
    assert GenerateContentWire("../admin?x=1").path == "/models/..%2Fadmin%3Fx%3D1:generateContent"
