"""Every answer, durable before its slot is used again.

An SQLite file in write-ahead mode with full synchronisation. Answers that arrive within a few milliseconds are
committed together by a thread of its own, so that one flush of the disk serves them all.

Answers and request failures lie apart. An answer is final: it is never asked for again, even when it cannot be parsed.
A request failure (no connection, a refused request) is information only; the next run asks again, whatever its reason,
since servers, limits and models behind an address change.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from hbench.core import Completion, Failure, Outcome, RunError
from hbench.data.lines import plain
from hbench.run.keys import Key

SCHEMA = 2
_OLDER = {1: "ALTER TABLE answers ADD COLUMN probabilities TEXT;"}
"""What makes a journal of an older version one of the next."""
_TABLES = """
CREATE TABLE answers (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL, draw INTEGER NOT NULL, model TEXT NOT NULL, decoded INTEGER NOT NULL,
    text TEXT, reasoning TEXT, tokens_in INTEGER, tokens_out INTEGER, cost REAL, reason TEXT, detail TEXT,
    at REAL NOT NULL, probabilities TEXT, UNIQUE (key, draw));
CREATE TABLE failures (
    key BLOB NOT NULL, draw INTEGER NOT NULL, model TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
    times INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (key, draw)) WITHOUT ROWID;
"""
_ANSWER = "INSERT OR IGNORE INTO answers VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FAILURE = """INSERT INTO failures VALUES (?, ?, ?, ?, ?, 1, ?) ON CONFLICT DO UPDATE
    SET reason = excluded.reason, detail = excluded.detail, times = times + 1, at = excluded.at"""
_SELECT = """SELECT key, draw, decoded, text, reasoning, tokens_in, tokens_out, cost, reason, detail, probabilities
    FROM answers"""
_LOOKUP = 500
"""Keys per query; SQLite bounds the number of parameters."""


@dataclass
class _Group:
    """What one commit writes."""

    done: asyncio.Future[None]
    ripe: bool = False
    answers: list[tuple[object, ...]] = field(default_factory=list)
    failures: list[tuple[object, ...]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Spend:
    """What a model's answers took."""

    answers: int
    tokens_in: int
    tokens_out: int
    cost: float | None


