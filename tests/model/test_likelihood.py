from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import AnswerSpec, Completion, Failure, Message, ModelError, Parsed, Record, Request, Target
from hbench.model.adapters import Adapted, PlainText
from hbench.model.likelihood import (
    ByLikelihood,
    Continuations,
    Likelihoods,
    Scored,
    answers,
    normalised,
    reason_against,
)
from hbench.model.lm_eval import LmEval
from hbench.parse import BracketedInteger, ChoiceWords, JsonArray

MOVES = Target(name="moves", kind="categorical", labels=("no", "maybe"))
SCALE = Target(name="answer", kind="ordinal", range=(1, 5))


class Scores:
    """Tells given likelihoods, by text."""

    generative = True
    reads = "messages"

    def __init__(self, logs: dict[str, float]) -> None:
        self.identity = {"model": "scores"}
        self.logs = logs
        self.seen: list[Continuations] = []

    def unsupported(self, task: str) -> str | None:
        return "not for me" if task.endswith("odd") else None

    async def likelihoods(self, items: Iterable[Continuations]) -> AsyncIterator[Scored]:
        for item in items:
            self.seen.append(item)
            if "2" in item.messages[-1].content:
                yield item, Failure("request", "context_too_long", "")
            else:
                yield item, Likelihoods(tuple(self.logs[text] for text in item.texts), 7)

    async def aclose(self) -> None:
        self.closed = True


def context(*targets: Target, aggregate: str = "none", parser: Any = JsonArray) -> Any:
    spec = SimpleNamespace(targets=targets, answer=SimpleNamespace(aggregate=aggregate))
    return SimpleNamespace(spec=lambda task: spec, parser=lambda task: parser())


def test_shares_are_the_softmax_of_the_logarithms() -> None:
    assert normalised([math.log(0.02), math.log(0.06)]) == pytest.approx([0.25, 0.75])
    # Far below the smallest float, and one impossible.
    assert normalised([-2000.0, -2000.0 + math.log(3), -math.inf]) == pytest.approx([0.25, 0.75, 0.0])


def test_the_most_probable_label_is_the_answer(bench: SimpleNamespace) -> None:
    scores = Scores({'["no"]': math.log(0.02), '["maybe"]': math.log(0.01)})
    model = ByLikelihood(scores, context(MOVES))
    got = bench.answer(model, bench.requests(3, targets=(MOVES,), draws=(0, 1)))
    for draw in (0, 1):
        outcome = got.outcomes[("1", draw)]
        assert outcome.text == '["no"]'
        assert outcome.probabilities == pytest.approx({"no": 2 / 3, "maybe": 1 / 3})
        assert (outcome.tokens_in, outcome.tokens_out) == (7, 0)
    assert got.reasons == ["context_too_long"] * 2
    # One scoring serves all draws.
    assert len(scores.seen) == 3
    assert scores.closed


def test_length_can_be_taken_out(bench: SimpleNamespace) -> None:
    # Per byte: log(0.02) / 2 = -1.96 against log(0.01) / 5 = -0.92.
    scores = Scores({'["no"]': math.log(0.02), '["maybe"]': math.log(0.01)})
    model = ByLikelihood(scores, context(MOVES), length="bytes")
    outcome = bench.answer(model, bench.requests(1, targets=(MOVES,))).outcomes[("0", 0)]
    assert outcome.text == '["maybe"]'
    no, maybe = math.exp(math.log(0.02) / 2), math.exp(math.log(0.01) / 5)
    assert outcome.probabilities["no"] == pytest.approx(no / (no + maybe))
    assert model.identity == {"model": "scores", "answer_mode": "loglikelihood", "length": "bytes"}


def test_answers_are_those_that_the_parser_writes_and_reads() -> None:
    assert answers(AnswerSpec((SCALE,)), BracketedInteger()) == {str(i): f"[{i}]" for i in range(1, 6)}
    push = AnswerSpec((Target(name="m", kind="ordinal", range=(0, 1)),), options={"words": "Push,Pull"})
    assert answers(push, ChoiceWords()) == {"0": "[Push]", "1": "[Pull]"}

    class Lossy(JsonArray):
        def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
            return Parsed(("no",))

    with pytest.raises(ModelError, match="does not read that back"):
        answers(AnswerSpec((MOVES,)), Lossy())


