"""The results of a run as they are stored: versioned tidy rows, and what a reader must know besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import JsonValue, RunError, ScoreError
from hbench.core.errors import foreign
from hbench.run.entrant import Entrant
from hbench.run.folder import RunFolder, read_json
from hbench.run.journal import Journal
from hbench.run.plan import Plan
from hbench.run.predictions import prediction_file

if TYPE_CHECKING:
    from hbench.plugin import Registry

VERSION = 1
SCORES = "scores.json"
_KEPT = "All answers are in the journal: once this is mended, `hbench rescore RUN` reads them again."


@dataclass(frozen=True)
class Results:
    """What came of a run.

    Attributes
    ----------
    rows : list of dict
        One score each, as `hbench.metric.Score.as_row` gives it.
    invalid : list of dict
        Invalid draws by suite, task, split, model and reason, with a count and an example.
    unsupported : list of dict
        Tasks that a model cannot do, with the reason.
    left_out : list of dict
        Tasks that were named and whose data are not there, with the reason.
    gave_up : list of dict
        Models that ended before they had answered all.
    notices : dict
        Texts that data providers require to be shown, by suite.
    """

    rows: list[dict[str, JsonValue]] = field(default_factory=list)
    invalid: list[dict[str, JsonValue]] = field(default_factory=list)
    unsupported: list[dict[str, JsonValue]] = field(default_factory=list)
    left_out: list[dict[str, JsonValue]] = field(default_factory=list)
    gave_up: list[dict[str, JsonValue]] = field(default_factory=list)
    notices: dict[str, list[str]] = field(default_factory=dict)

    def dump(self) -> dict[str, JsonValue]:
        """Return the results as they are stored."""
        return {"format": "hbench scores", "version": VERSION, **self.__dict__}

    @classmethod
    def load(cls, folder: Path) -> Results:
        """Read the results of a run.

        Raises
        ------
        RunError
            When there are none, or they have another version.
        """
        stored = read_json(folder, SCORES)
        if not isinstance(stored, dict) or stored.get("version") != VERSION:
            raise RunError(
                f"the scores do not have version {VERSION}",
                file=folder / SCORES,
                hint="Make them anew with: hbench rescore RUN",
            )
        return cls(**{name: stored[name] for name in cls.__dataclass_fields__ if name in stored})

    def invalid_share(self) -> dict[tuple[str, str, str], float]:
        """Return the share of invalid answers by task, split and model."""
        return {
            (f"{row['suite']}/{row['task']}", row["split"], row["model"]): row["invalid"] / row["n"]
            if row["n"]
            else 0.0
            for row in self.rows
            if row["target"] is None and row["group"] is None
        }


def score_run(
    plan: Plan,
    entrants: Sequence[Entrant],
    journal: Journal,
    folder: RunFolder,
    *,
    registry: Registry,
    gave_up: Mapping[str, str],
    notices: Mapping[str, Sequence[str]],
) -> Results:
    """Score all that the journal holds, and write predictions and scores."""
    from hbench.run.scoring import score_entrant  # numpy is not needed before

    results = Results(
        left_out=[asdict(one) for one in plan.left_out],
        gave_up=[{"model": label, "error": error} for label, error in gave_up.items()],
        notices={suite: list(texts) for suite, texts in notices.items() if texts},
    )
    for planned in plan.tasks:
        about = {"suite": planned.task.suite, "task": planned.task.task}
        for entrant in entrants:
            reason = entrant.unsupported.get(planned.name)
            if reason is not None:
                results.unsupported.append({**about, "model": entrant.label, "reason": reason})
                continue
            with ExitStack() as stack:
                stack.enter_context(foreign(f"scoring {entrant.label}", ScoreError, task=planned.name, hint=_KEPT))
                predictions = stack.enter_context(prediction_file(folder.path, entrant.slug, planned.name))
                for part in score_entrant(planned, entrant, journal, registry=registry, predictions=predictions):
                    results.rows.extend(score.as_row() for score in part.scores)
                    results.invalid.extend(
                        {
                            **about,
                            "split": part.split,
                            "model": entrant.label,
                            "reason": reason,
                            "count": count,
                            "example": part.tally.examples[reason],
                        }
                        for reason, count in sorted(part.tally.counts.items(), key=lambda item: (-item[1], item[0]))
                    )
    folder.write(SCORES, results.dump())
    return results
