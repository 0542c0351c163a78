"""A submission's answers: each record of the sample once per draw, nothing besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import Completion, Failure, HbenchError, Outcome, Parsed
from hbench.data.lines import read_jsonl
from hbench.run.entrant import Entrant
from hbench.run.keys import Key
from hbench.run.plan import PlannedTask
from hbench.run.scoring import NOT_ANSWERED, Scorer
from hbench.submit.refusal import Code, Refusal, Refused

if TYPE_CHECKING:
    from hbench.plugin import Registry

_SHOWN = 3
"""Records that a message names."""


@dataclass(frozen=True)
class Submitted:
    """One model's answers to one task; stands in for a journal.

    Attributes
    ----------
    by_key : mapping
        Outcomes by request and draw.
    """

    by_key: Mapping[Key, Mapping[int, Outcome]]

    def outcomes(self, keys: Iterable[Key]) -> dict[Key, Mapping[int, Outcome]]:
        """Return what was submitted."""
        return {key: self.by_key[key] for key in keys if key in self.by_key}


def read_answers(
    planned: PlannedTask, entrant: Entrant, file: Path, place: str, *, registry: Registry
) -> tuple[Submitted, list[Refusal]]:
    """Read a prediction file and compare it with what the task asks.

    Parameters
    ----------
    planned : PlannedTask
        The task, with the maintainer's data.
    entrant : Entrant
        The model.
    file : Path
        The prediction file.
    place : str
        Its name within the submission.
    registry : Registry
        Where the parser is registered.

    Returns
    -------
    Submitted
        The answers.
    list of Refusal
        Records without or with too many answers, answers to nothing, and readings that are not ours.

    Raises
    ------
    Refused
        When the file cannot be read at all.
    """
    asked: dict[tuple[str, str | None], Key] = {}
    for _, question in planned.questions():
        if question.asked:
            asked[question.record.id, question.record.time] = entrant.key(
                planned.request(question, entrant.sampling, ())
            )
    scorer = Scorer(planned, entrant, registry)
    known: dict[Key, dict[int, Outcome]] = {}
    odd: dict[Code, list[str]] = {}

    def note(code: Code, line: int, record: str, draw: object) -> None:
        odd.setdefault(code, []).append(f"{record}, draw {draw} (line {line})")

    for number, row in _rows(file, place):
        name, time, draw = row.get("id"), row.get("time"), row.get("draw")
        key = asked.get((name, time)) if isinstance(name, str) and isinstance(time, str | None) else None
        record = _named(name, time)
        if key is None or type(draw) is not int or draw not in scorer.draws:
            note("foreign_answers", number, record, draw)
            continue
        if draw in known.setdefault(key, {}):
            note("repeated_answers", number, record, draw)
            continue
        outcome = _outcome(row)
        if isinstance(outcome, Failure) and outcome.reason == NOT_ANSWERED.reason:
            note("missing_answers", number, record, draw)
        if not _same_reading(scorer, outcome, row):
            note("changed_answers", number, record, draw)
        known[key][draw] = outcome
    missing = [
        f"{_named(*identity)}, draw {draw}"
        for identity, key in asked.items()
        for draw in scorer.draws
        if draw not in known.get(key, {})
    ]
    if missing:
        odd.setdefault("missing_answers", []).extend(missing)
    return Submitted(known), [Refusal(code, place, _told(code, where)) for code, where in odd.items()]


def _named(record: object, time: object) -> str:
    """Name a record as `hbench.core.Record.key` does, whatever stands in its place."""
    return str(record) if time is None else f"{record}@{time}"


def _rows(file: Path, place: str) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        yield from read_jsonl(file, nan=True)
    except HbenchError as error:
        line = "" if error.line is None else f":{error.line}"
        raise Refused("malformed", f"{place}{line}", error.message) from error


def _outcome(row: Mapping[str, Any]) -> Outcome:
    if row.get("prediction") is None:
        return Failure("request", str(row.get("error") or "no_answer"))
    reasoning, shares = row.get("reasoning"), row.get("probabilities")
    return Completion(
        row["prediction"],
        reasoning if isinstance(reasoning, str) else None,
        probabilities=shares if isinstance(shares, dict) else None,
    )


def _same_reading(scorer: Scorer, outcome: Outcome, row: Mapping[str, Any]) -> bool:
    """Say whether a line's values, or its error, are what its answer says."""
    result = scorer.parser(outcome, scorer.planned.answer) if isinstance(outcome, Completion) else outcome
    parsed = result if isinstance(result, Parsed) else None
    return (
        row.get("values") == (None if parsed is None else _listed(parsed.values))
        and row.get("repaired") == (None if parsed is None else parsed.repaired)
        and row.get("error") == (result.reason if isinstance(result, Failure) else None)
    )


def _listed(values: Any) -> Any:
    return [list(value) if isinstance(value, tuple) else value for value in values]


_WORDS: dict[Code, str] = {
    "missing_answers": "draws have no answer",
    "repeated_answers": "draws are answered again",
    "foreign_answers": "answers belong to no record of the sample, or to no draw",
    "changed_answers": "answers do not say what the line makes of them",
}


def _told(code: Code, where: list[str]) -> str:
    shown = "; ".join(where[:_SHOWN])
    more = f"; and {len(where) - _SHOWN:,} more" if len(where) > _SHOWN else ""
    return f"{len(where):,} {_WORDS[code]}: {shown}{more}"