class Journal:
    """All answers of one run.

    Parameters
    ----------
    path : Path
        The file; made where it is absent.
    window : float
        Seconds that a group of answers is collected for.
    reading : bool
        Whether it is only read, so that its folder need not be writable.

    Raises
    ------
    RunError
        When the file is damaged, of another version, or cannot be written.
    """

    def __init__(self, path: Path, *, window: float = 0.003, reading: bool = False) -> None:
        self.path = path
        self._window = window
        self._group: _Group | None = None
        self._writing: set[asyncio.Future[None]] = set()
        # SQLite's calls hold the event loop up for a disk flush; they get a thread of their own.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._open: list[sqlite3.Connection] = []
        try:
            if reading and not os.access(path.parent, os.W_OK):
                self._writer = self._reader = self._connect_closed()
                return
            self._writer = self._connect()
            self._prepare()
            self._reader = self._connect()
        except BaseException as error:
            # An open connection would hold the file against whoever tries next.
            self.close()
            if isinstance(error, sqlite3.Error | UnicodeDecodeError):
                raise self._error(error) from error
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10)
        self._open.append(connection)
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise RunError(
                "the file system does not support write-ahead logging",
                file=self.path,
                hint="Put the run on a local disk with --out DIR.",
            )
        connection.execute("PRAGMA synchronous = FULL")
        # KiB of pages. A key's page is rarely met again soon, and the system keeps the file's pages anyway.
        connection.execute("PRAGMA cache_size = -512")
        return connection

    def _connect_closed(self) -> sqlite3.Connection:
        """Open the file where SQLite cannot make its own files beside it."""
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise RunError(
                "the run was interrupted, and its folder cannot be written, so its last answers cannot be read",
                file=self.path,
                hint="Copy the folder to where it can be written.",
            )
        connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?immutable=1", uri=True, check_same_thread=False)
        self._open.append(connection)
        self._check(connection.execute("PRAGMA user_version").fetchone()[0])
        return connection

    def _prepare(self) -> None:
        version = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            if self._writer.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise RunError("this is not a journal of hbench", file=self.path)
            self._writer.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
        elif version in _OLDER:
            self._writer.executescript(f"BEGIN; {_OLDER[version]} PRAGMA user_version = {version + 1}; COMMIT;")
            self._prepare()
        else:
            self._check(version)

    def _check(self, version: int) -> None:
        if version != SCHEMA:
            raise RunError(
                f"the journal has version {version}; this hbench reads version {SCHEMA}",
                file=self.path,
                hint="Use the hbench that wrote it (see manifest.json), or start anew with --out DIR.",
            )

    def _error(self, error: Exception) -> RunError:
        text = str(error)
        if "full" in text:
            hint = "Free some space and run the same command again: what is in the journal is not asked for again."
        elif "readonly" in text or "unable to open" in text:
            # SQLite does not tell whether a file that cannot be made has no room or no leave.
            hint = "Make the folder writable and free some space, or give another one with --out DIR."
        elif "malformed" in text or "not a database" in text or not isinstance(error, sqlite3.Error):
            hint = "The file is damaged. Restore it from a copy, or move it away to ask everything again."
        else:
            hint = (
                "See that the disk is there and writable, free some space, and run the same command again: "
                "what is in the journal is not asked for again."
            )
        return RunError(f"the journal cannot be used: {text}", file=self.path, hint=hint)

    # Writing

    async def add(self, key: Key, draw: int, model: str, outcome: Outcome) -> None:
        """Write one draw's outcome, and return when it is durable."""
        # A cancelled caller must not take the group, which others wait for, with it.
        await asyncio.shield(self.put(key, draw, model, outcome))

    def put(self, key: Key, draw: int, model: str, outcome: Outcome) -> asyncio.Future[None]:
        """Write one draw's outcome; the future that comes back is done when it is durable."""
        group = self._group
        if group is None:
            loop = asyncio.get_running_loop()
            group = self._group = _Group(loop.create_future())
            loop.call_later(self._window, self._ripen, group)
        if isinstance(outcome, Failure) and outcome.stage == "request":
            group.failures.append((key, draw, model, outcome.reason, _storable(outcome.detail), time.time()))
        else:
            group.answers.append((key, draw, model, *_columns(outcome), time.time(), _probabilities(outcome)))
        return group.done

    @property
    def waiting(self) -> int:
        """Groups that are not durable yet."""
        return len(self._writing) + (self._group is not None)

    def _ripen(self, group: _Group) -> None:
        group.ripe = True
        # While a commit is at work the next group grows: a slow disk then gets fewer flushes, not a queue of them.
        if self._group is group and not self._writing:
            self._hand_over(group)

    def _hand_over(self, group: _Group) -> None:
        self._group = None
        written = asyncio.get_running_loop().run_in_executor(self._thread, self._commit, group.answers, group.failures)
        self._writing.add(group.done)

        def finish(written: asyncio.Future[None]) -> None:
            self._writing.discard(group.done)
            if self._group is not None and self._group.ripe:
                self._hand_over(self._group)
            error = written.exception()
            if group.done.done():
                return
            if error is None:
                group.done.set_result(None)
            else:
                group.done.set_exception(error)
                group.done.exception()  # Marks it as seen: nobody may be waiting any longer.

        written.add_done_callback(finish)

    def _commit(self, answers: Sequence[tuple[object, ...]], failures: Sequence[tuple[object, ...]]) -> None:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            if answers:
                self._writer.executemany(_ANSWER, answers)
            if failures:
                self._writer.executemany(_FAILURE, failures)
            self._writer.execute("COMMIT")
        except sqlite3.Error as error:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise self._error(error) from error

    async def flush(self) -> None:
        """Return when all that was added is durable.

        Raises
        ------
        RunError
            When a commit fails.
        """
        if self._group is not None:
            self._hand_over(self._group)
        if self._writing:
            await asyncio.gather(*(asyncio.shield(done) for done in self._writing))

    def close(self) -> None:
        """Close the file. What was added is flushed by `flush`."""
        self._thread.shutdown(wait=True)
        for connection in reversed(self._open):
            connection.close()

    # Reading

    def __len__(self) -> int:
        return int(self._query("SELECT count(*) FROM answers")[0][0])

    def answered(self, keys: Iterable[Key]) -> dict[Key, set[int]]:
        """Return the draws that need not be asked for again, by key."""
        found: dict[Key, set[int]] = defaultdict(set)
        for chunk in _chunks(keys):
            for key, draw in self._query(_among("SELECT key, draw FROM answers", chunk), chunk):
                found[key].add(draw)
        return found

    def outcomes(self, keys: Iterable[Key]) -> dict[Key, dict[int, Outcome]]:
        """Return what is known of each draw, by key and draw: the answer, else the last request failure."""
        found: dict[Key, dict[int, Outcome]] = defaultdict(dict)
        for chunk in _chunks(keys):
            for key, draw, reason, detail in self._query(
                _among("SELECT key, draw, reason, detail FROM failures", chunk), chunk
            ):
                found[key][draw] = Failure("request", reason, detail)
            for key, draw, decoded, text, reasoning, tokens_in, tokens_out, cost, reason, detail, shares in self._query(
                _among(_SELECT, chunk), chunk
            ):
                if reason is not None:
                    found[key][draw] = Failure("parse", reason, detail or "")
                else:
                    try:
                        value = json.loads(text) if decoded else text
                        probabilities = None if shares is None else json.loads(shares)
                    except (ValueError, TypeError) as error:
                        raise self._error(error) from error
                    found[key][draw] = Completion(value, reasoning, tokens_in, tokens_out, cost, probabilities)
        return found

    def spend(self, model: str) -> Spend:
        """Return what all answers of a model took."""
        row = self._query(
            "SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), sum(cost) "
            "FROM answers WHERE model = ?",
            [model],
        )[0]
        return Spend(*row)

    def _query(self, sql: str, parameters: Sequence[object] = ()) -> list[Any]:
        try:
            return self._reader.execute(sql, parameters).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._error(error) from error


