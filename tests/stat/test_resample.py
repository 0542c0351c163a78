from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import ScoreError
from hbench.stat.resample import bootstrap_counts, cluster_codes


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 5))
def test_every_draw_has_as_many_rows(n: int, draws: int, seed: int) -> None:
    counts = bootstrap_counts(n, draws, seed=seed, task="s/t")
    assert counts.shape == (draws, n)
    assert (counts.sum(axis=1) == n).all()


def test_a_task_has_a_stream_of_its_own() -> None:
    first = bootstrap_counts(50, 10, seed=1, task="s/a")
    np.testing.assert_array_equal(first, bootstrap_counts(50, 10, seed=1, task="s/a"))
    assert (first != bootstrap_counts(50, 10, seed=1, task="s/b")).any()


def test_clusters_come_whole() -> None:
    codes = cluster_codes(["h1", "h2", "h1", "h3", "h2"])
    counts = bootstrap_counts(5, 200, seed=0, task="s/t", clusters=codes)
    np.testing.assert_array_equal(counts[:, 0], counts[:, 2])
    np.testing.assert_array_equal(counts[:, 1], counts[:, 4])
    assert (counts[:, 0] + counts[:, 1] + counts[:, 3] == 3).all()


def test_a_row_without_cluster_is_refused() -> None:
    with pytest.raises(ScoreError, match="1 of 2 rows have no cluster"):
        cluster_codes(["a", None])


def test_multinomial_moments() -> None:
    counts = bootstrap_counts(20, 20_000, seed=3, task="s/t")
    assert counts.mean() == pytest.approx(1.0)
    assert counts.var(axis=0).mean() == pytest.approx(1 - 1 / 20, rel=0.02)
