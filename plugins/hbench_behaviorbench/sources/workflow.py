"""Five aspects of scientific papers, as an extractor read them off title and abstract."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hbench.core import BuildReport, DataError, Failure, JsonValue, Message, RawFile
from hbench.data import atomic_file, content_digest
from hbench.parse import extract_json

PAPERS = "workflow/papers.jsonl"
ASPECTS_FILE = "workflow/aspects.jsonl"
JOURNALS = ("aer", "nhb")
ASPECTS = ("context", "key_idea", "method", "outcome", "projected_impact")
_EXTRACTION = """\
You read scientific papers. From a paper's title and abstract, state five aspects, each in one to three plain \
sentences of your own:
- context: the state of the literature or of the world that motivated the study, before it was done
- key_idea: the main intellectual contribution, compared with the context
- method: how the key idea was investigated or validated
- outcome: what was found
- projected_impact: what the authors expect of their work, or propose to do next
Use only what title and abstract say. Where they say nothing of an aspect, put null.
Answer with one JSON object that has exactly these five keys, and nothing else."""
_PAPER = {"paper_id": str, "journal": str, "year": int, "title": str}


class Workflow:
    """Titles, abstracts and what an extractor made of them, one JSON object a line.

    ``papers.jsonl`` has ``paper_id``, ``journal`` (``aer`` or ``nhb``), ``year``, ``title`` and ``abstract``;
    ``aspects.jsonl`` has ``paper_id`` and the five aspects, null where a paper tells nothing of one. The second file is
    made from the first by ``hbench data build workflow_* --extractor MODEL``.

    The panel ``workflow.parquet`` has a row for every paper with aspects.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """Papers and aspects."""
        origin = "titles and abstracts: OpenAlex; aspects: hbench data build 'workflow_*' --extractor MODEL"
        terms = "bibliographic data; abstracts belong to their publishers"
        return (RawFile(PAPERS, origin, terms), RawFile(ASPECTS_FILE, origin, terms))

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write ``workflow.parquet``.

        Raises
        ------
        DataError
            A line is no such object, a paper is repeated, or aspects belong to no paper.
        """
        import polars as pl

        papers = read_papers(raw, report=report)
        rows = []
        for line, aspects in read_aspects(raw, report=report):
            paper = papers.get(aspects["paper_id"])
            if paper is None:
                raise DataError(
                    f"the aspects are of the paper {aspects['paper_id']!r}, which {PAPERS} does not have",
                    file=raw / ASPECTS_FILE,
                    line=line,
                )
            rows.append({**{name: paper[name] for name in _PAPER}, **{name: aspects[name] for name in ASPECTS}})
        report.counts["workflow.papers"] = len(papers)
        report.counts["workflow.with_aspects"] = len(rows)
        without = len(papers) - len(rows)
        report.problem(PAPERS, "papers without aspects: the extractor gave none that are valid", without)
        schema = {**dict.fromkeys(_PAPER, pl.String), "year": pl.Int64, **dict.fromkeys(ASPECTS, pl.String)}
        pl.DataFrame(rows, schema=schema).write_parquet(out / "workflow.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write made-up papers and their aspects; see `hbench_behaviorbench.demo.workflow`."""
        from hbench_behaviorbench.demo.workflow import write

        write(raw, seed=seed, scale=scale)

    def questions(self, raw: Path) -> Iterator[tuple[str, tuple[Message, ...]]]:
        """Yield the prompt of every paper."""
        for key, paper in read_papers(raw, report=BuildReport()).items():
            told = f"Title: {paper['title']}\n\nAbstract: {paper['abstract']}"
            yield key, (Message("system", _EXTRACTION), Message("user", told))

    def read(self, text: str) -> dict[str, JsonValue] | Failure:
        """Read the five aspects from an answer's JSON object."""
        found = extract_json(text)
        if found.problem is not None:
            return Failure("parse", found.problem, found.detail)
        if not isinstance(found.value, dict) or set(found.value) != set(ASPECTS):
            return Failure("parse", "expected_five_aspects", found.detail)
        for name, value in found.value.items():
            if not isinstance(value, str | None):
                return Failure("parse", "expected_text_or_null", name)
        if not any(found.value.values()):
            return Failure("parse", "no_aspect", "all five are empty")
        return {name: found.value[name] for name in ASPECTS}

    def write(self, raw: Path, answers: Iterable[tuple[str, dict[str, JsonValue]]], made: dict[str, JsonValue]) -> None:
        """Write ``aspects.jsonl``, and beside it by what it was made."""
        with atomic_file(raw / ASPECTS_FILE) as temporary, temporary.open("w", encoding="utf-8") as stream:
            for key, aspects in answers:
                stream.write(json.dumps({"paper_id": key, **aspects}, ensure_ascii=False) + "\n")
        with atomic_file(raw / f"{ASPECTS_FILE}.json") as temporary:
            temporary.write_text(json.dumps(made, indent=1, default=str) + "\n", encoding="utf-8")


def read_papers(raw: Path, *, report: BuildReport) -> dict[str, dict[str, Any]]:
    """Return the papers by their id, in the order of the file."""
    papers: dict[str, dict[str, Any]] = {}
    for line, paper in _objects(raw, PAPERS, report):
        for name, kind in {**_PAPER, "abstract": str}.items():
            if not isinstance(paper.get(name), kind) or paper[name] == "":
                raise DataError(f"the paper has no {name!r}", file=raw / PAPERS, line=line)
        if paper["journal"] not in JOURNALS:
            raise DataError(
                f"the journal {paper['journal']!r} is none of {', '.join(JOURNALS)}", file=raw / PAPERS, line=line
            )
        if paper["paper_id"] in papers:
            raise DataError(f"the paper {paper['paper_id']!r} is there twice", file=raw / PAPERS, line=line)
        papers[paper["paper_id"]] = paper
    return papers


def read_aspects(raw: Path, *, report: BuildReport) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line and the aspects of every paper that has some; blank ones are missing."""
    seen: set[str] = set()
    for line, found in _objects(raw, ASPECTS_FILE, report):
        if not isinstance(found.get("paper_id"), str):
            raise DataError("the aspects name no paper", file=raw / ASPECTS_FILE, line=line)
        if found["paper_id"] in seen:
            raise DataError(f"the paper {found['paper_id']!r} is there twice", file=raw / ASPECTS_FILE, line=line)
        seen.add(found["paper_id"])
        for name in ASPECTS:
            if not isinstance(found.get(name), str | None):
                raise DataError(f"{name!r} is neither text nor null", file=raw / ASPECTS_FILE, line=line)
            found[name] = (found.get(name) or "").strip() or None
        yield line, found


def _objects(raw: Path, path: str, report: BuildReport) -> Iterator[tuple[int, dict[str, Any]]]:
    file = raw / path
    if not file.is_file():
        raise DataError("the raw file is absent", file=file)
    report.files[path] = content_digest(file)
    with file.open(encoding="utf-8") as stream:
        for line, text in enumerate(stream, 1):
            if not text.strip():
                continue
            try:
                found = json.loads(text)
            except ValueError as error:
                raise DataError(f"the line is no JSON: {error}", file=file, line=line) from error
            if not isinstance(found, dict):
                raise DataError("the line is no JSON object", file=file, line=line)
            yield line, found
