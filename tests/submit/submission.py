"""A submission's folder, and ways to change it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.submit.check import Checked, check
from tests.interop.kinds import Kinds

TASKS = "spend,move,item,play"


@dataclass
class Submitted:
    """The folder, and what the board has."""

    folder: Path
    kinds: Kinds

    def check(self, **options: Any) -> Checked:
        return check(self.folder, data=[str(self.kinds.data)], include_paths=[self.kinds.tasks], **options)

    def codes(self) -> set[str]:
        checked = self.check()
        assert (checked.entry is None) == bool(checked.refusals)
        return {refusal.code for refusal in checked.refusals}

    @property
    def run(self) -> Path:
        return self.folder / "run"

    def lines(self, task: str, model: str = "told") -> Path:
        return self.run / f"predictions/{model}/kinds__{task}.jsonl"

    def edit(self, name: str, change: Callable[[Any], Any]) -> None:
        """Change a JSON file of the run in place."""
        content = json.loads((self.run / name).read_text())
        change(content)
        (self.run / name).write_text(json.dumps(content))

    def edit_line(self, task: str, number: int, **fields: Any) -> None:
        """Change fields of one prediction."""
        lines = self.lines(task).read_text().splitlines()
        lines[number] = json.dumps(json.loads(lines[number]) | fields)
        self.lines(task).write_text("\n".join(lines) + "\n")
