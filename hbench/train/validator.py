"""Validates a model in training on the held-out records of a set, on one or several processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import SelectionError, TrainingError, stable_seed
from hbench.spec import discover
from hbench.spec.task import Task
from hbench.train.answering import answer
from hbench.train.chat import ChatEncoder
from hbench.train.dataset import read_examples, validation_records
from hbench.train.packages import need
from hbench.train.validation import TaskScore, TaskValidation, best_constants, choose_metric, relative_loss

if TYPE_CHECKING:
    from hbench.plugin import Registry

_CONSTANTS = 20_000
"""Training answers of a task from which its best constant is taken."""
Told = Callable[[Mapping[str, TaskScore], float], None]
"""Gets the scores of a validation and the loss relative to before training."""


class Validator:
    """Asks a model in training and scores its answers; what `AnswerTrainer` calls in every evaluation.

    The first call is the one before training, against which later ones are measured, unless `before` says what it was.

    Parameters
    ----------
    tasks : sequence of TaskValidation
        What is asked.
    encoder : ChatEncoder
        Writes prompts.
    max_tokens, batch_size, seed : int
        Of the answers; populations are drawn with the seed, all else is the most probable answer.
    told : callable
        Gets what every validation found.
    """

    def __init__(
        self,
        tasks: Sequence[TaskValidation],
        encoder: ChatEncoder,
        *,
        max_tokens: int,
        batch_size: int,
        seed: int,
        told: Told,
    ) -> None:
        self.before: dict[str, TaskScore] | None = None
        self.without_metric: list[str] = []
        self._tasks, self._encoder, self._told = tasks, encoder, told
        self._max_tokens, self._batch_size, self._seed = max_tokens, batch_size, seed
        self._prompts = {one.task.name: list(encoder.prompts(r.messages for r in one.records)) for one in tasks}

    def __call__(self, model: Any) -> dict[str, float]:
        """Return each task's score and the relative loss, by name; the same on every process."""
        found = {one.task.name: one.scores(self._answers(model, one)) for one in self._tasks}
        if self.before is None:
            chosen = {task: choose_metric(scores) for task, scores in found.items()}
            self.before = {task: score for task, score in chosen.items() if score is not None}
            self.without_metric = [task for task, score in chosen.items() if score is None]
        scores = {
            task: next(score for score in found[task] if score.metric == first.metric)
            for task, first in self.before.items()
        }
        relative = relative_loss(scores, self.before)
        self._told(scores, relative)
        return {
            **{f"{task}/{score.metric}": score.strict for task, score in scores.items()},
            **{f"{task}/valid": score.valid / score.n for task, score in scores.items()},
            "relative_loss": relative,
        }

    def _answers(self, model: Any, one: TaskValidation) -> list[str]:
        """Answer every record, each process its share."""
        accelerate = need("accelerate")
        state = accelerate.PartialState()
        prompts = self._prompts[one.task.name]
        mine = range(state.process_index, len(prompts), state.num_processes)
        seed = stable_seed(self._seed, "validation", one.task.name, str(state.process_index)) % 2**63
        training = model.training
        model.eval()
        texts = answer(
            model,
            self._encoder,
            [prompts[place] for place in mine],
            max_tokens=self._max_tokens,
            batch_size=self._batch_size,
            seed=seed if one.population else None,
        )
        model.train(training)
        answers: dict[int, str] = dict(accelerate.utils.gather_object(list(zip(mine, texts, strict=True))))
        return [answers[place] for place in range(len(prompts))]


def load_tasks(
    data: Path, per_task: int, *, registry: Registry, include_paths: Sequence[Path] = ()
) -> list[TaskValidation]:
    """Return the tasks of a set with their held-out records; none where the set has no such records.

    Raises
    ------
    TrainingError
        A task is not known.
    """
    records = validation_records(data, per_task) if per_task else {}
    if not records:
        return []
    answers = _training_answers(data, set(records))
    index = discover(include_paths)
    loaded = []
    for name, some in records.items():
        task = _task(index, name)
        groups = {record.group for record in some}
        fill = best_constants(task, answers.get(name, ()), groups, registry=registry)
        loaded.append(TaskValidation(task, some, fill, registry=registry))
    return loaded


def _task(index: Any, name: str) -> Task:
    try:
        task: Task = index.get(name).load()
    except SelectionError as error:
        raise TrainingError(
            "the task of the validation records is not known",
            task=name,
            hint="Name its folder with --include-path, or validate by the loss alone: --set eval_records=0.",
        ) from error
    return task


def _training_answers(data: Path, tasks: set[str]) -> dict[str, list[str]]:
    answers: dict[str, list[str]] = {task: [] for task in tasks}
    for example in read_examples(data, "train", per_task=_CONSTANTS):
        if example.task in tasks:
            answers[example.task].append(example.messages[-1].content)
    return answers
