"""Answers that lm-eval and Inspect logged, scored here."""

from __future__ import annotations

import asyncio
import json
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import hbench
from hbench.cli.main import main
from hbench.core import Completion, Failure, Message, ModelError, Record, Request
from hbench.core.answer import AnswerSpec
from hbench.core.target import Target
from hbench.model.replay import Replay
from hbench.model.sample_logs import SampleLogs, find_logs
from hbench.run.fits import read_reports
from hbench.run.manifest import entrants_of, read_manifest
from tests.interop.kinds import Kinds

PACKED = pytest.mark.skipif(find_spec("zstandard") is None, reason="zstandard unpacks Inspect's archives")
LOGS = Path(__file__).parent / "logs"
ANSWER = AnswerSpec(targets=(Target(name="correct", kind="text"),))


def question(i: int, user: str | None = None, *, task: str = "kinds/quiz", occurrence: int = 0) -> Request:
    messages = (Message("system", "You are a person."), Message("user", user or f"Case {i}?"))
    record = Record(task, f"p{i}", messages=messages)
    return Request(record, messages, ANSWER, occurrence=occurrence)


def ask(path: Path, *requests: Request, draws: tuple[int, ...] = (0,)) -> tuple[SampleLogs, dict[tuple[str, int], Any]]:
    """Return the model with what it said by record and draw."""
    from dataclasses import replace

    got: dict[tuple[str, int], Any] = {}

    async def deliver(request: Request, draw: int, outcome: Any) -> None:
        assert (request.record.id, draw) not in got
        got[request.record.id, draw] = outcome

    model = Replay.create(str(path), {}, None)  # type: ignore[arg-type]
    assert isinstance(model, SampleLogs)
    asyncio.run(model.answer([replace(request, draws=draws) for request in requests], deliver))
    return model, got


