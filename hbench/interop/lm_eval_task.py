"""Our tasks as lm-evaluation-harness runs them: its engine asks, we write the prompts and score.

Its YAML says what it can say: draws, generation settings, groups. Scores that need all rows at once (RelMAE, macro-F1,
distances of distributions), strict scores and chat turns are beyond it; so a task has a class of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import datasets
from lm_eval.api.task import ConfigurableTask

from hbench.core import Message, ModelError
from hbench.interop.exported import ExportedSplit, metric_names
from hbench.metric import Score, find_metric
from hbench.model.generation import render_chat

Items = Sequence[Mapping[str, Any]]
SPLIT = "test"
"""What lm-eval calls the one split that its task has."""
_UP = {"higher": True, "lower": False}


def task_in(folder: Path) -> type[ConfigurableTask]:
    """Return the class of the tasks in an exported folder; its YAML files name it as ``class``."""
    return type("HbenchTask", (HbenchTask,), {"FOLDER": folder})


class HbenchTask(ConfigurableTask):  # type: ignore[misc]
    """One split of a task.

    Parameters
    ----------
    config : mapping
        The YAML's content, ``metadata.hbench`` naming task and split.
    """

    FOLDER: Path

    def __init__(self, config: Mapping[str, Any]) -> None:
        about = config["metadata"]["hbench"]
        self.exported = ExportedSplit.open(self.FOLDER, about["task"], about["split"])
        # The metrics are ours: lm-eval's list stays empty.
        super().__init__(config={**{key: value for key, value in config.items() if key != "class"}, "metric_list": []})

    def download(self, dataset_kwargs: Mapping[str, Any] | None = None, **_: Any) -> None:
        """Make the documents from the folder's records; nothing is downloaded."""
        planned = self.exported.planned
        docs = [
            {
                "question": place,
                "task": planned.name,
                "id": question.record.id,
                "time": question.record.time or "",
                "occurrence": question.occurrence,
                "messages": json.dumps([message._asdict() for message in question.record.messages]),
                "gold": _text(question.record.gold),
            }
            for place, question in self.exported.asked()
        ]
        self.dataset = {SPLIT: datasets.Dataset.from_list(docs)}

    def fewshot_context(
        self,
        doc: Mapping[str, Any],
        num_fewshot: int = 0,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        fewshot_as_multiturn: bool = False,
        chat_template: Callable[..., Any] | None = None,
        gen_prefix: str | None = None,
        **_: Any,
    ) -> Any:
        """Return the prompt as `hbench eval --model hf:` would send it.

        Raises
        ------
        ModelError
            For examples and prefixes, which would make it another task.
        """
        if num_fewshot or gen_prefix:
            raise ModelError(
                f"{self.config.task}: the task is asked as it is, without examples or prefixes",
                hint="leave --num_fewshot and gen_prefix out",
            )
        messages = [Message(**turn) for turn in json.loads(doc["messages"])]
        if system_instruction:
            messages.insert(0, Message("system", system_instruction))
        chat = bool(apply_chat_template and chat_template)
        return render_chat(
            SimpleNamespace(apply_chat_template=chat_template), messages, chat=chat, name=str(self.config.task)
        )

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Read a document's draws; every metric's aggregation gets the prediction, since scores need all rows."""
        if "bypass" in self._metric_fn_list:
            return {"bypass": None}
        texts = results[0] if isinstance(results[0], list) else results
        item = self.exported.read(doc["question"], texts)
        return dict.fromkeys(self.aggregation(), item)

    def aggregation(self) -> dict[str, Callable[[Items], float]]:
        """Return the function that makes each metric's score of all items."""
        if "bypass" in self._metric_fn_list:
            return dict(self._aggregation_list)
        names = metric_names(self.exported.planned.task)
        plain = {name: partial(self._score, name, _value) for name in names}
        strict = {f"{name}_strict": partial(self._score, name, _strict) for name in names}
        return {**plain, **strict, "valid": partial(self._score, names[0], _valid)}

    def higher_is_better(self) -> dict[str, bool | None]:
        """Say which scores are better the higher; None where neither is."""
        task = self.exported.planned.task
        found: dict[str, bool | None] = {"valid": True}
        for name, use in zip(metric_names(task), task.metrics, strict=True):
            better = find_metric(use.metric, suite=task.suite, registry=self.exported.registry).better
            found[name] = found[f"{name}_strict"] = _UP.get(better)
        return found

    def _score(self, name: str, part: Callable[[Score], float], items: Items) -> float:
        return part(self.exported.scores(items)[name])


def _value(score: Score) -> float:
    return score.value


def _strict(score: Score) -> float:
    return score.strict_value


def _valid(score: Score) -> float:
    return score.valid / score.n if score.n else float("nan")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
