"""Two small runs over one study: numeric, categorical and probability answers with groups, clusters, weights."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.run.evaluate import evaluate

LABELS = ["stay", "move", "rare"]
HEAD = """
suite: study
source: none
key: {id: id, time: time, release: released}
predictors: [{names: [age]}, {names: [sex], kind: categorical}]
prompt: {paragraphs: ["?"]}
"""
TASKS = {
    "spend": HEAD
    + """
task: spend
topic: consumption
targets: [{name: amount, kind: numeric, no_change: lag}]
answer: {parser: json_array, aggregate: mean}
metrics: [relmae, nmae]
""",
    "gift": HEAD
    + """
task: gift
topic: consumption
mode: policy
targets: [{name: amount, kind: numeric, no_change: lag}]
answer: {parser: json_array, aggregate: mean}
metrics: [relmae]
""",
    "move": HEAD
    + """
task: move
topic: housing
targets: [{name: moves, kind: categorical, labels: [stay, move, rare], no_change: lag}]
answer: {parser: json_array, aggregate: vote}
metrics: [macro_f1, accuracy]
""",
    "belief": HEAD
    + """
task: belief
topic: macro
targets: [{name: bins, kind: probability, labels: [low, high], columns: [p0, p1], no_change: [q0, q1]}]
answer: {parser: probability_vectors, aggregate: mean_vector}
metrics: [tv]
""",
}


class Study:
    """Tasks and data on disk, and prediction files for models of known quality."""

    def __init__(self, root: Path, rows: int = 60) -> None:
        self.root, self.rows = root, rows
        self.tasks, self.data = root / "tasks", root / "data"
        self.tasks.mkdir(parents=True)
        self.data.mkdir()
        (self.tasks / "_suite.yaml").write_text("suite: study\ntitle: Study\nlayout: records\n")
        self.gold: dict[str, list[str]] = {}
        for name, text in TASKS.items():
            (self.tasks / f"{name}.yaml").write_text(text)
            rng = random.Random(name)
            records = [self.record(name, i, rng) for i in range(rows)]
            self.gold[name] = [record["assistant"] for record in records]
            for split in ("pre_cutoff_test", "post_cutoff_test"):
                (self.data / name).mkdir(exist_ok=True)
                with (self.data / name / f"{split}.jsonl").open("w") as stream:
                    stream.writelines(json.dumps(record) + "\n" for record in records if record["split"] == split)

    def record(self, task: str, i: int, rng: random.Random) -> dict[str, object]:
        late = i >= self.rows // 2
        return {
            "id": f"p{i}",
            "time": "2020-01",
            "release_date": "2026-08-01" if i % 20 == 19 else "2026-03-01" if late else "2019-06-01",
            "user": "?",
            "assistant": self.answer(task, rng),
            "naive_baseline": self.answer(task, rng),
            "cluster": f"h{i // 2}",
            "weight": 1.0 + (i % 3),
            "predictors": {"age": 20 + i, "sex": "f" if i % 2 else "m"},
            "split": "post_cutoff_test" if late else "pre_cutoff_test",
        }

    @staticmethod
    def answer(task: str, rng: random.Random) -> str:
        if task in ("spend", "gift"):
            return f"[{rng.randint(10, 100)}]"
        if task == "move":
            return json.dumps([rng.choices(LABELS, [60, 38, 2])[0]])
        p = rng.choice([0.1, 0.4, 0.7])
        return json.dumps([[p, round(1 - p, 6)]])

    def predictions(self, model: str, quality: float, *, draws: int = 1, invalid: float = 0.0) -> str:
        """Write a model's predictions, right with probability `quality`; return its words."""
        folder = self.root / model
        folder.mkdir()
        for name in TASKS:
            rng = random.Random(f"{model} {name}")
            with (folder / f"{name}.jsonl").open("w") as stream:
                for i, gold in enumerate(self.gold[name]):
                    for draw in range(draws):
                        right = rng.random() < quality
                        answer = "nonsense" if rng.random() < invalid else gold if right else self.answer(name, rng)
                        line = {"id": f"p{i}", "time": "2020-01", "draw": draw, "prediction": answer}
                        stream.write(json.dumps(line) + "\n")
        return f"replay:{folder},label={model}"

    def run(self, name: str, models: list[str], **settings: object) -> Path:
        out = self.root / name
        evaluate("study/*", models, data=str(self.data), include_paths=[self.tasks], out=out, **settings)  # type: ignore[arg-type]
        return out


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path / "study")


@pytest.fixture(scope="session")
def big_study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Path]:
    study = Study(tmp_path_factory.mktemp("reports") / "study")
    models = [
        study.predictions("good", 0.9, draws=4),
        study.predictions("poor", 0.2, draws=4, invalid=0.1),
        "no_change",
    ]
    return study, study.run("run", models, draws=4)


MakeStudy = Callable[[], Study]
