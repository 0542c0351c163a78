from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from hbench.core import Completion, Failure, Message, Record, Request, RunError, Sampling
from hbench.core.answer import AnswerSpec
from hbench.run.journal import Journal
from hbench.run.keys import key_maker, model_digest, prompt_digest


def request(text: str = "How much?", *, task: str = "s/t", occurrence: int = 0, id: str = "a") -> Request:
    messages = (Message("user", text),)
    record = Record(task=task, id=id, messages=messages, predictors={"age": 30})
    return Request(record=record, messages=messages, answer=AnswerSpec(targets=()), occurrence=occurrence)


def add(journal: Journal, *items: tuple[bytes, int, object]) -> None:
    async def write() -> None:
        await asyncio.gather(*(journal.add(key, draw, "m", outcome) for key, draw, outcome in items))

    asyncio.run(write())


def test_answers_come_back_as_they_were_given(tmp_path: Path) -> None:
    completion = Completion("[1]\nü \ud800", reasoning="so", tokens_in=3, tokens_out=4, cost=0.5)
    decoded = Completion([1, "x", None])
    garbled = Failure("parse", "content_filter", "stopped")
    journal = Journal(tmp_path / "journal.sqlite")
    add(journal, (b"a", 0, completion), (b"a", 3, decoded), (b"b", 0, garbled))
    journal.close()
    journal = Journal(tmp_path / "journal.sqlite")
    assert journal.outcomes([b"a", b"b", b"c"]) == {b"a": {0: completion, 3: decoded}, b"b": {0: garbled}}
    assert journal.answered([b"a", b"b", b"c"]) == {b"a": {0, 3}, b"b": {0}}
    assert len(journal) == 3
    spend = journal.spend("m")
    assert (spend.answers, spend.tokens_in, spend.tokens_out, spend.cost) == (3, 3, 4, 0.5)
    journal.close()


def test_numbers_of_numpy_come_back_as_numbers(tmp_path: Path) -> None:
    tokens: Any = np.int64(3)
    cost: Any = np.float32(0.5)
    answers: Any = [np.int64(1), np.array([0.25, 0.75])]
    journal = Journal(tmp_path / "journal.sqlite")
    add(journal, (b"a", 0, Completion(answers, tokens_in=tokens, tokens_out=tokens, cost=cost)))
    assert journal.outcomes([b"a"]) == {b"a": {0: Completion([1, [0.25, 0.75]], None, 3, 3, 0.5)}}
    assert journal.spend("m").cost == 0.5
    journal.close()


def test_request_failures_are_told_but_asked_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    add(journal, (b"a", 0, Failure("request", "http_500", "first")))
    add(journal, (b"a", 0, Failure("request", "http_503", "second")))
    assert journal.answered([b"a"]) == {}
    assert journal.outcomes([b"a"]) == {b"a": {0: Failure("request", "http_503", "second")}}
    add(journal, (b"a", 0, Completion("[1]")))
    assert journal.outcomes([b"a"])[b"a"][0] == Completion("[1]")
    journal.close()


def test_the_first_answer_stays(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    add(journal, (b"a", 0, Completion("first")))
    add(journal, (b"a", 0, Completion("second")))
    assert journal.outcomes([b"a"])[b"a"][0] == Completion("first")
    journal.close()


def test_many_answers_share_few_commits(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    commits = 0
    commit = journal._commit

    def counted(*args: object) -> None:
        nonlocal commits
        commits += 1
        commit(*args)  # type: ignore[arg-type]

    journal._commit = counted  # type: ignore[method-assign,assignment]
    add(journal, *((f"{i}".encode(), 0, Completion("x")) for i in range(2000)))
    assert len(journal) == 2000
    assert commits < 20
    journal.close()


def test_more_keys_than_a_query_holds(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    keys = [f"{i}".encode() for i in range(1201)]
    add(journal, *((key, 0, Completion("x")) for key in keys))
    assert len(journal.answered(keys)) == len(keys)
    journal.close()


def test_what_was_put_is_flushed(tmp_path: Path) -> None:
    async def write(journal: Journal) -> None:
        journal.put(b"a", 0, "m", Completion("x"))
        await journal.flush()

    journal = Journal(tmp_path / "journal.sqlite", window=60)
    asyncio.run(write(journal))
    assert len(journal) == 1
    journal.close()


def test_a_cancelled_caller_takes_no_answer_with_it(tmp_path: Path) -> None:
    async def write(journal: Journal) -> None:
        first = asyncio.create_task(journal.add(b"a", 0, "m", Completion("x")))
        second = asyncio.create_task(journal.add(b"b", 0, "m", Completion("x")))
        await asyncio.sleep(0)
        first.cancel()
        await second

    journal = Journal(tmp_path / "journal.sqlite")
    asyncio.run(write(journal))
    assert len(journal) == 2
    journal.close()


def test_a_full_disk_says_what_to_do_and_loses_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    add(journal, (b"a", 0, Completion("x")))
    pages = journal._writer.execute("PRAGMA page_count").fetchone()[0]
    journal._writer.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(RunError, match="full") as caught:
        add(journal, (b"b", 0, Completion("x" * 100_000)))
    assert "Free some space" in str(caught.value)
    journal.close()
    journal = Journal(tmp_path / "journal.sqlite")
    assert journal.answered([b"a", b"b"]) == {b"a": {0}}
    journal.close()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"not a database at all, but long enough to be looked at " * 50)
    with pytest.raises(RunError, match="journal cannot be used") as caught:
        Journal(path)
    assert str(path) in str(caught.value)


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    Journal(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(RunError, match="version 99"):
        Journal(path)


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(RunError, match="not a journal"):
        Journal(path)


def test_a_key_names_all_that_an_answer_depends_on() -> None:
    def named(model: str = "m", temperature: float | None = None, reads: Literal["messages", "record"] = "messages"):
        return key_maker(model_digest({"model": model}, Sampling(temperature=temperature), reads), reads)

    base = named()
    key = base(request())
    assert key == base(request(id="b")), "a model that reads messages never sees the id"
    others = [
        base(request("How many?")),
        base(request(occurrence=1)),
        base(request(task="s/u")),
        named("n")(request()),
        named(temperature=0.0)(request()),
        named(reads="record")(request()),
    ]
    assert len({key, *others}) == len(others) + 1
    record = named(reads="record")
    assert record(request()) != record(request(id="b"))


def test_prompts_without_messages_are_told_apart_by_predictors() -> None:
    assert prompt_digest(Record("s/t", "a", predictors={"x": 1})) != prompt_digest(
        Record("s/t", "a", predictors={"x": 2})
    )


def test_a_journal_that_cannot_be_opened_is_let_go_of(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with closing(sqlite3.connect(path)) as foreign:
        foreign.execute("PRAGMA journal_mode = WAL")
        foreign.execute("CREATE TABLE notes (text)")
        foreign.commit()
    with pytest.raises(RunError, match="not a journal"):
        Journal(path)
    # Nothing holds the file: its log is folded in, and it can be locked whole.
    assert not path.with_name("journal.sqlite-wal").exists()
    with closing(sqlite3.connect(path, timeout=0)) as other:
        other.execute("BEGIN EXCLUSIVE")
