"""Concurrency that follows what the server bears."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Outcome, Request
from hbench.model import http
from hbench.model.flow import Flow
from hbench.model.limits import backoff
from hbench.model.openai import OpenAI
from hbench.model.window import Window
from hbench.testing import MockServer


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(http, "backoff", lambda attempt, **_: backoff(attempt, base=0.02, cap=0.1))


def test_a_window_of_answers_adds_one_and_a_window_of_refusals_takes_a_quarter() -> None:
    window = Window(16)
    for _ in range(15):
        assert not window.note(window.epoch, refused=True)
    assert window.note(window.epoch, refused=True)
    assert window.size == 12
    for _ in range(11):
        assert not window.note(window.epoch, refused=False)
    assert window.note(window.epoch, refused=False)
    assert window.size == 13


def test_requests_sent_before_a_cut_do_not_cut_again() -> None:
    window = Window(16)
    sent = window.epoch
    for _ in range(100):
        window.note(sent, refused=True)
    assert window.size == 12


def test_the_window_keeps_between_one_and_its_ceiling() -> None:
    window = Window(4)
    for _ in range(100):
        window.note(window.epoch, refused=True)
    assert window.size == 1
    for _ in range(100):
        window.note(window.epoch, refused=False)
    assert window.size == 4


def test_one_refusal_in_twenty_by_chance_leaves_the_window_open() -> None:
    window, chance = Window(64), random.Random(1)
    sizes = []
    for _ in range(20_000):
        window.note(window.epoch, refused=chance.random() < 0.05)
        sizes.append(window.size)
    assert min(sizes) == 64


def follow(bench: SimpleNamespace, count: int, **options: Any) -> tuple[OpenAI, list[int]]:
    """Ask `count` questions; return the model and the size of its window at each answer."""
    model = OpenAI.create("mock", {"timeout": 5, **options}, bench.Context())
    sizes: list[int] = []

    async def deliver(request: Request, draw: int, outcome: Outcome) -> None:
        sizes.append(model._endpoints[0].window.size)

    async def work() -> None:
        await model.answer(bench.requests(count), deliver)
        await model.aclose()

    asyncio.run(work())
    return model, sizes


@pytest.mark.parametrize("retry_after", [None, "0.1"])
def test_it_settles_near_the_servers_limit(bench: SimpleNamespace, retry_after: str | None) -> None:
    with MockServer(latency=0.02, capacity=8, retry_after=retry_after) as server:
        model, sizes = follow(bench, 800, base_url=server.url, concurrency=64)
        late = sizes[300:]
        assert len(sizes) == server.stats.answered == 800
        assert not model.stats.failures
        assert 4 <= min(late) <= max(late) <= 11
        assert 6 <= sum(late) / len(late) <= 9.5


def test_without_adaptation_the_server_is_pressed_on(bench: SimpleNamespace) -> None:
    with MockServer(latency=0.02, capacity=8) as server:
        _, sizes = follow(bench, 100, base_url=server.url, concurrency=16, adaptive=False, attempts=100)
        assert set(sizes) == {16}


def test_a_server_without_limits_is_asked_at_full_concurrency(bench: SimpleNamespace) -> None:
    with MockServer(latency=0.02, faults={"429": 0.05}) as server:
        _, sizes = follow(bench, 640, base_url=server.url, concurrency=32)
        assert server.stats.max_in_flight == 32
        assert set(sizes) == {32}


def test_the_busier_of_two_servers_gets_less(bench: SimpleNamespace) -> None:
    with MockServer(latency=0.02, capacity=4) as small, MockServer(latency=0.02) as large:
        model, sizes = follow(bench, 800, base_url=[small.url, large.url], concurrency=32)
        assert len(sizes) == 800
        weak, strong = (endpoint.window.size for endpoint in model._endpoints)
        assert weak <= 8
        assert strong >= 24
        assert large.stats.answered > 2 * small.stats.answered


def test_slots_are_closed_and_opened_while_jobs_run() -> None:
    async def work() -> list[int]:
        busy, most, seen = 0, 0, []

        async def handle(job: int) -> float | None:
            nonlocal busy, most
            busy += 1
            if job == 100:
                flow.resize(3)
            if job == 200:
                flow.resize(6)
            seen.append((job, busy))
            await asyncio.sleep(0.001)
            busy -= 1
            return None

        flow = Flow(iter(range(300)), handle, concurrency=10, max_parked=10)
        await asyncio.wait_for(flow.run(), 10)
        assert [job for job, _ in seen] == list(range(300))
        return [max(count for job, count in seen if low <= job < low + 80) for low in (20, 115, 215)]

    assert asyncio.run(work()) == [10, 3, 6]


def test_closed_slots_do_not_keep_a_flow_from_ending() -> None:
    tried: set[int] = set()

    async def work() -> None:
        async def handle(job: int) -> float | None:
            flow.resize(1)
            first = job not in tried
            tried.add(job)
            return 0.01 if first else None

        flow = Flow(iter(range(50)), handle, concurrency=8, max_parked=100)
        await asyncio.wait_for(flow.run(), 5)

    asyncio.run(work())
    assert tried == set(range(50))
