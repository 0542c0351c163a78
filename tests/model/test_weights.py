from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hbench.model import weights
from hbench.model.weights import folder_fingerprint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"w" * 1000)
    return model


def test_the_content_counts_and_not_the_place(folder: Path) -> None:
    before = folder_fingerprint(folder)
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy)
    (copy / "README.md").write_text("x")
    (copy / ".cache").mkdir()
    (copy / ".cache" / "x").write_text("x")
    assert folder_fingerprint(copy) == before
    (copy / "config.json").write_text('{"a": 1}')
    assert folder_fingerprint(copy) != before


def test_large_files_are_hashed_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_HEAVY", 500)
    environ = {"HBENCH_CACHE": str(tmp_path / "cache")}
    before = folder_fingerprint(folder, environ=environ)
    hashed: list[str] = []
    plain = weights._sha256
    monkeypatch.setattr(weights, "_sha256", lambda path: hashed.append(path.name) or plain(path))
    assert folder_fingerprint(folder, environ=environ) == before
    assert hashed == ["config.json"]
    (folder / "model.safetensors").write_bytes(b"v" * 1000)
    assert folder_fingerprint(folder, environ=environ) != before
    (tmp_path / "cache" / "weight_hashes.json").write_text("{broken")
    assert folder_fingerprint(folder, environ=environ) != before
