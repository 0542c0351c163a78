from __future__ import annotations

from pathlib import Path

import pytest

import hbench
from hbench.core import RunError
from hbench.run.rescore import rescore
from hbench.run.stored import StoredRun
from tests.interop.kinds import Kinds


def test_an_empty_journal_is_none_and_not_a_run_without_answers(tmp_path: Path) -> None:
    """A copy that failed leaves an empty file, which SQLite takes for a new database."""
    kinds = Kinds(tmp_path / "kinds")
    run = tmp_path / "run"
    hbench.evaluate("quiz", "uniform", data=kinds.data, include_paths=[kinds.tasks], out=run)
    scores = (run / "scores.json").read_bytes()
    (run / "journal.sqlite").write_bytes(b"")
    with pytest.raises(RunError, match="no journal"):
        StoredRun.open(run)
    with pytest.raises(RunError, match="no journal"):
        rescore(run)
    assert (run / "scores.json").read_bytes() == scores
