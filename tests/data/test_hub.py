from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import DataError
from hbench.data import DataChoice, Store, open_data
from hbench.data.hub import fetch, fetched_folder
from tests.data.conftest import make_task
from tests.data.study import registry


def test_without_a_network_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def refuse(*args: Any, **more: Any) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: SimpleNamespace(dataset_info=refuse))
    with pytest.raises(DataError, match="cannot be downloaded: OSError: no route to host") as error:
        fetch(Store(tmp_path), "study", "group/set")
    assert "--data FOLDER" in str(error.value)
    assert fetched_folder(Store(tmp_path), "study") is None


def test_a_download_is_pinned_to_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked: dict[str, Any] = {}

    def download(repository: str, **more: Any) -> None:
        asked.update(more)
        folder = more["local_dir"]
        folder.mkdir(parents=True)
        (folder / "spending.jsonl").write_text('{"user": "How much?", "assistant": "[1]"}\n')

    monkeypatch.setattr(
        huggingface_hub,
        "HfApi",
        lambda: SimpleNamespace(dataset_info=lambda name, revision: SimpleNamespace(sha="c0ffee")),
    )
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    store = Store(tmp_path)
    folder = fetch(store, "study", "group/set", revision="v1")
    assert (folder.name, asked["revision"]) == ("c0ffee", "c0ffee")
    data = open_data(make_task(), [DataChoice("hub")], store=store, registry=registry())
    assert (data.kind, data.splits()) == ("hub", {"test": 1})
