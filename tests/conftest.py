"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.canary import _shared_folders, canary, pytest_runtest_makereport

__all__ = ["_shared_folders", "canary", "pytest_runtest_makereport"]

# A busy machine is no failure. The same examples every time, so that a change is judged by what it changes;
# HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("steady", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Folder of the real data sets, which are never part of the repository."""
    folder = Path(os.environ.get("HBENCH_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("the real data folder is absent (set HBENCH_SHARED)")
    return folder


@pytest.fixture(autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test away from the user's own store and caches."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HBENCH_DATA", str(home / "data"))
    monkeypatch.setenv("HBENCH_CACHE", str(home / "cache"))
    return home
