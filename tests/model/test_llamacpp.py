"""GGUF files: behind llama.cpp's server, and in this process."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Completion, Failure, Message, ModelError, Outcome, Request, Sampling
from hbench.model.llamacpp import create
from hbench.testing import MockServer

GGUF = os.environ.get("HBENCH_TEST_GGUF")


def test_the_server_is_asked_and_the_file_known_by_its_content(bench: SimpleNamespace, tmp_path: Path) -> None:
    bodies: list[dict[str, Any]] = []

    def keep(question: Any) -> str:
        bodies.append(dict(question.body))
        return "[1]"

    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF weights")
    with MockServer(answer=keep) as server:
        model = create(str(path), {"base_url": server.url}, bench.Context())
        sampling = Sampling(temperature=0.5, top_k=20, min_p=0.05, seed=7)
        request = next(iter(bench.requests(1)))
        got = bench.answer(
            model, [Request(request.record, request.messages, request.answer, sampling=sampling, draws=(0, 1))]
        )
    assert len(got.outcomes) == 2
    # Its server leaves `n` out of account, so that every draw is a request with a seed of its own.
    assert [body["seed"] for body in bodies] == [7, 8]
    assert {(body["model"], body["temperature"], body["top_k"], body["min_p"]) for body in bodies} == {
        ("small.gguf", 0.5, 20, 0.05)
    }
    moved = tmp_path / "elsewhere.gguf"
    path.rename(moved)
    again = create(str(moved), {"base_url": "http://127.0.0.1:1/v1"}, bench.Context())
    digest = hashlib.sha256(b"GGUF weights").hexdigest()
    assert model.identity == again.identity == {"back_end": "llamacpp-server", "model": digest}
    plain = create(str(moved), {"base_url": "http://127.0.0.1:1/v1", "chat_template": "off"}, bench.Context())
    assert plain.identity == {"back_end": "llamacpp-server", "model": digest, "chat_template": False}
    remote = create("far.gguf", {"base_url": "http://127.0.0.1:1/v1"}, bench.Context())
    assert remote.identity == {"back_end": "llamacpp-server", "model": "far.gguf"}


def test_what_is_missing_is_named(bench: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="which one"):
        create("", {}, bench.Context())
    with pytest.raises(ModelError, match="no such file"):
        create(str(tmp_path / "none.gguf"), {}, bench.Context())
    (tmp_path / "there.gguf").write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ModelError, match="llama-cpp-python") as caught:
        create(str(tmp_path / "there.gguf"), {}, bench.Context())
    assert "base_url" in caught.value.hint
    with pytest.raises(ModelError, match="no option 'n_ctx'"):
        create("far.gguf", {"base_url": "http://127.0.0.1:1/v1", "n_ctx": 10}, bench.Context())


@pytest.mark.lm
@pytest.mark.skipif(GGUF is None, reason="HBENCH_TEST_GGUF names no file")
def test_a_real_file_answers_and_repeats(bench: SimpleNamespace) -> None:
    pytest.importorskip("llama_cpp")

    def ask(*asked: tuple[str, tuple[int, ...]], **options: Any) -> list[Any]:
        (request,) = bench.requests(1)
        found: list[Any] = []

        async def deliver(request: Request, draw: int, outcome: Outcome) -> None:
            found.append(outcome)

        async def work() -> None:
            model = create(str(GGUF), {"n_ctx": 512, **options}, bench.Context())
            sampling = Sampling(temperature=1.0, max_tokens=12)
            requests = [
                Request(request.record, (Message("user", text),), request.answer, sampling=sampling, draws=draws)
                for text, draws in asked
            ]
            await model.answer(requests, deliver)
            await model.aclose()

        asyncio.run(work())
        return found

    colour, fruit = "Name a colour.", "Name a fruit, and be brief."
    first = ask((colour, (0, 1, 2)))
    assert all(isinstance(one, Completion) and one.tokens_out <= 12 for one in first)
    assert len({one.text for one in first}) > 1
    assert ask((colour, (1,))) == [first[1]], "a draw's answer does not hang on what was generated before it"
    again = ask((fruit, (0,)), (colour, (2, 0)), (fruit, (0,)), (colour, (0, 1)))
    assert again[1:3] == [first[2], first[0]], "nor on what was read before it"
    assert again[4:] == first[:2]
    assert again[3] == again[0]
    plain = ask((colour, (0, 1)), chat_template="off")
    assert plain == ask((colour, (0, 1)), chat_template="off")
    assert plain[0].tokens_in < first[0].tokens_in, "no template around it"
    (long,) = ask((colour * 1000, (0,)))
    assert isinstance(long, Failure)
    assert (long.stage, long.reason) == ("request", "context_too_long")
    assert json.dumps(first[0].text)
