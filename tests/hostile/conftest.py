"""A suite from somewhere on the internet whose every text is an attack, and what commands print of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from hbench.cli.main import main

ESCAPES = {
    "clear": "\x1b[2J\x1b[H",
    "title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "link": "\x1b]8;;https://evil.invalid\x1b\\click\x1b]8;;\x1b\\",
    "csi": "\x9b31m",
    "return": "all is well\rall is lost",
    "backspace": "safe\b\b\b\bevil",
    "bell": "\x07",
    "bidi": "\u202eetirw\u202c \u2066x\u2069",
    "zero_width": "pay\u200bpal\u2060\ufeff",
    "tags": "\U000e0041\U000e0042",
    "nul": "a\x00b",
    "delete": "\x7f",
    "separator": "one\u2028two\u2029three\x85four",
}
"""What terminals obey, what turns text around, and what nobody sees."""
ATTACK = "".join(ESCAPES.values()) + "[red]markup[/red] <script>alert(1)</script> =1+1 $x^{2$ {% if %}"
SEEN = ATTACK.replace("\x00", "")
"""The same without NUL, which neither YAML nor a command's words can hold."""


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Hbench = Callable[..., Done]


def in_yaml(text: str) -> str:
    """Write a text as YAML of one line, with every odd sign written out."""
    return yaml.safe_dump(text, default_style='"', width=10**6).strip()


def is_clean(text: str) -> bool:
    """Say whether a terminal shows a text as it is: all signs printable, but for line feeds and tabs."""
    return all(sign in "\n\t" or sign.isprintable() for sign in text)


@pytest.fixture
def hbench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hbench:
    """Call a command, and check that nothing that it printed could do harm."""
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()

    def call(*words: str) -> Done:
        code = main(words)
        captured = capsys.readouterr()
        for text in captured:
            assert is_clean(text), (words, [ascii(line) for line in text.splitlines() if not is_clean(line)][:3])
        return Done(code, captured.out, captured.err)

    return call


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Write two good tasks full of attacks with their records, and a folder of broken ones."""
    folder, data = tmp_path / "evil", tmp_path / "data"
    folder.mkdir()
    data.mkdir()
    text = in_yaml(SEEN)
    asked = "What is it? " + "".join(ESCAPES.values()).replace("\0", "")
    (folder / "_suite.yaml").write_text(f"suite: evil\ntitle: {text}\nnotices: [{{text: {text}}}]\n", encoding="utf-8")
    task = f"""\
task: spend
topic: {text}
title: {text}
source: none
key: {{id: id}}
targets: [{{name: amount, kind: numeric, no_change: lag1, unit: {text}}}]
prompt: {{paragraphs: [{in_yaml(asked)}]}}
answer: {{parser: json_array}}
metrics: [relmae]
"""
    (folder / "spend.yaml").write_text(task, encoding="utf-8")
    mood = f"""\
task: mood
topic: feelings
source: none
key: {{id: id}}
targets: [{{name: mood, kind: categorical, labels: [good, {text}]}}]
prompt: {{paragraphs: ["How do you feel?"]}}
answer: {{parser: json_array}}
metrics: [accuracy]
"""
    (folder / "mood.yaml").write_text(mood, encoding="utf-8")
    bad = tmp_path / "broken"
    bad.mkdir()
    (bad / "a\x1b[2J\u202e.yaml").write_text(f"task: a\n{text}: 1\n{text}: 2\n", encoding="utf-8")
    (bad / "b.yaml").write_text(f"task: b\nsuite: evil\ntopic: x\ntargets: []\n{text}: 1\n", encoding="utf-8")
    for name, gold in (("spend", "[{}]"), ("mood", '["good"]')):
        rows = [
            {
                "id": f"r{i}{ATTACK}",
                "user": f"{i}: {ATTACK}?",
                "assistant": gold.format(i),
                "naive_baseline": gold.format(i + 1),
                "predictors": {f"age{SEEN}": ATTACK},
                "group": ATTACK,
            }
            for i in range(12)
        ]
        (data / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder
