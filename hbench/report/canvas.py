"""What figures share: colours and marks that colour-blind readers can tell apart, panels, whiskers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core.legible import visible
from hbench.report.analyses import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
"""Okabe and Ito's palette. Models beyond it repeat colours with other marks."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCH = "///"
STYLE: Any = {
    "svg.hashsalt": "hbench",  # fixed ids: the same numbers give the same file
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # a label is text, dollars and all
}
ORDER: ContextVar[tuple[str, ...]] = ContextVar("ORDER", default=())
"""The models of the comparison that is drawn, so that one keeps its colour in all figures."""


@contextmanager
def panels(count: int, height: float, width: float = 4.0) -> Iterator[tuple[Figure, list[Any]]]:
    """Make a figure of some panels side by side, without the global state of pyplot."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * count, height), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0]
    yield figure, list(axes)


def distinct(rows: Sequence[Row], *names: str) -> list[Any]:
    """Return the distinct values of some columns, in order of appearance."""
    found = dict.fromkeys(tuple(row[name] for name in names) for row in rows)
    return [key[0] for key in found] if len(names) == 1 else list(found)


def matching(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """Return the rows with some values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def style(models: Sequence[str], model: str) -> dict[str, Any]:
    """Return a model's colour and mark."""
    order = ORDER.get()
    place = order.index(model) if model in order else list(models).index(model)
    mark = MARKS[(place // len(COLOURS) + place) % len(MARKS)]
    return {"color": COLOURS[place % len(COLOURS)], "marker": mark}


def whisker(row: Row, value: str = "value") -> list[list[float]] | None:
    """Return how far the interval reaches below and above a value, or None."""
    prefix = "" if value == "value" else f"{value}_"
    low, high = row[f"{prefix}lo"], row[f"{prefix}hi"]
    if low is None or high is None or row[value] is None:
        return None
    # A basic interval may lie beside its estimate; a whisker cannot be negative.
    return [[max(0.0, row[value] - low)], [max(0.0, high - row[value])]]


def drawable(rows: Sequence[Row]) -> list[Row]:
    """Return rows whose texts can be drawn: names hold anything, and a control character is no XML."""
    return [{name: visible(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]


def slug(*parts: str) -> str:
    """Return the end of a file name."""
    return "".join(f"-{part}" for part in parts if part)


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as SVG and PNG; names of models and groups may hold anything."""
    safe = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name)
    if len(safe.encode()) > 200:
        safe = f"{safe[:50]}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"
    written = []
    for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        path = folder / f"{safe}.{ending}"
        figure.savefig(path, bbox_inches="tight", dpi=200, metadata=metadata)
        written.append(path)
    return written
