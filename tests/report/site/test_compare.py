from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from hbench.core import RunError
from hbench.report.analyses import analyse
from hbench.report.site.worths import StoredWorth, curves, result_table, summary_table
from tests.report.site.making import VIEW, WORTH, Made, Page


def boards(site: Made) -> list[Any]:
    return [json.loads(text) for text in Page(site.folder / "compare.html").data if text.strip()]


def test_every_pair_is_found_at_its_place(site: Made) -> None:
    rows = analyse("pairs", site.comparison, VIEW)
    for board in boards(site):
        pairs = list(combinations(board["models"], 2))
        assert len(board["tasks"]) == 5
        for t, task in enumerate(board["tasks"]):
            for place, (first, second) in enumerate(pairs):
                name = "" if task["name"] == "overall" else f"study/{task['name']} {board['split']}"
                (row,) = [r for r in rows if (r["split"], r["task"], r["first"], r["second"]) ==
                          (board["split"], name, first, second)]  # fmt: skip
                difference, lo, hi, better, *_ = board["pairs"][t][place]
                for told, known in ((difference, "difference"), (lo, "lo"), (hi, "hi"), (better, "better")):
                    assert told == (None if row[known] is None else float(f"{row[known]:.5g}"))


def test_equivalent_sample_sizes_are_read_and_drawn(tmp_path: Path) -> None:
    path = tmp_path / "ess.json"
    path.write_text(json.dumps(WORTH))
    worth = StoredWorth.read(path)
    assert [cell.text for cell in summary_table(worth).rows[0]] == [
        "m", "rf", "1 task", "> 128", "≥ 32", "> 128", "> 128", "8 to 128",
    ]  # fmt: skip
    assert [cell.text for cell in result_table(worth).rows[0]][5:] == ["rmse", "2.0000", "200", "> 128", "≥ 32"]
    (figure,) = curves(worth)
    # The root of a mean squared error of 9 with a standard error of 0.6: 3 and 0.6 / (2 * 3).
    size, value, lo, hi = figure.rows[0]
    assert (size, value) == (8, 3.0)
    assert lo == pytest.approx(3 - 1.959964 * 0.1, abs=1e-6)
    assert hi == pytest.approx(3 + 1.959964 * 0.1, abs=1e-6)
    assert figure.options["sizes"] == [{"x": 32, "label": "at least 32"}]
    assert worth.demo


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "hbench ess", "version": 99}'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ess.json"
    path.write_text(text)
    with pytest.raises(RunError, match=r"ess\.json"):
        StoredWorth.read(path)
