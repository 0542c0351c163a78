from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError, Failure, ModelError
from hbench.plugin import default_registry
from hbench.run.extract import extract
from hbench.testing.mock_server import MockServer, Question
from hbench_behaviorbench.sources.workflow import ASPECTS, ASPECTS_FILE, PAPERS, Workflow

pl = pytest.importorskip("polars", reason="needs hbench[data]")

PAPER = {"paper_id": "p1", "journal": "aer", "year": 2025, "title": "Wages", "abstract": "We study wages."}
FOUND = {
    "context": "Wages vary.",
    "key_idea": "Rents.",
    "method": "A survey.",
    "outcome": "They do.",
    "projected_impact": None,
}


def put(raw: Path, papers: list[Any], aspects: list[Any] = ()) -> Path:  # type: ignore[assignment]
    (raw / PAPERS).parent.mkdir(parents=True, exist_ok=True)
    for name, rows in ((PAPERS, papers), (ASPECTS_FILE, aspects)):
        (raw / name).write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return raw


def built(raw: Path, out: Path) -> tuple[Any, BuildReport]:
    report = BuildReport()
    Workflow().build(raw, out, report=report)
    return pl.read_parquet(out / "workflow.parquet"), report


def test_papers_and_aspects_are_joined_and_what_is_missing_is_counted(tmp_path: Path) -> None:
    raw = put(tmp_path, [PAPER, {**PAPER, "paper_id": "p2"}], [{"paper_id": "p1", **FOUND, "method": "  "}])
    table, report = built(raw, tmp_path)
    assert table.row(0, named=True) == {
        "paper_id": "p1", "journal": "aer", "year": 2025, "title": "Wages", **FOUND, "method": None,
    }  # fmt: skip
    assert dict(report.counts) == {"workflow.papers": 2, "workflow.with_aspects": 1}
    assert [(problem.file, problem.rows) for problem in report.problems] == [(PAPERS, 1)]
    assert set(report.files) == {PAPERS, ASPECTS_FILE}


@pytest.mark.parametrize(
    ("papers", "aspects", "message"),
    [
        (["{"], [], "papers.jsonl:1: the line is no JSON"),
        (["[1]"], [], "no JSON object"),
        ([{**PAPER, "abstract": ""}], [], "no 'abstract'"),
        ([{**PAPER, "journal": "qje"}], [], "'qje' is none of aer, nhb"),
        ([PAPER, PAPER], [], "papers.jsonl:2: the paper 'p1' is there twice"),
        ([PAPER], [{"paper_id": "p9", **FOUND}], "'p9', which workflow/papers.jsonl does not have"),
        ([PAPER], [{"paper_id": "p1", **FOUND, "method": 3}], "'method' is neither text nor null"),
        ([PAPER], [{"paper_id": "p1", **FOUND}] * 2, "aspects.jsonl:2: the paper 'p1' is there twice"),
    ],
)
def test_bad_files_are_refused_with_their_line(tmp_path: Path, papers: Any, aspects: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        built(put(tmp_path, papers, aspects), tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no JSON here", None),
        (json.dumps({"context": "x"}), "expected_five_aspects"),
        (json.dumps({**FOUND, "extra": "x"}), "expected_five_aspects"),
        (json.dumps({**FOUND, "method": ["a"]}), "expected_text_or_null"),
        (json.dumps(dict.fromkeys(ASPECTS)), "no_aspect"),
    ],
)
def test_answers_that_are_no_five_aspects_are_named_failures(text: str, reason: str | None) -> None:
    found = Workflow().read(text)
    assert isinstance(found, Failure)
    assert reason in (None, found.reason)


def test_fenced_json_is_read() -> None:
    assert Workflow().read(f"```json\n{json.dumps(FOUND)}\n```") == FOUND


def ask(server: MockServer, raw: Path, **options: Any) -> Any:
    model = f"openai:reader,base_url={server.url}"
    return extract(Workflow(), "workflow", raw, model, registry=default_registry(), **options)


def reader(bad: Callable[[str, int], bool]) -> Callable[[Question], str]:
    tries: dict[str, int] = {}

    def answer(question: Question) -> str:
        tries[question.prompt] = number = tries.get(question.prompt, 0) + 1
        return "I cannot." if bad(question.prompt, number) else json.dumps({**FOUND, "context": question.prompt[:20]})

    return answer


def papers(n: int) -> list[dict[str, Any]]:
    return [{**PAPER, "paper_id": f"p{i}", "title": f"Title {i:03}"} for i in range(n)]


def test_an_extraction_asks_again_what_was_invalid_and_resumes_without_a_request(tmp_path: Path) -> None:
    raw = put(tmp_path, papers(30))

    def bad(prompt: str, number: int) -> bool:
        return "Title 007" in prompt or ("Title 00" in prompt and number == 1)

    with MockServer(answer=reader(bad)) as server:
        done = ask(server, raw)
        assert (done.questions, done.valid, done.asked) == (30, 29, 30 + 10 + 1)
        assert sum(done.reasons.values()) == 1
        first = (raw / ASPECTS_FILE).read_bytes()
        again = ask(server, raw)
        assert (again.valid, again.asked, server.stats.requests) == (29, 0, 41)
    assert (raw / ASPECTS_FILE).read_bytes() == first
    rows = [json.loads(line) for line in first.decode().splitlines()]
    assert [row["paper_id"] for row in rows] == [f"p{i}" for i in range(30) if i != 7]
    assert json.loads((raw / f"{ASPECTS_FILE}.json").read_text())["model"] == "openai:reader"
    table, report = built(raw, tmp_path)
    assert len(table) == 29
    assert [problem.rows for problem in report.problems] == [1]


def test_models_without_a_language_cannot_extract(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot extract"):
        extract(Workflow(), "workflow", put(tmp_path, [PAPER]), "marginal", registry=default_registry())


def test_the_demo_leaves_out_impacts_and_has_all_years(tmp_path: Path) -> None:
    Workflow().demo(tmp_path, seed=42, scale=1.0)
    table, _ = built(tmp_path, tmp_path)
    assert set(table["year"]) == {2023, 2024, 2025}
    missing = dict(table.group_by("journal").agg(pl.col("projected_impact").is_null().mean()).iter_rows())
    assert missing["aer"] > missing["nhb"] > 0
