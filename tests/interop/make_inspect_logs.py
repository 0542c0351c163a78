"""Makes the logs of `logs/` with Inspect itself: `pip install inspect_ai`, then run this file in that folder.

``named.eval`` tells task and record of each sample, ``prompts.json`` their prompts only. Made with inspect_ai 0.3.285.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.solver import generate, system_message

ANSWERS = ["A", "BD", "C", "It is D", "D", "A", "B", "I would rather not say."]
"""Of the samples, first epoch and second."""


def outputs() -> Iterator[ModelOutput]:
    for place, text in enumerate(ANSWERS):
        content = [ContentReasoning(reasoning="Hm."), ContentText(text=text)] if place == 2 else text
        message = ChatMessageAssistant(content=content, source="generate")
        usage = ModelUsage(input_tokens=10 + place, output_tokens=3, total_tokens=13 + place)
        yield ModelOutput(model="mockllm", choices=[ChatCompletionChoice(message=message)], usage=usage)


def make(form: str, name: str, *, named: bool, epochs: int) -> None:
    samples = [
        Sample(
            id=f"p{i}" if named else i,
            input=[ChatMessageUser(content=f"Case {i}?")],
            target="A",
            metadata={"task": "kinds/quiz"} if named else {},
        )
        for i in range(4)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=[system_message("You are a person."), generate()])
    model = get_model("mockllm/model", custom_outputs=outputs(), memoize=False)
    (log,) = eval(
        task, model=model, epochs=epochs, log_dir=".", log_format=form, display="none", max_samples=1, max_connections=1
    )
    Path(log.location.removeprefix("file://")).rename(name)


if __name__ == "__main__":
    make("eval", "named.eval", named=True, epochs=2)
    make("json", "prompts.json", named=False, epochs=1)
