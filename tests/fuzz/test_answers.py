"""Whatever a model says, a parser gives a prediction that fits the task or names what is wrong."""

from __future__ import annotations

from itertools import islice

import pytest

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Target
from hbench.plugin import default_registry

from .answers import PARSERS, answers, fault, instance

INPUTS = 2_000


@pytest.mark.parametrize("parser", PARSERS)
def test_hostile_answers_are_read_or_refused(parser: str) -> None:
    read, valid = instance(parser), 0
    for answer, completion in islice(answers(parser, seed=0), INPUTS):
        found = read(completion, answer)
        assert fault(parser, answer, completion, found) is None, (answer, completion)
        valid += isinstance(found, Parsed)
    # Enough of them are valid for the judge to be of use, and enough are not.
    assert valid > INPUTS // 20
    assert parser == "text" or valid < INPUTS * 19 // 20


def test_every_parser_of_ours_is_among_them() -> None:
    assert {info.name for info in default_registry().names("parser") if "/" not in info.name} == set(PARSERS)


TWO = AnswerSpec((Target(name="a", kind="numeric"), Target(name="b", kind="categorical", labels=("x", "y"))))


@pytest.mark.parametrize(
    "found",
    [
        Parsed((1.0,)),
        Parsed((float("nan"), "x")),
        Parsed((True, "x")),
        Parsed(("1", "x")),
        Parsed((1.0, "z")),
        Parsed((2.0, "x")),
        Parsed((1.0, "x"), repaired="numbers"),
        Failure("request", "timeout"),
        None,
    ],
    ids=repr,
)
def test_the_judge_sees_what_no_parser_may_return(found: Parsed) -> None:
    assert fault("json_array", TWO, Completion('[1, "x"]'), Parsed((1.0, "x"))) is None
    assert fault("json_array", TWO, Completion('[1, "x"]'), found) is not None


@pytest.mark.parametrize("vector", [(0.5, 0.6), (1.5, -0.5), (1.0,), (0.5, 0.500002), [0.5, 0.5], (1, 0)], ids=repr)
def test_the_judge_sees_what_is_no_distribution(vector: tuple[float, ...]) -> None:
    answer = AnswerSpec((Target(name="p", kind="probability", labels=("no", "yes")),))
    assert fault("probability_vectors", answer, Completion("[[0.5, 0.5]]"), Parsed((vector,))) is not None
