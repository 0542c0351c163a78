from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from hbench.model.flow import DrainError, Flow


def test_every_job_is_done_once_within_the_slots() -> None:
    done: list[int] = []
    busy = most = 0

    async def handle(job: int) -> float | None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.001)
        busy -= 1
        done.append(job)
        return None

    asyncio.run(Flow(iter(range(200)), handle, concurrency=7, max_parked=10).run())
    assert sorted(done) == list(range(200))
    assert most == 7


def test_parked_jobs_hold_no_slot() -> None:
    tries: dict[int, int] = {}

    async def handle(job: int) -> float | None:
        tries[job] = tries.get(job, 0) + 1
        await asyncio.sleep(0.001)
        return 0.3 if job % 2 and tries[job] == 1 else None

    begun = time.monotonic()
    asyncio.run(Flow(iter(range(100)), handle, concurrency=2, max_parked=100).run())
    assert time.monotonic() - begun < 1.5  # 50 waits of 0.3 s in 2 slots would take 7.5 s
    assert tries == {job: 1 + job % 2 for job in range(100)}


def test_jobs_are_taken_lazily_and_parking_is_bounded() -> None:
    taken = 0

    def jobs() -> Iterator[int]:
        nonlocal taken
        for job in range(1000):
            taken += 1
            yield job

    async def handle(job: int) -> float | None:
        return 60.0

    async def work() -> None:
        flow = Flow(jobs(), handle, concurrency=4, max_parked=20)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(flow.run(), 0.2)
        assert flow.parked <= 24

    asyncio.run(work())
    assert taken <= 24


def test_an_exception_ends_the_flow_and_nothing_is_left_running() -> None:
    async def handle(job: int) -> float | None:
        if job == 3:
            raise RuntimeError("disk full")
        await asyncio.sleep(60)
        return None

    async def work() -> None:
        with pytest.raises(RuntimeError, match="disk full"):
            await Flow(iter(range(10)), handle, concurrency=5, max_parked=5).run()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(work())


def test_draining_lets_what_is_in_flight_finish() -> None:
    done: list[int] = []

    async def handle(job: int) -> float | None:
        if job == 4:
            raise DrainError(ValueError("no money"))
        await asyncio.sleep(0.05)
        done.append(job)
        return None

    with pytest.raises(ValueError, match="no money"):
        asyncio.run(Flow(iter(range(100)), handle, concurrency=5, max_parked=5).run())
    assert sorted(done) == [0, 1, 2, 3]


def test_an_error_of_the_source_is_raised() -> None:
    def jobs() -> Iterator[int]:
        yield 1
        raise KeyError("column")

    async def handle(job: int) -> float | None:
        return None

    with pytest.raises(KeyError):
        asyncio.run(Flow(jobs(), handle, concurrency=3, max_parked=5).run())


def test_no_jobs_at_all() -> None:
    async def handle(job: int) -> float | None:
        raise AssertionError

    asyncio.run(Flow(iter(()), handle, concurrency=3, max_parked=5).run())
