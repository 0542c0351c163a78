"""A few points of the matrix of interruptions; `python -m tests.crash.matrix` tries hundreds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.interrupt import KINDS, supported
from tests.crash.matrix import scenarios, try_points

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not supported(), reason="commands are interrupted by a library that needs Linux and a C compiler"
    ),
]


@pytest.mark.parametrize("name", ["eval", "demo", "report"])
def test_a_command_that_was_interrupted_is_made_up_for(tmp_path: Path, name: str) -> None:
    (scenario,) = scenarios(tmp_path, [name])
    tally = try_points(scenario, tmp_path / "places", len(KINDS), seed=20, jobs=2)
    assert not tally.faults
    assert set(tally.points) == set(KINDS)
    assert sum(tally.reached.values()) >= len(KINDS) - 1


def test_a_training_that_was_interrupted_is_made_up_for(tmp_path: Path) -> None:
    for package in ("trl", "peft", "tensorboard"):
        pytest.importorskip(package)
    (scenario,) = scenarios(tmp_path, ["train"])
    tally = try_points(scenario, tmp_path / "places", 2, seed=20, kinds=["kill", "power"])
    assert not tally.faults
