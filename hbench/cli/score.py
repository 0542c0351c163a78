"""`hbench score`: score a prediction file without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.options import INCLUDE_PATHS, REPAIR_NESTING, REPAIR_NUMBERS
from hbench.cli.terminal import say

if TYPE_CHECKING:
    from hbench.spec.task import Task

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("score")
@click.option("--tasks", "expression", required=True, metavar="TASK", help="The task that the records belong to.")
@click.option("--records", required=True, type=FILE, help="True answers (JSON Lines, CSV or Parquet).")
@click.option("--predictions", required=True, type=FILE, help="Predictions, named by id and time as the records are.")
@click.option("--prediction-field", metavar="FIELD", help="Field of the prediction rows that holds the answer.")
@REPAIR_NUMBERS
@REPAIR_NESTING
@click.option("--weights", is_flag=True, help="Weight rows by their survey weights.")
@click.option(
    "--json",
    "target",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write the result as JSON; - for standard output.",
)
@click.option("--no-details", is_flag=True, help="Leave the single rows out of the JSON.")
@click.option(
    "--max-invalid",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with 1 above this share of invalid answers.",
)
@INCLUDE_PATHS
def command(
    expression: str,
    records: Path,
    predictions: Path,
    prediction_field: str | None,
    repair_numbers: bool,
    repair_nesting: bool,
    weights: bool,
    target: str | None,
    no_details: bool,
    max_invalid: float | None,
    include_paths: Sequence[Path],
) -> None:
    """Score PREDICTIONS against RECORDS.

    An answer that cannot be read is left out, counted and named; the strict score counts it as the no-change answer.
    """
    from hbench.core import DataError
    from hbench.run.score_files import score_files

    repairs = [name for name, wanted in (("numbers", repair_numbers), ("nesting", repair_nesting)) if wanted]
    result = score_files(
        one_task(expression, include_paths),
        records,
        predictions,
        repairs=repairs,
        prediction_field=prediction_field,
        details=not no_details,
        weights=weights,
        model=predictions.stem,
    )
    if not result["num_examples"]:
        raise DataError("the file holds no records", file=records, hint="One record a line, each with a true answer.")
    if target is not None:
        from hbench.core.legible import json_text

        with click.open_file(target, "w", encoding="utf-8") as stream:
            stream.write(json_text(result) + "\n")
    if target != "-":
        say(summary(result))
    share = 1 - result["valid_response_rate"]
    if max_invalid is not None and share > max_invalid:
        say(f"{share:.1%} of the answers are invalid; {max_invalid:.1%} are allowed.", err=True)
        raise click.exceptions.Exit(1)


def one_task(expression: str, include_paths: Sequence[Path]) -> Task:
    """Return the one task that the expression selects."""
    from hbench.core import SelectionError
    from hbench.spec import discover

    entries = discover(include_paths).select(expression)
    if len(entries) != 1:
        names = ", ".join(entry.name for entry in entries[:5])
        raise SelectionError(
            f"{len(entries)} tasks are selected ({names}), and one file holds one", hint="name one task"
        )
    return entries[0].load()


def summary(result: Mapping[str, Any]) -> str:
    """Return a table of the scores, the counts, and the reasons of invalid answers."""
    lines = [
        f"{result['suite']}/{result['task']}: {result['num_examples']} records, {result['num_valid']} valid answers "
        f"({result['valid_response_rate']:.1%}), {result['num_repaired']} repaired"
    ]
    shown = [score for score in result["scores"] if score["group"] is None]
    several = len({score["target"] for score in shown}) > 2
    table = [("metric", "target", "value", "strict", "policy")]
    table += [
        (
            score["metric"],
            score["target"] or "(task)",
            _figure(score["value"]),
            _figure(score["strict_value"]),
            score["policy"],
        )
        for score in shown
        if several or score["target"] is None or not _repeats(score, shown)
    ]
    widths = [max(len(row[i]) for row in table) for i in range(5)]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    lines += [f"{score['metric']}: {score['reason']}" for score in shown if score["reason"] and score["target"] is None]
    if result["error_counts"]:
        lines.append("invalid answers:")
        ordered = sorted(result["error_counts"].items(), key=lambda pair: (-pair[1], pair[0]))
        lines += [f"{count:>7}  {reason}" for reason, count in ordered]
    if result["num_extra_predictions"]:
        lines.append(f"{result['num_extra_predictions']} predictions belong to no record")
    return "\n".join(lines)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _repeats(score: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether a target's row only repeats its task's."""
    return any(
        other["target"] is None and (other["metric"], other["level"]) == (score["metric"], score["level"])
        for other in shown
    )
