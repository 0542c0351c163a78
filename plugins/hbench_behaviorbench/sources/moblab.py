"""Logs of the economic games that were played on MobLab."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hbench.core import BuildReport, DataError, RawFile
from hbench_behaviorbench.joint import JOINT, first_moves, joint_moves
from hbench_behaviorbench.logs import FOLDER, LOGS
from hbench_behaviorbench.plays import decisions, play_by_play


class MobLab:
    """One file of moves a game, rows in the order of play.

    Each game whose file is there becomes a panel ``GAME.parquet`` of the moves that pass the paper's four-level filter
    (appendix B.2), in file order: ``user_id``, ``play`` (number of the user's play of this game, from 1), ``round``
    (from 1), the game's decisions, and ``others`` where the other players' moves are known. What each level leaves is
    counted as ``GAME.L1`` to ``GAME.L4``.

    Two panels hold one row per user, with the first move in every game that the user played (null otherwise):
    ``first_moves.parquet`` of the logs' users, ``joint.parquet`` of the joint file's, who have other ids.

    The paper drops the rounds after an invalid one "of the same subject"; the published data show that only those of
    the same *play* went. `later_rounds_of` chooses, and both counts are reported (``GAME.L1.play`` and
    ``GAME.L1.subject``).
    """

    later_rounds_of: Literal["play", "subject"] = "play"

    @property
    def files(self) -> tuple[RawFile, ...]:
        """All games' files; each is needed for its own game only."""
        logs = {log.file: RawFile(f"{FOLDER}/{log.file}", log.origin, log.terms, required=False) for log in LOGS}
        return (*logs.values(), JOINT)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write a panel for every game whose file is in the raw folder.

        Raises
        ------
        DataError
            No game's file is there, or one is malformed.
        """
        present = [log for log in LOGS if (raw / FOLDER / log.file).exists()]
        joint = (raw / JOINT.path).exists()
        if not present and not joint:
            raise DataError(
                "none of the games' files is there",
                file=raw / FOLDER,
                hint=f"Put {LOGS[0].file} from {LOGS[0].origin} there.",
            )
        out.mkdir(parents=True, exist_ok=True)
        panels = {
            log.name: play_by_play(decisions(raw, log, report), log, report, later_rounds_of=self.later_rounds_of)
            for log in present
        }
        if panels:
            panels["first_moves"] = first_moves(panels)
        for name, panel in panels.items():
            panel.write_parquet(out / f"{name}.parquet")
        if joint:
            joint_moves(raw, report).write_parquet(out / "joint.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write synthetic logs in the files' layouts; see `hbench_behaviorbench.demo.moblab`."""
        from hbench_behaviorbench.demo.moblab import write

        write(raw, seed=seed, scale=scale)


class MobLabBySubject(MobLab):
    """The same logs under the paper's wording: an invalid record ends the subject's part in the game."""

    later_rounds_of = "subject"
