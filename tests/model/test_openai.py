from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Completion, Failure, ModelError
from hbench.model.openai import ChatWire, OpenAI, vary_seed
from hbench.model.wire import BodyError, scrub

WIRE = ChatWire("m")


def choice(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        (choice(content="x"), Completion("x")),
        (choice(content=""), Completion("")),
        (choice(content="x", reasoning_content="y"), Completion("x", "y")),
        (choice(content="x", reasoning="y"), Completion("x", "y")),
        (choice(content=None, refusal="I will not"), Completion("I will not")),
        (choice(content=None, reasoning_content="endless"), Completion("", "endless")),
        (choice(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), Completion("ab")),
        ({"choices": [{"message": {"content": None}, "finish_reason": "length"}]}, Completion("")),
        (
            {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]},
            Failure("request", "content_filter", "the provider withheld the answer"),
        ),
    ],
)
def test_forms_of_an_answer(payload: dict[str, Any], outcome: object) -> None:
    assert WIRE.read(payload, (0,)).outcomes == {0: outcome}


@pytest.mark.parametrize(
    ("payload", "reason", "status"),
    [
        ([], "not_an_object", None),
        ({}, "no_choices", None),
        ({"choices": {}}, "no_choices", None),
        ({"choices": [{}]}, "no_message", None),
        ({"choices": ["x"]}, "no_message", None),
        (choice(content=None), "no_content", None),
        ({"error": {"message": "m", "code": 429}}, "error_body", 429),
        ({"error": {"message": "m", "code": "boom"}}, "error_body", None),
        ({"error": "text"}, "error_body", None),
    ],
)
def test_bodies_that_are_no_answer(payload: Any, reason: str, status: int | None) -> None:
    with pytest.raises(BodyError) as caught:
        WIRE.read(payload, (0,))
    assert (caught.value.reason, caught.value.status) == (reason, status)


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "many"}, {"prompt_tokens": -1}, {"prompt_tokens": True}])
def test_odd_token_counts_are_unknown(usage: Any) -> None:
    assert WIRE.read({**choice(content="x"), "usage": usage}, (0,)).tokens_in is None


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"error": {"message": "m", "code": "c"}}, ("m", "c")),
        ({"error": {"message": "m", "type": "t"}}, ("m", "t")),
        ({"error": "m"}, ("m", "")),
        ({"object": "error", "message": "m", "code": 400}, ("m", "400")),
        ({"detail": "m"}, ("m", "")),
        (None, ("", "")),
    ],
)
def test_forms_of_a_complaint(payload: Any, expected: tuple[str, str]) -> None:
    assert WIRE.complaint(payload) == expected


def test_the_official_server_needs_a_key(bench: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        OpenAI.create("gpt-x", {}, bench.Context())
    with pytest.raises(ModelError, match="MINE"):
        OpenAI.create("m", {"base_url": "http://x/v1", "key_env": "MINE"}, bench.Context())
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert OpenAI.create("gpt-x", {}, bench.Context())._secrets == ("k",)


@pytest.mark.parametrize(
    ("url", "sent"), [("http://localhost:1/v1", True), ("https://x/v1", True), ("http://10.0.0.1/v1", False)]
)
def test_the_usual_key_travels_encrypted_or_not_at_all(
    bench: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, url: str, sent: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    model = OpenAI.create("m", {"base_url": url}, bench.Context())
    assert (model._secrets == ("k",)) == sent


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base_url": "127.0.0.1:8000"}, "http://"),
        ({"base_url": []}, "list of texts"),
        ({"concurrency": 0}, "at least 1"),
        ({"concurrency": "many"}, "whole number"),
        ({"timeout": 0}, "above 0"),
        ({"n_draws": "both"}, "separate, native"),
        ({"max_cost": 1}, "price_in"),
        ({"api_key": "x"}, "no option"),
    ],
)
def test_options_are_checked(bench: SimpleNamespace, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        OpenAI.create("m", {"base_url": "http://localhost/v1", **options}, bench.Context())


def test_the_identity_knows_no_address(bench: SimpleNamespace) -> None:
    one = OpenAI.create("m", {"base_url": "http://localhost:1/v1", "concurrency": 2}, bench.Context())
    two = OpenAI.create("m", {"base_url": "http://localhost:2/v1/chat/completions"}, bench.Context())
    other = OpenAI.create("n", {"base_url": "http://localhost:1/v1"}, bench.Context())
    assert one.identity == two.identity != other.identity
    assert two._endpoints[0].url == "http://localhost:2/v1/chat/completions"


def test_seeds_stay_in_the_range_that_servers_take() -> None:
    assert 0 <= vary_seed(2**40, 3, 10**6) < 2**31
    assert len({vary_seed(1, draw, occurrence) for draw in range(100) for occurrence in range(100)}) == 10_000


def test_scrubbing() -> None:
    assert scrub("key abc failed", ("abc",)) == "key *** failed"
    assert "sk-proj" not in scrub("Incorrect key: sk-proj-abcdefgh1234")
    assert scrub("Authorization: Bearer abcdefghijk") == "Authorization: ***"
    assert len(scrub("x" * 5000)) < 310
    assert scrub("a\n\n b") == "a b"


def test_a_user_in_the_address_and_a_key_exclude_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "CANARY-KEY")
    options = {"base_url": "http://me:CANARY@127.0.0.1:1/v1"}
    with pytest.raises(ModelError, match="only one of them") as caught:
        OpenAI.create("m", options, SimpleNamespace(seed=1))  # type: ignore[arg-type]
    assert "CANARY" not in str(caught.value)
