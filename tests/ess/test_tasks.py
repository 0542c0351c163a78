from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hbench.cli.main import main
from hbench.core import HbenchError
from hbench.ess import equivalent_sample_size
from hbench.ess.blocks import Design, Fits, Part
from hbench.ess.findings import Findings
from hbench.ess.tasks import Scope, worth_of_run
from hbench.learn import Feature
from hbench.run.evaluate import evaluate
from hbench.run.stored import StoredRun

pytest.importorskip("sklearn")
pytest.importorskip("polars")

TASK = """\
task: {name}
suite: tiny
topic: money
source: {{file: people.csv}}
key: {{id: person}}
targets: {targets}
predictors:
  - {{name: income}}
  - {{name: region, kind: categorical}}
split: {{unit: subject, column: person, share: 0.4}}
prompt:
  paragraphs:
    - You earn {{{{ income | dollars }}}} in the {{{{ region }}}}.
    - "Answer with a JSON array and nothing else: {answer}"
answer: {{parser: json_array}}
metrics: [{metric}]
"""
TARGETS = {
    "spending": ("[{name: spending, kind: numeric}]", "[v_1]", "mae"),
    "both": ("[{name: spending, kind: numeric}, {name: saving, kind: numeric}]", "[v_1, v_2]", "mae"),
    "owner": ('[{name: owner, kind: categorical, labels: ["no", "yes"]}]', "one label", "accuracy"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ess")
    rng = np.random.default_rng(0)
    lines = ["person,income,region,spending,saving,owner"]
    for person in range(500):
        income, region = rng.uniform(10, 100), rng.choice(["north", "south"])
        spending = 0.5 * income + (20 if region == "north" else 0) + rng.normal(0, 5)
        owner = "yes" if income + rng.normal(0, 20) > 60 else "no"
        lines.append(f"{person},{income:.2f},{region},{spending:.2f},{income - spending:.2f},{owner}")
    (home / "tiny").mkdir()
    (home / "tiny" / "people.csv").write_text("\n".join(lines) + "\n")
    for name, (targets, answer, metric) in TARGETS.items():
        text = TASK.format(name=name, targets=targets, answer=answer, metric=metric)
        (home / "tiny" / f"{name}.yaml").write_text(text)
    (home / "tiny" / "_suite.yaml").write_text("suite: tiny\ntitle: Tiny\nnotices: [Credit those who asked.]\n")
    return home


@pytest.fixture(scope="module")
def run(folder: Path) -> StoredRun:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HBENCH_DATA", str(folder / "data"))
        evaluate("@tiny", ["marginal", "linear"], include_paths=[folder / "tiny"], out=folder / "run", limit=150)
        return StoredRun.open(folder / "run")


@pytest.fixture(scope="module")
def findings(run: StoredRun) -> Findings:
    scope = Scope(models=["marginal"])
    return worth_of_run(run, ["ridge", "logit"], scope, sizes=[5, 10, 20, 1000], budget=20)


def test_a_tasks_curve_is_that_of_its_rows(run: StoredRun, findings: Findings) -> None:
    (worth,) = [one for one in findings.worths if one.task == "tiny/spending"]
    planned = run.plan.task("tiny/spending")
    (part,) = run.answers(planned)
    train = [r for r in planned.data.training_records() if r.metadata["split"] == "train"]
    features = [Feature("income", "numeric"), Feature("region", "categorical")]
    curve = equivalent_sample_size(
        [record.predictors for record in part.records],
        [json.loads(record.gold)[0] for record in part.records],
        [one.row.prediction[0] for one in part.answers["marginal"]],
        training=([record.predictors for record in train], [json.loads(record.gold)[0] for record in train]),
        features=features,
        algorithm="ridge",
        sizes=[5, 10, 20],
        budget=20,
    )
    assert worth.curve.points == curve.points
    assert worth.curve.rows == 150
    assert worth.curve.notes == ("too few rows for the sizes 1,000",)
    # Income tells most of spending: a few people teach more than the overall mean.
    assert worth.curve.bound.plug_in in (5, 10)
    assert worth.target is None


def test_models_that_answered_the_same_records_share_the_fits(
    run: StoredRun, findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = []

    def count(self: Design, part: Part) -> Fits:
        if part.number == 0:
            fitted.append(part.size)
        return fit(self, part)

    fit = Design.fit
    monkeypatch.setattr(Design, "fit", count)
    both = worth_of_run(run, ["ridge"], Scope(["tiny/spending"]), sizes=[5, 10, 20], budget=20).worths
    assert [one.model for one in both] == ["marginal", "linear"]
    assert fitted == [5, 10, 20]
    (alone,) = [one for one in findings.worths if one.task == "tiny/spending"]
    assert both[0].curve.points == alone.curve.points
    assert both[1].curve.rule != alone.curve.rule


def test_providers_notices_stand_beside_what_a_model_is_worth(findings: Findings) -> None:
    assert findings.notes[-1] == "Credit those who asked."
    assert json.loads(json.dumps(findings.dump()["notes"]))[-1] == "Credit those who asked."


def test_targets_come_singly_and_averaged(findings: Findings) -> None:
    both = {one.target: one.curve for one in findings.worths if one.task == "tiny/both"}
    assert set(both) == {"spending", "saving", None}
    assert both[None].points[0].notes == ()
    assert 0 < both[None].rule < 2
    summaries = {one.algorithm: one for one in findings.summaries()}
    assert (summaries["ridge"].count, summaries["logit"].count) == (2, 1)


def test_what_an_algorithm_cannot_fit_is_told(findings: Findings) -> None:
    reasons = {(one.task, one.algorithm): one.reason for one in findings.left_out}
    assert reasons == {
        ("tiny/both", "logit"): "logit cannot fit a number",
        ("tiny/spending", "logit"): "logit cannot fit a number",
        ("tiny/owner", "ridge"): "ridge cannot fit a class",
    }


def test_names_that_the_run_does_not_have_are_refused(run: StoredRun) -> None:
    for scope, word in (
        (Scope(models=["gpt"]), "model"),
        (Scope(targets=["age"]), "target"),
        (Scope(splits=["later"]), "split"),
    ):
        with pytest.raises(HbenchError, match=f"there is no {word}"):
            worth_of_run(run, ["ridge"], scope)
    with pytest.raises(HbenchError, match="there is no learner 'ols'"):
        worth_of_run(run, ["ols"])


def test_blocks_can_come_from_the_answered_rows(run: StoredRun) -> None:
    scope = Scope(["tiny/spending"], ["linear"], within=True)
    (worth,) = worth_of_run(run, ["ridge"], scope, sizes=[5, 10]).worths
    assert not worth.curve.separate
    assert worth.curve.training_rows == 150


def test_the_command_writes_tables_rows_json_and_figures(
    run: StoredRun, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(folder / "data"))
    words = ["ess", "--run", str(run.path), "--algorithm", "ridge,logit", "--sizes", "5,20", "--budget", "5"]
    assert main([*words, "--include-path", str(folder / "tiny"), "--tasks", "@tiny"]) == 0
    shown = capsys.readouterr()
    assert "marginal is worth" in shown.out
    assert "tiny/owner (test): marginal against logit" in shown.out
    assert "no means over rows: the theory gives no bound" in shown.out
    assert "100%, about 0 s left" in shown.err
    assert main([*words, "--format", "json", "-o", str(folder / "ess.json")]) == 0
    page = json.loads((folder / "ess.json").read_text())
    assert (page["format"], page["version"]) == ("hbench ess", 1)
    assert {one["task"] for one in page["results"]} == {"tiny/spending", "tiny/both", "tiny/owner"}
    assert main([*words, "--format", "csv", "--target", "spending", "--no-curves"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("suite,task,target,split,model,algorithm,measure,n_star")
    assert len(lines) == 1 + 2 * 2 * 2
    assert main([*words, "--format", "md"]) == 0
    assert "| task |" in capsys.readouterr().out
    assert main(["ess", "--run", str(run.path), "--algorithm", "mlpp"]) == 2
    assert main(["ess", "--run", str(run.path), "--tasks", "@tiny", "--sizes", "many"]) == 2
    assert main(["ess"]) == 2


def test_figures_show_curve_line_estimate_and_bound(findings: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from hbench.report.worth_figure import worth_figure, write_worth_figures

    (worth,) = [one for one in findings.worths if one.task == "tiny/spending"]
    (axis,) = worth_figure(worth).axes
    labels = [line.get_label() for line in axis.lines]
    assert labels == ["ridge", "marginal", "at least 1", f"N* = {worth.curve.bound.plug_in}"]
    np.testing.assert_allclose(axis.lines[0].get_ydata(), [np.sqrt(p.error) for p in worth.curve.points])
    written = write_worth_figures([worth], tmp_path)
    assert [path.name for path in written] == [
        "ess-tiny-spending-test-marginal-ridge.svg",
        "ess-tiny-spending-test-marginal-ridge.png",
    ]
