"""`hbench check`: the conformance kit on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.options import INCLUDE_PATHS, JSON
from hbench.cli.terminal import say, say_json

if TYPE_CHECKING:
    from hbench.testing import Verdict

_MARKS = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}


@click.group("check")
def command() -> None:
    """Check a suite with the conformance kit."""


@command.command("suite")
@click.argument("name")
@click.option("--data", multiple=True, metavar="[SUITE=]KIND", help="Data to check, as for `eval`.")
@click.option(
    "--rows",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Fixture rows, TASK.json, in place of data that cannot be had.",
)
@click.option("--only", multiple=True, metavar="CHECK", help="This check only; repeatable.")
@JSON
@INCLUDE_PATHS
def suite(
    name: str,
    data: Sequence[str],
    rows: Path | None,
    only: Sequence[str],
    as_json: bool,
    include_paths: Sequence[Path],
) -> None:
    """Check the suite NAME. Exits with 1 if a check fails."""
    from hbench.testing import SuiteUnderTest, check_suite

    subject = SuiteUnderTest(name, include_paths=include_paths, data=data, rows=rows)
    failed = False
    verdicts = []
    for verdict in check_suite(subject, only=only):
        failed = failed or verdict.status == "failed"
        verdicts.append(verdict)
        if not as_json:
            say(_lines(verdict))
    if as_json:
        say_json([_row(verdict) for verdict in verdicts])
    if failed:
        raise click.exceptions.Exit(1)


def _lines(verdict: Verdict) -> str:
    head = f"{_MARKS[verdict.status]:<8}{verdict.check.name:<12}{verdict.check.demand}"
    lines = [head, *(indent(fault, " " * 8) for fault in verdict.faults)]
    if verdict.gaps:
        example = verdict.gaps[0].splitlines()[0]
        others = f" (and {len(verdict.gaps) - 1} more)" if len(verdict.gaps) > 1 else ""
        lines.append(f"{'':<8}not checked: {example}{others}")
    return "\n".join(lines)


def _row(verdict: Verdict) -> dict[str, Any]:
    return {
        "check": verdict.check.name,
        "demand": verdict.check.demand,
        "status": verdict.status,
        "checked": verdict.checked,
        "faults": verdict.faults,
        "not_checked": verdict.gaps,
    }
