"""What must be said beside a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hbench.report.leaderboard import summary_rows
from hbench.run.results import Results

SYNTHETIC = "synthetic data: scores say nothing about households"
STRICT = (
    "strict: an invalid answer counts as the no-change answer, else as the training set's best constant, else as wrong"
)


def notes(results: Sequence[Results]) -> list[str]:
    """Return the notes of some runs' results, most important first."""
    rows = summary_rows(row for result in results for row in result.rows)
    return list(dict.fromkeys(_all(results, rows)))


def _all(results: Sequence[Results], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    kinds = list(dict.fromkeys(row["data_kind"] for row in rows))
    if "demo" in kinds:
        yield SYNTHETIC if len(kinds) == 1 else f"{SYNTHETIC} (those of data kind demo)"
    if kinds:
        yield f"data: {', '.join(kinds)}"
    for result in results:
        for about in result.gave_up:
            yield f"{about['model']} gave up, its scores are of what it had answered: {about['error']}"
        for about in result.unsupported:
            yield f"{about['suite']}/{about['task']} is not for {about['model']}: {about['reason']}"
        for about in result.invalid:
            yield _invalid(about)
    for row in rows:
        if row["reason"]:
            yield f"{row['suite']}/{row['task']} {row['metric']}, {row['model']}: {row['reason']}"
    if any(row["invalid"] for row in rows):
        yield STRICT
    for result in results:
        for texts in result.notices.values():
            yield from texts


def _invalid(about: Mapping[str, Any]) -> str:
    example = about["example"]
    said = example["text"] if example["text"] is not None else example["detail"]
    place = f"{about['suite']}/{about['task']}"
    return (
        f"{place}, {about['model']}: {about['count']:,} invalid, {about['reason']} "
        f"(first: {example['record']}{f': {said!r}' if said else ''})"
    )
