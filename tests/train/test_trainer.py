"""Training a tiny model: what is learned, how it is judged, and what is told of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
for package in ("trl", "peft", "tensorboard"):
    pytest.importorskip(package)

from hbench.core import TrainingError  # noqa: E402
from hbench.train.chat import ChatEncoder  # noqa: E402
from hbench.train.config import TrainConfig, read_config  # noqa: E402
from hbench.train.dataset import read_examples  # noqa: E402
from hbench.train.number_token_loss import NumberTokenLoss  # noqa: E402
from hbench.train.trainer import train  # noqa: E402
from hbench.train.training_folder import TrainingFolder  # noqa: E402
from tests.train import tiny  # noqa: E402


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.examples(tmp_path_factory.mktemp("set") / "data")


def settings(base: Path, **given: Any) -> TrainConfig:
    return read_config(model=str(base), **(tiny.FAST | given))


def run(config: TrainConfig, data: Path, out: Path, **more: Any) -> dict[str, Any]:
    """Train, and return the manifest."""
    assert train(config, data, out, include_paths=[data / "tasks"], **more) == out / "adapter"
    return json.loads((out / "manifest.json").read_text())


def weights(out: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(out / "adapter" / "adapter_model.safetensors")


def expected_losses(base: Path, data: Path, split: Any) -> tuple[float, float]:
    """Compute both losses of the base model over a split, example by example and without padding."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    numbers = NumberTokenLoss.of(tokenizer)
    encoded = list(ChatEncoder(tokenizer).encode(one.messages for one in read_examples(data, split)))
    entropy, distance, tokens, digits = 0.0, 0.0, 0, 0
    for one in encoded:
        with torch.no_grad():
            logits = model(torch.tensor([one.input_ids])).logits[0]
        for place in range(1, len(one.labels)):
            if one.labels[place] == -100:
                continue
            shares = torch.log_softmax(logits[place - 1].double(), dim=-1)
            entropy, tokens = entropy - shares[one.labels[place]].item(), tokens + 1
            text = tokenizer.decode([one.labels[place]])
            if text.isdigit():
                chosen = torch.stack([shares[tokenizer.convert_tokens_to_ids(str(d))] for d in range(10)])
                chosen = chosen.softmax(dim=0)
                distance += sum(chosen[d].item() * abs(d - int(text)) for d in range(10))
                digits += 1
    assert digits == numbers.count(torch.tensor([label for one in encoded for label in one.labels]))
    return entropy / tokens, distance / digits


@pytest.mark.parametrize("packing", [False, True])
def test_the_first_step_has_the_base_models_loss_on_answers(
    base: Path, data: Path, tmp_path: Path, packing: bool
) -> None:
    # One step over all 40 examples, in ten batches or in one packed sequence after the other.
    more = {"batch_size": 5, "device_batch_size": 1, "max_length": 512} if packing else {"batch_size": 40}
    manifest = run(settings(base, loss="ntl", packing=packing, max_steps=1, eval_records=0, **more), data, tmp_path)
    entropy, distance = expected_losses(base, data, "train")
    (first,) = manifest["losses"]
    assert first["cross_entropy"] == pytest.approx(entropy, abs=1e-4)
    assert first["number_token_loss"] == pytest.approx(distance, abs=1e-4)
    assert first["loss"] == pytest.approx(entropy + 0.3 * distance, abs=1e-4)
    assert manifest["before"]["loss"] == pytest.approx(
        sum(a * b for a, b in zip((1, 0.3), expected_losses(base, data, "validation"), strict=True)), abs=1e-4
    )


def test_how_a_step_is_divided_does_not_matter(base: Path, data: Path, tmp_path: Path) -> None:
    losses = []
    for size in (1, 4):
        config = settings(base, loss="ntl", device_batch_size=size, max_steps=3, eval_every=3)
        manifest = run(config, data, tmp_path / str(size))
        losses.append([one["loss"] for one in manifest["losses"]])
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)


def test_the_number_token_loss_changes_what_is_learned_and_weight_zero_does_not(
    base: Path, data: Path, tmp_path: Path
) -> None:
    learned = {}
    for name, given in {"ce": {}, "0": {"loss": "ntl", "ntl_weight": 0}, "ntl": {"loss": "ntl"}}.items():
        run(settings(base, max_steps=2, eval_every=2, **given), data, tmp_path / name)
        learned[name] = weights(tmp_path / name)
    assert all(torch.equal(learned["ce"][key], learned["0"][key]) for key in learned["ce"])
    assert not all(torch.allclose(learned["ce"][key], learned["ntl"][key]) for key in learned["ce"])