def lm_eval_line(i: int, *texts: str | None, doc: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    messages = json.dumps(
        [{"role": "system", "content": "You are a person."}, {"role": "user", "content": f"Case {i}?"}]
    )
    doc = {"task": "kinds/quiz", "id": f"p{i}", "time": "", "messages": messages} if doc is None else doc
    arguments = {"gen_args_0": {"arg_0": f"You are a person.\n\nCase {i}?", "arg_1": {}}}
    return {"doc_id": i, "doc": doc, "resps": [list(texts)], "filter": "none", "arguments": arguments, **fields}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@PACKED
def test_inspect_s_archive_by_task_and_record() -> None:
    model, got = ask(LOGS / "named.eval", *map(question, range(4)), draws=(0, 1))
    assert got["p0", 0] == Completion("A", None, 10, 3)
    assert got["p2", 0] == Completion("C", "Hm.", 12, 3)
    texts = {key: outcome.text for key, outcome in got.items()}
    assert [texts[f"p{i}", 0] for i in range(4)] == ["A", "BD", "C", "It is D"]
    assert [texts[f"p{i}", 1] for i in range(4)] == ["D", "A", "B", "I would rather not say."]
    assert model.notes == []


def test_inspect_s_json_by_prompt() -> None:
    model, got = ask(LOGS / "prompts.json", question(3), question(1), question(7))
    assert got["p3", 0] == Completion("It is D", None, 13, 3)
    assert got["p1", 0].text == "BD"
    assert got["p7", 0] == Failure("request", "missing_prediction", "no answer for p7")
    assert model.notes == ["2 logged answers belong to no question that was asked here"]


def test_inspect_s_errors_and_attachments(tmp_path: Path) -> None:
    log = {
        "version": 2,
        "status": "error",
        "eval": {},
        "samples": [
            {"id": 1, "epoch": 1, "input": "Case 0?", "output": {"choices": []}, "error": {"message": "out of memory"}},
            {
                "id": 2,
                "epoch": 1,
                "input": "attachment://ab",
                "output": {"choices": [{"message": {"content": "attachment://cd"}}]},
                "attachments": {"ab": "Case 1?", "cd": "<think>so</think>B"},
            },
        ],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    asked = [
        Request(Record("t/t", str(i), messages=(m := (Message("user", f"Case {i}?"),))), m, ANSWER) for i in (0, 1)
    ]
    _, got = ask(path, *asked)
    assert got["0", 0] == Failure("request", "no_answer", "out of memory")
    assert got["1", 0] == Completion("B", "so")


@PACKED
def test_scores_of_logs(kinds: Kinds, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first three people chose A, BD and C, which is what the first epoch says."""
    out = tmp_path / "run"
    where = ["--data", str(kinds.data), "--include-path", str(kinds.tasks), "--out", str(out)]
    assert main(["eval", "--tasks", "quiz", "--model", f"replay:{LOGS / 'named.eval'}", "--limit", "3", *where]) == 0
    (row,) = (row for row in json.loads((out / "scores.json").read_text())["rows"] if row["target"] is None)
    assert (row["value"], row["n"], row["invalid"]) == (1.0, 3, 0)
    # Those of the fourth sample's two epochs.
    assert "2 logged answers belong to no question that was asked here." in capsys.readouterr().err
    (entrant,) = entrants_of(read_manifest(out))
    assert read_reports(out, entrant)["kinds/quiz"]["logged"]["matched"] == 3
    assert main(["show", str(out)]) == 0
    assert "logged answers: 3 matched, 2 unused" in capsys.readouterr().out


def test_lm_eval_s_lines(tmp_path: Path) -> None:
    lines = [lm_eval_line(0, "A", "B"), lm_eval_line(1, "<think>x</think>C", None), lm_eval_line(5, "D", "D")]
    path = write(tmp_path / "samples_quiz_2026.jsonl", *lines, lm_eval_line(0, "ignored", "x", filter="other"))
    model, got = ask(tmp_path, question(0), question(1), question(2), draws=(0, 1))
    assert got["p0", 0] == Completion("A")
    assert got["p0", 1] == Completion("B")
    assert got["p1", 0] == Completion("C", "x")
    assert got["p1", 1] == Failure("request", "no_answer", "the log holds null")
    assert got["p2", 0].reason == "missing_prediction"
    assert model.notes == ["2 logged answers belong to no question that was asked here"]
    assert model.identity["format"] == "lm-eval"
    before = model.identity["content"]
    write(path, *lines)
    assert SampleLogs(path, find_logs(path)).identity["content"] != before


def test_repeated_answers_are_counted_and_the_first_counts(tmp_path: Path) -> None:
    write(tmp_path / "samples_quiz_1.jsonl", lm_eval_line(0, "A"), lm_eval_line(1, "B"))
    write(tmp_path / "samples_quiz_2.jsonl", lm_eval_line(0, "C"), lm_eval_line(1, "B"))
    model, got = ask(tmp_path, question(0), question(1))
    assert (got["p0", 0].text, got["p1", 0].text) == ("A", "B")
    assert model.notes == ["2 answers are logged more than once, 1 of them otherwise; the first counts"]


def test_answers_to_another_prompt_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "samples_quiz_1.jsonl", lm_eval_line(0, "A"))
    model, got = ask(tmp_path, question(0, "Case 0, in other words?"))
    assert got["p0", 0].reason == "other_prompt"
    assert "1 draws were asked with another prompt than this data's, and do not count" in model.notes


def test_foreign_documents_match_by_prompt_and_equal_prompts_in_their_order(tmp_path: Path) -> None:
    foreign = {"question": "?"}
    chat = json.dumps([{"role": "user", "content": "You are a person."}, {"role": "user", "content": "Case 1?"}])
    lines = [
        lm_eval_line(0, "A", doc=foreign),
        lm_eval_line(1, "B", doc=foreign, arguments={"gen_args_0": {"arg_0": [chat]}}),
        lm_eval_line(0, "C", doc=foreign, doc_id=9),
    ]
    write(tmp_path / "samples_x.jsonl", *lines)
    again = question(8, "Case 0?", occurrence=1)
    _, got = ask(tmp_path, question(0), again, question(1))
    assert {key: outcome.text for key, outcome in got.items()} == {("p0", 0): "A", ("p8", 0): "C", ("p1", 0): "B"}


def test_a_log_of_another_task_is_unsupported(tmp_path: Path) -> None:
    model = Replay.create(str(write(tmp_path / "samples_x.jsonl", lm_eval_line(0, "A"))), {}, None)  # type: ignore[arg-type]
    assert model.unsupported("kinds/quiz") is None
    assert "answers to kinds/quiz only" in str(model.unsupported("kinds/move"))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.eval", b"no zip", "cannot be read"),
        ("a.json", b'{"version": 9, "status": "success", "eval": {}}', "version 9"),
        ("a.json", b'{"version": 2, "status": "success", "eval": {}, "samples": [{"id": 1}]}', "sample 1 is malformed"),
        (
            "samples_a.jsonl",
            b'{"doc_id": 0, "doc": {}, "resps": [[[-1.5, true]], [[-2.0, false]]]}\n',
            ":1: .*no generated",
        ),
        ("samples_a.jsonl", b'{"doc_id": 0, "doc": {}, "resps": [["x"]]}\n{"id": 1}\n', ":2: .*no sample of lm-eval"),
    ],
)
def test_what_is_wrong_with_a_log_is_said(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=told):
        ask(tmp_path / name, question(0))


@PACKED
def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    content = bytearray((LOGS / "named.eval").read_bytes())
    with zipfile.ZipFile(LOGS / "named.eval") as archive:
        member = next(info for info in archive.infolist() if info.filename == "samples/p0_epoch_1.json")
    place = member.header_offset + 30 + len(member.filename) + member.compress_size // 2
    content[place : place + 8] = bytes(byte ^ 0xFF for byte in content[place : place + 8])
    (tmp_path / "a.eval").write_bytes(content)
    with pytest.raises(ModelError, match=r"samples/p0_epoch_1\.json is damaged"):
        ask(tmp_path / "a.eval", question(0))
    with zipfile.ZipFile(tmp_path / "b.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    with pytest.raises(ModelError, match=r"no header\.json"):
        ask(tmp_path / "b.eval", question(0))


def test_what_lm_eval_itself_logs(kinds: Kinds, tmp_path: Path) -> None:
    """Run, log and score again: the same numbers as lm-eval's."""
    pytest.importorskip("lm_eval")
    from lm_eval.loggers import EvaluationTracker

    from tests.interop.test_lm_eval_bridge import export, run

    export(kinds, tmp_path / "out")
    there = run(tmp_path / "out", ["kinds"], log_samples=True)
    tracker = EvaluationTracker(output_path=str(tmp_path / "logs"))
    tracker.general_config_tracker.model_name_sanitized = "told"
    tracker.date_id = "2026-11-30"
    for name, samples in there["samples"].items():
        tracker.save_results_samples(task_name=name, samples=samples)
    here = hbench.evaluate(
        "@kinds", f"replay:{tmp_path / 'logs'}", data=kinds.data, include_paths=[kinds.tasks], out=tmp_path / "run"
    )
    rows = [row for row in here.scores if row["target"] is None and row["group"] is None]
    assert len(rows) == 10
    for row in rows:
        assert there["results"][row["task"]][f"{row['metric']},none"] == row["value"]
    (entrant,) = entrants_of(read_manifest(tmp_path / "run"))
    assert {one["logged"]["missing"] for one in read_reports(tmp_path / "run", entrant).values()} == {0}
