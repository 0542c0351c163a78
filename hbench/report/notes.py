"""What must be said beside a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hbench.report.leaderboard import summary_rows
from hbench.run.results import Results

SYNTHETIC = "synthetic data: scores say nothing about households"
_FEW = 3
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
            error = "; ".join(line.strip() for line in about["error"].splitlines())
            yield f"{about['model']} gave up, its scores are of what it had answered: {error}"
        yield from _left_out(result)
        yield from _unsupported(result)
        for about in result.invalid:
            yield _invalid(about)
    yield from _reasons(rows)
    if any(row["invalid"] for row in rows):
        yield STRICT
    for result in results:
        for texts in result.notices.values():
            yield from texts


def _unsupported(result: Results) -> Iterator[str]:
    """Say what was not for a model; one reason for many tasks is said once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for about in result.unsupported:
        alike.setdefault((about["model"], about["reason"]), []).append(f"{about['suite']}/{about['task']}")
    for (model, reason), tasks in alike.items():
        if len(tasks) > _FEW:
            yield f"{len(tasks)} tasks are not for {model}: {reason} (first: {tasks[0]})"
        else:
            yield from (f"{task} is not for {model}: {reason}" for task in tasks)


def _left_out(result: Results) -> Iterator[str]:
    tasks: dict[str, list[str]] = {}
    for about in result.left_out:
        tasks.setdefault(about["reason"], []).append(about["task"])
    for reason, names in tasks.items():
        yield f"left out, {reason}: {', '.join(names)}"


def _reasons(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say why scores are undefined; one reason for many tasks is said once."""
    alike: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["reason"]:
            # The last word of `group:target:reason (and 4 more)` is what tasks have in common.
            kind = str(row["reason"]).partition(" (")[0].rpartition(":")[2]
            alike.setdefault((row["metric"], row["model"], kind), []).append(row)
    for (metric, model, kind), found in alike.items():
        if len(found) > _FEW:
            first = f"{found[0]['suite']}/{found[0]['task']}"
            yield f"{metric}, {model}: {kind} in {len(found)} tasks (first: {first})"
            continue
        for row in found:
            yield f"{row['suite']}/{row['task']} {metric}, {model}: {row['reason']}"


def _invalid(about: Mapping[str, Any]) -> str:
    example = about["example"]
    said = example["text"] if example["text"] is not None else example["detail"]
    place = f"{about['suite']}/{about['task']}"
    return (
        f"{place}, {about['model']}: {about['count']:,} invalid, {about['reason']} "
        f"(first: {example['record']}{f': {said!r}' if said else ''})"
    )
