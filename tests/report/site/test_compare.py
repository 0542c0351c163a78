from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from hbench.core import RunError
from hbench.ess import equivalent_sample_size
from hbench.ess.findings import Findings, LeftOut, Worth
from hbench.ess.stored_findings import read_findings
from hbench.learn import Feature
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
    # A standard error that could not be computed leaves the point without an interval.
    assert [cell.text for cell in figure.table.rows[1]] == ["128", "4", "2.2000", "-", "-"]
    assert worth.notes == [
        "a note",
        "s/t (test): m against rf: 3 rows have no answer of the model and count on neither side",
        "s/t (test): m against rf, N = 128: one block",
        "s/u, rf: left out: no target",
    ]
    assert worth.demo


def test_what_the_command_wrote_is_read_as_it_was_found(tmp_path: Path) -> None:
    """An estimate at the smallest size is marked as an upper limit, as in the command's own tables."""
    people, told = [{"a": float(i % 7)} for i in range(60)], [None] + [9.0] * 59
    features = [Feature("a", "numeric")]
    curve = equivalent_sample_size(
        people, [one["a"] for one in people], told, algorithm="ridge", sizes=[5, 20], features=features
    )
    left_out = [LeftOut("s/u", None, None, "no target")]
    found = Findings([Worth("s/t", "test", "m", "ridge", None, "package", "f", curve)], left_out)
    path = tmp_path / "ess.json"
    path.write_text(json.dumps(found.dump()))
    assert read_findings(path) == found
    worth = StoredWorth.read(path)
    assert [cell.text for cell in result_table(worth).rows[0]][5:] == ["rmse", "6.3633", "59", "≤ 5", "≥ 1"]
    assert [cell.text for cell in summary_table(worth).rows[0]] == [
        "m", "ridge", "1 task", "≤ 5", "≥ 1", "≤ 5", "≤ 5", "5 to 20",
    ]  # fmt: skip
    assert curves(worth)[0].options["sizes"][1] == {"x": 5, "label": "N* ≤ 5"}
    assert not worth.demo


def test_a_file_that_lacks_something_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ess.json"
    path.write_text(json.dumps({**WORTH, "results": [{"task": "s/t"}]}))
    with pytest.raises(RunError, match=r"no whole result of `hbench ess`: worths.0.split"):
        StoredWorth.read(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "hbench ess", "version": 99}'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ess.json"
    path.write_text(text)
    with pytest.raises(RunError, match=r"ess\.json"):
        StoredWorth.read(path)
