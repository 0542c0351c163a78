from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from hbench.core import ScoreError
from hbench.metric import TaskStatistics, row_statistics
from hbench.stat import Resampling, bootstrap_counts, bootstrap_task, count_parts, design_effects, influence_errors

from .conftest import make_rows, make_task

Make = Callable[..., dict]  # type: ignore[type-arg]
USES = [("numeric", ["relmae", "nmae"]), ("categorical", ["macro_f1", "accuracy"]), ("probability", ["tv"])]


@pytest.mark.parametrize(("kind", "metrics"), USES)
@pytest.mark.parametrize("clusters", [None, 11])
def test_agrees_with_a_direct_loop(statistics_of: Make, kind: str, metrics: list[str], clusters: int | None) -> None:
    """Every draw: repeat the drawn rows, add them up, reduce."""
    found = statistics_of(kind, metrics, weights=True, clusters=clusters)
    how = Resampling(draws=60, clusters=clusters is not None)
    task = bootstrap_task("t", found, how)
    codes = None if clusters is None else np.arange(40) % clusters
    counts = bootstrap_counts(40, 60, seed=how.seed, task="t", clusters=codes)
    for m, one in enumerate(found.values()):
        for k, use in enumerate(one.uses):
            cell = use.cells[0][0]
            matrix = one.blocks[0].matrix[:, cell.start : cell.stop] * one.weights[:, None]
            for b, row in enumerate(counts):
                drawn = np.repeat(np.arange(40), row.astype(int))
                expected = float(cell.metric.reduce(matrix[drawn].sum(axis=0)))
                assert task.uses[k].draws[m, b] == pytest.approx(expected, abs=1e-12)


def test_parts_are_one_stream() -> None:
    whole = bootstrap_counts(30, 50, seed=3, task="t")
    parts = np.concatenate(list(count_parts(30, 50, seed=3, task="t", cells=37 * 7)))
    assert (whole == parts).all()


def test_same_rows_are_drawn_for_every_model(statistics_of: Make) -> None:
    found = statistics_of("numeric", ["relmae"], models=1)
    twins = {"first": found["m0"], "second": found["m0"]}
    use = bootstrap_task("t", twins, Resampling(draws=500)).uses[0]
    assert np.allclose(use.draws[0], use.draws[1], rtol=0, atol=1e-12)


def test_models_need_the_same_rows(statistics_of: Make) -> None:
    found = statistics_of("numeric", ["mae"], models=1) | {"other": statistics_of("numeric", ["mae"], n=41)["m0"]}
    with pytest.raises(ScoreError, match="same rows"):
        bootstrap_task("t", found, Resampling(draws=10))


def test_rows_without_a_cluster_are_refused(statistics_of: Make) -> None:
    with pytest.raises(ScoreError, match="no cluster") as raised:
        bootstrap_task("s/t", statistics_of("numeric", ["mae"]), Resampling(draws=10, clusters=True))
    assert raised.value.task == "s/t"


@pytest.mark.parametrize(("kind", "metrics"), USES)
def test_influence_errors_are_near_the_bootstrap(statistics_of: Make, kind: str, metrics: list[str]) -> None:
    found = statistics_of(kind, metrics, n=300)
    task = bootstrap_task("t", found, Resampling(draws=2000))
    for m, one in enumerate(found.values()):
        for k, use in enumerate(one.uses):
            error = influence_errors(one, use, np.ones((1, one.n)))[0]
            assert error == pytest.approx(
                task.uses[k].draws[m].std(ddof=1), rel=0.3 if use.use.metric == "nmae" else 0.12
            )


def test_influence_error_of_a_mean_is_the_textbook_one(statistics_of: Make) -> None:
    one = statistics_of("probability", ["tv"], invalid=0.0)["m0"]
    distances = one.blocks[0].matrix[:, 0]
    error = influence_errors(one, one.uses[0], np.ones((1, one.n)))[0]
    assert error == pytest.approx(distances.std(ddof=1) / math.sqrt(len(distances)), rel=1e-6)


def test_design_effect_of_doubled_rows_is_two(statistics_of: Make) -> None:
    """Two equal rows per household hold the information of one."""
    half = statistics_of("probability", ["tv"], invalid=0.0, n=200)["m0"]
    block = replace(half.blocks[0], matrix=np.tile(half.blocks[0].matrix, (2, 1)))
    one = replace(half, n=400, blocks=(block,), weights=np.ones(400))
    codes = np.arange(400) % 200
    assert design_effects(one, one, codes)[0] == pytest.approx(2.0, rel=0.02)


def test_studentised_interval_of_a_mean(statistics_of: Make) -> None:
    found = statistics_of("probability", ["tv"], n=200)
    how = Resampling(draws=2000, kind="studentised")
    task = bootstrap_task("t", found, how)
    basic = bootstrap_task("t", found, Resampling(draws=2000))
    for m in range(3):
        a, b = task.uses[0].interval(m, how), basic.uses[0].interval(m, Resampling(draws=2000))
        assert a.lo == pytest.approx(b.lo, abs=0.01)
        assert a.hi == pytest.approx(b.hi, abs=0.01)


def test_studentised_interval_survives_resamples_without_variance(statistics_of: Make) -> None:
    """One wrong answer of twenty: a third of the resamples hold none, and their errors are rounding."""
    one = statistics_of("categorical", ["accuracy"], n=20, invalid=0.0)["m0"]
    hits = np.ones((20, 2))
    hits[0, 0] = 0.0
    one = replace(one, blocks=(replace(one.blocks[0], matrix=hits),))
    how = Resampling(draws=500, kind="studentised")
    bounds = bootstrap_task("t", {"m": one}, how).uses[0].interval(0, how)
    assert -1 < bounds.lo <= 0.95 <= bounds.hi < 2
    assert bounds.undefined > 100


def test_studentised_interval_of_what_does_not_vary_is_its_value(statistics_of: Make) -> None:
    one = statistics_of("categorical", ["accuracy"], n=20, invalid=0.0)["m0"]
    one = replace(one, blocks=(replace(one.blocks[0], matrix=np.ones((20, 2))),))
    how = Resampling(draws=50, kind="studentised")
    bounds = bootstrap_task("t", {"m": one}, how).uses[0].interval(0, how)
    assert (bounds.lo, bounds.hi) == (1.0, 1.0)


def grouped(seed: int) -> TaskStatistics:
    task = make_task("numeric", [{"metric": "mae", "group": True}, {"metric": "wasserstein", "group": True}])
    rows = [replace(row, group=f"g{i % 3}") for i, row in enumerate(make_rows("numeric", 60, seed))]
    return row_statistics(task, rows, breakdown=True)


@pytest.mark.parametrize("held", [1, 10**9])
def test_groups_get_intervals_however_many_fit(monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    monkeypatch.setattr("hbench.stat.bootstrap.HELD", held)
    found = {"a": grouped(2), "b": grouped(3)}
    parts = bootstrap_task("t", found, Resampling(draws=50), parts=True).parts
    assert {key[:2] + key[3:] for key in parts} == {(k, m, f"g{g}") for k in (0, 1) for m in "ab" for g in range(3)}
    for (k, model, _, group), bounds in parts.items():
        cells = found[model].point()[k]
        assert bounds.value == pytest.approx(cells.by_group[int(str(group)[1]), 0])
        assert bounds.lo <= bounds.hi
        assert bounds.se > 0
