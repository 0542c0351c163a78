"""Equivalent sample sizes as tables for people."""

from __future__ import annotations

from collections.abc import Iterator

from hbench.ess.findings import Findings, Worth
from hbench.report.table import Cell, Column, Table, figure
from hbench.report.writers import Document

NO_BOUND = "balanced accuracy and macro-F1 are no means over rows: the theory gives no bound for them"


def worth_document(findings: Findings, *, curves: bool = True) -> Document:
    """Return a summary over tasks, a line a comparison, and a table of the curve of each."""
    tables = [_summary(findings), _results(findings)]
    if curves:
        tables += [_curve(worth) for worth in findings.worths]
    return Document(tables, findings.rows(), list(notes_of(findings)))


def _summary(findings: Findings) -> Table:
    table = Table("What a model is worth", [Column("", "left")])
    for summary in findings.summaries():
        table.add([str(summary)])
    return table


def _results(findings: Findings) -> Table:
    heads = ("task", "target", "split", "model", "algorithm")
    columns = [*(Column(head, "left") for head in heads), Column("error of"), Column("model"), Column("interval")]
    table = Table("Equivalent sample sizes", [*columns, Column("rows"), Column("N*"), Column("bound")])
    for worth in findings.worths:
        error, lo, hi = worth.model_error()
        bound = worth.curve.bound
        table.add(
            [
                worth.task,
                worth.target or "",
                worth.split,
                worth.model,
                worth.algorithm,
                worth.measure,
                figure(error),
                f"{figure(lo)} to {figure(hi)}",
                f"{worth.curve.rows:,}",
                Cell(bound.estimate, best=True),
                f"≥ {bound.least:,}",
            ]
        )
    return table


def _curve(worth: Worth) -> Table:
    classes = bool(worth.curve.points and worth.curve.points[0].agreement)
    heads = ["N", "blocks", worth.measure, "interval", "loss - model's", "its lower bound"]
    heads += ["balanced accuracy", "model's", "macro-F1", "model's"] if classes else []
    table = Table(_name(worth), [Column(head) for head in heads])
    for point in worth.curve.points:
        error, lo, hi = worth.error(point)
        cells = [
            f"{point.size:,}",
            f"{point.blocks:,}",
            figure(error),
            f"{figure(lo)} to {figure(hi)}",
            figure(point.difference),
            figure(point.lower_bound(worth.curve.bound.alpha)),
        ]
        cells += [figure(value) for pair in point.agreement.values() for value in pair]
        table.add(cells)
    return table


def _name(worth: Worth) -> str:
    target = f" {worth.target}" if worth.target else ""
    return f"{worth.task}{target} ({worth.split}): {worth.model} against {worth.algorithm}"


def notes_of(findings: Findings) -> Iterator[str]:
    """Yield what must be said: rows that do not count, what was left out, what went otherwise than asked."""
    yield from dict.fromkeys(findings.notes)
    if any(point.agreement for worth in findings.worths for point in worth.curve.points):
        yield NO_BOUND
    for worth in findings.worths:
        curve = worth.curve
        for count, what in (
            (curve.unanswered, "rows have no answer of the model and count on neither side"),
            (curve.without_outcome, "rows have no true answer and count on neither side"),
            (curve.training_without_outcome, "training rows have no true answer"),
        ):
            if count:
                yield f"{_name(worth)}: {count:,} {what}"
        yield from (f"{_name(worth)}: {note}" for note in curve.notes)
        told: dict[str, list[str]] = {}
        for point in curve.points:
            for note in point.notes:
                told.setdefault(note, []).append(f"{point.size:,}")
        yield from (f"{_name(worth)}, N = {', '.join(sizes)}: {note}" for note, sizes in told.items())
    for one in findings.left_out:
        about = ", ".join(filter(None, (one.task, one.model, one.algorithm)))
        yield f"{about}: left out: {one.reason}"
