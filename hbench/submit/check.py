"""Checking a submission: is it whole, about this data, and worth the scores that it claims."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from hbench.core import SelectionError
from hbench.core.version import __version__
from hbench.data.choice import KINDS, DataChoice
from hbench.run.evaluate import JOURNAL
from hbench.run.manifest import MANIFEST
from hbench.run.opening import open_plan
from hbench.run.plan import Plan
from hbench.run.results import SCORES
from hbench.run.scoring import score_entrant
from hbench.spec.faults import sentences
from hbench.submit.answers import Submitted, read_answers
from hbench.submit.claims import Manifest, check_claims, read_claims
from hbench.submit.comparison import compare_plan, origins
from hbench.submit.entry import Entry, EntryModel, EntryRun, EntryTask, Submission
from hbench.submit.inventory import ABOUT, Inventory, find_secrets, take_inventory
from hbench.submit.journal import SubmittedJournal
from hbench.submit.refusal import Refusal, Refused
from hbench.submit.scores import claimed_rows, compare

if TYPE_CHECKING:
    from hbench.plugin import Registry


@dataclass(frozen=True)
class Checked:
    """What became of a check: an entry, or the reasons why there is none."""

    refusals: tuple[Refusal, ...]
    entry: Entry | None


def check(
    folder: Path,
    *,
    data: Sequence[str] = (),
    include_paths: Sequence[Path] = (),
    registry: Registry | None = None,
    any_version: bool = False,
) -> Checked:
    """Check a submission's folder.

    Tasks and data are the maintainer's: neither paths nor task files of the submission are ever opened.

    Parameters
    ----------
    folder : Path
        One run folder, or a folder of several, with ``submission.json`` beside them.
    data : sequence of str
        ``[SUITE=]KIND`` or a folder; empty: the kinds that the runs name.
    include_paths : sequence of Path
        The maintainer's further folders of tasks.
    registry : Registry or None
        Components (default: those of all installed plugins).
    any_version : bool
        Whether runs of other versions of hbench are taken.

    Returns
    -------
    Checked
        All reasons that were found, not the first only.

    Raises
    ------
    HbenchError
        When the check itself cannot be made: the maintainer's data are absent, say.
    """
    from hbench.plugin import default_registry

    inventory, refusals = take_inventory(folder)
    if any(refusal.code != "foreign_file" for refusal in refusals):
        # Nothing is read of a folder that leads elsewhere or has no end.
        return Checked(tuple(refusals), None)
    refusals += find_secrets(inventory)
    checker = _Checker(
        inventory, [DataChoice.parse(one) for one in data], list(include_paths), registry or default_registry(),
        None if any_version else __version__,
    )  # fmt: skip
    runs, notices, about = [], [], Submission()
    try:
        about = _submission(inventory)
    except Refused as refused:
        refusals.append(refused.refusal)
    for run in inventory.runs:
        try:
            made, found, texts = checker.run(run, about)
        except Refused as refused:
            refusals.append(refused.refusal)
            continue
        refusals += found
        runs.append(made)
        notices += texts
    labels = {model.label for made in runs for model in made.models}
    if len(runs) == len(inventory.runs):
        refusals += [
            Refusal("identity", ABOUT, f"no run has a model {label!r}") for label in about.models if label not in labels
        ]
    if refusals:
        return Checked(tuple(refusals), None)
    entry = Entry(
        hbench=__version__,
        submission=about,
        synthetic=any(task.data == "demo" for run in runs for task in run.tasks.values()),
        notices=tuple(dict.fromkeys(notices)),
        runs=tuple(runs),
        files=inventory.digests(),
    )
    return Checked((), entry)


def _submission(inventory: Inventory) -> Submission:
    file = inventory.files.get(ABOUT)
    if file is None:
        return Submission()
    try:
        return Submission.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise Refused("malformed", ABOUT, "; ".join(sentences(error, Submission))) from error


@dataclass(frozen=True)
class _Checker:
    """The maintainer's side of a check."""

    inventory: Inventory
    choices: list[DataChoice]
    include_paths: list[Path]
    registry: Registry
    version: str | None

    def run(self, run: str, about: Submission) -> tuple[EntryRun, list[Refusal], list[str]]:
        """Check one run; what cannot be read on ends with `Refused`."""
        start = f"{run}/" if run else ""
        files = self.inventory.of(run)
        place = f"{start}{MANIFEST}"
        claims = read_claims(files[MANIFEST], place)
        found = check_claims(claims, place, version=self.version)
        plan, notices = self._plan(claims, place)
        found += compare_plan(claims, plan, place)
        found += origins(claims, about, place)
        if any(refusal.code in ("malformed", "data", "spec", "version") for refusal in found):
            # Answers to other questions cannot be scored, and every further word would be about the same fault.
            return _entry(run, claims, plan, about, []), found, []
        journal = SubmittedJournal(files[JOURNAL], f"{start}{JOURNAL}") if JOURNAL in files else None
        if journal is not None and journal.secrets:
            found.append(Refusal("secret", journal.place, f"{journal.secrets} errors hold what looks like a key"))
        rows: list[dict[str, Any]] = []
        for submitted, entrant, planned, name in self._answers(claims, plan, files, start, found):
            if journal is not None:
                found += journal.differences(submitted.by_key, name)
            for part in score_entrant(planned, entrant, submitted, registry=self.registry):
                rows += [score.as_row() for score in part.scores]
        if SCORES not in files:
            raise Refused("malformed", f"{start}{SCORES}", "the run has no scores")
        found += compare(claimed_rows(files[SCORES].parent, start), rows, f"{start}{SCORES}")
        texts = [text for suite in notices.values() for text in suite]
        return _entry(run, claims, plan, about, rows), found, texts

    def _plan(self, claims: Manifest, place: str) -> tuple[Plan, dict[str, tuple[str, ...]]]:
        from dataclasses import replace

        choices = list(self.choices)
        if not choices:
            for name in claims.tasks:
                kind = claims.data[name].kind if name in claims.data else ""
                if kind in KINDS:
                    choices.append(DataChoice(kind, name.partition("/")[0]))
        settings = replace(claims.chosen(), limit=None, splits=())
        try:
            return open_plan(
                list(claims.tasks), choices, settings, registry=self.registry, include_paths=self.include_paths
            )
        except SelectionError as error:
            raise Refused("task", place, f"{error.message} (a task that this board does not have?)") from error

    def _answers(
        self, claims: Manifest, plan: Plan, files: dict[str, Path], start: str, found: list[Refusal]
    ) -> Iterator[tuple[Submitted, Any, Any, str]]:
        expected = set()
        for planned in plan.tasks:
            for entrant in claims.entrants():
                name = f"predictions/{entrant.slug}/{planned.name.replace('/', '__')}.jsonl"
                if planned.name in entrant.unsupported:
                    continue
                expected.add(name)
                if name not in files:
                    found.append(Refusal("missing_answers", f"{start}{name}", "the file is not there"))
                    continue
                submitted, odd = read_answers(planned, entrant, files[name], f"{start}{name}", registry=self.registry)
                found += odd
                yield submitted, entrant, planned, f"{start}{name}"
        found += [
            Refusal("foreign_file", f"{start}{name}", "the run has no such model or task")
            for name in files
            if name.startswith("predictions/") and name not in expected
        ]


def _entry(run: str, claims: Manifest, plan: Plan, about: Submission, rows: list[dict[str, Any]]) -> EntryRun:
    return EntryRun(
        folder=run,
        plan=claims.plan,
        settings=json.loads(json.dumps(claims.settings)),
        tasks={
            planned.name: EntryTask(
                data=planned.data.kind,
                fingerprint=planned.data.fingerprint,
                spec=planned.spec_fingerprint,
                splits=planned.splits,
                draws=planned.draws,
            )
            for planned in plan.tasks
        },
        models=tuple(
            EntryModel(
                label=model.label,
                name=about.models[model.label].name if model.label in about.models else model.label,
                identity=model.identity,
                sampling=model.sampling,
                family=model.family,
                key=model.key,
                unsupported=model.unsupported,
                url=about.models[model.label].url if model.label in about.models else None,
                notes=about.models[model.label].notes if model.label in about.models else None,
            )
            for model in claims.models
        ),
        scores=tuple(row for row in rows if row["group"] is None),
    )
