"""Runs through providers' batch APIs: sent once, whatever happens, and paid at their price."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.core import ModelError, RunError
from hbench.model import batch, batch_search
from hbench.run.evaluate import Result, evaluate
from hbench.run.journal import Journal
from hbench.testing.batch_desk import BatchPlan
from hbench.testing.mock_server import MockServer, Question

PROVIDERS = ("openai", "anthropic")


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_search, "SETTLE", 0.05)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HBENCH_PRICES"):
        monkeypatch.delenv(name, raising=False)


def answer(question: Question) -> str:
    return f"[{sum(question.prompt.encode()) % 60}]"


def words(provider: str, server: MockServer, **options: Any) -> str:
    given = {"base_url": server.url, "batch_poll": 0.05, **options}
    return f"{provider}:m," + ",".join(f"{name}={value}" for name, value in given.items())


def ask(toy: Any, model: str, *, out: str = "run", batch_api: bool = True, **rest: Any) -> Result:
    return evaluate(
        "spend", model, data=toy.data, include_paths=[toy.tasks], out=toy.root / out, batch_api=batch_api, **rest
    )


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in path.rglob("batches/*/*.json")]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_batches_give_the_scores_of_single_requests(toy: Any, provider: str) -> None:
    with MockServer(answer=answer, batches=BatchPlan(seconds=0.2)) as server:
        single = ask(toy, words(provider, server), out="single", batch_api=False)
        assert not server.desk.batches
        batched = ask(toy, words(provider, server, batch_requests=25))
        assert [len(one.requests) for one in server.desk.batches.values()] == [25, 25, 10]
        again = ask(toy, words(provider, server, batch_requests=25))
        assert len(server.desk.batches) == 3
    assert batched.scores == single.scores == again.scores


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_batch_that_was_sent_is_not_sent_again(toy: Any, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = BatchPlan(seconds=1000)
    with MockServer(answer=answer, batches=plan) as server:
        model = words(provider, server, batch_requests=25)

        async def leave(*_: Any) -> None:
            raise RunError("the end")

        with monkeypatch.context() as patched:
            patched.setattr(batch.Batches, "_wait", leave)
            with pytest.raises(RunError, match="the end"):
                ask(toy, model)
        assert len(server.desk.requests) == 60
        plan.seconds = 0  # A day later.
        result = ask(toy, model)
        assert len(server.desk.requests) == 60
    assert not result.asked["openai:m" if provider == "openai" else "anthropic:m"].failed
    assert {row["valid"] for row in result.scores} == {60}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", ["429", "500", "lost", "vanish"])
def test_an_unclear_reply_does_not_send_a_batch_twice(
    toy: Any, provider: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hbench.model.batch_http.backoff", lambda attempt: 0.01)
    with MockServer(answer=answer, batches=BatchPlan(seconds=0.3, creation=[fault])) as server:
        result = ask(toy, words(provider, server))
        assert len(server.desk.batches) == 1
        assert len(server.desk.requests) == 60
    assert {row["valid"] for row in result.scores} == {60}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("accepted", [True, False])
def test_the_end_between_sending_and_recording(toy: Any, provider: str, accepted: bool) -> None:
    plan = BatchPlan(seconds=0.3)
    with MockServer(answer=answer, batches=plan) as server:
        model = words(provider, server)
        result = ask(toy, model)
        first = server.desk.batches.copy()
        # What the end leaves behind: no answers, and the record of a batch without its number.
        for file in result.path.glob("journal.sqlite*"):
            file.unlink()
        (record,) = result.path.rglob("batches/*/*.json")
        content = json.loads(record.read_text())
        record.write_text(json.dumps({**content, "number": None}))
        if not accepted:
            server.desk.batches.clear()
        again = ask(toy, model)
        assert len(server.desk.batches) == 1
        assert (server.desk.batches == first) is accepted
    assert again.scores == result.scores


@pytest.mark.parametrize("provider", PROVIDERS)
def test_strangers_batches_of_the_same_size_are_not_taken(toy: Any, provider: str) -> None:
    with MockServer(answer=answer, batches=BatchPlan(seconds=0.2)) as server:
        model = words(provider, server)
        other = ask(toy, model, out="other")
        (record,) = records(other.path)
        folder = next((other.path / "batches").iterdir()).name
        mine = toy.root / "run" / "batches" / folder / "0123456789abcdef.json"
        mine.parent.mkdir(parents=True)
        mine.write_text(json.dumps({**record, "mark": "0123456789abcdef", "number": None}))
        ask(toy, model)
        assert len(server.desk.batches) == 2
        assert not mine.exists()


def start(toy: Any, model: str, out: Path) -> subprocess.Popen[str]:
    given = ["eval", "--tasks", "spend", "--model", model, "--data", toy.data, "--include-path", toy.tasks]
    program = "import sys; from hbench.cli.main import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, given), "--out", str(out), "--batch-api"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_killed_run_pays_for_nothing_twice(make_toy: Callable[[int], Any], provider: str) -> None:
    toy = make_toy(300)
    out = toy.root / "run"
    plan = BatchPlan(seconds=1000)
    with MockServer(answer=answer, batches=plan) as server:
        model = words(provider, server, batch_requests=40)
        process = start(toy, model, out)
        deadline = time.monotonic() + 60
        while len(server.desk.batches) < 4 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.0005)
        process.kill()
        process.communicate()
        sent = len(server.desk.batches)
        assert sent >= 4
        plan.seconds = 0.2
        result = ask(toy, model)
        names = [name.partition("-")[0] for name in server.desk.requests]
        assert len(names) == len(set(names)) == 300
        assert server.stats.repeated == 0
    assert {row["valid"] for row in result.scores} == {300}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_run_killed_while_results_arrive_goes_on(toy: Any, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_WINDOW", 10)
    add = Journal.add
    added = 0

    async def die(self: Journal, *rest: Any) -> None:
        nonlocal added
        added += 1
        if added > 33:
            raise RunError("the end")
        await add(self, *rest)

    with MockServer(answer=answer) as server:
        model = words(provider, server, batch_requests=25)
        with monkeypatch.context() as patched:
            patched.setattr(Journal, "add", die)
            with pytest.raises(RunError, match="the end"):
                ask(toy, model)
        result = ask(toy, model)
        assert len(server.desk.requests) == 60
    assert {row["valid"] for row in result.scores} == {60}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_partial_failures_are_named_and_asked_again(toy: Any, provider: str) -> None:
    lines = {"errored": 0.1, "expired": 0.1, "missing": 0.1, "garbage": 0.1}
    plan = BatchPlan(lines=lines)
    label = f"{provider}:m"
    with MockServer(answer=answer, batches=plan) as server:
        model = words(provider, server)
        partial = ask(toy, model)
        lost = partial.asked[label].failed
        assert 10 <= lost <= 40
        assert partial.asked[label].error is None
        journal = Journal(partial.path / "journal.sqlite")
        reasons = {row[0] for row in journal._query("SELECT reason FROM failures")}
        journal.close()
        refused = {"openai": "http_400", "anthropic": "invalid_request_error"}[provider]
        assert reasons == {refused, "batch_expired", "batch_no_result"}
        plan.lines = {}
        whole = ask(toy, model)
        assert [len(one.requests) for one in server.desk.batches.values()] == [60, lost]
    assert {row["valid"] for row in whole.scores} == {60}


def test_a_batch_that_is_refused_as_a_whole_says_why(toy: Any) -> None:
    with MockServer(answer=answer, batches=BatchPlan(failed="Enqueued token limit reached")) as server:
        result = ask(toy, words("openai", server))
        assert result.asked["openai:m"].failed == 60
        journal = Journal(result.path / "journal.sqlite")
        assert journal._query("SELECT DISTINCT reason, detail FROM failures") == [
            ("batch_failed", "Enqueued token limit reached")
        ]
        journal.close()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_results_cut_short_are_read_again(toy: Any, provider: str) -> None:
    with MockServer(answer=answer, batches=BatchPlan(cut=2)) as server:
        result = ask(toy, words(provider, server))
        assert len(server.desk.batches) == 1
        assert server.desk.plan.cut == 0
    assert {row["valid"] for row in result.scores} == {60}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_answers_cost_the_batch_price(toy: Any, provider: str) -> None:
    def cost(result: Result) -> float:
        return json.loads((result.path / "manifest.json").read_text())["models"][0]["spent"]["cost"]

    with MockServer(answer=answer) as server:
        prices = {"price_in": 1000, "price_out": 2000}
        single = cost(ask(toy, words(provider, server, **prices), out="single", batch_api=False))
        half = cost(ask(toy, words(provider, server, **prices), out="half"))
        own = cost(ask(toy, words(provider, server, batch_discount=0.25, **prices), out="own"))
    assert half == pytest.approx(single / 2)
    assert own == pytest.approx(single * 0.75)


def test_the_spend_limit_counts_batches_under_way(toy: Any) -> None:
    with MockServer(answer=answer) as server:
        # 60 prompts of about 14 tokens, answers of 1: at these prices some 0.01 dollars each.
        model = words("openai", server, price_in=1000, price_out=1000, max_tokens=1, batch_requests=10)
        result = ask(toy, model, max_cost=0.3)
        (asked,) = result.asked.values()
        assert "spend limit" in str(asked.error)
        sent = len(server.desk.requests)
        assert 10 <= sent < 60
        assert asked.answered == sent, "what was paid for arrives"
        whole = ask(toy, model, max_cost=10)
        assert len(server.desk.requests) == 60
    assert {row["valid"] for row in whole.scores} == {60}


def test_who_has_no_batch_api_says_so(toy: Any) -> None:
    with MockServer() as server:
        for model in (
            f"google:m,base_url={server.url}",
            words("openai", server, n_draws="native"),
            f'openai:m,base_url=["{server.url}","{server.url}"]',
        ):
            with pytest.raises(ModelError, match="batch"):
                ask(toy, model)
    assert ask(toy, "no_change", out="baseline").scores


def test_a_server_without_batches_and_a_wrong_key_are_told(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong0123456789")
    with MockServer(key="right") as server:
        result = ask(toy, words("openai", server))
        told = str(result.asked["openai:m"].error)
        assert "401" in told
        assert "sk-wrong" not in told
        assert not records(result.path)
    with MockServer() as server:
        monkeypatch.setattr(server.desk, "handle", lambda *_: None)
        told = str(ask(toy, words("openai", server), out="none").asked["openai:m"].error)
        assert "no batch API" in told


def test_a_damaged_record_stops_the_model(toy: Any) -> None:
    with MockServer(answer=answer) as server:
        first = ask(toy, words("openai", server))
        for file in first.path.glob("journal.sqlite*"):
            file.unlink()
        (record,) = first.path.rglob("batches/*/*.json")
        record.write_text(record.read_text()[:50])
        told = ask(toy, words("openai", server)).asked["openai:m"].error
        assert "cannot be read" in str(told)
        assert len(server.desk.batches) == 1
