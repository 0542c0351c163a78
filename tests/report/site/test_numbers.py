from __future__ import annotations

import math

from hbench.core.target import Target
from hbench.metric import ScoredRow
from hbench.report.site.judging import can_be_wrong, error, state
from hbench.report.site.marks import Mark, marks
from hbench.report.site.render import compact, json_block

SPENT = Target(name="spent", kind="numeric")
MOVED = Target(name="moved", kind="categorical", labels=("yes", "no"))
RISK = Target(name="risk", kind="probability", labels=("low", "high"))


def row(prediction: tuple[object, ...] | None, *, repaired: str | None = None) -> ScoredRow:
    return ScoredRow("r", prediction, None, ("no",), None, None, None, 1.0, {}, repaired, 1, 0)  # type: ignore[arg-type]


def test_marks_of_a_column_share_one_scale() -> None:
    assert marks([(2.0, 1.0, 3.0), (4.0, None, None), (None, None, None), (5.0, 4.0, 11.0)]) == [
        Mark(10.0, 0.0, 20.0),
        Mark(30.0),
        None,
        Mark(40.0, 30.0, 100.0),
    ]


def test_one_number_alone_stands_in_the_middle_and_nan_nowhere() -> None:
    assert marks([(2.0, None, None), (math.nan, 0.0, 1.0)]) == [Mark(50.0), None]


def test_errors_are_distances_averaged_over_targets() -> None:
    assert error([SPENT], (7.0,), (10.0,), [1.0]) == 3.0
    assert error([RISK], ((0.2, 0.8),), ((0.5, 0.5),), [1.0]) == 0.3
    assert error([MOVED], ("yes",), ("no",), [1.0]) == 1.0
    # 3 off of a spread of 2, and one of two classes: (1.5 + 1) / 2.
    assert error([SPENT, MOVED], (7.0, "yes"), (10.0, "no"), [2.0, 1.0]) == 1.25
    assert error([SPENT], None, (10.0,), [1.0]) is None


def test_states_tell_what_became_of_an_answer() -> None:
    assert can_be_wrong([MOVED])
    assert not can_be_wrong([SPENT])
    assert state(row(None), None, asked=False, discrete=True) == "."
    assert state(row(None), None, asked=True, discrete=True) == "0"
    assert state(row(("no",)), 0.0, asked=True, discrete=True) == "1"
    assert state(row(("yes",)), 1.0, asked=True, discrete=True) == "3"
    assert state(row(("yes",), repaired="quotes"), 1.0, asked=True, discrete=True) == "7"
    assert state(row((5.0,)), 5.0, asked=True, discrete=False) == "1"


def test_json_in_a_page_cannot_end_its_element() -> None:
    block = str(json_block({"a": "</script><!-- &\u2028", "b": [math.nan, math.inf, 0.5], "c": "\ud800"}))
    assert "<" not in block
    assert ">" not in block
    assert "&" not in block
    assert compact({"b": [math.nan, 0.5]}) == '{"b":[null,0.5]}'
