"""The samples that lm-eval writes with ``--log_samples``: ``samples_TASK_DATE.jsonl``, an item a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hbench.core import Completion, Failure, ModelError, Outcome
from hbench.data.lines import read_jsonl
from hbench.model.sample_logs.answer import LoggedAnswer, prompt_digest
from hbench.model.thinking import split_thinking


def is_lm_eval(row: Mapping[str, Any]) -> bool:
    """Say whether a line is one of lm-eval's samples."""
    return isinstance(row.get("doc"), dict) and isinstance(row.get("resps"), list) and "doc_id" in row


def read_lm_eval(path: Path) -> Iterator[LoggedAnswer]:
    """Yield every draw of every line.

    A task with several filters has a line for each, which holds the same answers; the first filter's are taken.

    Raises
    ------
    ModelError
        For a line that is none of lm-eval's samples of generated text; with file and line.
    """
    first: object = None
    for number, row in read_jsonl(path, nan=True):
        if not is_lm_eval(row):
            raise ModelError("this line is no sample of lm-eval (`doc`, `doc_id`, `resps`)", file=path, line=number)
        first = row.get("filter") if first is None else first
        if row.get("filter") != first:
            continue
        draws = row["resps"][0] if len(row["resps"]) == 1 else None
        if not isinstance(draws, list) or not all(isinstance(text, str | None) for text in draws):
            raise ModelError(
                "the sample holds no generated text",
                file=path,
                line=number,
                hint="likelihoods of choices are no answers; export the task with `hbench export lm-eval`",
            )
        doc = row["doc"]
        for draw, text in enumerate(draws):
            yield LoggedAnswer(
                task=_text(doc, "task"),
                id=_text(doc, "id"),
                time=_text(doc, "time"),
                prompt=_prompt(doc, row.get("arguments")),
                draw=draw,
                item=str(row["doc_id"]),
                outcome=_outcome(text),
            )


def _outcome(text: str | None) -> Outcome:
    if text is None:
        return Failure("request", "no_answer", "the log holds null")
    answer, reasoning = split_thinking(text)
    return Completion(answer, reasoning)


def _text(doc: Mapping[str, Any], name: str) -> str | None:
    value = doc.get(name)
    return str(value) if isinstance(value, str | int) and value != "" else None


def _prompt(doc: Mapping[str, Any], arguments: Any) -> bytes | None:
    """Return the digest of the turns that our own tasks keep, else of what was sent (rendered chats match nothing)."""
    sent: Any = doc.get("messages")
    if not isinstance(sent, str):
        try:
            sent = arguments["gen_args_0"]["arg_0"]
        except (KeyError, TypeError):
            return None
    if isinstance(sent, list):  # Servers' chats come as a list with one JSON text.
        sent = sent[0] if sent else None
    if not isinstance(sent, str):
        return None
    try:
        turns = json.loads(sent)
        return prompt_digest([turn["content"] for turn in turns])
    except (ValueError, TypeError, KeyError):
        return prompt_digest([sent])
