"""Entries joined into the rows of a board."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hbench.core import DataError
from hbench.data.files import atomic_file
from hbench.report.writers import document, write
from hbench.run.results import Results
from hbench.spec.faults import sentences
from hbench.submit.entry import Entry, EntryModel, EntryRun

VERSION = 1
Row = dict[str, Any]


@dataclass(frozen=True)
class Board:
    """All entries of a board.

    Attributes
    ----------
    rows : list of dict
        Tidy rows, as `hbench report --format json` has them, with ``entry`` and ``name``; `model` is unique.
    models : list of dict
        Each model once: label, name, who submitted it, its identity and the settings that its answers were read by.
    notices : list of str
        Texts that data providers require to be shown.
    repeated : int
        Rows that an earlier entry holds already: the same model, asked and scored alike (a baseline, mostly).
    """

    rows: list[Row]
    models: list[Row]
    notices: list[str]
    repeated: int


def read_entries(folder: Path) -> dict[str, Entry]:
    """Read all entries below a folder, by their files' names without ending.

    Raises
    ------
    DataError
        When there are none, one is malformed, or two have one name.
    """
    entries: dict[str, Entry] = {}
    for file in sorted(folder.rglob("*.json")):
        try:
            entry = Entry.model_validate_json(file.read_bytes())
        except ValidationError as error:
            raise DataError(
                f"it is no entry of a board: {sentences(error, Entry)[0]}",
                file=file,
                hint="`hbench submit check DIR --entry FILE` writes entries.",
            ) from error
        if file.stem in entries:
            raise DataError(f"two entries are called {file.stem!r}", file=file)
        entries[file.stem] = entry
    if not entries:
        raise DataError("there are no entries", file=folder, hint="`hbench submit check DIR --entry FILE` writes them.")
    return entries


def join(entries: Mapping[str, Entry]) -> Board:
    """Join entries, in the order of their names.

    Raises
    ------
    DataError
        When two entries were scored on different data of one task: their scores cannot be compared.
    """
    _check_data(entries)
    labels = _labels(entries)
    seen: set[str] = set()
    rows: list[Row] = []
    models: dict[str, Row] = {}
    repeated = 0
    for name, run, model in _models(entries):
        for score in run.scores:
            if score["model"] != model.label:
                continue
            # Settings change scores: answers that were repaired first are not those that were not.
            what = json.dumps([model.key, _protocol(run), {**score, "model": ""}], sort_keys=True)
            if what in seen:
                repeated += 1
                continue
            seen.add(what)
            label = labels[name, run.folder, model.label]
            rows.append({**score, "model": label, "entry": name, "name": model.name})
            models.setdefault(label, _about(name, entries[name], run, model, label))
    notices = list(dict.fromkeys(text for entry in entries.values() for text in entry.notices))
    return Board(rows, list(models.values()), notices, repeated)


def write_board(board: Board, out: Path) -> list[Path]:
    """Write ``board.json``, ``board.csv`` and ``board.md``, and return their paths."""
    results = Results(rows=board.rows, notices={"": board.notices})
    shown = document([results])
    content = {
        "format": "hbench board",
        "version": VERSION,
        "synthetic": any(row["data_kind"] == "demo" for row in board.rows),
        "rows": board.rows,
        "models": board.models,
        "notices": board.notices,
    }
    texts = {
        "board.json": json.dumps(content, indent=1, allow_nan=False) + "\n",
        "board.csv": write(shown, "csv"),
        "board.md": write(shown, "md"),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with atomic_file(out / name) as path:
            path.write_text(text, encoding="utf-8")
    return [out / name for name in texts]


def _models(entries: Mapping[str, Entry]) -> Iterator[tuple[str, EntryRun, EntryModel]]:
    for name in sorted(entries):
        for run in entries[name].runs:
            for model in run.models:
                yield name, run, model


def _labels(entries: Mapping[str, Entry]) -> dict[tuple[str, str, str], str]:
    """Return a label for each model of each run: its own, and where it came from if others have the same."""
    first: dict[tuple[str, str], str] = {}
    kinds: Counter[str] = Counter()
    for _, run, model in _models(entries):
        same = model.key, _protocol(run)
        if same not in first:
            first[same] = model.label
            kinds[model.label] += 1
    out: dict[tuple[str, str, str], str] = {}
    given: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for name, run, model in _models(entries):
        same = model.key, _protocol(run)
        if same not in given:
            label = model.label if kinds[model.label] == 1 else f"{model.label} ({name})"
            if label in taken:
                label = f"{model.label} ({name}/{run.folder or '.'})"
            given[same] = label
            taken.add(label)
        out[name, run.folder, model.label] = given[same]
    return out


def _protocol(run: EntryRun) -> str:
    """Return the settings that change scores, as text."""
    names = ("repairs", "policy", "without", "answer_mode", "sample", "seed", "draws")
    return json.dumps({name: run.settings.get(name) for name in names}, sort_keys=True)


def _about(name: str, entry: Entry, run: EntryRun, model: EntryModel, label: str) -> Row:
    return {
        "model": label,
        "name": model.name,
        "entry": name,
        "by": entry.submission.by,
        "url": model.url,
        "notes": model.notes,
        "identity": model.identity,
        "sampling": model.sampling,
        "key": model.key,
        "settings": run.settings,
        "unsupported": model.unsupported,
        "hbench": entry.hbench,
    }


def _check_data(entries: Mapping[str, Entry]) -> None:
    known: dict[str, tuple[str, str]] = {}
    for name in sorted(entries):
        for run in entries[name].runs:
            for task, about in run.tasks.items():
                first, fingerprint = known.setdefault(task, (name, about.fingerprint))
                if fingerprint != about.fingerprint:
                    raise DataError(
                        f"the entries {first} and {name} were scored on different data "
                        f"({fingerprint[:12]} and {about.fingerprint[:12]})",
                        task=task,
                        hint="Check both submissions again with the board's data.",
                    )
