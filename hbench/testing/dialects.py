"""The formats that the mock server speaks: how each asks and answers, in terms of OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider's format.

    Attributes
    ----------
    ending : str
        Of the path that it is asked at.
    key : callable
        From a key to the header that carries it.
    question : callable
        From a request's body (and the path) to messages, model, seed and number of choices.
    answer : callable
        From a chat completion, perhaps a damaged one, to the response's body.
    """

    ending: str
    key: Callable[[str], tuple[str, str]]
    question: Callable[[Json, str], tuple[list[Json], str, int | None, int]]
    answer: Callable[[Json], Json]


def _chat(asked: Json, path: str) -> tuple[list[Json], str, int | None, int]:
    return asked["messages"], asked["model"], asked.get("seed"), asked.get("n", 1)


def _text(asked: Json, path: str) -> tuple[list[Json], str, int | None, int]:
    return [{"role": "user", "content": asked["prompt"]}], asked["model"], asked.get("seed"), asked.get("n", 1)


def _messages(asked: Json, path: str) -> tuple[list[Json], str, int | None, int]:
    if not isinstance(asked["max_tokens"], int):
        raise TypeError("max_tokens must be a whole number")
    system = [{"role": "system", "content": asked["system"]}] if "system" in asked else []
    return [*system, *asked["messages"]], asked["model"], None, 1


def _contents(asked: Json, path: str) -> tuple[list[Json], str, int | None, int]:
    turns = [("system", asked["systemInstruction"])] if "systemInstruction" in asked else []
    turns += [(turn["role"], turn) for turn in asked["contents"]]
    messages = [{"role": role, "content": "".join(part["text"] for part in turn["parts"])} for role, turn in turns]
    model = path.rpartition("/")[2].partition(":")[0]
    return messages, model, asked.get("generationConfig", {}).get("seed"), 1


def _as_texts(completion: Json) -> Json:
    choices = [{"text": (choice["message"] or {}).get("content")} for choice in completion.get("choices", ())]
    return {**completion, "choices": choices}


def _as_messages(completion: Json) -> Json:
    blocks: list[Json] = []
    for choice in completion.get("choices", ())[:1]:
        message = choice["message"] or {}
        if message.get("reasoning_content"):
            blocks.append({"type": "thinking", "thinking": message["reasoning_content"]})
        if message.get("content") is not None:
            blocks.append({"type": "text", "text": message["content"]})
    usage = completion.get("usage", {})
    return {
        "type": "message",
        "role": "assistant",
        "content": blocks,
        "stop_reason": "end_turn" if blocks else None,
        "usage": {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")},
    }


def _as_candidates(completion: Json) -> Json:
    candidates = []
    for choice in completion.get("choices", ())[:1]:
        message = choice["message"] or {}
        parts: list[Json] = []
        if message.get("reasoning_content"):
            parts.append({"text": message["reasoning_content"], "thought": True})
        if message.get("content") is not None:
            parts.append({"text": message["content"]})
        candidates.append({"content": {"role": "model", "parts": parts}, "finishReason": "STOP" if parts else None})
    usage = completion.get("usage", {})
    counts = {
        "promptTokenCount": usage.get("prompt_tokens"),
        "candidatesTokenCount": usage.get("completion_tokens"),
    }
    return {"candidates": candidates, "usageMetadata": counts}


DIALECTS = (
    Dialect("/chat/completions", lambda key: ("authorization", f"Bearer {key}"), _chat, lambda completion: completion),
    Dialect("/completions", lambda key: ("authorization", f"Bearer {key}"), _text, _as_texts),
    Dialect("/messages", lambda key: ("x-api-key", key), _messages, _as_messages),
    Dialect(":generateContent", lambda key: ("x-goog-api-key", key), _contents, _as_candidates),
)


def dialect_of(path: str) -> Dialect | None:
    """Return the format that is spoken at a path, or None."""
    return next((dialect for dialect in DIALECTS if path.endswith(dialect.ending)), None)


def may_pass(dialect: Dialect, headers: Mapping[str, str], key: str | None) -> bool:
    """Tell whether a request carries the server's key; every request does where it has none."""
    if key is None:
        return True
    name, value = dialect.key(key)
    return headers.get(name) == value
