"""What `hbench ess --format json` wrote, read again for the site."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

from hbench.core import RunError
from hbench.ess.curve import root
from hbench.ess.findings import VERSION
from hbench.report.site.figures import Figure
from hbench.report.table import Cell, Column, Table, figure

Json = Mapping[str, Any]


@dataclass(frozen=True)
class StoredWorth:
    """One file: its summaries, its comparisons and what must be said of them."""

    name: str
    summaries: list[Json]
    results: list[Json]
    left_out: list[Json]
    notes: list[str]

    @classmethod
    def read(cls, path: Path) -> StoredWorth:
        """Read a file.

        Raises
        ------
        RunError
            When it is not what `hbench ess --format json` writes, or of another version.
        """
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunError(f"the file cannot be read: {error}", file=path) from error
        if not isinstance(stored, dict) or (stored.get("format"), stored.get("version")) != ("hbench ess", VERSION):
            raise RunError(
                f"this is no result of `hbench ess` of version {VERSION}",
                file=path,
                hint="Write it with: hbench ess --run RUN --format json -o FILE",
            )
        return cls(path.name, stored["summaries"], stored["results"], stored["left_out"], stored["notes"])

    @property
    def demo(self) -> bool:
        """Whether any of it is made of synthetic data."""
        return any(result["data_kind"] == "demo" for result in self.results)


def summary_table(worth: StoredWorth) -> Table:
    """Return what each model is worth over all tasks."""
    heads = ("over", "median N*", "median bound", "smallest", "largest", "sizes tried")
    table = Table("What a model is worth", [Column("model", "left"), Column("algorithm", "left"),
                                            *(Column(head) for head in heads)])  # fmt: skip
    for one in worth.summaries:
        tried = one["tried"]
        unit = one["unit"] if one["count"] == 1 else f"{one['unit']}s"
        table.add([one["model"], one["algorithm"], f"{one['count']:,} {unit}", Cell(_size(one["median"], tried), True),
                   f"≥ {one['median_bound']:,}", _size(one["least"], tried), _size(one["largest"], tried),
                   f"{one['smallest']:,} to {tried:,}"])  # fmt: skip
    return table


def result_table(worth: StoredWorth) -> Table:
    """Return a line for each comparison."""
    heads = ("task", "target", "split", "model", "algorithm", "error of")
    table = Table("Equivalent sample sizes", [*(Column(head, "left") for head in heads), Column("model's"),
                                              Column("rows"), Column("N*"), Column("bound")])  # fmt: skip
    for one in worth.results:
        curve, bound = one["curve"], one["curve"]["bound"]
        table.add([one["task"], one["target"] or "", one["split"], one["model"], one["algorithm"], _measure(curve),
                   figure(_interval(one, curve["rule"], curve["rule_se"])[0]), f"{curve['rows']:,}",
                   Cell(_size(bound["plug_in"], bound["largest"]), True), f"≥ {bound['least']:,}"])  # fmt: skip
    return table


def curves(worth: StoredWorth) -> list[Figure]:
    """Return the error curve of each comparison, with the model's error and its equivalent size."""
    return [_curve(one) for one in worth.results]


def _curve(one: Json) -> Figure:
    curve, bound = one["curve"], one["curve"]["bound"]
    points = [[point["size"], *_interval(one, point["error"], point["se"])] for point in curve["points"]]
    target = f" {one['target']}" if one["target"] else ""
    title = f"{one['task']}{target}, {one['split']}: {one['model']} against {one['algorithm']}"
    sizes = [{"x": bound["least"], "label": f"at least {bound['least']:,}"}]
    if bound["plug_in"] is not None:
        sizes.append({"x": bound["plug_in"], "label": f"N* = {bound['plug_in']:,}"})
    options = {
        "x": {"label": "human observations", "log": 10},
        "y": {"label": _measure(curve)},
        "level": [one["model"], *_interval(one, curve["rule"], curve["rule_se"])],
        "sizes": sizes,
        "curve": one["algorithm"],
    }
    table = Table(title, [Column(head) for head in ("N", "blocks", _measure(curve), "from", "to")])
    for point, (_, value, lo, hi) in zip(curve["points"], points, strict=True):
        table.add([f"{point['size']:,}", f"{point['blocks']:,}", figure(value), figure(lo), figure(hi)])
    return Figure(title, "band", options, points, table)


def _measure(curve: Json) -> str:
    return "rmse" if curve["loss"] == "squared" else str(curve["loss"])


def _interval(one: Json, value: float, se: float) -> Sequence[float]:
    curve = one["curve"]
    if curve["loss"] == "squared":
        value, se = root(value, se)
    reach = NormalDist().inv_cdf(1 - curve["bound"]["alpha"] / 2) * se
    return value, value - reach, value + reach


def _size(value: int | None, tried: int) -> str:
    return f"> {tried:,}" if value is None else f"{value:,}"
