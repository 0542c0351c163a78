"""The OpenAI back end against the server that misbehaves, fault by fault."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Completion, Message, ModelError, Outcome, Request, Sampling
from hbench.model import http
from hbench.model.limits import backoff
from hbench.model.openai import OpenAI
from hbench.model.wire import TOO_LONG, refusal_reason
from hbench.testing import MockServer

SECRET = "sk-verysecret0123456789"  # a made-up key


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(http, "backoff", lambda attempt, **_: backoff(attempt, base=0.01, cap=0.05))


def make(bench: SimpleNamespace, url: str | list[str], **options: Any) -> OpenAI:
    return OpenAI.create("mock", {"base_url": url, "timeout": 5, **options}, bench.Context())


def test_prompts_arrive_and_answers_return(bench: SimpleNamespace) -> None:
    with MockServer(answer=lambda question: question.prompt.upper()) as server:
        got = bench.answer(make(bench, server.url), bench.requests(20))
        assert server.stats.unique_prompts == 20
    assert got.texts == {(str(i), 0): f"QUESTION {i}?" for i in range(20)}
    assert all(o.tokens_in > 0 and o.tokens_out > 0 for o in got.outcomes.values())


def test_slots_are_used_up_to_the_concurrency_and_never_above(bench: SimpleNamespace) -> None:
    with MockServer(latency=0.02) as server:
        bench.answer(make(bench, server.url, concurrency=8), bench.requests(100))
        assert server.stats.max_in_flight == 8


def test_a_slot_is_used_again_only_after_delivery(bench: SimpleNamespace) -> None:
    with MockServer() as server:
        model = make(bench, server.url, concurrency=4)
        waiting = 0

        async def deliver(request: Request, draw: int, outcome: Outcome) -> None:
            nonlocal waiting
            waiting += 1
            assert model.stats.requests - delivered <= 4
            await asyncio.sleep(0.01)
            count()

        delivered = 0

        def count() -> None:
            nonlocal delivered
            delivered += 1

        async def work() -> None:
            await model.answer(bench.requests(40), deliver)
            await model.aclose()

        asyncio.run(work())
        assert delivered == waiting == 40


def test_unset_settings_are_not_sent(bench: SimpleNamespace) -> None:
    bodies: list[dict[str, Any]] = []

    def keep(question: Any) -> str:
        bodies.append(dict(question.body))
        return "x"

    with MockServer(answer=keep) as server:
        bench.answer(make(bench, server.url), bench.requests(1))
        sampling = Sampling(
            temperature=0.0, top_k=20, max_tokens=7, stop=("a",), extra={"chat_template_kwargs": {"x": 1}}
        )
        bench.answer(make(bench, server.url), bench.requests(1, sampling=sampling))
    assert set(bodies[0]) == {"model", "messages"}
    assert bodies[0]["messages"] == [
        {"role": "system", "content": "Be a person."}, {"role": "user", "content": "Question 0?"},
    ]  # fmt: skip
    assert bodies[1] | {"temperature": 0.0, "top_k": 20, "max_tokens": 7, "stop": ["a"]} == bodies[1]
    assert bodies[1]["chat_template_kwargs"] == {"x": 1}


def test_draws_have_seeds_of_their_own(bench: SimpleNamespace) -> None:
    seeds: list[int | None] = []

    def keep(question: Any) -> str:
        seeds.append(question.seed)
        return str(question.seed)

    with MockServer(answer=keep) as server:
        got = bench.answer(make(bench, server.url), bench.requests(1, draws=(0, 1, 5), sampling=Sampling(seed=7)))
        assert sorted(s for s in seeds if s is not None) == [7, 8, 12]
        assert got.texts[("0", 5)] == "12"
        twin = next(bench.requests(1, sampling=Sampling(seed=7)))
        again = Request(twin.record, twin.messages, twin.answer, twin.sampling, (0,), occurrence=1)
        bench.answer(make(bench, server.url), [again])
        assert seeds[-1] not in (None, 7)


def test_native_draws_share_a_request_and_its_tokens(bench: SimpleNamespace) -> None:
    with MockServer(answer=["a", "b", "c"]) as server:
        model = make(bench, server.url, n_draws="native", price_in=1.0, price_out=2.0)
        got = bench.answer(model, bench.requests(1, draws=(0, 1, 2)))
        assert server.stats.requests == 1
    assert len(got.texts) == 3
    outcomes = [got.outcomes[("0", draw)] for draw in range(3)]
    assert sum(o.tokens_in for o in outcomes) == model.stats.tokens_in
    assert sum(o.tokens_out for o in outcomes) == model.stats.tokens_out
    assert sum(o.cost for o in outcomes) == pytest.approx(model.spend.spent)


def test_draws_that_the_server_left_out_are_asked_for_again(bench: SimpleNamespace) -> None:
    with MockServer(schedule=["fewer_choices"]) as server:
        got = bench.answer(make(bench, server.url, n_draws="native"), bench.requests(1, draws=(0, 1, 2)))
        assert server.stats.requests == 2
    assert len(got.texts) == 3


@pytest.mark.parametrize(
    "fault",
    ["408", "429", "500", "503", "truncated_json", "garbage", "wrong_content_type", "empty_choices", "no_content",
     "error_body", "half_close", "disconnect"],
)  # fmt: skip
def test_a_passing_fault_is_retried(bench: SimpleNamespace, fault: str) -> None:
    with MockServer(schedule=[fault, fault]) as server:
        model = make(bench, server.url, concurrency=1)
        got = bench.answer(model, bench.requests(3))
        assert server.stats.requests == 5
        assert server.stats.repeated == 0
    assert len(got.texts) == 3
    assert sum(model.stats.retries.values()) == 2


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("429", "http_429"),
        ("500", "http_500"),
        ("truncated_json", "invalid_json"),
        ("garbage", "invalid_json"),
        ("wrong_content_type", "wrong_content_type"),
        ("empty_choices", "no_choices"),
        ("no_content", "no_message"),
        ("error_body", "error_body"),
        ("half_close", "incomplete_body"),
        ("disconnect", "disconnected"),
        ("hang", "timeout"),
    ],
)
def test_a_lasting_fault_has_a_name_and_an_end(bench: SimpleNamespace, fault: str, reason: str) -> None:
    with MockServer(faults={fault: 1.0}) as server:
        got = bench.answer(make(bench, server.url, attempts=3, timeout=0.3), bench.requests(2))
        assert server.stats.requests == 6
    assert got.reasons == [reason] * 2
    assert all("attempt 3 of 3" in o.detail for o in got.outcomes.values())


@pytest.mark.parametrize("fault", ["huge_body", "endless_body"])
def test_a_body_without_end_is_cut_short(bench: SimpleNamespace, fault: str) -> None:
    with MockServer(schedule=[fault]) as server:
        got = bench.answer(make(bench, server.url, max_body=2**20, concurrency=1), bench.requests(2))
    assert got.reasons == ["body_too_large"]
    assert len(got.texts) == 1


def test_what_a_retry_cannot_change_is_not_retried(bench: SimpleNamespace) -> None:
    with MockServer(schedule=[None, "400"]) as server:
        got = bench.answer(make(bench, server.url, concurrency=1), bench.requests(5))
        assert server.stats.requests == 5
    assert got.reasons == ["http_400"]
    assert "mock fault 400" in next(o.detail for o in got.outcomes.values() if not isinstance(o, Completion))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000", "too_long"),
        ("The decoder prompt (length 9000) is longer than the maximum model length of 8192.", "too_long"),
        ("request (9000 tokens) exceeds the available context size (8192 tokens)", "too_long"),
        ("Requested tokens (9000) exceed context window of 8192", "too_long"),
        ("prompt is too long: 210000 tokens > 200000 maximum", "too_long"),
        ("input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000", "too_long"),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "too_long"),
        ("max_tokens is too large: 99999. This model supports at most 16384 completion tokens", "other"),
        ("Unknown parameter: context", "other"),
    ],
)
def test_providers_words_for_a_prompt_that_does_not_fit(message: str, reason: str) -> None:
    assert refusal_reason("other", message) == {"too_long": TOO_LONG}.get(reason, reason)


def test_prompts_that_do_not_fit_are_named_and_end_nothing(bench: SimpleNamespace) -> None:
    with MockServer(schedule=["too_long"] * 40) as server:
        got = bench.answer(make(bench, server.url, concurrency=4), bench.requests(50))
        assert server.stats.requests == 50
    assert got.reasons == [TOO_LONG] * 40
    assert len(got.texts) == 10


def test_a_parameter_that_the_server_refuses_ends_the_run_early(bench: SimpleNamespace) -> None:
    with MockServer(faults={"400": 1.0}) as server:
        with pytest.raises(ModelError, match=r"refuses every request.*mock fault 400"):
            bench.answer(make(bench, server.url, concurrency=4), bench.requests(2000))
        assert server.stats.requests < 30


@pytest.mark.parametrize("fault", ["401", "403", "404", "quota"])
def test_hopeless_refusals_end_the_model_at_once(bench: SimpleNamespace, fault: str) -> None:
    with MockServer(faults={fault: 1.0}, latency=0.01) as server:
        with pytest.raises(ModelError, match="refuses"):
            bench.answer(make(bench, server.url, concurrency=4), bench.requests(2000))
        assert server.stats.requests <= 8


def test_keys_are_sent_and_never_shown(
    bench: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", SECRET)
    with MockServer(key=SECRET, schedule=["500"]) as server:
        model = make(bench, server.url, key_env="MY_KEY")
        assert len(bench.answer(model, bench.requests(2)).texts) == 2
        assert SECRET not in json.dumps(dict(model.identity)) + repr(model.settings)
        monkeypatch.setenv("MY_KEY", SECRET + "x")
        with pytest.raises(ModelError) as caught:
            bench.answer(make(bench, server.url, key_env="MY_KEY"), bench.requests(2))
    assert "Incorrect API key" in str(caught.value)
    assert SECRET not in str(caught.value) + caplog.text


def test_two_servers_share_the_load_and_one_identity(bench: SimpleNamespace) -> None:
    with MockServer(latency=0.01) as one, MockServer(latency=0.01) as two:
        model = make(bench, [one.url, two.url], concurrency=8)
        assert model.identity == make(bench, one.url).identity
        bench.answer(model, bench.requests(200))
        assert one.stats.requests > 50
        assert two.stats.requests > 50


def test_one_of_two_servers_is_down(bench: SimpleNamespace) -> None:
    with MockServer() as server:
        got = bench.answer(make(bench, [closed_port(), server.url]), bench.requests(50))
    assert len(got.texts) == 50


def test_a_server_that_is_down_is_given_up_with_a_clear_message(bench: SimpleNamespace) -> None:
    begun = time.monotonic()
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        bench.answer(make(bench, closed_port(), patience=1.5), bench.requests(2000))
    assert time.monotonic() - begun < 5
    assert "base_url" in str(caught.value)


def test_a_server_that_goes_down_keeps_what_was_delivered(bench: SimpleNamespace) -> None:
    collector = bench.Collector()
    with MockServer(latency=0.01) as server:
        model = make(bench, server.url, patience=1.0, concurrency=4)

        def requests() -> Any:
            for place, request in enumerate(bench.requests(500)):
                if place == 100:
                    server.stop()
                yield request

        with pytest.raises(ModelError, match="cannot be reached"):
            bench.answer(model, requests(), collector)
    assert len(collector.texts) >= 96
    assert not collector.reasons


def test_a_restarting_server_costs_no_answer(bench: SimpleNamespace) -> None:
    with MockServer(latency=0.01) as first:
        model = make(bench, first.url, concurrency=4, patience=20)
        port = first.port

        async def work(collector: Any) -> None:
            async def restart() -> None:
                await asyncio.sleep(0.1)
                first.stop()
                await asyncio.sleep(0.5)
                second.start()

            second = MockServer(port=port)
            task = asyncio.create_task(restart())
            await model.answer(bench.requests(300), collector)
            await task
            await model.aclose()
            second.stop()

        collector = bench.Collector()
        asyncio.run(work(collector))
    assert len(collector.texts) == 300


def test_retry_after_is_honoured(bench: SimpleNamespace) -> None:
    with MockServer(schedule=["429"], retry_after="0.4") as server:
        begun = time.monotonic()
        assert len(bench.answer(make(bench, server.url), bench.requests(1)).texts) == 1
    assert time.monotonic() - begun >= 0.4


def test_a_wait_of_hours_is_a_failure_instead(bench: SimpleNamespace) -> None:
    with MockServer(schedule=[None, "429"], retry_after="7200") as server:
        got = bench.answer(make(bench, server.url, concurrency=1), bench.requests(3))
    assert got.reasons == ["http_429"]
    assert "7200 s" in got.outcomes[("1", 0)].detail


def test_waiting_requests_release_their_slots(bench: SimpleNamespace) -> None:
    # 40 waits of 0.5 s in 4 slots would take 5 s.
    with MockServer(schedule=["429"] * 40, retry_after="0.5") as server:
        begun = time.monotonic()
        got = bench.answer(make(bench, server.url, concurrency=4), bench.requests(200))
    assert time.monotonic() - begun < 2.5
    assert len(got.texts) == 200


def test_everything_at_once(bench: SimpleNamespace) -> None:
    faults = {"429": 0.05, "500": 0.02, "hang": 0.01, "truncated_json": 0.02, "half_close": 0.02, "disconnect": 0.01}
    with MockServer(faults=faults, retry_after="0.1") as server:
        got = bench.answer(make(bench, server.url, concurrency=64, timeout=1), bench.requests(1500))
        assert server.stats.max_in_flight <= 64 + server.stats.faults["hang"]
        assert set(server.stats.faults) == set(faults)
        assert server.stats.answered == 1500
        assert server.stats.repeated == 0
    assert len(got.texts) == 1500


def test_requests_a_minute(bench: SimpleNamespace) -> None:
    with MockServer() as server:
        begun = time.monotonic()
        bench.answer(make(bench, server.url, requests_per_minute=1200), bench.requests(40))
        # 20 a second, 20 of them as the first second's burst.
        assert time.monotonic() - begun >= 0.9


def test_the_spend_limit_is_kept_and_paid_answers_arrive(bench: SimpleNamespace) -> None:
    with MockServer(answer="word " * 100, latency=0.005) as server:
        collector = bench.Collector()
        model = make(bench, server.url, price_in=1, price_out=1000, max_cost=1.5, concurrency=16)
        with pytest.raises(ModelError, match="spend limit"):
            bench.answer(model, bench.requests(1000), collector)
        assert len(collector.texts) == server.stats.answered
    assert 5 <= len(collector.texts) <= 12
    assert 0 < model.spend.spent <= 1.5
    assert sum(o.cost for o in collector.outcomes.values()) == pytest.approx(model.spend.spent)


def test_memory_stays_flat(bench: SimpleNamespace) -> None:
    ahead = 0
    with MockServer() as server:
        collector = bench.Collector()

        def requests() -> Any:
            nonlocal ahead
            for place, request in enumerate(bench.requests(1000)):
                ahead = max(ahead, place - len(collector.outcomes))
                yield request

        bench.answer(make(bench, server.url, concurrency=8), requests(), collector)
    assert ahead <= 8


def test_cancelling_leaves_nothing_behind(bench: SimpleNamespace) -> None:
    with MockServer(latency=10) as server:
        model = make(bench, server.url, timeout=60)

        async def work() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.answer(bench.requests(10), bench.Collector()), 0.3)
            await model.aclose()
            assert len(asyncio.all_tasks()) == 1

        asyncio.run(work())


def test_a_failing_journal_stops_everything(bench: SimpleNamespace) -> None:
    async def full(request: Request, draw: int, outcome: Outcome) -> None:
        raise OSError(28, "No space left on device")

    with MockServer() as server:
        model = make(bench, server.url, concurrency=4)

        async def work() -> None:
            try:
                await model.answer(bench.requests(100), full)
            finally:
                await model.aclose()

        with pytest.raises(OSError, match="No space"):
            asyncio.run(work())
        assert server.stats.requests <= 4


def test_non_ascii_prompts_arrive_whole(bench: SimpleNamespace) -> None:
    request = next(bench.requests(1))
    spoken = Request(request.record, (Message("user", "Wie viel? 42 € – \U0001f600\0"),), request.answer)
    with MockServer(answer=lambda question: question.prompt) as server:
        got = bench.answer(make(bench, server.url), [spoken])
    assert got.texts == {("0", 0): "Wie viel? 42 € – \U0001f600\0"}


def closed_port() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}/v1"
