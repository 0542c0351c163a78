from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core.direction import ARROW, IN_WORDS, Better, loss
from hbench.core.metric import losses

SCORES = st.one_of(st.floats(-10, 10), st.just(math.nan), st.just(0.0))


@given(st.lists(SCORES, min_size=1), st.sampled_from(["lower", "higher", "one"]))
def test_one_score_and_many_are_judged_alike(scores: list[float], better: Better) -> None:
    together = losses(np.array(scores), better)
    np.testing.assert_allclose(together, [loss(score, better) for score in scores], rtol=1e-12)


def test_a_ratio_is_judged_by_its_distance_from_one() -> None:
    assert loss(1.0, "one") == 0.0
    assert loss(0.5, "one") == pytest.approx(loss(2.0, "one"))
    assert loss(0.9, "one") < loss(0.8, "one") < loss(1.5, "one") < loss(0.0, "one") == math.inf


def test_every_direction_has_an_arrow_and_words() -> None:
    assert ARROW.keys() == IN_WORDS.keys() == {"lower", "higher", "one"}