@pytest.mark.parametrize(
    ("targets", "aggregate", "reason"),
    [
        ((MOVES,), "vote", None),
        ((SCALE,), "none", None),
        ((MOVES, SCALE), "none", "single target; the task has 2"),
        ((Target(name="x", kind="numeric"),), "none", "'x' is numeric"),
        ((Target(name="x", kind="probability", labels=("a", "b")),), "none", "'x' is probability"),
        ((MOVES,), "population", "no population"),
        ((Target(name="x", kind="ordinal"),), "none", "no range"),
        ((Target(name="x", kind="ordinal", range=(0, 5000)),), "none", "5,001 steps; at most 101"),
    ],
)
def test_tasks_without_a_list_of_answers_are_named(
    targets: tuple[Target, ...], aggregate: str, reason: str | None
) -> None:
    found = reason_against(targets, aggregate)
    assert found is reason or (reason is not None and found is not None and reason in found)


def test_what_the_back_end_cannot_do(bench: SimpleNamespace) -> None:
    model = ByLikelihood(Scores({}), context(MOVES))
    assert model.unsupported("suite/odd") == "not for me"
    assert model.unsupported("suite/task") is None
    silent = SimpleNamespace(unsupported=lambda task: None)
    assert "tells no likelihoods" in str(ByLikelihood(silent, context(MOVES)).unsupported("suite/task"))
    # An adapter can do what its model can.
    adapted: Any = Adapted(silent, PlainText(), "plain")  # type: ignore[arg-type]
    assert "tells no likelihoods" in str(ByLikelihood(adapted, context(MOVES)).unsupported("suite/task"))


def test_an_adapter_writes_prompt_and_answers(bench: SimpleNamespace) -> None:
    scores = Scores({' ["no"]': -1.0, ' ["maybe"]': -2.0})
    model = ByLikelihood(Adapted(scores, PlainText(), "plain"), context(MOVES))  # type: ignore[arg-type]
    got = bench.answer(model, bench.requests(2, targets=(MOVES,)))
    assert scores.seen[1].messages == (Message("user", "Be a person.\n\nQuestion 1?\n\nAnswer:"),)
    assert got.texts[("1", 0)] == '["no"]'


class Loaded:
    """Stands in for a loaded model of lm-eval's registry: a text's likelihood falls with its length."""

    max_length = 40
    tokenizer = object()

    def __init__(self) -> None:
        self.calls: list[int] = []

    def apply_chat_template(self, turns: list[dict[str, str]]) -> str:
        return "".join(f"<{turn['role']}>{turn['content']}" for turn in turns)

    def tok_encode(self, text: str) -> list[str]:
        return text.split()

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        self.calls.append(len(requests))
        assert all(request.args[0].startswith("<system>") for request in requests)
        return [(-float(len(request.args[1])), False) for request in requests]


def test_lm_eval_s_models_score(bench: SimpleNamespace) -> None:
    pytest.importorskip("lm_eval")
    inner = LmEval("hf:m", "hf", {}, seed=1, chat=True, chunk_size=2)
    inner._model = loaded = Loaded()
    model = ByLikelihood(inner, context(MOVES))
    long = Request(
        Record(task="suite/task", id="long"),
        (Message("system", "word " * 40), Message("user", "x")),
        AnswerSpec((MOVES,)),
    )
    got = bench.answer(model, [*bench.requests(3, targets=(MOVES,)), long])
    assert loaded.calls == [4, 2]
    assert got.texts == {(str(number), 0): '["no"]' for number in range(3)}
    assert got.outcomes[("0", 0)].probabilities["no"] == pytest.approx(1 / (1 + math.exp(-3)))
    assert got.reasons == ["context_too_long"]


def test_lm_eval_s_types_without_likelihoods_say_so(bench: SimpleNamespace) -> None:
    pytest.importorskip("lm_eval")

    class Chat(Loaded):
        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
            raise NotImplementedError

    inner = LmEval("lm-eval:chat", "chat", {}, seed=1, chat=True, chunk_size=2)
    inner._model = Chat()
    with pytest.raises(ModelError, match="tells no likelihoods"):
        asyncio.run(ByLikelihood(inner, context(MOVES)).answer(bench.requests(1, targets=(MOVES,)), bench.Collector()))
