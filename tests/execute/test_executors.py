"""Executors: results in order, the costliest first, errors as they are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from hbench.cli.executor import make_executor
from hbench.core import DataError, SelectionError
from hbench.execute import Hiring, LocalExecutor
from hbench.execute.ray import RayExecutor
from hbench.plugin import default_registry


def square(number: int) -> int:
    return number * number


def refuse(number: int) -> int:
    if number == 3:
        raise DataError("three is wrong", task="toy/spend")
    return number


def die_once(item: tuple[str, int]) -> int:
    """Kill the own process at the first try of one item."""
    path, number = item
    mark = Path(path) / "died"
    if number == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_local_results_come_in_order() -> None:
    assert list(LocalExecutor(2).map(square, range(5), cost=lambda number: number)) == [0, 1, 4, 9, 16]


def test_executors_are_made_from_words() -> None:
    registry = default_registry()
    made = make_executor("local", registry, jobs=3)
    assert isinstance(made, LocalExecutor)
    assert made.jobs == 3
    assert not isinstance(made, Hiring)
    for words in (
        "local:here", "ray:auto,workers=0", "ray,threads=2", "ray,workers=2.5", "ray,workers=1,workers=2",
        "ray,gpus=-1", "ray,cpus=nan", "ray,cpus=inf", "ray,cpus=two",
    ):  # fmt: skip
        with pytest.raises(click.BadParameter):
            make_executor(words, registry)


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(SelectionError, match="needs ray"):
        RayExecutor()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    executor = RayExecutor("local", cpus=0.5)
    yield executor
    ray.shutdown()


@pytest.mark.slow
def test_ray_results_come_in_order(cluster: RayExecutor) -> None:
    assert isinstance(cluster, Hiring)
    assert cluster.workers == 1
    assert list(cluster.map(square, range(5), cost=lambda number: number)) == [0, 1, 4, 9, 16]


@pytest.mark.slow
def test_ray_errors_are_the_functions_own(cluster: RayExecutor) -> None:
    with pytest.raises(DataError, match="three is wrong") as caught:
        list(cluster.map(refuse, range(5)))
    assert caught.value.task == "toy/spend"
    assert type(caught.value) is DataError


@pytest.mark.slow
def test_ray_does_a_lost_workers_items_again(cluster: RayExecutor, tmp_path: Path) -> None:
    assert list(cluster.map(die_once, [(str(tmp_path), number) for number in range(5)])) == [0, 1, 2, 3, 4]
    assert (tmp_path / "died").exists()
