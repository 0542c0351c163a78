"""Made-up papers: a question, a setting and a method, drawn from short lists and put into plain sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from hbench.core import stable_seed
from hbench_behaviorbench.sources.workflow import ASPECTS, ASPECTS_FILE, PAPERS

_PAPERS = 60
_TOPICS = {
    "aer": ("minimum wages", "school meals", "property taxes", "bank mergers", "parental leave", "road tolls"),
    "nhb": ("sleep", "trust in strangers", "moral judgement", "online rumours", "friendship", "exercise"),
}
_OUTCOMES = ("employment", "saving", "well-being", "school grades", "cooperation", "health")
_METHODS = (
    "a field experiment with {n} participants",
    "a difference-in-differences design over {n} regions",
    "a preregistered survey of {n} adults",
    "administrative records of {n} households",
)
_SIGNS = ("rises", "falls", "does not change")


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write papers and their aspects; as in the originals, the projected impact is often missing."""
    rng = np.random.default_rng(stable_seed(seed, "behaviorbench", "demo", "workflow"))
    papers, aspects = [], []
    for number in range(max(12, round(_PAPERS * scale))):
        paper, found = _paper(rng, number)
        papers.append(paper)
        # Now and then an extractor fails altogether.
        if rng.random() > 0.02:
            aspects.append(found)
    (raw / PAPERS).parent.mkdir(parents=True, exist_ok=True)
    _write(raw / PAPERS, papers)
    _write(raw / ASPECTS_FILE, aspects)


def _paper(rng: np.random.Generator, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    journal = ("aer", "nhb")[number % 2]
    topic, outcome = str(rng.choice(_TOPICS[journal])), str(rng.choice(_OUTCOMES))
    method = str(rng.choice(_METHODS)).format(n=int(rng.integers(2, 90)) * 100)
    effect = f"more {topic}, {outcome} {rng.choice(_SIGNS)}"
    found: dict[str, Any] = {
        "context": f"Little is known about how {topic} and {outcome} are related.",
        "key_idea": f"{topic.capitalize()} may affect {outcome} through people's expectations.",
        "method": f"The study uses {method}.",
        "outcome": f"With {effect}.",
        "projected_impact": f"The findings may inform policy on {topic}.",
    }
    if rng.random() < (0.6 if journal == "aer" else 0.2):
        found["projected_impact"] = None
    paper = {
        "paper_id": f"{journal}-{number:04}",
        "journal": journal,
        "year": int(rng.choice((2023, 2024, 2025))),
        "title": f"{topic.capitalize()} and {outcome}",
        "abstract": " ".join(str(found[name]) for name in ASPECTS if found[name]),
    }
    return paper, {"paper_id": paper["paper_id"], **found}


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
