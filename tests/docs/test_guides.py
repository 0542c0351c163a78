"""Every command of the guides works, in the order in which it stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import Shell, blocks

pytest.importorskip("hatchling")

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "your-survey.md"


@pytest.mark.slow
def test_your_survey(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    said = {block.text: shell.run(block) for block in blocks(GUIDE)}
    everything = "\n".join(said.values())
    assert "no faults" in everything
    assert "You live in a" in everything
    assert "FAILED" not in everything
    # Handed-on records give the scores of the built ones.
    ours, handed = (
        next(text for command, text in said.items() if f"--out runs/{name}\n" in command)
        for name in ("ours", "handed-on")
    )
    scores = [[line for line in text.splitlines() if " mae ↓ " in line] for text in (ours, handed)]
    assert scores[0] == scores[1]
    assert len(scores[0]) == 2