def test_a_constant_answer_is_learned_and_the_tasks_metric_tells(base: Path, tmp_path: Path) -> None:
    data = tiny.examples(tmp_path / "data", answer="[42]")
    said: list[str] = []
    config = settings(base, max_steps=10, eval_every=5, learning_rate=3e-2)
    manifest = run(config, data, tmp_path / "out", say=said.append)
    (before,) = manifest["before"]["scores"]
    # No answer of a random model is valid, and an invalid one counts as the no-change answer.
    assert (before["metric"], before["strict"], before["valid"], before["n"]) == ("relmae", 1.0, 0, 4)
    last = manifest["validations"][-1]
    assert (last["step"], last["tiny/spend/relmae"], last["tiny/spend/valid"]) == (10, 0.0, 1.0)
    assert last["relative_loss"] == 0.0
    assert manifest["losses"][-1]["loss"] < 0.1 * manifest["losses"][0]["loss"]
    assert any("relmae 1.0000 -> 0.0000 (strict), 4 of 4 valid" in line for line in said)
    assert manifest["status"] == "finished"
    assert manifest["examples"]["train"]["tiny/spend"]["examples"] == 40
    # Five tokens: two brackets, two digits, the end.
    assert manifest["examples"]["train"]["tiny/spend"]["learned"] == 40 * 5
    assert manifest["versions"]["torch"] == torch.__version__


def test_training_ends_early_where_nothing_improves(base: Path, data: Path, tmp_path: Path) -> None:
    config = settings(base, learning_rate=1e-30, patience=2, eval_every=1, max_steps=20)
    manifest = run(config, data, tmp_path)
    # The first validation is the best so far, the two after it are no better.
    assert (manifest["steps"], manifest["planned_steps"], manifest["stopped_early"]) == (3, 20, True)
    assert manifest["best_step"] == 1