def _chunks(keys: Iterable[Key]) -> Iterator[list[Key]]:
    walk = iter(keys)
    while chunk := list(islice(walk, _LOOKUP)):
        yield chunk


def _among(select: str, keys: Sequence[Key]) -> str:
    return f"{select} WHERE key IN ({','.join('?' * len(keys))})"


def _columns(outcome: Outcome) -> tuple[object, ...]:
    """Return the columns `decoded` to `detail` of an answer."""
    if isinstance(outcome, Failure):
        return (0, None, None, None, None, None, outcome.reason, _storable(outcome.detail))
    text = outcome.text
    # A lone surrogate, which servers do send, has no UTF-8; JSON has an escape for it.
    decoded = not isinstance(text, str) or _storable(text) != text
    reasoning = None if outcome.reasoning is None else _storable(outcome.reasoning)
    # SQLite keeps the bytes of NumPy's numbers, which are none when they are read.
    tokens = (None if count is None else int(count) for count in (outcome.tokens_in, outcome.tokens_out))
    cost = None if outcome.cost is None else float(outcome.cost)
    return (int(decoded), json.dumps(text, default=plain) if decoded else text, reasoning, *tokens, cost, None, None)


def _probabilities(outcome: Outcome) -> str | None:
    shares = outcome.probabilities if isinstance(outcome, Completion) else None
    return None if shares is None else json.dumps({label: float(share) for label, share in shares.items()})


def _storable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
