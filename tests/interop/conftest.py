from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.kinds import Kinds


@pytest.fixture
def kinds(tmp_path: Path) -> Kinds:
    return Kinds(tmp_path / "kinds")
