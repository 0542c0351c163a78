"""Answers that no honest model would give, and a judge of what is read that shares no code with the parsers."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Parser, Target, Value
from hbench.parse import REPAIRS
from hbench.plugin import default_registry
from hbench.spec import discover

PARSERS = (
    "bracketed_integer",
    "bracketed_number",
    "choice_letters",
    "choice_words",
    "json_array",
    "probability_vectors",
    "text",
)
_EVENTS, _PEOPLE = ("no", "yes"), ("employed", "unemployed", "1", "2", "01", 'a"b', "ünï", "a,b", "[", "\\")
_RANGE = (0.0, 100.0)


def _target(kind: Any, name: str = "y", **more: Any) -> Target:
    return Target(name=name, kind=kind, **more)


def _made(parser: str) -> list[AnswerSpec]:
    """Return answers that no task of ours has, and somebody's may."""
    number, ranged = _target("numeric"), _target("numeric", range=_RANGE)
    match parser:
        case "json_array":
            targets = [
                (number,),
                (ranged, _target("ordinal", "z", range=(1, 5))),
                (_target("categorical", labels=_PEOPLE), _target("probability", "p", labels=_EVENTS), number),
                (_target("choice_set", labels=tuple("ABCDE")), _target("text", "t"), _target("population", "w")),
                (number, _target("numeric", "b"), _target("numeric", "c")),
            ]
            answers = [AnswerSpec(some, clip=clip) for some in targets for clip in (False, True)]
            return [*answers, *(replace(one, repairs=REPAIRS) for one in answers)]
        case "probability_vectors":
            vectors = [_target("probability", name, labels=_PEOPLE[:size]) for name, size in (("a", 2), ("b", 3))]
            some = [AnswerSpec(tuple(vectors)), AnswerSpec(tuple(vectors[1:])), AnswerSpec((vectors[0],) * 4)]
            return [*some, *(replace(one, repairs=REPAIRS) for one in some)]
        case "choice_words":
            labels = _target("categorical", labels=("Push", "Pull", "Pushes", "(a+)+$", "ß"))
            return [AnswerSpec((labels,)), AnswerSpec((_target("ordinal"),), options={"words": "Ja, Nein ,İ"})]
        case "choice_letters":
            return [
                AnswerSpec((_target("choice_set"),)),
                AnswerSpec((_target("choice_set", labels=tuple("XYZ-]^")),)),
                AnswerSpec((_target("choice_set"),), options={"letters": "abcdefgh"}),
            ]
        case "text":
            return [AnswerSpec((_target("text"),), reads="reasoning_then_answer")]
        case _:
            kind = "ordinal" if parser == "bracketed_integer" else "numeric"
            return [AnswerSpec((_target(kind, range=_RANGE),), clip=clip) for clip in (False, True)]


@lru_cache
def specs(parser: str) -> tuple[AnswerSpec, ...]:
    """Return the answers of all installed tasks that a parser reads, and made ones."""
    real = (entry.load() for entry in discover().entries)
    return (*(task.answer_spec() for task in real if task.answer.parser == parser), *_made(parser))


def instance(parser: str) -> Parser:
    """Return a registered parser."""
    made: Parser = default_registry().get("parser", parser)()
    return made


# What is asked of the parsers

_PIECES = (
    "[", "]", "{", "}", ",", ":", '"', "\\", "\\u0041", "\\ud800", "'", "`", "```json\n", "```", "\n", " ", "\t", "\r",
    "\0", "\x1b[31m", "\u2028", "\u202e", "\ufeff", "\u00a0", "\ud800", "０", "１２", "٣", "²", "½", "−", "$", "$1,000",
    "%", "<think>", "</think>", "<think", "null", "true", "false", "NaN", "Infinity", "-Infinity", "0", "-0", "-0.0",
    "1", "00", "01", "1.", ".5", "1e5", "1e400", "-1e400", "1E-400", "9" * 30, "9" * 310, "9" * 4301, "0x10", "1_000",
    "+1", "--1", "1,5", "0.5, 0.5", "[0.5, 0.5]", "[[0.5, 0.5]]", "[1]", "[$5]", "[-3.7]", "[yes]", "[[", "]]",
    "[" * 600, "]" * 600, '{"a": [1]}', "Answer:", "THE ANSWER IS", "A", "B", "AB", "ABCDE", "a)", "**B**", "İ", "ı",
    "ß", "ﬀ",
    "K", "Push", "Pull", "[Push]", "[pull]", "none", "I cannot answer.", "é", "🂡", "=1+1", "{{ x }}", "%s", "{0}",
)  # fmt: skip


