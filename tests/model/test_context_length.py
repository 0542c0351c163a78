"""Prompts that are longer than the stated context are told, not sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Completion, Failure, Outcome, Request, Sampling
from hbench.model.anthropic import Anthropic
from hbench.model.openai import OpenAI
from hbench.testing import MockServer


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def of_length(bench: SimpleNamespace, lengths: list[int], **sampling: Any) -> list[Request]:
    """Requests whose prompts have so many characters."""
    made = []
    for request, length in zip(bench.requests(len(lengths)), lengths, strict=True):
        message = request.messages[-1]._replace(content="x" * length)
        made.append(Request(request.record, (message,), request.answer, Sampling(**sampling)))
    return made


@pytest.mark.parametrize("provider", [OpenAI, Anthropic])
def test_what_exceeds_the_context_is_named_and_not_sent(bench: SimpleNamespace, provider: Any) -> None:
    # Four characters a token, the answer's most on top: 92 + 8 = 100 fits, one character more does not.
    requests = of_length(bench, [368, 369, 40, 10_000], max_tokens=8)
    with MockServer() as server:
        model = provider.create("mock", {"base_url": server.url, "context": 100}, bench.Context())
        got = bench.answer(model, requests)
        assert server.stats.unique_prompts == 2
    assert {key[0] for key, outcome in got.outcomes.items() if isinstance(outcome, Completion)} == {"0", "2"}
    refused = {key[0]: outcome for key, outcome in got.outcomes.items() if isinstance(outcome, Failure)}
    assert {key: (one.stage, one.reason) for key, one in refused.items()} == {
        "1": ("request", "context_too_long"),
        "3": ("request", "context_too_long"),
    }
    assert refused["1"].detail == (
        "about 93 tokens of prompt (characters / 4) and 8 of answer are more than context=100; not sent"
    )


def test_without_a_stated_context_everything_is_sent(bench: SimpleNamespace) -> None:
    with MockServer() as server:
        got = bench.answer(
            OpenAI.create("mock", {"base_url": server.url}, bench.Context()), of_length(bench, [9, 50_000])
        )
        assert server.stats.unique_prompts == 2
    assert len(got.texts) == 2


def test_the_context_is_no_part_of_the_identity(bench: SimpleNamespace) -> None:
    plain, stated = (
        OpenAI.create("mock", {"base_url": "http://127.0.0.1:1", **options}, bench.Context())
        for options in ({}, {"context": 4096})
    )
    assert plain.identity == stated.identity


def test_batches_leave_it_out_too(bench: SimpleNamespace, tmp_path: Path) -> None:
    told: dict[str, Outcome] = {}

    async def deliver(request: Request, draw: int, outcome: Outcome) -> None:
        told[request.record.id] = outcome

    with MockServer() as server:
        options = {"base_url": server.url, "context": 100, "batch_poll": 0.02}
        model = OpenAI.create("mock", options, bench.Context())
        model.use_batches(tmp_path / "batches")
        asyncio.run(model.answer(iter(of_length(bench, [40, 9_000])), deliver))
    assert isinstance(told["0"], Completion)
    assert isinstance(told["1"], Failure)
    assert told["1"].reason == "context_too_long"
