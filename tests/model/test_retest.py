from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hbench.core import AnswerSpec, ModelError, Record, Request, Target
from hbench.model.retest import HumanRetest

ANSWER = AnswerSpec(targets=(Target(name="x", kind="numeric"),))
PEOPLE = [Record("s/t", str(i), gold=f"[{i}]") for i in range(200)]


def test_many_draws_repeat_one_bootstrap_sample_of_the_people(bench: Any) -> None:
    model = HumanRetest.create("", {}, bench.Context(evaluated=PEOPLE))
    texts = bench.answer(model, [Request(PEOPLE[0], (), ANSWER, draws=tuple(range(1000)))]).texts
    drawn = [int(texts["0", draw][1:-1]) for draw in range(1000)]
    assert drawn[:200] == drawn[200:400] == drawn[800:]
    # A bootstrap sample of n holds about 63 % of the people.
    assert len(set(drawn)) == pytest.approx(126, abs=15)
    assert np.mean(drawn) == pytest.approx(99.5, abs=15)


def test_people_are_drawn_within_their_group(bench: Any) -> None:
    people = [Record("s/t", str(i), gold=f"[{i}]", group="uv"[i % 2]) for i in range(40)]
    model = HumanRetest.create("", {}, bench.Context(evaluated=people))
    texts = bench.answer(model, [Request(person, (), ANSWER) for person in people]).texts
    assert all(int(texts[record.id, 0][1:-1]) % 2 == i % 2 for i, record in enumerate(people))


def test_there_is_nothing_to_set(bench: Any) -> None:
    with pytest.raises(ModelError, match="no argument"):
        HumanRetest.create("200", {}, bench.Context())
