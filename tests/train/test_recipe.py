"""Recipes: reading them, going on with them, and what base and tuned model differ by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from hbench.core import ModelError, TrainingError
from hbench.report.comparison import Comparison, View
from hbench.run.evaluate import Result, evaluate
from hbench.run.results import Results
from hbench.stat import Resampling
from hbench.train import stages
from hbench.train.improvement import improvement
from hbench.train.recipe import read_recipe
from tests.train import tiny
from tests.train.toy import PLAY, Toy, lines, play

RECIPE = """
model: some/model
export: {tasks: spend, per_task: 30, validation: 5}
train: {learning_rate: 2.0e-4}
evaluate: {tasks: [spend, reform], draws: null, options: {temperature: 0}}
compare: {resamples: 2000}
"""


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "recipe.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "no mapping"),
        ("model: [", "not valid YAML"),
        ("model: m\nevaluate: {tasks: spend}\n", "the key 'export' is missing"),
        (RECIPE.replace("per_task", "pro_task"), "unknown key 'pro_task' in `export` (Did you mean 'per_task'"),
        (RECIPE.replace("learning_rate", "learning_speed"), "no setting 'learning_speed'"),
        (RECIPE.replace("draws: null", "draws: 0"), "evaluate.draws"),
    ],
)
def test_mistakes_name_the_file_and_the_key(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(TrainingError) as raised:
        read_recipe(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


def test_words_of_the_command_go_before_the_files(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, RECIPE), model="other/model", data=None)
    assert recipe.model == recipe.config().model == "other/model"
    assert recipe.config().learning_rate == 2e-4
    assert recipe.config().seed == recipe.seed == 42
    assert recipe.export.tasks == ("spend",)
    assert read_recipe(written(tmp_path, RECIPE.replace("draws: null, ", ""))).evaluate.draws == 16


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "docs/recipes").glob("*.yaml")), ids=lambda p: p.stem
)
def test_the_recipes_of_the_documentation_can_be_read(path: Path) -> None:
    assert read_recipe(path).config().model


def test_an_adapter_is_an_option_of_the_engine() -> None:
    words = stages._words("vllm", "a/b", {"label": "tuned", "temperature": 0.7, "lora": "/x/y, z"})
    assert words == 'vllm:"a/b",label="tuned",temperature=0.7,lora="/x/y, z"'


class Trainer:
    """Counts what it is asked to train."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, list[str]]] = []

    def __call__(self, config: Any, data: Path, out: Path, **_: Any) -> Path:
        self.calls.append((config.learning_rate, sorted(path.name for path in data.iterdir())))
        (out / "adapter").mkdir(parents=True)
        return out / "adapter"


@pytest.fixture
def run(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Trainer, Callable[..., tuple[stages.Outcome, list[str]]]]:
    """Run recipes with a counter for a trainer; the base model draws, the tuned one knows the median."""
    trainer = Trainer()

    def words(engine: str, model: str, options: dict[str, str]) -> str:
        return f"marginal:mode={'point' if 'peft' in options else 'sample'},label={options['label']}"

    pytest.importorskip("hbench.train.trainer")
    monkeypatch.setattr("hbench.train.trainer.train", trainer)
    monkeypatch.setattr(stages, "_words", words)

    def ran(text: str = RECIPE) -> tuple[stages.Outcome, list[str]]:
        said: list[str] = []
        recipe = read_recipe(written(tmp_path, text), data=[str(toy.data)])
        return stages.RecipeRun(recipe, toy.out, include_paths=[toy.tasks], say=said.append).run(), said

    return trainer, ran


def test_stages_that_are_done_are_not_done_again(
    toy: Toy, run: tuple[Trainer, Callable[..., tuple[stages.Outcome, list[str]]]]
) -> None:
    trainer, ran = run
    text = RECIPE.replace("spend, reform", "play").replace("tasks: spend", "tasks: play")
    first, _ = ran(text)
    assert trainer.calls == [(2e-4, ["README.md", "manifest.json", "train.jsonl"])]
    assert list(first.stages) == ["set", "base", "adapter", "tuned"]
    again, said = ran(text)
    assert len(trainer.calls) == 1
    assert [line.split(":")[0] for line in said if "done before" in line] == ["set", "adapter"]
    assert again.document.rows == first.document.rows
    # Another rate is another adapter from the same set.
    changed, said = ran(text.replace("2.0e-4", "3.0e-4"))
    assert [rate for rate, _ in trainer.calls] == [2e-4, 3e-4]
    assert [line.split(":")[0] for line in said if "done before" in line] == ["set"]
    assert changed.stages["set"]["folder"] == first.stages["set"]["folder"]
    assert changed.stages["adapter"]["folder"] != first.stages["adapter"]["folder"]


