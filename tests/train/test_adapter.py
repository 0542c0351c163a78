"""The adapter is a model: through the back end `hf:`, and merged into its base."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
for package in ("trl", "peft", "lm_eval"):
    pytest.importorskip(package)

from hbench.cli.main import main  # noqa: E402
from hbench.core import TrainingError  # noqa: E402
from hbench.run.evaluate import evaluate  # noqa: E402
from hbench.train.adapter import merge  # noqa: E402
from hbench.train.config import read_config  # noqa: E402
from hbench.train.trainer import train  # noqa: E402
from tests.train import tiny  # noqa: E402


def _answers(data: Path, model: str, out: Path) -> tuple[list[str], Any]:
    """Evaluate a model greedily on the validation records; return its texts and its identity."""
    folder = out.parent / "layout"
    folder.mkdir(exist_ok=True)
    records = (data / "records" / "tiny" / "spend" / "validation.jsonl").read_text()
    (folder / "spend.jsonl").write_text(records)
    words = f"{model},device=cpu,dtype=float32,temperature=0,max_tokens=8,label=m"
    result = evaluate("spend", words, data=[str(folder)], include_paths=[data / "tasks"], out=out)
    texts = [
        json.loads(line)["prediction"]
        for file in sorted((result.path / "predictions").rglob("*.jsonl"))
        for line in file.read_text().splitlines()
    ]
    manifest = json.loads((result.path / "manifest.json").read_text())
    return texts, manifest["models"][0]["identity"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A base model, a set whose answer is always 42, and a folder of two adapters: after a few and after more steps."""
    folder = tmp_path_factory.mktemp("trained")
    base, data = tiny.base(folder / "base"), tiny.examples(folder / "data", answer="[42]")
    for steps in (1, 10):
        config = read_config(
            model=str(base), **(tiny.FAST | {"max_steps": steps, "learning_rate": 3e-2, "eval_records": 0})
        )
        train(config, data, folder / f"steps{steps}")
    return base, data, folder


def test_the_adapter_answers_through_hf_and_is_known_by_its_content(
    trained: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    base, data, folder = trained
    plain, own = _answers(data, f"hf:{base}", tmp_path / "plain")
    tuned, identity = _answers(data, f"hf:{base},peft={folder / 'steps10' / 'adapter'}", tmp_path / "tuned")
    early, other = _answers(data, f"hf:{base},peft={folder / 'steps1' / 'adapter'}", tmp_path / "early")
    assert tuned == ["[42]"] * 6
    assert "[42]" not in plain
    assert "[42]" not in early
    told = json.loads((folder / "steps10" / "manifest.json").read_text())["adapter"]
    assert identity["settings"]["peft"] == told
    assert other["settings"]["peft"] not in (told, None)
    assert "peft" not in own["settings"]


def test_the_merged_model_answers_as_base_and_adapter_do(trained: tuple[Path, Path, Path], tmp_path: Path) -> None:
    base, data, folder = trained
    adapter = folder / "steps10" / "adapter"
    assert main(["sft", "merge", "--model", str(base), "--adapter", str(adapter), "--out", str(tmp_path / "m")]) == 0
    merged, _ = _answers(data, f"hf:{tmp_path / 'm'}", tmp_path / "merged")
    assert merged == ["[42]"] * 6
    with pytest.raises(TrainingError, match="is there already"):
        merge(str(base), adapter, tmp_path / "m")
    with pytest.raises(TrainingError, match="holds no adapter"):
        merge(str(base), base, tmp_path / "n")
    assert not (tmp_path / "n").exists()


def test_an_adapter_of_another_model_is_refused(trained: tuple[Path, Path, Path], tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, LlamaConfig

    base, _, folder = trained
    config = LlamaConfig.from_pretrained(base)
    config.hidden_size = 16
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path / "other")
    with pytest.raises(TrainingError, match="cannot be merged"):
        merge(str(tmp_path / "other"), folder / "steps1" / "adapter", tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.lm
@pytest.mark.slow
def test_a_real_model_is_trained_evaluated_and_merged(tmp_path: Path) -> None:
    name = os.environ.get("HBENCH_TEST_LM")
    if not name:
        pytest.skip("no local model (set HBENCH_TEST_LM to its folder)")
    data = tiny.examples(tmp_path / "data", answer="[42]")
    given = {"max_steps": 6, "eval_every": 6, "eval_records": 2, "learning_rate": 1e-3, "device_batch_size": 4}
    config = read_config(model=name, loss="ntl", **(tiny.FAST | given))
    train(config, data, tmp_path / "out", include_paths=[data / "tasks"])
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["losses"][-1]["loss"] < 0.7 * manifest["losses"][0]["loss"]
    tuned, _ = _answers(data, f"hf:{name},peft={tmp_path / 'out' / 'adapter'}", tmp_path / "tuned")
    merge(name, tmp_path / "out" / "adapter", tmp_path / "m")
    merged, _ = _answers(data, f"hf:{tmp_path / 'm'}", tmp_path / "merged")
    assert merged == tuned
