"""The assistant's text of every task reads back as the truth: rendering is the parser's inverse."""

from __future__ import annotations

from functools import cache

import pytest

from hbench.core import DataError, Message, Record, Target, Value, Values
from hbench.parse import parse_gold
from hbench.plugin import default_registry
from hbench.run.context import parser_of
from hbench.spec import Task, discover
from hbench.train.examples import ExampleMaker

PROMPT = (Message("user", "What then?"),)


@cache
def task_of(name: str) -> Task:
    return discover().get(name).load()


def truths(target: Target, decimals: int | None) -> list[Value]:
    """Return values at the ends of what a target can be, and one within."""
    n = len(target.labels)
    if target.kind == "categorical":
        return list(target.labels)
    if target.kind == "probability":
        certain = [tuple(float(i == place) for i in range(n)) for place in range(n)]
        return [*certain, (0.75, *[0.0] * (n - 2), 0.25)]
    if target.kind == "choice_set":
        return ["A", "BC", "ABCD"]
    if target.kind == "text":
        return ["Prices rise.", '["a"]\n{"b": 1}', "Ünïcode — 漢字"]
    low, high = target.range or (-12_345.0, 9_876_543.0)
    middle = (low + high) / 2
    fine = middle if decimals is None else float(round(middle, decimals))
    return [int(low), int(high), int(middle)] if target.kind == "ordinal" else [low, high, fine]


def names() -> list[str]:
    return [entry.name for entry in discover().select(["@householdbench", "@behaviorbench"])]


@pytest.mark.parametrize("name", names())
def test_the_answer_reads_back_as_the_truth(name: str) -> None:
    task = task_of(name)
    answer, parser = task.answer_spec(), parser_of(task, default_registry())
    maker = ExampleMaker(task, registry=default_registry(), seed=1)
    columns = [truths(target, answer.decimals) for target in task.targets]
    for row in range(max(map(len, columns))):
        values: Values = tuple(column[row % len(column)] for column in columns)
        record = Record(name, "r", messages=PROMPT, gold=parser.render(values, answer))
        example = maker.validation(record)
        assert example["messages"][0] == {"role": "user", "content": "What then?"}
        said = example["messages"][-1]
        assert said["role"] == "assistant"
        assert parse_gold(parser, said["content"], answer) == values
        assert said["content"] == record.gold


def test_formats_are_the_tasks_own() -> None:
    def said(name: str, gold: object) -> str:
        maker = ExampleMaker(task_of(name), registry=default_registry(), seed=1)
        return maker.validation(Record(name, "r", messages=PROMPT, gold=gold))["messages"][-1]["content"]

    assert said("behaviorbench/surv_resp_pred", "[4]") == "[4]"
    assert said("behaviorbench/game_behavior_push_pull", "[Pull]") == "[Pull]"
    # Released files may hold decoded JSON.
    assert said("householdbench/cons_cex_total", [9000, 7500, 1500]) == "[9000, 7500, 1500]"


WINNERS = {"all_winners": [14, 15, 16]}
CONTEST = "behaviorbench/strategic_gameplay_guessing"


def contest(**metadata: object) -> Record:
    return Record(CONTEST, "p", "s1-2", messages=PROMPT, gold="[14]", metadata=metadata)


def test_every_guess_that_wins_is_an_example() -> None:
    maker = ExampleMaker(task_of(CONTEST), registry=default_registry(), seed=1)
    examples = list(maker.training(contest(**WINNERS)))
    assert [(one["answer"], one["copy"], one["messages"][-1]["content"]) for one in examples] == [
        (0, 0, "[14]"),
        (1, 0, "[15]"),
        (2, 0, "[16]"),
    ]


def test_at_most_ten_guesses_of_a_round() -> None:
    def drawn(seed: int, winners: range) -> list[int]:
        maker = ExampleMaker(task_of(CONTEST), registry=default_registry(), seed=seed)
        examples = maker.training(contest(all_winners=list(winners)))
        return [int(one["messages"][-1]["content"].strip("[]")) for one in examples]

    assert drawn(1, range(10, 20)) == list(range(10, 20))
    many = drawn(1, range(10, 40))
    assert len(set(many)) == 10
    assert many == sorted(many)
    assert set(many) <= set(range(10, 40))
    assert many == drawn(1, range(10, 40))
    assert many != drawn(2, range(10, 40))


def test_a_round_without_winners_is_refused() -> None:
    maker = ExampleMaker(task_of(CONTEST), registry=default_registry(), seed=1)
    with pytest.raises(DataError, match="record p@s1-2: the record has no 'all_winners'"):
        list(maker.training(contest()))


def test_copies_are_identical() -> None:
    name = "behaviorbench/pers_score_pred"
    maker = ExampleMaker(task_of(name), registry=default_registry(), seed=1)
    one, two, three = maker.training(Record(name, "p", "O", messages=PROMPT, gold="[38]"))
    assert one["messages"] == two["messages"] == three["messages"]
    assert [one["copy"], two["copy"], three["copy"]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (Record(CONTEST, "p", messages=PROMPT), "has no true answer"),
        (Record("behaviorbench/surv_resp_pred", "p", gold="[4]"), "has no prompt"),
        (Record("behaviorbench/surv_resp_pred", "p", messages=PROMPT, gold="[9]"), "outside the range"),
    ],
)
def test_what_cannot_be_learned_is_refused(record: Record, message: str) -> None:
    maker = ExampleMaker(task_of(record.task), registry=default_registry(), seed=1)
    with pytest.raises(Exception, match=f"record p: .*{message}"):
        list(maker.training(record))
