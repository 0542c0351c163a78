from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hbench.api import Evaluation, evaluate
from hbench.core import Completion, DataError, Deliver, Failure, ModelError, Request, RunError, ScoreError
from hbench.run.evaluate import Job, Result, prepare, run
from hbench.run.execute import execute
from hbench.run.folder import RunFolder
from hbench.run.forecast import forecast
from hbench.run.manifest import read_manifest
from hbench.run.plan import Settings
from hbench.run.rescore import rescore
from hbench.run.scrub import scrub
from hbench.testing.mock_server import MockServer, Question


class Scripted:
    """A model made of a function; counts what it is asked."""

    def __init__(self, answer: Any, name: str = "scripted", reads: str = "messages") -> None:
        self.name, self.reads, self._answer = name, reads, answer
        self.asked: list[tuple[str, str, int, int]] = []

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": self.name}

    def unsupported(self, task: str) -> str | None:
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        for request in requests:
            for draw in request.draws:
                self.asked.append((request.record.task, request.record.key, request.occurrence, draw))
                await deliver(request, draw, self._answer(request, draw))

    async def aclose(self) -> None:
        return


def go(toy: Any, tasks: Any, models: Any, **more: Any) -> Evaluation:
    more.setdefault("out", toy.root / "run")
    return evaluate(tasks, models, data=toy.data, include_paths=[toy.tasks], **more)


def ready(toy: Any, tasks: Any, models: Any, **more: Any) -> Job:
    settings = Settings(**more)
    return prepare(tasks, models, data=toy.data, include_paths=[toy.tasks], settings=settings, out=toy.root / "run")


def value(result: Result, task: str, metric: str) -> float:
    (found,) = (
        row["value"]
        for row in result.scores
        if (row["task"], row["metric"], row["target"], row["group"]) == (task, metric, None, None)
    )
    return float(found)


def test_no_change_is_exactly_one(toy: Any) -> None:
    result = go(toy, "spend", "no_change")
    assert value(result, "spend", "relmae") == 1.0
    assert json.loads((result.path / "scores.json").read_text())["rows"] == result.scores
    assert len(result.to_pandas()) == len(result.scores)
    assert "no_change" in result.table()


def test_nothing_is_asked_twice(toy: Any) -> None:
    model = Scripted(lambda request, draw: Completion("[3]"))
    first = go(toy, "spend,move", model)
    asked = len(model.asked)
    again = go(toy, "spend,move", model)
    assert len(model.asked) == asked == 60 + 12
    assert again.scores == first.scores


def test_limit_and_draws_grow_within_one_run(toy: Any) -> None:
    model = Scripted(lambda request, draw: Completion(f"[{draw}]"))
    small = go(toy, "spend", model, limit=5)
    assert small.scores[0]["n"] == 5
    assert len(model.asked) == 5
    go(toy, "spend", model, limit=20)
    assert len(model.asked) == 20
    result = go(toy, "spend", model, limit=20, draws=3)
    assert len(model.asked) == 60
    assert {draw for *_, draw in model.asked} == {0, 1, 2}
    assert result.scores[0]["draws"] == 3


