"""What `hbench show RUN` shows: a run's manifest in short, and single records with their answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.cli.terminal import say

if TYPE_CHECKING:
    from hbench.core import Outcome, Parser
    from hbench.run.entrant import Entrant
    from hbench.run.journal import Journal
    from hbench.run.plan import PlannedTask, Question


def is_run(path: Path) -> bool:
    """Say whether a folder is a run."""
    return (path / "manifest.json").is_file()


def show(
    path: Path, *, number: int | None = None, prompt: bool = False, task: str | None = None, model: str | None = None
) -> None:
    """Print a run, or one of its records.

    Parameters
    ----------
    path : Path
        The run's folder.
    number : int or None
        Number of a record within its task, from 1; None: the manifest's summary.
    prompt : bool
        The record's prompt only.
    task, model : str or None
        Which task and which model (default: the first task, all models).

    Raises
    ------
    RunError, SelectionError
        When the folder is no run, or has no such task, model or record.
    """
    if number is None and not prompt:
        _summary(path)
    else:
        _record(path, number or 1, task, model, prompt=prompt)


def _summary(path: Path) -> None:
    from hbench.cli.show_fits import fit_lines
    from hbench.run.fits import read_reports
    from hbench.run.manifest import entrants_of, read_manifest

    manifest = read_manifest(path)
    settings = {key: value for key, value in manifest["settings"].items() if value not in (None, [])}
    say(f"Run {path}: {manifest['status']}")
    say(f"  started   {manifest['started']}, finished {manifest['finished'] or '-'}")
    say(f"  command   {' '.join(manifest['command'])}")
    say(f"  settings  {', '.join(f'{key}={value}' for key, value in settings.items())}")
    versions = manifest["versions"]
    say(f"  hbench    {versions['hbench']}, Python {versions['python']}, {versions['system']}")
    for plugin in manifest["plugins"]:
        say(f"  plugin    {plugin['name']} ({plugin['distribution']} {plugin['version']}, {plugin['status']})")
    for name, about in manifest["data"].items():
        say(f"  task      {name}: {about['kind']} data {about['fingerprint'][:12]}, {', '.join(about['splits'])}")
    for about in manifest.get("left_out", ()):
        say(f"  left out  {about['task']}: {about['reason']}")
    for about in manifest["models"]:
        say(f"  model     {about['label']}{_spent(about.get('spent'))}")
        for name, reason in about["unsupported"].items():
            say(f"            not for {name}: {reason}")
    for entrant in entrants_of(manifest):
        for line in fit_lines(entrant.label, read_reports(path, entrant)):
            say(line)
    say("\nOne record with its answers: hbench show RUN --record N [--task T] [--model M]")


def _spent(spent: dict[str, Any] | None) -> str:
    if spent is None:
        return ""
    cost = "" if spent["cost"] is None else f", ${spent['cost']:,.4f}"
    tokens = f", {spent['tokens_in']:,} + {spent['tokens_out']:,} tokens" if spent["tokens_in"] else ""
    return f": {spent['answers']:,} answers{tokens}{cost}"


def _record(path: Path, number: int, task: str | None, model: str | None, *, prompt: bool) -> None:
    from hbench.core import SelectionError
    from hbench.plugin import default_registry
    from hbench.run.context import parser_of
    from hbench.run.evaluate import JOURNAL
    from hbench.run.journal import Journal
    from hbench.run.manifest import entrants_of, read_manifest
    from hbench.run.rescore import reopen

    plan, _, registry = reopen(path, registry=default_registry())
    names = [planned.name for planned in plan.tasks]
    chosen = [planned for planned in plan.tasks if task in (None, planned.name, planned.task.task)]
    if not chosen:
        raise SelectionError(f"the run has no task {task!r}", hint=f"It has {', '.join(names)}.")
    entrants = [entrant for entrant in entrants_of(read_manifest(path)) if model in (None, entrant.label)]
    if not entrants:
        labels = ", ".join(entrant.label for entrant in entrants_of(read_manifest(path)))
        raise SelectionError(f"the run has no model {model!r}", hint=f"It has {labels}.")
    planned = chosen[0]
    split, question = _find(planned, number)
    say(f"{planned.name}, record {number} ({split}): {question.record.key}")
    for message in question.record.messages:
        say(f"\n--- {message.role}\n{message.content}")
    if prompt:
        return
    say(f"\n--- true answer\n{question.record.gold}")
    if question.record.naive is not None:
        say(f"no change: {question.record.naive}")
    parser = parser_of(planned.task, registry)
    journal = Journal(path / JOURNAL, reading=True)
    try:
        for entrant in entrants:
            _answers(planned, question, entrant, journal, parser)
    finally:
        journal.close()


def _find(planned: PlannedTask, number: int) -> tuple[str, Question]:
    from hbench.core import SelectionError

    count = 0
    first: dict[object, Question] = {}
    for split, question in planned.questions():
        count += 1
        if planned.population and question.asked:
            first[split, question.record.messages] = question
        if count == number:
            if not question.asked:
                # The answers to a population's prompt are kept under its first record.
                asked = first[split, question.record.messages]
                return split, asked
            return split, question
    raise SelectionError(f"the task has {count:,} records here; there is no number {number}", task=planned.name)


def _answers(planned: PlannedTask, question: Question, entrant: Entrant, journal: Journal, parser: Parser) -> None:
    say(f"\n--- {entrant.label}")
    reason = entrant.unsupported.get(planned.name)
    if reason is not None:
        say(f"not for this model: {reason}")
        return
    key = entrant.key(planned.request(question, entrant.sampling, ()))
    known: dict[int, Outcome] = journal.outcomes([key]).get(key, {})
    for draw in range(planned.draws):
        _draw(draw, known.get(draw), planned, parser)


def _draw(draw: int, outcome: Outcome | None, planned: PlannedTask, parser: Parser) -> None:
    from hbench.core import Completion, Parsed

    if outcome is None:
        say(f"draw {draw}: not answered")
    elif not isinstance(outcome, Completion):
        say(f"draw {draw}: failed: {outcome.reason} {outcome.detail}")
    else:
        if outcome.reasoning:
            say(f"draw {draw} reasoning: {outcome.reasoning}")
        say(f"draw {draw}: {outcome.text}")
        result = parser(outcome, planned.answer)
        if isinstance(result, Parsed):
            repaired = f" (repaired: {result.repaired})" if result.repaired else ""
            say(f"  read as {', '.join(str(value) for value in result.values)}{repaired}")
        else:
            say(f"  cannot be read: {result.reason} {result.detail}".rstrip())
