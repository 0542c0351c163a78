"""The settings of a training: defaults, files, words, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from hbench.cli.main import main
from hbench.core import TrainingError
from hbench.train.config import read_config


def test_the_defaults_are_the_papers() -> None:
    config = read_config(model="m")
    assert (config.lora_rank, config.lora_alpha, config.lora_modules) == (8, 32, "all-linear")
    assert (config.learning_rate, config.epochs, config.max_length, config.batch_size) == (1e-4, 1, 2048, 128)
    assert (config.loss, config.ntl_weight, config.seed) == ("ce", 0.3, 42)


def test_words_go_before_the_file_and_options_before_both(tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text("model: a\nlora_rank: 4\nseed: 1\nlearning_rate: 2e-4\n")
    config = read_config(file, ["lora_rank=16", "lora_modules=[q_proj, v_proj]"], seed=3, loss=None)
    assert (config.model, config.lora_rank, config.seed, config.learning_rate) == ("a", 16, 3, 2e-4)
    assert config.lora_modules == ("q_proj", "v_proj")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("learning_rat=1", "Did you mean 'learning_rate'"),
        ("lora_rank=0", "`lora_rank`: input should be greater than or equal to 1"),
        ("device_batch_size=3", "batch_size=128 is no multiple of device_batch_size=3"),
        ("loss=mse", "`loss`: 'mse' is not a valid word (Valid words: ce, ntl)"),
        ("seed", "'seed' is no setting"),
        ("seed=[", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_said(word: str, message: str) -> None:
    with pytest.raises(TrainingError) as refused:
        read_config(None, [word], model="m")
    assert message in str(refused.value)


def test_no_is_a_precision_and_not_false(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text("model: m\nprecision: no\n")
    assert read_config(tmp_path / "train.yaml").precision == "no"
    assert read_config(None, ["precision=no"], model="m").precision == "no"


def test_a_file_that_is_no_mapping_is_named(tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text("- 1\n")
    with pytest.raises(TrainingError, match=r"train\.yaml: the file holds no mapping"):
        read_config(file, model="m")


def test_without_a_model_nothing_is_trained(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="the base model is not named"):
        read_config()


def test_the_command_shows_its_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sft", "train", "--model", "m", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main([*words, "--set", "lora_rank=4", "--loss", "ntl", "--show-config"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert (shown["model"], shown["lora_rank"], shown["loss"]) == ("m", 4, "ntl")
    # What is shown can be read again.
    (tmp_path / "shown.yaml").write_text(yaml.safe_dump(shown))
    assert read_config(tmp_path / "shown.yaml").model_dump(mode="json") == shown


def test_a_folder_without_examples_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("trl", "peft", "torch"):
        pytest.importorskip(package)
    (tmp_path / "base").mkdir()
    words = ["--model", str(tmp_path / "base"), "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main(["sft", "train", *words]) == 2
    assert "there are no training examples" in capsys.readouterr().err
