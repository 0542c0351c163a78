"""TRL's trainer with hbench's loss on answers and its validation by tasks' metrics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from trl.trainer.sft_trainer import SFTTrainer

from hbench.train.number_token_loss import IGNORED, NumberTokenLoss

Validate = Callable[[Any], Mapping[str, float]]
"""Takes the model; returns scores by name for the log, and ``relative_loss`` to choose checkpoints by."""


class AnswerTrainer(SFTTrainer):
    """Trains on the answers' tokens, with cross-entropy or with the number-token loss beside it.

    Parameters
    ----------
    numbers : NumberTokenLoss or None
        The number-token loss, where it is to be added.
    weight : float
        Its weight.
    validate : callable or None
        Called in every evaluation, on every process.
    **kwargs
        As `trl.SFTTrainer`; the data sets hold ``input_ids`` and ``labels``.

    Notes
    -----
    Logits are made for answers alone (``logits_to_keep``), which for long prompts and short answers saves most of the
    vocabulary's work, and both losses are computed from them. Each is the mean over all its tokens of a step: of all
    answer tokens and of all digits, over all batches that are accumulated and all processes, so that neither depends on
    how a step is divided. Auxiliary losses of mixtures of experts are not part of it.
    """

    def __init__(
        self,
        *,
        numbers: NumberTokenLoss | None = None,
        weight: float = 0.0,
        validate: Validate | None = None,
        **kwargs: Any,
    ) -> None:
        self.numbers, self.weight, self.validate = numbers, weight, validate
        self._digits_in_step: Any = None
        self._parts: dict[str, list[torch.Tensor]] = {}
        self._steps = 0
        super().__init__(**kwargs)
        base = self.accelerator.unwrap_model(self.model).get_base_model()
        self._keeps = "logits_to_keep" in inspect.signature(type(base).forward).parameters

    def get_batch_samples(self, epoch_iterator: Any, num_batches: int, device: Any) -> Any:
        """Count the digits of the step that begins, beside the tokens that transformers counts."""
        samples, items = super().get_batch_samples(epoch_iterator, num_batches, device)
        self._steps += 1
        if self.numbers is not None:
            digits = sum(self.numbers.count(one["labels"][..., 1:]).to(device) for one in samples)
            self._digits_in_step = self.accelerator.gather(torch.as_tensor(digits, device=device)).sum()
        return samples, items

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return a batch's part of the step's loss; without `num_items_in_batch` the batch's own loss."""
        labels = inputs["labels"][:, 1:]
        places = (labels != IGNORED).any(dim=0).nonzero().flatten()
        arguments = {name: value for name, value in inputs.items() if name != "labels"}
        if self._keeps:
            arguments["logits_to_keep"] = places
        outputs = model(**arguments, use_cache=False)
        labels = labels[:, places]
        learned = labels != IGNORED
        logits = (outputs.logits if self._keeps else outputs.logits[:, places])[learned].float()
        answers = labels[learned]
        part_of_step = num_items_in_batch is not None
        tokens = num_items_in_batch if part_of_step else answers.numel()
        parts = {"cross_entropy": torch.nn.functional.cross_entropy(logits, answers, reduction="sum") / tokens}
        loss = parts["cross_entropy"]
        if self.numbers is not None:
            digits = self._digits_in_step if part_of_step else self.numbers.count(answers)
            parts["number_token_loss"] = self.numbers.sum(logits, answers) / digits.clamp(min=1)
            loss = loss + self.weight * parts["number_token_loss"]
        # Gradients are averaged over processes, of which each has only its part of the step's sums.
        scale = self.accelerator.num_processes if part_of_step else 1
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(scale * part.detach())
        return (scale * loss, outputs) if return_outputs else scale * loss

    def evaluation_loop(self, *args: Any, **kwargs: Any) -> Any:
        """Add the validation's scores to the evaluation."""
        training, self._parts = self._parts, {}
        output: Any = super().evaluation_loop(*args, **kwargs)
        output.metrics.update({f"eval_{name}": self._mean(values) for name, values in self._parts.items()})
        if self.validate is not None:
            scores = self.validate(self.accelerator.unwrap_model(self.model))
            output.metrics.update({f"eval_{name}": score for name, score in scores.items()})
            # Where no score tells two checkpoints apart, as before any answer is valid, the loss does.
            output.metrics["eval_selection"] = scores["relative_loss"] + 1e-6 * output.metrics["eval_loss"]
        self._parts = training
        return output

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log the parts of the training loss beside their sum."""
        if "loss" in logs:
            logs |= {name: self._mean(values) * len(values) / self._steps for name, values in self._parts.items()}
            self._parts, self._steps = {}, 0
        super().log(logs, start_time)

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Write none: the training's manifest says more."""

    def _mean(self, values: list[torch.Tensor]) -> float:
        return float(self.accelerator.gather(torch.stack(values).mean()).mean())
