"""Fits on an executor: all sizes side by side, the same numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbench.cli.main import main
from hbench.ess import equivalent_sample_size
from hbench.ess.blocks import Part
from hbench.ess.estimate import equivalent_sample_sizes
from hbench.execute.ray import RayExecutor

pytest.importorskip("sklearn")
polars = pytest.importorskip("polars")


class Backwards:
    """Does the last item first, and keeps what it was given."""

    def __init__(self) -> None:
        self.maps: list[list[Any]] = []

    def map(
        self, fn: Callable[[Any], Any], items: Iterable[Any], *, cost: Callable[[Any], float] | None = None
    ) -> Iterator[Any]:
        todo = list(items)
        assert cost is not None, "a cluster is to begin with the costliest"
        assert all(cost(item) > 0 for item in todo)
        if todo:
            self.maps.append(todo)
        return iter([fn(item) for item in reversed(todo)][::-1])


def people(rows: int = 300) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    income, region = rng.normal(size=rows), rng.choice(["north", "south"], size=rows)
    spending = income + (region == "north") + rng.normal(size=rows)
    return polars.DataFrame({"income": income, "region": region}), spending, spending + rng.normal(size=rows)


def test_all_sizes_are_fitted_side_by_side_with_the_same_numbers() -> None:
    frame, y, told = people()
    options: dict[str, Any] = {"algorithm": "lasso", "sizes": [5, 20, 60], "budget": 20}
    executor, seen = Backwards(), list[int]()
    here = equivalent_sample_size(frame, y, told, **options)
    there = equivalent_sample_size(
        frame, y, told, executor=executor, progress=lambda point, share: seen.append(point.size), **options
    )
    assert there == here
    assert seen == [5, 20, 60]
    tuned, fitted = executor.maps
    assert tuned == [5, 20, 60]
    # Twenty blocks in sixteen parts; of size 60 there are five blocks.
    assert [part.size for part in fitted] == [5] * 16 + [20] * 15 + [60] * 5
    assert all(isinstance(part, Part) for part in fitted)


def test_a_curve_that_may_stop_early_is_fitted_size_by_size() -> None:
    frame, y, _ = people()
    options: dict[str, Any] = {"algorithm": "ridge", "sizes": [5, 20, 60], "whole_curve": False, "tune": False}
    executor = Backwards()
    worst = np.full(len(y), 100.0)
    here = equivalent_sample_size(frame, y, worst, **options)
    there = equivalent_sample_size(frame, y, worst, executor=executor, **options)
    assert there == here
    assert [{part.size for part in fitted} for fitted in executor.maps] == [{5}]


def test_several_outcomes_and_a_sample_to_train_on() -> None:
    frame, y, told = people()
    outcomes, predictions = {"spending": y, "double": 2 * y}, {"spending": told, "double": 2 * told}
    options: dict[str, Any] = {"algorithm": "ridge", "sizes": [5, 40], "training": (frame, outcomes)}
    here = equivalent_sample_sizes(frame, outcomes, predictions, **options)
    there = equivalent_sample_sizes(frame, outcomes, predictions, executor=Backwards(), **options)
    assert there == here


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayExecutor]:
    ray = pytest.importorskip("ray")
    yield RayExecutor("local")
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["random_forest", "lasso"])
def test_ray_finds_the_numbers_that_this_process_finds(cluster: RayExecutor, algorithm: str) -> None:
    frame, y, told = people()
    options: dict[str, Any] = {"algorithm": algorithm, "sizes": [10, 30], "budget": 6}
    assert equivalent_sample_size(frame, y, told, executor=cluster, **options) == equivalent_sample_size(
        frame, y, told, **options
    )


@pytest.mark.slow
def test_the_command_uses_ray(cluster: RayExecutor, tmp_path: Path) -> None:
    pytest.importorskip("hbench_randhie")
    run = tmp_path / "run"
    asked = ["eval", "--tasks", "rand_visits", "--model", "linear", "--out", str(run), "--limit", "200"]
    assert main(asked) == 0
    found = []
    for number, executor in enumerate(("local", "ray")):
        out = tmp_path / f"{number}.json"
        words = ["ess", "--run", str(run), "--algorithm", "ridge", "--sizes", "20,50", "--executor", executor]
        assert main([*words, "--format", "json", "--output", str(out)]) == 0
        found.append(json.loads(out.read_text()))
    assert found[0] == found[1]
    assert found[0]["results"]
