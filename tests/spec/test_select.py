from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import SelectionError
from hbench.spec import TaskEntry, TaskIndex


def entry(
    suite: str, task: str, topic: str, mode: str = "baseline", kind: str = "numeric", group: str = ""
) -> TaskEntry:
    groups = (group,) if group else ()
    file = f"/{suite}/{task}.yaml"
    return TaskEntry(f"{suite}/{task}", suite, task, topic, mode, (kind,), ("y",), groups, "", "", file, f"/{suite}")


INDEX = TaskIndex(
    entries=[
        entry("people", "age", "traits", kind="numeric"),
        entry("people", "big_five", "traits", kind="ordinal", group="survey"),
        entry("people", "dictator", "games", kind="population", group="games"),
        entry("money", "cons_cex_total", "consumption"),
        entry("money", "cons_psid_rebate", "consumption", "policy"),
        entry("money", "labor_ui", "labor", "policy", "probability"),
    ]
)


def names(*expressions: str) -> list[str]:
    return [found.task for found in INDEX.select(list(expressions))]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("age", ["age"]),
        ("people/age", ["age"]),
        ("age, labor_ui", ["labor_ui", "age"]),
        ("cons_*", ["cons_cex_total", "cons_psid_rebate"]),
        ("cons_*,!cons_psid_*", ["cons_cex_total"]),
        ("money/*", ["cons_cex_total", "cons_psid_rebate", "labor_ui"]),
        ("@people", ["age", "big_five", "dictator"]),
        ("@policy", ["cons_psid_rebate", "labor_ui"]),
        ("@consumption", ["cons_cex_total", "cons_psid_rebate"]),
        ("@probability", ["labor_ui"]),
        ("@games", ["dictator"]),
        ("@survey", ["big_five"]),
        ("@money+@baseline", ["cons_cex_total"]),
        ("@money+cons_*+@policy", ["cons_psid_rebate"]),
        ("@money,!@policy+@consumption", ["cons_cex_total", "labor_ui"]),
        ("!@money", ["age", "big_five", "dictator"]),
        ("*", ["cons_cex_total", "cons_psid_rebate", "labor_ui", "age", "big_five", "dictator"]),
        ("a?e", ["age"]),
        ("@pe*", ["age", "big_five", "dictator"]),
    ],
)
def test_expressions(expression: str, expected: list[str]) -> None:
    assert names(expression) == expected


def test_several_expressions_are_one_list() -> None:
    assert names("cons_*", "!cons_psid_*", "age") == names("cons_*,!cons_psid_*,age")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "no tasks are named"),
        (" , ", "no tasks are named"),
        ("cons_cex_totl", "Did you mean 'cons_cex_total'"),
        ("money/cons_cex_totl", "Did you mean 'money/cons_cex_total'"),
        ("@polcy", "Did you mean '@policy'"),
        ("age,big_fiv", "no task matches 'big_fiv'"),
        ("age,!agee", "no task matches 'agee'"),
        ("age,!age", "leaves no task"),
        ("@money+@traits", "no task is all of"),
        ("+", "names nothing"),
        ("@money+", "names nothing"),
        ("age,!", "names nothing"),
        ("zzzzzz", "See `hbench ls tasks`"),
    ],
)
def test_an_empty_selection_is_an_error(expression: str, message: str) -> None:
    with pytest.raises(SelectionError) as caught:
        INDEX.select(expression)
    assert message in str(caught.value)


PARTS = st.sampled_from(["age", "cons_*", "@people", "@policy", "@consumption", "*"])


@given(st.lists(PARTS, min_size=1, max_size=4), PARTS)
def test_laws_of_selection(wanted: list[str], left_out: str) -> None:
    chosen = {found.name for found in INDEX.select(wanted)}
    union = {found.name for part in wanted for found in INDEX.select(part)}
    assert chosen == union
    without = union - {found.name for found in INDEX.select(left_out)}
    if without:
        assert {found.name for found in INDEX.select([*wanted, f"!{left_out}"])} == without
    else:
        with pytest.raises(SelectionError):
            INDEX.select([*wanted, f"!{left_out}"])
