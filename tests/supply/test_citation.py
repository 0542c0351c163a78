from __future__ import annotations

from pathlib import Path

import yaml

from hbench import __version__
from hbench.spec import discover

CITATION = yaml.safe_load((Path(__file__).resolve().parents[2] / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_citation_is_of_this_version() -> None:
    assert CITATION["version"] == __version__
    assert CITATION["license"] == "Apache-2.0"


def test_it_names_the_papers_that_the_suites_name() -> None:
    papers = {paper["identifiers"][0]["value"]: paper for paper in CITATION["references"]}
    assert set(papers) == {"arXiv:2610.07563", "arXiv:2606.24162", "arXiv:2601.12343"}
    assert all(paper["authors"] and paper["year"] == 2026 for paper in papers.values())
    assert all(paper["url"].rpartition("/")[2] == name.removeprefix("arXiv:") for name, paper in papers.items())
    index = discover()
    for suite in ("householdbench", "behaviorbench"):
        cited = index.suite(suite).citation
        assert cited is not None
        assert any(name in cited for name in papers)


def test_the_suites_notices_name_each_provider_that_requires_one() -> None:
    suite = discover().suite("householdbench")
    tasks = [entry.load() for entry in discover().select("@householdbench")]
    shown = " ".join(suite.notices_of(tasks))
    providers = ("Federal Reserve Bank of New York", "IPUMS", "PSID-SHELF", "Surveys of Consumers", "FRED-QD", "ICPSR")
    assert [provider for provider in providers if provider not in shown] == []
    # A task shows those of its own data, and no others.
    (rent,) = (task for task in tasks if task.task == "house_sce_move")
    assert not any("IPUMS" in text or "PSID" in text for text in suite.notices_of([rent]))
