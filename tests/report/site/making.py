"""What tests of the site are made of: a task and models whose every text is made to do harm, and a reader of pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from hbench.report.comparison import Comparison, View
from hbench.report.site import write_site
from hbench.run.evaluate import evaluate
from hbench.stat import Resampling

HOSTILE = "</script><script>window.harmed=1</script><img src=x onerror=window.harmed=1>'\"&\u202e${7*7}{{7*7}}"
"""What must never be more than text."""
VIEW = View(resampling=Resampling(draws=200))
TASK = """
suite: hostile
task: guess
title: {text}
description: {text}
topic: {text}
survey: {text}
source: none
key: {{id: id}}
predictors: [{{names: [age]}}, {{names: [sex], kind: categorical}}]
targets: [{{name: choice, kind: categorical, labels: [{label}, "no"], unit: {text}, description: {text}}}]
prompt: {{paragraphs: ["?"]}}
answer: {{parser: json_array}}
metrics: [macro_f1, accuracy]
citation: {text}
"""


POINT = {"difference": 1.0, "difference_se": 0.5, "rule": 4.0, "asymptotics": "separate_test", "settings": {},
         "agreement": {}, "notes": []}  # fmt: skip
CURVE = {
    "algorithm": "rf", "loss": "squared", "rule": 4.0, "rule_se": 0.4, "rows": 200, "training_rows": 900,
    "separate": True, "unanswered": 3, "without_outcome": 0, "training_without_outcome": 0, "notes": [],
    "bound": {"plug_in": None, "least": 32, "smallest": 8, "largest": 128, "alpha": 0.05},
    "points": [{**POINT, "size": 8, "blocks": 10, "error": 9.0, "se": 0.6},
               {**POINT, "size": 128, "blocks": 4, "error": 4.84, "se": None, "notes": ["one block"]}],
}  # fmt: skip
WORTH = {
    "format": "hbench ess", "version": 1, "notes": ["a note"],
    "left_out": [{"task": "s/u", "model": None, "algorithm": "rf", "reason": "no target"}],
    "summaries": [{"model": "m", "algorithm": "rf", "unit": "task", "count": 1, "smallest": 8, "tried": 128,
                   "median": None, "median_bound": 32, "least": None, "largest": None}],
    "results": [{"task": "s/t", "split": "test", "model": "m", "algorithm": "rf", "target": None,
                 "data_kind": "demo", "fingerprint": "f", "curve": CURVE}],
}  # fmt: skip
"""What `hbench ess` writes: a model better than the algorithm at every size that was tried."""


@dataclass(frozen=True)
class Made:
    """A site and what it was made of."""

    folder: Path
    comparison: Comparison

    def pages(self) -> Iterator[Path]:
        """Yield all pages."""
        yield from sorted(self.folder.rglob("*.html"))


class Page(HTMLParser):
    """Collects a page's elements and texts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.data: list[str] = []
        self._open = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.data.append(data)
        else:
            self.text += data

    def words(self) -> str:
        """Return the text in one line."""
        return re.sub(r"\s+", " ", self.text)


def hostile_run(root: Path) -> Path:
    """Evaluate two models on a task whose every text is hostile."""
    tasks, data = root / "tasks", root / "data"
    tasks.mkdir(parents=True)
    data.mkdir()
    text = json.dumps(HOSTILE)
    notices = json.dumps([f"notice {HOSTILE}"])
    (tasks / "_suite.yaml").write_text(f"suite: hostile\ntitle: {text}\ncitation: {text}\nnotices: {notices}\n")
    (tasks / "guess.yaml").write_text(TASK.format(text=text, label=json.dumps(HOSTILE)))
    answers = [json.dumps(["no" if i % 3 else HOSTILE]) for i in range(60)]
    rows = [
        {"id": f"{i} {HOSTILE}", "system": HOSTILE, "user": f"{i} {HOSTILE}", "assistant": answers[i],
         "predictors": {"age": 20 + i, "sex": HOSTILE if i % 2 else "m"}, "split": "test"}
        for i in range(60)
    ]  # fmt: skip
    (data / "guess.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for model, right in (("first", 2), ("second", 5)):
        said = [answers[i] if i % right else f"{HOSTILE} {i}" for i in range(60)]
        lines = [
            {"id": row["id"], "prediction": text, "reasoning": f"reason {HOSTILE}"}
            for row, text in zip(rows, said, strict=True)
        ]
        (root / f"{model}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    label = re.sub(r"[,=]", "", HOSTILE)
    models = [f"replay:{root / 'first.jsonl'},label=first{label}", f"replay:{root / 'second.jsonl'},label=second"]
    evaluate("hostile/*", models, data=str(data), include_paths=[tasks], out=root / f"run{label.replace('/', '')}")
    return root / f"run{label.replace('/', '')}"


def make_site(run: Path, folder: Path, title: str, worths: Sequence[Path] = ()) -> Made:
    """Write the site of a run."""
    comparison = Comparison.load([run])
    write_site(comparison, VIEW, folder, title=title, worths=worths)
    return Made(folder, comparison)
