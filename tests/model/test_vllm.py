"""A real model on the real engine: vLLM's CPU build and the small model that HBENCH_TEST_LM names.

Loading takes up to minutes, so that the tests share what they can.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.metadata
import importlib.util
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Message, ModelError, Request, Sampling, Target
from hbench.model.likelihood import ByLikelihood
from hbench.model.options import Options
from hbench.model.vllm import Vllm, create_vllm
from hbench.model.vllm_engine import reasoning_parser
from hbench.model.vllm_options import read_words
from hbench.model.vllm_server import VllmServer
from hbench.parse import JsonArray

FOLDER = os.environ.get("HBENCH_TEST_LM", "")
pytestmark = [
    pytest.mark.lm,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed"),
    pytest.mark.skipif(not Path(FOLDER).is_dir() or not FOLDER, reason="no local model (set HBENCH_TEST_LM)"),
]
# One thread: several wait for each other in turns, where other programs run as well.
CPU = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",
}
SMALL = {
    "dtype": "float32",
    "enforce_eager": True,
    "max_model_len": 512,
    "max_num_seqs": 16,
    "max_num_batched_tokens": 512,
}
MOVES = Target(name="moves", kind="categorical", labels=("yes", "no", "I do not know"))


class Running:
    """A model whose engine stays up between calls."""

    def __init__(self, bench: SimpleNamespace, **options: Any) -> None:
        self._bench, self._runner = bench, asyncio.Runner()
        self.model: Vllm = create_vllm(FOLDER, {**SMALL, **options}, bench.Context())

    def answer(self, requests: Any, collector: Any = None) -> Any:
        collector = collector or self._bench.Collector()
        self._runner.run(self.model.answer(requests, collector))
        return collector

    def run(self, work: Any) -> Any:
        return self._runner.run(work)

    def close(self) -> None:
        self._runner.run(self.model.aclose())
        self._runner.close()


@pytest.fixture(scope="module")
def helpers() -> SimpleNamespace:
    from tests.model import conftest

    return SimpleNamespace(Context=conftest.Context, Collector=conftest.Collector, requests=conftest.make_requests)


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CPU.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def running(helpers: SimpleNamespace) -> Iterator[Running]:
    running = Running(helpers)
    yield running
    running.close()


class Reference:
    """The same model in transformers, asked without hbench or vLLM."""

    def __init__(self) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.torch = torch
        self.tokenizer: Any = AutoTokenizer.from_pretrained(FOLDER)
        self.model: Any = AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()

    def prompt(self, messages: tuple[Message, ...]) -> str:
        turns = [message._asdict() for message in messages]
        text: str = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return text

    def greedy(self, messages: tuple[Message, ...], tokens: int) -> str:
        ids = self.tokenizer(self.prompt(messages), add_special_tokens=False, return_tensors="pt").input_ids
        with self.torch.no_grad():
            out = self.model.generate(ids, do_sample=False, max_new_tokens=tokens, temperature=None, top_p=None)
        text: str = self.tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True)
        return text

    def log_likelihood(self, messages: tuple[Message, ...], text: str) -> float:
        prompt = self.prompt(messages)
        before = len(self.tokenizer(prompt, add_special_tokens=False).input_ids)
        ids = self.tokenizer(prompt + text, add_special_tokens=False, return_tensors="pt").input_ids
        with self.torch.no_grad():
            logs = self.model(ids).logits[0].log_softmax(-1)
        return sum(float(logs[place - 1, ids[0, place]]) for place in range(before, ids.shape[1]))


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


def test_draws_are_of_one_prompt_and_of_their_own_seeds(running: Running, helpers: SimpleNamespace) -> None:
    settings = Sampling(max_tokens=12, temperature=1)
    whole = running.answer(helpers.requests(5, draws=(0, 1, 2, 3), sampling=settings))
    assert len(set(whole.texts.values())) > 15
    # The prompt was read once for all draws.
    read = [whole.outcomes["3", draw].tokens_in for draw in range(4)]
    assert read[0] > 20
    assert read[1:] == [0, 0, 0]
    assert all(0 < outcome.tokens_out <= 12 for outcome in whole.outcomes.values())
    # A run that goes on asks for the missing draws only, in other company, and gets what it would have got.
    late = [request for request in helpers.requests(5, draws=(1, 3), sampling=settings) if request.record.id in "13"]
    again = running.answer(reversed(late)).texts
    assert again == {key: whole.texts[key] for key in (("1", 1), ("1", 3), ("3", 1), ("3", 3))}
    other = running.answer(helpers.requests(5, sampling=Sampling(max_tokens=12, temperature=1, seed=9)))
    assert not set(other.texts.values()) & set(whole.texts.values())
    second = [dataclasses.replace(request, occurrence=1) for request in helpers.requests(5, sampling=settings)]
    assert running.answer(second).texts != {key: text for key, text in whole.texts.items() if key[1] == 0}


def test_greedy_text_is_that_of_transformers(running: Running, helpers: SimpleNamespace, reference: Reference) -> None:
    requests = list(helpers.requests(3, draws=(0, 1), sampling=Sampling(temperature=0, max_tokens=10)))
    got = running.answer(requests)
    for request in requests:
        text = reference.greedy(request.messages, 10)
        assert got.texts[request.record.id, 0] == got.texts[request.record.id, 1] == text


def test_settings_arrive(running: Running, helpers: SimpleNamespace, reference: Reference) -> None:
    (request,) = helpers.requests(1, sampling=Sampling(temperature=0, max_tokens=10))
    text = reference.greedy(request.messages, 10)
    cut = text[len(text) // 2]
    stopped = dataclasses.replace(request, sampling=Sampling(temperature=0, max_tokens=10, stop=(cut,)))
    assert running.answer([stopped]).texts["0", 0] == text.partition(cut)[0]
    # One choice is no choice: whatever the temperature, the most probable token is taken.
    only = Sampling(temperature=2, top_k=1, max_tokens=10)
    assert running.answer([dataclasses.replace(request, sampling=only)]).texts["0", 0] == text
    banned = Sampling(temperature=0, max_tokens=10, extra={"bad_words": [text.split()[0]]})
    assert running.answer([dataclasses.replace(request, sampling=banned)]).texts["0", 0] != text
    with pytest.raises(ModelError, match="bad_wrds"):
        running.answer(helpers.requests(1, sampling=Sampling(extra={"bad_wrds": ["a"]})))
    with pytest.raises(ModelError, match="reasoning_effort"):
        running.answer(helpers.requests(1, sampling=Sampling(reasoning_effort="high")))


def test_a_prompt_that_does_not_fit_is_named_and_never_cut(running: Running, helpers: SimpleNamespace) -> None:
    requests = list(helpers.requests(3, draws=(0, 1), sampling=Sampling(max_tokens=8)))
    long = (Message("user", "word " * 600),)
    requests[1] = dataclasses.replace(
        requests[1], messages=long, record=dataclasses.replace(requests[1].record, messages=long)
    )
    got = running.answer(requests)
    assert got.reasons == ["context_too_long"] * 2
    assert sorted(got.texts) == [("0", 0), ("0", 1), ("2", 0), ("2", 1)]
    assert "more than the model's 512" in got.outcomes["1", 0].detail
    # Without a limit of one's own, the room that is left is used.
    near = (Message("user", "word " * 440),)
    roomy = dataclasses.replace(requests[0], messages=near, sampling=Sampling(temperature=1), draws=(0,))
    assert running.answer([roomy]).outcomes["0", 0].tokens_out < 72


def test_prompts_that_do_not_fit_into_one_batch_keep_their_seeds(running: Running, helpers: SimpleNamespace) -> None:
    def requests() -> Iterator[Request]:
        for request in helpers.requests(10, draws=(0, 1), sampling=Sampling(max_tokens=4, temperature=1)):
            messages = (Message("user", f"{request.record.id}: " + "word " * 150),)
            yield dataclasses.replace(request, messages=messages)

    whole = running.answer(requests()).texts
    assert len(whole) == 20
    assert running.answer([list(requests())[7]]).texts == {key: whole[key] for key in (("7", 0), ("7", 1))}


def test_likelihoods_are_those_of_transformers(
    running: Running, helpers: SimpleNamespace, reference: Reference
) -> None:
    spec = SimpleNamespace(targets=(MOVES,), answer=SimpleNamespace(aggregate="vote"))
    context: Any = SimpleNamespace(spec=lambda task: spec, parser=lambda task: JsonArray())
    model = ByLikelihood(running.model, context)
    requests = list(helpers.requests(3, targets=(MOVES,), draws=(0, 1)))
    collector = helpers.Collector()
    running.run(model.answer(requests, collector))
    for request in requests:
        logs = [reference.log_likelihood(request.messages, f'["{label}"]') for label in MOVES.labels]
        total = sum(map(math.exp, logs))
        outcome = collector.outcomes[request.record.id, 1]
        shares = {label: math.exp(log) / total for label, log in zip(MOVES.labels, logs, strict=True)}
        assert outcome.probabilities == pytest.approx(shares, abs=2e-3)
        assert outcome.text == f'["{max(shares, key=shares.__getitem__)}"]'


def test_a_stop_keeps_what_is_done_and_leaves_the_engine_usable(running: Running, helpers: SimpleNamespace) -> None:
    class Stopping(helpers.Collector):  # type: ignore[misc, name-defined]
        async def __call__(self, request: Request, draw: int, outcome: Any) -> None:
            await super().__call__(request, draw, outcome)
            if len(self.outcomes) == 6:
                task.cancel()

    collector = Stopping()
    task: asyncio.Task[None]

    async def work() -> None:
        nonlocal task
        requests = helpers.requests(200, sampling=Sampling(max_tokens=8, temperature=1))
        task = asyncio.create_task(running.model.answer(requests, collector))
        with pytest.raises(asyncio.CancelledError):
            await task

    running.run(work())
    assert 6 <= len(collector.texts) < 60
    assert len(running.answer(helpers.requests(2, sampling=Sampling(max_tokens=5))).texts) == 2


def test_vllms_reasoning_parsers_are_told_whether_the_model_was_to_think() -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(FOLDER)

    def split(text: str, parser: str, **options: Any) -> Any:
        words = read_words("vllm", FOLDER, Options("vllm", {"reasoning_parser": parser, **options}))
        return reasoning_parser(words, tokenizer)(text)

    with pytest.raises(ModelError, match="no reasoning parser 'qwen33'"):
        split("", "qwen33")
    with pytest.raises(ModelError, match="'deepseek_r1' is not for it"):
        split("", "deepseek_r1")
    tokenizer.add_tokens(["<think>", "</think>"])
    thought = "It is much</think>[4]"
    assert split(thought, "deepseek_r1") == ("It is much", "[4]")
    assert split(thought, "qwen3", enable_thinking=True) == ("It is much", "[4]")
    assert split("[4]", "qwen3", enable_thinking=False) == (None, "[4]"), "the answer is no reasoning"


def test_an_option_that_nobody_has(helpers: SimpleNamespace) -> None:
    model = create_vllm(FOLDER, {"max_modl_len": 512}, helpers.Context())
    with pytest.raises(ModelError, match="did you mean 'max_model_len'"):
        asyncio.run(model.answer(helpers.requests(1), helpers.Collector()))


def make_adapter(folder: Path, reference: Reference) -> None:
    """Write an adapter in peft's format, strong enough to change what is said, and add its product to the weights."""
    from safetensors.torch import save_file

    torch = reference.torch
    noise = torch.Generator().manual_seed(1)
    rank, alpha = 4, 8
    weights = {}
    for number, layer in enumerate(reference.model.model.layers):
        linear = layer.self_attn.q_proj
        down = torch.randn(rank, linear.in_features, generator=noise) * 0.1
        up = torch.randn(linear.out_features, rank, generator=noise) * 0.1
        name = f"base_model.model.model.layers.{number}.self_attn.q_proj"
        weights[f"{name}.lora_A.weight"], weights[f"{name}.lora_B.weight"] = down, up
        linear.weight.data += alpha / rank * up @ down
    folder.mkdir()
    save_file(weights, folder / "adapter_model.safetensors")
    about = {"peft_type": "LORA", "r": rank, "lora_alpha": alpha, "target_modules": ["q_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(about))


def test_an_adapter_speaks(helpers: SimpleNamespace, tmp_path: Path) -> None:
    reference = Reference()
    requests = list(helpers.requests(2, sampling=Sampling(temperature=0, max_tokens=8)))
    before = [reference.greedy(request.messages, 8) for request in requests]
    make_adapter(tmp_path / "adapter", reference)
    after = [reference.greedy(request.messages, 8) for request in requests]
    assert before != after
    running = Running(helpers, lora=str(tmp_path / "adapter"))
    try:
        got = running.answer(requests)
    finally:
        running.close()
    assert [got.texts[request.record.id, 0] for request in requests] == after


@pytest.fixture
def named_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``vllm serve`` looks up a distribution called vllm; the CPU build has another name."""
    if any(one.name == "vllm" for one in importlib.metadata.distributions()):
        return
    # From the version it tells its device.
    folder = tmp_path / "vllm-0.32.0+cpu.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)


@pytest.mark.usefixtures("named_vllm")
def test_a_server_is_started_asked_and_stopped(helpers: SimpleNamespace, reference: Reference) -> None:
    model = VllmServer.create(FOLDER, {**SMALL, "concurrency": 8}, helpers.Context())
    greedy = list(helpers.requests(2, sampling=Sampling(temperature=0, max_tokens=8)))
    drawn = Sampling(temperature=1, max_tokens=8)

    async def work() -> list[Any]:
        got = []
        try:
            for requests in (greedy, *(helpers.requests(2, draws=(0, 1), sampling=drawn) for _ in range(2))):
                got.append(helpers.Collector())
                await model.answer(requests, got[-1])
            assert model._process is not None
            return [*got, model._process]
        finally:
            await model.aclose()

    first, once, again, process = asyncio.run(work())
    assert process.poll() is not None
    for request in greedy:
        assert first.texts[request.record.id, 0] == reference.greedy(request.messages, 8)
    assert once.texts == again.texts
    assert len(set(once.texts.values())) > 2


@pytest.mark.usefixtures("named_vllm")
def test_a_server_that_does_not_start_tells_why(helpers: SimpleNamespace, tmp_path: Path) -> None:
    model = VllmServer.create(FOLDER, {"max_modl_len": 5}, helpers.Context())
    collector = helpers.Collector()

    async def work() -> None:
        try:
            await model.answer(helpers.requests(1), collector)
        finally:
            await model.aclose()

    with pytest.raises(ModelError, match="its server ended with") as caught:
        asyncio.run(work())
    assert "max-modl-len" in str(caught.value.hint)


TASK = """
task: gift
suite: toy
topic: games
source: none
key: {id: id}
targets: [{name: gift, kind: numeric}]
prompt: {paragraphs: ["How much?"]}
answer: {parser: bracketed_number, aggregate: mean, draws: 2}
metrics: [{metric: mae}]
"""


def test_a_killed_run_loses_no_finished_answer(tmp_path: Path) -> None:
    for name in ("tasks", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "tasks/_suite.yaml").write_text("suite: toy\ntitle: Toy\n")
    (tmp_path / "tasks/gift.yaml").write_text(TASK)
    rows = [
        {"id": f"r{i}", "user": f"You have {i} dollars. How much do you give?", "assistant": "[5]"} for i in range(60)
    ]
    (tmp_path / "data/gift.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    options = ",".join(f"{name}={json.dumps(value)}" for name, value in {**SMALL, "max_num_seqs": 4}.items())
    model = f"vllm:{FOLDER},{options},max_tokens=24,temperature=1,label=small"
    words = ["eval", "--tasks", "gift", "--data", "data", "--include-path", "tasks", "--out", "run", "--model", model]
    command = [sys.executable, "-m", "hbench.cli.main", *words]

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )

    def kept() -> dict[tuple[bytes, int], str]:
        path = tmp_path / "run/journal.sqlite"
        if not path.exists():
            return {}
        with closing(sqlite3.connect(path)) as connection:
            try:
                found = connection.execute("SELECT key, draw, text FROM answers").fetchall()
            except sqlite3.OperationalError:
                return {}
        return {(key, draw): text for key, draw, text in found}

    process = start()
    while len(kept()) < 20:
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = kept()
    assert 20 <= len(before) < 120
    process = start()
    out, errors = process.communicate(timeout=800)
    assert process.returncode == 0, out + errors
    after = kept()
    assert len(after) == 120
    assert {key: after[key] for key in before} == before