def _value(rng: random.Random, target: Target) -> Any:
    """Return a value that fits a target, or nearly does."""
    match target.kind:
        case "categorical":
            return rng.choice(target.labels)
        case "probability":
            weights = [rng.random() for _ in target.labels]
            out = [weight / sum(weights) for weight in weights]
            if rng.random() < 0.3:
                out[0] += rng.choice((1e-5, 9e-7, -9e-7, 1e-9, 1.0, -1.0, math.nan, math.inf))
            return out
        case "choice_set":
            return "".join(rng.choices("ABCDXYZabc", k=rng.randint(1, 4)))
        case "text":
            return rng.choice(_PIECES)
        case "ordinal":
            return rng.choice((rng.randint(-5, 10), 3.0, 3.5, 10**400, True))
        case _:
            return rng.choice((rng.randint(-5, 120), rng.uniform(-10, 1e6), 1e308, -1e-320, 10**400, math.nan, True))


def _written(rng: random.Random, answer: AnswerSpec) -> str:
    values = [_value(rng, target) for target in answer.targets]
    if rng.random() < 0.5:
        return json.dumps(values, ensure_ascii=rng.random() < 0.5)
    value = values[0]
    return f"[{value}]" if rng.random() < 0.7 else str(value)


def _decoded(rng: random.Random, answer: AnswerSpec, depth: int = 3) -> Any:
    """Return what a prediction file may hold in the place of a text."""
    kind = rng.random()
    if kind < 0.4:
        values = [_value(rng, target) for target in answer.targets]
        if rng.random() < 0.3:
            values[rng.randrange(len(values))] = _decoded(rng, answer, depth - 1)
        return tuple(values) if rng.random() < 0.1 else values
    if kind < 0.6 and depth:
        return [_decoded(rng, answer, depth - 1) for _ in range(rng.randrange(4))]
    if kind < 0.7 and depth:
        return {rng.choice(_PIECES): _decoded(rng, answer, depth - 1) for _ in range(rng.randrange(3))}
    return rng.choice((None, True, False, 0, -1, 7, 10**5000, 1.5, -0.0, math.nan, math.inf, -math.inf, "", "[1]"))


def _broken(rng: random.Random, text: str, other: str) -> str:
    """Return a text with some damage."""
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        at, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        match rng.randrange(8):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:end] + text[at:end] * rng.randint(1, 3) + text[end:]
            case 2 | 3:
                text = text[:at] + rng.choice(_PIECES) + text[at:]
            case 4:
                text = text[:at] + rng.choice(_PIECES) + text[at + 1 :]
            case 5:
                text = text[:at] + other[rng.randint(0, len(other)) :]
            case 6:
                text = rng.choice(
                    ("<think>{}</think>", "{}\n{}", "I say {}.", "```json\n{}\n```", "[{}]", '"{}"')
                ).replace("{}", text, 2)
            case _:
                text = "".join(
                    chr(ord(sign) ^ (1 << rng.randrange(7))) if rng.random() < 0.1 else sign for sign in text
                )
    return text


def answers(parser: str, seed: int) -> Iterator[tuple[AnswerSpec, Completion]]:
    """Yield hostile answers without end, the same for the same seed."""
    rng = random.Random(f"{parser} {seed}")
    known = specs(parser)
    while True:
        answer = rng.choice(known)
        kind = rng.random()
        text: object
        if kind < 0.08:
            text = _decoded(rng, answer)
        elif kind < 0.25:
            text = "".join(rng.choices(_PIECES, k=rng.randint(0, 12)))
        elif kind < 0.251:
            text = "".join(rng.choices(_PIECES, k=2)) * 2_000
        else:
            text = _broken(rng, _written(rng, answer), _written(rng, rng.choice(known)))
        reasoning = "".join(rng.choices(_PIECES, k=5)) if rng.random() < 0.1 else None
        yield answer, Completion(text, reasoning)


# What may come of it


def fault(parser: str, answer: AnswerSpec, completion: Completion, found: Parsed | Failure) -> str | None:
    """Say what is wrong with what a parser made of an answer, or return None."""
    if isinstance(found, Failure):
        if found.stage != "parse" or not found.reason:
            return f"the failure {found} is none of reading"
        return "a reason without end" if len(found.reason) > 2_000 else None
    if not isinstance(found, Parsed):
        return f"{type(found).__name__} is neither a prediction nor a failure"
    if found.repaired is not None and found.repaired not in answer.repairs:
        return f"the repair {found.repaired} is not allowed"
    if not isinstance(found.values, tuple) or len(found.values) != len(answer.targets):
        return f"{found.values!r} are not {len(answer.targets)} values"
    for value, target in zip(found.values, answer.targets, strict=True):
        if wrong := _misfit(value, target, answer):
            return f"{target.name}: {wrong}"
    return _UNFOUNDED[parser](answer, completion, found) if parser in _UNFOUNDED else None


