from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hbench.cli.main import main
from hbench.core import HbenchError
from hbench.ess.counterfactual import ask_counterfactuals, stored_contrasts
from hbench.ess.effects import effect_sample_size
from hbench.ess.task_effects import worth_of_effects
from hbench.learn import Feature
from hbench.run.evaluate import evaluate
from hbench.run.stored import StoredRun

pytest.importorskip("sklearn")
pytest.importorskip("polars")

TASK = """\
task: visits
suite: trial
topic: health
source: {file: people.csv}
key: {id: person}
targets: [{name: visits, kind: numeric}]
predictors:
  - {names: [age, share]}
  - {name: plan, kind: categorical}
treatment: plan
split: {unit: subject, column: person, share: 0.3}
prompt:
  paragraphs:
    - You are {{ age | number }} years old, and your plan is {{ plan }}.
    - "How often do you see a doctor? [v_1]"
answer: {parser: json_array}
metrics: [mae]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("effects")
    rng = np.random.default_rng(0)
    lines = ["person,age,share,plan,visits"]
    for person in range(900):
        age, plan = rng.integers(20, 80), rng.choice(["free", "paid", "other"], p=[0.4, 0.4, 0.2])
        visits = age / 20 + (2.0 if plan == "free" else 0.0) + rng.normal()
        lines.append(f"{person},{age},{rng.uniform():.3f},{plan},{visits:.3f}")
    (home / "trial").mkdir()
    (home / "trial" / "people.csv").write_text("\n".join(lines) + "\n")
    (home / "trial" / "visits.yaml").write_text(TASK)
    return home


def test_each_person_is_asked_under_either_arm_and_the_effect_is_the_difference(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(folder / "data"))
    run, contrasts = ask_counterfactuals(
        ["trial/visits"], ["linear"], ("paid", "free"), folder / "out", include_paths=[folder / "trial"]
    )
    lines = [json.loads(line) for line in (folder / "out/records/trial/visits/test.jsonl").read_text().splitlines()]
    pairs = {line["metadata"]["counterfactual_of"]: [] for line in lines}
    for line in lines:
        pairs[line["metadata"]["counterfactual_of"]].append(line)
    for paid, free in pairs.values():
        assert paid["id"].endswith(" under paid")
        assert "your plan is paid" in str(paid)
        assert "your plan is free" in str(free)
        assert paid["metadata"]["counterfactual_own"] in ("paid", "free")
        assert {**paid["predictors"], "plan": "free"} == free["predictors"]
    found = worth_of_effects(run, contrasts, ["ridge"], sizes=[20, 100], budget=5)
    effect, paid, free = found.worths
    assert [one.target for one in found.worths] == [
        "effect of free against paid", "outcome under paid", "outcome under free",
    ]  # fmt: skip
    assert effect.curve.rows == len(pairs)
    # The same from the rows themselves.
    planned = run.plan.task("trial/visits")
    (part,) = run.answers(planned)
    answers = {
        record.id: one.row.prediction[0] for record, one in zip(part.records, part.answers["linear"], strict=True)
    }
    people = [paid for paid, _ in pairs.values()]
    effects = [answers[free["id"]] - answers[paid["id"]] for paid, free in pairs.values()]
    # Ridge knows the plan's effect from its column alone: the same for all.
    assert np.mean(effects) == pytest.approx(2.0, abs=0.3)
    assert np.std(effects) < 1e-6
    taught = [r for r in planned.data.training_records() if r.predictors["plan"] in ("paid", "free")]
    curve = effect_sample_size(
        [one["predictors"] for one in people],
        [json.loads(one["assistant"])[0] for one in people],
        [int(one["metadata"]["counterfactual_own"] == "free") for one in people],
        effects,
        training=(
            [record.predictors for record in taught],
            [json.loads(record.gold)[0] for record in taught],
            [int(record.predictors["plan"] == "free") for record in taught],
        ),
        features=[Feature("age", "numeric"), Feature("share", "numeric")],
        algorithm="ridge",
        sizes=[20, 100],
        budget=5,
    )
    assert effect.curve == curve
    assert "they rank rules" in found.notes[-1]


def test_the_command_shows_effects(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(folder / "data"))
    words = ["ess", "--tasks", "trial/visits", "--include-path", str(folder / "trial"), "--model", "marginal",
             "--algorithm", "ridge", "--sizes", "20", "--budget", "4"]  # fmt: skip
    assert main([*words, "--effect", "paid,free", "--propensity", "0.5", "--out", str(folder / "shown")]) == 0
    first = capsys.readouterr()
    assert "effect of free against paid" in first.out
    assert "propensity 0.5 for all" in first.out
    assert f"Run: {folder / 'shown' / 'run'}" in first.err
    assert "marginal, ridge, outcome under free: N = 20, 4 blocks, 100%, about 0 s left" in first.err
    assert main([*words, "--effect", "paid,free"]) == 2
    assert main([*words, "--effect", "paid", "--out", str(folder / "shown")]) == 2
    assert main([*words, "--effect", "paid,gratis", "--out", str(folder / "no")]) == 2
    assert "nobody is in the arm gratis\n  Arms: free, other, paid." in capsys.readouterr().err


def test_a_run_that_asked_under_both_arms_is_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(folder / "data"))
    paths = ["--include-path", str(folder / "trial")]
    how = [*paths, "--algorithm", "ridge", "--sizes", "20,80", "--budget", "4"]
    asked = ["--tasks", "trial/visits", "--model", "linear", "--out", str(folder / "again")]
    assert main(["ess", *asked, *how, "--effect", "paid,free"]) == 0
    first = capsys.readouterr().out
    stored = ["ess", "--run", str(folder / "again" / "run"), *how]
    assert main([*stored, "--effect", "paid,free"]) == 0
    assert capsys.readouterr().out == first
    # The other way round the effect has the other sign, and the same error.
    assert main([*stored, "--effect", "free,paid", "--tasks", "trial/*", "--rows", "200", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert [one["target"] for one in found] == [
        "effect of paid against free",
        "outcome under free",
        "outcome under paid",
    ]
    assert 100 < found[0]["curve"]["training_rows"] < 200
    assert main([*stored, "--effect", "paid,other"]) == 2
    assert "nobody was asked under other: people were asked only under free, paid" in capsys.readouterr().err


def test_a_run_that_asked_people_once_is_refused_with_the_command_that_asks_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(folder / "data"))
    evaluate("trial/visits", ["marginal"], include_paths=[folder / "trial"], out=folder / "once", limit=20)
    assert main(["ess", "--run", str(folder / "once"), "--effect", "paid,free"]) == 2
    told = capsys.readouterr().err
    assert "nobody was asked under paid: people were asked under their own arm only" in told
    assert "hbench ess --tasks trial/visits --model SPEC --effect paid,free --out DIR" in told


def test_people_who_were_asked_under_one_arm_only_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(folder / "data"))
    paths, pair = [folder / "trial"], ("paid", "free")
    ask_counterfactuals(["trial/visits"], ["marginal"], pair, folder / "some", include_paths=paths, limit=40)
    evaluate("trial/visits", ["marginal"], data=[folder / "some" / "records"], include_paths=paths,
             out=folder / "few", limit=61, sample="all")  # fmt: skip
    run = StoredRun.open(folder / "few")
    found = worth_of_effects(run, stored_contrasts(run, pair), ["ridge"], sizes=[20], budget=4)
    assert [one.curve.rows for one in found.worths] == [30, 30, 30]
    assert found.notes[0] == "trial/visits (test): 1 people were asked under one arm only, left out"


def test_a_task_without_a_treatment_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(folder / "data"))
    plain = folder / "plain"
    plain.mkdir()
    (plain / "people.csv").write_text((folder / "trial" / "people.csv").read_text())
    (plain / "visits.yaml").write_text(TASK.replace("treatment: plan\n", "").replace("suite: trial", "suite: plain"))
    with pytest.raises(HbenchError, match="has no `treatment`"):
        ask_counterfactuals(["plain/visits"], ["linear"], ("a", "b"), folder / "o", include_paths=[plain])
