"""How many rows each step of the sample construction kept."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core import DataError


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """One step.

    Attributes
    ----------
    step : str
        The step's name; the first row is the ``source``.
    note : str
        What it asks for, in words.
    rows : int
        Rows after it.
    dropped : int
        Rows that it dropped.
    details : tuple of (str, int)
        What the dropped rows failed, each counted on its own (a row can fail more than one).
    added : int
        Rows that it added, where it makes several of one (each person with each question, say).
    """

    step: str
    note: str
    rows: int
    dropped: int
    details: tuple[tuple[str, int], ...] = ()
    added: int = 0


class Funnel:
    """The steps in order. Rows before a step, with the added and less the dropped, are the rows after it.

    Raises
    ------
    DataError
        The rows do not add up.
    """

    def __init__(self, rows: Iterable[FunnelRow]) -> None:
        self.rows = tuple(rows)
        for before, after in zip(self.rows, self.rows[1:], strict=False):
            if before.rows + after.added - after.dropped != after.rows or min(after.added, after.dropped) < 0:
                raise DataError(
                    f"the funnel does not add up at the step {after.step!r}: "
                    f"{before.rows:,} before, {after.dropped:,} dropped, {after.rows:,} after"
                )

    def __iter__(self) -> Iterator[FunnelRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Funnel) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the rows as JSON values."""
        return [
            {
                "step": row.step,
                "note": row.note,
                "rows": row.rows,
                "dropped": row.dropped,
                "details": [list(detail) for detail in row.details],
                "added": row.added,
            }
            for row in self.rows
        ]

    @classmethod
    def from_json(cls, rows: Iterable[dict[str, Any]]) -> Funnel:
        """Return the funnel that `to_json` gave."""
        return cls(
            FunnelRow(**{**row, "details": tuple((what, count) for what, count in row["details"])}) for row in rows
        )

    @classmethod
    def read(cls, path: Path) -> Funnel:
        """Read a ``funnel.json``."""
        return cls.from_json(json.loads(path.read_text(encoding="utf-8")))

    def table(self) -> str:
        """Return a line a step: rows after it, rows dropped (or added), what it asks for."""
        lines = []
        for row in self.rows:
            change = f"+{row.added:,}" if row.added else ""
            change += f"-{row.dropped:,}" if row.dropped else ""
            # A note that was made of the step names it already.
            named = row.note.startswith(row.step.replace("_", " ")) or row.note == row.step
            what = row.note if named else f"{row.step}: {row.note}".removesuffix(": ")
            lines.append(f"{row.rows:>13,} {change:>12}  {what}")
        return "\n".join(lines)

    def render(self, *, width: int = 44) -> str:
        """Return a flow diagram in the manner of a CONSORT statement: boxes of kept rows, drops at the side."""
        inner = width - 4
        lines: list[str] = []
        for position, row in enumerate(self.rows):
            if position:
                lines += self._drop(row, width)
            box = [*textwrap.wrap(row.note or row.step, inner), f"{row.rows:,} rows"]
            lines.append("+" + "-" * (width - 2) + "+")
            lines += [f"| {line:<{inner}} |" for line in box]
            lines.append("+" + "-" * (width - 2) + "+")
        return "\n".join(lines)

    @staticmethod
    def _drop(row: FunnelRow, width: int) -> list[str]:
        stem = " " * (width // 2) + "|"
        lines = [stem]
        if row.added:
            lines.append(f"{stem}<-- {row.added:,} added by {row.step}")
        if not row.dropped:
            return lines
        lines.append(f"{stem}--> {row.dropped:,} dropped by {row.step}")
        lines += [f"{stem}      {count:,}: {what}" for what, count in row.details]
        return [*lines, stem]
