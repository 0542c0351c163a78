"""What `hbench ess --format json` wrote, for the site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hbench.ess.findings import Findings, Worth
from hbench.ess.stored_findings import read_findings
from hbench.report.site.figures import Figure
from hbench.report.table import Cell, Column, Table, figure
from hbench.report.worth import notes_of


@dataclass(frozen=True)
class StoredWorth:
    """One file: its name and what was found."""

    name: str
    findings: Findings

    @classmethod
    def read(cls, path: Path) -> StoredWorth:
        """Read a file.

        Raises
        ------
        RunError
            When it is not what `hbench ess --format json` writes, or of another version.
        """
        return cls(path.name, read_findings(path))

    @property
    def notes(self) -> list[str]:
        """What must be said: rows that do not count, what was left out, what went otherwise than asked."""
        return list(notes_of(self.findings))

    @property
    def demo(self) -> bool:
        """Whether any of it is made of synthetic data."""
        return any(worth.data_kind == "demo" for worth in self.findings.worths)


def summary_table(stored: StoredWorth) -> Table:
    """Return what each model is worth over all tasks."""
    heads = ("over", "median N*", "median bound", "smallest", "largest", "sizes tried")
    table = Table("What a model is worth", [Column("model", "left"), Column("algorithm", "left"),
                                            *(Column(head) for head in heads)])  # fmt: skip
    for one in stored.findings.summaries():
        unit = one.unit if one.count == 1 else f"{one.unit}s"
        median, least, largest = (_size(size, one.smallest, one.tried) for size in (one.median, one.least, one.largest))
        table.add([one.model, one.algorithm, f"{one.count:,} {unit}", Cell(median, True), f"≥ {one.median_bound:,}",
                   least, largest, f"{one.smallest:,} to {one.tried:,}"])  # fmt: skip
    return table


def result_table(stored: StoredWorth) -> Table:
    """Return a line for each comparison."""
    heads = ("task", "target", "split", "model", "algorithm", "error of")
    table = Table("Equivalent sample sizes", [*(Column(head, "left") for head in heads), Column("model's"),
                                              Column("rows"), Column("N*"), Column("bound")])  # fmt: skip
    for one in stored.findings.worths:
        bound = one.curve.bound
        table.add([one.task, one.target or "", one.split, one.model, one.algorithm, one.measure,
                   figure(one.model_error()[0]), f"{one.curve.rows:,}", Cell(bound.estimate, True),
                   f"≥ {bound.least:,}"])  # fmt: skip
    return table


def curves(stored: StoredWorth) -> list[Figure]:
    """Return the error curve of each comparison, with the model's error and its equivalent size."""
    return [_curve(one) for one in stored.findings.worths]


def _curve(one: Worth) -> Figure:
    curve, bound = one.curve, one.curve.bound
    points = [[point.size, *one.error(point)] for point in curve.points]
    target = f" {one.target}" if one.target else ""
    title = f"{one.task}{target}, {one.split}: {one.model} against {one.algorithm}"
    sizes = [{"x": bound.least, "label": f"at least {bound.least:,}"}]
    if bound.plug_in is not None:
        sizes.append({"x": bound.plug_in, "label": f"N* {'' if '≤' in bound.estimate else '= '}{bound.estimate}"})
    options = {
        "x": {"label": "human observations", "log": 10},
        "y": {"label": one.measure},
        "level": [one.model, *one.model_error()],
        "sizes": sizes,
        "curve": one.algorithm,
    }
    table = Table(title, [Column(head) for head in ("N", "blocks", one.measure, "from", "to")])
    for point, (_, value, lo, hi) in zip(curve.points, points, strict=True):
        table.add([f"{point.size:,}", f"{point.blocks:,}", figure(value), figure(lo), figure(hi)])
    return Figure(title, "band", options, points, table)


def _size(value: int | None, smallest: int, tried: int) -> str:
    if value is None:
        return f"> {tried:,}"
    return f"≤ {value:,}" if value == smallest > 1 else f"{value:,}"
