"""The logs of Inspect (inspect_ai): ``.eval``, a zip archive with a file for each sample, or one ``.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hbench.core import Completion, Failure, ModelError, Outcome
from hbench.model.sample_logs.answer import LoggedAnswer, prompt_digest
from hbench.model.sample_logs.archive import read_members
from hbench.model.thinking import split_thinking

VERSIONS = (1, 2)
"""Versions of Inspect's log format that are known."""
_ATTACHMENT = "attachment://"


def read_inspect(path: Path) -> Iterator[LoggedAnswer]:
    """Yield the answer of every sample and epoch; epochs are draws.

    Raises
    ------
    ModelError
        For a file that is no log of Inspect, or one of an unknown version.
    """
    for place, sample in _samples(path):
        try:
            yield _answer(sample)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"the sample {place} is malformed: {error!r}", file=path) from error


def _samples(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if path.suffix == ".eval":
        header = _loaded(path, "header.json", *(raw for _, raw in read_members(path, "header.json")))
        _check_version(header, path)
        for name, raw in read_members(path, "samples/"):
            yield name, _loaded(path, name, raw)
        return
    log = _loaded(path, "", path.read_bytes())
    _check_version(log, path)
    for place, sample in enumerate(log.get("samples") or (), 1):
        yield str(place), sample


def _loaded(path: Path, name: str, *contents: bytes) -> Any:
    if not contents:
        raise ModelError(f"the archive holds no {name}", file=path, hint="An evaluation that has not ended has none.")
    try:
        return json.loads(contents[0])
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{name or 'the log'} is not valid JSON: {error}", file=path) from error


def _check_version(header: Any, path: Path) -> None:
    version = header.get("version") if isinstance(header, dict) else None
    if version not in VERSIONS:
        raise ModelError(
            f"the log has version {version!r}; read are {', '.join(map(str, VERSIONS))}",
            file=path,
            hint="`inspect log convert` writes other versions",
        )


def _answer(sample: Mapping[str, Any]) -> LoggedAnswer:
    about = sample.get("metadata") or {}
    attachments = sample.get("attachments") or {}

    def told(name: str) -> str | None:
        value = about.get(name)
        return str(value) if isinstance(value, str | int) and value != "" else None

    task = told("task")
    return LoggedAnswer(
        task=task,
        # A sample's own id counts only beside a task's name: the samples of other data are numbered from 1 too.
        id=told("id") or (str(sample["id"]) if task else None),
        time=told("time"),
        prompt=prompt_digest([_attached(text, attachments) for text in _asked(sample)]),
        draw=int(sample["epoch"]) - 1,
        item=str(sample["id"]),
        outcome=_outcome(sample, attachments),
    )


def _asked(sample: Mapping[str, Any]) -> list[str]:
    """Return the texts of the turns that the model was sent; solvers may have put some before the sample's own."""
    turns = sample.get("messages") or sample["input"]
    if isinstance(turns, str):
        return [turns]
    if turns[-1]["role"] == "assistant":
        turns = turns[:-1]
    return [_texts(turn["content"])[0] for turn in turns]


def _outcome(sample: Mapping[str, Any], attachments: Mapping[str, str]) -> Outcome:
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    if not choices:
        error = (sample.get("error") or {}).get("message", "the sample has no output")
        return Failure("request", "no_answer", str(error)[:300])
    text, reasoning = _texts(choices[0]["message"]["content"])
    text = _attached(text, attachments)
    if reasoning is None:
        text, reasoning = split_thinking(text)
    usage = output.get("usage") or {}
    return Completion(text, reasoning, usage.get("input_tokens"), usage.get("output_tokens"))


def _texts(content: Any) -> tuple[str, str | None]:
    """Return a message's text and its reasoning; a message is a text or a list of parts."""
    if isinstance(content, str):
        return content, None
    text = "".join(part["text"] for part in content if part["type"] == "text")
    thoughts = [part["reasoning"] for part in content if part["type"] == "reasoning"]
    return text, "\n".join(thoughts) if thoughts else None


def _attached(text: str, attachments: Mapping[str, str]) -> str:
    """Return a text that the log may keep apart."""
    return attachments[text.removeprefix(_ATTACHMENT)] if text.startswith(_ATTACHMENT) else text
