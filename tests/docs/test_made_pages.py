"""Pages that are made from the project: nothing of a spec or a source is missing on them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from docs_pages.hook import made_pages
from docs_pages.notebook import notebook_page
from docs_pages.outward import OutwardLinkError, without_outward_links
from docs_pages.task_pages import SUITES, suite_page
from hbench.plugin import default_registry
from hbench.spec import Suite, Task, discover

for package in ("polars", "sklearn", "hbench_randhie", "hbench_wagepanel"):
    pytest.importorskip(package)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return made_pages()


def tasks(suite: str) -> Iterator[Task]:
    for entry in discover().select(f"@{suite}"):
        yield entry.load()


@pytest.mark.parametrize("suite", SUITES)
def test_the_catalogue_has_every_task_target_and_step(suite: str, pages: dict[str, str]) -> None:
    page = pages[f"tasks/{suite}.md"]
    for task in tasks(suite):
        section = page.partition(f"\n## {task.task}\n")[2].partition("\n## ")[0]
        assert section, task.task
        assert [target.name for target in task.targets if f"| `{target.name}` | {target.kind} |" not in section] == []
        assert [use.metric for use in task.metrics if f"`{use.metric}`" not in section] == []
        assert [source for source in task.sources if f"`{source}`" not in section] == []
        steps = [line for line in section.splitlines() if line.partition(". `")[0].isdigit()]
        assert len(steps) == len(task.sample)
        assert all(step.name in line for step, line in zip(task.sample, steps, strict=True))
        for part in task.predictors:
            for name in (part.columns[0], part.columns[-1]):
                assert f"`{name}`" in section or f"{name.rpartition('_lag')[0]}_lag" in section


def test_the_overview_counts_32_and_39_tasks(pages: dict[str, str]) -> None:
    assert "| [HouseholdBench](householdbench.md) | 32 |" in pages["tasks/index.md"]
    assert "(behaviorbench.md) | 39 |" in pages["tasks/index.md"]


def test_every_raw_file_is_on_its_page_but_for_those_within_a_range_of_years(pages: dict[str, str]) -> None:
    page = pages["raw-files.md"]
    registry = default_registry()
    for suite in SUITES:
        for name in {name for task in tasks(suite) for name in task.sources}:
            files = registry.get("source", name, suite=suite)().files
            section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
            absent = [file.path for file in files if f"`{file.path}`" not in section]
            assert len(absent) == sum(
                int(part.split(" files)")[0]) - 2 for part in section.split("(")[1:] if " files)" in part
            )
    assert "`micro/cex/interview/intrvw80.zip` … `micro/cex/interview/intrvw24.zip` (43 files)" in page


def test_the_reference_has_what_packages_export(pages: dict[str, str]) -> None:
    import hbench.core
    import hbench.ess

    assert "::: hbench.evaluate" in pages["api/index.md"]
    for package in (hbench.core, hbench.ess):
        page = pages[f"api/{package.__name__.rpartition('.')[2]}.md"]
        assert page.count("::: ") == len(package.__all__)


def test_text_of_a_spec_is_no_markup(pages: dict[str, str]) -> None:
    task = next(tasks("wagepanel")).model_copy(update={"title": "<b>[x](y)</b> | *z*", "description": "`code`"})
    page = suite_page(Suite(suite="wagepanel", title="<script>"), [task])
    assert "<script>" not in page
    assert "\\<b\\>\\[x\\](y)\\</b\\> \\| \\*z\\*" in page
    assert "\\`code\\`" in page


@pytest.mark.slow
def test_equal_projects_give_equal_pages(pages: dict[str, str]) -> None:
    program = (
        "from hashlib import sha256; from docs_pages.hook import made_pages\n"
        "print(sha256(repr(made_pages()).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    other = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert other.stdout.strip() == sha256(repr(pages).encode()).hexdigest()


def test_links_out_of_the_documentation_lead_to_the_repository_or_nowhere() -> None:
    text = "[a](../Containerfile) [b](recipes) [c](ess.md#speed) [d](https://example.org) [e](#x)"
    turned = without_outward_links(text, "releasing.md", ROOT, None)
    assert turned == "a b [c](ess.md#speed) [d](https://example.org) [e](#x)"
    turned = without_outward_links(text, "releasing.md", ROOT, "https://example.org/r/blob/main")
    assert turned.startswith(
        "[a](https://example.org/r/blob/main/Containerfile) [b](https://example.org/r/blob/main/docs/recipes)"
    )
    with pytest.raises(OutwardLinkError, match=r"docs/guides/x\.md links to \.\./\.\./nothing"):
        without_outward_links("[a](../../nothing)", "guides/x.md", ROOT, None)


def test_a_notebook_is_its_texts_and_its_code() -> None:
    cells = '[{"cell_type": "markdown", "source": ["# T\\n", "x"]}, {"cell_type": "code", "source": ["a = 1\\n", "a"]}]'
    assert notebook_page(f'{{"cells": {cells}}}') == "# T\nx\n\n```python\na = 1\na\n```\n"


def test_the_access_guide_has_every_folder_and_what_an_order_needs() -> None:
    guide = (ROOT / "docs/surveys.md").read_text(encoding="utf-8")
    registry = default_registry()
    sources = {(suite, name) for suite in SUITES[:2] for task in tasks(suite) for name in task.sources}
    files = [file for suite, name in sources for file in registry.get("source", name, suite=suite)().files]
    folders = {Path(file.path).parts[2 if file.path.startswith("micro/sce/") else -2] for file in files}
    assert len(folders) > 15
    assert [folder for folder in sorted(folders) if folder not in guide] == []
    from hbench_householdbench.sources.census import MISSING

    assert [name for name in MISSING if name not in guide] == []
    archives = [Path(file.path).name for file in files if file.path.startswith("micro/psid-shelf/")]
    assert len(archives) == 2
    assert [name for name in archives if name not in guide] == []