def test_the_folder_is_named_by_the_plan(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(toy.root)
    paths = [
        go(toy, "spend", "no_change", out=None, limit=limit, draws=draws).path for limit, draws in ((3, 1), (9, 2))
    ]
    assert paths[0] == paths[1]
    assert paths[0].parts[0] == "runs"
    assert go(toy, "spend", "no_change", out=None, seed=7).path != paths[0]
    assert go(toy, "spend,move", "no_change", out=None).path != paths[0]


def test_equal_prompts_of_two_people_are_two_questions(toy: Any) -> None:
    model = Scripted(lambda request, draw: Completion('["yes"]'))
    go(toy, "move", model)
    assert len(model.asked) == 12
    assert sorted({occurrence for _, _, occurrence, _ in model.asked}) == [0, 1]


def test_a_population_is_asked_once_per_prompt(toy: Any) -> None:
    model = Scripted(lambda request, draw: Completion(f"[{draw % 10}]") if draw else Completion("nothing"))
    result = go(toy, "play", model)
    assert [draw for *_, draw in model.asked] == list(range(30))
    row = result.scores[0]
    assert (row["n"], row["valid"], row["invalid"]) == (30, 29, 1)
    assert row["value"] < 0.5
    assert result.results.invalid[0]["count"] == 1


def test_a_limit_of_a_population_bounds_its_draws(toy: Any) -> None:
    model = Scripted(lambda request, draw: Completion("[1]"))
    go(toy, "play", model, limit=4)
    assert len(model.asked) == 4


def test_parse_failures_are_answers_and_request_failures_are_not(toy: Any) -> None:
    def answer(request: Request, draw: int) -> Completion | Failure:
        if request.record.id == "r1":
            return Completion("a lot \x1b[31m")
        return Failure("request", "http_500", "boom") if request.record.id == "r2" else Completion("[3]")

    model = Scripted(answer)
    result = go(toy, "spend", model)
    assert len(model.asked) == 60
    counted = {about["reason"]: about for about in result.results.invalid}
    assert counted["http_500"]["count"] == 1
    assert counted["expected_json_array"]["example"]["record"] == "r1@2020-01-01"
    assert "\x1b" not in result.table()
    go(toy, "spend", model)
    assert [key for _, key, _, _ in model.asked[60:]] == ["r2@2020-01-01"]


def test_an_unsupported_task_is_told_and_not_scored(toy: Any) -> None:
    result = go(toy, "spend,move", "no_change")
    assert {row["task"] for row in result.scores} == {"spend"}
    assert [about["task"] for about in result.results.unsupported] == ["move"]
    assert "not for no_change" in result.table()


def test_a_model_that_gives_up_leaves_the_others_their_turn(toy: Any) -> None:
    class Broken(Scripted):
        async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
            request = next(iter(requests))
            await deliver(request, 0, Completion("[3]"))
            raise ModelError("out of memory")

    result = go(toy, "spend", [Broken(None, "broken"), "no_change"])
    assert [about["model"] for about in result.results.gave_up] == ["broken"]
    assert {row["model"]: row["valid"] for row in result.scores} == {"broken": 1, "no_change": 60}
    assert any(about["reason"] == "not_answered" and about["count"] == 59 for about in result.results.invalid)
    assert read_manifest(result.path)["status"] == "incomplete"
    assert [about["model"] for about in rescore(result.path).results.gave_up] == ["broken"]


def test_a_model_that_keeps_silent_is_found_out(toy: Any) -> None:
    class Lazy(Scripted):
        async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
            list(requests)

    result = go(toy, "spend", Lazy(None))
    assert "without a word on 60 of 60" in result.results.gave_up[0]["error"]


def test_rescoring_asks_nothing_and_gives_the_same(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Scripted(lambda request, draw: Completion('["yes"]' if draw else "?"))
    first = go(toy, "move", model)
    (first.path / "scores.json").unlink()
    monkeypatch.chdir("/")
    assert rescore(first.path).scores == first.scores
    assert len(model.asked) == 12
    wrong = rescore(first.path, policy="wrong")
    assert {row["policy"] for row in wrong.scores} == {"wrong"}


def test_changed_data_are_not_scored_by_old_answers(toy: Any) -> None:
    path = go(toy, "spend", "no_change").path
    toy.write("spend", [toy.spend(i) for i in range(10)])
    with pytest.raises(RunError, match="data have changed"):
        rescore(path)


def test_a_folder_holds_one_plan(toy: Any) -> None:
    go(toy, "spend", "no_change")
    with pytest.raises(RunError, match="another run: models differ"):
        go(toy, "spend", Scripted(lambda request, draw: Completion("[1]")))
    with pytest.raises(RunError, match="settings differ"):
        go(toy, "spend", "no_change", seed=1)


def test_a_folder_in_use_is_refused_with_its_owner(toy: Any) -> None:
    import os

    with RunFolder(toy.root / "run"), pytest.raises(RunError, match=f"pid {os.getpid()}"):
        go(toy, "spend", "no_change")
    go(toy, "spend", "no_change")


def test_a_folder_that_cannot_be_made_is_named(toy: Any) -> None:
    (toy.root / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        go(toy, "spend", "no_change", out=toy.root / "file" / "run")


def test_a_network_file_system_is_refused(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbench.run.folder.file_system", lambda path: "nfs4")
    with pytest.raises(RunError, match="network file system"):
        go(toy, "spend", "no_change")


def test_a_missing_split_is_an_error(toy: Any) -> None:
    with pytest.raises(DataError, match="nothing to evaluate"):
        go(toy, "spend", "no_change", splits=["post_cutoff_test"])


def test_a_record_without_truth_is_an_error(toy: Any) -> None:
    toy.write("spend", [{**toy.spend(0), "assistant": None}])
    with pytest.raises(ScoreError, match="r0"):
        go(toy, "spend", "no_change")


def test_records_of_another_task_are_noticed_before_a_model_is_asked(toy: Any) -> None:
    class AskedError(Exception):
        pass

    class Model:
        label = "costly"
        version = "1"

        async def answer(self, requests: Any, deliver: Any) -> None:
            raise AskedError

    toy.write("spend", [{**toy.spend(i), "assistant": '["yes"]'} for i in range(3)])
    with pytest.raises(ScoreError, match=r"data.*record r0@.*cannot be read: amount:expected_number"):
        go(toy, "spend", Model())


def test_two_models_of_one_label_are_refused(toy: Any) -> None:
    with pytest.raises(ModelError, match="two models are called"):
        go(toy, "spend", ["no_change", "no_change"])


@pytest.mark.parametrize(("name", "label"), [("mine", "mine (preset=demo)"), ("x,preset=demo", "x,preset=demo")])
def test_what_must_be_known_of_a_model_stands_in_its_label(toy: Any, name: str, label: str) -> None:
    model = Scripted(lambda request, draw: Completion("[3]"), name)
    model.mark = "preset=demo"  # type: ignore[attr-defined]
    job = ready(toy, "spend", model)
    assert [entrant.label for entrant in job.entrants] == [label]


def test_two_models_never_share_answers(toy: Any) -> None:
    one, two = (Scripted(lambda request, draw: Completion("[3]"), name) for name in ("one", "two"))
    go(toy, "spend", [one, two])
    assert len(one.asked) == len(two.asked) == 60


def test_the_manifest_tells_all_but_secrets(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVER_KEY", "hidden-value")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with MockServer(answer="[3]") as server:
        url = server.url.replace("http://", "http://user:pw@")
        result = go(toy, "spend", f"openai:m,base_url={url},extra={json.dumps({'user': 'hidden-value'})}", limit=3)
    text = (result.path / "manifest.json").read_text()
    manifest = read_manifest(result.path)
    assert "hidden-value" not in text
    assert "user:pw" not in text
    assert manifest["data"]["toy/spend"]["fingerprint"] == result.scores[0]["fingerprint"]
    assert manifest["models"][0]["spent"]["tokens_out"] > 0
    assert manifest["status"] == "done"


def test_scrubbing_removes_what_looks_like_a_secret() -> None:
    environ = {"SOME_TOKEN": "abcdef123"}
    text = "--model x,api_key=zzz,max_tokens=5 https://u:p@host/v1 Bearer sk-0123456789abc abcdef123"
    assert scrub(text, environ) == "--model x,api_key=***,max_tokens=5 https://***@host/v1 Bearer *** ***"


def test_a_dry_run_counts_and_leaves_no_trace(toy: Any) -> None:
    job = ready(toy, "spend,play", ["no_change", "openai:m,base_url=http://127.0.0.1:1/v1,price_in=2"], limit=10)
    text = forecast(job)
    assert "toy/spend: 10 requests" in text
    assert "$0.00 for prompts" in text
    assert not job.path.exists()


def test_a_dry_run_names_records_that_are_longer_than_the_stated_context(toy: Any) -> None:
    job = ready(toy, "spend", ["openai:m,base_url=http://127.0.0.1:1/v1,context=1"], limit=10)
    keys = [record.key for record in job.plan.tasks[0].records()]
    assert f"10 do not fit into the context and are not sent: {', '.join(keys[:5])}, ..." in forecast(job)
    roomy = ready(toy, "spend", ["openai:m,base_url=http://127.0.0.1:1/v1,context=100000"], limit=10)
    assert "do not fit" not in forecast(roomy)


def test_a_spend_limit_holds_over_sessions(toy: Any) -> None:
    with MockServer(answer="[3]") as server:
        model = f"openai:m,base_url={server.url},price_in=10000,price_out=0,concurrency=1"
        first = go(toy, "spend", model, max_cost=5.0)
        spent = read_manifest(first.path)["models"][0]["spent"]
        asked = server.stats.requests
        assert 0 < spent["answers"] == asked
        assert 0 < spent["cost"] <= 5.0
        assert "spend limit of $5.00" in str(first.asked["openai:m"].error)
        again = go(toy, "spend", model, max_cost=5.0)
        assert server.stats.requests == asked
        assert f"(${spent['cost']:.4f} spent so far" in str(again.asked["openai:m"].error)


def test_it_works_inside_a_running_loop(toy: Any) -> None:
    async def notebook() -> Result:
        return go(toy, "spend", "no_change")

    assert value(asyncio.run(notebook()), "spend", "relmae") == 1.0


def test_a_server_that_misbehaves_costs_nothing_that_was_answered(toy: Any) -> None:
    def answer(question: Question) -> str:
        return f"[{len(question.prompt)}]"

    with MockServer(answer=answer, faults={"429": 0.1, "500": 0.1}, retry_after="0") as server:
        result = go(toy, "spend", f"openai:m,base_url={server.url}")
        assert result.scores[0]["valid"] == 60
        assert server.stats.repeated == 0


def test_answers_arriving_in_any_order_score_the_same(toy: Any) -> None:
    class Backwards(Scripted):
        async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
            for request in reversed(list(requests)):
                for draw in reversed(request.draws):
                    await deliver(request, draw, self._answer(request, draw))

    def answer(request: Request, draw: int) -> Completion:
        return Completion(f"[{len(request.record.id) * draw}]")

    one = go(toy, "spend", Scripted(answer), draws=4, limit=10)
    other = go(toy, "spend", Backwards(answer), draws=4, limit=10, out=toy.root / "other")
    assert one.scores == other.scores


def test_a_run_ends_in_good_order_when_the_journal_fails(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from hbench.run.journal import Journal

    job = ready(toy, "spend", Scripted(lambda request, draw: Completion("[1]" * 4000)))
    job.path.mkdir()
    journal = Journal(job.path / "journal.sqlite")
    pages = journal._writer.execute("PRAGMA page_count").fetchone()[0]
    journal._writer.execute(f"PRAGMA max_page_count = {pages + 20}")
    from hbench.run.progress import Silent

    with pytest.raises(RunError, match="full"):
        execute(job.plan, job.models, journal, Silent())
    kept = len(journal)
    assert kept > 0
    journal.close()
    result = run(job)
    assert result.scores[0]["n"] == 60
    assert result.asked["scripted"].answered == 60 - kept


def test_rescoring_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not the folder of a run"):
        rescore(tmp_path)