def test_data_that_come_later_are_checked_and_nothing_is_trained_again(
    toy: Toy, run: tuple[Trainer, Callable[..., tuple[stages.Outcome, list[str]]]]
) -> None:
    trainer, ran = run
    text = RECIPE.replace("spend, reform", "play").replace("tasks: spend", "tasks: play")
    secret = toy.data / "toy/secret/test.jsonl"
    later = secret.read_text()
    for path in (secret, secret.with_name("train.jsonl")):
        path.unlink()
    first, _ = ran(text)
    secret.write_text(later)
    second, _ = ran(text)
    checked = [json.loads((toy.out / str(one.stages["set"]["folder"]) / "manifest.json").read_text())["leakage"]
               for one in (first, second)]  # fmt: skip
    assert [one["not_checked"] for one in checked] == [["toy/secret"], []]
    assert first.stages["adapter"]["folder"] == second.stages["adapter"]["folder"]
    assert len(trainer.calls) == 1


def test_a_training_that_fails_is_tried_again(
    toy: Toy, run: tuple[Trainer, Callable[..., tuple[stages.Outcome, list[str]]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, ran = run
    text = RECIPE.replace("spend, reform", "play").replace("tasks: spend", "tasks: play")

    def fail(*_: Any, **__: Any) -> Path:
        raise TrainingError("out of memory")

    monkeypatch.setattr("hbench.train.trainer.train", fail)
    with pytest.raises(TrainingError, match="out of memory"):
        ran(text)
    monkeypatch.setattr("hbench.train.trainer.train", trainer)
    ran(text)
    assert len(trainer.calls) == 1


def test_a_model_that_gives_up_ends_the_recipe_before_the_training(
    run: tuple[Trainer, Callable[..., tuple[stages.Outcome, list[str]]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, ran = run

    def give_up(job: Any, **_: Any) -> Result:
        return Result(job.path, Results(gave_up=[{"model": "base", "error": "no memory"}]), {})

    monkeypatch.setattr("hbench.run.evaluate.run", give_up)
    with pytest.raises(ModelError, match="the base model gave up: no memory"):
        ran()
    assert trainer.calls == []


def answers(toy: Toy, folder: str, says: Callable[[int], str]) -> Path:
    """Write predictions for the twenty test records of ``spend``, of which number i had 200 + i dollars."""
    path = toy.data.parent / folder / "toy" / "spend.jsonl"
    path.parent.mkdir(parents=True)
    records = enumerate(lines(toy.data / "toy/spend/test.jsonl"))
    rows = ({"id": record["id"], "time": record["time"], "prediction": says(i)} for i, record in records)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path.parent.parent


def compared(toy: Toy, base: Callable[[int], str], tuned: Callable[[int], str], **how: Any) -> dict[str, Any]:
    models = [f"replay:{answers(toy, name, says)},label={name}" for name, says in (("base", base), ("tuned", tuned))]
    runs = [
        evaluate("spend", model, data=str(toy.data), include_paths=[toy.tasks], out=toy.out / str(n)).path
        for n, model in enumerate(models)
    ]
    view = View(resampling=Resampling(draws=2000, seed=1), **how)
    rows = improvement(Comparison.load(runs), view, trained={"toy/spend"})
    return {row["metric"]: row for row in rows}


def test_gains_are_those_of_paired_records(toy: Toy) -> None:
    # The truth is 201 + i. The base errs by 10 or 20, the tuned model by half of that: everywhere half is gained.
    def error(i: int) -> int:
        return 10 if i % 2 else 20

    found = compared(toy, lambda i: f"[{201 + i + error(i)}]", lambda i: f"[{201 + i + error(i) // 2}]")
    # No change errs by one dollar each: RelMAE is the mean absolute error.
    row = found["relmae"]
    assert (row["base"], row["tuned"], row["gain"]) == pytest.approx((15.0, 7.5, 7.5))
    assert row["gain_percent"] == pytest.approx(50.0)
    assert row["verdict"] == "better"
    assert row["taught"] == "trained"
    # The gain of a record is 5 or 10, each for half of them: its mean's error is 2.5 / sqrt(20).
    assert row["gain_se"] == pytest.approx(2.5 / np.sqrt(20), rel=0.06)
    assert (row["gain_lo"], row["gain_hi"]) == pytest.approx((7.5 - 1.1, 7.5 + 1.1), abs=0.15)
    assert (row["strict_base"], row["strict_gain"]) == pytest.approx((15.0, 7.5))


def test_readable_answers_are_compared_too(toy: Toy) -> None:
    # Twelve of the base's twenty answers are no answers; where it gives one, both are right.
    found = compared(toy, lambda i: f"[{201 + i}]" if i >= 12 else "Well, it depends.", lambda i: f"[{201 + i}]")
    row = found["valid answers"]
    assert (row["base"], row["tuned"], row["gain"], row["n"]) == pytest.approx((0.4, 1.0, 0.6, 20))
    assert row["gain_se"] == pytest.approx(np.sqrt(0.6 * 0.4 / 20), rel=0.06)
    assert row["verdict"] == "better"
    assert "strict_gain" not in row
    # Of its own valid rows the base has no error; by the strict rule the twelve count as no change, off by a dollar.
    assert found["relmae"]["gain"] == 0.0
    assert found["relmae"]["verdict"] == "unclear"
    assert found["relmae"]["strict_gain"] == pytest.approx(12 / 20)
    assert found["relmae"]["strict_verdict"] == "better"


def test_what_gets_worse_is_said(toy: Toy) -> None:
    found = compared(toy, lambda i: f"[{201 + i}]", lambda i: f"[{231 + i}]")
    assert found["relmae"]["gain"] == pytest.approx(-30.0)
    assert found["relmae"]["verdict"] == "worse"


def test_draws_of_a_population_are_resampled(toy: Toy) -> None:
    """All people give 50, so that nothing but the model's draws can vary."""
    text = PLAY.replace("task: play", "task: share").replace("kind: numeric", "kind: population")
    text = text.replace("round: integer}", "round: integer, aggregate: population, draws: 40}")
    text = text.replace("metrics: [mae]", "metrics: [{metric: wasserstein, level: distributional}]")
    (toy.tasks / "share.yaml").write_text(text)
    toy.write("share", "test", [play(f"c{i}", 50) for i in range(12)])
    runs = []
    for name, far in (("base", 20), ("tuned", 10)):
        # Half of the draws are right, half are off: the distance's mean is half of that, and so is its deviation.
        said = [{"id": f"c{i}-1", "draw": k, "prediction": f"[{50 + far * (k % 2)}]"} for i in range(12) for k in range(40)]  # fmt: skip  # noqa: E501
        path = toy.data.parent / name / "toy/share.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in said))
        model = f"replay:{path.parents[1]},label={name}"
        runs.append(evaluate("share", model, data=str(toy.data), include_paths=[toy.tasks], out=toy.out / name).path)
    view = View(resampling=Resampling(draws=2000, seed=1))
    rows = {row["metric"]: row for row in improvement(Comparison.load(runs), view, trained=())}
    row = rows["wasserstein"]
    assert (row["base"], row["tuned"], row["gain"]) == pytest.approx((10.0, 5.0, 5.0))
    assert row["gain_se"] == pytest.approx(np.sqrt((10**2 + 5**2) / 40), rel=0.06)
    assert row["taught"] == "held out"
    assert (rows["valid answers"]["base"], rows["valid answers"]["n"]) == (1.0, 12)


def test_a_mean_of_tasks_is_of_those_that_were_or_were_not_trained(
    run: tuple[Trainer, Callable[..., tuple[stages.Outcome, list[str]]]], toy: Toy
) -> None:
    for task in ("reform", "secret"):
        toy.write(task, "test", lines(toy.data / "toy/spend/test.jsonl"))
    _, ran = run
    outcome, _ = ran(RECIPE.replace("[spend, reform]", "[play, reform, secret]").replace("tasks: spend", "tasks: play"))
    rows = {(row["scope"], row["task"], row["metric"], row["taught"]): row for row in outcome.document.rows}
    both = rows["mean", None, "valid answers", "held out"]
    assert both["tasks"] == 2
    assert both["n"] == 40
    assert ("task", "play", "mae", "trained") in rows
    text = (toy.out / "improvement.txt").read_text()
    assert "mean of 2" in text
    assert json.loads((toy.out / "improvement.json").read_text())["recipe"]["model"] == "some/model"


@pytest.mark.slow
def test_a_real_model_goes_through_all_stages(toy: Toy, tmp_path: Path) -> None:
    """Two layers of random weights: what is learned is of no matter, that all parts fit together is."""
    for package in ("trl", "peft", "lm_eval"):
        pytest.importorskip(package)
    base = tiny.base(tmp_path / "model")
    settings = {**tiny.FAST, "eval_records": 0, "max_steps": 2}
    text = yaml.safe_dump(
        {
            "model": str(base),
            "export": {"tasks": "spend", "validation": 4},
            "train": settings,
            "evaluate": {
                "tasks": ["spend", "reform"],
                "draws": 2,
                "limit": 4,
                "options": {"max_tokens": 6, "temperature": 1.0, "batch_size": 4, "seeding": "chunk"},
            },
            "compare": {"resamples": 200},
        }
    )
    recipe = read_recipe(written(tmp_path, text), data=[str(toy.data)])
    outcome = stages.RecipeRun(recipe, toy.out, include_paths=[toy.tasks]).run()
    adapter = toy.out / str(outcome.stages["adapter"]["folder"])
    assert (adapter / "adapter_config.json").is_file()
    asked = {
        (row["task"], row["taught"], row["n"]) for row in outcome.document.rows if row["metric"] == "valid answers"
    }
    assert {("spend", "trained", 4), ("reform", "held out", 1)} <= asked
    tuned = json.loads((toy.out / str(outcome.stages["tuned"]["folder"]) / "manifest.json").read_text())
    assert str(adapter) in tuned["models"][0]["spec"]
