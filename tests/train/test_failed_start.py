"""A training that could not begin takes no folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
for package in ("trl", "peft"):
    pytest.importorskip(package)

from hbench.core import TrainingError  # noqa: E402
from hbench.train.config import read_config  # noqa: E402
from hbench.train.trainer import train  # noqa: E402
from tests.train import tiny  # noqa: E402


def test_a_mistake_can_be_mended_in_the_same_folder(tmp_path: Path) -> None:
    data, base, out = tiny.examples(tmp_path / "set"), str(tiny.base(tmp_path / "base")), tmp_path / "out"
    (empty := tmp_path / "empty").mkdir()
    given = tiny.FAST | {"max_steps": 1, "eval_records": 0}
    with pytest.raises(TrainingError, match=r"cannot be loaded(.|\n)*A base model is a folder"):
        train(read_config(model=str(empty), **given), data, out)
    # Encoded examples are those of the settings: none was short enough, so none is stored.
    with pytest.raises(TrainingError, match="no example is left"):
        train(read_config(model=base, **(given | {"max_length": 2})), data, out)
    train(read_config(model=base, **given), data, out)
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["status"], manifest["config"]["model"]) == ("finished", base)
    assert sum(one["examples"] for one in manifest["examples"]["train"].values()) == 40
    with pytest.raises(TrainingError, match="another training: seed differ"):
        train(read_config(model=base, **(given | {"seed": 1})), data, out)
