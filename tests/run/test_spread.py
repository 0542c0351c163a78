"""A model in several workers: nothing is lost with a worker, and nothing is delivered twice."""

from __future__ import annotations

import json
import os
import pickle
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from hbench.core import ModelError
from hbench.execute import LostWorkerError, Work
from hbench.model.limits import Prices
from hbench.run import orders, spread, worker
from hbench.run.evaluate import Result, evaluate
from hbench.run.journal import Journal
from hbench.testing.mock_server import MockServer, Question


def answer(question: Question) -> str:
    return f"[{sum(question.prompt.encode()) % 60}]"


class Crew:
    """An executor whose workers live in this process, get copies, and die on command."""

    def __init__(self, workers: int, deaths: Callable[[int, int], bool] = lambda worker, results: False) -> None:
        self.workers = workers
        self.deaths = deaths
        self.hired: list[_Member] = []

    def map(self, fn: Any, items: Any, *, cost: Any = None) -> Iterator[Any]:
        yield from map(fn, items)

    def hire(self, make: Callable[[], Work]) -> _Member:
        member = _Member(len(self.hired), pickle.loads(pickle.dumps(make))(), self.deaths)
        self.hired.append(member)
        return member


class _Member:
    def __init__(self, number: int, work: Work, deaths: Callable[[int, int], bool]) -> None:
        self.number = number
        self.orders: list[int] = []
        self.gold: set[Any] = set()
        self.results = 0
        self.dismissed = False
        self._work = work
        self._deaths = deaths

    async def work(self, order: Any) -> AsyncIterator[Any]:
        order = pickle.loads(pickle.dumps(order))
        self.orders.append(len(order))
        self.gold.update(request.record.gold for request in order)
        async for result in self._work(order):
            if self._deaths(self.number, self.results):
                raise LostWorkerError("killed")
            self.results += len(result)
            yield pickle.loads(pickle.dumps(result))

    async def dismiss(self) -> None:
        await self._work.aclose()
        self.dismissed = True


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "ORDER_REQUESTS", 8)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def ask(toy: Any, model: Any, executor: Any, *, out: str = "run", tasks: str = "spend", **rest: Any) -> Result:
    return evaluate(
        tasks, model, data=toy.data, include_paths=[toy.tasks], out=toy.root / out, executor=executor, **rest
    )


def predictions(result: Result) -> list[bytes]:
    return [path.read_bytes() for path in sorted((result.path / "predictions").rglob("*.jsonl"))]


def test_workers_give_what_one_process_gives(toy: Any) -> None:
    with MockServer(answer=answer, latency=0.005) as server:
        model = f"openai:m,base_url={server.url}"
        alone = ask(toy, model, None, out="alone", tasks="spend,play,move")
        crew = Crew(3)
        together = ask(toy, model, crew, tasks="spend,play,move")
        assert together.scores == alone.scores
        assert predictions(together) == predictions(alone)
    assert len(crew.hired) == 3
    assert all(member.dismissed and member.orders for member in crew.hired)
    assert {None} == set().union(*(member.gold for member in crew.hired)), "the truth stays with the driver"


