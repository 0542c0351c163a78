"""Hostile templates: an error that says what is wrong, at once."""

from __future__ import annotations

import time

import pytest

from hbench.core import SpecError
from hbench.prompt import PromptRenderer
from tests.prompt.conftest import MakeTask

ROW = {"a": "word", "n": 3.0, "many": [1, 2, 3], "history": [{"r": 1, "others": [4, 5]}, {"r": 2, "others": [6]}]}

BOMBS = {
    "text times number": "{{ 'a' * 100000000 }}",
    "list times number": "{{ [1] * 1000000000 }}",
    "percent format": "{{ '%1000000000d' % 1 }}",
    "format method": "{{ '{:>1000000000}'.format(1) }}",
    "padding": "{{ 'x'.ljust(100000000) }}",
    "decimals": "{{ 1|number(1000000000) }}",
    "tower": "{{ 9**9**9**9 }}",
    "squares": "{% set x = 99999 %}" + "{% set x = x * x %}" * 40 + "{{ x }}",
    "range": "{{ range(100000000)|list|length }}",
    "nested loops": "{% for i in range(9999) %}{% for j in range(9999) %}{% for k in range(9999) %}"
    "{% endfor %}{% endfor %}{% endfor %}",
    "loop with text": "{% for i in range(9999) %}" + "x" * 1000 + "{% endfor %}",
    "guarded loop": "{% sentence %}{% for i in range(9999) %}" + "x" * 1000 + "{% endfor %}{% endsentence %}",
    "concatenation": "{% set x = 'aaaaaaaaaa' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
    "addition": "{% set x = 'aaaaaaaaaa' %}" + "{% set x = x + x %}" * 40 + "{{ x }}",
    "joining": "{% set x = 'aaaaaaaaaa' %}" + "{% set x = [x,x,x,x,x,x,x,x]|join %}" * 40 + "{{ x }}",
    "nested lists": "{% set x = [1] %}" + "{% set x = [x, x] %}" * 60 + "{{ x }}",
    "nested lists, lowered": "{% set x = [1] %}" + "{% set x = [x, x] %}" * 60 + "{{ x|lower }}",
    "nested with": "{% with x = [1] %}" + "{% with x = [x, x] %}" * 60 + "{{ x|upper }}" + "{% endwith %}" * 61,
    "list output": "{{ many }}",
    "macro": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "recursive loop": "{% for i in many recursive %}{{ loop(many) }}{% endfor %}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import 'os' as os %}",
    "extends": "{% extends 'x' %}",
    "block": "{% block b %}{% endblock %}",
    "class": "{{ ().__class__.__mro__ }}",
    "class by item": "{{ a['__class__'] }}",
    "globals": "{{ range.__globals__ }}",
    "template object": "{{ self }}",
    "unknown filter": "{{ a|center(1000000000) }}",
    "attr filter": "{{ a|attr('__class__') }}",
    "unknown attribute": "{{ a.foo }}",
    "unknown method": "{{ a.foo() }}",
    "division by zero": "{{ 1 / 0 }}",
    "wrong type": "{{ a|dollars }}",
    "syntax": "{% if %}",
    "unclosed": "{{ a",
}


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS)
def test_refused_at_once(make_task: MakeTask, source: str) -> None:
    start = time.process_time()
    with pytest.raises(SpecError, match=r"the prompt's template fails: .+") as caught:
        PromptRenderer(make_task(prompt={"paragraphs": [source]})).render(ROW)
    assert time.process_time() - start < 3
    assert len(str(caught.value)) < 600
    assert "example/spending" in str(caught.value)


@pytest.mark.parametrize("name", ["lipsum(99999)", "cycler", "joiner", "namespace", "dict", "environment", "config"])
def test_no_globals_but_range(make_task: MakeTask, name: str) -> None:
    task = make_task(prompt={"paragraphs": ["{{ " + name + " }}", "end"]})
    assert PromptRenderer(task).render(ROW)[-1].content == "end"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ n + 1 }} {{ n * 2 }} {{ n ** 2 }} {{ 7 % 4 }} {{ -n }}", "4 6 9 3 -3"),
        ("{{ a ~ '-' ~ n }}{{ a + 's' }}", "word-3words"),
        (
            "{% for h in history %}Round {{ h.r }}: {{ h.others|join(', ') }}. {% endfor %}",
            "Round 1: 4, 5. Round 2: 6.",
        ),
        ("{% for i in range(3) %}{{ i }}{{ ',' if not loop.last }}{% endfor %}", "0,1,2"),
        ("{{ a.upper() }} {{ a|title }} {{ a.startswith('w') }}", "WORD Word True"),
        ("{% set twice = n * 2 %}{{ twice|spelled }}", "six"),
        ("{{ many|sum }} {{ many|length }} {{ many[0] }} {{ many|max }}", "6 3 1 3"),
        ("{% with half = n / 2 %}{{ half }}{% endwith %}", "1.5"),
    ],
)
def test_what_prompts_need(make_task: MakeTask, source: str, text: str) -> None:
    assert PromptRenderer(make_task(prompt={"paragraphs": [source]})).render(ROW)[-1].content == text


def test_no_state_between_sentences_or_rows(make_task: MakeTask) -> None:
    task = make_task(prompt={"paragraphs": [["{% set x = 1 %}{{ x }}", "{{ x }}"]]})
    renderer = PromptRenderer(task)
    assert [renderer.render({})[-1].content for _ in range(2)] == ["1", "1"]


def test_the_budget_is_per_prompt(make_task: MakeTask) -> None:
    renderer = PromptRenderer(make_task(prompt={"paragraphs": ["{% for i in range(9999) %}{{ i }} {% endfor %}"]}))
    lengths = {len(renderer.render({})[-1].content) for _ in range(30)}
    assert len(lengths) == 1
