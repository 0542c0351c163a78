from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbench.core import DataError
from hbench.data import DataChoice, Store, open_data
from hbench.data.build import build_task
from hbench.data.export import SYNTHETIC, export
from tests.data.study import records_of, registry, study_task


@pytest.mark.parametrize("form", ["hf", "parquet", "jsonl"])
@pytest.mark.parametrize("sample", ["eval", "all"])
def test_what_is_exported_is_read_back(tmp_path: Path, form: str, sample: str) -> None:
    store, task = Store(tmp_path / "store"), study_task()
    data = build_task(task, kind="demo", store=store, registry=registry(), records_of=records_of)
    files = export([data], tmp_path / "out", format=form, sample=sample, notices=["Cite us."])  # type: ignore[arg-type]
    assert files
    back = open_data(task, [DataChoice(str(tmp_path / "out"))], store=store, registry=registry())
    # Synthetic data stay synthetic on their way through a folder.
    assert back.kind == "demo"
    expected = {(r.key, r.gold, r.metadata["split"]) for r in data.records(sample=sample)}  # type: ignore[arg-type]
    assert {(r.key, r.gold, r.metadata["split"]) for r in back.records()} == expected
    assert json.loads((tmp_path / "out" / "hbench.json").read_text())["notices"] == ["Cite us."]
    assert len(list(back.training_records())) == (len(list(data.training_records())) if sample == "all" else 0)
    if form == "hf":
        card = (tmp_path / "out" / "README.md").read_text()
        assert SYNTHETIC in card
        assert "Cite us." in card
        import datasets

        loaded = datasets.load_dataset(str(tmp_path / "out"), "study--spending", cache_dir=str(tmp_path / "cache"))
        assert {name: len(part) for name, part in loaded.items()} == back.splits()
    with pytest.raises(DataError, match="not empty"):
        export([data], tmp_path / "out")


def test_an_export_that_changed_is_refused(tmp_path: Path) -> None:
    store, task = Store(tmp_path / "store"), study_task()
    data = build_task(task, kind="demo", store=store, registry=registry(), records_of=records_of)
    (file, *_) = export([data], tmp_path / "out", format="jsonl")
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(DataError, match="not as it was released"):
        open_data(task, [DataChoice(str(tmp_path / "out"))], store=store, registry=registry())
