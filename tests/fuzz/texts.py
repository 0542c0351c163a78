"""Words and task files that nobody meant."""

from __future__ import annotations

import random

_WORDS = (
    "openai", "replay", "ensemble", ":", ",", "=", "'", '"', "[", "]", "{", "}", "\\", "\\u0041", " ", "\t", "\n",
    "\0", "*",
    "?", "[a-z]", "[!", "!", "+", "@", "@*", "!*", "cons_*", "suite/task", "../..", "/", "label=", "temperature=0.5",
    "temperature=NaN", "top_p=1e999", "max_tokens=-1", "seed=9" + "9" * 5000, "stop=['a','b']", 'stop=["a"]',
    "extra={}",
    "extra={\"a\":" * 200, "base_url=http://x", "concurrency=0", "null", "true", "NaN", "9" * 50, "é", "İ", "\ud800",
    "\u202e", "gpt-5", "a" * 3000, "[" * 2000, "*" * 60, "[a" * 50, "a,b", "x=1", "$(id)", ";", "#", "%00",
)  # fmt: skip


def words(rng: random.Random, base: str) -> str:
    """Return a text of odd words, or one that is made of a right one."""
    if rng.random() < 0.4:
        return "".join(rng.choices(_WORDS, k=rng.randint(0, 8)))
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, end = sorted((rng.randint(0, len(base)), rng.randint(0, len(base))))
        base = rng.choice((base[:at] + base[end:], base[:at] + rng.choice(_WORDS) + base[at:], base[:end] + base[at:]))
    return base


def mutated(rng: random.Random, text: str, other: str) -> str:
    """Return a YAML text with lines that are gone, doubled, swapped, taken from another, and values that are others."""
    lines = text.splitlines(keepends=True)
    others = other.splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randrange(len(lines)) if lines else 0
        line = lines[at] if lines else ""
        match rng.randrange(9):
            case 0:
                del lines[at : at + rng.choice((1, 1, 3))]
            case 1:
                lines[at:at] = lines[at : at + rng.choice((1, 2, 10))]
            case 2:
                lines[at : at + 1] = [rng.choice(others)]
            case 3:
                lines[at : at + 1] = [" " * rng.randint(0, 9) + line.lstrip()]
            case 4 | 5 | 6:
                key, colon, _ = line.partition(":")
                lines[at : at + 1] = [f"{key}{colon or ':'} {rng.choice(_VALUES)}\n"]
            case 7:
                cut = rng.randint(0, len(line))
                lines[at : at + 1] = [line[:cut] + rng.choice(_SIGNS) + line[cut:]]
            case _:
                lines = ["".join(lines)[: rng.randint(0, len(text))]]
    return "".join(lines)


_VALUES = (
    "", "null", "[]", "{}", "[[]]", "{a: {b: c}}", "true", "1", "-1", "0", "1.5", "1e999", ".nan", ".inf", "2020-01-01",
    "12:30", "yes", "'*'", "'{{ x }}'", "'{% for %}'", "\"\\0\"", "\"\\ud800\"", "\"\\U0001F600\"", "&a [*a]",
    "*nothing", "!!set {a}",
    "!!binary x", "!!python/name:os.system", "<<: {a: 1}", "? a", "[1, [2, [3]]]", "[null]", "[true, false]",
    "x" * 5000,
    "9" * 400, "0x" + "f" * 5000, "../../../etc/passwd", "/etc/passwd", "{file: /etc/passwd}",
    "{include: _shared.yaml#x}",
    "[include: '_shared.yaml#predictors']", "json_array", "numeric", "lag1", "=1", "=x", "mean", "|\n  text",
    ">-\n  folded",
    "{names: [a, a], section: b}", "[{require: [x]}]", "[{trim: null}]", "{a: 1, a: 2}", "{1: 2}", "{null: 1}",
    "{true: 1}",
)  # fmt: skip
_SIGNS = (
    ":", "- ", "? ", "&a ", "*a", "!", "#", "|", ">", "'", '"', "[", "]", "{", "}", ",", "\t", "\0", "\x85", "\u2028",
    "\ufeff", "\x07", "\r", "---\n", "...\n", "%YAML 9.9\n", "@", "`", "é", "\ud800",
)  # fmt: skip