def _misfit(value: Value, target: Target, answer: AnswerSpec) -> str | None:
    """Say why a value is none of its target's, by what `Target` says of the kinds."""
    match target.kind:
        case "numeric" | "population" | "ordinal":
            if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
                return f"{value!r} is no finite number"
            if target.kind == "ordinal" and value != int(value):  # type: ignore[arg-type]
                return f"{value!r} is not whole"
            if answer.clip and target.range and not target.range[0] <= value <= target.range[1]:  # type: ignore[operator]
                return f"{value!r} is out of range"
        case "categorical":
            if not any(type(value) is str and value == label for label in target.labels):
                return f"{value!r} is no label"
        case "probability":
            if type(value) is not tuple or len(value) != len(target.labels):
                return f"{value!r} is no vector of {len(target.labels)}"
            if not all(type(share) is float and 0 <= share <= 1 for share in value):
                return f"{value!r} holds what is no probability"
            if abs(sum(map(Fraction, value)) - 1) > Fraction(1_000_001, 10**12):
                return f"{value!r} sums to {math.fsum(value)!r}"
        case "choice_set":
            letters = str(answer.options.get("letters", "")).upper() or "".join(target.labels) or "ABCD"
            if (
                type(value) is not str
                or not value
                or list(value) != sorted(set(value))
                or not set(value) <= set(letters)
            ):
                return f"{value!r} is no sorted set of {letters}"
        case "text":
            if type(value) is not str:
                return f"{value!r} is no text"
    return None


def _read(answer: AnswerSpec, completion: Completion) -> object:
    raw = completion.text
    if answer.reads == "reasoning_then_answer" and completion.reasoning and isinstance(raw, str):
        return f"<think>{completion.reasoning}</think>\n{raw}"
    return raw


def _first_json(raw: object) -> Any:
    """Return the JSON that an answer holds, by trying every bracket anew; None where there is none."""
    if not isinstance(raw, str):
        return raw
    text = raw.strip()
    if "</think>" in text:
        text = text[text.index("</think>") + 8 :].strip()
    decoder = json.JSONDecoder()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    for at, sign in enumerate(text):
        if sign in "[{":
            try:
                return decoder.raw_decode(text, at)[0]
            except (ValueError, RecursionError):
                continue
    return None


def _array_unfounded(answer: AnswerSpec, completion: Completion, found: Parsed) -> str | None:
    raw = _read(answer, completion)
    if found.repaired or (isinstance(raw, str) and len(raw) > 2_000):
        return None
    array = _first_json(raw)
    if not isinstance(array, list | tuple) or len(array) != len(found.values):
        return f"the answer is {array!r}"
    for value, element, target in zip(found.values, array, answer.targets, strict=True):
        if isinstance(element, bool):
            return "a truth value is no number"
        if target.kind == "probability":
            same = all(
                type(share) in (int, float) and share == mine for share, mine in zip(element, value, strict=True)
            )  # type: ignore[arg-type]
        elif target.kind == "choice_set":
            same = isinstance(element, str) and set(element) == set(str(value))
        elif target.kind == "categorical":
            same = element == value or (type(element) in (int, float) and str(int(element)) == value)
        elif target.kind == "text":
            same = element == value
        else:
            number = float(element)
            low, high = target.range if answer.clip and target.range else (-math.inf, math.inf)
            same = min(max(number, low), high) == value
        if not same:
            return f"{element!r} was read as {value!r}"
    return None


def _number_unfounded(answer: AnswerSpec, completion: Completion, found: Parsed) -> str | None:
    raw, (value,) = _read(answer, completion), found.values
    low, high = answer.targets[0].range if answer.clip and answer.targets[0].range else (-math.inf, math.inf)
    told = [float(raw)] if not isinstance(raw, str) else [*map(float, re.findall(r"-?[\d]+\.?[\d]*", raw))]  # type: ignore[arg-type]
    bounded = (min(max(number, low), high) for number in told)
    if any(value in (number, math.trunc(number)) for number in bounded if math.isfinite(number)):
        return None
    return f"{value!r} does not stand in the answer"


def _word_unfounded(answer: AnswerSpec, completion: Completion, found: Parsed) -> str | None:
    raw, (value,) = _read(answer, completion), found.values
    given = answer.options.get("words")
    words = [word.strip() for word in str(given).split(",")] if given else list(answer.targets[0].labels)
    word = value if isinstance(value, str) else words[int(value)]  # type: ignore[arg-type]
    if isinstance(raw, str) and word.casefold() in raw.casefold():
        return None
    return f"{word!r} does not stand in the answer"


def _letters_unfounded(answer: AnswerSpec, completion: Completion, found: Parsed) -> str | None:
    raw = _read(answer, completion)
    if isinstance(raw, str) and set(str(found.values[0])) <= set(raw.upper()):
        return None
    return f"{found.values[0]!r} does not stand in the answer"


def _text_unfounded(answer: AnswerSpec, completion: Completion, found: Parsed) -> str | None:
    return None if found.values == (_read(answer, completion),) else "the text is another"


_UNFOUNDED: dict[str, Callable[[AnswerSpec, Completion, Parsed], str | None]] = {
    "json_array": _array_unfounded,
    "probability_vectors": _array_unfounded,
    "bracketed_number": _number_unfounded,
    "bracketed_integer": _number_unfounded,
    "choice_words": _word_unfounded,
    "choice_letters": _letters_unfounded,
    "text": _text_unfounded,
}
