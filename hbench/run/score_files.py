"""Scores of a prediction file against a file of true answers, without a run.

Names, reasons and the order of checks are those of HouseholdBench's scorer, so that results can be compared; what makes
that scorer stop in the middle of an answer is a named failure of the row here.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hbench.core import AnswerSpec, Completion, Failure, JsonValue, Parsed, Parser, ScoreError, Values
from hbench.data.lines import read_jsonl
from hbench.data.records import read_rows
from hbench.metric import Provenance, ScoredRow, StrictFill, aggregate, score_task
from hbench.metric.gather import Components
from hbench.model.replay import FIELDS
from hbench.parse import parse_gold
from hbench.run.file_metrics import file_metrics, needs_naive
from hbench.run.joining import Joined, NumberedRow, Row, join
from hbench.spec.task import Task

FORMAT = 1
"""Version of the result."""


def score_files(
    task: Task,
    records: Path,
    predictions: Path,
    *,
    repairs: Iterable[str] = (),
    prediction_field: str | None = None,
    details: bool = True,
    registry: Components | None = None,
    strict_fill: StrictFill | None = None,
    weights: bool = False,
    model: str = "",
) -> dict[str, JsonValue]:
    """Score a prediction file.

    Parameters
    ----------
    task : Task
        The task that the records belong to.
    records, predictions : Path
        JSON Lines (or CSV, Parquet) with the true answers in ``assistant`` and the predictions in `prediction_field`,
        else in the first of ``prediction, raw_output, response, model_output, assistant`` that a row has.
    repairs : iterable of str
        ``numbers``, ``nesting``. Off by default; their use is counted.
    details : bool
        Whether the result lists every row.
    registry : Registry, optional
        Finds the parser and the metrics.
    strict_fill, weights
        As for `score_task`.
    model : str
        Name for the score rows.

    Returns
    -------
    dict
        Plain JSON: the reference's fields, then ``scores`` (tidy rows), ``suite``, ``files`` (SHA-256), ``format``.

    Raises
    ------
    DataError
        A file that cannot be read.
    ScoreError
        Repeated or unknown names, a true or no-change answer that cannot be read, a no-change prediction without error.
    """
    if registry is None:
        from hbench.plugin import default_registry

        registry = default_registry()
    gold_rows = list(read_rows(records))
    prediction_rows = list(_read_predictions(predictions))
    population = any(target.kind == "population" for target in task.targets)
    joined = join(gold_rows, () if population else prediction_rows, files=(records, predictions))
    parser: Parser = registry.get("parser", task.answer.parser, suite=task.suite)()
    reader = _Reader(task, parser, task.answer_spec(repairs=frozenset(repairs)), prediction_field, records)
    if population:
        items = reader.populations(gold_rows, prediction_rows, joined.keys)
    else:
        items = reader.items(gold_rows, joined)
    rows = [item.row for item in items]
    # The reference's numbers first: its zero-denominator error comes after all other checks.
    metrics = file_metrics(task, rows, registry)
    scores = score_task(
        task,
        rows,
        registry=registry,
        strict_fill=strict_fill,
        weights=weights,
        provenance=Provenance(model=model, draws=task.answer.draws if population else 1),
    )
    invalid = [item for item in items if item.row.prediction is None]
    valid = len(items) - len(invalid)
    extra = sorted(set(joined.predictions) - set(joined.keys))
    covered = sum(key in joined.predictions for key in joined.keys)
    if population:
        covered = len(items) if prediction_rows else 0
        invalid, valid = [], len(items)
    result: dict[str, JsonValue] = {
        "task": task.task,
        "mode": task.mode,
        "num_examples": len(items),
        "num_predictions": len(prediction_rows),
        "num_valid": valid,
        "num_invalid": len(invalid),
        "num_repaired": sum(row.repaired is not None for row in rows),
        "valid_response_rate": valid / len(items) if items else 0.0,
        "coverage_rate": covered / len(items) if items else 0.0,
        "num_extra_predictions": len(extra),
        "extra_prediction_ids": extra,
        "error_counts": dict(Counter(item.error for item in invalid)),
        "valid_example_ids": [item.row.record_key for item in items if item.row.prediction is not None],
        "invalid_examples": [{"id": item.row.record_key, "error": item.error} for item in invalid],
        "metrics": metrics,
        "scores": [score.as_row() for score in scores],
        "suite": task.suite,
        "num_unreadable_baselines": reader.unreadable_baselines,
        "repairs": sorted(repairs),
        "files": {
            role: {"name": path.name, "sha256": _sha256(path)}
            for role, path in (("records", records), ("predictions", predictions))
        },
        "format": FORMAT,
    }
    if population:
        _count_draws(result, rows)
    if details:
        result["details"] = [item.as_detail() for item in items]
    return result


@dataclass(frozen=True, slots=True)
class _Item:
    """One true answer with what became of its prediction."""

    row: ScoredRow
    raw: JsonValue = None

    @property
    def error(self) -> str | None:
        return None if self.row.failure is None else self.row.failure.reason

    def as_detail(self) -> dict[str, JsonValue]:
        failure = self.row.failure
        return {
            "id": self.row.record_key,
            "valid": self.row.prediction is not None,
            "raw_prediction": _json_safe(self.raw),
            "parsed_prediction": _listed(self.row.prediction),
            "reference": _listed(self.row.gold),
            "naive_baseline": _listed(self.row.naive),
            "error": self.error,
            "repaired": self.row.repaired is not None,
            "repair": self.row.repaired,
            "error_detail": failure.detail if failure is not None and failure.detail else None,
        }


class _Reader:
    """Reads true answers, no-change answers and predictions of one task."""

    def __init__(self, task: Task, parser: Parser, answer: AnswerSpec, field: str | None, records: Path) -> None:
        self.task, self.parser, self.answer, self.field, self.records = task, parser, answer, field, records
        self.naive_needed = needs_naive(task)
        self.unreadable_baselines = 0

    def items(self, gold: Sequence[NumberedRow], joined: Joined) -> list[_Item]:
        out = []
        for key, (line, row) in zip(joined.keys, gold, strict=True):
            truth, naive = self.truth(row, line, key)
            found = joined.predictions.get(key)
            raw: JsonValue = None
            outcome: Parsed | Failure
            if found is None:
                outcome = Failure("request", joined.missing(row))
            else:
                raw, outcome = self.prediction(found[1])
            out.append(_Item(self.row(key, row, truth, naive, outcome), raw))
        return out

    def populations(
        self, gold: Sequence[NumberedRow], predictions: Sequence[NumberedRow], keys: Sequence[str]
    ) -> list[_Item]:
        """Read every prediction row as one draw of the one prompt; the first record carries them all."""
        truths = [self.truth(row, line, key) for key, (line, row) in zip(keys, gold, strict=True)]
        draws = [(i, self.prediction(row)[1]) for i, (_, row) in enumerate(predictions)]
        items = []
        for i, (key, (_, row), (truth, naive)) in enumerate(zip(keys, gold, truths, strict=True)):
            outcome = aggregate("population", draws, self.answer) if i == 0 and draws else None
            invalid = sum(isinstance(drawn, Failure) for _, drawn in draws) if outcome is not None else 0
            items.append(
                _Item(self.row(key, row, truth, naive, outcome, draws=max(len(draws), 1), invalid_draws=invalid))
            )
        return items

    def row(
        self,
        key: str,
        raw: Row,
        truth: Values,
        naive: Values | None,
        outcome: Parsed | Failure | None,
        *,
        draws: int = 1,
        invalid_draws: int = 0,
    ) -> ScoredRow:
        return ScoredRow(
            record_key=key,
            prediction=outcome.values if isinstance(outcome, Parsed) else None,
            failure=outcome if isinstance(outcome, Failure) else None,
            gold=truth,
            naive=naive,
            group=_text(raw.get("group")),
            cluster=_text(raw.get("cluster")),
            weight=_weight(raw.get("weight"), key, self.records),
            metadata=raw.get("metadata") or {},
            repaired=outcome.repaired if isinstance(outcome, Parsed) else None,
            draws=draws,
            invalid_draws=invalid_draws,
        )

    def truth(self, row: Row, line: int, key: str) -> tuple[Values, Values | None]:
        """Read the true answer and the no-change answer; the latter must be readable only where a metric needs it."""
        gold = self._gold(row, "assistant", "true answer", line, key)
        if not self.naive_needed and row.get("naive_baseline") is None:
            return gold, None
        try:
            return gold, self._gold(row, "naive_baseline", "no-change answer", line, key)
        except ScoreError:
            if self.naive_needed:
                raise
            self.unreadable_baselines += 1
            return gold, None

    def prediction(self, row: Row) -> tuple[JsonValue, Parsed | Failure]:
        """Read one prediction row: what it says, and what that means."""
        if self.field is not None:
            if self.field not in row:
                return None, Failure("request", f"Prediction row has no configured response field {self.field!r}")
            raw = row[self.field]
        else:
            name = next((name for name in FIELDS if name in row), None)
            if name is None:
                accepted = ", ".join(FIELDS)
                return None, Failure("request", f"Prediction row has no response field. Accepted fields: {accepted}")
            raw = row[name]
        return raw, self.parser(Completion(raw), self.answer)

    def _gold(self, row: Row, field: str, what: str, line: int, key: str) -> Values:
        if row.get(field) is None:
            message = f"the record has no {what} ({field!r})"
            raise ScoreError(message, file=self.records, line=line, task=self.task.name, record=key)
        try:
            return parse_gold(self.parser, row[field], self.answer)
        except ScoreError as error:
            raise ScoreError(
                error.message if field == "assistant" else f"{field}: {error.message}",
                file=self.records,
                line=line,
                task=self.task.name,
                record=key,
                hint=error.hint,
            ) from error


def _count_draws(result: dict[str, JsonValue], rows: Sequence[ScoredRow]) -> None:
    """Replace the counts of records by those of draws: a population is answered by draws, not row by row."""
    first = rows[0] if rows else None
    draws = 0 if first is None or (first.prediction is None and first.failure is None) else first.draws
    invalid = 0 if first is None else (draws if first.prediction is None else first.invalid_draws)
    result["num_valid"], result["num_invalid"] = draws - invalid, invalid
    result["valid_response_rate"] = (draws - invalid) / draws if draws else 0.0


def _read_predictions(path: Path) -> Iterable[NumberedRow]:
    return read_jsonl(path, nan=True) if path.suffix.lower() in (".jsonl", ".ndjson") else read_rows(path)


def _text(value: JsonValue) -> str | None:
    return None if value is None else str(value)


def _weight(value: JsonValue, key: str, file: Path) -> float:
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ScoreError(f"the weight {value!r} is no number", file=file, record=key)
    return float(value)


def _listed(values: Values | None) -> JsonValue:
    return None if values is None else [list(value) if isinstance(value, tuple) else value for value in values]


def _json_safe(value: JsonValue) -> JsonValue:
    """Write numbers that JSON does not know as text, in decoded answers."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_safe(item) for item in value]
    return value


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
