"""Records in chunks that the viewer loads when they are looked at: prompts once, answers apart for each model.

Below ``records/``: ``catalogue.json.gz`` lists the parts (a task's splits). Each has a folder with ``index.json.gz``,
which holds all that filters need, and chunks of records, ``prompts-SET-K.json.gz`` and ``answers-MODEL-K.json.gz``.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hbench.core import Completion, Failure, JsonValue, Message, Outcome, Parsed, Record
from hbench.model import file_name
from hbench.report.analyses.subgroups import FIELDS, column_of, groups_of
from hbench.report.comparison import Comparison, Part
from hbench.report.site.judging import can_be_wrong, error, scales, state
from hbench.report.site.render import compact
from hbench.run.keys import prompt_digest
from hbench.run.stored import Answered, SplitOutcomes

T = TypeVar("T")
CHUNK = 50
"""Records of one file: a page is turned without loading, and one file is small."""
VERSION = 1


def write_records(comparison: Comparison, folder: Path) -> list[dict[str, Any]]:
    """Write all records below a folder.

    Returns
    -------
    list of dict
        The catalogue: suite, task, split, folder, records and models of each part.
    """
    catalogue = []
    for part in comparison.parts:
        if part.answers:
            name = part_name(part)
            _write_part(comparison, part, folder / name)
            catalogue.append(
                {
                    "suite": part.task.suite,
                    "task": part.task.task,
                    "title": part.task.title or part.task.task,
                    "split": part.split,
                    "folder": name,
                    "records": len(part.records),
                    "models": [model for model in comparison.models if model in part.answers],
                    "demo": part.data_kind == "demo",
                }
            )
    _write(folder / "catalogue.json.gz", {"version": VERSION, "parts": catalogue})
    return catalogue


def part_name(part: Part) -> str:
    """Return a part's name in addresses."""
    return file_name(f"{part.task.suite}-{part.task.task}-{part.split}")


def _write_part(comparison: Comparison, part: Part, folder: Path) -> None:
    folder.mkdir(parents=True)
    told = _origins(comparison, part)
    files = {model: file_name(model) for model in part.answers}
    sets: dict[bytes, tuple[int, list[Record]]] = {}
    used: dict[str, int] = {}
    for model, (split, _) in told.items():
        # Runs without a section of the prompt have prompts of their own; all others share theirs.
        name = b"".join(prompt_digest(record) for record in split.records)
        used[model] = sets.setdefault(name, (len(sets), split.records))[0]
    for number, records in sets.values():
        for k, some in enumerate(_chunks(records)):
            _write(folder / f"prompts-{number}-{k}.json.gz", _prompts(some))
    for model, (split, own) in told.items():
        pairs = list(zip(part.answers[model], split.outcomes[own], strict=True))
        for k, chunk in enumerate(_chunks(pairs)):
            _write(folder / f"answers-{files[model]}-{k}.json.gz", [_answer(*pair) for pair in chunk])
    _write(folder / "index.json.gz", _index(part, files, used))


def _origins(comparison: Comparison, part: Part) -> dict[str, tuple[SplitOutcomes, str]]:
    """Return for each model the split of the run that its answers are from, and its label there."""
    splits: dict[int, SplitOutcomes] = {}
    for number, run in enumerate(comparison.runs):
        for planned in run.plan.tasks:
            if planned.name == part.task.name:
                for split in run.outcomes(planned):
                    if split.split == part.split:
                        splits[number] = split
    return {
        model: next((splits[number], own) for number, own in comparison.origins[model]
                    if number in splits and own in splits[number].outcomes)
        for model in comparison.models
        if model in part.answers
    }  # fmt: skip


def _index(part: Part, files: Mapping[str, str], used: Mapping[str, int]) -> dict[str, Any]:
    targets, by, discrete = part.task.targets, scales(part), can_be_wrong(part.task.targets)
    rows = part.rows(next(iter(part.answers)))
    return {
        "version": VERSION,
        "suite": part.task.suite,
        "task": part.task.task,
        "title": part.task.title or part.task.task,
        "split": part.split,
        "demo": part.data_kind == "demo",
        "chunk": CHUNK,
        "population": part.population,
        "discrete": discrete,
        "targets": [{"name": t.name, "kind": t.kind, "unit": t.unit, "labels": list(t.labels)} for t in targets],
        "records": [record.key for record in part.records],
        "truth": [row.gold for row in rows],
        "no_change": [row.naive for row in rows],
        "no_change_error": [error(targets, row.naive, row.gold, by) for row in rows],
        "groups": list(_groups(part)),
        "models": [
            _model(part, model, files[model], prompts, by, discrete=discrete) for model, prompts in used.items()
        ],
    }


def _model(part: Part, model: str, file: str, prompts: int, by: Sequence[float], *, discrete: bool) -> dict[str, Any]:
    states, errors = [], []
    for answered in part.answers[model]:
        row = answered.row
        off = None if part.population else error(part.task.targets, row.prediction, row.gold, by)
        errors.append(off)
        states.append(state(row, off, asked=answered.draws is not None, discrete=discrete))
    return {"label": model, "file": file, "prompts": prompts, "states": "".join(states), "errors": errors}


def _groups(part: Part) -> Iterator[dict[str, Any]]:
    for field in FIELDS:
        column = column_of(part, field)
        if column is not None:
            groups = groups_of(part, column)
            place = {i: number for number, keep in enumerate(groups.values()) for i in keep}
            yield {
                "field": field,
                "column": column,
                "groups": list(groups),
                "of": [place[i] for i in range(len(part.records))],
            }


def _prompts(records: Sequence[Record]) -> dict[str, Any]:
    """Return prompts with every text once: system prompts repeat."""
    texts: dict[str, int] = {}

    def told(message: Message) -> list[str | int]:
        return [message.role, texts.setdefault(message.content, len(texts))]

    found = [
        {
            "messages": [told(message) for message in record.messages],
            "gold": record.gold,
            "no_change": record.naive,
            "time": record.time,
            "release_date": record.release_date,
            "predictors": {} if record.messages else dict(record.predictors),
        }
        for record in records
    ]
    return {"texts": list(texts), "records": found}


def _answer(answered: Answered, outcomes: Mapping[int, Outcome] | None) -> dict[str, Any] | None:
    if answered.draws is None:
        return None
    spent = answered.spent
    return {
        "prediction": answered.row.prediction,
        "draws": [_draw(result, (outcomes or {}).get(draw)) for draw, result in answered.draws],
        "spent": [spent.tokens_in, spent.tokens_out, spent.cost],
    }


def _draw(result: Parsed | Failure, outcome: Outcome | None) -> dict[str, JsonValue]:
    """Return what a draw said and how it was read; what is not there is left out."""
    out: dict[str, JsonValue] = {}
    if isinstance(outcome, Completion):
        out["text"] = outcome.text
        if outcome.reasoning:
            out["reasoning"] = outcome.reasoning
        if outcome.probabilities:
            out["probabilities"] = dict(outcome.probabilities)
    if isinstance(result, Failure):
        out["failure"] = [result.stage, result.reason, result.detail]
    else:
        out["values"] = result.values
        if result.repaired:
            out["repaired"] = result.repaired
    return out


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # No time and no name in the head: the same records give the same bytes.
    path.write_bytes(gzip.compress(compact(content).encode("ascii"), compresslevel=6, mtime=0))
