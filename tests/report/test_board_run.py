from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_board_of_all_tasks_is_that_of_numpy(tmp_path: Path) -> None:
    """A small version of the benchmark: every task of HouseholdBench, three models, 30 rows."""
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "board.py"
    spec = importlib.util.spec_from_file_location("board_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found = module.check(tmp_path, models=3, rows=30, draws=50)
    assert found["difference"] < 1e-12
    counts = [found[name] for name in ("relmae:numeric", "macro_f1:categorical", "tv:probability")]
    assert counts == [18, 9, 5]
