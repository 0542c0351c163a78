"""A submission's journal beside its prediction files: a stranger's database, opened to read only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from hbench.core import Completion, Failure, Outcome
from hbench.run.journal import SCHEMA
from hbench.run.keys import Key
from hbench.run.scrub import scrub
from hbench.submit.refusal import Refusal, Refused

_TABLES = {("table", "answers"), ("table", "failures")}
_STEPS = 50_000_000
"""Instructions of SQLite's machine that reading may take."""


class SubmittedJournal:
    """All answers of a submitted journal.

    Raises
    ------
    Refused
        When it is no journal of this version, or holds more than a journal does.
    """

    def __init__(self, path: Path, place: str) -> None:
        self.place = place
        self._known: dict[Key, dict[int, Outcome]] = {}
        self.secrets = 0
        """Error messages with what looks like a key."""
        try:
            # Immutable: nothing is written beside the file, and no log of another process is played in.
            with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as database:
                self._read(database)
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
            raise Refused("journal", place, f"the journal cannot be read: {error}") from error

    def _read(self, database: sqlite3.Connection) -> None:
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
        database.set_progress_handler(lambda: 1, _STEPS)
        version = database.execute("PRAGMA user_version").fetchone()[0]
        found = {(kind, name) for kind, name in database.execute("SELECT type, name FROM sqlite_master")}
        if version != SCHEMA or {one for one in found if not one[1].startswith("sqlite_autoindex")} != _TABLES:
            raise Refused("journal", self.place, f"it is no journal of version {SCHEMA}")
        # A request that failed and was answered later has both; the answer counts, as it does in a run.
        for key, draw, reason, detail in database.execute("SELECT key, draw, reason, detail FROM failures"):
            self._keep(key, draw, Failure("request", str(reason)), str(detail))
        for key, draw, decoded, text, reasoning, reason, detail in database.execute(
            "SELECT key, draw, decoded, text, reasoning, reason, detail FROM answers"
        ):
            if reason is not None:
                self._keep(key, draw, Failure("parse", str(reason)), str(detail))
            else:
                self._keep(key, draw, Completion(json.loads(text) if decoded else text, reasoning), "")

    def _keep(self, key: bytes, draw: int, outcome: Outcome, detail: str) -> None:
        self.secrets += scrub(detail, {}) != detail
        self._known.setdefault(bytes(key), {})[int(draw)] = outcome

    def differences(self, submitted: Mapping[Key, Mapping[int, Outcome]], file: str) -> Iterator[Refusal]:
        """Yield what a prediction file says otherwise than the journal."""
        absent = sum(draw not in self._known.get(key, ()) for key, draws in submitted.items() for draw in draws)
        if absent:
            yield Refusal("journal", file, f"{absent:,} answers are not in the journal")
        other = sum(
            draw in self._known.get(key, ()) and not _same(self._known[key][draw], outcome)
            for key, draws in submitted.items()
            for draw, outcome in draws.items()
        )
        if other:
            yield Refusal("journal", file, f"{other:,} answers are not those of the journal")


def _same(first: Outcome, second: Outcome) -> bool:
    if isinstance(first, Completion) and isinstance(second, Completion):
        return (first.text, first.reasoning) == (second.text, second.reasoning)
    return isinstance(first, Failure) and isinstance(second, Failure) and first.reason == second.reason
