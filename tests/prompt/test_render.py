"""Sentences, paragraphs, sections, template files, adapters and arms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import DataError, Message, SpecError
from hbench.prompt import PromptRenderer, is_missing
from hbench.spec import Task
from tests.prompt.conftest import MakeTask

GOLDEN = Path(__file__).parent / "golden"


def user(task: Task, row: Mapping[str, Any], **options: Any) -> str:
    return PromptRenderer(task).render(row, **options)[-1].content


def test_a_whole_prompt(make_task: MakeTask) -> None:
    task = make_task(
        prompt={
            "system": "You are {{ age|article }} {{ age }}-year-old who keeps a diary.\n",
            "paragraphs": [
                [
                    "You are {{ age|article }} {{ age }}-year-old {{ sex|label({1: 'man', 2: 'woman'}) }}.",
                    "You live with {{ kids|plural('child', 'children') }}.",
                    "You {% if job is known %}work as {{ job|article }} {{ job }}{% else %}do not work{% endif %}.",
                ],
                {"text": "It is {{ day|month }}.", "section": "macro"},
                {
                    "sentences": ["You spent {{ x_lag1|dollars }} last month.", "Before that: {{ x_lag2|dollars }}."],
                    "section": "history",
                },
                {"text": "You own {{ [house, car, boat]|listing }}."},
                {"sentences": ["- Rate {{ rate|percent(1) }}", "- Growth {{ growth|percent(1) }}"], "join": "\n"},
                {"text": "You have retired.", "when": "age >= 65"},
                {"text": "You have a pension.", "when": "pension > 0"},
                "How much will you spend?",
            ],
        }
    )
    full = {
        "age": 81.0, "sex": 2.0, "kids": 1, "job": "usher", "day": "2019-12-01", "x_lag1": -1234.5, "x_lag2": 0,
        "house": "a house", "car": None, "boat": "a boat", "rate": 3.25, "growth": -0.04, "pension": 5,
    }  # fmt: skip
    sparse = dict.fromkeys(full) | {"age": 30, "sex": 1, "x_lag1": math.nan, "growth": math.nan}
    renderer = PromptRenderer(task)
    shown = []
    for row, without in ((full, ()), (sparse, ()), (full, ("macro", "history", "no such section"))):
        shown += [f"[{message.role}]\n{message.content}" for message in renderer.render(row, without=without)]
    assert "\n\n=====\n\n".join(shown) + "\n" == (GOLDEN / "diary.txt").read_text(encoding="utf-8")
    assert renderer.sections == {"macro", "history"}


@pytest.mark.parametrize("missing", [None, math.nan, "absent"])
@pytest.mark.parametrize(
    "sentence",
    [
        "{{ x }}", "{{ x|dollars }}", "{{ x + 1 }}", "{{ 1 + x }}", "{{ 2 * x }}", "{{ -x }}", "{{ x ~ 'a' }}",
        "{{ x.y }}", "{{ x['y'] }}", "{{ x|lower }}", "{{ x|label({1: 'a'}) }}", "{% if x > 1 %}a{% endif %}",
        "{% if x %}a{% endif %}", "{% if x == 1 %}a{% endif %}", "{% if not x %}a{% endif %}",
        "{% for i in x %}a{% endfor %}b", "{% set z = x %}{{ z }}", "{{ x in [1] }}", "{{ [x]|listing }}",
        "{{ [x]|join }}", "{{ row.x }}", "{{ row['x'] }}", "{{ {'k': x}.k }}", "{% for i in [x] %}{{ i }}{% endfor %}b",
    ],
)  # fmt: skip
def test_any_use_of_a_missing_value_leaves_the_sentence_out(make_task: MakeTask, sentence: str, missing: Any) -> None:
    row = {} if missing == "absent" else {"x": missing}
    task = make_task(prompt={"paragraphs": [["First.", sentence], sentence, "Last."]})
    assert user(task, row) == "First.\n\nLast."


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("{{ 'yes' if x is known else 'no' }}", "no"),
        ("{{ 'yes' if x is missing else 'no' }}", "yes"),
        ("{% if x is known and x > 1 %}a{% else %}b{% endif %}", "b"),
        ("{{ x|default('nothing') }}", "nothing"),
        ("{{ y if y is known else x }}", "1"),
    ],
)
def test_a_value_that_is_only_tested(make_task: MakeTask, sentence: str, text: str) -> None:
    assert user(make_task(prompt={"paragraphs": [sentence]}), {"x": None, "y": 1.0}) == text


def test_missing_values_inside_values(make_task: MakeTask) -> None:
    task = make_task(prompt={"paragraphs": [["{{ h.a }}", "{{ h.b }}", "{{ h.c }}", "{{ xs[0] }}", "{{ xs[1] }}"]]})
    assert user(task, {"h": {"a": "A", "b": None}, "xs": [math.nan, "X"]}) == "A X"


@pytest.mark.parametrize("value", [None, math.nan])
def test_is_missing(value: Any) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", False, "nan", [], 0.0])
def test_is_not_missing(value: Any) -> None:
    assert not is_missing(value)


def test_data_frame_nulls_are_missing() -> None:
    pandas = pytest.importorskip("pandas")
    assert is_missing(pandas.NA)
    assert is_missing(pandas.NaT)


def test_nothing_left(make_task: MakeTask) -> None:
    with pytest.raises(DataError, match="every sentence lacks a value"):
        user(make_task(prompt={"paragraphs": ["{{ x }}"]}), {})


def test_the_system_turn_is_never_dropped_silently(make_task: MakeTask) -> None:
    task = make_task(prompt={"system": "You are {{ age }}.", "paragraphs": ["Hello."]})
    with pytest.raises(DataError, match="'age' is undefined"):
        user(task, {})
    empty = make_task(prompt={"system": "{% if x is known %}{{ x }}{% endif %}", "paragraphs": ["Hello."]})
    assert PromptRenderer(empty).render({}) == (Message("user", "Hello."),)


def test_arms(make_task: MakeTask) -> None:
    renderer = PromptRenderer(make_task(prompt={"paragraphs": ["Rebate: {{ rebate|dollars }}.", "Income {{ y }}."]}))
    arms = renderer.render_arms({"rebate": None, "y": 1}, "rebate", [0, 300])
    assert [arm[-1].content for arm in arms] == ["Rebate: $0.\n\nIncome 1.", "Rebate: $300.\n\nIncome 1."]


class Adapters:
    """Stands in for the registry."""

    def get(self, kind: str, name: str, *, suite: str | None = None) -> Any:
        assert (kind, name, suite) == ("adapter", "ages", "example")
        return lambda row: {"age": row["year"] - row["born"], "born": None}


def test_adapter(make_task: MakeTask) -> None:
    task = make_task(prompt={"adapter": "ages", "paragraphs": [["{{ age }}", "{{ year }}", "{{ born }}"]]})
    renderer = PromptRenderer(task, registry=Adapters())
    assert renderer.render({"year": 2000, "born": 1960})[-1].content == "40 2000"
    renderer.check([])  # the adapter may add any name


def test_an_adapter_that_raises_is_named_with_its_code(make_task: MakeTask) -> None:
    task = make_task(prompt={"adapter": "ages", "paragraphs": [["{{ age }}"]]})
    with pytest.raises(DataError, match=r"the prompt's adapter 'ages' raised KeyError in .*'born'"):
        PromptRenderer(task, registry=Adapters()).render({"year": 2000})


def test_check_names_the_nearest_column(make_task: MakeTask, tmp_path: Path) -> None:
    file = tmp_path / "spending.yaml"
    file.write_text("prompt:\n  paragraphs:\n    - You earn {{ incme|dollars }}.\n", encoding="utf-8")
    task = make_task(prompt={"paragraphs": ["You earn {{ incme|dollars }}."]})
    with pytest.raises(SpecError, match="'incme'") as caught:
        PromptRenderer(task, file=file).check(["income", "age"])
    assert caught.value.hint == "Did you mean 'income'?"
    assert (caught.value.file, caught.value.line) == (str(file), 3)


def test_faults_name_file_and_line(make_task: MakeTask, tmp_path: Path) -> None:
    (tmp_path / "spending.yaml").write_text("a: 1\n", encoding="utf-8")
    shared = tmp_path / "_shared.yaml"
    shared.write_text("views:\n  - Good.\n  - |\n    Line one.\n    {{ x|dollars }} of it\n", encoding="utf-8")
    task = make_task(prompt={"paragraphs": ["Line one.\n{{ x|dollars }} of it\n"]})
    with pytest.raises(SpecError, match="a number is wanted, not 'ten'") as caught:
        PromptRenderer(task, folder=tmp_path).render({"x": "ten"})
    assert (caught.value.file, caught.value.line) == (str(shared), 5)


def test_template_file(make_task: MakeTask, tmp_path: Path) -> None:
    folder = tmp_path / "suite" / "sub"
    folder.mkdir(parents=True)
    (tmp_path / "suite" / "shared.j2").write_text(
        "## Game\nYou have ${{ x }}.{% sentence %} They have ${{ y }}.{% endsentence %} Go.\n\n"
        "{% sentence %}Only with {{ y }}.{% endsentence %}\n\n"
        "{% if 'history' not in without %}\n## History\n{% for h in rounds %}\n- {{ h }}\n{% endfor %}\n{% endif %}\n",
        encoding="utf-8",
    )
    task = make_task(prompt={"template": "../shared.j2"})
    renderer = PromptRenderer(task, folder=folder, root=tmp_path / "suite")
    row = {"x": 5.0, "y": None, "rounds": ["a", "b"]}
    assert renderer.render(row)[0].content == "## Game\nYou have $5. Go.\n\n## History\n- a\n- b"
    assert renderer.render(row, without=["history"])[0].content == "## Game\nYou have $5. Go."
    assert "They have $7. Go.\n\nOnly with 7." in renderer.render(row | {"y": 7})[0].content
    with pytest.raises(DataError, match="'x' is undefined") as caught:
        renderer.render({"rounds": []})
    assert "is known" in str(caught.value.hint)


def test_template_files_stay_in_the_suite(make_task: MakeTask, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (suite / "link.j2").symlink_to(tmp_path / "secret")
    for name in ("../secret", str(tmp_path / "secret"), "link.j2"):
        with pytest.raises(SpecError, match="outside the suite's folder"):
            PromptRenderer(make_task(prompt={"template": name}), folder=suite)
    with pytest.raises(SpecError, match="cannot be read"):
        PromptRenderer(make_task(prompt={"template": "none.j2"}), folder=suite)
    with pytest.raises(SpecError, match="folder is not known"):
        PromptRenderer(make_task(prompt={"template": "none.j2"}))


def test_faults_in_template_files(make_task: MakeTask, tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_text("one\ntwo\n{{ x|dollars }}\n", encoding="utf-8")
    renderer = PromptRenderer(make_task(prompt={"template": "t.j2"}), folder=tmp_path)
    with pytest.raises(SpecError) as caught:
        renderer.render({"x": "ten"})
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "t.j2"), 3)


@given(st.dictionaries(st.sampled_from("abcdef"), st.none() | st.floats(allow_infinity=False) | st.text(min_size=1)))
def test_a_sentence_stands_exactly_where_its_values_do(row: dict[str, Any]) -> None:
    paragraphs = [
        [f"<{name}|{{{{ {name} }}}}>" for name in "abc"],
        [f"<{name}|{{{{ {name} }}}}>" for name in "def"],
        ".",
    ]
    task = Task.model_validate(
        {
            "task": "t", "suite": "s", "topic": "x", "source": "y", "key": {"id": "i"},
            "targets": [{"name": "y", "kind": "numeric"}], "prompt": {"paragraphs": paragraphs},
            "answer": {"parser": "json_array"}, "metrics": ["mae"],
        }
    )  # fmt: skip
    text = user(task, row)
    for name in "abcdef":
        assert (f"<{name}|" in text) == (name in row and not is_missing(row[name])) or f"<{name}|" in str(row.values())
