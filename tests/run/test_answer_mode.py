"""Answers by likelihood, from the command's option to the calibration report."""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hbench.api import evaluate
from hbench.core import Completion, JsonValue, ModelContext, RunError
from hbench.model.likelihood import Continuations, Likelihoods, Scored, answers, reason_against
from hbench.plugin import Registry, load_plugins
from hbench.plugin.scope import ComponentInfo
from hbench.report.analyses import analyse
from hbench.report.comparison import Comparison, View
from hbench.run.context import parser_of
from hbench.run.journal import Journal
from hbench.run.manifest import entrants_of, read_manifest
from hbench.run.rescore import rescore
from hbench.spec import discover
from hbench.stat import Resampling

YES = 0.8
"""What the model takes the probability of yes for, whatever it is asked."""


class Sure:
    """A model that generates and scores."""

    generative = True
    reads = "messages"
    identity: Mapping[str, JsonValue] = {"model": "sure"}

    def __init__(self, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> None:
        assert not options

    def unsupported(self, task: str) -> str | None:
        return None

    async def answer(self, requests: Iterable[Any], deliver: Any) -> None:
        for request in requests:
            for draw in request.draws:
                await deliver(request, draw, Completion('["no"]'))

    async def likelihoods(self, items: Iterable[Continuations]) -> AsyncIterator[Scored]:
        for item in items:
            shares = {'["yes"]': YES, '["no"]': 1 - YES}
            yield item, Likelihoods(tuple(math.log(0.01 * shares[text]) for text in item.texts))

    async def aclose(self) -> None:
        return


@pytest.fixture
def registry() -> Registry:
    found = load_plugins()
    info = ComponentInfo("model", "sure", "mine", f"{__name__}:Sure")
    registry = Registry([*found.names(), info], found.plugins)
    registry._imported[info] = Sure
    return registry


def go(toy: Any, tasks: list[str], models: list[str], registry: Registry, **more: Any) -> Any:
    return evaluate(
        tasks, models, data=toy.data, include_paths=[toy.tasks], out=toy.root / "run", registry=registry, **more
    )


def test_labels_by_likelihood(toy: Any, registry: Registry) -> None:
    result = go(toy, ["move", "spend"], ["sure", "sure,answer_mode=text,label=text", "marginal"], registry,
                answer_mode="loglikelihood")  # fmt: skip
    manifest = read_manifest(result.path)
    assert manifest["settings"]["answer_mode"] == "loglikelihood"
    by_likelihood, text, marginal = entrants_of(manifest)
    assert by_likelihood.identity == {"model": "sure", "answer_mode": "loglikelihood", "length": "none"}
    assert by_likelihood.unsupported["toy/spend"].startswith("likelihoods need labels or a scale")
    assert text.identity == {"model": "sure"}
    assert "answer_mode" not in marginal.identity
    lines = [json.loads(line) for line in (result.path / "predictions/sure/toy__move.jsonl").open()]
    assert {line["prediction"] for line in lines} == {'["yes"]'}
    assert all(line["probabilities"] == pytest.approx({"yes": YES, "no": 1 - YES}) for line in lines)
    # 8 of the 12 people move.
    accuracy = {row["model"]: row["value"] for row in result.scores
                if (row["task"], row["metric"], row["target"]) == ("move", "accuracy", None)}  # fmt: skip
    assert accuracy["sure"] == pytest.approx(8 / 12)
    assert accuracy["text"] == pytest.approx(4 / 12)

    comparison = Comparison.load([result.path], registry=registry)
    rows = analyse("calibration", comparison, View(resampling=Resampling(draws=200)))
    found = {(row["model"], round(row["mean_predicted"], 9)): row for row in rows}
    assert set(found) == {("sure", YES), ("sure", round(1 - YES, 9))}
    said_yes = found["sure", YES]
    assert (said_yes["n"], said_yes["task"], said_yes["target"]) == (12, "move", "moves")
    assert said_yes["mean_true"] == pytest.approx(8 / 12)
    assert said_yes["gap"] == pytest.approx(8 / 12 - YES)
    again = rescore(result.path, registry=registry)
    assert again.scores == result.scores


def test_the_suites_tasks_that_have_labels_to_choose_from() -> None:
    registry = load_plugins()
    found = {}
    for entry in discover([]).select(["@behaviorbench", "@householdbench"]):
        task = entry.load()
        if reason_against(task.targets, task.answer.aggregate) is None:
            found[task.task] = list(answers(task.answer_spec(), parser_of(task, registry)).values())
    scale = [f"[{number}]" for number in range(1, 6)]
    work = ['["employed"]', '["unemployed"]', '["not_in_labor_force"]']
    assert found == {
        "acrossgame_behavior_push_pull": ["[Push]", "[Pull]"],
        "multiround_behavior_push_pull": ["[Push]", "[Pull]"],
        "missing_surv_resp": scale,
        "seq_surv_resp": scale,
        "surv_resp_pred": scale,
        "house_census_move": ['["stay"]', '["move_within_state"]', '["move_to_different_state"]'],
        "house_psid_owner": ['["no"]', '["yes"]'],
        "labor_cps_displace": work,
        "labor_cps_jobfind": work,
        "labor_cps_retire": ['["retired"]', '["not_retired"]'],
        "labor_cps_separation": work,
        "labor_cps_ui": work,
        "labor_sce_offer": ['["accepted"]', '["rejected"]'],
    }


def test_a_journal_without_probabilities_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    kept = Completion("[1]", probabilities={"1": 0.75, "2": 0.25})

    def write(journal: Journal, key: bytes, outcome: Completion) -> None:
        asyncio.run(journal.add(key, 0, "m", outcome))

    journal = Journal(path)
    write(journal, b"old", Completion("[1]", "so", 3, 4, 0.5))
    journal.close()
    connection = sqlite3.connect(path)
    connection.executescript("ALTER TABLE answers DROP COLUMN probabilities; PRAGMA user_version = 1;")
    connection.close()
    journal = Journal(path)
    write(journal, b"new", kept)
    assert journal.outcomes([b"old", b"new"]) == {b"old": {0: Completion("[1]", "so", 3, 4, 0.5)}, b"new": {0: kept}}
    journal.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == 2
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    with pytest.raises(RunError, match="version 3"):
        Journal(path)
