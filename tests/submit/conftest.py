from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import hbench
from tests.interop.kinds import Kinds
from tests.submit.submission import TASKS, Submitted


@pytest.fixture(scope="session")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Submitted:
    """A submission of one run: a baseline and answers that were replayed, on the tasks of every kind."""
    root = tmp_path_factory.mktemp("submission")
    kinds = Kinds(root / "kinds")
    told = kinds.told(root / "told")
    folder = root / "folder"
    hbench.evaluate(
        TASKS,
        ["uniform", f"replay:{told},label=told"],
        data=kinds.data,
        include_paths=[kinds.tasks],
        out=folder / "run",
    )
    (folder / "submission.json").write_text('{"by": "A. Author", "models": {"told": {"name": "Told 1.0"}}}')
    return Submitted(folder, kinds)


@pytest.fixture
def submitted(untouched: Submitted, tmp_path: Path) -> Submitted:
    """A copy to be tampered with."""
    shutil.copytree(untouched.folder, tmp_path / "folder")
    return Submitted(tmp_path / "folder", untouched.kinds)