def test_equal_trainings_give_equal_bytes(base: Path, data: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(settings(base, seed=seed, max_steps=2, eval_every=2, lora_dropout=0.1), data, tmp_path / name)
    files = [
        {path.name: path.read_bytes() for path in sorted((tmp_path / name / "adapter").iterdir())} for name in "abc"
    ]
    assert sorted(files[0]) == ["adapter_config.json", "adapter_model.safetensors"]
    assert files[0] == files[1]
    assert files[0]["adapter_model.safetensors"] != files[2]["adapter_model.safetensors"]


def test_an_interrupted_training_goes_on_to_the_same_losses(base: Path, data: Path, tmp_path: Path) -> None:
    config = settings(base, loss="ntl", lora_dropout=0.1)
    whole = run(config, data, tmp_path / "whole")

    def break_off(line: str) -> None:
        if line.startswith("step 6 of 8"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(config, data, tmp_path / "again", say=break_off)
    # A checkpoint that was being written has no state yet.
    torn = tmp_path / "again" / "checkpoints" / "checkpoint-6"
    torn.mkdir()
    (torn / "adapter_model.safetensors").write_bytes(b"torn")
    said: list[str] = []
    again = run(config, data, tmp_path / "again", say=said.append)
    assert "going on from checkpoint-4" in said
    assert [one["step"] for one in again["losses"]] == list(range(1, 9))
    # On a CPU nothing is lost, not even in the last bits.
    assert again["losses"] == whole["losses"]
    assert again["validations"] == whole["validations"]
    assert again["adapter"] == whole["adapter"]


def test_a_finished_training_is_not_repeated_and_no_other_takes_its_folder(
    base: Path, data: Path, tmp_path: Path
) -> None:
    first = run(settings(base, max_steps=1, eval_records=0), data, tmp_path)
    said: list[str] = []
    assert run(settings(base, max_steps=1, eval_records=0, log_every=5), data, tmp_path, say=said.append) == first
    assert said == [f"the training is finished: {tmp_path / 'adapter'}"]
    with pytest.raises(TrainingError, match="another training: loss, lora_rank differ"):
        run(settings(base, max_steps=1, eval_records=0, loss="ntl", lora_rank=4), data, tmp_path)
    other = tiny.examples(tmp_path.parent / f"{tmp_path.name}-other", train=41)
    with pytest.raises(TrainingError, match="another training: data differ"):
        run(settings(base, max_steps=1, eval_records=0), other, tmp_path)
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "notes.txt").write_text("mine")
    with pytest.raises(TrainingError, match=r"something else than a training: notes\.txt"):
        run(settings(base), data, tmp_path / "strange")


def test_what_a_killed_process_left_is_nothing_strange(tmp_path: Path) -> None:
    (tmp_path / ".hbench-manifest-abc.json").write_text('{"format": "hbe')
    assert TrainingFolder(tmp_path).manifest() is None


def test_examples_that_are_too_long_are_left_out_and_named(base: Path, data: Path, tmp_path: Path) -> None:
    said: list[str] = []
    # Every example has 62 tokens, but for one.
    longer = tiny.examples(tmp_path / "data", train=5)
    row = {"messages": [{"role": "user", "content": "a " * 60}, {"role": "assistant", "content": "[1]"}]}
    with (longer / "train.jsonl").open("a") as stream:
        stream.write(json.dumps(row | {"task": "tiny/spend", "id": "endless"}) + "\n")
    config = settings(base, max_length=62, max_steps=1, eval_records=0)
    manifest = run(config, longer, tmp_path / "out", say=said.append)
    counts = manifest["examples"]["train"]["tiny/spend"]
    assert (counts["examples"], counts["too_long"], counts["too_long_ids"]) == (5, 1, ["endless"])
    assert "train: tiny/spend: 1 examples have more than 62 tokens and are left out: endless" in said
    with pytest.raises(TrainingError, match="task tiny/spend, record endless: the example has"):
        run(settings(base, max_length=62, too_long="refuse"), longer, tmp_path / "refused")
    with pytest.raises(TrainingError, match="no example is left to train on"):
        run(settings(base, max_length=20), data, tmp_path / "none")


@pytest.mark.parametrize("given", [{"gradient_checkpointing": True}, {"precision": "bf16"}, {"lora_modules": "q_proj"}])
def test_other_ways_to_compute(base: Path, data: Path, tmp_path: Path, given: dict[str, Any]) -> None:
    usual = run(settings(base, max_steps=1, eval_records=0), data, tmp_path / "usual")
    other = run(settings(base, max_steps=1, eval_records=0, **given), data, tmp_path / "other")
    exact = "precision" not in given
    assert other["losses"][0]["loss"] == pytest.approx(usual["losses"][0]["loss"], rel=1e-6 if exact else 0.05)
    assert other["device"]["precision"] == given.get("precision", "no")
    modules = {name.split(".")[-3] for name in weights(tmp_path / "other")}
    linear = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    assert modules == ({"q_proj"} if "lora_modules" in given else linear)


def test_the_log_is_there_for_tensorboard(base: Path, data: Path, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    manifest = run(settings(base, max_steps=4, eval_every=2), data, tmp_path)
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    told = [(one.step, one.value) for one in events.Scalars("train/loss")]
    assert told == [(one["step"], pytest.approx(one["loss"])) for one in manifest["losses"]]
    assert [one.step for one in events.Scalars("eval/relative_loss")] == [0, 2, 4]


def test_a_task_that_nobody_knows_is_named(base: Path, data: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="task tiny/spend: the task of the validation records is not known"):
        train(settings(base), data, tmp_path)


def test_a_set_without_records_is_validated_by_its_examples(base: Path, tmp_path: Path) -> None:
    import shutil

    data = tiny.examples(tmp_path / "data")
    shutil.rmtree(data / "records")
    manifest = run(settings(base, max_steps=1), data, tmp_path / "out")
    # No-change answers are unknown, so that the first metric cannot be computed.
    assert [one["metric"] for one in manifest["before"]["scores"]] == ["nmae"]


def test_without_validation_examples_the_last_adapter_is_kept(base: Path, tmp_path: Path) -> None:
    import shutil

    data = tiny.examples(tmp_path / "data")
    shutil.rmtree(data / "records")
    (data / "validation.jsonl").unlink()
    (data / "manifest.json").write_text('{"notice": "synthetic data"}')
    manifest = run(settings(base, max_steps=3, eval_every=2), data, tmp_path / "out")
    assert (manifest["steps"], manifest["best_step"], manifest["validations"]) == (3, None, [])
    assert "before" not in manifest
    assert manifest["notice"] == "synthetic data"
