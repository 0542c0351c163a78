from __future__ import annotations

import json

import pytest

from hbench.core import DataError
from hbench.data import Funnel, FunnelRow

FUNNEL = Funnel(
    [
        FunnelRow("source", "All rows of the source", 1200, 0),
        FunnelRow("require", "Complete answers", 1000, 200, (("income is missing", 150), ("age is missing", 80))),
        FunnelRow("lags", "The quarter before", 1000, 0),
    ]
)


def test_rows_must_add_up() -> None:
    with pytest.raises(DataError, match=r"does not add up at the step 'require': 10 before, 3 dropped, 8 after"):
        Funnel([FunnelRow("source", "", 10, 0), FunnelRow("require", "", 8, 3)])


def test_json_round_trip() -> None:
    assert Funnel.from_json(json.loads(json.dumps(FUNNEL.to_json()))) == FUNNEL


def test_render() -> None:
    assert FUNNEL.render(width=28) == "\n".join(
        [
            "+--------------------------+",
            "| All rows of the source   |",
            "| 1,200 rows               |",
            "+--------------------------+",
            "              |",
            "              |--> 200 dropped by require",
            "              |      150: income is missing",
            "              |      80: age is missing",
            "              |",
            "+--------------------------+",
            "| Complete answers         |",
            "| 1,000 rows               |",
            "+--------------------------+",
            "              |",
            "+--------------------------+",
            "| The quarter before       |",
            "| 1,000 rows               |",
            "+--------------------------+",
        ]
    )


def test_a_table_has_a_line_a_step() -> None:
    rows = (
        FunnelRow("source", "all", 1_000, 0),
        FunnelRow("x", "y", 1_500, 500, (), 1_000),
        FunnelRow("z", "z", 1_500, 0),
    )
    lines = Funnel(rows).table().splitlines()
    assert [line.split() for line in lines] == [
        ["1,000", "source:", "all"],
        ["1,500", "+1,000-500", "x:", "y"],
        ["1,500", "z"],
    ]
