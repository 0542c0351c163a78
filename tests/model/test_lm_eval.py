from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Message, ModelError, Sampling
from hbench.model.generation import render_chat
from hbench.model.likelihood import Continuations
from hbench.model.lm_eval import LmEval, create_hf, create_lm_eval

pytest.importorskip("lm_eval")


class Loaded:
    """Stands in for a loaded model of lm-eval's registry."""

    max_length = 40
    tokenizer = object()

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, dict[str, Any]]]] = []
        self.threads: set[int] = set()
        self.fail_on_call = -1

    def apply_chat_template(self, turns: list[dict[str, str]]) -> str:
        return "".join(f"<{turn['role']}>{turn['content']}" for turn in turns)

    def tok_encode(self, text: str) -> list[str]:
        return text.split()

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str | None]:
        self.calls.append([request.args for request in requests])
        self.threads.add(threading.get_ident())
        if len(self.calls) - 1 == self.fail_on_call:
            raise RuntimeError("CUDA out of memory\nmore")
        return [f"answer {prompt[-2:]}" for prompt, _ in self.calls[-1]]


class Dice(Loaded):
    """Answers at random from torch's one stream, as transformers do."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str | None]:
        import torch

        super().generate_until(requests)
        return [str(torch.randint(10**9, (1,)).item()) for _ in requests]


def make(
    chunk_size: int = 4, apart: bool = True, loaded: Loaded | None = None, **options: Any
) -> tuple[LmEval, Loaded]:
    loaded = loaded or Loaded()
    model = LmEval("hf:m", "hf", options, seed=1, chat=True, chunk_size=chunk_size, apart=apart)
    model._model = loaded
    return model, loaded


def test_chunks_are_delivered_one_by_one(bench: SimpleNamespace) -> None:
    model, loaded = make(chunk_size=4)
    got = bench.answer(model, bench.requests(10, sampling=Sampling(max_tokens=5, temperature=0)))
    assert [len(call) for call in loaded.calls] == [4, 4, 2]
    assert got.texts[("3", 0)] == "answer 3?"
    assert threading.get_ident() not in loaded.threads


def test_the_event_loop_lives_while_a_chunk_is_generated(bench: SimpleNamespace) -> None:
    model, loaded = make()
    gate = threading.Event()
    loaded.apply_chat_template = lambda turns: gate.wait(5) and "Be a person. Question 0?"  # type: ignore[method-assign]

    async def work() -> None:
        task = asyncio.create_task(model.answer(bench.requests(1, sampling=Sampling(max_tokens=5)), bench.Collector()))
        await asyncio.sleep(0.05)
        gate.set()
        await task
        await model.aclose()

    asyncio.run(work())


def test_a_sampled_answer_hangs_on_its_own_prompt_and_draw_alone(bench: SimpleNamespace) -> None:
    pytest.importorskip("torch")
    settings = Sampling(max_tokens=5, temperature=1)

    def texts(requests: Any, **how: Any) -> dict[tuple[str, int], object]:
        found: dict[tuple[str, int], object] = bench.answer(make(loaded=Dice(), **how)[0], requests).texts
        return found

    whole = texts(bench.requests(5, draws=(0, 1, 2), sampling=settings))
    assert len(set(whole.values())) == 15
    assert texts(bench.requests(5, draws=(0, 1, 2), sampling=settings), chunk_size=7) == whole
    # A run that goes on asks for the missing draws only, in other company.
    late = [request for request in bench.requests(5, draws=(1, 2), sampling=settings) if request.record.id in "13"]
    assert texts(reversed(late)) == {key: whole[key] for key in (("1", 1), ("1", 2), ("3", 1), ("3", 2))}
    reseeded = texts(bench.requests(5, draws=(0, 1, 2), sampling=Sampling(max_tokens=5, temperature=1, seed=9)))
    assert not set(reseeded.values()) & set(whole.values())


def test_sampling_in_batches_is_a_choice_that_the_identity_tells(bench: SimpleNamespace) -> None:
    model, loaded = make(chunk_size=4, apart=False)
    bench.answer(model, bench.requests(10, sampling=Sampling(max_tokens=5)))
    assert [len(call) for call in loaded.calls] == [4, 4, 2]
    model, loaded = make(chunk_size=4)
    bench.answer(model, bench.requests(10, sampling=Sampling(max_tokens=5)))
    assert [len(call) for call in loaded.calls] == [1] * 10


def test_a_stop_waits_for_what_is_begun_and_keeps_it(bench: SimpleNamespace) -> None:
    model, loaded = make(chunk_size=4)
    begun, gate = threading.Event(), threading.Event()
    generate = loaded.generate_until

    def slow(requests: list[Any], disable_tqdm: bool = False) -> list[str | None]:
        begun.set()
        assert gate.wait(5)
        return generate(requests)

    loaded.generate_until = slow  # type: ignore[method-assign]
    collector = bench.Collector()

    async def work() -> None:
        requests = bench.requests(10, sampling=Sampling(max_tokens=5, temperature=0))
        task = asyncio.create_task(model.answer(requests, collector))
        await asyncio.to_thread(begun.wait, 5)
        task.cancel()
        await asyncio.sleep(0.01)
        assert not task.done()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.aclose()

    asyncio.run(work())
    assert sorted(collector.texts) == [(str(number), 0) for number in range(4)]
    assert len(loaded.calls) == 1


def test_a_greedy_run_that_goes_on_forms_the_same_batches(bench: SimpleNamespace) -> None:
    class Company(Loaded):
        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str | None]:
            super().generate_until(requests)
            return [" ".join(prompt[-2:] for prompt, _ in self.calls[-1])] * len(requests)

    def ask() -> Any:
        return bench.requests(10, sampling=Sampling(max_tokens=5, temperature=0))

    whole = bench.answer(make(loaded=Company())[0], ask()).texts
    collector = bench.Collector()
    model, loaded = make(loaded=Company())
    loaded.fail_on_call = 1
    with pytest.raises(ModelError):
        bench.answer(model, ask(), collector)
    left = (request for request in ask() if (request.record.id, 0) not in collector.texts)
    assert bench.answer(make(loaded=Company())[0], left, collector).texts == whole


def test_a_failing_chunk_keeps_those_before_it(bench: SimpleNamespace) -> None:
    model, loaded = make(chunk_size=4)
    loaded.fail_on_call = 1
    collector = bench.Collector()
    with pytest.raises(ModelError, match="RuntimeError: CUDA out of memory") as caught:
        bench.answer(model, bench.requests(10, sampling=Sampling(max_tokens=5, temperature=0)), collector)
    assert "more" not in caught.value.message
    assert len(collector.texts) == 4


def test_settings_are_translated(bench: SimpleNamespace) -> None:
    model, loaded = make()
    sampling = Sampling(
        temperature=0.7, top_p=0.8, top_k=20, max_tokens=5, stop=("\n",), extra={"repetition_penalty": 1.1}
    )
    bench.answer(model, bench.requests(1, sampling=sampling))
    assert loaded.calls[0][0][1] == {
        "until": ["\n"], "max_gen_toks": 5, "do_sample": True, "temperature": 0.7, "top_p": 0.8, "top_k": 20,
        "repetition_penalty": 1.1,
    }  # fmt: skip


def test_reasoning_is_kept_apart(bench: SimpleNamespace) -> None:
    model, loaded = make()
    loaded.generate_until = lambda requests, **how: ["<think>\nHm.\n</think>\n\n[5]"] * len(requests)  # type: ignore[method-assign]
    outcome = bench.answer(model, bench.requests(1, sampling=Sampling(max_tokens=5))).outcomes["0", 0]
    assert (outcome.text, outcome.reasoning) == ("[5]", "Hm.")
    # The template leaves the tag open, and the thought has no end.
    model, loaded = make()
    loaded.apply_chat_template = lambda turns: "Be a person. Question 0? <think>\n"  # type: ignore[method-assign]
    loaded.generate_until = lambda requests, **how: ["Hm"] * len(requests)  # type: ignore[method-assign]
    outcome = bench.answer(model, bench.requests(1, sampling=Sampling(max_tokens=5))).outcomes["0", 0]
    assert (outcome.text, outcome.reasoning) == ("", "Hm")


def test_greedy_draws_are_generated_once(bench: SimpleNamespace) -> None:
    model, loaded = make()
    got = bench.answer(model, bench.requests(1, draws=(0, 1, 2), sampling=Sampling(temperature=0, max_tokens=5)))
    assert sum(map(len, loaded.calls)) == 1
    assert len(got.texts) == 3
    model, loaded = make()
    bench.answer(model, bench.requests(1, draws=(0, 1, 2), sampling=Sampling(max_tokens=5)))
    assert sum(map(len, loaded.calls)) == 3
    assert loaded.calls[0][0][1]["temperature"] == 1.0


def test_a_prompt_that_does_not_fit_is_named_and_never_cut(bench: SimpleNamespace) -> None:
    model, loaded = make()
    got = bench.answer(model, bench.requests(2, sampling=Sampling(max_tokens=39)))
    assert got.reasons == ["context_too_long"] * 2
    assert not loaded.calls
    # Without a limit of one's own the room that is left is used.
    model, loaded = make()
    assert len(bench.answer(model, bench.requests(1)).texts) == 1
    assert loaded.calls[0][0][1]["max_gen_toks"] < 40


def test_a_template_that_drops_the_system_turn_gets_it_with_the_question() -> None:
    class Deaf(Loaded):
        def apply_chat_template(self, turns: list[dict[str, str]]) -> str:
            return super().apply_chat_template([turn for turn in turns if turn["role"] != "system"])

    messages = (Message("system", "Be brief."), Message("user", "How much?"))
    assert render_chat(Deaf(), messages, chat=True, name="m") == "<user>Be brief.\n\nHow much?"
    assert render_chat(Loaded(), messages, chat=True, name="m") == "<system>Be brief.<user>How much?"
    assert render_chat(Loaded(), messages, chat=False, name="m") == "Be brief.\n\nHow much?"


def test_a_model_without_template_says_what_to_do() -> None:
    class Base(Loaded):
        def apply_chat_template(self, turns: list[dict[str, str]]) -> str:
            raise ValueError("tokenizer.chat_template is not set")

    with pytest.raises(ModelError, match="chat_template=off"):
        render_chat(Base(), (Message("user", "x"),), chat=True, name="m")


def test_the_identity_tells_models_settings_and_templates_apart(bench: SimpleNamespace) -> None:
    def identity(argument: str, **options: Any) -> Any:
        return create_hf(argument, options, bench.Context()).identity

    assert identity("org/m", batch_size=8, device="cpu") == identity("org/m", device="cuda")
    assert identity("org/m") != identity("org/n")
    assert identity("org/m") != identity("org/m", revision="b")
    assert identity("org/m") != identity("org/m", dtype="float32")
    assert identity("org/m") != identity("org/m", chat_template="off")
    assert identity("org/m") != identity("org/m", seeding="chunk")


def test_a_folder_is_known_by_its_content(bench: SimpleNamespace, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    one, two = (create_hf(str(tmp_path / name), {}, bench.Context()).identity for name in ("a", "b"))
    assert one == two
    assert str(tmp_path) not in str(one)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("dumy", {}, "did you mean 'dummy'"),
        ("hf", {"pretrained": "x", "dtpye": "float32"}, "did you mean 'dtype'"),
        ("hf", {"pretrained": "./absent/model"}, "cannot be loaded"),
    ],
)
def test_what_cannot_be_loaded(bench: SimpleNamespace, kind: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        bench.answer(create_lm_eval(kind, options, bench.Context()), bench.requests(1))


def test_keys_do_not_belong_into_options(bench: SimpleNamespace) -> None:
    with pytest.raises(ModelError, match="environment"):
        create_lm_eval("local-chat-completions", {"auth_token": "x"}, bench.Context())
    with pytest.raises(ModelError, match="no such model folder"):
        create_hf("./absent", {}, bench.Context())


def test_any_registered_type_serves(bench: SimpleNamespace) -> None:
    model = create_lm_eval("dummy", {"chat_template": "off"}, bench.Context())
    assert set(bench.answer(model, bench.requests(3)).texts.values()) == {"lol"}


def test_lm_eval_s_own_api_client(bench: SimpleNamespace) -> None:
    pytest.importorskip("tenacity")
    from hbench.testing import MockServer

    with MockServer(answer=lambda question: f"{question.prompt} {question.seed}") as server:
        options = {
            "model": "m",
            "base_url": f"{server.url}/chat/completions",
            "num_concurrent": 4,
            "tokenizer_backend": "none",
        }
        model = create_lm_eval("local-chat-completions", options, bench.Context())
        got = bench.answer(model, bench.requests(3, draws=(0, 1)))
        assert server.stats.unique_prompts == 3
    assert len(set(got.texts.values())) == 6
    assert str(got.texts[("2", 0)]).startswith("Question 2?")


@pytest.mark.lm
@pytest.mark.slow
def test_a_real_model(bench: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.environ.get("HBENCH_TEST_LM")
    if not folder or not Path(folder).is_dir():
        pytest.skip("no local model (set HBENCH_TEST_LM to its folder)")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = create_hf(folder, {"device": "cpu", "dtype": "bfloat16", "chunk_size": 4}, bench.Context())

    async def run(**sampling: Any) -> dict[tuple[str, int], object]:
        collector = bench.Collector()
        settings = Sampling(max_tokens=8, **sampling)
        await model.answer(bench.requests(2, draws=(0, 1), sampling=settings), collector)
        texts: dict[tuple[str, int], object] = collector.texts
        return texts

    async def work() -> list[dict[tuple[str, int], object]]:
        try:
            return [await run(seed=5), await run(seed=5), await run(seed=6), await run(temperature=0.0)]
        finally:
            await model.aclose()

    first, again, other, greedy = asyncio.run(work())
    assert len(first) == 4
    assert len(set(first.values())) > 1
    assert all(isinstance(text, str) and text for text in first.values())
    assert again == first
    assert other != first
    assert greedy[("0", 0)] == greedy[("0", 1)]


@pytest.mark.lm
@pytest.mark.slow
def test_a_real_model_scores(bench: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.environ.get("HBENCH_TEST_LM")
    if not folder or not Path(folder).is_dir():
        pytest.skip("no local model (set HBENCH_TEST_LM to its folder)")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (request,) = bench.requests(1)
    texts = ('["yes"]', '["no"]', '["I do not know"]')
    model = create_hf(folder, {"device": "cpu", "dtype": "float32"}, bench.Context())

    async def work() -> Any:
        try:
            return [found async for _, found in model.likelihoods([Continuations(request, request.messages, texts)])]
        finally:
            await model.aclose()

    (found,) = asyncio.run(work())
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    plain: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    turns = [message._asdict() for message in request.messages]
    prompt = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    before = len(tokenizer(prompt, add_special_tokens=False).input_ids)
    assert found.tokens_in == before
    for text, log in zip(texts, found.logs, strict=True):
        ids = tokenizer(prompt + text, add_special_tokens=False, return_tensors="pt").input_ids
        with torch.no_grad():
            logs = plain(ids).logits[0].log_softmax(-1)
        expected = sum(float(logs[place - 1, ids[0, place]]) for place in range(before, ids.shape[1]))
        assert log == pytest.approx(expected, abs=1e-3)