def test_a_lost_workers_records_are_asked_again_and_none_twice(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_AHEAD", 1)
    added: list[tuple[bytes, int]] = []
    add = Journal.add

    async def count(self: Journal, key: bytes, draw: int, *rest: Any) -> None:
        added.append((key, draw))
        await add(self, key, draw, *rest)

    monkeypatch.setattr(Journal, "add", count)
    with MockServer(answer=answer) as server:
        crew = Crew(2, lambda worker, results: worker == 0 and results >= 3)
        result = ask(toy, f"openai:m,base_url={server.url}", crew)
        assert len(crew.hired) == 3
        assert len(added) == len(set(added)) == 60
        # Only what the worker had not handed over was asked again.
        assert 60 < server.stats.answered <= 60 + 8 - 3
    assert {row["valid"] for row in result.scores} == {60}


def test_workers_that_always_die_end_the_model_and_keep_the_rest(toy: Any) -> None:
    with MockServer(answer=answer) as server:
        crew = Crew(2, lambda worker, results: True)
        result = ask(toy, f"openai:m,base_url={server.url}", crew)
    assert "died without a result" in str(result.asked["openai:m"].error)
    assert 4 <= len(crew.hired) <= 6


def test_what_a_worker_raises_reaches_the_user(toy: Any) -> None:
    with MockServer(faults={"401": 1.0}) as server:
        result = ask(toy, f"openai:m,base_url={server.url}", Crew(2))
    assert "HTTP 401" in str(result.asked["openai:m"].error)


def test_the_spend_limit_is_kept_by_the_driver(toy: Any) -> None:
    with MockServer(answer=answer) as server:
        model = f"openai:m,base_url={server.url},price_in=1000,price_out=1000"
        result = ask(toy, model, Crew(2), max_cost=0.1)
        assert "spend limit" in str(result.asked["openai:m"].error)
        assert server.stats.answered <= 24
        whole = ask(toy, model, Crew(2), max_cost=10)
        assert server.stats.answered == 60
    assert {row["valid"] for row in whole.scores} == {60}
    assert Prices(1000, 1000) == spread.Spread("m", _Priced(), lambda: None, Crew(1)).prices  # type: ignore[arg-type, return-value]


class _Priced:
    prices = Prices(1000, 1000)


def test_orders_have_equal_expected_cost(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "ORDER_REQUESTS", 1000)
    monkeypatch.setattr(orders, "ORDER_COST", 10_000)
    rows = [toy.spend(i) for i in range(40)]
    for row in rows[20:]:
        row["user"] += " really" * 570  # Ten times as long as the expected answer.
    toy.write("spend", rows)
    with MockServer(answer=answer) as server:
        crew = Crew(1)
        ask(toy, f"openai:m,base_url={server.url}", crew)
    assert crew.hired[0].orders[0] >= 9
    assert set(crew.hired[0].orders[3:-1]) == {2, 3} or set(crew.hired[0].orders[3:-1]) == {2}


def test_learners_and_baselines_stay_here_and_objects_are_refused(toy: Any) -> None:
    crew = Crew(2)
    assert ask(toy, ["no_change", "marginal"], crew, out="baselines").scores
    assert not crew.hired

    class Own:
        name, reads, identity = "own", "messages", {"model": "own"}

        def unsupported(self, task: str) -> None:
            return None

    with pytest.raises(ModelError, match="by words"):
        ask(toy, Own(), crew, out="own")


@pytest.mark.slow
def test_a_killed_ray_worker_costs_nothing(make_toy: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    from hbench.execute.ray import RayExecutor

    toy = make_toy(200)
    with MockServer(answer=answer, latency=0.05) as server:
        model = f"openai:m,base_url={server.url},concurrency=4"
        alone = ask(toy, model, None, out="alone")
        before = server.stats.answered
        executor = RayExecutor("local", workers=2, cpus=0.5)
        try:
            hired: list[Any] = []
            hire = executor.hire
            monkeypatch.setattr(executor, "hire", lambda make: hired.append(hire(make)) or hired[-1])

            def kill() -> None:
                while server.stats.answered < before + 60:
                    time.sleep(0.01)
                os.kill(ray.get(hired[0]._actor.__ray_call__.remote(lambda actor: os.getpid())), signal.SIGKILL)

            killer = threading.Thread(target=kill)
            killer.start()
            together = ask(toy, model, executor)
            killer.join()
        finally:
            ray.shutdown()
        assert len(hired) == 3, "one worker was replaced"
        assert together.scores == alone.scores
        assert predictions(together) == predictions(alone)
        assert 200 <= server.stats.answered - before <= 208 + 64
    manifest = json.loads((together.path / "manifest.json").read_text())
    assert manifest["models"][0]["spent"]["answers"] == 200
