"""How fast answers are read and prompts rendered, and that hostile answers cost linear time.

python benchmarks/parse.py [--quick]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from hbench.core import AnswerSpec, Completion, Target
from hbench.parse import REPAIRS, BracketedNumber, ChoiceLetters, JsonArray, ProbabilityVectors
from hbench.prompt import PromptRenderer
from hbench.spec import Task

NUMBERS = AnswerSpec(tuple(Target(name=name, kind="numeric") for name in ("total", "food", "away")))
VECTORS = AnswerSpec(tuple(Target(name=name, kind="probability", labels=("no", "yes")) for name in ("loss", "leave")))
ONE = AnswerSpec(NUMBERS.targets[:1])
LETTERS = AnswerSpec((Target(name="answer", kind="choice_set"),))

ORDINARY = {
    "array": (JsonArray(), NUMBERS, "[6620, 3800, 2820]"),
    "array in prose": (JsonArray(), NUMBERS, "Given my income I expect to spend:\n```json\n[6620, 3800, 2820]\n```"),
    "vectors": (ProbabilityVectors(), VECTORS, "[[0.95, 0.05], [0.9, 0.1]]"),
    "bracketed": (BracketedNumber(), ONE, "I would give [$50], keeping the rest."),
    "letters": (ChoiceLetters(), LETTERS, "**Answer: B**"),
    "2,000 words of reasoning": (JsonArray(), NUMBERS, f"<think>{'word ' * 2000}</think>[6620, 3800, 2820]"),
}
HOSTILE = [
    "[",
    "[x",
    '["',
    '[""x',
    "[1,",
    "[],",
    '{"a":',
    '["a [ ",',
    "[9",
    '"',
    "\\",
    '["a\\" [ ",',
    "9",
    "$1,000",
    "</think>[",
]


def seconds(work: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def answers(repeats: int) -> None:
    print(f"{'ordinary answers':32}{'microseconds':>14}")
    for name, (parser, answer, text) in ORDINARY.items():
        completion = Completion(text)
        print(f"{name:32}{1e6 * seconds(lambda: parser(completion, answer), repeats):>14.1f}")  # noqa: B023


def hostile(size: int) -> bool:
    """Print the time for `size` and ten times as many characters; return whether all grow about linearly."""
    answer = AnswerSpec(NUMBERS.targets, repairs=REPAIRS)
    print(f"\n{'hostile answers, seconds':32}{size:>14,}{10 * size:>14,}")
    linear = True
    for unit in HOSTILE:
        texts = [Completion("[" + unit * (length // len(unit))) for length in (size, 10 * size)]
        short, long = (seconds(lambda: JsonArray()(text, answer), 1) for text in texts)  # noqa: B023
        linear &= long < 40 * short + 0.1
        print(f"{unit!r:32}{short:>14.3f}{long:>14.3f}")
    return linear


def prompts(repeats: int) -> None:
    sentences = [f"You earn {{{{ pay|dollars }}}} and give {{{{ x{i}|number(1) }}}} of it." for i in range(25)]
    task = Task.model_validate(
        {
            "task": "t",
            "suite": "s",
            "topic": "x",
            "source": "y",
            "key": {"id": "i"},
            "targets": [{"name": "y", "kind": "numeric"}],
            "prompt": {"paragraphs": [sentences]},
            "answer": {"parser": "json_array"},
            "metrics": ["mae"],
        }
    )
    renderer = PromptRenderer(task)
    row = {"pay": 1234.5, **{f"x{i}": 1.5 * i for i in range(60)}}
    print(f"\nprompt of 25 sentences, 50 values: {1e3 * seconds(lambda: renderer.render(row), repeats):.2f} ms")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer repeats and shorter texts")
    quick = options.parse_args().quick
    answers(1_000 if quick else 20_000)
    linear = hostile(20_000 if quick else 100_000)
    prompts(50 if quick else 1_000)
    return 0 if linear else 1


if __name__ == "__main__":
    sys.exit(main())
