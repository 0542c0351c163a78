"""What can be said of a model for vLLM; none of it needs vLLM."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hbench.core import ModelError
from hbench.model import ModelSpec
from hbench.model.options import Options
from hbench.model.vllm import together
from hbench.model.vllm_options import VllmWords, read_words
from hbench.model.vllm_server import command


def words(argument: str = "org/m", **options: Any) -> VllmWords:
    return read_words("vllm", argument, Options("vllm", options))


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"r": 12}))
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
    return folder


def test_parallelism_and_memory_are_no_part_of_the_identity() -> None:
    plain = words().identity
    assert words(tensor_parallel_size=2, data_parallel_size=4, pipeline_parallel_size=2).identity == plain
    assert words(gpu_memory_utilization=0.5, max_num_seqs=8, enforce_eager=True).identity == plain
    assert words(nnodes=2, node_rank=0, master_addr="10.0.0.1", data_parallel_size_local=4).identity == plain
    label = ModelSpec.parse("vllm:org/m,dtype=float16,tensor_parallel_size=2,max_num_seqs=8").label
    assert label == "vllm:org/m,dtype=float16"
    for changed in (
        words("org/n"),
        words(revision="b"),
        words(dtype="float16"),
        words(quantization="fp8"),
        words(max_model_len=2048),
        words(chat_template="off"),
        words(enable_thinking=False),
        words(chat_template_kwargs={"date": "2020-01-01"}),
        words(reasoning_parser="qwen3"),
    ):
        assert changed.identity != plain


def test_thinking_is_an_argument_of_the_template() -> None:
    assert words(enable_thinking=False).template == {"enable_thinking": False}
    assert words(enable_thinking=True, chat_template_kwargs={"a": 1}).template == {"a": 1, "enable_thinking": True}
    with pytest.raises(ModelError, match="enable_thinking='no' must be true or false"):
        words(enable_thinking="no")
    with pytest.raises(ModelError, match="must be a JSON object"):
        words(chat_template_kwargs="x")


def test_an_adapter_is_known_by_its_content(adapter: Path) -> None:
    one = words(lora=str(adapter)).identity
    assert str(adapter) not in str(one)
    assert one != words().identity
    (adapter / "adapter_model.safetensors").write_bytes(b"others")
    assert words(lora=str(adapter)).identity["lora"] != one["lora"]


def test_an_adapter_gets_the_room_that_it_needs(adapter: Path) -> None:
    assert words(lora=str(adapter)).lora_rank() == 16
    (adapter / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="rank r"):
        words(lora=str(adapter)).lora_rank()


def test_what_is_not_there() -> None:
    with pytest.raises(ModelError, match="no such model folder"):
        words("./absent")
    with pytest.raises(ModelError, match="no such model folder"):
        words(lora="absent")
    with pytest.raises(ModelError, match="which one"):
        words("")


def test_draws_with_successive_numbers_go_together() -> None:
    assert list(together((0, 1, 2, 3))) == [(0, 1, 2, 3)]
    assert list(together((1, 2, 5, 7, 8))) == [(1, 2), (5,), (7, 8)]
    assert list(together(tuple(range(5)), 2)) == [(0, 1), (2, 3), (4,)]
    assert list(together(())) == []


def test_the_server_s_command(adapter: Path) -> None:
    told = command(words(lora=str(adapter), enforce_eager=True, max_model_len=2048, hf_overrides={"a": 1}), 8123)
    assert told[1:6] == ["-m", "vllm.entrypoints.cli.main", "serve", "org/m", "--served-model-name"]
    assert " ".join(told[6:]) == (
        "model --host 127.0.0.1 --port 8123 --enforce-eager --max-model-len 2048 "
        f'--hf-overrides {{"a": 1}} --enable-lora --max-lora-rank 16 --lora-modules adapted={adapter}'
    )
    assert "--no-enable-prefix-caching" in command(words(enable_prefix_caching=False), 1)
    assert command(words(reasoning_parser="qwen3"), 1)[-2:] == ["--reasoning-parser", "qwen3"]
