"""Hostile templates: an error that says what is wrong, at once."""

from __future__ import annotations

import time
from contextlib import suppress

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


ADVISORIES = {
    # CVE-2016-10745, CVE-2019-10906: formats reach attributes of their arguments.
    "format": "{{ '{0.__class__.__mro__}'.format(a) }}",
    "format_map": "{{ '{a.__class__}'.format_map({'a': a}) }}",
    "format by item": "{{ a['format'](a) }}",
    # CVE-2024-56326: a stored reference to str.format, called by something that the sandbox does not see.
    "stored reference": "{% set f = '{0.__class__}'.format %}{{ f(a) }}",
    "reference handed to a filter": "{{ [a]|map('{0.__class__}'.format)|list }}",
    "reference from a list": "{{ ['{0.__class__}'.format][0](a) }}",
    "reference as a loop's item": "{% for f in ['{0.__class__}'.format] %}{{ f(a) }}{% endfor %}",
    # CVE-2025-27516: |attr gives str.format back as it is.
    "attr": "{{ ('{0.__class__}'|attr('format'))(a) }}",
    "map attribute": "{{ ['{0.__class__}']|map(attribute='format')|list }}",
    "sort attribute": "{{ [a]|sort(attribute='__class__') }}",
    "sum attribute": "{{ [a]|sum(attribute='__class__') }}",
    "min attribute": "{{ [a]|min(attribute='__class__') }}",
    "max attribute": "{{ [a]|max(attribute='__class__.__mro__') }}",
    "unique attribute": "{{ [a]|unique(attribute='__class__')|list|first }}",
    "groupby attribute": "{{ [a]|groupby('__class__') }}",
    "selectattr": "{{ [a]|selectattr('__class__')|list }}",
    # CVE-2024-22195, CVE-2024-34064: xmlattr puts keys into a page; prompts are no pages, and there is no such filter.
    "xmlattr": "{{ {'onload=alert(1) x': 1}|xmlattr }}",
    # CVE-2024-56201: the name of a template becomes code.
    "import by name": "{% from a import b %}",
    "include by name": "{% include a %}",
    # CVE-2020-28493: urlize takes quadratic time.
    "urlize": "{{ ('@' * 9)|urlize }}",
    "do": "{% do many.append(1) %}",
    "mutation": "{{ many.append(1) }}",
    "mutation by item": "{{ many['clear']() }}",
    "dictionary": "{{ history[0].update({'r': 2}) }}",
    "subclasses": "{{ ''.__class__.__base__.__subclasses__() }}",
    "subclasses by parts": "{{ ''['__cl' ~ 'ass__'] }}",
    "generator": "{{ (many|map('upper')).gi_frame }}",
    "method's function": "{{ a.upper.__func__ }}",
    "method's object": "{{ a.upper.__self__ }}",
    "filter's globals": "{{ (many|list).__init__.__globals__ }}",
    "loop's internals": "{% for i in many %}{{ loop.__class__ }}{% endfor %}",
    "undefined's internals": "{{ nothing.__class__ }}",
    "environment": "{{ self._TemplateReference__context.environment }}",
    "budget": "{{ __budget.left }}",
    "extension's tag": "{% trans %}{{ a }}{% endtrans %}",
    "autoescape": "{% autoescape true %}{{ a }}{% endautoescape %}",
    "call block": "{% call a() %}{% endcall %}",
    "filter block": "{% filter upper %}x{% endfilter %}",
    "scoped": "{% set ns = namespace(x=1) %}{% set ns.x = 2 %}",
    "debug": "{% debug %}",
    "line statement": "{{ a.__getattribute__('x') }}",
    "unicode name": "{{ a.__ｃlass__ }}",
}
"""Escapes from the sandbox, or from what it bounds, of Jinja2's published advisories and of the ways around them."""


@pytest.mark.parametrize("source", ADVISORIES.values(), ids=ADVISORIES)
def test_known_escapes_give_nothing_away(make_task: MakeTask, source: str) -> None:
    """Each is an error, or a sentence that is left out as a missing value's is; what is written shows no internals."""
    row = {**ROW, "many": [1, 2, 3], "history": [{"r": 1}]}
    with suppress(SpecError):
        text = PromptRenderer(make_task(prompt={"paragraphs": [source, "end"]})).render(row)[-1].content
        # The least of one word by any measure is that word.
        assert text in ("end", "word\n\nend" if "[a]|" in source else "end")
    assert row["many"] == [1, 2, 3]
    assert row["history"] == [{"r": 1}]


@pytest.mark.parametrize(
    "value", ["{{ 7 * 7 }}", "{% for i in range(9) %}x{% endfor %}", "{# x #}", "{a.__class__}", "%s%n"]
)
def test_values_are_text_and_no_templates(make_task: MakeTask, value: str) -> None:
    task = make_task(prompt={"paragraphs": ["It is {{ a }}."]})
    assert PromptRenderer(task).render({"a": value})[-1].content == f"It is {value}."
