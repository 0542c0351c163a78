"""Components that raise what they should not: one clear message each, and nothing lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from hbench.api import Evaluation, evaluate
from hbench.core import AnswerSpec, Completion, Deliver, HbenchError, Request, ScoreError, Values
from hbench.core.metric import FloatArray
from hbench.metric.numeric import MAE
from hbench.parse import JsonArray
from hbench.plugin import ComponentInfo, Registry, default_registry
from hbench.run.journal import Journal
from hbench.run.rescore import rescore


class Model:
    """Raises after three answers what no back end should."""

    name, reads, identity = "shaky", "messages", {"model": "shaky"}
    mended = False

    def __init__(self) -> None:
        self.asked = 0

    def unsupported(self, task: str) -> str | None:
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        for request in requests:
            if self.asked == 3 and not self.mended:
                raise AssertionError("order of results")
            self.asked += 1
            await deliver(request, 0, Completion(f"[{self.asked}.0]"))

    async def aclose(self) -> None:
        return


class Parser(JsonArray):
    """Falls over one of the answers."""

    mended = False

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Any:
        if completion.text == "[7.0]" and not Parser.mended:
            raise KeyError("seven")
        return super().__call__(completion, answer)

    def render(self, values: Values, answer: AnswerSpec) -> str:
        return super().render(values, answer)


class Metric(MAE):
    """Divides by nothing."""

    def reduce(self, sums: FloatArray) -> FloatArray:
        return sums / 0 if isinstance(sums, int) else [1 / 0]  # type: ignore[return-value]


@pytest.fixture
def registry() -> Registry:
    own = [("parser", "falling", "Parser"), ("metric", "dividing", "Metric")]
    brought = [
        ComponentInfo(kind, name, "planted", f"{__name__}:{target}", "planted", "1") for kind, name, target in own
    ]
    return Registry([*default_registry().names(), *brought])


def go(toy: Any, model: Any, **more: Any) -> Evaluation:
    return evaluate("spend", model, data=toy.data, include_paths=[toy.tasks], out=toy.root / "run", **more)


def change(toy: Any, old: str, new: str) -> None:
    file = toy.tasks / "spend.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_model_that_raises_keeps_its_answers_and_the_others_their_turn(toy: Any) -> None:
    model = Model()
    result = go(toy, [model, "no_change"])
    (about,) = result.results.gave_up
    assert about["model"] == "shaky"
    assert "model shaky raised AssertionError in " in about["error"]
    assert f"{__file__}, line " in about["error"]
    assert about["error"].count("order of results") == 1
    assert {row["model"]: row["valid"] for row in result.scores} == {"shaky": 3, "no_change": 60}
    model.mended = True
    assert go(toy, [model, "no_change"]).results.gave_up == []
    assert model.asked == 60


def test_a_parser_that_raises_loses_no_answer(toy: Any, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    model.mended = True
    change(toy, "parser: json_array", "parser: planted/falling")
    with pytest.raises(ScoreError, match=r"scoring shaky raised KeyError in .*'seven'") as caught:
        go(toy, model, registry=registry)
    assert caught.value.task == "toy/spend"
    assert "hbench rescore RUN" in str(caught.value.hint)
    journal = Journal(toy.root / "run" / "journal.sqlite")
    assert len(journal) == 60
    journal.close()
    monkeypatch.setattr(Parser, "mended", True)
    assert rescore(toy.root / "run", registry=registry).scores[0]["valid"] == 60
    assert go(toy, model, registry=registry).scores[0]["valid"] == 60
    assert model.asked == 60


def test_a_metric_that_raises_is_named_with_its_code(toy: Any, registry: Registry) -> None:
    change(toy, "metrics: [", "metrics: [planted/dividing, ")
    with pytest.raises(HbenchError, match=f"raised ZeroDivisionError in {__file__}, line "):
        go(toy, "no_change", registry=registry)
