"""True answers must be right in every respect."""

from __future__ import annotations

import pytest

from hbench.core import AnswerSpec, ScoreError, Target
from hbench.parse import REPAIRS, BracketedInteger, JsonArray, parse_gold

SHARE = AnswerSpec((Target(name="share", kind="numeric", range=(0, 100)),), clip=True, repairs=REPAIRS)
ITEM = AnswerSpec((Target(name="item", kind="ordinal", range=(1, 5)),), clip=True, reads="reasoning_then_answer")


def test_right_ones() -> None:
    assert parse_gold(JsonArray(), "[12.5]", SHARE) == (12.5,)
    assert parse_gold(JsonArray(), [12.5], SHARE) == (12.5,)
    assert parse_gold(BracketedInteger(), "[4]", ITEM) == (4,)


@pytest.mark.parametrize("raw", ["[1,024]", "", None, '["12"]', "[1, 2]", "x" * 1000])
def test_no_repair(raw: object) -> None:
    with pytest.raises(ScoreError, match="cannot be read") as caught:
        parse_gold(JsonArray(), raw, SHARE)
    assert len(str(caught.value)) < 400


def test_no_clipping() -> None:
    with pytest.raises(ScoreError, match="outside the range of share, 0 to 100"):
        parse_gold(JsonArray(), "[100.5]", SHARE)
    with pytest.raises(ScoreError, match="outside the range"):
        parse_gold(BracketedInteger(), "[9]", ITEM)
